import EventStore
import Testing

@testable import SyncEngine

/// A node of a ``VirtualNetwork``: a log of dots, and sessions with others.
final class VirtualNode {
    struct Event {
        let dot: Dot
        let dependencies: [Dot]
        let bytes: Int
        let written: UInt64
    }

    let index: Int
    var local: SyncSession.Local
    /// Everything this release can do.
    static let all: Features = [.standings, .sources]
    private let features: Features
    private let limits: WireLimits
    private(set) var log: [Event] = []
    /// Of each event of an origin, its place in `log`.
    private var places: [OriginID: [Int]] = [:]
    private(set) var vector = LocalVector()
    var plan = SourcePlan()
    var isTicking = false
    private var dirty: Set<OriginID> = []
    var memories: [Int: PeerMemory] = [:]
    var sessions: [Int: SyncSession] = [:]
    var closed: [Int: SessionEnd] = [:]
    var armed: [Int: UInt64] = [:]
    private var serials: [Int: Int] = [:]
    /// When each event came, microseconds; own ones when they were written.
    private(set) var arrived: [Dot: UInt64] = [:]
    /// Bodies that came, also again.
    private(set) var bodies = 0
    private(set) var bodiesSent = 0
    /// Round trips of pings, milliseconds.
    private(set) var sent: [UInt8: Int] = [:]
    var storeMicroseconds: UInt64 = 3_000
    var readMicroseconds: UInt64 = 1_000

    init(index: Int, features: Features, limits: WireLimits) {
        self.index = index
        self.features = features
        self.limits = limits
        let number = UInt64(index) + 1
        let bytes = [UInt8](repeating: UInt8(number), count: 32)
        local = SyncSession.Local(
            StoreIdentity(
                node: NodeID(Digest(bytes: bytes) ?? SHA256().digest(bytes)), name: "n\(number)", cluster: "default",
                origin: Self.origin(number), incarnation: number), software: "test")
    }

    /// An origin that no node here owns, for numbers above 100.
    static func origin(_ number: UInt64) -> OriginID {
        OriginID(UUIDBits(high: number &* 0x9e37_79b9_7f4a_7c15, low: number))
    }

    func serial(_ other: Int) -> Int { serials[other] ?? 0 }

    func attach(to other: VirtualNode) {
        serials[other.index, default: 0] += 1
        armed[other.index] = nil
        closed[other.index] = nil
        sessions[other.index] = SyncSession(
            local: local, remote: other.local.node, progress: vector, memory: memories[other.index],
            features: features, limits: limits)
    }

    func ended(_ session: SyncSession, with other: Int) {
        serials[other, default: 0] += 1
        memories[other] = session.memory ?? memories[other]
    }

    /// As if the process was started anew: what was only in memory is gone.
    func restart() {
        memories = [:]
        var positions: [OriginID: UInt64] = [:]
        for (origin, places) in places { positions[origin] = places.last.map { UInt64($0) + 1 } }
        vector = LocalVector(
            CommitNotice(top: UInt64(log.count), advanced: vector.entries.map(\.progress)), positions: positions)
        plan = SourcePlan(vector.vector)
    }

    func note(sent frame: Frame) {
        sent[frame.type, default: 0] += 1
        if frame.type == MessageType.events.rawValue { bodiesSent += Self.events(frame).count }
    }

    func note(received frame: Frame) {
        if frame.type == MessageType.events.rawValue { bodies += Self.events(frame).count }
    }

    // MARK: Log

    /// What sessions have learnt about identities: nothing, between honest nodes.
    var reports: [IdentityReport] = []

    /// The root's prefix of an origin's first `seq` events: here a function of both.
    static func root(_ origin: OriginID, _ seq: UInt64) -> UInt64 { origin.bits.high ^ seq &* 0xbf58_476d_1ce4_e5b9 }

    func append(_ count: Int, bytes: Int, origin: OriginID?, at clock: UInt64) -> CommitNotice {
        let origin = origin ?? local.origin
        for _ in 0..<count {
            let seq = UInt64(places[origin]?.count ?? 0) + 1
            var dependencies: [Dot] = []
            if origin == local.origin {
                dependencies = dirty.map { Dot(origin: $0, seq: vector[$0]?.seq ?? 0) }.sorted()
                dirty = []
            }
            add(
                Event(dot: Dot(origin: origin, seq: seq), dependencies: dependencies, bytes: bytes, written: clock),
                clock)
        }
        return notice([origin])
    }

    private func add(_ event: Event, _ clock: UInt64) {
        places[event.dot.origin, default: []].append(log.count)
        log.append(event)
        arrived[event.dot] = clock
        if event.dot.origin != local.origin { dirty.insert(event.dot.origin) }
    }

    private func notice(_ origins: Set<OriginID>) -> CommitNotice {
        let sorted = origins.sorted { (places[$0]?.first ?? 0) < (places[$1]?.first ?? 0) }
        let notice = CommitNotice(
            top: UInt64(log.count), advanced: progress(sorted))
        _ = vector.advance(notice)
        return notice
    }

    private func progress(_ origins: [OriginID]) -> [OriginProgress] {
        origins.map { origin in
            let seq = UInt64(places[origin]?.count ?? 0)
            return OriginProgress(origin: origin, seq: seq, rootPrefix: Self.root(origin, seq))
        }
    }

    // MARK: What a shell does

    func read(_ request: ReadRequest) -> OutgoingFrame {
        var position: Int
        switch request.start {
        case .after(let after): position = Int(after)
        case .firstMissing:
            let missing = vector.entries.compactMap { entry -> Int? in
                guard request.wanted?.contains(entry.progress.origin) ?? true else { return nil }
                let known = request.known[entry.progress.origin]
                return entry.progress.seq > known ? places[entry.progress.origin]?[Int(known)] : nil
            }
            position = missing.min() ?? log.count
        }
        var selection = OutgoingSelection(known: request.known, sound: request.sound, kind: request.kind)
        var events: [Event] = []
        var bytes = 0
        while position < log.count, bytes < request.bytes {
            let event = log[position]
            let answer = selection.answer(event.dot, dependencies: event.dependencies)
            if answer == .nextBatch { break }
            position += 1
            guard answer == .taken else { continue }
            selection.take(event.dot, event.dependencies)
            events.append(event)
            bytes += event.bytes
        }
        return OutgoingFrame(
            frame: events.isEmpty ? nil : Self.frame(events), events: events.count, advanced: selection.advanced,
            through: UInt64(position), isAtTop: position == log.count, isSound: selection.isSound)
    }

    func store(
        _ frame: Frame, at clock: UInt64
    ) -> (result: Result<StoredFrame, SessionFailure>, notice: CommitNotice?) {
        var sizes: [OriginID: UInt64] = [:]
        func size(_ origin: OriginID) -> UInt64 { sizes[origin] ?? UInt64(places[origin]?.count ?? 0) }
        var new: [Event] = []
        var carried = VersionVector()
        func failure(_ code: SessionErrorCode, _ dot: Dot, _ needs: Dot) -> Result<StoredFrame, SessionFailure> {
            .failure(SessionFailure(code, "\(dot) lacks \(needs)", needs: needs, origins: [dot.origin]))
        }
        for event in Self.events(frame) {
            let dot = event.dot
            carried.advance(to: dot)
            guard dot.seq > size(dot.origin) else { continue }
            guard dot.seq == size(dot.origin) + 1 else {
                let needs = Dot(origin: dot.origin, seq: dot.seq - 1)
                return (failure(.badChain, dot, needs), nil)
            }
            for needs in event.dependencies where size(needs.origin) < needs.seq {
                return (failure(.causalGap, dot, needs), nil)
            }
            sizes[dot.origin] = dot.seq
            new.append(event)
        }
        for event in new { add(event, clock) }
        let notice = new.isEmpty ? nil : notice(Set(new.map(\.dot.origin)))
        return (
            .success(
                StoredFrame(
                    events: new.count, progress: progress(carried.entries.map(\.origin)), carried: carried.entries)),
            notice
        )
    }

    // MARK: Frames

    private static func frame(_ events: [Event]) -> Frame {
        var body: [UInt8] = []
        body.appendBigEndian(UInt32(events.count))
        for event in events {
            event.dot.append(to: &body)
            body.appendBigEndian(event.written)
            body.appendBigEndian(UInt32(event.bytes))
            body.appendBigEndian(UInt32(event.dependencies.count))
            for dot in event.dependencies { dot.append(to: &body) }
        }
        let rest = events.reduce(0) { $0 + $1.bytes } + 200 - body.count
        return Frame(
            type: MessageType.events.rawValue, body: body + [UInt8](repeating: 0, count: max(0, rest)))
    }

    private static func events(_ frame: Frame) -> [Event] {
        var index = 0
        func number(_ count: Int) -> UInt64 {
            defer { index += count }
            return frame.body[index..<index + count].reduce(0) { $0 << 8 | UInt64($1) }
        }
        func dot() -> Dot { Dot(origin: OriginID(UUIDBits(high: number(8), low: number(8))), seq: number(8)) }
        return (0..<number(4)).map { _ in
            let name = dot()
            let written = number(8)
            let bytes = Int(number(4))
            return Event(
                dot: name, dependencies: (0..<number(4)).map { _ in dot() }, bytes: bytes, written: written)
        }
    }
}

extension Dot {
    fileprivate func append(to out: inout [UInt8]) {
        origin.bits.append(to: &out)
        out.appendBigEndian(seq)
    }
}

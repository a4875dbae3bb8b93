import Testing

@testable import EventStore
@testable import SyncEngine

/// The session alone: no network, no store, no clock but the one given.
struct SyncSessionTests {
    private let a = SyncSessionTests.local(1)
    private let b = SyncSessionTests.local(2)
    private let start = Moment(monotonic: 1_000, wall: 1_760_000_000_000)

    private static func local(_ number: UInt64, cluster: String = "default") -> SyncSession.Local {
        SyncSession.Local(
            StoreIdentity(
                node: NodeID(Digest(reading: [UInt8](repeating: UInt8(number), count: 32))), name: "n\(number)",
                cluster: cluster, origin: OriginID(UUIDBits(high: number, low: number)), incarnation: number),
            software: "test")
    }

    private func progress(_ origin: OriginID, _ seq: UInt64, root: UInt64 = 7) -> OriginProgress {
        OriginProgress(origin: origin, seq: seq, rootPrefix: root)
    }

    /// Frames a session sends, of the effects.
    private func messages(_ effects: [SessionEffect]) throws -> [Message] {
        try effects.compactMap { effect in
            if case .send(let frame, _) = effect { try Message(frame: frame) } else { nil }
        }
    }

    private func byes(_ effects: [SessionEffect]) throws -> [SessionErrorCode?] {
        try messages(effects).compactMap { if case .bye(let bye) = $0 { bye.knownCode } else { nil } }
    }

    private func hello(_ local: SyncSession.Local) -> Frame {
        Message.hello(
            Hello(cluster: local.cluster, node: local.node, incarnation: local.incarnation, clock: start.wall)
        ).frame(compress: false)
    }

    /// A session of a with b that has said hello.
    private func greeted(_ progress: [OriginProgress]) -> (SyncSession, [SessionEffect]) {
        var session = SyncSession(local: a, remote: b.node, progress: progress)
        var effects: [SessionEffect] = []
        session.started(now: start, effects: &effects)
        session.frameReceived(hello(b), now: start, effects: &effects)
        return (session, effects)
    }

    private func opened(_ mine: [OriginProgress], theirs: [VectorEntry]) -> (SyncSession, [SessionEffect]) {
        var (session, _) = greeted(mine)
        var effects: [SessionEffect] = []
        session.frameReceived(Message.vector(theirs).frame(compress: false), now: start, effects: &effects)
        return (session, effects)
    }

    @Test("Nothing is read beyond what the session was told of the log: a peer must not know it first")
    func readsWhatItWasTold() throws {
        let (first, _) = greeted([progress(a.origin, 5)])
        var session = first
        var effects: [SessionEffect] = []
        session.logAdvanced(CommitNotice(top: 9, advanced: [progress(a.origin, 7)]), now: start, effects: &effects)
        session.frameReceived(Message.vector([]).frame(compress: false), now: start, effects: &effects)
        func read() throws -> (RequestID, ReadRequest) {
            try #require(
                effects.lazy.compactMap { if case .read(let id, let it) = $0 { (id, it) } else { nil } }.first)
        }
        let (id, request) = try read()
        #expect(request.through == 9)
        effects = []
        session.logAdvanced(CommitNotice(top: 12, advanced: [progress(a.origin, 10)]), now: start, effects: &effects)
        let frame = OutgoingFrame(
            frame: nil, events: 0, advanced: [Dot(origin: a.origin, seq: 7)], through: 9, isAtTop: true)
        session.eventsRead(id, .success(frame), now: start, effects: &effects)
        let next = try read().1
        #expect(next.through == 12 && next.start == .after(9))
    }

    @Test("Hello, then the vector, then a read for what the peer lacks")
    func opening() throws {
        let (_, effects) = greeted([progress(a.origin, 5)])
        guard case .hello = try messages(effects)[0], case .vector(let entries) = try messages(effects)[1] else {
            Issue.record("\(effects)")
            return
        }
        #expect(entries == [VectorEntry(origin: a.origin, seq: 5, root: 7)])
        let (_, after) = opened([progress(a.origin, 5)], theirs: [])
        guard case .read(_, let request) = after.first else {
            Issue.record("\(after)")
            return
        }
        #expect(request.start == .firstMissing && request.known == VersionVector())
    }

    @Test("Each way of being wrong gets its named error (INV-13)")
    func named() throws {
        func code(_ frame: Frame, _ state: (SyncSession, [SessionEffect])) throws -> SessionErrorCode? {
            var (session, _) = state
            var effects: [SessionEffect] = []
            session.frameReceived(frame, now: start, effects: &effects)
            let end = effects.last
            guard case .close(.failed(let failure)) = end else { return nil }
            #expect(try byes(effects) == [failure.code])
            #expect(session.nextDeadline == nil)
            return failure.code
        }
        var fresh = SyncSession(local: a, remote: b.node, progress: [])
        var ignored: [SessionEffect] = []
        fresh.started(now: start, effects: &ignored)
        let before = (fresh, ignored)
        #expect(try code(hello(Self.local(2, cluster: "other")), before) == .wrongCluster)
        #expect(try code(hello(Self.local(3)), before) == .wrongCertificate)
        #expect(try code(Frame(type: 1, flags: 0, body: [0xff]), before) == .badFrame)
        #expect(try code(Message.vector([]).frame(compress: false), before) == .badFrame)
        #expect(try code(Frame(type: 3, flags: 0, body: []), before) == .badFrame)
        let open = opened([progress(a.origin, 5)], theirs: [])
        #expect(try code(hello(b), open) == .badFrame)
    }

    @Test("A truncated message at each byte ends the session with a name and stores nothing")
    func truncated() throws {
        let whole = Message.vector([VectorEntry(origin: b.origin, seq: 9, root: 3)]).frame(compress: false)
        for count in 1..<whole.body.count {
            var (session, _) = greeted([])
            var effects: [SessionEffect] = []
            session.frameReceived(
                Frame(type: whole.type, flags: 0, body: Array(whole.body.prefix(count))), now: start,
                effects: &effects)
            guard case .close(.failed) = effects.last else {
                Issue.record("\(count) bytes: \(effects)")
                continue
            }
            #expect(!effects.contains { if case .store = $0 { true } else { false } })
        }
    }

    @Test("No events go out without credit, and none are taken beyond it (INV-9)")
    func credit() throws {
        var (session, effects) = opened([progress(a.origin, 5)], theirs: [])
        guard case .read(let id, _) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        effects = []
        let frame = Frame(type: MessageType.events.rawValue, body: [UInt8](repeating: 0, count: (1 << 20) - 8))
        session.eventsRead(
            id, .success(OutgoingFrame(frame: frame, events: 1, advanced: [], through: 3, isAtTop: false)),
            now: start,
            effects: &effects)
        #expect(effects.count == 1)
        effects = []
        session.frameReceived(Message.credit(1).frame(compress: false), now: start, effects: &effects)
        #expect(effects.isEmpty)
        session.frameReceived(Message.credit(1 << 20).frame(compress: false), now: start, effects: &effects)
        guard case .read = effects.first else {
            Issue.record("no read after credit")
            return
        }
        // The other way: a peer that goes on sending without credit is cut.
        var (taker, _) = opened([], theirs: [])
        effects = []
        taker.frameReceived(frame, now: start, effects: &effects)
        taker.frameReceived(frame, now: start, effects: &effects)
        #expect(try byes(effects) == [.rateLimited])
    }

    @Test("Silence is noticed, and a quiet peer is asked")
    func keepalive() throws {
        var (session, effects) = opened([], theirs: [])
        effects = []
        let deadline = try #require(session.nextDeadline)
        #expect(deadline == 11_000)
        session.timerFired(now: Moment(monotonic: deadline, wall: 0), effects: &effects)
        guard case .ping(let ping) = try messages(effects)[0] else {
            Issue.record("\(effects)")
            return
        }
        session.frameReceived(
            Message.pong(Pong(nonce: ping.nonce, clock: 5_020)).frame(compress: false),
            now: Moment(monotonic: deadline + 40, wall: 40), effects: &effects)
        #expect(session.roundTrip == 40 && session.clockOffset == 5_000)
        effects = []
        session.timerFired(now: Moment(monotonic: deadline + 30_040, wall: 0), effects: &effects)
        #expect(try byes(effects) == [.idleTimeout])
    }

    @Test("A session that is not opened in time ends; messages of later versions are passed over")
    func patience() throws {
        var session = SyncSession(local: a, remote: b.node, progress: [])
        var effects: [SessionEffect] = []
        session.started(now: start, effects: &effects)
        session.frameReceived(Frame(type: 99, flags: 0, body: [1]), now: start, effects: &effects)
        #expect(effects.count == 1)
        effects = []
        session.timerFired(now: Moment(monotonic: 21_000, wall: 0), effects: &effects)
        #expect(try byes(effects) == [.idleTimeout])
    }

    @Test("What was stored is acknowledged and its credit given back (INV-7)")
    func acknowledges() throws {
        var (session, effects) = opened([], theirs: [VectorEntry(origin: b.origin, seq: 3, root: 1)])
        effects = []
        let frame = Frame(type: MessageType.events.rawValue, body: [1, 2, 3])
        session.frameReceived(frame, now: start, effects: &effects)
        guard case .store(let id, frame) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(try messages(effects).isEmpty)
        effects = []
        session.eventsStored(
            id, .success(StoredFrame(events: 3, progress: [progress(b.origin, 3, root: 1)])), now: start,
            effects: &effects)
        #expect(
            try messages(effects) == [
                .ack([VectorEntry(origin: b.origin, seq: 3, root: 1)]), .credit(UInt64(frame.count)),
            ])
        effects = []
        session.frameReceived(frame, now: start, effects: &effects)
        guard case .store(let next, _) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        effects = []
        session.eventsStored(
            next, .failure(SessionFailure(.badProof, "not theirs")), now: start, effects: &effects)
        #expect(try byes(effects) == [.badProof])
    }
}

extension Digest {
    fileprivate init(reading bytes: [UInt8]) { self = bytes.withUnsafeBytes { Digest(reading: $0) } }
}

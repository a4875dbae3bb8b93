internal import EventStore
internal import SyncEngine

/// How much it costs that a frame ends before an event that names dependencies: logs as nodes make them whose users answer each other
/// through a relay, then the messages that their origins are published in.
///
/// Real are the logs, the batches, their proofs, compression and verification; the time, the relay and the disk are played: a commit
/// takes a millisecond, a message is under way for the latency, and each node has one under way.
enum Cuts {
    static func run(nodes: Int, rate: Int, latency: Int, files: [String]) throws {
        let dialogues = try Dialogues.read(files)
        let fleet = try Fleet(nodes: nodes, latency: UInt64(latency) * 1_000, dialogues: dialogues, rate: rate)
        try fleet.run()
        fleet.live.tell("live", most: nil)
        try fleet.tellLogs()
        for way in Way.allCases { try fleet.refill(way).tell("refill_\(way)", most: Fleet.messageBytes) }
    }
}

/// How the events of one origin are put into frames.
enum Way: CaseIterable {
    /// A frame ends before an event, other than its first, that names dependencies.
    case cut
    /// A frame holds what fits.
    case whole
}

/// What messages held.
struct Tally {
    var messages = 0
    var frames = 0
    var events = 0
    var bytes = 0
    /// Bytes of headers and payloads.
    var plain = 0
    var nanoseconds = UInt64(0)

    func tell(_ name: String, most: Int?) {
        let messages = Double(max(1, messages))
        report("\(name)_events_a_message", Double(events) / messages)
        report("\(name)_bytes_a_message", Double(bytes) / messages)
        report("\(name)_frames_a_message", Double(frames) / messages)
        report("\(name)_events_a_frame", Double(events) / Double(max(1, frames)))
        report("\(name)_bytes_an_event", Double(bytes) / Double(max(1, events)))
        report("\(name)_plain_bytes_an_event", Double(plain) / Double(max(1, events)))
        report("\(name)_cpu_us_an_event", Double(nanoseconds) / 1_000 / Double(max(1, events)))
    }
}

final class Fleet {
    static let messageBytes = 128 << 10
    private static let commit = UInt64(1_000)

    private let nodes: [FleetNode]
    private let latency: UInt64
    private let rate: Int
    private let dialogues: [Dialogue]
    private var agenda = Agenda()
    private var now = UInt64(0)
    private var random = SplitMix(state: 20)
    private(set) var live = Tally()

    init(nodes: Int, latency: UInt64, dialogues: [Dialogue], rate: Int) throws {
        self.latency = latency
        self.dialogues = dialogues
        self.rate = rate
        self.nodes = try (0..<nodes).map { try FleetNode($0) }
    }

    private var wall: Int64 { 1_800_000_000_000 + Int64(now / 1_000) }

    /// All dialogues take place: at each time so many that the rate comes out, each message some seconds after the one before it has come
    /// to where it is answered.
    func run() throws {
        // The first events of all origins are there.
        for node in nodes { try publish(node) }
        // A message follows the one before it after 5 to 15 s, or sooner where there are too few dialogues for that.
        let together = min(max(1, rate * 10), dialogues.count)
        pause = UInt64(together) * 1_000_000 / UInt64(max(1, rate))
        var waiting = dialogues[...]
        for _ in 0..<together {
            guard let dialogue = waiting.popFirst() else { break }
            speak(dialogue, 0, at: random.below(pause))
        }
        rest = waiting
        while let (time, action) = agenda.next() {
            now = time
            try action()
        }
        let sizes = try Set(nodes.map { try $0.log.reader.top() })
        guard sizes.count == 1 else { throw FleetError("the logs did not become equal: \(sizes)") }
    }

    private var rest: ArraySlice<Dialogue> = []
    /// Between two messages of a dialogue, microseconds.
    private var pause = UInt64(0)

    /// Where someone is: always at one node.
    private func home(_ draft: EventDraft) -> FleetNode {
        var hash = UInt64(0xcbf2_9ce4_8422_2325)
        for byte in (draft.author ?? draft.user).utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        // A bot has one name, and runs on all nodes: each conversation has its own.
        if draft.type == "bot.replied" {
            for byte in (draft.conversation ?? "").utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        return nodes[Int((hash >> 17) % UInt64(nodes.count))]
    }

    private func speak(_ dialogue: Dialogue, _ index: Int, at time: UInt64) {
        guard index < dialogue.messages.count else {
            if let next = rest.popFirst() { speak(next, 0, at: time + random.below(pause)) }
            return
        }
        agenda.add(at: time) { [self] in
            var draft = dialogue.messages[index]
            draft.id = nil
            draft.time = nil
            let node = home(draft)
            node.appends.append(draft)
            try commitIfIdle(node)
            speak(dialogue, index + 1, at: now + pause / 2 + random.below(pause))
        }
    }

    /// What has queued is written; a millisecond later it is durable.
    private func commitIfIdle(_ node: FleetNode) throws {
        guard !node.isCommitting else { return }
        var work: [MemoryLog.Work] = node.appends.isEmpty ? [] : [.append(node.appends)]
        node.appends = []
        work += try node.verifyWaiting().map { .ingest($0) }
        guard !work.isEmpty else { return }
        node.isCommitting = true
        let wall = wall
        agenda.add(at: now + Self.commit) { [self] in
            if case .failure(let failure) = node.log.commit(work, wall: wall) { throw failure.error }
            node.isCommitting = false
            try commitIfIdle(node)
            try publish(node)
        }
    }

    /// What the node has appended since goes to all others, if nothing is under way.
    private func publish(_ node: FleetNode) throws {
        guard !node.isPublishing else { return }
        let frames = try node.frames(.cut, most: Self.messageBytes, &live)
        guard !frames.isEmpty else { return }
        node.isPublishing = true
        // The acknowledgement takes half of the way to a reader and back.
        agenda.add(at: now + latency) { [self] in
            node.isPublishing = false
            try publish(node)
        }
        for other in nodes where other !== node {
            // Half of the messages take the latency, some several times that.
            var time = now + latency / 2 + random.below(latency)
            while random.below(4) == 0 { time += random.below(latency * 2) }
            // A relay keeps the order of one origin.
            time = max(time, other.lastArrival[node.number] + 1)
            other.lastArrival[node.number] = time
            agenda.add(at: time) { [self] in
                other.waiting += frames
                try commitIfIdle(other)
            }
        }
    }

    func tellLogs() throws {
        guard let node = nodes.first else { return }
        var events = 0, naming = 0, named = 0, headers = 0
        _ = try node.log.reader.scan(after: 0, limit: .max) { stored in
            guard stored.event.header.dot.seq > 1 else { return true }
            events += 1
            naming += stored.event.header.dependencies.isEmpty ? 0 : 1
            named += stored.event.header.dependencies.count
            headers += EncodedEvent(stored.event).header.count
            return true
        }
        report("events", Double(events))
        report("rate", Double(events) / (Double(now) / 1_000_000))
        report("naming_dependencies", Double(naming) / Double(events))
        report("dependencies_of_those", Double(named) / Double(max(1, naming)))
        report("header_bytes", Double(headers) / Double(events))
    }

    /// Each origin is published anew from its beginning.
    func refill(_ way: Way) throws -> Tally {
        var tally = Tally()
        for node in nodes {
            node.startAnew()
            while try !node.frames(way, most: Self.messageBytes, &tally).isEmpty {}
        }
        return tally
    }
}

/// A node of the fleet: its log, and where it stands with the relay.
final class FleetNode {
    let number: Int
    let log: MemoryLog
    private let verifier: IngestVerifier
    private let reader: OutgoingReader
    private let own: OriginID
    var appends: [EventDraft] = []
    /// Frames in the order in which they came.
    var waiting: [Frame] = []
    var isCommitting = false
    var isPublishing = false
    /// Microseconds; of each node.
    var lastArrival = [UInt64](repeating: 0, count: 64)
    /// How far the log has been read, and the own events with it.
    private var read = UInt64(0)
    private var published = UInt64(0)
    /// Frames that were read and did not fit into the last message.
    private var kept: Frame?

    init(_ number: Int) throws {
        self.number = number
        let key = SigningKey.generate()
        let image = try MemoryLog.make(
            key: key, name: "n\(number)", cluster: "fleet", wall: 1_800_000_000_000, seed: UInt64(number) + 1)
        let log = try MemoryLog(image, key: key, wall: 1_800_000_000_000, seed: UInt64(number) + 100)
        self.log = log
        guard let own = log.own else { throw FleetError("a log without an origin") }
        self.own = own
        verifier = try log.makeVerifier(forked: [])
        reader = OutgoingReader(log.reader) { log.head() }
    }

    func startAnew() { (read, published, kept) = (0, 0, nil) }

    /// Of what has come all that has what it depends on, in an order in which it has.
    func verifyWaiting() throws -> [VerifiedBatch] {
        var batches: [VerifiedBatch] = []
        var isOver = false
        while !isOver {
            isOver = true
            var rest: [Frame] = []
            for frame in waiting {
                do throws(SessionFailure) {
                    batches.append(try StoreWork.verify(frame, verifier))
                    isOver = false
                } catch {
                    guard error.needs != nil else { throw FleetError(error.text) }
                    rest.append(frame)
                }
            }
            waiting = rest
        }
        return batches
    }

    /// The next message of this node's origin: frames of at most so many bytes in all.
    func frames(_ way: Way, most: Int, _ tally: inout Tally) throws -> [Frame] {
        let start = MonotonicClock.now
        var frames: [Frame] = []
        var bytes = 0
        while let frame = try next(way, most - bytes) {
            guard bytes + frame.count <= most || frames.isEmpty else {
                kept = frame
                break
            }
            frames.append(frame)
            bytes += frame.count
        }
        tally.nanoseconds += MonotonicClock.now - start
        guard !frames.isEmpty else { return [] }
        tally.messages += 1
        tally.frames += frames.count
        tally.bytes += bytes
        for frame in frames {
            guard case .events(let batch) = try Message(frame: frame) else { continue }
            tally.events += batch.events.count
            tally.plain += batch.events.reduce(0) { $0 + $1.encodedSize }
        }
        return frames
    }

    private func next(_ way: Way, _ room: Int) throws -> Frame? {
        if let kept {
            self.kept = nil
            return kept
        }
        var known = VersionVector()
        known.advance(to: Dot(origin: own, seq: published))
        let kind: OutgoingSelection.Kind
        let limits: OutgoingLimits
        switch way {
        case .cut:
            guard room > 0 else { return nil }
            (kind, limits) = (.origins([own]), OutgoingLimits(bytes: max(1_024, room)))
        case .whole:
            // One frame a message: twice as much, as it becomes half when compressed.
            guard room == Fleet.messageBytes else { return nil }
            for last in try log.reader.vector().entries where last.origin != own { known.advance(to: last) }
            (kind, limits) = (.everything, OutgoingLimits(bytes: room * 2))
        }
        while true {
            let batch = try reader.batch(after: read, lacking: known, kind: kind, limits: limits)
            read = batch.through
            for dot in batch.advanced { published = dot.seq }
            if !batch.events.isEmpty {
                return Message.events(EventBatch(events: batch.events, coverage: batch.coverage))
                    .frame(compress: true)
            }
            if batch.isAtTop { return nil }
        }
    }
}

/// What is to happen, by time and then by the order of being planned.
private struct Agenda {
    private var heap: [(time: UInt64, order: Int, action: () throws -> Void)] = []
    private var planned = 0

    mutating func add(at time: UInt64, _ action: @escaping () throws -> Void) {
        planned += 1
        heap.append((time, planned, action))
        var child = heap.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func next() -> (UInt64, () throws -> Void)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty {
            heap[0] = last
            var parent = 0
            while 2 * parent + 1 < heap.count {
                let left = 2 * parent + 1
                let child = left + 1 < heap.count && isBefore(left + 1, left) ? left + 1 : left
                guard isBefore(child, parent) else { break }
                heap.swapAt(child, parent)
                parent = child
            }
        }
        return (first.time, first.action)
    }

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        (heap[a].time, heap[a].order) < (heap[b].time, heap[b].order)
    }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: UInt64) -> UInt64 { limit == 0 ? 0 : next() % limit }
}

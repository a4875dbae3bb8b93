import Testing

@testable import EventStore
@testable import SyncEngine

/// Two sessions connected by hand: what one sends the other receives when the test says so.
private struct Pair {
    var full: SyncSession
    var empty: SyncSession
    var now = Moment(monotonic: 1_000, wall: 1_785_549_735_000)
    /// What each was told to do beside sending.
    var fullDoes: [SessionEffect] = []
    var emptyDoes: [SessionEffect] = []
    private let origin = OriginID(UUIDBits(high: 1, low: 1))
    let offer: SnapshotOffer

    static func node(_ byte: UInt8) throws -> NodeID {
        NodeID(try #require(Digest(bytes: [UInt8](repeating: byte, count: 32))))
    }

    /// - Parameter contradicted: The empty one has as many events of the origin, and they are others.
    init(wants: UInt64 = 100, offers: Bool = true, has: UInt64 = 5_000, contradicted: Bool = false) throws {
        func local(_ byte: UInt8) throws -> SyncSession.Local {
            try SyncSession.Local(node: Self.node(byte), origin: OriginID(UUIDBits(high: UInt64(byte), low: 1)))
        }
        let progress = [OriginProgress(origin: origin, seq: has, rootPrefix: 77)]
        full = SyncSession(
            local: try local(1), remote: try Self.node(2), progress: progress,
            policy: SnapshotPolicy(offers: offers))
        empty = SyncSession(
            local: try local(2), remote: try Self.node(1),
            progress: contradicted ? [OriginProgress(origin: origin, seq: has, rootPrefix: 78)] : [],
            policy: SnapshotPolicy(after: wants, window: 2 << 20))
        offer = SnapshotOffer(
            id: UUIDBits(high: 9, low: 9), through: has, events: has, bytes: 1,
            entries: [VectorEntry(origin: origin, seq: has, root: 77)])
        var (a, b): ([SessionEffect], [SessionEffect]) = ([], [])
        full.started(now: now, effects: &a)
        empty.started(now: now, effects: &b)
        fullDoes = a
        emptyDoes = b
        exchange()
    }

    /// Delivers what was sent until nothing is under way.
    mutating func exchange() {
        while true {
            let (toEmpty, toFull) = (Self.take(&fullDoes), Self.take(&emptyDoes))
            if toEmpty.isEmpty, toFull.isEmpty { return }
            for frame in toEmpty { empty.frameReceived(frame, now: now, effects: &emptyDoes) }
            for frame in toFull { full.frameReceived(frame, now: now, effects: &fullDoes) }
        }
    }

    private static func take(_ effects: inout [SessionEffect]) -> [Frame] {
        var frames: [Frame] = []
        effects.removeAll { effect in
            guard case .send(let frame, _) = effect else { return false }
            frames.append(frame)
            return true
        }
        return frames
    }

    mutating func full(_ body: (inout SyncSession, Moment, inout [SessionEffect]) -> Void) {
        body(&full, now, &fullDoes)
        exchange()
    }

    mutating func empty(_ body: (inout SyncSession, Moment, inout [SessionEffect]) -> Void) {
        body(&empty, now, &emptyDoes)
        exchange()
    }

    /// Answers what the full one asked first of its kind, up to the answer of the empty one.
    mutating func makeOffer() throws {
        let id = try #require(
            fullDoes.compactMap { if case .describeSnapshot(let id) = $0 { id } else { nil } }.first)
        fullDoes = []
        full { [offer] in $0.snapshotDescribed(id, offer, now: $1, effects: &$2) }
    }

    mutating func accept(after: UInt64 = 0) throws {
        let id = try #require(
            emptyDoes.compactMap { if case .openSnapshot(let id, _) = $0 { id } else { nil } }.first)
        emptyDoes = []
        empty { $0.snapshotOpened(id, .success(after), now: $1, effects: &$2) }
    }

    /// The read the full one asks for.
    var read: (RequestID, SnapshotRead)? {
        fullDoes.compactMap { if case .readSnapshot(let id, let request) = $0 { (id, request) } else { nil } }.first
    }

    mutating func answerRead(_ bytes: Int, last: UInt64, isEnd: Bool = false) throws {
        let (id, _) = try #require(read)
        fullDoes = []
        let type: MessageType = isEnd ? .snapshotEnd : .snapshotRows
        let part = SnapshotPart(
            frame: Frame(type: type.rawValue, body: [UInt8](repeating: 0, count: bytes)), last: last, isEnd: isEnd)
        full { $0.snapshotRead(id, .success(part), now: $1, effects: &$2) }
    }

    var stores: [(RequestID, Frame)] {
        emptyDoes.compactMap { if case .storeSnapshot(let id, let frame) = $0 { (id, frame) } else { nil } }
    }

    func ends(_ effects: [SessionEffect]) -> SessionErrorCode? {
        effects.compactMap { if case .close(.failed(let failure)) = $0 { failure.code } else { nil } }.first
    }
}

extension SyncSession.Local {
    fileprivate init(node: NodeID, origin: OriginID) {
        self.init(
            StoreIdentity(node: node, name: "n", cluster: "c", origin: origin, incarnation: 1), software: "")
    }
}

private func reads(_ effects: [SessionEffect]) -> Bool {
    effects.contains { if case .read = $0 { true } else { false } }
}

struct SnapshotSessionTests {
    @Test("From offer to the end, events wait and then go on behind it")
    func whole() throws {
        var pair = try Pair()
        #expect(!reads(pair.fullDoes))
        try pair.makeOffer()
        #expect(!reads(pair.fullDoes))
        try pair.accept(after: 10)
        let (_, request) = try #require(pair.read)
        #expect(request.after == 10 && request.parts == 0 && request.compress)
        try pair.answerRead(1_000, last: 5_000)
        #expect(pair.stores.count == 1)
        #expect(pair.read?.1.after == 5_000)
        try pair.answerRead(100, last: 5_000)
        #expect(pair.read?.1.parts == 1)
        try pair.answerRead(100, last: 5_000, isEnd: true)
        #expect(pair.read == nil)
        #expect(pair.full.snapshot.status?.phase == .sending)
        #expect(pair.empty.snapshot.status?.phase == .proving)
        let stores = pair.stores
        pair.emptyDoes = []
        for (id, _) in stores.dropLast() {
            pair.empty { $0.snapshotStored(id, .success(.rows(last: 5_000)), now: $1, effects: &$2) }
        }
        pair.empty { $0.snapshotStored(stores.last!.0, .success(.complete), now: $1, effects: &$2) }
        #expect(pair.empty.snapshot.status?.phase == .complete)
        #expect(pair.full.snapshot.status == nil)
        // The full one reads on; what it knows of the peer now includes the snapshot.
        guard case .open(_, let outgoing, _) = pair.full.state else { throw Unexpected() }
        #expect(outgoing.durable.entries.map(\.seq) == [5_000])
        #expect(reads(pair.fullDoes))
        // Events that come before the store is opened again are passed over.
        let frame = Frame(type: MessageType.events.rawValue, body: [])
        pair.emptyDoes = []
        pair.empty { $0.frameReceived(frame, now: $1, effects: &$2) }
        #expect(pair.emptyDoes.isEmpty)
    }

    @Test("No offer to a peer that does not ask, is near enough, or takes small frames; none by a node that has none")
    func noOffer() throws {
        for pair in [
            try Pair(wants: 0), try Pair(offers: false), try Pair(wants: 5_001), try Pair(has: 1),
        ] {
            #expect(!pair.fullDoes.contains { if case .describeSnapshot = $0 { true } else { false } })
            #expect(reads(pair.fullDoes))
        }
        var pair = try Pair()
        let id = try #require(
            pair.fullDoes.compactMap { if case .describeSnapshot(let id) = $0 { id } else { nil } }.first)
        pair.fullDoes = []
        pair.full { $0.snapshotDescribed(id, nil, now: $1, effects: &$2) }
        #expect(reads(pair.fullDoes))
    }

    @Test("A snapshot that holds another history is refused, and the session goes on with the fork (INV-12)")
    func otherHistory() throws {
        var pair = try Pair(wants: 1, contradicted: true)
        let frame = Message.snapshotOffer(pair.offer).frame(compress: false)
        pair.empty { $0.frameReceived(frame, now: $1, effects: &$2) }
        #expect(pair.ends(pair.emptyDoes) == nil)
        let refusals = pair.emptyDoes.compactMap { effect -> SessionErrorCode? in
            if case .dropSnapshot(let failure) = effect { failure.code } else { nil }
        }
        #expect(refusals == [.fork])
        #expect(!pair.emptyDoes.contains { if case .openSnapshot = $0 { true } else { false } })
    }

    @Test("A refused snapshot leaves a session in which events flow; what was under way is passed over")
    func refused() throws {
        var pair = try Pair()
        try pair.makeOffer()
        try pair.accept()
        try pair.answerRead(100_000, last: 100)
        let (first, _) = try #require(pair.stores.first)
        pair.emptyDoes = []
        let failure = SessionFailure(.badProof, "E_SNAPSHOT_PROOF: another root")
        pair.empty { $0.snapshotStored(first, .failure(failure), now: $1, effects: &$2) }
        #expect(pair.emptyDoes == [.dropSnapshot(failure)])
        #expect(reads(pair.fullDoes))
        guard case .open(let hello, let outgoing, _) = pair.full.state else { throw Unexpected() }
        #expect(outgoing.credit == Int64(hello.limits.window) && outgoing.window == hello.limits.window)
        pair.emptyDoes = []
        let late = Frame(type: MessageType.snapshotRows.rawValue, body: [1])
        pair.empty { $0.frameReceived(late, now: $1, effects: &$2) }
        #expect(pair.emptyDoes.isEmpty)
        // A read that was under way at the other side is not sent any more.
        let (read, _) = try #require(pair.read)
        pair.fullDoes = []
        let part = SnapshotPart(frame: late, last: 200, isEnd: false)
        pair.full { $0.snapshotRead(read, .success(part), now: $1, effects: &$2) }
        #expect(pair.fullDoes.isEmpty && pair.emptyDoes.isEmpty)
    }

    @Test("An offer that is refused at once, and a second one in the same session")
    func refusedOffer() throws {
        var pair = try Pair()
        try pair.makeOffer()
        let id = try #require(
            pair.emptyDoes.compactMap { if case .openSnapshot(let id, _) = $0 { id } else { nil } }.first)
        pair.emptyDoes = []
        let failure = SessionFailure(.storeFull, "E_SNAPSHOT_SPACE")
        pair.empty { $0.snapshotOpened(id, .failure(failure), now: $1, effects: &$2) }
        #expect(reads(pair.fullDoes))
        pair.empty { [offer = pair.offer] in
            $0.frameReceived(Message.snapshotOffer(offer).frame(compress: false), now: $1, effects: &$2)
        }
        #expect(pair.ends(pair.emptyDoes) == .badFrame)
    }

    @Test("Rows go out as far as the window of the request goes, and no farther")
    func credit() throws {
        var pair = try Pair()
        try pair.makeOffer()
        try pair.accept()
        var (sent, most) = (0, 0)
        for _ in 0..<12 {
            while pair.read != nil, pair.stores.count < 100 {
                sent += 1
                try pair.answerRead(100_000, last: UInt64(sent))
            }
            most = max(most, pair.stores.count)
            let stores = pair.stores
            pair.emptyDoes = []
            for (id, _) in stores {
                pair.empty { $0.snapshotStored(id, .success(.rows(last: 1)), now: $1, effects: &$2) }
            }
        }
        // Little at first; as it passes quickly more, up to two MiB and the frame that uses them up.
        #expect(most > 3 && most <= (2 << 20) / 100_008 + 1)
        #expect(pair.read != nil)
        var greedy = try Pair()
        try greedy.makeOffer()
        try greedy.accept()
        let frame = Frame(type: MessageType.snapshotRows.rawValue, body: [UInt8](repeating: 0, count: 1_000_000))
        for _ in 0..<4 { greedy.empty { $0.frameReceived(frame, now: $1, effects: &$2) } }
        #expect(greedy.ends(greedy.emptyDoes) == .rateLimited)
    }

    @Test("A sender that lives and sends nothing more is given up; a slow one is not")
    func stall() throws {
        var pair = try Pair()
        try pair.makeOffer()
        try pair.accept()
        for _ in 0..<5 {
            pair.now = Moment(monotonic: pair.now.monotonic + 20_000, wall: pair.now.wall)
            pair.empty { $0.frameReceived(Frame(type: 26, body: [1]), now: $1, effects: &$2) }
            for (id, _) in pair.stores {
                pair.emptyDoes = []
                pair.empty { $0.snapshotStored(id, .success(.rows(last: 1)), now: $1, effects: &$2) }
            }
        }
        #expect(pair.empty.snapshot.status?.phase == .receiving)
        // A long part on a slow line, of which something comes again and again.
        for _ in 0..<5 {
            pair.now = Moment(monotonic: pair.now.monotonic + 20_000, wall: pair.now.wall)
            pair.empty.heard(at: pair.now)
            pair.empty { $0.timerFired(now: $1, effects: &$2) }
        }
        #expect(pair.empty.snapshot.status?.phase == .receiving)
        for _ in 0..<4 {
            pair.now = Moment(monotonic: pair.now.monotonic + 20_000, wall: pair.now.wall)
            pair.full { $0.timerFired(now: $1, effects: &$2) }
            pair.empty { $0.timerFired(now: $1, effects: &$2) }
        }
        #expect(
            pair.emptyDoes.contains { if case .dropSnapshot(let why) = $0 { why.code == .slowPeer } else { false } })
        #expect(pair.empty.snapshot.status == nil)
    }

    @Test("Each message out of turn ends the session")
    func outOfTurn() throws {
        let id = UUIDBits(high: 9, low: 9)
        func code(_ message: Message, _ prepare: (inout Pair) throws -> Void = { _ in }, toFull: Bool) throws
            -> SessionErrorCode?
        {
            var pair = try Pair()
            try prepare(&pair)
            let frame = message.frame(compress: false)
            if toFull {
                pair.full { $0.frameReceived(frame, now: $1, effects: &$2) }
                return pair.ends(pair.fullDoes)
            }
            pair.empty { $0.frameReceived(frame, now: $1, effects: &$2) }
            return pair.ends(pair.emptyDoes)
        }
        let get = Message.snapshotGet(SnapshotGet(id: id, after: 0, window: 1))
        #expect(try code(get, toFull: true) == .badFrame)
        #expect(try code(.snapshotDone(SnapshotDone(id: id, code: 0)), toFull: true) == .badFrame)
        #expect(try code(.snapshotRows(SnapshotRows(after: 0)), toFull: false) == .badFrame)
        #expect(try code(.snapshotEnd(SnapshotEnd(coverage: [], hasMore: false)), toFull: false) == .badFrame)
        let other = Message.snapshotGet(SnapshotGet(id: UUIDBits(high: 1, low: 9), after: 0, window: 1))
        #expect(try code(other, { try $0.makeOffer() }, toFull: true) == .badFrame)
        let beyond = Message.snapshotGet(SnapshotGet(id: id, after: 5_001, window: 1))
        #expect(try code(beyond, { try $0.makeOffer() }, toFull: true) == .badFrame)
        #expect(
            try code(
                .snapshotDone(SnapshotDone(id: UUIDBits(high: 1, low: 1), code: 0)), { try $0.makeOffer() },
                toFull: true)
                == .badFrame)
        let events = Message.events(EventBatch(events: [], coverage: []))
        #expect(try code(events, { try $0.makeOffer() }, toFull: false) == .badFrame)
        var unasked = try Pair(wants: 0)
        unasked.empty { [offer = unasked.offer] in
            $0.frameReceived(Message.snapshotOffer(offer).frame(compress: false), now: $1, effects: &$2)
        }
        #expect(unasked.ends(unasked.emptyDoes) == .badFrame)
    }
}

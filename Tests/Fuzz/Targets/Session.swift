// Wire messages show their initialisers to those who test: in a debug build, and in that of `make fuzz`.
#if DEBUG || FUZZING
    internal import EventStore
    @testable internal import SyncEngine
    internal import WireKit

    /// A script for one session: what the peer, the store, the log and the clock do to it, in any order.
    func fuzzSession(_ bytes: [UInt8]) throws {
        var script = Script(bytes)
        var run = SessionRun(&script)
        while !script.isAtEnd { try run.step(&script) }
    }

    /// A session, the world around it, and what must hold after each step.
    private struct SessionRun {
        private static let limits = WireLimits(maxBody: 64 << 10, window: 4_096)
        /// Most entries of a vector or a statement in a script.
        private static let entries = 16
        private static let window = 4_096

        private var session: SyncSession
        private var now = Moment(monotonic: 1_000, wall: 1_760_000_000_000)
        private var reads: [RequestID] = []
        private var stores: [RequestID: Int] = [:]
        private var lastRequest: RequestID?
        /// What the shell was asked about snapshots, and the pieces it is storing.
        private var snapshotRequests: [RequestID] = []
        private var pieces: [RequestID: Int] = [:]
        private var isOver = false

        init(_ script: inout Script) {
            let progress = (0..<script.below(4)).map { Self.progress(UInt64($0), &script) }
            var log = LocalVector(progress)
            if script.bool() { _ = log.advance(CommitNotice(top: 9, advanced: [])) }
            let memory = Self.memory(&script)
            let traits = Self.traits(script.byte())
            session = SyncSession(
                local: Self.local, remote: Self.node(2), progress: log, memory: memory,
                features: traits.features, limits: Self.limits, policy: traits.policy)
        }

        mutating func step(_ script: inout Script) throws {
            let wasOver = isOver
            var effects: [SessionEffect] = []
            try input(&script, &effects)
            // Frames that came early are stored together, within the window.
            let others = effects.filter { if case .store = $0 { false } else { true } }
            try promise(others.count <= 5, "\(others.count) effects of one input")
            try promise(!wasOver || effects.isEmpty, "effects after the end: \(effects)")
            for effect in effects { try perform(effect) }
            try check()
            try promise(session.takeNews().needs.count <= stores.count + 512, "more is needed than was sent")
        }

        private mutating func input(_ script: inout Script, _ effects: inout [SessionEffect]) throws {
            // A new kind of step takes the next number; so what was found stays the script that it was.
            switch script.below(32) {
            case 0: session.started(now: now, effects: &effects)
            case 1: receive(.hello(Self.hello(&script)), &effects)
            case 2: receive(.vector(Self.entries(&script)), &effects)
            case 3: receive(.ack(Self.entries(&script)), &effects)
            case 4: receive(.credit(script.number()), &effects)
            case 5: receive(.ping(Ping(nonce: script.number(), clock: Int64(bitPattern: script.number()))), &effects)
            case 6: receive(.pong(Pong(nonce: script.number(), clock: Int64(bitPattern: script.number()))), &effects)
            case 7:
                let bye = Bye(code: UInt32(script.byte()), text: String(decoding: script.bytes(), as: UTF8.self))
                receive(.bye(bye), &effects)
            case 8:
                let body = [UInt8](repeating: 0, count: script.below(256) * 16)
                session.frameReceived(
                    Frame(type: MessageType.events.rawValue, body: body), now: now, effects: &effects)
            case 9:
                let frame = Frame(type: script.byte() % 12, flags: script.byte() & 1, body: script.bytes())
                session.frameReceived(frame, now: now, effects: &effects)
            case 10:
                let notice = CommitNotice(
                    top: min(script.number(), Limits.number),
                    advanced: [Self.progress(UInt64(script.below(4)), &script)])
                session.logAdvanced(notice, now: now, effects: &effects)
            case 11: answerRead(&script, &effects)
            case 12: answerStore(&script, &effects)
            case 13: try fireTimer(&effects)
            case 14: advanceClock(script.number() % 40_000)
            case 15:
                if script.byte() == 7 {
                    session.linkLost("cut")
                    isOver = true
                }
            case 16: receive(.stateDelta(Self.statement(&script)), &effects)
            case 17: receive(.resync, &effects)
            case 18: receive(.want(Self.want(&script)), &effects)
            case 19:
                let origins = (0..<8).map(Self.origin)
                session.want(
                    take: origins.filter { _ in script.bool() }, leave: origins.filter { _ in script.bool() },
                    now: now,
                    effects: &effects)
            case 20, 21, 22, 23: receiveSnapshot(&script, &effects)
            case 24, 25: answerSnapshot(&script, &effects)
            default: session.heard(at: now)
            }
        }

        private mutating func receive(_ message: Message, _ effects: inout [SessionEffect]) {
            session.frameReceived(message.frame(compress: true), now: now, effects: &effects)
        }

        private mutating func answerRead(_ script: inout Script, _ effects: inout [SessionEffect]) {
            // An answer that no one waits for any more must be passed over.
            guard let id = reads.popLast() ?? lastRequest else { return }
            guard script.below(16) > 0 else {
                session.eventsRead(
                    id, .failure(SessionFailure(.storeError, "a bad disk")), now: now, effects: &effects)
                return
            }
            let frame = script.bool() ? Frame(type: 3, body: [UInt8](repeating: 1, count: script.below(256))) : nil
            let read = OutgoingFrame(
                frame: frame, events: script.below(9), advanced: [Self.dot(&script)], through: script.number(),
                isAtTop: script.bool())
            session.eventsRead(id, .success(read), now: now, effects: &effects)
        }

        private mutating func answerStore(_ script: inout Script, _ effects: inout [SessionEffect]) {
            guard let id = stores.keys.min() ?? lastRequest else { return }
            stores[id] = nil
            guard script.below(16) > 0 else {
                session.eventsStored(id, .failure(Self.refusal(&script)), now: now, effects: &effects)
                return
            }
            let progress = (0..<script.below(3)).map { Self.progress(UInt64($0), &script) }
            session.eventsStored(
                id, .success(StoredFrame(events: script.below(9), progress: progress)), now: now, effects: &effects)
        }

        private mutating func receiveSnapshot(_ script: inout Script, _ effects: inout [SessionEffect]) {
            let id = UUIDBits(high: 0, low: UInt64(script.below(2)))
            switch script.below(5) {
            case 0:
                receive(
                    .snapshotOffer(
                        SnapshotOffer(
                            id: id, through: script.number(), events: script.number(), bytes: script.number(),
                            entries: Self.entries(&script))), &effects)
            case 1:
                receive(.snapshotGet(SnapshotGet(id: id, after: script.number(), window: script.number())), &effects)
            case 2: receive(.snapshotDone(SnapshotDone(id: id, code: UInt32(script.byte()), text: "x")), &effects)
            case 3: receive(.snapshotEnd(SnapshotEnd(coverage: [], hasMore: script.bool())), &effects)
            default:
                var rows = SnapshotRows(after: script.number() >> 1)
                rows.count = 1 + script.below(4)
                rows.payloads = [UInt8](repeating: 0, count: script.below(256) * 16)[...]
                receive(.snapshotRows(rows), &effects)
            }
        }

        private mutating func answerSnapshot(_ script: inout Script, _ effects: inout [SessionEffect]) {
            let failure = SessionFailure(.storeError, "a bad disk")
            if let id = pieces.keys.min(), script.bool() {
                pieces[id] = nil
                let stored: SnapshotStored = [.rows(last: script.number()), .proof, .complete][script.below(3)]
                let isGood = script.below(8) > 0
                session.snapshotStored(id, isGood ? .success(stored) : .failure(failure), now: now, effects: &effects)
                return
            }
            guard let id = snapshotRequests.popLast() ?? lastRequest else { return }
            switch script.below(4) {
            case 0: session.snapshotDescribed(id, nil, now: now, effects: &effects)
            case 1:
                let offer = SnapshotOffer(
                    id: UUIDBits(high: 0, low: 0), through: 9, events: .max, bytes: 9, entries: Self.entries(&script))
                session.snapshotDescribed(id, offer, now: now, effects: &effects)
            case 2:
                let frame = Frame(type: MessageType.snapshotRows.rawValue, body: script.bytes())
                let part = SnapshotPart(frame: frame, last: script.number(), isEnd: script.bool())
                let isGood = script.below(8) > 0
                session.snapshotRead(id, isGood ? .success(part) : .failure(failure), now: now, effects: &effects)
            default:
                let isGood = script.below(4) > 0
                session.snapshotOpened(
                    id, isGood ? .success(min(script.number(), Limits.number)) : .failure(failure), now: now,
                    effects: &effects)
            }
            // An answer of the wrong kind is passed over, and the right one may still come.
            if case .describing = session.snapshot.role, effects.isEmpty { snapshotRequests = [id] }
        }

        private mutating func fireTimer(_ effects: inout [SessionEffect]) throws {
            guard let deadline = session.nextDeadline else {
                session.timerFired(now: now, effects: &effects)
                return
            }
            if deadline > now.monotonic { advanceClock(deadline - now.monotonic) }
            session.timerFired(now: now, effects: &effects)
            let next = session.nextDeadline
            try promise(next.map { $0 > now.monotonic } ?? true, "the timer would fire for ever")
        }

        private mutating func advanceClock(_ milliseconds: UInt64) {
            now = Moment(monotonic: now.monotonic + milliseconds, wall: now.wall + Int64(milliseconds))
        }

        /// A log in which every root is its size, and nothing can be proven.
        private static func finding(_ question: Inspection) -> Finding {
            switch question {
            case .roots(let dots): .roots(dots.map { VectorEntry(origin: $0.origin, seq: $0.seq, root: $0.seq) })
            case .branch: .branch(nil)
            case .prove: .proof(nil, isNew: false)
            case .evidence: .evidence([])
            case .head: .head(nil)
            case .payloads: .payloads([])
            case .heal: .healed([])
            case .attachment(let ask, _):
                .attachment(AttachmentTold(digest: ask.digest, offset: ask.offset, total: ask.offset, bytes: []))
            case .nextAttachment(_, let told):
                .nextAttachment(told.map { AttachmentPlaceWanted(digest: $0.digest, offset: $0.offset) })
            }
        }

        private mutating func perform(_ effect: SessionEffect) throws {
            switch effect {
            case .send(let frame, .control): _ = try Message(frame: frame)
            case .send, .allowBodies: break
            case .inspect(let id, let question):
                var more: [SessionEffect] = []
                session.inspected(id, .success(Self.finding(question)), now: now, effects: &more)
                for effect in more { try perform(effect) }
            case .report, .shared: break
            case .describeSnapshot(let id), .openSnapshot(let id, _), .readSnapshot(let id, _):
                try promise(snapshotRequests.count <= 1, "two questions about snapshots at once")
                snapshotRequests.append(id)
            case .storeSnapshot(let id, let frame):
                try promise(pieces.updateValue(frame.count, forKey: id) == nil, "two pieces by one name")
            case .dropSnapshot: pieces = [:]
            case .read(let id, let request):
                try promise(reads.isEmpty, "two reads at once")
                try promise(request.bytes >= 0, "a read of fewer bytes than none")
                reads.append(id)
                lastRequest = id
            case .store(let id, let frame):
                try promise(stores.updateValue(frame.count, forKey: id) == nil, "two stores by one name")
                lastRequest = id
            case .close:
                try promise(!isOver, "closed twice")
                isOver = true
            }
        }

        private func check() throws {
            switch session.state {
            case .idle: try promise(session.nextDeadline == nil, "a deadline before the start")
            case .closed: try promise(session.nextDeadline == nil, "a deadline after the end")
            default: try promise(session.nextDeadline != nil, "waiting without a deadline")
            }
            if case .closed = session.state { try promise(isOver, "closed without a word") }
            // The frame that uses up the credit may go beyond it.
            let held = stores.values.reduce(0, +)
            try promise(
                isOver || held <= Self.window + 256 * 16 + Frame.headerSize, "\(held) bytes are held for storing")
            guard case .open(_, let outgoing, _) = session.state, session.awaitsFirstPart, !session.isRestating,
                let memory = session.memory
            else {
                return
            }
            // Nothing is kept of origins that neither the peer's statement nor the log has (INV-9).
            for dot in outgoing.durable.entries where dot.origin.bits.high != Self.ownOrigins {
                try promise(memory[dot.origin] != nil, "origin \(dot.origin) of an earlier statement is kept")
            }
        }
    }

    // MARK: What scripts speak of

    extension SessionRun {
        fileprivate static let local = SyncSession.Local(
            StoreIdentity(node: node(1), name: "a", cluster: "default", origin: origin(0), incarnation: 1),
            software: "fuzz")

        fileprivate static func node(_ number: UInt8) -> NodeID { NodeID(SHA256().digest([number])) }

        /// Marks the origins of the log.
        fileprivate static let ownOrigins = UInt64(1)

        /// The first four are those of the log.
        fileprivate static func origin(_ number: UInt64) -> OriginID {
            OriginID(UUIDBits(high: number < 4 ? ownOrigins : 2, low: number))
        }

        /// What is in a log: sizes that a disk can hold.
        fileprivate static func progress(_ number: UInt64, _ script: inout Script) -> OriginProgress {
            let seq = max(1, min(script.number(), Limits.number))
            return OriginProgress(origin: origin(number), seq: seq, rootPrefix: UInt64(script.below(2)))
        }

        fileprivate static func dot(_ script: inout Script) -> Dot {
            Dot(origin: origin(UInt64(script.below(4))), seq: max(1, script.number()))
        }

        /// A Hello that is nearly always acceptable.
        fileprivate static func hello(_ script: inout Script) -> Hello {
            let oddity = script.byte()
            var hello = Hello(
                cluster: oddity == 1 ? "other" : "default", node: node(oddity == 2 ? 1 : oddity == 3 ? 3 : 2),
                incarnation: 2, clock: Int64(bitPattern: script.number()))
            if oddity == 4 { (hello.protocolMin, hello.protocolMax) = (2, 3) }
            if oddity & 8 == 0 { hello.features = oddity & 32 == 0 ? [.standings, .sources] : .standings }
            if oddity & 64 != 0 { hello.snapshotAfter = 1 }
            if oddity & 16 != 0 {
                hello.remembered = Remembered(
                    incarnation: 1, through: script.number(), origins: UInt32(script.byte()))
            }
            hello.limits.window = script.number()
            hello.limits.maxBody = UInt32(truncatingIfNeeded: max(1, script.number()))
            if hello.limits.maxBody == 0 { hello.limits.maxBody = 1 }
            return hello
        }

        /// Ascending by origin, from anywhere in the space of origins.
        fileprivate static func entries(_ script: inout Script) -> [VectorEntry] {
            var number = UInt64(script.byte())
            return (0..<script.below(entries)).map { _ in
                defer { number += 1 + UInt64(script.byte()) }
                return VectorEntry(
                    origin: origin(number), seq: max(1, script.number()), root: UInt64(script.below(2)))
            }
        }

        /// What this node can do.
        fileprivate static func traits(_ byte: UInt8) -> (features: Features, policy: SnapshotPolicy) {
            let features: Features =
                switch byte % 4 {
                case 0: []
                case 1: .standings
                default: [.standings, .sources]
                }
            let policy = SnapshotPolicy(offers: byte & 64 != 0, after: byte & 128 == 0 ? 0 : 1, window: 4_096)
            return (features, policy)
        }

        /// A lie, or events whose dependencies are not here yet.
        fileprivate static func refusal(_ script: inout Script) -> SessionFailure {
            guard script.bool() else { return SessionFailure(.badProof, "a lie") }
            let dot = dot(&script)
            return SessionFailure(.causalGap(dot, needs: Dot(origin: origin(UInt64(script.below(8))), seq: dot.seq)))
        }

        fileprivate static func want(_ script: inout Script) -> Want {
            func range() -> [ClosedRange<UInt32>] {
                let first = UInt32(1 + script.below(8))
                return script.bool() ? [first...max(first, UInt32(truncatingIfNeeded: script.number()))] : []
            }
            return Want(take: range(), leave: range())
        }

        /// A part of a statement: origins by name or by number, from anywhere.
        fileprivate static func statement(_ script: inout Script) -> StateDelta {
            let traits = script.byte()
            var number = UInt64(script.byte())
            let stated = (0..<script.below(entries)).map { _ in
                let name: StateEntry.Name =
                    script.below(4) > 0 ? .new(origin(number)) : .number(UInt32(1 + script.below(20)))
                number += 1 + UInt64(script.below(8))
                return StateEntry(name, seq: max(1, script.number()), root: UInt64(script.below(2)))
            }
            return StateDelta(
                entries: stated, isWhole: traits & 1 == 1, since: traits & 2 == 0 ? 9 : script.number(),
                through: traits & 4 == 0 ? 9 : script.number(),
                digest: traits & 56 == 56 ? SHA256().digest([traits]) : nil,
                hasMore: traits & 64 != 0)
        }

        /// What is remembered of the peer, perhaps.
        fileprivate static func memory(_ script: inout Script) -> PeerMemory? {
            guard script.bool() else { return nil }
            var memory = PeerMemory(incarnation: script.bool() ? 2 : 3)
            let whole = StateDelta(
                entries: [StateEntry(.new(origin(5)), seq: 5, root: 0)], isWhole: true, since: 0, through: 9)
            return (try? memory.apply(whole, isFirst: true)).map { _ in memory }
        }
    }

#else

    /// A release build that cannot make messages.
    func fuzzSession(_ bytes: [UInt8]) throws { throw BrokenPromise(description: "built without FUZZING") }

#endif

import EventStore
import Testing

@testable import SyncEngine

/// What a peer can say of itself that is not so.
struct HostileStateDeltaTests {
    private let start = Moment(monotonic: 1_000, wall: 1_760_000_000_000)
    private let mine = VirtualNode(index: 0, features: VirtualNode.all, limits: WireLimits())
    private let theirs = VirtualNode(index: 1, features: VirtualNode.all, limits: WireLimits())

    private func entry(_ number: UInt64, _ seq: UInt64 = 1) -> StateEntry {
        StateEntry(.new(VirtualNode.origin(1_000 + number)), seq: seq, root: 1)
    }

    private func whole(_ entries: [StateEntry], digest: Bool = true, more: Bool = false) -> Message {
        var memory = PeerMemory(incarnation: 2)
        let plain = StateDelta(entries: entries, isWhole: true, since: 0, through: 9, hasMore: more)
        _ = try? memory.apply(plain, isFirst: true)
        var standing = plain
        if digest, !more { standing.digest = StateDelta.digest(of: memory.entries) }
        return .stateDelta(standing)
    }

    /// What the session does when the peer has said hello and then these.
    private func session(_ messages: [Message]) -> (session: SyncSession, effects: [SessionEffect]) {
        var session = SyncSession(
            local: mine.local, remote: theirs.local.node, progress: mine.vector, features: VirtualNode.all)
        var effects: [SessionEffect] = []
        session.started(now: start, effects: &effects)
        let hello = Hello(
            cluster: "default", node: theirs.local.node, incarnation: 2, clock: 0, features: VirtualNode.all)
        for message in [.hello(hello)] + messages {
            effects = []
            session.frameReceived(message.frame(compress: false), now: start, effects: &effects)
        }
        return (session, effects)
    }

    private func end(_ messages: [Message]) -> SessionErrorCode? {
        if case .close(.failed(let failure)) = session(messages).effects.last { failure.code } else { nil }
    }

    private func asksAgain(_ effects: [SessionEffect]) -> Bool {
        effects.contains { effect in
            if case .send(let frame, _) = effect { frame.type == MessageType.resync.rawValue } else { false }
        }
    }

    @Test("A whole statement that contradicts itself ends the session by name")
    func contradictions() {
        #expect(end([whole([entry(1), entry(2)])]) == nil)
        #expect(end([whole([entry(1), entry(1)], digest: false)]) == .badFrame)
        var wrong = StateDelta(entries: [entry(1)], isWhole: true, since: 0, through: 9)
        wrong.digest = StateDelta.digest(of: [] as [VectorEntry])
        #expect(end([.stateDelta(wrong)]) == .badFrame)
        #expect(
            end([.stateDelta(StateDelta(entries: [], isWhole: true, since: 0, through: 1)), .vector([])]) == .badFrame
        )
        #expect(end([.vector([])]) == .badFrame)
        #expect(end([.want(Want(take: [1] as [UInt32], leave: []))]) == .badFrame)
        // That the peer has more of this node's own origin than the node is no contradiction: it may have lost its memory.
        let own = StateEntry(.new(mine.local.origin), seq: 5, root: 1)
        #expect(end([whole([own])]) == nil)
    }

    @Test("A difference that does not fit is asked for whole; what comes until then is passed over")
    func misfits() {
        let differences = [
            StateDelta(entries: [], isWhole: false, since: 8, through: 9),
            StateDelta(entries: [StateEntry(.number(1), seq: 1, root: 1)], isWhole: false, since: 0, through: 9),
            StateDelta(entries: [], isWhole: false, since: 0, through: 9, digest: SHA256().digest([1])),
            StateDelta(entries: [entry(1), entry(1)], isWhole: false, since: 0, through: 9),
        ]
        for difference in differences {
            let (session, effects) = session([.stateDelta(difference)])
            #expect(asksAgain(effects))
            #expect(session.memory?.entries.isEmpty == true)
            let again = self.session([.stateDelta(difference), .stateDelta(difference)])
            #expect(again.effects.isEmpty)
            #expect(end([.stateDelta(difference), whole([entry(1)])]) == nil)
            let healed = self.session([.stateDelta(difference), whole([entry(1)])]).session
            #expect(healed.memory?.entries.count == 1 && healed.choosesOrigins)
        }
        // Also in the middle of a connection.
        let (_, effects) = session([whole([entry(1)]), .stateDelta(differences[0])])
        #expect(asksAgain(effects))
        #expect(end([whole([entry(1)]), .stateDelta(differences[0]), whole([entry(1), entry(2)])]) == nil)
    }

    @Test("More origins than are remembered, and Resync without end, are refused (INV-9)")
    func bounded() {
        let part = 20_000
        let parts = (0...WireLimits.origins / part).map { index in
            whole((0..<part).map { entry(UInt64(index * part + $0)) }, digest: false, more: true)
        }
        #expect(end(parts) == .badFrame)
        #expect(end([whole([])] + Array(repeating: .resync, count: 3)) == nil)
        #expect(end([whole([])] + Array(repeating: .resync, count: 4)) == .rateLimited)
    }

    @Test("A peer that states other origins again and again, over and over, fills no memory (INV-9)")
    func restating() {
        var (session, _) = session([whole([entry(0)])])
        var plan = SourcePlan(VersionVector([Dot(origin: mine.local.origin, seq: 1)]))
        let peer = theirs.local.node
        func tell(_ news: SessionNews, now: UInt64) {
            if news.hasOpened {
                plan.opened(peer, news.announced, own: nil, now: now)
            } else if news.hasRestated {
                plan.restated(peer, news.announced, now: now)
            } else {
                plan.announced(peer, news.announced, now: now)
            }
            _ = plan.takeChanges()
        }
        tell(session.takeNews(), now: 0)
        var effects: [SessionEffect] = []
        for round in UInt64(1)...200 {
            let entries = (0..<50).map { entry(round * 100 + $0) }
            for (index, half) in [entries.prefix(25), entries.suffix(25)].enumerated() {
                let part = StateDelta(entries: Array(half), isWhole: true, since: 0, through: 9, hasMore: index == 0)
                session.frameReceived(
                    Message.stateDelta(part).frame(compress: false), now: start, effects: &effects)
                tell(session.takeNews(), now: round)
            }
            #expect(plan.count == 51)
            #expect(plan.source(of: VirtualNode.origin(1_000 + round * 100)) == peer)
        }
        #expect(!effects.contains { if case .close = $0 { true } else { false } })
        // When it is gone, nothing is waited for.
        #expect(plan.isWaiting)
        plan.closed(peer, now: 300)
        #expect(plan.count == 1 && !plan.isWaiting)
    }

    @Test("Of origins that nobody has, only the numbering is kept; after the connection not even that (INV-9)")
    func unknownOrigins() throws {
        let own = StateEntry(.new(mine.local.origin), seq: 1, root: VirtualNode.root(mine.local.origin, 1))
        _ = mine.append(3, bytes: 10, origin: nil, at: 0)
        let (session, _) = session([whole([own] + (0..<30_000).map { entry($0) })])
        guard case .open(_, let outgoing, _) = session.state, let memory = session.memory else {
            Issue.record("\(session.state)")
            return
        }
        #expect(outgoing.known.entries == [Dot(origin: mine.local.origin, seq: 1)])
        #expect(outgoing.known == outgoing.durable && outgoing.known == outgoing.sound)
        #expect(session.account.origins == 30_001 && session.account.bytes > 30_001 * 32 && !session.account.isFull)
        let kept = memory.kept(of: mine.vector)
        #expect(kept.entries == [VectorEntry(origin: mine.local.origin, seq: 1, root: own.root)])
        #expect(kept.remembered == nil && kept.vector(of: mine.vector) == outgoing.durable)
        #expect(memory.count(missingFrom: mine.vector) == 30_000)
    }

    @Test("What a peer has of an origin that the log meets later is known then")
    func metLater() throws {
        _ = mine.append(1, bytes: 10, origin: nil, at: 0)
        let later = VirtualNode.origin(1_007)
        var (session, effects) = session([whole([entry(7, 4)])])
        let notice = mine.append(6, bytes: 10, origin: later, at: 0)
        session.logAdvanced(notice, now: start, effects: &effects)
        guard case .open(_, let outgoing, _) = session.state else {
            Issue.record("\(session.state)")
            return
        }
        #expect(outgoing.known[later] == 4 && outgoing.durable[later] == 4 && outgoing.sound[later] == 4)
    }

    @Test("Small frames that the store has not answered fill a link's account as well (INV-9)")
    func smallFrames() throws {
        var (session, effects) = session([whole([entry(7, 4)])])
        var asked: [SessionEffect] = []
        for number in 1...LinkAccount.mostJobs {
            #expect(!session.account.isFull, "\(number)")
            effects = []
            let frame = Frame(type: MessageType.events.rawValue, body: [UInt8](repeating: 0, count: 100))
            session.frameReceived(frame, now: start, effects: &effects)
            asked += effects.filter { if case .store = $0 { true } else { false } }
        }
        #expect(asked.count == LinkAccount.mostJobs)
        #expect(session.account.jobs == LinkAccount.mostJobs && session.account.isFull)
        let first = try #require(asked.compactMap { if case .store(let id, _) = $0 { id } else { nil } }.first)
        let dot = Dot(origin: VirtualNode.origin(1_007), seq: 5)
        session.eventsStored(
            first, .success(StoredFrame(events: 1, progress: [], carried: [dot])), now: start, effects: &effects)
        #expect(!session.account.isFull)
    }

    @Test("What has come is taken note of without copies of all that is known", .timeLimit(.minutes(5)))
    func storedAmongMany() throws {
        for number in 0..<20_000 {
            _ = mine.append(1, bytes: 1, origin: VirtualNode.origin(1_000 + UInt64(number)), at: 0)
        }
        var (session, effects) = session([whole((0..<20_000).map { entry($0) })])
        let begun = ContinuousClock.now
        for seq in UInt64(2)...5_001 {
            effects = []
            let body = Frame(type: MessageType.events.rawValue, body: [UInt8](repeating: 0, count: 100))
            session.frameReceived(body, now: start, effects: &effects)
            let id = effects.compactMap { if case .store(let id, _) = $0 { id } else { nil } }
            let dot = Dot(origin: VirtualNode.origin(1_000 + seq % 20_000), seq: seq)
            session.eventsStored(
                try #require(id.first), .success(StoredFrame(events: 1, progress: [], carried: [dot])), now: start,
                effects: &effects)
        }
        let elapsed = ContinuousClock.now - begun
        print("5,000 frames beside 20,000 origins: \(elapsed)")
        // Three copies for each would be 8 GB of moved memory: seconds.
        #expect(elapsed < .seconds(2))
    }

    @Test("Sources that do not deliver are replaced also when very many origins wait, a part in each look")
    func manyBehind() {
        var plan = SourcePlan()
        let (first, second) = (mine.local.node, theirs.local.node)
        let dots = (0..<5_000).map { Dot(origin: VirtualNode.origin($0), seq: 9) }
        plan.opened(first, dots, own: nil, now: 0)
        plan.opened(second, dots, own: nil, now: 0)
        var now = SourcePlan.patience
        for _ in 0..<3 {
            plan.tick(now: now)
            now += SourcePlan.interval
        }
        #expect(dots.allSatisfy { plan.source(of: $0.origin) == second })
        plan.advanced(dots, now: now)
        #expect(!plan.isWaiting)
    }

    @Test("Origins that a peer makes up in messages about forks fill no memory (INV-9)")
    func forks() {
        var (session, _) = session([whole([entry(0)])])
        var effects: [SessionEffect] = []
        for number in UInt64(0)..<1_000 {
            let origin = VirtualNode.origin(5_000 + number)
            let fork = Fork(origin: origin, roots: [Fork.Root(size: 1, root: 1)], asks: true)
            effects = []
            session.frameReceived(Message.fork(fork).frame(compress: false), now: start, effects: &effects)
            for case .inspect(let id, _) in effects {
                session.inspected(id, .success(.roots([])), now: start, effects: &effects)
            }
        }
        #expect(session.hello != nil)
        #expect(session.forks.held.count <= ForkEvidence.capacity)
    }

    @Test("Wants for numbers that do not exist mean nothing; those for all do")
    func wants() {
        _ = mine.append(3, bytes: 10, origin: nil, at: 0)
        _ = mine.append(1, bytes: 10, origin: VirtualNode.origin(500), at: 0)
        func reads(_ want: Want) -> Set<OriginID>? {
            for case .read(_, let request) in session([whole([]), .want(want)]).effects { return request.wanted }
            return nil
        }
        #expect(reads(Want(take: [3, .max] as [UInt32], leave: [])) == nil)
        #expect(reads(Want(take: [1...UInt32.max], leave: [])) == [mine.local.origin, VirtualNode.origin(500)])
        #expect(reads(Want(take: [1...UInt32.max], leave: [1...1])) == [VirtualNode.origin(500)])
        #expect(reads(Want(take: [ClosedRange<UInt32>](), leave: [1...9])) == nil)
        let descending = Want(take: [5...6, 1...2], leave: [])
        #expect(throws: WireError.malformed(message: "Want", reason: "ranges do not ascend")) {
            try Message(frame: Message.want(descending).frame(compress: false))
        }
    }
}

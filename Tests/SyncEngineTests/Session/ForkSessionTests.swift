import Testing

@testable import EventStore
@testable import SyncEngine

/// What a session asks of histories that differ, without network and store.
struct ForkSessionTests {
    /// A log that can answer: for each origin a number for the root of each size.
    private final class Side {
        var session: SyncSession
        /// The root at a size is the hash of what is before it, so that a difference stays.
        var histories: [OriginID: [UInt64]]
        var reports: [IdentityReport] = []
        var sent: [Frame] = []
        var reads: [ReadRequest] = []
        var questions: [Inspection] = []
        var answersForks = true
        /// What `.prove` finds.
        var evidence: ForkEvidence?
        var kept: [ForkEvidence] = []
        /// What it shows of its peer's origin.
        var shown: SignedHead?
        var end: SessionEnd?

        init(
            _ number: UInt64, _ histories: [OriginID: [UInt64]], origin: OriginID, forked: Set<OriginID> = [],
            features: Features = [.standings, .heads]
        ) {
            self.histories = histories
            let node = ForkSessionTests.node(number)
            let identity = StoreIdentity(
                node: node, name: "n\(number)", cluster: "default", origin: origin, incarnation: number)
            session = SyncSession(
                local: SyncSession.Local(identity, software: "test", forked: forked, run: number),
                remote: ForkSessionTests.node(3 - number),
                progress: LocalVector(
                    histories.map { origin, roots in
                        OriginProgress(origin: origin, seq: UInt64(roots.count), rootPrefix: roots.last ?? 0)
                    }), features: features)
        }

        func input(_ body: (inout SyncSession, inout [SessionEffect]) -> Void) throws {
            var effects: [SessionEffect] = []
            body(&session, &effects)
            for effect in effects { try perform(effect) }
        }

        private func perform(_ effect: SessionEffect) throws {
            switch effect {
            case .send(let frame, _): sent.append(frame)
            case .read(_, let request): reads.append(request)
            case .report(let report): reports.append(report)
            case .close(let end): self.end = end
            case .inspect(let id, let question):
                questions.append(question)
                try input { $0.inspected(id, .success(answer(question)), now: now, effects: &$1) }
            default: break
            }
        }

        private func answer(_ question: Inspection) -> Finding {
            switch question {
            case .roots(let dots):
                return .roots(
                    dots.compactMap { dot in
                        guard let roots = histories[dot.origin], dot.seq <= roots.count else { return nil }
                        return VectorEntry(origin: dot.origin, seq: dot.seq, root: roots[Int(dot.seq) - 1])
                    })
            case .branch(let dot): return .branch(branch(dot))
            case .prove: return .proof(evidence, isNew: evidence != nil)
            case .evidence: return .evidence(kept)
            case .head(let dot): return .head(shown.flatMap { $0.head.origin == dot.origin ? $0 : nil })
            case .payloads: return .payloads([])
            case .heal: return .healed([])
            case .attachment(let ask, _): return .attachment(AttachmentTold(lacking: ask))
            case .nextAttachment: return .nextAttachment(nil)
            }
        }

        func branch(_ dot: Dot) -> ForkBranch? {
            guard let digest = Digest(bytes: [UInt8](repeating: 1, count: 32)) else { return nil }
            let head = TreeHead(origin: dot.origin, size: dot.seq, root: digest, hlc: HybridTime(rawValue: 1))
            return ForkBranch(
                head: SignedHead(head: head, signature: [UInt8](repeating: 2, count: 64)), header: [1],
                payloadDigest: digest, proof: [])
        }

        var now: Moment { Moment(monotonic: 1_000, wall: 1_760_000_000_000) }

        var forks: [Fork] {
            sent.compactMap { frame in
                if case .fork(let fork)? = try? Message(frame: frame) { fork } else { nil }
            }
        }
    }

    private static func node(_ number: UInt64) -> NodeID {
        NodeID(SHA256().digest([UInt8(number)]))
    }

    private let own = [1, 2].map { OriginID(UUIDBits(high: $0, low: 0)) }
    private let other = OriginID(UUIDBits(high: 9, low: 9))

    /// Roots of a history of `count` events, of which those from `fork` on are another branch.
    private func roots(_ count: UInt64, from fork: UInt64 = .max) -> [UInt64] {
        count == 0 ? [] : (1...count).map { $0 < fork ? $0 : $0 + 1_000_000_000 }
    }

    /// Hands what one has sent to the other until both are quiet.
    private func converse(_ a: Side, _ b: Side) throws {
        for side in [a, b] { try side.input { $0.started(now: side.now, effects: &$1) } }
        for _ in 0..<200 {
            let (fromA, fromB) = (a.sent, b.sent)
            if fromA.isEmpty, fromB.isEmpty { return }
            (a.sent, b.sent) = ([], [])
            for (frames, side) in [(fromA, b), (fromB, a)] {
                for frame in frames where side.answersForks || frame.type != MessageType.fork.rawValue {
                    try side.input { $0.frameReceived(frame, now: side.now, effects: &$1) }
                }
            }
        }
        Issue.record("the sessions do not come to rest")
    }

    @Test(
        "The first event that differs is found, whatever the lengths, and everything else goes on",
        arguments: [
            (1, 1, 1), (2, 2, 2), (10, 10, 7), (10, 8, 8), (300, 17, 1), (17, 300, 17), (100_000, 99_999, 54_321),
            (1_000_000, 1_000_000, 1), (1_000_000, 1_000_000, 1_000_000),
        ] as [(UInt64, UInt64, UInt64)])
    func finds(mine: UInt64, theirs: UInt64, fork: UInt64) throws {
        let a = Side(1, [other: roots(mine), own[0]: roots(5)], origin: own[0])
        let b = Side(2, [other: roots(theirs, from: fork), own[1]: roots(4)], origin: own[1])
        try converse(a, b)
        let larger = mine >= theirs ? a : b
        let found = larger.questions.compactMap { if case .branch(let dot) = $0 { dot } else { nil } }
        #expect(found == [Dot(origin: other, seq: fork)])
        for side in [a, b] {
            #expect(side.end == nil)
            #expect(side.session.forks.held == [other])
            #expect(side.session.forks.isSettled)
            // What is held counts as known; what the peer lacks of the node's own origin is read. A node that has less reads
            // before it is told: nothing that the other lacks.
            let read = try #require(side.reads.last)
            #expect(read.known[other] == (side === larger || mine == theirs ? .max : max(mine, theirs)))
            #expect(side.reads.count == 1)
        }
        let rounds = larger.questions.count
        #expect(rounds < 15, "\(rounds)")
    }

    @Test("Prefixes are no fork: nothing is held, and one comparison is all that is asked")
    func prefix() throws {
        let a = Side(1, [other: roots(500), own[0]: roots(5)], origin: own[0])
        let b = Side(2, [other: roots(20), own[1]: roots(4)], origin: own[1])
        try converse(a, b)
        for side in [a, b] {
            #expect(side.end == nil && side.reports.isEmpty && side.session.forks.held.isEmpty)
        }
        #expect(a.questions == [.roots([Dot(origin: other, seq: 20)])])
        #expect(b.questions.isEmpty)
        #expect(a.reads.last?.known[other] == 20)
    }

    @Test("A peer that has more of this node's own origin is asked for a head of it, and the session goes on")
    func behind() throws {
        let a = Side(1, [own[0]: roots(5)], origin: own[0])
        let b = Side(2, [own[0]: roots(9), own[1]: roots(4)], origin: own[1])
        let head = TreeHead(origin: own[0], size: 9, root: SHA256().digest([1]), hlc: HybridTime(rawValue: 1))
        b.shown = SignedHead(signing: head, with: .generate())
        try converse(a, b)
        #expect(b.questions.contains(.head(Dot(origin: own[0], seq: 6))))
        #expect(a.reports == [.claimed(own[0], size: 9, b.shown)])
        #expect(a.end == nil && b.end == nil && b.reports.isEmpty)
        #expect(b.reads.last?.known[own[0]] == 5)
        // Once it appends elsewhere that is nothing special any more.
        var session = a.session
        session.originChanged(to: OriginID(UUIDBits(high: 7, low: 7)))
        var effects: [SessionEffect] = []
        session.examine(
            [VectorEntry(origin: own[0], seq: 10, root: 3)], isOpening: false, now: a.now, &effects)
        #expect(!effects.contains { if case .report = $0 { true } else { false } })
    }

    @Test(
        "A claim for which nothing is shown, by no or by another peer, is reported after 10 s, once (D12)",
        arguments: [true, false])
    func nothingShown(asked: Bool) throws {
        let a = Side(1, [own[0]: roots(5)], origin: own[0])
        let b = Side(
            2, [own[0]: roots(9), own[1]: roots(4)], origin: own[1],
            features: asked ? [.standings, .heads] : .standings)
        try converse(a, b)
        #expect(a.reports == (asked ? [.claimed(own[0], size: 9, nil)] : []))
        guard !asked else { return }
        #expect(a.session.nextDeadline == 11_000)
        let late = Moment(monotonic: 11_000, wall: a.now.wall)
        for _ in 0..<2 { try a.input { $0.timerFired(now: late, effects: &$1) } }
        #expect(a.reports == [.claimed(own[0], size: 9, nil)])
        #expect(a.end == nil)
    }

    @Test("An answer that stands behind a large event on a slow line is waited for, a minute at most (D12)")
    func slowLine() throws {
        func seconds(heardEvery step: UInt64?) throws -> UInt64 {
            let a = Side(1, [own[0]: roots(5)], origin: own[0])
            let b = Side(2, [own[0]: roots(9), own[1]: roots(4)], origin: own[1], features: .standings)
            try converse(a, b)
            var seconds = UInt64(0)
            while a.reports.isEmpty, seconds < 120 {
                seconds += 1
                let now = Moment(monotonic: a.now.monotonic + seconds * 1_000, wall: a.now.wall)
                if let step, seconds % step == 0 { try a.input { session, _ in session.heard(at: now) } }
                try a.input { $0.timerFired(now: now, effects: &$1) }
            }
            #expect(a.reports == [.claimed(own[0], size: 9, nil)])
            return seconds
        }
        #expect(try seconds(heardEvery: nil) == 10)
        // A sign of life now and then is no frame under way.
        #expect(try seconds(heardEvery: 7) == 10)
        #expect(try seconds(heardEvery: 1) == 60)
    }

    @Test("Another history of this node's own origin that is not proven is reported as a dispute (D12)")
    func dispute() throws {
        let a = Side(1, [own[0]: roots(5)], origin: own[0])
        let b = Side(2, [own[0]: roots(5, from: 5), own[1]: roots(4)], origin: own[1])
        try converse(a, b)
        #expect(a.reports == [.forked(own[0], size: 5), .disputed(own[0])])
        #expect(b.reports == [.forked(own[0], size: 5)])
        #expect(a.session.forks.isSettled && a.end == nil && b.end == nil)
    }

    @Test("Proofs of forks are checked one after the other, and only so many wait (INV-9)")
    func proofs() throws {
        let a = Side(1, [other: roots(10), own[0]: roots(5)], origin: own[0])
        let b = Side(2, [own[1]: roots(4)], origin: own[1])
        try converse(a, b)
        let branch = try #require(a.branch(Dot(origin: other, seq: 2)))
        let proof = Message.fork(Fork(origin: other, seq: 2, branches: [branch, branch])).frame(compress: false)
        // As long as the store says nothing one is under way.
        var session = a.session
        var effects: [SessionEffect] = []
        func inspections() -> [RequestID] {
            effects.compactMap { if case .inspect(let id, _) = $0 { id } else { nil } }
        }
        for count in 1...150 {
            session.frameReceived(proof, now: a.now, effects: &effects)
            #expect(inspections().count == 1)
            #expect(session.account.isFull == (count > ForkEvidence.capacity))
        }
        #expect(session.account.work > 150 * 256)
        // Each answer begins the next.
        for count in 2...150 {
            session.inspected(
                inspections()[count - 2], .success(.proof(nil, isNew: false)), now: a.now, effects: &effects)
            #expect(inspections().count == count)
        }
        session.inspected(inspections()[149], .success(.proof(nil, isNew: false)), now: a.now, effects: &effects)
        #expect(inspections().count == 150 && session.account.work == 0 && session.account.jobs == 1)
        // Who goes on with proofs of nothing is told to go.
        effects = []
        for _ in 0..<100 {
            session.frameReceived(proof, now: a.now, effects: &effects)
            guard let last = inspections().last else { break }
            session.inspected(last, .success(.proof(nil, isNew: false)), now: a.now, effects: &effects)
        }
        guard case .close(.failed(let failure))? = effects.last else {
            Issue.record("the session goes on")
            return
        }
        #expect(failure.code == .rateLimited && inspections().count == 50)
    }

    @Test("A fork that only a later statement shows is held and looked into, too")
    func later() throws {
        let a = Side(1, [own[0]: roots(5), other: roots(8)], origin: own[0])
        let b = Side(2, [own[1]: roots(4), other: roots(8)], origin: own[1])
        try converse(a, b)
        let memory = try #require(a.session.memory)
        let number = try #require(memory.number(of: other))
        let statement = StateDelta(
            entries: [StateEntry(.number(number), seq: 8, root: 77)], isWhole: false, since: memory.through,
            through: memory.through + 1)
        let frame = Message.stateDelta(statement).frame(compress: false)
        try a.input { $0.frameReceived(frame, now: a.now, effects: &$1) }
        #expect(a.session.forks.held == [other])
        #expect(a.reports == [.forked(other, size: 8)])
        #expect(a.forks.last?.asks == true)
        #expect(a.end == nil)
    }

    @Test("A peer that does not answer about forks holds nothing else up")
    func silent() throws {
        let a = Side(1, [other: roots(10), own[0]: roots(5)], origin: own[0])
        let b = Side(2, [other: roots(10, from: 3), own[1]: roots(4)], origin: own[1])
        b.answersForks = false
        try converse(a, b)
        #expect(!a.session.forks.isSettled && a.reads.isEmpty)
        let deadline = try #require(a.session.nextDeadline)
        #expect(deadline == 11_000)
        let late = Moment(monotonic: deadline, wall: a.now.wall)
        try a.input { $0.timerFired(now: late, effects: &$1) }
        #expect(a.session.forks.isSettled && a.reads.count == 1 && a.session.forks.held == [other])
        #expect(a.end == nil)
    }

    @Test("Proofs that are kept are sent before any event; proven forks are held without another inquiry")
    func gossip() throws {
        let key = SigningKey.generate()
        let evidence = try Self.evidence(other, key)
        let a = Side(1, [other: roots(10), own[0]: roots(5)], origin: own[0], forked: [other])
        a.kept = [evidence]
        let b = Side(2, [other: roots(10, from: 3), own[1]: roots(4)], origin: own[1])
        b.evidence = evidence
        try converse(a, b)
        #expect(b.reports.contains(.proven(evidence, isNew: true)))
        #expect(a.questions.first == .evidence)
        #expect(!a.questions.contains { if case .branch = $0 { true } else { false } })
        // And one that comes up later is passed on.
        let c = Side(1, [own[0]: roots(5)], origin: own[0])
        try converse(c, Side(2, [own[1]: roots(4)], origin: own[1]))
        try c.input { $0.forkProven(evidence, now: c.now, effects: &$1) }
        #expect(c.forks == [Fork(evidence)])
    }

    @Test("A peer that comes to have a forked origin is sent its proof again, once: before, it could not check it")
    func shownAgain() throws {
        let evidence = try Self.evidence(other, SigningKey.generate())
        let a = Side(1, [other: roots(10), own[0]: roots(5)], origin: own[0], forked: [other])
        a.kept = [evidence]
        let b = Side(2, [own[1]: roots(4)], origin: own[1])
        try converse(a, b)
        #expect(a.questions.first == .evidence && a.forks.isEmpty, "sent at the opening")
        for seq in 1...3 {
            let memory = try #require(a.session.memory)
            let name = memory.number(of: other).map { StateEntry.Name.number($0) } ?? .new(other)
            let entry = StateEntry(name, seq: UInt64(seq), root: roots(10)[seq - 1])
            let statement = StateDelta(
                entries: [entry], isWhole: false, since: memory.through, through: memory.through + 1)
            let frame = Message.stateDelta(statement).frame(compress: false)
            try a.input { $0.frameReceived(frame, now: a.now, effects: &$1) }
            #expect(a.forks == [Fork(evidence)] && a.end == nil, "statement \(seq)")
        }
    }

    static func evidence(_ origin: OriginID, _ key: SigningKey) throws -> ForkEvidence {
        let dot = Dot(origin: origin, seq: 1)
        let sha = SHA256()
        let branches = (1...2).map { number in
            let header = EventHeader(
                dot: dot, hlc: HybridTime(rawValue: UInt64(number)), id: EventID(UUIDBits(high: 1, low: 1)),
                type: "t",
                user: "u"
            ).canonicalBytes
            let digest = sha.digest([UInt8(number)])
            let leaf = sha.leaf(header: header, payloadDigest: digest)
            let head = TreeHead(origin: origin, size: 1, root: leaf, hlc: HybridTime(rawValue: 1))
            return ForkBranch(
                head: SignedHead(signing: head, with: key), header: header, payloadDigest: digest, proof: [])
        }
        return try #require(ForkEvidence(dot, branches[0], branches[1], key: key.publicKey))
    }

    @Test("Nonsense about forks is answered or passed over, and never asked twice at once")
    func hostile() throws {
        let a = Side(1, [other: roots(10), own[0]: roots(5)], origin: own[0])
        let b = Side(2, [own[1]: roots(4)], origin: own[1])
        try converse(a, b)
        let unknown = OriginID(UUIDBits(high: 1, low: 77))
        func receive(_ fork: Fork) throws -> [Fork] {
            a.sent = []
            try a.input {
                $0.frameReceived(Message.fork(fork).frame(compress: false), now: a.now, effects: &$1)
            }
            return a.forks
        }
        // Sizes that are not here are left out, as for an origin that is not here.
        let roots = [Fork.Root(size: 3, root: 1), Fork.Root(size: 11, root: 1)]
        #expect(
            try receive(Fork(origin: other, roots: roots, asks: true))
                == [Fork(origin: other, roots: [Fork.Root(size: 3, root: 3)])])
        #expect(try receive(Fork(origin: unknown, roots: roots, asks: true)) == [Fork(origin: unknown)])
        // Answers that were not asked for, and proofs of nothing.
        let branch = try #require(a.branch(Dot(origin: other, seq: 2)))
        for fork in [
            Fork(origin: other, roots: roots), Fork(origin: other, seq: 4), Fork(origin: unknown),
            Fork(origin: other, seq: 2, branches: [branch, branch]),
            Fork(origin: other, seq: 2, branches: [branch]),
        ] { #expect(try receive(fork).isEmpty) }
        #expect(
            try receive(Fork(origin: other, seq: 2, branches: [branch], asks: true)) == [Fork(origin: other, seq: 1)])
        #expect(a.reports.isEmpty && a.end == nil && a.session.forks.isSettled)

        // Without an answer of the store in between, a second question is one too many.
        var session = a.session
        var effects: [SessionEffect] = []
        let question = Message.fork(Fork(origin: other, roots: roots, asks: true)).frame(compress: false)
        session.frameReceived(question, now: a.now, effects: &effects)
        session.frameReceived(question, now: a.now, effects: &effects)
        guard case .close(.failed(let failure))? = effects.last else {
            Issue.record("\(effects)")
            return
        }
        #expect(failure.code == .rateLimited)
    }

    @Test("Two processes with one key know each other by their runs")
    func doubles() throws {
        func met(run: UInt64) throws -> SessionErrorCode? {
            let identity = StoreIdentity(
                node: Self.node(1), name: "n", cluster: "default", origin: own[0], incarnation: 1)
            var session = SyncSession(
                local: SyncSession.Local(identity, software: "test", run: 5), remote: Self.node(1), progress: [])
            var effects: [SessionEffect] = []
            let now = Moment(monotonic: 1, wall: 1)
            session.started(now: now, effects: &effects)
            let hello = Hello(cluster: "default", node: Self.node(1), incarnation: 1, clock: 1, run: run)
            session.frameReceived(Message.hello(hello).frame(compress: false), now: now, effects: &effects)
            guard case .close(.failed(let failure))? = effects.last else { return nil }
            return failure.code
        }
        #expect(try met(run: 5) == .metSelf)
        #expect(try met(run: 6) == .duplicateNodeID)
    }
}

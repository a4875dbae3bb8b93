import EventStore
import TestSupport
import Testing

@testable import SyncEngine

/// What a peer sent, stored by threads of their own or by the one that read it.
struct StoreWorkersTests {
    private let folders = (TemporaryFolder(), TemporaryFolder())
    private let sender: EventStore
    private let store: EventStore

    init() throws {
        try EventStore.create(in: folders.0.path, name: "a")
        try EventStore.create(in: folders.1.path, name: "b")
        sender = try EventStore(opening: folders.0.path, durability: .normal)
        store = try EventStore(opening: folders.1.path, durability: .normal)
    }

    /// The frame with what the sender has appended after `position`.
    private func frame(after position: UInt64, compress: Bool = false) throws -> Frame {
        let request = ReadRequest(
            start: .after(position), known: VersionVector(), bytes: 1 << 20, compress: compress)
        let read = try StoreWork.read(request, try OutgoingReader(sender))
        return try #require(read.frame)
    }

    private func append(_ text: String) throws {
        let payload = Array(#"{"text":"\#(text)"}"#.utf8)
        _ = try sender.appendBlocking([EventDraft(type: "message.posted", user: "u", payload: payload)])
    }

    private func seq() throws -> UInt64 { try LogReader(store.files).vector()[sender.identity.origin] }

    @Test("A short frame that comes alone is durable when the call returns; the first, and a long one, go elsewhere")
    func leading() throws {
        let workers = StoreWorkers(store: store)
        defer { workers.stop() }
        let answers = Monitor([Result<StoredFrame, SessionFailure>]())
        let answer: @Sendable (Result<StoredFrame, SessionFailure>) -> Void = { result in
            answers.update { answers in
                answers.append(result)
                return true
            }
        }
        // Who knows what is stored has to be made first.
        let first = try frame(after: 0)
        #expect(!workers.storeLeading(first, completion: answer))
        workers.store(first, completion: answer)
        #expect(answers.wait(milliseconds: 60_000) { $0.count == 1 ? true : nil } == true)
        var atOnce = 0
        for number in 1...20 {
            try append("\(number)")
            let next = try frame(after: UInt64(number))
            // The worker's thread may be about to sleep.
            while !workers.storeLeading(next, completion: answer) { sleepMilliseconds(1) }
            atOnce += answers.withLock { $0.count } == number + 1 ? 1 : 0
            // On a machine with other load the writer may have been about to begin another's.
            #expect(answers.wait(milliseconds: 60_000) { $0.count == number + 1 ? true : nil } == true)
            #expect(try seq() == UInt64(number) + 1)
        }
        #expect(atOnce > 0)
        try append(String(repeating: "x", count: 5_000))
        #expect(!workers.storeLeading(try frame(after: 21), completion: answer))
        let small = try frame(after: 21, compress: true)
        #expect(small.flags & Frame.compressed != 0 && small.body.count < 4_096)
        #expect(!workers.storeLeading(small, completion: answer))
        #expect(answers.withLock { $0.count } == 21)
        #expect(try seq() == 21)
        let results = answers.withLock { $0 }
        #expect(try results.map { try $0.get().events }.reduce(0, +) == 21)
    }

    @Test("What is wrong is refused with its reason, and stops nothing that comes after it")
    func refused() throws {
        let workers = StoreWorkers(store: store)
        defer { workers.stop() }
        let answers = Monitor([Result<StoredFrame, SessionFailure>]())
        let answer: @Sendable (Result<StoredFrame, SessionFailure>) -> Void = { result in
            answers.update { answers in
                answers.append(result)
                return true
            }
        }
        workers.store(try frame(after: 0), completion: answer)
        #expect(answers.wait(milliseconds: 60_000) { $0.count == 1 ? true : nil } == true)
        try append("good")
        let good = try frame(after: 1)
        var body = good.body
        body[body.count - 10] ^= 1
        let bad = Frame(type: good.type, flags: 0, body: body)
        while !workers.storeLeading(bad, completion: answer) { sleepMilliseconds(1) }
        // Where the writer is at a commit of its own, as of a head, its thread answers.
        #expect(answers.wait(milliseconds: 60_000) { $0.count == 2 ? true : nil } == true)
        #expect(throws: SessionFailure.self) { try answers.withLock { $0[1] }.get() }
        #expect(try seq() == 1)
        while !workers.storeLeading(good, completion: answer) { sleepMilliseconds(1) }
        #expect(answers.wait(milliseconds: 60_000) { $0.count == 3 ? true : nil } == true)
        #expect(try answers.withLock { $0[2] }.get().events == 1)
        #expect(try seq() == 2)
    }

    @Test("A fork's proof counts that comes before the batch that brings its origin is stored (INV-12)")
    func proofBeforeTheBatchIsStored() throws {
        var origin = ForeignOrigin()
        let start = origin.leaves[0]
        var twin = origin
        origin.append(origin.header())
        twin.append(twin.header(), Array(#"{"text":"other"}"#.utf8))
        let branches = [origin, twin].map { history in
            ForkBranch(
                head: history.head(), header: history.events[1].header,
                payloadDigest: SHA256().payloadDigest(history.events[1].body), proof: [start])
        }
        let dot = Dot(origin: origin.id, seq: 2)
        let batch = origin.batch()
        let workers = StoreWorkers(store: store)
        defer { workers.stop() }
        let findings = Monitor([Result<Finding, SessionFailure>]())
        // As a frame is checked, of which the writer has stored nothing yet.
        workers.verifiers.submit { [store] verifier in
            let current = try? StoreWorkers.current(&verifier, store)
            #expect((try? current?.verify(batch.events, batch.coverage))?.count == 2)
        }
        workers.inspect(.prove(Fork(origin: dot.origin, seq: dot.seq, branches: branches))) { result in
            findings.update { findings in
                findings.append(result)
                return true
            }
        }
        let finding = try #require(findings.wait(milliseconds: 60_000) { $0.first })
        guard case .proof(let evidence, let isNew) = try finding.get() else {
            Issue.record("no answer to a proof: \(finding)")
            return
        }
        #expect(evidence?.dot == dot && isNew)
        #expect(try ForkEvidence.list(store.files).map(\.dot) == [dot])
    }

    @Test("A head that was heard of proves a fork when other events come; no peer is sent that proof (INV-3)")
    func contradictedHead() throws {
        var one = ForeignOrigin()
        var other = one
        one.append(one.header())
        for _ in 0..<2 { other.append(other.header(), Array(#"{"text":"other"}"#.utf8)) }
        let workers = StoreWorkers(store: store)
        defer { workers.stop() }
        let beginning = EventBatch(
            events: Array(one.events.prefix(1)), coverage: [Coverage(head: one.head(), proof: [one.leaves[1]])])
        var reports: [[IdentityReport]] = []
        for batch in [beginning, other.batch(from: 1)] {
            let answers = Monitor([Result<StoredFrame, SessionFailure>]())
            workers.store(Message.events(batch).frame(compress: false)) { result in
                answers.update { answers in
                    answers.append(result)
                    return true
                }
            }
            reports.append(try #require(answers.wait(milliseconds: 60_000) { $0.first }).get().reports)
        }
        let kept = try ForkEvidence.list(store.files)
        #expect(kept.map(\.dot) == [Dot(origin: one.id, seq: 2)])
        let evidence = try #require(kept.first)
        #expect(reports == [[], [.forked(one.id, size: 2), .proven(evidence, isNew: true)]])
        #expect(try LogReader(store.files).vector()[one.id] == 3)
        let told = try StoreWork.find(.evidence, LogReader(store.files), ownHead: { nil }) { kept }
        guard case .evidence(let sent) = told else {
            Issue.record("no answer: \(told)")
            return
        }
        #expect(sent.isEmpty)
    }
}

import TestSupport
import Testing

@testable import EventStore

/// Rows of a batch go into the log several at a time, their headers, leaves and the tree are made on other threads.
struct BatchAppendTests {
    /// What a log of one writer answers, drafts one after the other.
    private struct Model {
        var stored: [EventID: (position: UInt64, draft: EventDraft)] = [:]
        var top: UInt64 = 1

        mutating func append(_ draft: EventDraft) -> AppendOutcome.Kind {
            if let id = draft.id, let known = stored[id] {
                return known.draft == draft ? .already(known.position) : .rejected(known.position)
            }
            top += 1
            if let id = draft.id { stored[id] = (top, draft) }
            return .appended(top)
        }
    }

    @Test(
        "Batches of any size, with ids that are new, here already or reused, get the answers of single appends (INV-2, INV-8)",
        arguments: 1...UInt64(cases(2, of: 6)))
    func likeSingleAppends(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let (folder, store) = try makeStore()
        var model = Model()
        var known: [EventDraft] = []
        for _ in 0..<30 {
            let count = [1, 2, 3, 15, 16, 17, 31, 100, 255, 511, 512, 513, 800].randomElement(using: &random) ?? 1
            let repeats = Int.random(in: 0..<4, using: &random)
            let drafts = (0..<count).map { index in
                if let old = known.randomElement(using: &random), Int.random(in: 0..<count, using: &random) < repeats
                {
                    var draft = old
                    if Bool.random(using: &random) { draft.payload = Array(#"{"text":"other"}"#.utf8) }
                    return draft
                }
                var draft = EventDraft.message(
                    String(repeating: "글", count: .random(in: 0..<300, using: &random)),
                    user: "user-\(UInt16.random(in: 0..<400, using: &random))",
                    conversation: Bool.random(using: &random) ? "conversation \(index)" : nil)
                if Int.random(in: 0..<3, using: &random) > 0 {
                    draft.id = EventID(UUIDBits(high: random.next(), low: random.next()))
                    known.append(draft)
                }
                return draft
            }
            let outcomes = try store.appendBlocking(drafts, atomicity: .each)
            let expected = drafts.map { model.append($0) }
            #expect(outcomes.map(\.kind) == expected)
        }
        store.close()
        let findings = try Verifier(StoreFiles(folder.path)).run().findings
        #expect(findings.isEmpty)
        let top = try LogReader(StoreFiles(folder.path)).top()
        #expect(top == model.top)
    }

    @Test("Of rows written in one statement those before one that is here already stay", arguments: 0..<16)
    func conflictInOneStatement(place: Int) throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        var old = EventDraft.message("old", user: "u")
        old.id = EventID(UUIDBits(high: 1, low: 2))
        let first = try store.appendBlocking([old])
        #expect(first.map(\.kind) == [.appended(2)])
        var drafts = (0..<16).map { EventDraft.message("new \($0)", user: "new user \($0)") }
        drafts[place] = old
        let expected = (0..<16).map { index in
            index == place ? AppendOutcome.Kind.already(2) : .appended(3 + UInt64(index < place ? index : index - 1))
        }
        let outcomes = try store.appendBlocking(drafts, atomicity: .each)
        #expect(outcomes.map(\.kind) == expected)
        let reader = try LogReader(StoreFiles(folder.path))
        var users: [String] = []
        try reader.scan(after: 2, limit: 100) { event in
            users.append(event.event.header.user)
            return true
        }
        #expect(users == (0..<16).filter { $0 != place }.map { "new user \($0)" })
    }

    @Test("The first of a batch names what was applied before it; the others follow it (INV-5)")
    func dependencies() throws {
        let (folder, store) = try makeStore()
        let (other, away) = try makeStore(name: "other")
        defer { withExtendedLifetime((folder, other)) {} }
        _ = try away.appendBlocking((0..<20).map { .message("\($0)", user: "u") })
        try away.flushBlocking()
        let known = try LogReader(store.files).vector()
        let reader = try OutgoingReader(away)
        let batch = try reader.batch(
            after: try reader.start(for: known), lacking: known, limits: OutgoingLimits())
        let verified = try store.makeVerifierBlocking().verify(batch.events, batch.coverage)
        try blocking { store.ingest(verified, completion: $0) }
        let count = 600
        let first = try #require(
            try store.appendBlocking((0..<count).map { .message("own \($0)", user: "u") })[0].receipt)
        var dependencies: [[Dot]] = []
        try LogReader(StoreFiles(folder.path)).scan(after: first.position - 1, limit: count) { event in
            dependencies.append(event.event.header.dependencies)
            return true
        }
        #expect(dependencies.count == count)
        #expect(dependencies.first == [Dot(origin: away.identity.origin, seq: 21)])
        #expect(dependencies.filter { !$0.isEmpty }.count == 1)
        store.close()
        let findings = try Verifier(StoreFiles(folder.path)).run().findings
        #expect(findings.isEmpty)
    }
}

extension AppendOutcome {
    enum Kind: Equatable {
        case appended(UInt64)
        case already(UInt64)
        case rejected(UInt64?)
    }

    var kind: Kind {
        switch self {
        case .appended(let receipt): .appended(receipt.position)
        case .already(let receipt): .already(receipt.position)
        case .rejected(.idReused(let position)): .rejected(position)
        case .rejected: .rejected(nil)
        }
    }
}

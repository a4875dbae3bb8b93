import TestSupport
import Testing

@testable import EventStore

/// What the writer compares before it stores: all of an event under a known id, and what came since the appender looked
/// (INV-8, D6).
struct AppendAgainTests {
    private let draft = EventDraft(
        id: EventID(UUIDBits(high: 0x0198_e2c4_77aa_7c01, low: 0x8b1e_0a1b_2c3d_4e5f)), type: "note.taken",
        time: 1_600_000_000_123, conversation: "c", user: "u", author: "doctor",
        cause: EventID(UUIDBits(high: 5, low: 6)), version: 2, payload: Array(#"{"text":"두통"}"#.utf8))

    private func append(
        _ drafts: [EventDraft], _ atomicity: Atomicity, to store: EventStore, condition: AppendCondition? = nil,
        newOnly: NewConversations? = nil
    ) throws -> [AppendOutcome] {
        try blocking { answer in
            store.append([
                AppendCall(
                    drafts: drafts, atomicity: atomicity, condition: condition, newOnly: newOnly, completion: answer)
            ])
        }
    }

    private static let changes: [@Sendable (inout EventDraft) -> Void] = [
        { $0.type = "note.read" }, { $0.time = 1_600_000_000_124 }, { $0.conversation = "c2" },
        { $0.conversation = nil }, { $0.user = "u2" }, { $0.author = "nurse" }, { $0.author = nil },
        { $0.cause = EventID(UUIDBits(high: 5, low: 7)) }, { $0.cause = nil }, { $0.version = 1 },
        { $0.payload = Array(#"{"text":"두통 "}"#.utf8) }, { $0.payload = Array("{}".utf8) },
    ]

    @Test("An id is another event's where any field is other than before", arguments: changes.indices)
    func everyField(_ index: Int) throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        #expect(try store.appendBlocking([draft])[0].receipt?.position == 2)
        var other = draft
        Self.changes[index](&other)
        #expect(try store.appendBlocking([other]) == [.rejected(.idReused(position: 2))])
        // In one request with the first, too.
        var (one, two) = (draft, other)
        (one.id, two.id) = (EventID(UUIDBits(high: 7, low: 7)), EventID(UUIDBits(high: 7, low: 7)))
        let each = try store.appendBlocking([one, two], atomicity: .each)
        #expect(each.last == .rejected(.idReused(position: 3)))
        guard case .already = try store.appendBlocking([draft])[0] else {
            Issue.record("the same event is not found again")
            return
        }
        // Who gives no time means any.
        var anytime = draft
        anytime.time = nil
        guard case .already = try store.appendBlocking([anytime])[0] else {
            Issue.record("a repeated append without time is not found again")
            return
        }
    }

    @Test("One id twice with other content: nothing of a whole request is stored (INV-8)")
    func wholeBatch() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        var other = draft
        other.payload = Array(#"{"text":"다른 말"}"#.utf8)
        let outcomes = try store.appendBlocking([draft, other, .message("x", user: "u")], atomicity: .whole)
        #expect(outcomes.map(\.receipt) == [nil, nil, nil])
        #expect(outcomes[0] == .rejected(.batchRejected(index: 1)) && outcomes[2] == outcomes[0])
        #expect(outcomes[1] == .rejected(.idTwice(index: 0)))
        #expect(try LogReader(store.files).top() == 1)
    }

    @Test(
        "Of two appends with one expected version the second is refused by the writer, where the first came directly behind"
    )
    func expectedVersion() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        func message(_ text: String) -> EventDraft { .message(text, user: "u", conversation: "c") }
        _ = try store.appendBlocking([message("하나")])
        // Both looked when the conversation had one event and the log two.
        let condition = AppendCondition(ExpectedVersion(conversation: "c", version: 1), found: 1, at: 2)
        let first = try append([message("둘")], .each, to: store, condition: condition)
        #expect(first[0].receipt?.position == 3)
        let second = try append([message("둘 또는")], .each, to: store, condition: condition)
        #expect(second == [.rejected(.conversationMoved(expected: 1, actual: 2))])
        #expect(try LogReader(store.files).top() == 3)
        let now = AppendCondition(ExpectedVersion(conversation: "c", version: 2), found: 2, at: 3)
        #expect(try append([message("셋")], .each, to: store, condition: now)[0].receipt?.position == 4)
    }

    @Test(
        "Of two that begin one conversation the writer takes the first, where both looked before it came (INV-13, INV-8)"
    )
    func newOnly() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        func started(_ user: String, _ conversation: String = "c") -> EventDraft {
            var draft = EventDraft.json("conversation.started", "{}", conversation: conversation, user: user)
            draft.id = EventID(record: user, of: "t")
            return draft
        }
        // Both looked when the log had its first event alone.
        let newOnly = NewConversations(but: ["old"], at: 1)
        func append(_ drafts: [EventDraft], _ atomicity: Atomicity = .whole) throws -> [AppendOutcome] {
            try self.append(drafts, atomicity, to: store, newOnly: newOnly)
        }
        let said = EventDraft.message("말", user: "u", conversation: "c")
        let first = try append([started("kim"), said])
        #expect(first.map { $0.receipt?.position } == [2, 3])
        let late = AppendOutcome.rejected(.begun(conversation: "c"))
        #expect(try append([started("lee")]) == [late])
        #expect(try append([said, started("lee")]) == [.rejected(.batchRejected(index: 1)), late])
        let each = try append([said, started("lee")], .each)
        #expect(each[0].receipt?.position == 4 && each[1] == late)
        // Said again it is there, and so may what comes with it.
        let again = try append([started("kim"), EventDraft.message("더", user: "u", conversation: "c")])
        #expect(again[0] == first[0].receipt.map(AppendOutcome.already) && again[1].receipt?.position == 5)
        #expect(try append([started("min", "old")]) == [.rejected(.begun(conversation: "old"))])
        #expect(try store.appendBlocking([started("app")])[0].receipt?.position == 6)
    }

    @Test("What is repeated under the version it expected is found, and nothing else slips in with it (INV-8)")
    func expectedAgain() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        func named(_ number: UInt64, _ text: String) -> EventDraft {
            var draft = EventDraft.message(text, user: "u", conversation: "c")
            draft.id = EventID(UUIDBits(high: 0x0198_e2c4_77aa_7c01, low: 0x8b1e_0000_0000_0000 + number))
            return draft
        }
        func expecting(_ version: UInt64, _ drafts: [EventDraft], _ atomicity: Atomicity) throws -> [AppendOutcome] {
            // Who looks now finds the two that came with the first request.
            let condition = AppendCondition(ExpectedVersion(conversation: "c", version: version), found: 2, at: 3)
            return try append(drafts, atomicity, to: store, condition: condition)
        }
        let both = [named(1, "하나"), named(2, "둘")]
        let first = try append(
            both, .whole, to: store,
            condition: AppendCondition(ExpectedVersion(conversation: "c", version: 0), found: 0, at: 1))
        #expect(first.map { $0.receipt?.position } == [2, 3])
        for atomicity in [Atomicity.whole, .each] {
            let again = try expecting(0, both, atomicity)
            #expect(again == first.compactMap { $0.receipt.map(AppendOutcome.already) })
        }
        let moved = AppendOutcome.rejected(.conversationMoved(expected: 0, actual: 2))
        #expect(try expecting(0, [named(3, "셋")], .whole) == [moved])
        #expect(try expecting(0, [named(1, "다른 말")], .whole) == [moved])
        #expect(try expecting(0, both + [named(3, "셋")], .whole) == [moved, moved, moved])
        let each = try expecting(0, [both[0], named(3, "셋")], .each)
        #expect(each[0].receipt?.position == 2 && each[1] == moved)
        #expect(try LogReader(store.files).top() == 3)
        #expect(try expecting(2, [named(3, "셋")], .whole)[0].receipt?.position == 4)
    }
}

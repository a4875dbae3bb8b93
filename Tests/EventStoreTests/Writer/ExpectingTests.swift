import EventStore
import TestSupport
import Testing

/// Appends that expect a version of a conversation, as a program outside of this package has them (D6).
@Suite(.timeLimit(.minutes(2)))
struct ExpectingTests {
    private func draft(_ text: String, id: EventID? = nil) -> EventDraft {
        EventDraft(
            id: id, type: "message.posted", conversation: "c", user: "u", payload: Array(#"{"text":"\#(text)"}"#.utf8)
        )
    }

    private func open() throws -> (TemporaryFolder, EventStore) {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "test")
        return (folder, try EventStore(opening: folder.path))
    }

    @Test("What is appended is appended at the version that was expected, and at no other")
    func version() async throws {
        let (folder, store) = try open()
        defer { withExtendedLifetime(folder) { store.close() } }
        func at(_ version: UInt64) -> ExpectedVersion { ExpectedVersion(conversation: "c", version: version) }
        let first = try await store.append([draft("one")], expecting: at(0))
        #expect(first.first?.receipt?.position == 2)
        let late = try await store.append([draft("two"), draft("three")], expecting: at(0))
        let moved = AppendOutcome.rejected(.conversationMoved(expected: 0, actual: 1))
        #expect(late == [moved, moved])
        #expect(try store.appendBlocking([draft("two"), draft("three")], expecting: at(1)).count == 2)
        #expect(try await EventReader(store).read { try $0.summary(of: "c")?.events } == 3)
        // Of a conversation beside those of the drafts, too.
        let other = ExpectedVersion(conversation: "none", version: 1)
        #expect(
            try store.appendBlocking([draft("four")], expecting: other)
                == [.rejected(.conversationMoved(expected: 1, actual: 0))])
    }

    @Test("A request that is repeated because its answer was lost has moved the conversation itself (INV-8)")
    func again() throws {
        let (folder, store) = try open()
        defer { withExtendedLifetime(folder) { store.close() } }
        let expected = ExpectedVersion(conversation: "c", version: 0)
        let id = try #require(try store.appendBlocking([draft("one")]).first?.receipt?.id)
        let known = draft("one", id: id)
        let again = try store.appendBlocking([known], atomicity: .each, expecting: expected)
        #expect(again.map(\.receipt?.id) == [id])
        let both = try store.appendBlocking([known, draft("two")], atomicity: .each, expecting: expected)
        #expect(both.first?.receipt?.id == id && both.last?.receipt == nil)
    }

    @Test("Of many that expect the same one is stored")
    func race() async throws {
        let (folder, store) = try open()
        defer { withExtendedLifetime(folder) { store.close() } }
        let stored = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask {
                    let expected = ExpectedVersion(conversation: "c", version: 0)
                    return try await store.append([draft("\(number)")], expecting: expected)[0].receipt != nil
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(stored == 1)
    }

    @Test("A store that is closed says so")
    func closed() async throws {
        let (folder, store) = try open()
        store.close()
        await #expect(throws: StoreError.closed) {
            try await store.append([draft("one")], expecting: ExpectedVersion(conversation: "c", version: 0))
        }
        withExtendedLifetime(folder) {}
    }
}

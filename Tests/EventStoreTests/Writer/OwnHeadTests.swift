import TestSupport
import Testing

@testable import EventStore

/// A store does not sign what it has not appended.
struct OwnHeadTests {
    /// 300 own events, all signed for; closed.
    private func closed() throws -> (TemporaryFolder, StoreFiles, SignedHead) {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking((0..<299).map { .message("말 \($0)", user: "u") })
        let head = try #require(store.head())
        store.close()
        return (folder, store.files, head)
    }

    private func change(_ files: StoreFiles, _ text: String) throws {
        try Connection(path: files.log, mode: .write).execute(text)
    }

    private func isRefused(_ files: StoreFiles) -> Bool {
        do throws(StoreError) {
            try EventStore(opening: files.folder).close()
            return false
        } catch {
            guard case .corrupt(let what) = error else { return false }
            return what.contains("syncctl verify") && what.contains("syncctl doctor")
        }
    }

    @Test(
        "Damage that would be signed into the next head keeps the store from being opened for writing",
        arguments: [
            "UPDATE event SET payload = replace(payload, '말', '날') WHERE seq = 300",
            "UPDATE event SET hlc = hlc + 1 WHERE seq = 257",
            "UPDATE event SET salt = zeroblob(16) WHERE seq = 280",
            "DELETE FROM event WHERE seq = 300",
            "UPDATE node SET hash = zeroblob(32)",
            "UPDATE head SET root = zeroblob(32)",
        ])
    func refused(damage: String) throws {
        let (folder, files, _) = try closed()
        defer { withExtendedLifetime(folder) {} }
        #expect(!isRefused(files))
        try change(files, damage)
        #expect(isRefused(files))
        #expect(throws: StoreError.self) { try LogReader(files).checkOwnHead() }
        // It can still be read and examined.
        #expect(try LogReader(files).top() >= 299)
        #expect(try !Verifier(files).run().findings.isEmpty)
    }

    @Test("Events that no head speaks of yet are no damage; nor does damage further back reach a new head")
    func goesOn() throws {
        let (folder, files, head) = try closed()
        defer { withExtendedLifetime(folder) {} }
        // As after `kill -9` before a head was stored: the mark is that of the run's beginning, and there is a WAL.
        let again = try EventStore(opening: files.folder)
        let mark = try #require(try SmallFile.read(files.mark))
        _ = try again.appendBlocking([.message("끝", user: "u")])
        again.close()
        try SmallFile.replace(files.mark, with: mark, mode: 0o600)
        let connection = try Connection(path: files.log, mode: .write)
        try connection.execute("DELETE FROM head WHERE size = 301")
        try MerkleStore(connection: connection, sha: SHA256()).insertHead(head, origin: 1)
        connection.keepWAL()
        #expect(!isRefused(files))
        try change(files, "UPDATE event SET payload = '{}' WHERE seq = 9")
        let store = try EventStore(opening: files.folder)
        try LogReader(files).checkOwnHead()
        #expect(store.originChange == nil)
        #expect(store.head()?.head.size == 301)
        #expect(try LogReader(files).root(of: head.head.origin, size: 300) == head.head.root)
        store.close()
    }
}

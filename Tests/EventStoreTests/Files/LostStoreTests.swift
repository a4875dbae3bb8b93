import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A program whose store's files are taken away, or replaced, while it has the store open: what it would acknowledge would never be found
/// again (INV-1).
@Suite(.timeLimit(.minutes(2)))
struct LostStoreTests {
    /// Goes on appending, as a program does that knows nothing. Gives what has ended that, and how long it took.
    private func appendUntilRefused(_ store: EventStore) throws -> (error: StoreError, after: Duration) {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < .seconds(60) {
            do throws(StoreError) {
                _ = try store.appendBlocking([.message("말", user: "u")])
            } catch {
                return (error, ContinuousClock.now - start)
            }
            usleep(20_000)
        }
        Issue.record("it appends into files that are gone")
        return (.closed, .zero)
    }

    @Test(
        "Within moments of the loss no append is acknowledged, and each says which file it is",
        arguments: [true, false])
    func appends(isRemoved: Bool) async throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([.message("before", user: "u")])
        if isRemoved {
            try FileManager.default.removeItem(atPath: folder.path)
        } else {
            // As a restore does.
            try FileManager.default.copyItem(atPath: store.files.log, toPath: folder.file("old.db"))
            #expect(rename(folder.file("old.db"), store.files.log) == 0)
        }
        let (error, taken) = try appendUntilRefused(store)
        // A second, and what a busy machine adds.
        #expect(taken < .seconds(5))
        #expect(error.code == "E_IO" && !error.isRetriable && store.failure == error, "\(error)")
        let words = isRemoved ? "log.db was taken away" : "log.db was replaced"
        #expect(error.description.contains(folder.path) && error.description.contains(words), "\(error)")
        #expect(error.hint != nil)
        await #expect(throws: error) { try await store.append([.message("after", user: "u")]) }
        store.close()
        // What stands there now may be another's.
        #expect(!FileManager.default.fileExists(atPath: store.files.diskFailure))
        #expect(FileManager.default.fileExists(atPath: folder.path) != isRemoved)
    }

    @Test("A store says that it has failed before any append hears of it")
    func failureFirst() async throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        try FileManager.default.removeItem(atPath: store.files.log)
        for _ in 0..<1_000 {
            let (error, failure) = await withCheckedContinuation { continuation in
                let draft = EventDraft.message("말", user: "u")
                store.append([
                    AppendCall(drafts: [draft], atomicity: .whole) { result in
                        var heard: StoreError?
                        if case .failure(let error) = result { heard = error }
                        continuation.resume(returning: (heard, store.failure))
                    }
                ])
            }
            #expect(failure == error)
            if error != nil { return store.close() }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("it appends into files that are gone")
    }

    @Test("A lost store can be opened again when its readers are closed, too; before that the error says so")
    func openedAgain() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([.message("before", user: "u")])
        var reader: EventReader? = try EventReader(store)
        #expect(try reader?.history(of: "u").count == 1)
        try FileManager.default.removeItem(atPath: store.files.log + "-wal")
        _ = try appendUntilRefused(store)
        store.close()
        do throws(StoreError) {
            try EventStore(opening: folder.path).close()
            Issue.record("the reader's index of the WAL that is gone is believed")
        } catch {
            guard case .lost = error else {
                Issue.record("\(error)")
                return
            }
            #expect(error.hint?.contains("readers") == true)
        }
        reader = nil
        try EventStore(opening: folder.path).close()
        withExtendedLifetime(reader) {}
    }

    @Test("A store that is closed before anything was appended leaves what was put in its place as it is")
    func close() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([.message("before", user: "u")])
        let (other, second) = try makeStore(name: "other")
        second.close()
        try FileManager.default.removeItem(atPath: folder.path)
        try FileManager.default.copyItem(atPath: other.path, toPath: folder.path)
        let mark = try Data(contentsOf: URL(filePath: store.files.mark))
        store.close()
        guard case .lost? = store.failure else {
            Issue.record("\(String(describing: store.failure))")
            return
        }
        #expect(try Data(contentsOf: URL(filePath: store.files.mark)) == mark)
        let again = try EventStore(opening: folder.path)
        #expect(again.identity.name == "other")
        again.close()
    }
}

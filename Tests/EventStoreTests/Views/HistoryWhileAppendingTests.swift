import Foundation
import TestSupport
import Testing

@testable import EventStore

struct HistoryWhileAppendingTests {
    /// Each user's events are numbered; a history that has number n must have all below it.
    @Test("Thousands of history queries while events are appended: none fails, none sees a gap (INV-2)")
    func noGaps() throws {
        let (folder, store) = try makeStore()
        let views = ProjectorThread(store.files, top: 1, tails: ViewMemtables(generation: 500))
        let observer = store.observeCommits { views.logAdvanced(to: $0.top) }
        let users = 20
        let isDone = Lock(false)
        let writer = WorkerThread(name: "appending") {
            var number = 0
            while !isDone.withLock({ $0 }) {
                let drafts = (0..<100).map { index in
                    EventDraft(
                        type: "message.posted", user: "u-\(index % users)",
                        payload: Array(#"{"n":\#(number + index / users)}"#.utf8))
                }
                number += 100 / users
                _ = try? store.appendBlocking(drafts)
                usleep(1_000)
            }
        }
        #expect(views.wait(for: 101, milliseconds: 60_000))
        let failures = Lock([String]())
        let total = Lock(0)
        let tails = views.tails
        let readers = (0..<2).map { reader in
            WorkerThread(name: "reading") {
                do {
                    // One with what the projector has in memory, one as another process would.
                    let views = try ViewReader(StoreFiles(folder.path), tails: reader == 0 ? tails : ViewMemtables())
                    for query in 0..<cases(1_000, of: 5_000) {
                        var wanted = TimelineQuery()
                        wanted.limit = .last(10)
                        var numbers: [Int64] = []
                        try views.history(user: "u-\((query + reader) % users)", wanted) { entry in
                            let payload = entry.stored.event.payload ?? []
                            numbers.append(JSONObject(validated: payload).integer("n") ?? -1)
                            return true
                        }
                        for (a, b) in zip(numbers, numbers.dropFirst()) where b != a + 1 {
                            failures.withLock { $0.append("\(a) then \(b)") }
                        }
                        total.withLock { $0 += numbers.isEmpty ? 0 : 1 }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        for reader in readers { reader.join() }
        isDone.withLock { $0 = true }
        writer.join()
        store.removeObserver(observer)
        views.stop()
        #expect(failures.withLock { $0 } == [])
        #expect(total.withLock { $0 } == 2 * cases(1_000, of: 5_000))
    }
}

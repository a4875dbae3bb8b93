import TestSupport
import Testing

@testable import EventStore

struct ExactTextTests {
    @Test("Canonically equivalent names are two names: nothing is folded behind the record's back (INV-4)")
    func decomposed() throws {
        let (folder, store) = try makeStore()
        let composed = "caf\u{e9}"
        let decomposed = "cafe\u{301}"
        let drafts = [composed, decomposed].map { EventDraft.message("x", user: $0, conversation: $0) }
        _ = try store.appendBlocking(drafts)
        var same = drafts[0]
        same.user = composed
        same.author = decomposed
        _ = try store.appendBlocking([same])
        try store.flushBlocking()
        #expect(try Verifier(StoreFiles(folder.path)).run().isIntact)
        try Projector(store.files).catchUp()
        let views = try ViewReader(store.files)
        var counts: [Int] = []
        for user in [composed, decomposed] {
            var count = 0
            try views.history(user: user, TimelineQuery()) { _ in
                count += 1
                return true
            }
            counts.append(count)
        }
        #expect(counts == [2, 1])
    }
}

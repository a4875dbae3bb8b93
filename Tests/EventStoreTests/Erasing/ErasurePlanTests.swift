import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What a plan lists is what its erasures cover, whatever has come since (INV-11, D14).
struct ErasurePlanTests {
    /// A log with the same number of events of `u-1` in two origins, the second later than the first.
    private func makeLog(_ count: Int) throws -> (TemporaryFolder, EventStore, origins: [OriginID]) {
        let (folder, store) = try makeStore()
        func append(_ store: EventStore) throws {
            for start in stride(from: 0, to: count, by: 4_000) {
                let drafts = (start..<min(count, start + 4_000)).map { EventDraft.message("말 \($0)", user: "u-1") }
                _ = try store.appendBlocking(drafts)
            }
            try store.flushBlocking()
        }
        try append(store)
        let first = store.identity.origin
        store.close()
        // Another file is another memory: the node goes on in a new origin.
        let files = StoreFiles(folder.path)
        try FileManager.default.copyItem(atPath: files.log, toPath: folder.path + "/copy")
        #expect(rename(folder.path + "/copy", files.log) == 0)
        let again = try EventStore(opening: folder.path)
        #expect(again.identity.origin != first)
        try append(again)
        return (folder, again, [first, again.identity.origin])
    }

    private func erasures(_ plan: ErasurePlan, _ reach: ErasurePlan.Reach = .plan) -> [Erasure]? {
        plan.erasures(authored: true, withReplies: true, reason: "r", who: "w", reach: reach)
    }

    @Test("Events behind the vector stay though their stamps are older: those of the plan above them go by name")
    func older() throws {
        let (folder, store, origins) = try makeLog(5)
        let log = try LogReader(StoreFiles(folder.path))
        // As if the second origin were all that was known: the first is what came late.
        let known = VersionVector(try log.vector().entries.filter { $0.origin == origins[1] })
        let plan = try ErasurePlan(.user("u-1"), log, upTo: known)
        #expect(plan.count(.own) == 5 && plan.later[.own] == 5 && plan.count(.own, .now) == 10 && !plan.isBehind)
        let made = try #require(erasures(plan))
        #expect(made.count == 1 && made[0].events.count == 5 && made[0].before != nil)
        let all = try #require(erasures(plan, .now))
        #expect(all.count == 1 && all[0].events.isEmpty && all[0].before == nil)
        _ = try store.eraseBlocking(made, author: "operator")
        try store.finishErasures()
        let after = try ErasurePlan(.user("u-1"), log, upTo: known, at: plan.moment)
        #expect(after.count(.own) == 0 && after.gone == 5 && after.later[.own] == 5)
        #expect(after.seen != plan.seen)
        store.close()
        #expect(try verify(folder).erased == 5)
    }

    @Test("A vector that the log does not have, or a text that is no plan, is known for that")
    func unknown() throws {
        let (folder, store, _) = try makeLog(2)
        let log = try LogReader(StoreFiles(folder.path))
        var known = try log.vector()
        known.advance(to: Dot(origin: store.identity.origin, seq: 99))
        #expect(try ErasurePlan(.user("u-1"), log, upTo: known).isBehind)
        for text in ["", "x", "0123456789abcdef", "0123456789abcdef x/1", "01234567 \(known.text)"] {
            #expect(ErasurePlan.Seen(text: text) == nil, "\(text)")
        }
        store.close()
    }

    @Test("With the replies of others go the edits of them, which have the same text once more")
    func editedReplies() throws {
        let (folder, store) = try makeStore()
        func append(_ type: String, _ user: String, _ cause: EventID?, _ text: String) throws -> EventID? {
            let payload = Array(#"{"text":"\#(text)"}"#.utf8)
            let draft = EventDraft(type: type, conversation: "c", user: user, cause: cause, payload: payload)
            return try store.appendBlocking([draft])[0].receipt?.id
        }
        let words = (0..<5).map { "quote-\($0)-\(UInt64.random(in: 1 << 40 ... .max))" }
        let question = try append("message.posted", "vic", nil, "my illness")
        let reply = try append("message.posted", "kim", question, words[0])
        _ = try append("message.edited", "kim", reply, words[1])
        _ = try append("message.edited", "lee", reply, words[2])
        // What is said to the reply, and what is said elsewhere, is no reply to the user.
        let further = try append("message.posted", "lee", reply, words[3])
        _ = try append("message.edited", "lee", further, words[4])
        let plan = try ErasurePlan(.user("vic"), LogReader(StoreFiles(folder.path)))
        #expect(plan.count(.own) == 1 && plan.count(.replies) == 3)
        _ = try store.eraseBlocking(#require(erasures(plan)), author: "operator")
        try store.finishErasures()
        store.close()
        let left = ByteScan.find(words, in: [folder.path])
        #expect(Set(left.compactMap { $0.split(separator: " ").first.map(String.init) }).count == 2, "\(left)")
        #expect(words.prefix(3).allSatisfy { word in !left.contains { $0.hasPrefix(word) } }, "\(left)")
        #expect(try verify(folder).erased == 4)
    }

    @Test("Where too many would have to be named no erasure is made")
    func tooMany() throws {
        let (folder, store, origins) = try makeLog(ErasurePlan.mostNamed + 1)
        let log = try LogReader(StoreFiles(folder.path))
        let known = VersionVector(try log.vector().entries.filter { $0.origin == origins[1] })
        #expect(try erasures(ErasurePlan(.user("u-1"), log, upTo: known)) == nil)
        store.close()
    }
}

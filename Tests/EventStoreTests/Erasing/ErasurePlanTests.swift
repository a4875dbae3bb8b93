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

    @Test("What a plan lists is erased once, also where it is confirmed while that is under way")
    func once() throws {
        let (folder, store, _) = try makeLog(5)
        let log = try LogReader(StoreFiles(folder.path))
        func confirm(_ plan: ErasurePlan) throws -> [AppendOutcome]? {
            let made = try #require(erasures(plan))
            return try store.eraseBlocking(made, author: "operator", planned: plan.top)
        }
        let plan = try ErasurePlan(.user("u-1"), log)
        #expect(try confirm(plan) != nil)
        #expect(try confirm(plan) == nil)
        // Another one's is another matter.
        _ = try store.appendBlocking([.message("말", user: "u-2")])
        #expect(try confirm(ErasurePlan(.user("u-2"), log)) != nil)
        try store.finishErasures()
        #expect(try confirm(plan) == nil)
        _ = try store.appendBlocking([.message("또", user: "u-1")])
        #expect(try confirm(ErasurePlan(.user("u-1"), log)) != nil)
        try store.finishErasures()
        store.close()
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

    private func append(
        _ store: EventStore, _ type: String, by author: String, in history: String = "mod",
        talk conversation: String = "c",
        id: EventID? = nil, cause: EventID? = nil, naming message: EventID? = nil, _ text: String
    ) throws -> EventID? {
        let named = message.map { #","message":"\#($0)""# } ?? ""
        let draft = EventDraft(
            id: id, type: type, conversation: conversation, user: history, author: author, cause: cause,
            payload: Array(#"{"text":"\#(text)"\#(named)}"#.utf8))
        return try store.appendBlocking([draft])[0].receipt?.id
    }

    private func words(_ count: Int) -> [String] {
        (0..<count).map { "quote-\($0)-\(UInt64.random(in: 1 << 40 ... .max))" }
    }

    /// Erases what a plan lists. Returns which words are still in a file.
    private func left(
        of words: [String], after target: ErasurePlan.Target, _ store: EventStore, in folder: TemporaryFolder,
        _ counts: [ErasurePlan.Part: UInt64]
    ) throws -> [Int] {
        let plan = try ErasurePlan(target, LogReader(StoreFiles(folder.path)))
        for part in ErasurePlan.Part.allCases { #expect(plan.count(part) == counts[part] ?? 0, "\(part)") }
        _ = try store.eraseBlocking(#require(erasures(plan)), author: "operator")
        try store.finishErasures()
        #expect(try ErasurePlan(target, LogReader(StoreFiles(folder.path))).isEmpty())
        store.close()
        #expect(try verify(folder).answer == .proven)
        let found = ByteScan.find(words, in: [folder.path])
        return words.indices.filter { index in found.contains { $0.hasPrefix(words[index]) } }
    }

    @Test(
        "Edits that name their message in the payload go with it, whoever made them and wherever they stand (INV-11)")
    func editsThatName() throws {
        let (folder, store) = try makeStore()
        let words = words(7)
        let (later, answer) = (EventID(UUIDBits(high: 7, low: 1)), EventID(UUIDBits(high: 7, low: 2)))
        // As a peer may bring it: the edits first, then what they are about.
        _ = try append(store, "message.edited", by: "kim", naming: answer, words[0])
        _ = try append(store, "bot.replied", by: "bot", id: answer, cause: later, words[1])
        _ = try append(store, "message.edited", by: "lee", naming: later, words[2])
        _ = try append(store, "message.posted", by: "vic", in: "vic", id: later, words[3])
        _ = try append(store, "message.edited", by: "kim", naming: answer, words[4])
        // The payload decides: this one is about a message of nobody's.
        let other = try append(store, "message.posted", by: "lee", words[5])
        _ = try append(store, "message.edited", by: "lee", cause: answer, naming: other, words[6])
        #expect(
            try left(of: words, after: .user("vic"), store, in: folder, [.own: 1, .replies: 4]) == [5, 6])
    }

    @Test("What was heard in a recording goes with it, in whose history it may stand, and is no reply (INV-11)")
    func heard() throws {
        let (folder, store) = try makeStore()
        let words = words(7)
        func transcript(of message: EventID?, _ text: String) throws {
            let payload = #"{"text":"\#(text)","inReplyTo":"\#(try #require(message))"}"#
            let draft = EventDraft(
                type: "bot.transcribed", conversation: "c", user: "kim", author: "bot", cause: message,
                payload: Array(payload.utf8))
            _ = try store.appendBlocking([draft])
        }
        let own = try append(store, "message.posted", by: "vic", in: "vic", words[0])
        let edit = try append(store, "message.edited", by: "vic", in: "vic", naming: own, words[1])
        try transcript(of: own, words[2])
        try transcript(of: edit, words[3])
        let noted = try append(store, "message.posted", by: "vic", in: "kim", words[4])
        try transcript(of: noted, words[5])
        let reply = try append(store, "message.posted", by: "kim", in: "kim", cause: own, "reply")
        try transcript(of: reply, words[6])
        let plan = try ErasurePlan(.user("vic"), LogReader(StoreFiles(folder.path)))
        for (part, count) in [(ErasurePlan.Part.own, 4), (.authored, 2), (.replies, 2)] {
            #expect(plan.count(part) == count, "\(part)")
        }
        let made = plan.erasures(authored: true, withReplies: false, reason: "r", who: "w")
        _ = try store.eraseBlocking(#require(made), author: "operator")
        try store.finishErasures()
        store.close()
        let found = ByteScan.find(words, in: [folder.path])
        #expect(words.indices.filter { index in found.contains { $0.hasPrefix(words[index]) } } == [6])
    }

    @Test(
        "What was done about a message that stays, because of what the user wrote, is no reply to the user (INV-11)")
    func becauseOf() throws {
        let (folder, store) = try makeStore()
        let words = words(7)
        let abuse = try #require(try append(store, "message.posted", by: "lee", in: "lee", words[0]))
        let report = try append(store, "message.posted", by: "vic", in: "vic", words[1])
        _ = try append(store, "message.retracted", by: "mod", cause: report, naming: abuse, words[2])
        _ = try append(store, "message.edited", by: "lee", cause: report, naming: abuse, words[3])
        _ = try append(store, "participant.left", by: "mod", in: "lee", cause: report, "why")
        // What is about the report goes with it, whatever led to it.
        _ = try append(store, "message.edited", by: "lee", cause: abuse, naming: report, words[4])
        _ = try append(store, "message.posted", by: "mod", cause: report, words[5])
        // Its message is not here yet, and the user has given its id to a word of their own.
        let taken = EventID(UUIDBits(high: 7, low: 3))
        _ = try append(store, "message.retracted", by: "mod", naming: taken, words[6])
        _ = try append(store, "message.posted", by: "vic", in: "vic", talk: "elsewhere", id: taken, words[1])
        #expect(
            try left(of: words, after: .user("vic"), store, in: folder, [.own: 2, .replies: 2]) == [0, 2, 3, 6])
    }

    @Test(
        "Edits of an event that is erased by its id, or with its conversation, go with it (INV-11)",
        arguments: [true, false])
    func editsOfEvents(byID: Bool) throws {
        let (folder, store) = try makeStore()
        let words = words(7)
        let message = try #require(try append(store, "message.posted", by: "vic", words[0]))
        // What no view can read has words all the same, and so has what was heard in a recording.
        for (type, payload) in [
            ("message.edited", #"{"text":"\#(words[5])","message":null}"#),
            ("bot.transcribed", #"{"text":"\#(words[6])","inReplyTo":"\#(message)"}"#),
        ] {
            let draft = EventDraft(
                type: type, conversation: "elsewhere", user: "kim", author: "bot", cause: message,
                payload: Array(payload.utf8))
            _ = try store.appendBlocking([draft])
        }
        _ = try append(store, "message.edited", by: "vic", cause: message, words[1])
        _ = try append(store, "message.edited", by: "kim", talk: "elsewhere", naming: message, words[2])
        _ = try append(store, "message.retracted", by: "kim", talk: "elsewhere", naming: message, words[3])
        _ = try append(store, "message.posted", by: "kim", talk: "elsewhere", cause: message, words[4])
        let target: ErasurePlan.Target = byID ? .events([message]) : .conversation("c")
        // A retraction by another in another conversation never counts, and has words of its own.
        #expect(try left(of: words, after: target, store, in: folder, [.own: 5]) == [3, 4])
    }

    @Test(
        "What a user has set for others stays where it holds, and goes by word alone (INV-11, INV-13)",
        arguments: [false, true])
    func setForOthers(goes: Bool) throws {
        let (folder, store) = try makeStore()
        let words = words(12)
        // In a conversation with others: how it began, who was put out, what was taken back of another, and what that user wrote there.
        _ = try append(store, "conversation.started", by: "mod", words[0])
        let abuse = try #require(try append(store, "message.posted", by: "troll", in: "troll", words[1]))
        _ = try append(store, "message.retracted", by: "mod", naming: abuse, words[2])
        _ = try append(store, "participant.left", by: "mod", words[3])
        _ = try append(store, "participant.joined", by: "mod", in: "late", words[4])
        // An edit of another's changed nothing, and is a word of their own.
        _ = try append(store, "message.edited", by: "mod", naming: abuse, words[5])
        let own = try #require(try append(store, "message.posted", by: "mod", words[6]))
        _ = try append(store, "message.edited", by: "mod", naming: own, words[7])
        _ = try append(store, "message.retracted", by: "mod", cause: own, words[8])
        // Written in the history of another, with an edit in the own one: the edit goes with its message.
        let noted = try #require(try append(store, "message.posted", by: "mod", in: "kim", words[9]))
        _ = try append(store, "message.edited", by: "mod", naming: noted, words[10])
        // Alone with a bot.
        _ = try append(store, "conversation.started", by: "mod", talk: "alone", words[11])

        let plan = try ErasurePlan(.user("mod"), LogReader(StoreFiles(folder.path)))
        #expect(plan.count(.own) == 5 && plan.count(.authored) == 2 && plan.count(.shared) == 4)
        let made = plan.erasures(authored: false, withReplies: false, withShared: goes, reason: "r", who: "w")
        _ = try store.eraseBlocking(#require(made), author: "operator")
        try store.finishErasures()
        // With a restart, and once more.
        let again = try ErasurePlan(.user("mod"), LogReader(StoreFiles(folder.path)))
        #expect(again.isEmpty(withShared: goes) == false && again.count(.authored) == (goes ? 1 : 2))
        store.close()
        #expect(try verify(folder).answer == .proven)
        let found = ByteScan.find(words, in: [folder.path])
        let left = words.indices.filter { index in found.contains { $0.hasPrefix(words[index]) } }
        // Wholly gone is what stands in the own history; what was put into another's is authored.
        #expect(left == (goes ? [1, 9] : [0, 1, 2, 3, 4, 9, 10]), "\(left)")
    }

    @Test(
        "A list holds for all who stand on it, and for who was put out, though nothing of theirs is here yet (INV-13)"
    )
    func listed() throws {
        let (folder, store) = try makeStore()
        func set(_ type: String, _ conversation: String, _ data: String) -> EventDraft {
            EventDraft(type: type, conversation: conversation, user: "mod", payload: Array(data.utf8))
        }
        _ = try store.appendBlocking([
            set("conversation.started", "c", #"{"participants":["mod","kim","troll"],"title":"모임"}"#),
            set("participant.left", "c", #"{"user":"troll"}"#),
            set("conversation.started", "d", #"{"participants":["mod"],"moderators":["kim"]}"#),
            set("participant.left", "e", #"{"user":"troll"}"#),
            // Of the user alone.
            set("conversation.started", "f", #"{"participants":["mod"],"moderators":["mod"],"title":"혼자"}"#),
            set("participant.left", "f", #"{"user":"mod"}"#), set("participant.joined", "f", "{}"),
        ])
        let plan = try ErasurePlan(.user("mod"), LogReader(StoreFiles(folder.path)))
        #expect(ErasurePlan.Part.allCases.map { plan.count($0) } == [3, 0, 0, 4])
        store.close()
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

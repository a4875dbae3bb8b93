import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Words of an erased event that another event has once more go, too, whenever they come (INV-11).
struct LateWordsTests {
    private let words = (0..<8).map { "비밀-\($0)-\(UInt64.random(in: 1 << 40 ... .max))" }
    private let id = EventID(UUIDBits(high: 7, low: 1))

    private func message(_ id: EventID?, _ text: String, user: String = "vic") -> EventDraft {
        EventDraft(
            id: id, type: "message.posted", conversation: "c", user: user,
            payload: Array(#"{"text":"\#(text)"}"#.utf8))
    }

    private func amendment(_ type: String, _ text: String, _ members: String = "", cause: EventID? = nil)
        -> EventDraft
    {
        EventDraft(
            type: type, user: "kim", author: "kim", cause: cause,
            payload: Array(#"{"text":"\#(text)"\#(members)}"#.utf8))
    }

    private func left(in folder: TemporaryFolder) -> [Int] {
        let found = ByteScan.find(words, in: [folder.path])
        return words.indices.filter { index in found.contains { $0.hasPrefix(words[index]) } }
    }

    @Test(
        "A node that was away brings the same event, edits and transcripts of it: they go as well",
        arguments: [true, false])
    func late(byID: Bool) throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([message(id, words[0])])
        let target: ErasurePlan.Target = byID ? .events([id]) : .conversation("c")
        let plan = try ErasurePlan(target, LogReader(StoreFiles(folder.path)))
        _ = try store.eraseBlocking(
            #require(plan.erasures(authored: false, withReplies: false, reason: "r", who: "w")), author: "operator")
        try store.finishErasures()
        #expect(left(in: folder).isEmpty)

        var peer = ForeignOrigin(1, name: "busan-1", since: WallClock.now + 5_000)
        let other = EventID(UUIDBits(high: 7, low: 2))
        for draft in [
            message(id, words[0]), amendment("message.edited", words[1], #","message":"\#(id)""#),
            amendment("message.edited", words[2], cause: id), amendment("bot.transcribed", words[3], cause: id),
            // Of a message that stays.
            message(other, words[4], user: "lee"), amendment("message.edited", words[5], #","message":"\#(other)""#),
            // A reply in words of its own.
            message(nil, words[6], user: "kim"),
        ] { peer.add(draft) }
        try peer.send(to: store)
        waitWhile(left(in: folder) != [4, 5, 6])
        try store.finishErasures()
        #expect(left(in: folder) == [4, 5, 6])
        let count = try LogReader(StoreFiles(folder.path)).erasures().count
        store.close()
        #expect(try verify(folder).answer == .proven)
        // Once is enough, also after a start.
        let again = try EventStore(opening: folder.path)
        try again.confirmErasures()
        try again.finishErasures()
        #expect(try LogReader(StoreFiles(folder.path)).erasures().count == count)
        again.close()
    }

    @Test("The node that was away takes its own of it away when it learns of the erasure")
    func confirmed() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([
            message(id, words[0]), amendment("message.edited", words[1], #","message":"\#(id)""#),
            message(nil, words[2], user: "lee"),
        ])
        var peer = ForeignOrigin(1, name: "seoul-1", since: WallClock.now + 5_000)
        peer.add(message(id, words[0]))
        var erasure = Erasure(subject: nil)
        erasure.events = [Dot(origin: peer.id, seq: 2)]
        peer.add(erasure.draft(user: "operator"))
        try peer.send(to: store)
        try store.finishErasures()
        // No peer blanks here what others have recorded.
        #expect(left(in: folder) == [0, 1, 2])
        try store.confirmErasures()
        waitWhile(left(in: folder) != [2])
        try store.finishErasures()
        store.close()
        #expect(try verify(folder).answer == .proven)
    }

    @Test(
        "What an operator has chosen for edits and retractions of others holds for those that come later; transcripts go",
        arguments: [false, true])
    func ofOthers(goes: Bool) throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([message(id, words[0])])
        let plan = try ErasurePlan(.user("vic"), LogReader(StoreFiles(folder.path)))
        _ = try store.eraseBlocking(
            #require(plan.erasures(authored: true, withReplies: goes, reason: "r", who: "w")), author: "operator")
        var peer = ForeignOrigin(1, name: "busan-1", since: WallClock.now - 60_000)
        peer.add(amendment("message.edited", words[1], #","message":"\#(id)""#))
        peer.add(amendment("message.retracted", words[3], #","message":"\#(id)""#))
        peer.add(amendment("bot.transcribed", words[4], cause: id))
        // The user's own edit, recorded before the erasure: it is covered but for its type.
        peer.add(
            EventDraft(
                type: "message.edited", user: "vic",
                payload: Array(#"{"text":"\#(words[2])","message":"\#(id)"}"#.utf8)))
        try peer.send(to: store)
        let kept = goes ? [] : [1, 3]
        waitWhile(left(in: folder) != kept)
        try store.finishErasures()
        #expect(left(in: folder) == kept)
        store.close()
        #expect(try verify(folder).answer == .proven)
    }

    @Test(
        "An id alone makes no twin: an event of another that has it stays, and so do its edits",
        arguments: [true, false])
    func ofAnother(byUser: Bool) throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([message(id, words[0])])
        var peer = ForeignOrigin(1, name: "busan-1", since: WallClock.now - 60_000)
        let conversation = byUser ? "c" : "d"
        peer.add(
            EventDraft(
                id: id, type: "message.posted", conversation: conversation, user: "lee",
                payload: Array(#"{"text":"\#(words[1])"}"#.utf8)))
        peer.add(
            EventDraft(
                type: "message.edited", conversation: conversation, user: "lee",
                payload: Array(#"{"text":"\#(words[2])","message":"\#(id)"}"#.utf8)))
        try peer.send(to: store)
        let plan = try ErasurePlan(byUser ? .user("vic") : .conversation("c"), LogReader(StoreFiles(folder.path)))
        _ = try store.eraseBlocking(
            #require(plan.erasures(authored: true, withReplies: false, reason: "r", who: "w")), author: "operator")
        try store.finishErasures()
        let count = try LogReader(StoreFiles(folder.path)).erasures().count
        store.close()
        // A start looks through all of it.
        let again = try EventStore(opening: folder.path)
        try again.confirmErasures()
        try again.finishErasures()
        #expect(left(in: folder).contains(1))
        #expect(try LogReader(StoreFiles(folder.path)).erasures().count == count)
        if byUser { #expect(left(in: folder) == [1, 2]) }
        again.close()
    }

    private func about(_ type: String, _ text: String, in conversation: String, by author: String) -> EventDraft {
        let named = type == "bot.transcribed" ? "inReplyTo" : "message"
        return EventDraft(
            type: type, conversation: conversation, user: author, cause: id,
            payload: Array(#"{"text":"\#(text)","\#(named)":"\#(id)"}"#.utf8))
    }

    /// What is left after a plan, also once a start has looked through all of it.
    private func left(after erasures: [Erasure]?, _ store: EventStore, in folder: TemporaryFolder) throws -> [Int] {
        _ = try store.eraseBlocking(#require(erasures), author: "operator")
        try store.finishErasures()
        store.close()
        let again = try EventStore(opening: folder.path)
        try again.confirmErasures()
        try again.finishErasures()
        again.close()
        #expect(try verify(folder).answer == .proven)
        return left(in: folder)
    }

    @Test(
        "Who gives the id of another's event to one of their own takes nothing away that is said of the other's (INV-11)",
        arguments: [ErasurePlan.Target.user("eve"), .conversation("d")])
    func givenAgain(target: ErasurePlan.Target) throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([
            message(id, words[0]), about("message.edited", words[1], in: "c", by: "vic"),
            about("message.retracted", words[2], in: "c", by: "mod"),
            about("bot.transcribed", words[3], in: "c", by: "bot"),
            about("bot.replied", words[4], in: "c", by: "bot"),
        ])
        var peer = ForeignOrigin(1, name: "busan-1", since: WallClock.now - 60_000)
        peer.add(
            EventDraft(
                id: id, type: "message.posted", conversation: "d", user: "eve",
                payload: Array(#"{"text":"\#(words[5])"}"#.utf8)))
        peer.add(about("message.edited", words[6], in: "d", by: "eve"))
        try peer.send(to: store)
        let plan = try ErasurePlan(target, LogReader(StoreFiles(folder.path)))
        #expect(ErasurePlan.Part.allCases.map { plan.count($0) } == [2, 0, 0, 0])
        let erasures = plan.erasures(authored: true, withReplies: true, withShared: true, reason: "r", who: "w")
        #expect(try left(after: erasures, store, in: folder) == [0, 1, 2, 3, 4])
    }

    @Test(
        "What a moderator took back of another stays, though an own message of theirs has the same id (INV-11, INV-13)",
        arguments: ["c", "d"])
    func ofModerator(conversation: String) throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([
            message(id, words[0]), about("message.retracted", words[1], in: "c", by: "mod"),
        ])
        var peer = ForeignOrigin(1, name: "busan-1", since: WallClock.now - 60_000)
        peer.add(
            EventDraft(
                id: id, type: "message.posted", conversation: conversation, user: "mod",
                payload: Array(#"{"text":"\#(words[2])"}"#.utf8)))
        try peer.send(to: store)
        let plan = try ErasurePlan(.user("mod"), LogReader(StoreFiles(folder.path)))
        #expect(ErasurePlan.Part.allCases.map { plan.count($0) } == [1, 0, 0, 1])
        let erasures = plan.erasures(authored: true, withReplies: false, reason: "r", who: "w")
        #expect(try left(after: erasures, store, in: folder) == [0, 1])
    }

    @Test("The user's own edits of an erased message go, whenever they were made; what else they say later stays")
    func ownEdits() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([message(id, words[0])])
        let plan = try ErasurePlan(.user("vic"), LogReader(StoreFiles(folder.path)))
        _ = try store.eraseBlocking(
            #require(plan.erasures(authored: true, withReplies: false, reason: "r", who: "w")), author: "operator")
        var peer = ForeignOrigin(1, name: "busan-1", since: WallClock.now + 5_000)
        peer.add(
            EventDraft(
                type: "message.edited", conversation: "c", user: "vic",
                payload: Array(#"{"text":"\#(words[1])","message":"\#(id)"}"#.utf8)))
        peer.add(message(nil, words[2]))
        try peer.send(to: store)
        waitWhile(left(in: folder) != [2])
        try store.finishErasures()
        #expect(left(in: folder) == [2])
        store.close()
        #expect(try verify(folder).answer == .proven)
    }
}

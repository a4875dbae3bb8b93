import Foundation
import TestSupport
import Testing

@testable import Access
@testable import EventStore

/// What a caller may append, and what of a conversation is seen.
struct RuleTests {
    private func caller(_ roles: Role..., isInAll: Bool = false) throws -> Caller {
        Caller(try #require(EventActor(.token, principal: "p", credential: "0")), Set(roles), isInAll: isInAll)
    }

    private func draft(
        _ type: String = "message.posted", user: String, author: String? = nil, in conversation: String? = "c"
    ) -> EventDraft {
        EventDraft(type: type, conversation: conversation, user: user, author: author, payload: Array("{}".utf8))
    }

    private func refusal(_ caller: Caller, _ draft: EventDraft) -> AppendRefusal? {
        do throws(AppendRefusal) { _ = try caller.mayAppend(draft) } catch { return error }
        return nil
    }

    @Test("Roles of two users whose ids Unicode takes for the same are two")
    func equivalentIDs() {
        for (one, other) in [("가족", "가족".decomposedStringWithCanonicalMapping), ("Kim", "\u{212a}im")] {
            #expect(one == other && Role.user(one) != Role.user(other))
            #expect(Set([Role.user(one), .user(other), .bot(one), .user(one)]).count == 3)
        }
    }

    @Test("A user speaks as that user, in their own history, and not as a bot")
    func users() throws {
        let kim = try caller(.user("kim"))
        #expect(try kim.mayAppend(draft(user: "kim")) == .takesPart(member: "kim", conversation: "c"))
        #expect(try kim.mayAppend(draft("profile.changed", user: "kim", in: nil)) == .none)
        #expect(refusal(kim, draft(user: "lee")) == .author("lee"))
        #expect(refusal(kim, draft(user: "kim", author: "lee")) == .author("lee"))
        #expect(refusal(kim, draft(user: "lee", author: "kim")) == .user("lee"))
        #expect(refusal(kim, draft("bot.replied", user: "kim")) == .type("bot.replied"))
        // Who asks takes a question back, or asks for its answer once more.
        for type in ["bot.cancelled", "bot.retryRequested"] {
            #expect(try kim.mayAppend(draft(type, user: "kim")) == .takesPart(member: "kim", conversation: "c"))
            #expect(refusal(kim, draft(type, user: "kim", author: "lee")) == .author("lee"))
        }
        #expect(refusal(kim, draft(user: "Kim")) == .author("Kim"))
        #expect(try caller(.user("kim"), isInAll: true).mayAppend(draft(user: "kim")) == .none)
    }

    @Test("Ids that follow from other events are for those who speak as bots: no user takes the id of a reply")
    func derivedIDs() throws {
        let message = try #require(EventID(text: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"))
        var taken = draft("note.kept", user: "kim", in: nil)
        taken.id = EventID(replyTo: message, by: "m")
        let reply = try #require(taken.id)
        #expect(reply.isDerived && !message.isDerived && EventID(record: "1", of: "slack:C1").isDerived)
        for roles in [[Role.user("kim")], [.user("kim"), .bot("m")]] {
            let all = Caller(
                try #require(EventActor(.token, principal: "p", credential: "0")), Set(roles), isInAll: true)
            #expect(refusal(all, taken) == .id(reply))
        }
        let kim = try caller(.user("kim"))
        #expect(try kim.mayAppend(taken, isOfContent: true) == .none)
        var own = taken
        own.id = message
        #expect(try kim.mayAppend(own) == .none)
        #expect(try caller(.app).mayAppend(taken) == .none)
        var said = draft("bot.replied", user: "kim", author: "m")
        said.id = reply
        #expect(
            try caller(.bot("m")).mayAppend(said) == .speaksTo(user: "kim", member: "m", conversation: "c"))
    }

    @Test("A bot speaks as that bot, in histories of others where they have a part in the conversation")
    func bots() throws {
        let bot = try caller(.bot("m"))
        let replied = draft("bot.replied", user: "kim", author: "m")
        #expect(try bot.mayAppend(replied) == .speaksTo(user: "kim", member: "m", conversation: "c"))
        #expect(try bot.mayAppend(draft("bot.replied", user: "m")) == .takesPart(member: "m", conversation: "c"))
        #expect(
            try caller(.bot("m"), .user("kim")).mayAppend(replied) == .takesPart(member: "m", conversation: "c"))
        #expect(refusal(bot, draft("bot.replied", user: "kim", author: "m", in: nil)) == .noConversation)
        #expect(refusal(bot, draft(user: "kim")) == .author("kim"))
        let all = try caller(.bot("m"), isInAll: true)
        #expect(try all.mayAppend(draft("bot.replied", user: "kim", author: "m", in: nil)) == .none)
        #expect(refusal(all, draft(user: "kim")) == .author("kim"))
    }

    @Test("Whatever a token's scope, who puts another out of a conversation has to be in it and its moderator")
    func putsOut() throws {
        func leaves(_ user: String, _ author: String? = nil, _ payload: String = "{}") -> EventDraft {
            var draft = draft("participant.left", user: user, author: author)
            draft.payload = Array(payload.utf8)
            return draft
        }
        let bot = try caller(.bot("m"), isInAll: true)
        #expect(try bot.mayAppend(leaves("m")) == .none)
        #expect(try bot.mayAppend(leaves("m", nil, #"{"user":"kim"}"#)) == .takesPart(member: "m", conversation: "c"))
        #expect(try bot.mayAppend(leaves("kim", "m")) == .speaksTo(user: "kim", member: "m", conversation: "c"))
        let kim = try caller(.user("kim"), isInAll: true)
        #expect(try kim.mayAppend(leaves("kim", nil, #"{"user":"kim"}"#)) == .none)
        #expect(
            try kim.mayAppend(leaves("kim", nil, #"{"user":"m"}"#)) == .takesPart(member: "kim", conversation: "c"))
        #expect(try caller(.app).mayAppend(leaves("kim", "m")) == .none)
    }

    @Test("What users keep is no bot's, and how a bot is set up only it says")
    func ofOthers() throws {
        for bot in [try caller(.bot("m")), try caller(.bot("m"), isInAll: true)] {
            let types = [
                "contact.added", "contact.removed", "search.remembered", "search.forgotten", "message.read",
                "conversation.hidden", "conversation.shown",
            ]
            for type in types {
                #expect(refusal(bot, draft(type, user: "kim", author: "m")) == .ofUsers(type))
                #expect(refusal(bot, draft(type, user: "m", in: nil)) == .ofUsers(type))
            }
            for user in ["m", "bot/m"] {
                #expect(try bot.mayAppend(draft("bot.configured", user: user, author: "m", in: nil)) == .none)
            }
            for user in ["kim", "bot/n", "n"] {
                #expect(refusal(bot, draft("bot.configured", user: user, author: "m")) == .user(user))
            }
        }
        let kim = try caller(.user("kim"))
        #expect(try kim.mayAppend(draft("contact.added", user: "kim", in: nil)) == .none)
    }

    @Test("Who only reads or keeps appends nothing; a program appends for all")
    func others() throws {
        for role: Role in [.reader, .auditor, .operator, .admin] {
            #expect(refusal(try caller(role), draft(user: "kim")) == .role)
        }
        #expect(try caller(.app).mayAppend(draft(user: "kim", author: "lee")) == .none)
        #expect(try caller(.app).readsAll && caller(.reader).readsAll && caller(.auditor).readsAll)
        #expect(try !caller(.operator, .admin).readsAll && !caller(.user("kim")).readsAll)
        #expect(try caller(.auditor).isRecorded && !caller(.auditor, .app).isRecorded && !caller(.reader).isRecorded)
    }

    // MARK: Membership

    private func event(_ type: String, at time: Int64, user: String = "admin", _ payload: String) -> Event {
        let header = EventHeader(
            dot: Dot(origin: OriginID(UUIDBits(high: 1, low: 1)), seq: UInt64(time)),
            hlc: HybridTime(milliseconds: time, counter: 0), time: time,
            id: EventID(UUIDBits(high: 2, low: UInt64(time))), type: type, conversation: "c", user: user)
        return Event(
            header: header, body: .present(salt: UUIDBits(high: 0, low: 0), payload: Array(payload.utf8)))
    }

    private func seen(_ member: String, _ events: [Event], _ times: ClosedRange<Int64> = 1...9) -> [Int64] {
        let membership = Membership(of: member, events)
        return times.filter { membership.sees(HybridTime(milliseconds: $0, counter: 0)) }
    }

    @Test("Who is there from the beginning sees all; who joins, from then on; who leaves, to that moment")
    func spans() {
        let started = event("conversation.started", at: 1, #"{"participants":["kim","lee"]}"#)
        let joins = event("participant.joined", at: 4, #"{"user":"park"}"#)
        let leaves = event("participant.left", at: 6, #"{"user":"lee"}"#)
        let again = event("participant.joined", at: 8, #"{"user":"lee"}"#)
        let all = [started, joins, leaves, again]
        #expect(seen("kim", all) == Array(1...9))
        #expect(seen("park", all) == Array(4...9))
        #expect(seen("lee", all) == [1, 2, 3, 4, 5, 6, 8, 9])
        #expect(seen("mallory", all) == [])
        #expect(Membership(of: "lee", Array(all.prefix(3))).isOpen == false)
        #expect(Membership(of: "lee", all).isOpen)
    }

    @Test("Who was not there has nothing to leave, and who was is not let in by a word (INV-13)")
    func wordsOfOthers() {
        let started = event("conversation.started", at: 1, #"{"participants":["kim"]}"#)
        let leaves = event("participant.left", at: 4, #"{"user":"eve"}"#)
        let joins = event("participant.joined", at: 6, #"{"user":"eve"}"#)
        #expect(seen("eve", [started, leaves]) == [])
        #expect(seen("eve", [started, leaves, joins]) == Array(6...9))
        func ofOneWhoWasThere(_ events: [Event]) -> [Int64] {
            let membership = Membership(of: "eve", events, wasThere: true)
            return (1...9).filter { membership.sees(HybridTime(milliseconds: $0, counter: 0)) }
        }
        #expect(ofOneWhoWasThere([joins]) == Array(1...9))
        // A list that is begun later counts from the beginning, too.
        let early = event("participant.joined", at: 2, #"{"user":"kim"}"#)
        let begun = event("conversation.started", at: 5, #"{"participants":["kim"],"history":"all"}"#)
        #expect(seen("kim", [early, begun]) == Array(1...9))
        let other = event("participant.joined", at: 2, #"{"user":"eve"}"#)
        #expect(seen("eve", [other, begun]) == Array(1...9))
        #expect(ofOneWhoWasThere([leaves]) == [1, 2, 3, 4])
        #expect(ofOneWhoWasThere([leaves, joins]) == [1, 2, 3, 4, 6, 7, 8, 9])
    }

    @Test("The past is open to those who join only where the first beginning says so")
    func past() {
        let open = event("conversation.started", at: 1, #"{"participants":["kim"],"history":"all"}"#)
        let closed = event("conversation.started", at: 1, #"{"participants":["kim"]}"#)
        let later = event(
            "conversation.started", at: 3, user: "mallory", #"{"participants":["mallory"],"history":"all"}"#)
        let joins = event("participant.joined", at: 5, #"{"user":"park"}"#)
        #expect(seen("park", [open, joins]) == Array(1...9))
        #expect(seen("park", [closed, later, joins]) == Array(5...9))
        #expect(seen("mallory", [closed, later, joins]) == Array(3...9))
    }

    @Test("Who joins twice and leaves sees what came from the first joining on, to the leaving")
    func leaving() {
        let leaves = event("participant.left", at: 5, user: "kim", "{}")
        #expect(seen("kim", [leaves]) == [])
        let joins = event("participant.joined", at: 2, user: "kim", "{}")
        #expect(seen("kim", [joins, event("participant.joined", at: 3, user: "kim", "{}"), leaves]) == [2, 3, 4, 5])
    }
}

import EventStore
import Foundation
import TestSupport
import Testing

/// What is refused at the door with a word: members that no one knows, payloads that no view reads, roles that are hardly meant (INV-13).
@Suite(.serialized)
struct DoorFormsTests {
    private let daemon: DaemonProcess
    private let api: APIClient

    init() throws {
        daemon = try DaemonProcess("n")
        try daemon.start()
        api = APIClient(socket: daemon.store + "/api.sock")
    }

    private func token(_ role: String) throws -> String {
        let answer = try #require(
            api.ask("POST", "/v1/credentials", body: #"{"principal":"x/\#(role)","roles":["\#(role)"]}"#))
        try #require(answer.0 == 201, "\(answer)")
        return "Authorization: Bearer \(try #require(answer.1.first?["token"] as? String))"
    }

    @Test("A misspelt member of a short form is named, and what was kept stays; a member left out is cleared")
    func members() throws {
        let contact = "/v1/users/u/contacts/v"
        #expect(api.ask("PUT", contact, body: #"{"name":"김","phoneNumber":"010"}"#)?.0 == 200)
        for (method, target, body, member) in [
            ("PUT", contact, #"{"Name":"박"}"#, "Name"),
            ("PUT", contact, #"{"contact":"x"}"#, "contact"), ("PUT", contact, #"{"contact":null}"#, "contact"),
            ("PUT", "/v1/users/u/searches", #"{"query":"김","Scope":"users"}"#, "Scope"),
            ("POST", "/v1/users/u/package", #"{"reason":"r","who":"w","whom":"x"}"#, "whom"),
        ] {
            let answer = try #require(api.ask(method, target, body: body))
            #expect(answer.0 == 400 && answer.1.first?["code"] as? String == "E_PARAMETER", "\(answer)")
            #expect((answer.1.first?["detail"] as? String)?.hasPrefix(member + ":") == true, "\(answer)")
        }
        let kept = try #require(api.ask("GET", "/v1/users/u/contacts")?.1.first)
        #expect(kept["name"] as? String == "김" && kept["phone_number"] as? String == "010", "\(kept)")
        #expect(api.ask("PUT", contact, body: #"{"contact":"v","name":"박"}"#)?.0 == 200)
        let replaced = try #require(api.ask("GET", "/v1/users/u/contacts")?.1.first)
        #expect(replaced["name"] as? String == "박" && !(replaced["phone_number"] is String), "\(replaced)")
    }

    @Test("A user's line that no view would read is refused with its member; a program's is stored, and quarantined")
    func payloads() throws {
        let lines = [
            (#"{"type":"message.read","user":"u","subject":"conversation/c","data":{"message":"x"}}"#, "upTo"),
            (#"{"type":"profile.changed","user":"u","data":{"name":"홍"}}"#, "fields"),
            (#"{"type":"survey.answered","user":"u","data":{"survey":"s","question":"q"}}"#, "choice"),
            (#"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"txt":"x"}}"#, "text"),
            (#"{"type":"conversation.hidden","user":"u","data":{}}"#, "conversation.hidden"),
        ]
        let user = try token("user:u")
        func held() -> Int? { api.ask("GET", "/v1/quarantine")?.1.last?["quarantined"] as? Int }
        for (line, member) in lines {
            let answer = try #require(api.ask("POST", "/v1/events", body: line, headers: [user]))
            #expect(answer.0 == 422 && answer.1.first?["code"] as? String == "E_PAYLOAD_FORM", "\(answer)")
            #expect((answer.1.first?["message"] as? String)?.hasPrefix(member) == true, "\(answer)")
        }
        // Of several each stands for itself where that is asked for.
        let good = #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"말"}}"#
        let both = api.ask(
            "POST", "/v1/events?atomicity=each", body: "\(lines[3].0)\n\(good)", headers: [user])
        #expect(both?.0 == 207, "\(both?.2 ?? "")")
        #expect(held() == 0)
        let app = try token("app")
        for (line, _) in lines { #expect(api.ask("POST", "/v1/events", body: line, headers: [app])?.0 == 200) }
        #expect(held() == lines.count)
    }

    @Test("Conversations of two are theirs whatever a program writes into them: they begin it, and no third is in it")
    func squatted() throws {
        let (one, two, third) = (try token("user:u1"), try token("user:y"), try token("user:u3"))
        let direct = DirectConversation("u1", "y").id
        func write(_ user: String, _ text: String, as who: String? = nil, _ type: String = "message.posted") -> Int? {
            let line =
                #"{"type":"\#(type)","user":"\#(user)","subject":"conversation/\#(direct)","data":{"text":"\#(text)"}}"#
            return api.ask("POST", "/v1/events", body: line, headers: [who].compactMap(\.self))?.0
        }
        func rows(_ who: String) -> (Int?, String) {
            let answer = api.ask("GET", "/v1/conversations/\(direct)/rows", headers: [who])
            return (answer?.0, answer?.2 ?? "")
        }
        #expect(write("u3", "끼어듦") == 200)
        #expect(write("u3", "또", as: third) == 403)
        #expect(rows(third).0 == 404)
        #expect(api.ask("POST", "/v1/direct/y", headers: [one])?.0 == 201)
        #expect(api.ask("POST", "/v1/direct/u1", headers: [two])?.0 == 200)
        #expect(write("u1", "둘만의 말", as: one) == 200 && write("y", "답", as: two) == 200)
        #expect(rows(two).1.contains("둘만의 말"))
        #expect(write("u3", "또", as: third) == 403 && rows(third).0 == 404)
        let list = api.ask("GET", "/v1/users/u3/conversations", headers: [third])
        #expect(list?.2.contains(direct) == false, "\(list?.2 ?? "")")
        let seen = api.ask("GET", "/v1/users/u3/history?received=1", headers: [third])
        #expect(seen?.2.contains("둘만의 말") == false, "\(seen?.2 ?? "")")
    }

    @Test("Also where a program has begun it for one of them and others, or has let others in")
    func begunByOthers() throws {
        let (one, two, third) = (try token("user:u1"), try token("user:y"), try token("user:u3"))
        let direct = DirectConversation("u1", "y").id
        for data in [#"{"participants":["u1","u3"]}"#, #"{"participants":["u3"]}"#] {
            let line =
                #"{"type":"conversation.started","user":"u3","subject":"conversation/\#(direct)","data":\#(data)}"#
            #expect(api.ask("POST", "/v1/events", body: line)?.0 == 200)
        }
        // The other one is not known there: it is no one's yet, and who asks first begins it.
        let five = try token("user:u5")
        let half =
            #"{"type":"conversation.started","user":"u3","subject":"conversation/\#(DirectConversation("u5", "y").id)","data":{"participants":["u5","u3","u4"]}}"#
        #expect(api.ask("POST", "/v1/events", body: half)?.0 == 200)
        #expect(api.ask("POST", "/v1/direct/y", headers: [five])?.0 == 201)
        let names = (0..<30).map { "\"a\($0)\"" }.joined(separator: ",")
        let crowd =
            #"{"type":"conversation.started","user":"u3","subject":"conversation/\#(direct)","data":{"participants":[\#(names)]}}"#
        #expect(api.ask("POST", "/v1/events", body: crowd)?.0 == 200)
        #expect(api.ask("POST", "/v1/direct/u1", headers: [two])?.0 == 201)
        #expect(api.ask("POST", "/v1/direct/y", headers: [one])?.0 == 200)
        for (who, status) in [(one, 200), (two, 200), (third, 404)] {
            #expect(api.ask("GET", "/v1/conversations/\(direct)/rows", headers: [who])?.0 == status)
        }
    }

    @Test("A role whose id is hardly meant is named: blanks around it, or two roles in one")
    func roles() throws {
        for (role, word) in [
            ("user:u1,app", "comma"), ("user:u1, bot:b", "comma"), ("user:u1 ", "blank"), ("bot: b", "blank"),
        ] {
            let run = try daemon.syncctl("tokens", "create", "x/y", "--role", role)
            #expect(run.code == 65 && run.errors.contains(word), "\(run)")
        }
        for role in ["user:김, 하늘", "user:a,b", "user:a b"] {
            #expect(try daemon.syncctl("tokens", "create", "x/y", "--role", role).code == 0, "\(role)")
        }
    }

    @Test("A particle that says the same as the option may stand behind a time; one that says another thing may not")
    func particles() throws {
        for (option, time, isTaken) in [
            ("--since", "어제부터", true), ("--since", "어제 오후 3시 이후", true), ("--until", "오늘 이전", true),
            ("--until", "어제까지", false), ("--until", "어제부터", false), ("--since", "부터", false),
        ] {
            let run = try daemon.syncctl("history", "u", option, time)
            #expect((run.code == 64) == !isTaken, "\(option) \(time): \(run)")
        }
    }

    @Test("What is not parked is told so, with the way to what is; a place may be a time as people say it")
    func subscriptions() throws {
        #expect(try daemon.syncctl("subscriptions", "create", "bot", "--start", "first").code == 0)
        let retried = try daemon.syncctl("subscriptions", "retry", "bot", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f")
        #expect(retried.code == 1 && retried.errors.contains("E_NOT_PARKED"), "\(retried)")
        #expect(retried.errors.contains("syncctl subscriptions parked") && !retried.errors.contains("create"))
        for start in ["yesterday", "어제", "2 hours ago", "first", "now", "2026-11-20T00:00:00Z"] {
            #expect(try daemon.syncctl("subscriptions", "seek", "bot", start).code == 0, "\(start)")
        }
        let none = try daemon.syncctl("subscriptions", "seek", "bot", "sometime")
        #expect(none.code == 64 && none.errors.contains("first"), "\(none)")
        #expect(try daemon.syncctl("subscriptions", "create", "other", "--start", "어제").code == 0)
    }
}

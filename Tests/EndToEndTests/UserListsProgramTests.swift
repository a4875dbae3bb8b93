import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Lists of users through the API and on the command line: rooms, contacts, recent searches, conversations of two.
@Suite(.serialized)
struct UserListsProgramTests {
    private static func token(_ api: APIClient, _ user: String) throws -> String {
        let body = #"{"principal":"user/\#(user)","roles":["user:\#(user)"]}"#
        let made = try #require(api.ask("POST", "/v1/credentials", body: body)?.1.first?["token"] as? String)
        return "Authorization: Bearer \(made)"
    }

    private static func lines(_ answer: (Int, [[String: Any]], String)?, _ type: String) throws -> [[String: Any]] {
        let answer = try #require(answer)
        #expect(answer.0 == 200, "\(answer.2)")
        return answer.1.filter { $0["type"] as? String == type }
    }

    @Test("Two talk, a third sees nothing; hidden rooms, contacts and searches are each user's own (INV-13)")
    func messenger() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        let (one, two, three) = (
            try Self.token(api, "u1"), try Self.token(api, "u2"), try Self.token(api, "u3")
        )
        func append(_ token: String, _ line: String) throws {
            let answer = try #require(api.ask("POST", "/v1/events", body: line, headers: [token]))
            #expect(answer.0 == 200, "\(answer.2)")
        }
        try append(one, #"{"type":"profile.changed","user":"u1","data":{"fields":{"name":"김하늘"}}}"#)
        let begun = try #require(api.ask("POST", "/v1/direct/u2", headers: [one]))
        let again = try #require(api.ask("POST", "/v1/direct/u1", headers: [two]))
        let room = try #require(begun.1.first?["conversation"] as? String)
        #expect(begun.0 == 201 && again.0 == 200 && again.1.first?["conversation"] as? String == room)
        #expect(room == "dm-pfq3nbpckaz565fwfizerr2l4a")
        #expect(api.ask("POST", "/v1/direct/u2", headers: [two])?.0 == 400)
        #expect(api.ask("POST", "/v1/direct/u2?as=u1", headers: [three])?.0 == 403)
        #expect(api.ask("POST", "/v1/direct/u2")?.0 == 400)
        #expect(api.ask("POST", "/v1/direct/u2?as=u1")?.1.first?["begun"] as? Bool == false)
        func rooms(_ token: String, _ user: String, _ query: String = "") throws -> [[String: Any]] {
            try Self.lines(api.ask("GET", "/v1/users/\(user)/conversations\(query)", headers: [token]), "room")
        }
        // No third one begins the conversation of two others, for themselves or with them.
        let foreign = DirectConversation("u1", "u4").id
        for line in [
            #"{"type":"conversation.started","user":"u3","subject":"conversation/\#(foreign)","data":{"participants":["u1","u4"]}}"#,
            #"{"type":"conversation.started","user":"u3","subject":"conversation/\#(foreign)","data":{"participants":["u3","u1","u4"]}}"#,
            #"{"type":"message.posted","user":"u3","subject":"conversation/\#(foreign)","data":{"text":"저예요"}}"#,
        ] {
            #expect(api.ask("POST", "/v1/events", body: line, headers: [three])?.0 == 403, "\(line)")
        }
        #expect(api.ask("POST", "/v1/direct/u4", headers: [one])?.0 == 201)
        #expect(try rooms(three, "u3").isEmpty)
        for number in 1...3 {
            try append(
                one,
                #"{"type":"message.posted","user":"u1","subject":"conversation/\#(room)","data":{"text":"글 \#(number)"}}"#
            )
        }
        try append(
            one,
            #"{"type":"message.posted","user":"u1","subject":"conversation/\#(room)","data":{"attachments":[{"mediaType":"image/jpeg"}]}}"#
        )
        let seen = try #require(try rooms(two, "u2").first)
        #expect(seen["last_text"] as? String == "사진" && seen["unread"] as? Int == 4)
        #expect(((seen["others"] as? [[String: Any]])?.first)?["name"] as? String == "김하늘")
        #expect(try rooms(two, "u2", "?language=en").first?["last_text"] as? String == "Photo")
        #expect(try rooms(one, "u1").first?["unread"] as? Int == 0)
        // Another's list is not there, nor is the room.
        for target in [
            "/v1/users/u2/conversations", "/v1/users/u2/contacts", "/v1/users/u2/searches",
            "/v1/conversations/\(room)", "/v1/conversations/\(room)/participants", "/v1/users/u2/history?received=1",
        ] { #expect(api.ask("GET", target, headers: [three])?.0 == 404, "\(target)") }
        #expect(try rooms(three, "u3").isEmpty)
        let received = try Self.lines(api.ask("GET", "/v1/users/u2/history?received=1", headers: [two]), "event")
        #expect(received.count == 4)
        #expect(((received.first?["event"] as? [String: Any])?["data"] as? [String: Any])?["attachments"] != nil)
        for (query, name) in [
            ("received=1&type=x", "type"), ("received=1&as_of=2026-01-01T00:00:00Z", "as_of"),
            ("received=1&known_at=1", "known_at"), ("received=1&order=oldest", "order"),
        ] {
            let refused = try #require(api.ask("GET", "/v1/users/u2/history?\(query)", headers: [two]))
            #expect(refused.0 == 400 && refused.2.contains("\"detail\":\"\(name):"), "\(refused.2)")
        }
        try append(two, #"{"type":"conversation.hidden","user":"u2","subject":"conversation/\#(room)","data":{}}"#)
        #expect(try rooms(two, "u2").isEmpty && rooms(two, "u2", "?all=1").count == 1 && rooms(one, "u1").count == 2)

        for query in ["김", "영희", "김"] {
            let put = api.ask(
                "PUT", "/v1/users/u1/searches", body: #"{"query":"\#(query)","scope":"users"}"#, headers: [one])
            #expect(put?.0 == 200 && put?.1.first?["type"] as? String == "appended")
        }
        func searches(_ query: String = "") throws -> [String] {
            try Self.lines(api.ask("GET", "/v1/users/u1/searches\(query)", headers: [one]), "search")
                .compactMap { $0["query"] as? String }
        }
        #expect(try searches() == ["김", "영희"])
        #expect(try searches("?limit=1") == ["김"])
        let next = try #require(
            api.ask("GET", "/v1/users/u1/searches?limit=1", headers: [one])?.1.last?["next"] as? String)
        #expect(try searches("?cursor=\(next)") == ["영희"])
        #expect(api.ask("DELETE", "/v1/users/u1/searches?query=%EC%98%81%ED%9D%AC", headers: [one])?.0 == 200)
        #expect(try searches() == ["김"])
        #expect(api.ask("PUT", "/v1/users/u1/searches", body: #"{"query":"x"}"#, headers: [three])?.0 == 403)

        let contact = #"{"name":"둘","phoneNumber":"010","source":"addressbook"}"#
        #expect(api.ask("PUT", "/v1/users/u1/contacts/u2", body: contact, headers: [one])?.0 == 200)
        #expect(api.ask("PUT", "/v1/users/u1/contacts/u3", headers: [one])?.0 == 200)
        #expect(api.ask("PUT", "/v1/users/u1/contacts/u3", headers: [three])?.0 == 403)
        func contacts() throws -> [String] {
            try Self.lines(api.ask("GET", "/v1/users/u1/contacts", headers: [one]), "contact")
                .compactMap { $0["contact"] as? String }
        }
        #expect(try contacts() == ["u2", "u3"])
        #expect(api.ask("DELETE", "/v1/users/u1/contacts/u3", headers: [one])?.0 == 200)
        #expect(try contacts() == ["u2"])

        #expect(api.ask("GET", "/v1/users?match=-")?.0 == 400)
        #expect(try Self.lines(api.ask("GET", "/v1/users?match=%EA%B9%80"), "user").count == 1)

        // The command line says the same, of the daemon and of the files.
        func answers() throws -> [String] {
            try [
                ["rooms", "u1"], ["rooms", "u2", "--hidden"], ["contacts", "u1"],
                ["searches", "u1", "--sort", "query"],
                ["conversations", "--user", "u1"], ["history", "u2", "--received", "--last", "2"],
                ["conversations", "--category", "text"], ["conversation", room],
            ].map { try Programs.syncctl(daemon.store, $0 + ["--json"]).output }
        }
        let told = try answers()
        #expect(told.allSatisfy { $0.split(separator: "\n").count >= 2 }, "\(told)")
        #expect(try daemon.syncctl("rooms", "u1", "--lang", "ko").output.contains("사진"))
        #expect(try daemon.syncctl("rooms", "u1", "--lang", "en").output.contains("Photo"))
        #expect(try daemon.syncctl("rooms", "u2").code == 1)
        #expect(daemon.terminate() == 0)
        #expect(try answers() == told)
    }

    @Test("Unread, and the first words, are of what the user could read, as in what they received (INV-13)")
    func unreadOfSeen() async throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        func append(_ type: String, _ user: String, _ room: String, _ data: String) throws {
            let line = #"{"type":"\#(type)","user":"\#(user)","subject":"conversation/\#(room)","data":\#(data)}"#
            #expect(api.ask("POST", "/v1/events", body: line)?.0 == 200)
        }
        func say(_ text: String, in room: String) throws {
            try append("message.posted", "lee", room, #"{"text":"\#(text)"}"#)
        }
        let (begins, joins, leaves) = ("conversation.started", "participant.joined", "participant.left")
        // Named by a second beginning: from there on.
        try append(begins, "lee", "second", #"{"participants":["lee"]}"#)
        try say("하나", in: "second")
        try append(begins, "mod", "second", #"{"participants":["kim"]}"#)
        try say("둘", in: "second")
        // Named by the first, and once more: all of it.
        try append(begins, "lee", "twice", #"{"participants":["lee","kim"]}"#)
        try say("하나", in: "twice")
        try append(begins, "lee", "twice", #"{"participants":["lee","kim"]}"#)
        // Out, and let in again: what stood before they left is theirs, too.
        try append(begins, "lee", "again", #"{"participants":["lee","kim"]}"#)
        try say("하나", in: "again")
        try append(leaves, "lee", "again", #"{"user":"kim"}"#)
        try say("둘", in: "again")
        try append(joins, "lee", "again", #"{"user":"kim"}"#)
        // Without a list, and there before the word on them.
        try append("message.posted", "kim", "open", #"{"text":"나"}"#)
        try say("하나", in: "open")
        try append(joins, "lee", "open", #"{"user":"kim"}"#)
        // A list that does not name them: their own words alone.
        try append(begins, "lee", "closed", #"{"participants":["lee"]}"#)
        try say("하나", in: "closed")
        try append("message.posted", "kim", "closed", #"{"text":"나"}"#)
        let unread = ["second": 1, "twice": 1, "again": 1, "open": 1, "closed": 0]
        let first = ["second": "둘", "twice": "하나", "again": "하나", "open": "나"]
        func check() throws {
            let told = try Programs.syncctl(daemon.store, ["rooms", "kim", "--beginning", "--json"]).output
            let rooms = try told.split(separator: "\n").compactMap {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }.filter { $0["type"] as? String == "room" }
            #expect(rooms.count == 5)
            for room in rooms {
                let name = room["conversation"] as? String ?? ""
                #expect(room["unread"] as? Int == unread[name], "\(room)")
                #expect(room["first_text"] as? String == first[name], "\(room)")
            }
        }
        try check()
        let me = try Self.token(api, "kim")
        let own = try Self.lines(api.ask("GET", "/v1/users/kim/conversations", headers: [me]), "room")
        for room in own {
            #expect(room["unread"] as? Int == unread[room["conversation"] as? String ?? ""], "\(room)")
        }
        let received = try Self.lines(api.ask("GET", "/v1/users/kim/history?received=1", headers: [me]), "event")
        let others = received.filter { ($0["event"] as? [String: Any])?["user"] as? String == "lee" }
        #expect(others.count == unread.values.reduce(0, +))
        #expect(daemon.terminate() == 0)
        try check()
    }

    @Test("What does not go together is refused with what to do instead")
    func refused() async throws {
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        #expect(try await tool.run(["init", "--name", "n"]).code == 0)
        for (words, part) in [
            (["users", "--match", "-"], "no letter and no digit"), (["searches", "u", "--match", "!!"], "no letter"),
            (["conversations", "--match", "…"], "no letter"), (["conversations", "--category", "video"], "category"),
            (["conversations", "--user", "u", "--as-of", "2026-01-01"], "as it stands now"),
            (["history", "u", "--received", "--type", "x"], "--received"),
            (["history", "u", "--received", "--first", "3"], "--first"),
            (["history", "u", "--received", "--known-at", "1"], "as of now"),
            (["history", "u", "--received", "--last", "10001"], "10,000"),
            (["history", "u", "--received", "--proof"], "--proof"), (["rooms", "u", "--all", "-n", "3"], "--all"),
        ] {
            let run = try await tool.run(words)
            #expect(run.code == 64 && run.errors.contains(part), "\(words): \(run.errors)")
        }
    }

    @Test("A conversation of many tells the first who take part, and how many more; pages go on behind them")
    func many() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        let users = (0..<1_203).map { "\"u-\(10_000 + $0)\"" }.joined(separator: ",")
        let started =
            #"{"type":"conversation.started","user":"u-10000","subject":"conversation/c","data":{"participants":[\#(users)]}}"#
        #expect(api.ask("POST", "/v1/events", body: started)?.0 == 200)
        let first = try #require(api.ask("GET", "/v1/conversations/c?limit=100")?.1)
        #expect(first.count == 102 && first[0]["participants"] as? Int == 1_203)
        var found = try Self.lines(
            api.ask("GET", "/v1/conversations/c/participants?after=u-10099&limit=500"), "participant")
        #expect(found.count == 500 && found.first?["user"] as? String == "u-10100")
        let empty = try #require(api.ask("GET", "/v1/conversations/c/participants?after="))
        #expect(empty.0 == 400 && empty.2.contains("E_PARAMETER"), "the document asks for a text: \(empty)")
        var cursor = try #require(first.last?["next"] as? String)
        found = first.filter { $0["type"] as? String == "participant" }
        while true {
            let page = try #require(api.ask("GET", "/v1/conversations/c?limit=500&cursor=\(cursor)")?.1)
            found += page.filter { $0["type"] as? String == "participant" }
            guard let next = page.last?["next"] as? String else { break }
            cursor = next
        }
        #expect(found.count == 1_203)
        #expect(try daemon.syncctl("conversation", "c", "--json").code == 0)
        #expect(daemon.terminate() == 0)
    }
}

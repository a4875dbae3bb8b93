import Access
import Foundation
import SillokAPI
import TestSupport
import Testing

/// Who may do what through the API, from outside: tokens, roles, what is seen of others, the access log (INV-17).
@Suite(.serialized)
struct AccessTests {
    private func started(_ name: String = "n") throws -> (DaemonProcess, APIClient) {
        let daemon = try DaemonProcess(name)
        try daemon.start()
        return (daemon, APIClient(socket: daemon.store + "/api.sock"))
    }

    /// A new token, as the header that shows it.
    private func token(_ api: APIClient, _ principal: String, _ roles: [String], _ more: String = "") throws -> String
    {
        let list = roles.map { "\"\($0)\"" }.joined(separator: ",")
        let answer = try #require(
            api.ask("POST", "/v1/credentials", body: #"{"principal":"\#(principal)","roles":[\#(list)]\#(more)}"#))
        try #require(answer.0 == 201, "\(answer)")
        return "Authorization: Bearer \(try #require(answer.1.first?["token"] as? String))"
    }

    /// Until the node knows its tokens.
    private func awaitTokens(_ api: APIClient, _ header: String, status: Int = 503) {
        waitWhile(api.ask("GET", "/v1/me", headers: [header])?.0 == status)
    }

    private func event(
        _ user: String, _ text: String, author: String? = nil, in conversation: String? = nil, id: String? = nil,
        type: String = "message.posted"
    ) -> String {
        var line = #"{"type":"\#(type)","user":"\#(user)","data":{"text":"\#(text)"}"#
        if let author { line += #","author":"\#(author)""# }
        if let conversation { line += #","subject":"conversation/\#(conversation)""# }
        if let id { line += #","id":"\#(id)""# }
        return line + "}"
    }

    private func code(_ answer: (Int, [[String: Any]], String)?) -> String {
        answer?.1.first { $0["code"] is String }?["code"] as? String ?? ""
    }

    @Test("A user's token sees nothing of another user by any route, whatever id is asked for")
    func others() throws {
        let (daemon, api) = try started()
        let secret = "비밀SENTINEL"
        let id = "0198e2c4-aaaa-7c01-8b1e-0a1b2c3dbeab"
        let opening =
            #"{"type":"conversation.started","user":"bea","subject":"conversation/c-b","data":{"participants":["bea"],"title":"\#(secret)"}}"#
        let profile = #"{"type":"profile.changed","user":"bea","data":{"fields":{"name":"\#(secret)"}}}"#
        let lines = [opening, profile, event("bea", secret, in: "c-b", id: id), event("bea", secret)]
        #expect(api.ask("POST", "/v1/events", body: lines.joined(separator: "\n"))?.0 == 200)
        let alice = try token(api, "user/alice", ["user:alice"])
        let values = ["conversation": "c-b", "user": "bea", "id": id, "survey": "s", "name": "medibot"]
        for route in RouteTable.all where route.method == "GET" {
            var target = route.path
            for (name, value) in values { target = target.replacing("{\(name)}", with: value) }
            if route.operation == .followChanges { target += "?after=first" }
            if route.operation == .search {
                target += "?q=" + (secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
            }
            let answer = try #require(api.ask("GET", target, headers: [alice]), "\(target)")
            #expect(!answer.2.replacing(target, with: "").contains(id), "\(target): \(answer.2)")
            #expect(!answer.2.contains(secret), "\(target): \(answer.2)")
            let isOpen = [.followChanges, .getMe, .getOpenAPI, .search].contains(route.operation)
            #expect(isOpen ? answer.0 == 200 : [403, 404].contains(answer.0), "\(target): \(answer.0)")
        }
        // What is hers she sees, in all of these ways.
        #expect(api.ask("POST", "/v1/events", body: event("alice", "안녕", in: "c-a"), headers: [alice])?.0 == 200)
        for target in ["/v1/users/alice/history", "/v1/conversations/c-a/rows", "/v1/changes?after=first"] {
            #expect(api.ask("GET", target, headers: [alice])?.2.contains("안녕") == true, "\(target)")
        }
        #expect(
            code(api.ask("POST", "/v1/events", body: event("alice", "몰래", in: "c-b"), headers: [alice])) == "E_AUTHOR"
        )
        _ = daemon
    }

    @Test("Who has left a room sees what was before, and nothing later; who joins, what comes")
    func rooms() throws {
        let (daemon, api) = try started()
        let kim = try token(api, "user/kim", ["user:kim"])
        let park = try token(api, "user/park", ["user:park"])
        func say(_ line: String) { #expect(api.ask("POST", "/v1/events", body: line)?.0 == 200, "\(line)") }
        func member(_ type: String, _ user: String) -> String {
            #"{"type":"participant.\#(type)","user":"admin","subject":"conversation/r","data":{"user":"\#(user)"}}"#
        }
        say(
            #"{"type":"conversation.started","user":"admin","subject":"conversation/r","data":{"participants":["kim","lee"]}}"#
        )
        let first = "0198e2c4-aaaa-7c01-8b1e-0a1b2c3dfeed"
        say(event("lee", "하나", in: "r", id: first))
        say(member("left", "kim"))
        say(event("lee", "둘", in: "r"))
        say(member("joined", "park"))
        say(event("lee", "셋", in: "r"))
        // An edit would tell a newcomer what was said before them.
        say(
            #"{"type":"message.edited","user":"lee","subject":"conversation/r","data":{"message":"\#(first)","text":"하나 고침"}}"#
        )
        #expect(api.ask("GET", "/v1/conversations/r/rows")?.2.contains("하나 고침") == true)
        for target in ["/v1/conversations/r/rows", "/v1/changes?after=first"] {
            let seen = try #require(api.ask("GET", target, headers: [kim])).2
            #expect(seen.contains("하나") && !seen.contains("둘") && !seen.contains("셋"), "\(target)")
            let joined = try #require(api.ask("GET", target, headers: [park])).2
            #expect(!joined.contains("하나") && !joined.contains("둘") && joined.contains("셋"), "\(target)")
        }
        // The search goes by the same rule, and counts for those who read all.
        func finds(_ word: String, _ who: String, _ more: String = "") -> Int {
            let word = word.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let answer = api.ask("GET", "/v1/search?q=\(word)\(more)", headers: [who])
            return answer?.0 == 200 ? (answer?.1.count ?? 0) - 1 : -(answer?.0 ?? 0)
        }
        for more in ["", "&order=rank"] {
            #expect(["하나", "둘", "셋"].map { finds($0, kim, more) } == [1, 0, 0], "\(more)")
            #expect(["하나", "둘", "셋"].map { finds($0, park, more) } == [0, 0, 1], "\(more)")
        }
        #expect(finds("하나", kim, "&count=1") == -403)
        #expect(code(api.ask("GET", "/v1/users?match=a", headers: [kim])) == "E_ROLE")
        #expect(code(api.ask("POST", "/v1/events", body: event("kim", "다시", in: "r"), headers: [kim])) == "E_AUTHOR")
        #expect(api.ask("POST", "/v1/events", body: event("park", "넷", in: "r"), headers: [park])?.0 == 200)
        // Live items reach those who are there.
        let typing = #"{"kind":"typing","author":"kim"}"#
        #expect(code(api.ask("POST", "/v1/conversations/r/live", body: typing, headers: [kim])) == "E_AUTHOR")
        #expect(
            api.ask(
                "POST", "/v1/conversations/r/live", body: typing.replacing("kim", with: "park"), headers: [park])?.0
                == 202)
        _ = daemon
    }

    @Test("What others have taken back or changed, here and from elsewhere, is shown to those who see a part")
    func amendedByOthers() throws {
        let (daemon, api) = try started()
        let kim = try token(api, "user/kim", ["user:kim"])
        // As imports do: what they bring may speak of other conversations.
        func say(_ line: String) {
            #expect(api.ask("POST", "/v1/events?ids=derived", body: line)?.0 == 200, "\(line)")
        }
        let (first, second) = ("0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e60", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e61")
        say(
            #"{"type":"conversation.started","user":"mod","subject":"conversation/r","data":{"participants":["mod","kim"],"moderators":["mod"]}}"#
        )
        for id in [first, second] {
            say(
                #"{"id":"\#(id)","type":"message.posted","user":"kim","subject":"conversation/r","data":{"text":"하나"}}"#
            )
        }
        say(
            #"{"type":"message.retracted","user":"mod","subject":"conversation/r","data":{"message":"\#(first)"}}"#)
        say(
            #"{"type":"message.edited","user":"mod","subject":"conversation/other","data":{"message":"\#(second)","text":"둘"}}"#
        )
        for target in ["users/kim/history", "conversations/r/rows", "events/\(first)/why", "events/\(second)/why"] {
            let answer = try #require(api.ask("GET", "/v1/\(target)", headers: [kim]))
            #expect(answer.0 == 200 && !answer.2.contains("둘"), "\(target): \(answer)")
        }
        let rows = try #require(api.ask("GET", "/v1/conversations/r/rows", headers: [kim])).2
        #expect(rows.contains("retracted"))
        _ = daemon
    }

    @Test("No one speaks as another: wrong authors, reserved types and foreign edits are refused and store nothing")
    func speaking() throws {
        let (daemon, api) = try started()
        let bot = try token(api, "bot/m", ["bot:m"], #","scope":"all""#)
        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
        #expect(api.ask("POST", "/v1/events", body: event("kim", "원문", in: "c", id: id))?.0 == 200)
        let before = try #require(api.ask("GET", "/v1/events")?.1.last?["position"] as? Int)
        let edit =
            #"{"type":"message.edited","user":"kim","author":"m","subject":"conversation/c","data":{"message":"\#(id)","text":"바꿈"}}"#
        let refused: [(String, String, [String])] = [
            (event("ceo", "해고"), "E_AUTHOR", [bot]), (event("kim", "x", author: "ceo"), "E_AUTHOR", [bot]),
            (edit, "E_NOT_AUTHOR", [bot]), (edit, "E_NOT_AUTHOR", []),
            (edit.replacing("edited", with: "retracted"), "E_NOT_AUTHOR", []),
            (event("m", "x", type: "access.granted"), "E_RESERVED", [bot]),
            (event("m", "x", type: "subscription.parked"), "E_RESERVED", [bot]),
            (event("m", "x", type: "user.erased"), "E_RESERVED", []), ("", "E_EMPTY", [bot]),
        ]
        for (body, wanted, headers) in refused {
            let answer = api.ask("POST", "/v1/events", body: body, headers: headers)
            #expect(
                code(answer) == wanted && answer.map { $0.0 >= 400 } == true, "\(body): \(String(describing: answer))"
            )
        }
        // One that is refused takes the whole request with it, unless each stands for itself.
        let both = [event("kim", "네", author: "m", in: "c"), event("ceo", "x")].joined(separator: "\n")
        #expect(api.ask("POST", "/v1/events", body: both, headers: [bot])?.0 == 403)
        #expect(api.ask("GET", "/v1/events")?.1.last?["position"] as? Int == before)
        #expect(api.ask("POST", "/v1/events?atomicity=each", body: both, headers: [bot])?.0 == 207)
        let stored = try #require(
            api.ask("GET", "/v1/conversations/c/rows?author=m")?.1.first?["event"] as? [String: Any])
        #expect((stored["actor"] as? String)?.hasPrefix("token:bot/m:") == true)
        // The message may come with the edit.
        let other = id.replacing("5f", with: "60")
        let foreign = [event("kim", "원문", in: "c", id: other), edit.replacing(id, with: other)]
        let refusal = api.ask("POST", "/v1/events", body: foreign.joined(separator: "\n"))
        #expect(refusal?.0 == 403 && refusal?.2.contains("E_NOT_AUTHOR") == true, "\(String(describing: refusal))")
        let fixed = foreign[1].replacing(#""author":"m""#, with: #""author":"kim""#)
        #expect(api.ask("POST", "/v1/events", body: foreign[0] + "\n" + fixed)?.0 == 200)
        // Of one's own message it counts.
        let own = edit.replacing(#""author":"m""#, with: #""author":"kim""#)
        #expect(api.ask("POST", "/v1/events", body: own)?.0 == 200)
        _ = daemon
    }

    @Test(
        "Events of tokens that were granted are in order for 'verify --actors'; what was appended over the socket its node asserts"
    )
    func actors() async throws {
        let (daemon, api) = try started()
        let alice = try token(api, "user/alice", ["user:alice"])
        let bot = try token(api, "bot/medibot", ["bot:medibot"], #","scope":"all""#)
        #expect(api.ask("POST", "/v1/events", body: event("alice", "안녕", in: "c"), headers: [alice])?.0 == 200)
        let reply = event("alice", "네", author: "medibot", in: "c")
        #expect(api.ask("POST", "/v1/events", body: reply, headers: [bot])?.0 == 200)
        #expect(api.ask("POST", "/v1/events", body: event("bea", "x"))?.0 == 200)
        #expect(daemon.terminate() == 0)
        let tool = try Tool.named("syncctl")
        let told = try await tool.run(["verify", "--actors", "--store", daemon.store])
        #expect(told.code == 0 && told.text.contains("ACTORS VERIFIED  2 events of tokens"), "\(told)")
        let json = try await tool.run(["verify", "--actors", "--store", daemon.store, "--json"]).objects()
        #expect(json.first { $0["type"] as? String == "actors" }?["checked"] as? Int == 2)
        #expect(json.last?["actors"] as? String == "proven", "\(json)")
    }

    @Test(
        "Who has left hears of no later edit; who takes part puts no other out; of what is not seen nothing is learned"
    )
    func edges() throws {
        let (daemon, api) = try started()
        let lee = try token(api, "user/lee", ["user:lee"])
        let kim = try token(api, "user/kim", ["user:kim"])
        let mal = try token(api, "user/mal", ["user:mal"])
        let id = "0198e2c4-aaaa-7c01-8b1e-0a1b2c3dbeef"
        func append(_ line: String, _ who: String, _ more: String = "") -> (Int, String) {
            let answer = api.ask("POST", "/v1/events\(more)", body: line, headers: [who])
            return (answer?.0 ?? 0, code(answer))
        }
        func line(_ type: String, _ user: String, _ data: String, in conversation: String? = "c") -> String {
            let subject = conversation.map { #""subject":"conversation/\#($0)","# } ?? ""
            return #"{"type":"\#(type)","user":"\#(user)",\#(subject)"data":\#(data)}"#
        }
        #expect(append(line("conversation.started", "lee", #"{"participants":["lee","kim"]}"#), lee).0 == 200)
        #expect(append(event("lee", "처음", in: "c", id: id), lee).0 == 200)
        // Of a conversation and a message that a stranger does not see, nothing is told.
        #expect(append(event("mal", "x", in: "malz"), mal, "?expect=c:77") == (404, "E_NOT_FOUND"))
        let edit = #"{"message":"\#(id)","text":"고침"}"#
        let stranger = line("message.edited", "mal", edit, in: nil)
        let foreign = api.ask("POST", "/v1/events", body: stranger, headers: [mal])
        #expect(code(foreign) == "E_NOT_AUTHOR" && foreign?.2.contains("lee") == false, "\(foreign?.2 ?? "")")
        // No one puts the one out who began it.
        #expect(append(line("participant.left", "kim", #"{"user":"lee"}"#), kim) == (403, "E_AUTHOR"))
        #expect(append(line("participant.joined", "kim", #"{"user":"park"}"#), kim).0 == 200)
        #expect(append(line("participant.left", "lee", #"{"user":"park"}"#), lee).0 == 200)
        #expect(append(line("participant.left", "kim", "{}"), kim).0 == 200)
        #expect(append(line("message.edited", "lee", edit), lee).0 == 200)
        let hers = api.ask("GET", "/v1/conversations/c/rows", headers: [lee])?.2 ?? ""
        #expect(hers.contains("고침"))
        let his = api.ask("GET", "/v1/conversations/c/rows", headers: [kim])?.2 ?? ""
        #expect(his.contains("처음") && !his.contains("고침") && !his.contains("original"), "\(his)")
        #expect(api.ask("GET", "/v1/me", headers: [lee, kim])?.0 == 401)
        _ = daemon
    }

    @Test("A page of a feed ends where few events are wanted of many, and goes on behind them")
    func longWay() throws {
        let (daemon, api) = try started()
        let line = #"{"type":"message.posted","user":"lee","subject":"conversation/c","data":{"text":"x"}}"#
        let lines = Array(repeating: line, count: 2_000).joined(separator: "\n")
        for _ in 0..<11 { #expect(api.ask("POST", "/v1/events", body: lines)?.0 == 200) }
        let kim = try token(api, "user/kim", ["user:kim"])
        #expect(api.ask("POST", "/v1/events", body: event("kim", "끝"), headers: [kim])?.0 == 200)
        var (place, pages, found) = ("first", 0, 0)
        while pages < 20 {
            let page = try #require(api.ask("GET", "/v1/changes?after=\(place)", headers: [kim])?.1.first)
            pages += 1
            found += (page["items"] as? [Any])?.count ?? 0
            place = try #require(page["cursor"] as? String)
            if page["more"] as? Bool == false { break }
        }
        #expect(pages >= 2 && pages < 20 && found == 1, "\(pages) \(found)")
        _ = daemon
    }

    @Test("What an auditor reads is recorded, whatever the token's scope (INV-17)")
    func auditors() throws {
        let (daemon, api) = try started()
        #expect(api.ask("POST", "/v1/events", body: event("kim", "비밀", in: "c"))?.0 == 200)
        for (name, roles) in [("plain", ["auditor"]), ("mixed", ["auditor", "user:kim"])] {
            let auditor = try token(api, "audit/\(name)", roles, #","scope":"all""#)
            for path in ["events", "conversations/c/rows", "users/kim/history", "changes?after=first"] {
                let answer = api.ask("GET", "/v1/\(path)", headers: [auditor])
                #expect(code(answer) == "E_REASON" && answer?.2.contains("비밀") == false, "\(name) \(path)")
            }
            let reason = "Sillok-Reason: complaint 4711"
            #expect(api.ask("GET", "/v1/users/kim/history", headers: [auditor, reason])?.0 == 200)
        }
        #expect(api.ask("GET", "/v1/access")?.1.count == 3)
        // What a feed was narrowed to is part of what was read.
        let auditor = try token(api, "audit/feed", ["auditor"])
        let feed = "/v1/changes?after=first&user="
        for user in ["kim", "lee"] {
            #expect(api.ask("GET", feed + user, headers: [auditor, "Sillok-Reason: complaint 4712"])?.0 == 200)
            let readers = api.ask("GET", "/v1/users/\(user)/readers")?.2 ?? ""
            #expect(readers.contains("4712") && readers.contains("user=\(user)"), "\(readers)")
        }
        // So are the words of a search, and whose texts they were looked for in.
        let search = "/v1/search?q=%EB%B9%84%EB%B0%80&user=kim"
        #expect(code(api.ask("GET", search, headers: [auditor])) == "E_REASON")
        #expect(api.ask("GET", search, headers: [auditor, "Sillok-Reason: complaint 4713"])?.0 == 200)
        let readers = api.ask("GET", "/v1/users/kim/readers")?.2 ?? ""
        #expect(readers.contains("4713") && readers.contains("q=비밀"), "\(readers)")
        // For who neither is a user nor reads all, the scope opens nothing.
        let keeper = try token(api, "ops/lee", ["operator"], #","scope":"all""#)
        #expect(api.ask("GET", "/v1/users/kim/history", headers: [keeper])?.0 == 403)
        _ = daemon
    }

    @Test("A token's secret is in no file of the store, no figure and no list; what is given is listed")
    func secrets() throws {
        let (daemon, api) = try started()
        let header = try token(api, "bot/m", ["bot:m"])
        let admin = try token(api, "ops/kim", ["admin"])
        let secrets = [header, admin].map { String($0.suffix(43)) }
        let list = try #require(api.ask("GET", "/v1/credentials"))
        #expect(list.1.count == 3 && list.2.contains("bot/m") && list.2.contains("ops/kim"))
        #expect(api.ask("GET", "/v1/me", headers: [admin])?.2.contains(#""roles":["admin"]"#) == true)
        var texts = [list.2, api.ask("GET", "/metrics")?.2 ?? ""]
        texts.append(try daemon.syncctl("export").output)
        for secret in secrets { #expect(!texts.contains { $0.contains(secret) }) }
        #expect(daemon.terminate() == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: daemon.store) {
            guard let bytes = FileManager.default.contents(atPath: daemon.store + "/" + name) else { continue }
            for secret in secrets { #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name)") }
        }
        let mode = try FileManager.default.attributesOfItem(atPath: daemon.store + "/credentials.json")
        #expect(mode[.posixPermissions] as? Int == 0o600)
        // Both count after a start, too.
        try daemon.start()
        #expect(api.ask("GET", "/v1/me", headers: [admin])?.0 == 200)
        awaitTokens(api, header)
        #expect(api.ask("GET", "/v1/me", headers: [header])?.0 == 200)
    }

    @Test("A token that is taken back ends its streams within a second here, and within two at another node")
    func revoking() throws {
        let (a, b) = try makePair()
        let clients = [a, b].map { APIClient(socket: $0.store + "/api.sock") }
        let header = try token(clients[0], "reader/r", ["reader"])
        for client in clients {
            awaitTokens(client, header, status: 401)
            #expect(client.ask("GET", "/v1/me", headers: [header])?.0 == 200)
        }
        let ends = Ends()
        let done = DispatchSemaphore(value: 0)
        for (index, client) in clients.enumerated() {
            Thread.detachNewThread {
                let answer = client.ask(
                    "GET", "/v1/changes", headers: [header, "Accept: application/x-ndjson"], seconds: 20)
                ends.note(index, answer?.2 ?? "")
                done.signal()
            }
        }
        usleep(500_000)
        let id = header.components(separatedBy: "slk1_")[1].prefix(16)
        #expect(clients[0].ask("DELETE", "/v1/credentials/\(id)")?.0 == 204)
        let revoked = Date()
        for _ in clients { #expect(done.wait(timeout: .now() + 60) == .success) }
        for (index, limit) in [(0, 1.2), (1, 2.2)] {
            let end = try #require(ends.all[index])
            #expect(end.at.timeIntervalSince(revoked) < limit && end.text.contains(#""control":"closing""#), "\(end)")
        }
        for client in clients { #expect(code(client.ask("GET", "/v1/me", headers: [header])) == "E_UNAUTHENTICATED") }
    }

    @Test("An auditor says why, and the read is recorded before the answer; who is looked at can see it (INV-17)")
    func auditing() throws {
        let (daemon, api) = try started()
        #expect(api.ask("POST", "/v1/events", body: event("kim", "아파요", in: "c"))?.0 == 200)
        let auditor = try token(api, "auditor/park", ["auditor"])
        let target = "/v1/users/kim/history"
        #expect(code(api.ask("GET", target, headers: [auditor])) == "E_REASON")
        #expect(code(api.ask("GET", "/v1/changes?after=first", headers: [auditor])) == "E_REASON")
        let reason = "Sillok-Reason: 민원 4711"
        #expect(api.ask("GET", target, headers: [auditor, reason])?.2.contains("아파요") == true)
        let reads = try #require(api.ask("GET", "/v1/access")?.1)
        #expect(
            reads.count == 2 && reads[0]["subject"] as? String == target && reads[0]["reason"] as? String == "민원 4711"
        )
        #expect(reads[0]["users"] as? [String] == ["kim"])
        let kim = try token(api, "user/kim", ["user:kim"])
        #expect(api.ask("GET", "/v1/users/kim/readers", headers: [kim])?.2.contains("민원 4711") == true)
        #expect(api.ask("GET", "/v1/users/lee/readers", headers: [kim])?.0 == 404)
        #expect(api.ask("GET", "/v1/access", headers: [kim])?.0 == 403)
        // A killed daemon has recorded what it answered.
        for round in 0..<5 {
            let answer = api.ask(
                "GET", "/v1/conversations/c/rows", headers: [auditor, "Sillok-Reason: round \(round)"])
            daemon.kill()
            try daemon.start()
            awaitTokens(api, auditor)
            guard answer?.2.contains("아파요") == true else { continue }
            let found = api.ask("GET", "/v1/access")?.2 ?? ""
            #expect(found.contains("round \(round)"), "\(round)")
        }
    }

    @Test(
        "Whoever's words an auditor gets is named in the record of it, by whatever way they were asked for (INV-17)")
    func words() throws {
        let (daemon, api) = try started()
        let (first, second) = ("33333333-3333-4333-8333-333333333333", "44444444-4444-4444-8444-444444444444")
        let contact = #"{"type":"contact.added","user":"lee","data":{"contact":"kim","name":"김"}}"#
        for line in [
            #"{"type":"conversation.started","user":"lee","subject":"conversation/c","data":{"participants":["kim","lee"]}}"#,
            #"{"type":"message.posted","id":"\#(first)","user":"kim","subject":"conversation/c","data":{"text":"비밀"}}"#,
            #"{"type":"message.posted","id":"\#(second)","user":"lee","author":"kim","subject":"conversation/d","data":{"text":"비밀"}}"#,
            contact,
        ] { #expect(api.ask("POST", "/v1/events", body: line)?.0 == 200) }
        let auditor = try token(api, "auditor/park", ["auditor"])
        func reads() -> Int { api.ask("GET", "/v1/users/kim/readers?limit=500")?.1.count ?? 0 }
        for (number, target) in [
            "changes?after=first&author=kim", "changes?after=first&conversation=c", "users/lee/history",
            "users/lee/history?received=1", "users/lee/conversations?all=1&first=1", "events/\(first)",
            "events/\(second)",
            "events/\(second)/proof", "events/\(second)/why", "conversations/c/rows", "conversations/d/proof",
            "search?q=%EB%B9%84%EB%B0%80", "users/lee/contacts", "conversations/c/participants",
        ].enumerated() {
            let before = reads()
            let headers = [auditor, "Sillok-Reason: case \(number)"]
            let answer = api.ask("GET", "/v1/" + target, headers: headers)
            #expect(answer?.0 == 200, "\(target): \(answer?.2 ?? "")")
            #expect(reads() == before + 1, "\(target)")
            // The same once more is no second read.
            #expect(api.ask("GET", "/v1/" + target, headers: headers)?.0 == 200 && reads() == before + 1, "\(target)")
        }
        _ = daemon
    }

    @Test("More people than one event names are named by several: none of a page is left out (INV-17)")
    func many() throws {
        let (daemon, api) = try started()
        let lines = (0..<230).map {
            #"{"type":"message.posted","user":"u\#($0)","subject":"conversation/c","data":{"text":"말"}}"#
        }
        #expect(api.ask("POST", "/v1/events", body: lines.joined(separator: "\n"))?.0 == 200)
        let auditor = try token(api, "auditor/park", ["auditor"])
        let target = "/v1/conversations/c/rows?limit=500"
        #expect(api.ask("GET", target, headers: [auditor, "Sillok-Reason: case 1"])?.1.count == 231)
        let found = try #require(api.ask("GET", "/v1/access?limit=500")?.1).compactMap { $0["users"] as? [String] }
        #expect(found.map(\.count).sorted() == [30, 100, 100] && Set(found.joined()).count == 230, "\(found)")
        _ = daemon
    }

    @Test("Wrong tokens are refused, too many of them without a look; what may be asked depends on the role")
    func refusals() throws {
        let (daemon, api) = try started()
        for text in ["Bearer", "Bearer x", "Basic a2ltOnB3", "Bearer slk1_0123456789abcdef_A"] {
            let answer = api.ask("GET", "/v1/me", headers: ["Authorization: \(text)"])
            #expect(answer?.0 == 401 && code(answer) == "E_UNAUTHENTICATED", "\(text)")
        }
        let reader = try token(api, "reader/r", ["reader"])
        let refused = [
            ("POST", "/v1/events"), ("GET", "/v1/status"), ("POST", "/v1/credentials"), ("GET", "/v1/subscriptions"),
            ("POST", "/v1/peers"), ("GET", "/v1/access"),
        ]
        for (method, target) in refused {
            #expect(code(api.ask(method, target, body: "{}", headers: [reader])) == "E_ROLE", "\(method) \(target)")
        }
        let short = try token(api, "reader/s", ["reader"], #","valid_s":1"#)
        #expect(api.ask("GET", "/v1/me", headers: [short])?.0 == 200)
        usleep(1_200_000)
        #expect(api.ask("GET", "/v1/me", headers: [short])?.0 == 401)
        for body in [
            "{}", #"{"principal":"p"}"#, #"{"principal":"p","roles":[]}"#, #"{"principal":"p","roles":["root"]}"#,
            #"{"principal":"p","roles":["app"],"until":"2020-01-01T00:00:00Z"}"#,
            #"{"principal":"p","roles":["app"],"valid_s":9223372036854775807}"#,
            #"{"principal":"p","roles":["app"],"extra":1}"#, #"{"principal":"","roles":["app"]}"#,
        ] {
            #expect(code(api.ask("POST", "/v1/credentials", body: body)) == "E_PARAMETER", "\(body)")
        }
        let wrong = "Authorization: Bearer slk1_0123456789abcdef_" + String(repeating: "A", count: 43)
        awaitTokens(api, wrong)
        var statuses: [Int] = []
        for _ in 0..<12 { statuses.append(api.ask("GET", "/v1/me", headers: [wrong])?.0 ?? 0) }
        #expect(statuses.last == 429 && statuses.first == 401, "\(statuses)")
        // What has not even the form of one is a guess, too.
        let formless = api.ask("GET", "/v1/me", headers: ["Authorization: Bearer slk1_x"])
        #expect(formless?.0 == 429, "\(formless?.2 ?? "")")
        let figures = api.ask("GET", "/metrics")?.2 ?? ""
        for reason in ["invalid", "too_many"] {
            #expect(figures.contains(#"syncd_auth_failures_total{method="token",reason="\#(reason)"}"#), "\(figures)")
        }
        // A good one is let in at any time.
        #expect(api.ask("GET", "/v1/me", headers: [reader])?.0 == 200)
        _ = daemon
    }

    @Test("A bot's subscription is its own: another bot neither sees nor works on it")
    func subscriptions() throws {
        let (daemon, api) = try started()
        let one = try token(api, "bot/one", ["bot:one"], #","scope":"all""#)
        let two = try token(api, "bot/two", ["bot:two"], #","scope":"all""#)
        let narrow = try token(api, "bot/one", ["bot:one"])
        let body = #"{"start":"first","filter":{"type":["message.posted"]}}"#
        #expect(api.ask("PUT", "/v1/subscriptions/one", body: body, headers: [one])?.0 == 201)
        #expect(api.ask("POST", "/v1/events", body: event("kim", "질문", in: "c"))?.0 == 200)
        #expect(api.ask("POST", "/v1/subscriptions/one/pull", headers: [two])?.0 == 404)
        #expect(code(api.ask("PUT", "/v1/subscriptions/one", body: body, headers: [two])) == "E_EXISTS")
        #expect(api.ask("GET", "/v1/subscriptions", headers: [two])?.1.count == 1)
        #expect(code(api.ask("POST", "/v1/subscriptions/one/pull", headers: [narrow])) == "E_ROLE")
        #expect(api.ask("POST", "/v1/subscriptions/one/pull", headers: [one])?.2.contains("질문") == true)
        #expect(api.ask("GET", "/v1/subscriptions/one")?.2.contains(#""owner":"token:bot/one:"#) == true)
        _ = daemon
    }
}

/// When streams ended, and with what.
private final class Ends: @unchecked Sendable {
    private let lock = NSLock()
    private var ends: [Int: (at: Date, text: String)] = [:]

    func note(_ index: Int, _ text: String) { lock.withLock { ends[index] = (Date(), text) } }
    var all: [Int: (at: Date, text: String)] { lock.withLock { ends } }
}

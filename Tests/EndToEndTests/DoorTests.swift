import Foundation
import TestSupport
import Testing

/// What the API promises to who stands before it: when streams end, what is refused at once, who gets a place, and what is told of the server.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DoorTests {
    private let daemon: DaemonProcess
    private let api: APIClient

    init() throws {
        daemon = try DaemonProcess("n")
        try daemon.start(isTalking: true)
        api = APIClient(socket: daemon.store + "/api.sock")
    }

    private func token(_ principal: String, _ role: String) throws -> String {
        let body = #"{"principal":"\#(principal)","roles":["\#(role)"]}"#
        let made = try #require(api.ask("POST", "/v1/credentials", body: body)?.1.first?["token"] as? String)
        let header = "Authorization: Bearer \(made)"
        waitWhile(api.ask("GET", "/v1/me", headers: [header])?.0 == 503)
        return header
    }

    private func append(_ line: String) -> (Int, [[String: Any]], String)? {
        api.ask("POST", "/v1/events", body: line)
    }

    // MARK: What was just answered

    @Test("An answered append is on the next page of changes and of events, and in the next pull of a subscription")
    func readsOwnWrites() throws {
        #expect(api.ask("PUT", "/v1/subscriptions/own", body: #"{"start":"now"}"#)?.0 == 201)
        let page = ["Accept: application/json"]
        var cursor = try #require(
            api.ask("GET", "/v1/changes?after=now", headers: page)?.1.first?["cursor"] as? String)
        var next = try #require(api.ask("GET", "/v1/events")?.1.last?["next"] as? String)
        var taken: [String] = []
        for number in 0..<450 {
            let text = "쓴 글 \(number)."
            let line = #"{"type":"message.posted","user":"kim-\#(number)","data":{"text":"\#(text)"}}"#
            #expect(append(line)?.0 == 200)
            let found: (Int, [[String: Any]], String)?
            switch number % 3 {
            case 0:
                found = api.ask("GET", "/v1/changes?limit=500&after=\(cursor)", headers: page)
                cursor = try #require(found?.1.first?["cursor"] as? String)
            case 1:
                found = api.ask("GET", "/v1/events?limit=500&cursor=\(next)")
                next = try #require(found?.1.last?["next"] as? String)
            default:
                let done = taken.map { "\"\($0)\"" }.joined(separator: ",")
                let body = taken.isEmpty ? #"{"max":500}"# : #"{"max":500,"ack":[\#(done)]}"#
                found = api.ask("POST", "/v1/subscriptions/own/pull", body: body)
                let deliveries = found?.1.first?["deliveries"] as? [[String: Any]] ?? []
                taken = deliveries.compactMap { $0["delivery"] as? String }
            }
            #expect(found?.2.contains(text) == true, "\(number): \(found?.2.suffix(400) ?? "")")
        }
    }

    // MARK: Ids of others

    @Test(
        "No user takes the id that a bot's reply will have, and none is told where an event stands that they do not see"
    )
    func idsOfReplies() throws {
        let message = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
        let question =
            #"{"id":"\#(message)","type":"message.posted","user":"bob","subject":"conversation/c","data":{"text":"?"}}"#
        #expect(append(question)?.0 == 200)
        let alice = try token("alice", "user:alice")
        func keep(_ members: String, _ query: String = "") -> (Int, [[String: Any]], String)? {
            let line = #"{"type":"note.kept","user":"alice","data":{}\#(members)}"#
            return api.ask("POST", "/v1/events" + query, body: line, headers: [alice])
        }
        // reply_id(message, "medibot"), as FORMATS has it.
        for members in [#","id":"0198e2c4-77aa-80a6-bf76-bef8caa642f3""#, #","source":"slack:C1","recordid":"1""#] {
            let taken = try #require(keep(members))
            #expect(taken.0 == 403 && taken.1.first?["code"] as? String == "E_AUTHOR", "\(taken)")
            #expect((taken.1.first?["message"] as? String)?.hasPrefix("id:") == true, "\(taken)")
        }
        // What follows from all that the line says is the user's own; so is what is made by chance.
        let derived = [keep("", "?ids=derived"), keep("", "?ids=derived"), keep(#","id":"\#(UUID())""#)]
        #expect(derived.map { $0?.1.first?["type"] as? String } == ["appended", "already", "appended"])
        let reused = try #require(keep(#","id":"\#(message)""#))
        #expect(reused.0 == 409 && reused.2.contains("E_ID_REUSED") && !reused.2.contains("position"), "\(reused.2)")
        let told = try #require(append(question.replacingOccurrences(of: "?", with: "!")))
        #expect(told.0 == 409 && told.2.contains("at position"), "\(told.2)")
        let bot = try token("medibot", "bot:medibot")
        let reply =
            #"{"id":"0198e2c4-77aa-80a6-bf76-bef8caa642f3","type":"bot.replied","user":"bob","author":"medibot","#
            + #""cause":"\#(message)","subject":"conversation/c","data":{"text":"답"}}"#
        #expect(
            append(#"{"type":"participant.joined","user":"medibot","subject":"conversation/c","data":{}}"#)?.0 == 200)
        #expect(api.ask("POST", "/v1/events", body: reply, headers: [bot])?.0 == 200)
    }

    // MARK: Sessions

    @Test(
        "What a session has opened ends with it, streams and pages that wait; what the token itself has opened goes on"
    )
    func loggingOut() throws {
        let header = try token("app/console", "app")
        let opened = api.raw("POST", "/v1/sessions", headers: [header])
        let set = try #require(opened.split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: ") })
        let secret = try #require(set.dropFirst("Set-Cookie: ".count).split(separator: ";").first)
        let cookie = ["Cookie: \(secret)", "Sec-Fetch-Site: same-origin"]
        #expect(api.ask("PUT", "/v1/subscriptions/s", body: #"{"start":"now"}"#)?.0 == 201)
        let (lines, events) = ("Accept: application/x-ndjson", "Accept: text/event-stream")
        let streams = [
            ("/v1/changes?after=now&live=1", lines), ("/v1/changes?after=now", events),
            ("/v1/subscriptions/s/deliveries", lines), ("/v1/subscriptions/s/deliveries", events),
            ("/v1/changes?after=now&wait_ms=25000", "Accept: application/json"),
        ].map { ($0.0, HandRequest(daemon, "GET", $0.0, cookie + [$0.1])) }
        let cursor = try #require(api.ask("GET", "/v1/events")?.1.last?["next"] as? String)
        let page = HandRequest(daemon, "GET", "/v1/events?wait_ms=25000&cursor=\(cursor)", cookie)
        let own = HandRequest(daemon, "GET", "/v1/changes?after=now", [header, lines])
        usleep(700_000)
        #expect(api.ask("DELETE", "/v1/sessions", headers: cookie)?.0 == 204)
        for (target, stream) in streams {
            let (text, hasEnded) = stream.read(seconds: 4)
            #expect(
                hasEnded && (text.contains("closing") || text.contains("E_UNAUTHENTICATED")), "\(target): \(text)")
        }
        #expect(append(#"{"type":"message.posted","user":"kim","data":{"text":"나중에"}}"#)?.0 == 200)
        let late = page.read(seconds: 4)
        #expect(late.hasEnded && late.text.hasPrefix("HTTP/1.1 401") && !late.text.contains("나중에"), "\(late.text)")
        let still = own.read(seconds: 2)
        #expect(!still.hasEnded && still.text.contains("나중에"), "\(still.text)")
    }

    // MARK: Short forms

    @Test(
        "A search or contact that no list would show is refused as an append is, with code and reason, and not stored"
    )
    func shortForms() throws {
        let cases: [(String, String, String, String)] = [
            ("PUT", "/v1/users/u/searches", #"{"query":""}"#, "query"),
            ("PUT", "/v1/users/u/searches", #"{"query":7}"#, "query"), ("PUT", "/v1/users/u/searches", "{}", "query"),
            ("PUT", "/v1/users/u/searches", #"{"query":"김","scope":"nowhere"}"#, "scope"),
            ("PUT", "/v1/users/u/searches", #"{"query":"김","scope":3}"#, "scope"),
            ("PUT", "/v1/users/u/searches", #"{"query":"\#(String(repeating: "가", count: 400))"}"#, "query"),
            ("DELETE", "/v1/users/u/searches?query=", "", "query"),
            ("PUT", "/v1/users/u/contacts/v", #"{"name":5}"#, "name"),
            ("PUT", "/v1/users/u/contacts/v", #"{"phoneNumber":["010"]}"#, "phoneNumber"),
        ]
        let before = try #require(try daemon.status()["position"] as? Int)
        for (method, target, body, member) in cases {
            let answer = try #require(api.ask(method, target, body: body))
            #expect(
                answer.0 == 422 && answer.1.first?["type"] as? String == "rejected", "\(target) \(body): \(answer)")
            #expect(answer.1.first?["code"] as? String == "E_PAYLOAD_FORM", "\(answer.2)")
            #expect((answer.1.first?["message"] as? String)?.hasPrefix(member) == true, "\(answer.2)")
        }
        #expect(api.ask("GET", "/v1/quarantine")?.1.last?["quarantined"] as? Int == 0)
        #expect(try daemon.status()["position"] as? Int == before)
        #expect(api.ask("PUT", "/v1/users/u/contacts/v", body: #"{"name":null,"source":"qr"}"#)?.0 == 200)
        #expect(api.ask("PUT", "/v1/users/u/searches", body: #"{"query":"김"}"#)?.0 == 200)
        #expect(api.ask("GET", "/v1/users/u/searches")?.1.first?["query"] as? String == "김")
        #expect(api.ask("GET", "/v1/quarantine")?.1.last?["quarantined"] as? Int == 0)
    }

    // MARK: Lengths

    @Test(
        "A length that is none, or is beyond 64 bits, is refused at once, on every route",
        arguments: [
            "Content-Length: 18446744073709551616", "Content-Length: 99999999999999999999999999",
            "Content-Length: -1",
            "Content-Length: +5", "Content-Length: five", "Content-Length: 0x5", "Content-Length: ",
            "Content-Length: 5, 5",
            "Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5\r\nContent-Length: 6",
        ])
    func lengths(line: String) {
        for target in ["/v1/attachments", "/v1/events", "/v1/credentials"] {
            let start = Date()
            let request = HandRequest(daemon, "POST", target, [line], body: "hello")
            let (text, hasEnded) = request.read(seconds: 5)
            #expect(
                hasEnded && text.hasPrefix("HTTP/1.1 400 ") && text.contains("E_HTTP"), "\(target) \(line): \(text)")
            #expect(Date().timeIntervalSince(start) < 2, "\(target) \(line)")
        }
    }

    // MARK: Places

    private func slowUpload(_ header: String) -> HandRequest {
        HandRequest(
            daemon, "POST", "/v1/attachments", [header, "Content-Type: text/plain", "Content-Length: 100000"],
            body: "안녕")
    }

    @Test(
        "No one takes all places for attachments that come: others get theirs, and who has enough is told when to come again (INV-9)"
    )
    func places() throws {
        let greedy = [try token("user/greedy", "user:greedy"), try token("user/greedy", "user:greedy")]
        let uploads = (0..<16).map { slowUpload(greedy[$0 % 2]) }
        let refused = uploads.filter { $0.status(seconds: 0.4) != nil }
        #expect((8...12).contains(refused.count), "\(16 - refused.count) of 16 places are one's")
        for upload in refused {
            let text = upload.read(seconds: 2).text
            #expect(text.hasPrefix("HTTP/1.1 429 ") && text.contains("E_RATE"), "\(text)")
            #expect(text.contains("Retry-After: ") && text.contains("are for others"), "\(text)")
        }
        // Three others come, who send slowly, too, and one who sends at once.
        let others = try (1...3).map { slowUpload(try token("user/u\($0)", "user:u\($0)")) }
        for other in others { #expect(other.status(seconds: 0.3) == nil, "it is taken, and waits for the rest") }
        let quick = try token("user/quick", "user:quick")
        let type = "Content-Type: text/plain"
        #expect(api.ask("POST", "/v1/attachments", body: "하나", headers: [quick, type])?.0 == 201)
        // Whose uploads are over may send others.
        withExtendedLifetime(uploads) {}
    }

    @Test("A place that was given back can be taken by the same one again")
    func givenBack() throws {
        let header = try token("user/u", "user:u")
        var uploads = (0..<9).map { _ in slowUpload(header) }
        #expect(uploads[8].status(seconds: 1) == 429)
        uploads.removeAll()
        var status: Int?
        for _ in 0..<1_200 where status != 201 {
            status = api.ask("POST", "/v1/attachments", body: "하나", headers: [header, "Content-Type: text/plain"])?.0
            usleep(50_000)
        }
        #expect(status == 201)
        usleep(300_000)
        let again = (0..<8).map { _ in slowUpload(header) }
        #expect(again.allSatisfy { $0.status(seconds: 0.2) == nil }, "all places are free again")
    }

    // MARK: Paths

    @Test("An answer names no path of the server, whatever is wrong with its files; the daemon's log does")
    func paths() throws {
        func put() -> (Int, [[String: Any]], String)? {
            api.ask("POST", "/v1/attachments", body: "하나", headers: ["Content-Type: text/plain"])
        }
        let digest = try #require(put()?.1.first?["sha256"] as? String)
        let item = #"{"sha256":"\#(digest)","bytes":6}"#
        #expect(
            append(#"{"type":"message.posted","user":"kim","data":{"attachments":[\#(item)]}}"#)?.0 == 200)
        #expect(api.ask("GET", "/v1/attachments/\(digest)")?.0 == 200)
        // Where its bytes stood there is no file any more (a link would be put aside).
        let blob = "\(daemon.store)/attachments/\(digest.prefix(2))/\(digest)"
        try FileManager.default.removeItem(atPath: blob)
        try FileManager.default.createDirectory(atPath: blob, withIntermediateDirectories: false)
        for answer in [put(), api.ask("GET", "/v1/attachments/\(digest)"), put()] {
            let answer = try #require(answer)
            #expect(answer.0 == 500 && answer.1.first?["code"] as? String == "E_UNSAFE", "\(answer)")
            for part in [daemon.store, "/tmp", blob] { #expect(!answer.2.contains(part), "\(part): \(answer.2)") }
            #expect(answer.2.contains("the daemon's log"), "\(answer.2)")
        }
        waitWhile(!daemon.said.contains("is no file"))
        // Each of them once, however often it is asked for.
        let told = daemon.said.split(separator: "\n").filter { $0.contains("E_UNSAFE") }
        #expect(told.allSatisfy { $0.contains(blob) } && (1...2).contains(told.count), "\(daemon.said)")
        #expect(Set(told).count == told.count, "\(told)")
    }

    // MARK: Moderators

    @Test("A moderator whom a request names can retract in the same request, as in the next; no one else can")
    func moderators() throws {
        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
        func started(_ room: String) -> String {
            #"{"type":"conversation.started","user":"kim","subject":"conversation/\#(room)","data":{"moderators":["lee"]}}"#
        }
        func posted(_ room: String, _ id: String) -> String {
            #"{"id":"\#(id)","type":"message.posted","user":"kim","subject":"conversation/\#(room)","data":{"text":"욕설"}}"#
        }
        func retracted(_ room: String, _ id: String, by author: String = "lee") -> String {
            #"{"type":"message.retracted","user":"kim","author":"\#(author)","subject":"conversation/\#(room)","data":{"message":"\#(id)"}}"#
        }
        func isRetracted(_ room: String) -> Bool {
            let rows = api.ask("GET", "/v1/conversations/\(room)/rows")?.1 ?? []
            return rows.contains { $0["retracted"] != nil }
        }
        // All in one.
        let all = append([started("a"), posted("a", id), retracted("a", id)].joined(separator: "\n"))
        #expect(all?.0 == 200, "\(String(describing: all))")
        #expect(isRetracted("a"))
        // Of a message that is there already.
        let second = id.dropLast() + "e"
        #expect(append(posted("b", String(second)))?.0 == 200)
        let granted = append([started("b"), retracted("b", String(second))].joined(separator: "\n"))
        #expect(granted?.0 == 200, "\(String(describing: granted))")
        #expect(isRetracted("b"))
        // Not before it is named, not by another, and not where the conversation was opened by another event.
        let third = String(id.dropLast() + "d")
        #expect(append(posted("c", third))?.0 == 200)
        for lines in [[retracted("c", third), started("c")], [started("c"), retracted("c", third, by: "park")]] {
            let refused = append(lines.joined(separator: "\n"))
            #expect(
                refused?.0 == 403 && refused?.2.contains("E_NOT_AUTHOR") == true, "\(String(describing: refused))")
        }
        #expect(
            append(#"{"type":"conversation.started","user":"kim","subject":"conversation/c","data":{}}"#)?.0 == 200)
        #expect(append([started("c"), retracted("c", third)].joined(separator: "\n"))?.0 == 403)
        #expect(!isRetracted("c"))
    }

    // MARK: Lists

    /// All lines of a list, page by page, and how many pages there were.
    private func pages(_ target: String, limit: Int, key: String) throws -> (keys: [String], pages: Int) {
        var (keys, pages) = ([String](), 0)
        var next: String?
        repeat {
            let more = next.map { "&cursor=\($0)" } ?? ""
            let mark = target.contains("?") ? "&" : "?"
            let answer = try #require(api.ask("GET", "\(target)\(mark)limit=\(limit)\(more)"))
            #expect(answer.0 == 200, "\(target): \(answer.2)")
            let end = try #require(answer.1.last)
            let lines = answer.1.dropLast()
            #expect(lines.count <= limit && end["type"] as? String == "end" && end["more"] is Bool, "\(answer.2)")
            keys += lines.map { "\($0[key] ?? "")" }
            next = end["next"] as? String
            #expect((next != nil) == (end["more"] as? Bool == true))
            pages += 1
        } while next != nil && pages < 50
        return (keys, pages)
    }

    @Test(
        "Lists of administration come in pages: none repeats or misses a line, and a cursor is of use with its list alone (INV-9)"
    )
    func lists() throws {
        for number in 0..<5 {
            _ = try token("app/\(number)", "app")
            #expect(
                api.ask("PUT", "/v1/subscriptions/s\(number)", body: #"{"start":"first","attempts":1}"#)?.0 == 201)
            // The views cannot read it.
            #expect(append(#"{"type":"message.posted","user":"kim","data":{"text":5}}"#)?.0 == 200)
        }
        var events: [String] = []
        for number in 0..<5 {
            let answer = append(
                #"{"type":"message.posted","user":"u\#(number)","data":{"text":"글","attachments":[{"sha256":"\#(String(repeating: "\(number)a", count: 32))","bytes":9}]}}"#
            )
            events.append(try #require(answer?.1.first?["id"] as? String))
        }
        let pulled = try #require(
            api.ask("POST", "/v1/subscriptions/s0/pull", body: #"{"max":20,"wait_ms":2000}"#)?.1.first)
        let tokens = ((pulled["deliveries"] as? [[String: Any]]) ?? []).compactMap { $0["delivery"] as? String }
        let parking = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        #expect(tokens.count >= 6)
        #expect(
            api.ask("POST", "/v1/subscriptions/s0/park", body: #"{"deliveries":[\#(parking)],"reason":"x"}"#)?.0
                == 200)
        for event in events.prefix(3) {
            let body = #"{"events":["\#(event)"],"reason":"요청","who":"kim","authored":true}"#
            #expect(api.ask("POST", "/v1/erasures", body: body)?.0 == 202)
        }
        let cases = [
            ("/v1/credentials", "credential", 5), ("/v1/subscriptions", "name", 5),
            ("/v1/subscriptions/s0/parked", "event", tokens.count), ("/v1/erasures", "event", 3),
            ("/v1/quarantine", "position", 5), ("/v1/attachments?state=missing", "sha256", 2),
        ]
        for (target, key, count) in cases {
            if target.contains("missing") {
                try waitWhile(every: 100_000, pages(target, limit: 500, key: key).keys.count != count)
            }
            let whole = try pages(target, limit: 500, key: key)
            #expect(
                whole.pages == 1 && whole.keys.count == count && Set(whole.keys).count == count, "\(target) \(whole)")
            for limit in [1, 2] {
                let parts = try pages(target, limit: limit, key: key)
                #expect(parts.keys == whole.keys && parts.pages == (count + limit - 1) / limit, "\(target) \(parts)")
            }
            let mark = target.contains("?") ? "&" : "?"
            #expect(api.ask("GET", "\(target)\(mark)limit=501")?.0 == 400, "\(target)")
            #expect(api.ask("GET", "\(target)\(mark)cursor=00ff")?.0 == 400, "\(target)")
        }
        let cursor = try #require(api.ask("GET", "/v1/credentials?limit=1")?.1.last?["next"] as? String)
        #expect(api.ask("GET", "/v1/subscriptions?cursor=\(cursor)")?.0 == 400)
        #expect(try daemon.syncctl("tokens", "--json").lines.count == 6)
    }

    @Test("More attachments are listed by how they stand than a page has")
    func missing() throws {
        var count = 0
        for round in 0..<3 {
            let items = (0..<200).map { number in
                let digits = String(round * 1_000 + number, radix: 16)
                let digest = String(repeating: "0", count: 64 - digits.count) + digits
                return #"{"sha256":"\#(digest)","bytes":9}"#
            }
            count += items.count
            let line =
                #"{"type":"message.posted","user":"kim","data":{"attachments":[\#(items.joined(separator: ","))]}}"#
            #expect(append(line)?.0 == 200)
        }
        var listed = 0
        for _ in 0..<600 where listed != count {
            let run = try daemon.syncctl("attachment", "list", "--missing", "--last", "1000", "--json")
            listed = Set(run.lines.compactMap { $0["sha256"] as? String }).count
            usleep(100_000)
        }
        #expect(listed == count)
        #expect(
            try daemon.syncctl("attachment", "list", "--missing", "--last", "7", "--json").lines.count == 8)
    }

    @Test("stats tells how many users there are, of the daemon and of the files")
    func users() throws {
        for name in ["하늘", "바다", "산"] {
            let line = #"{"type":"profile.changed","user":"\#(name)","data":{"fields":{"name":"\#(name)"}}}"#
            #expect(append(line)?.0 == 200)
        }
        func users() throws -> Int? { try daemon.syncctl("stats", "--json").lines.first?["users"] as? Int }
        try waitWhile(every: 100_000, users() != 3)
        #expect(try users() == 3)
        #expect(try daemon.syncctl("stats", "--lang", "ko").output.contains("사용자"))
        #expect(daemon.terminate() == 0)
        #expect(try users() == 3)
    }
}

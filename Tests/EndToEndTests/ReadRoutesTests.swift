import Foundation
import TestSupport
import Testing

/// What is stored can be read through the socket: the same lines as on the command line, fresh, in pages (INV-6, INV-9).
@Suite(.serialized)
struct ReadRoutesTests {
    private func daemon() throws -> (DaemonProcess, APIClient) {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        return (daemon, APIClient(socket: daemon.store + "/api.sock"))
    }

    private func text(_ lines: [[String: Any]]) -> [String] {
        lines.compactMap { line in
            (try? JSONSerialization.data(withJSONObject: line, options: .sortedKeys)).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }

    private func lines(_ api: APIClient, _ target: String) throws -> [[String: Any]] {
        let answer = try #require(api.ask("GET", target), "\(target)")
        try #require(answer.0 == 200, "\(target): \(answer)")
        let end = try #require(answer.1.last)
        #expect(end["type"] as? String == "end" && end["count"] as? Int == answer.1.count - 1)
        #expect(end["position"] is Int && end["more"] is Bool)
        return answer.1
    }

    private static let forms = [[], ["--json"], ["--plain"]]

    /// All pages of an answer, without their last lines.
    private func walk(
        _ api: APIClient, _ target: String, between: (Int) throws -> Void = { _ in }
    ) throws -> [[String: Any]] {
        var found: [[String: Any]] = []
        var cursor: String?
        var pages = 0
        repeat {
            let join = target.contains("?") ? "&" : "?"
            let page = try lines(api, target + (cursor.map { "\(join)cursor=\($0)" } ?? ""))
            found += page.dropLast()
            cursor = page.last?["more"] as? Bool == true ? page.last?["next"] as? String : nil
            #expect((cursor != nil) == (page.last?["more"] as? Bool))
            pages += 1
            try between(pages)
        } while cursor != nil
        return found
    }

    @Test("An id leads to the event that counts, also where a twin of it came first (INV-6)")
    func countingTwin() throws {
        let (a, b) = try makePair()
        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
        b.kill()
        #expect(try a.syncctl("append", "--user", "u", "--id", id, "--text", "안녕").code == 0)
        let origin = try #require(try a.status()["origin"] as? String)
        a.kill()
        #expect(try b.syncctl("append", "--user", "u", "--id", id, "--text", "안녕").code == 0)
        try a.start()
        #expect(
            try b.syncctl("peers", "remove", "a").code == 0
                && b.syncctl("peers", "add", "a", "\(a.node())@127.0.0.1:\(a.port())").code == 0)
        try b.start()
        #expect(try !converge(a, b).isEmpty)
        for node in [a, b] {
            let found = try lines(APIClient(socket: node.store + "/api.sock"), "/v1/events/\(id)")
            #expect((found.first?["source"] as? String)?.hasSuffix(origin) == true, "\(found)")
            #expect(found.first?["twinof"] == nil, "\(found)")
            let shown = try node.syncctl("show", id, "--json").lines.first
            #expect((shown?["source"] as? String)?.hasSuffix(origin) == true && shown?["twinof"] == nil)
        }
    }

    @Test("Each route gives the lines that the command line prints, and that prints the same without the daemon")
    func sameLines() throws {
        let (daemon, api) = try daemon()
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Examples/sample.ndjson")
        let sample = try String(contentsOf: file, encoding: .utf8)
        #expect(api.ask("POST", "/v1/events", body: sample)?.0 == 200)
        let texts = ["처음", "둘째", "셋째"].enumerated().map { number, text in
            #"{"id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e0\#(number)","type":"message.posted","user":"node/하늘 a","#
                + #""subject":"conversation/c d","data":{"text":"\#(text)"}}"#
        }
        #expect(api.ask("POST", "/v1/events", body: texts.joined(separator: "\n"))?.0 == 200)
        let edit =
            #"{"type":"message.edited","user":"node/하늘 a","subject":"conversation/c d","#
            + #""data":{"message":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e01","text":"둘째!"}}"#
        let retraction =
            #"{"type":"message.retracted","user":"node/하늘 a","subject":"conversation/c d","#
            + #""data":{"message":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e02","reason":"잘못"}}"#
        // What another user does to a message counts for nothing, and stands between what counts, in the order in which it was done.
        let others = [edit, retraction].map { $0.replacing(#""user":"node/하늘 a""#, with: #""user":"mallory""#) }
        let all = [edit] + others + [retraction, edit] + others
        #expect(api.ask("POST", "/v1/events", body: others[0])?.0 == 403)
        // An import may have them.
        let stamped = all.enumerated().map { index, line in
            line.replacing(#"{"type""#, with: #"{"id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4f0\#(index)","type""#)
        }
        #expect(api.ask("POST", "/v1/events?ids=derived", body: stamped.joined(separator: "\n"))?.0 == 200)
        let user = "node%2F%ED%95%98%EB%8A%98%20a"
        let pairs: [(String, [String])] = [
            ("/v1/users/\(user)/history?order=oldest", ["history", "node/하늘 a"]),
            ("/v1/users/haneul/history?order=oldest", ["history", "haneul"]),
            (
                "/v1/users/haneul/history?order=oldest&type=survey.answered",
                ["history", "haneul", "--type", "survey.answered"]
            ),
            (
                "/v1/users/haneul/history?order=oldest&conversation=headache&author=medibot",
                ["history", "haneul", "--conversation", "headache", "--author", "medibot"]
            ),
            (
                "/v1/users/haneul/history?order=oldest&since=2026-08-01T11:02:10%2B09:00&until=2026-08-01T02:03:01Z",
                ["history", "haneul", "--since", "2026-08-01T11:02:10+09:00", "--until", "2026-08-01T02:03:01Z"]
            ),
            (
                "/v1/conversations/headache/rows?order=oldest&role=assistant",
                ["conversation", "headache", "--role", "assistant"]
            ),
            (
                "/v1/conversations/headache/rows?order=oldest&role=all&type=bot.replied&type=survey.answered",
                ["conversation", "headache", "--role", "all", "--type", "bot.replied", "--type", "survey.answered"]
            ),
            ("/v1/conversations/c%20d/rows?order=oldest", ["conversation", "c d"]),
            ("/v1/conversations/headache/rows?order=oldest", ["conversation", "headache"]),
            ("/v1/conversations/c%20d/rows?order=oldest", ["conversation", "c d", "--full", "--original"]),
            ("/v1/conversations", ["conversations"]), ("/v1/users/haneul", ["profile", "haneul"]),
            ("/v1/surveys", ["survey"]), ("/v1/surveys/satisfaction", ["survey", "satisfaction"]),
            ("/v1/surveys/satisfaction?question=pain", ["survey", "satisfaction", "--question", "pain"]),
            ("/v1/events?limit=500", ["export"]),
            (
                "/v1/events/0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e01",
                ["show", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e01"]
            ),
        ]
        var printed: [[String]: String] = [:]
        for (target, command) in pairs {
            for form in Self.forms {
                let run = try Programs.syncctl(daemon.store, command + form)
                #expect(run.code == 0, "\(command + form): \(run.errors)")
                printed[command + form] = run.output
            }
            let there = try Programs.syncctl(daemon.store, command + ["--json"]).lines.dropLast()
            #expect(!there.isEmpty, "\(command)")
            #expect(text(try lines(api, target).dropLast()) == text(Array(there)), "\(target)")
            let reversed = target.replacingOccurrences(of: "order=oldest", with: "order=newest")
            if reversed != target {
                #expect(text(try lines(api, reversed).dropLast().reversed()) == text(Array(there)), "\(reversed)")
            }
        }
        // A role and a type that no event has both.
        #expect(try lines(api, "/v1/conversations/headache/rows?role=user&type=bot.replied").count == 1)
        let one = try lines(api, "/v1/conversations/headache")
        #expect(one.compactMap { $0["user"] as? String } == ["haneul", "medibot"])
        #expect(one.first?["title"] as? String == "두통 상담")
        let participants = try walk(api, "/v1/conversations/headache?limit=1")
        #expect(participants.compactMap { $0["user"] as? String } == ["haneul", "medibot"])
        #expect(daemon.terminate() == 0)
        for (command, output) in printed {
            #expect(try Programs.syncctl(daemon.store, command).output == output, "\(command)")
        }
    }

    @Test(
        "Pages repeat and skip nothing, whatever is appended meanwhile, also before what was read",
        arguments: [7, 50])
    func pages(limit: Int) throws {
        let (daemon, api) = try daemon()
        // Many at one moment: their order is that of their dots.
        let events = (0..<400).map { number in
            #"{"type":"message.posted","user":"u","subject":"conversation/c","time":"2026-08-01T02:00:0\#(number / 60).000Z","#
                + #""data":{"text":"\#(number)"}}"#
        }
        #expect(api.ask("POST", "/v1/events", body: events.joined(separator: "\n"))?.0 == 200)
        func said(_ lines: [[String: Any]]) -> [String] {
            lines.compactMap { (($0["event"] as? [String: Any])?["data"] as? [String: Any])?["text"] as? String }
        }
        let wanted = said(try Programs.syncctl(daemon.store, ["conversation", "c", "--json"]).lines)
        #expect(wanted.count == 400)
        var stored = 0
        func late(_ number: Int) throws {
            let event =
                #"{"type":"message.posted","user":"u","subject":"conversation/c","time":"2026-08-01T02:00:03.500Z","#
                + #""data":{"text":"late \#(number)"}}"#
            try #require(api.ask("POST", "/v1/events", body: event)?.0 == 200)
            stored += 1
        }
        for target in ["/v1/conversations/c/rows?limit=\(limit)", "/v1/users/u/history?limit=\(limit)"] {
            // What came after the first page is on no page.
            for order in ["newest", "oldest"] {
                let before = stored
                let found = said(try walk(api, target + "&order=\(order)", between: late))
                let first = found.filter { !$0.hasPrefix("late") }
                #expect((order == "newest" ? first.reversed() : first) == wanted)
                #expect(found.count - first.count == before && stored > before, "\(order)")
            }
        }
        let log = try walk(api, "/v1/events?limit=\(limit)")
        #expect(log.compactMap { $0["position"] as? String } == (1...log.count).map(String.init))
        #expect(daemon.terminate() == 0)
    }

    @Test("An answer shows all that was acknowledged when it was asked for")
    func fresh() throws {
        let (daemon, api) = try daemon()
        for number in 0..<150 {
            let event =
                #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"\#(number)"}}"#
            try #require(api.ask("POST", "/v1/events", body: event)?.0 == 200)
            let target = ["/v1/users/u/history?limit=1", "/v1/conversations/c/rows?limit=1"][number % 2]
            let event1 = try #require(try lines(api, target).first?["event"] as? [String: Any])
            #expect((event1["data"] as? [String: Any])?["text"] as? String == "\(number)")
        }
        #expect(daemon.terminate() == 0)
    }

    @Test(
        "What was written at one node is read at the other at once with at_least; what does not come is said after two seconds"
    )
    func readYourWrite() throws {
        let (a, b) = try makePair()
        let clients = [a, b].map { APIClient(socket: $0.store + "/api.sock") }
        var place = ""
        for number in 0..<40 {
            let (writer, reader) = (clients[number % 2], clients[(number + 1) % 2])
            let line =
                #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"글 \#(number)"}}"#
            let stored = try #require(writer.ask("POST", "/v1/events", body: line)?.1.first)
            place = "\(try #require(stored["origin"] as? String))/\(try #require(stored["sequence"] as? Int))"
            let paths = [
                "users/u/history?limit=1&", "conversations/c/rows?limit=1&", "events/\(stored["id"] ?? "")?",
            ]
            let answer = try #require(reader.ask("GET", "/v1/\(paths[number % 3])at_least=\(place)"))
            #expect(answer.0 == 200 && answer.2.contains("글 \(number)"), "\(answer)")
        }
        // A page's cursor does not depend on it.
        let page = try #require(clients[0].ask("GET", "/v1/users/u/history?limit=1&at_least=\(place)")?.1.last)
        let next = try #require(page["next"] as? String)
        #expect(clients[0].ask("GET", "/v1/users/u/history?limit=1&cursor=\(next)")?.0 == 200)
        let never = place + "000"
        let start = Date()
        let answer = try #require(clients[1].ask("GET", "/v1/surveys?at_least=\(never)"))
        #expect(answer.0 == 503 && answer.2.contains(never) && answer.2.contains("E_BUSY"), "\(answer)")
        #expect((1.8...6).contains(Date().timeIntervalSince(start)))
        for bad in ["", "x", "1", "7/7"] {
            #expect(clients[0].ask("GET", "/v1/surveys?at_least=\(bad)")?.0 == 400, "\(bad)")
        }
    }

    @Test("A place in another log, or in what a log has lost, is refused by every reader that keeps one (INV-1)")
    func lostPlaces() throws {
        let (daemon, api) = try daemon()
        func post(_ text: String) -> Bool {
            let event = #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"\#(text)"}}"#
            return api.ask("POST", "/v1/events", body: event)?.0 == 200
        }
        for number in 0..<8 { #expect(post("old \(number)")) }
        let kept = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: kept.path, withIntermediateDirectories: true)
        let file = kept.file("cursor")
        #expect(try Programs.syncctl(daemon.store, ["tail", "--cursor-file", file, "--from-start"]).code == 0)
        let place = try #require(try lines(api, "/v1/events?limit=500").last?["next"] as? String)
        let page = try #require(try lines(api, "/v1/users/u/history?limit=2").last?["next"] as? String)
        #expect(try lines(api, "/v1/events?wait_ms=10&cursor=\(place)").count == 1)
        // The log is cut, and other events get the same positions.
        daemon.kill()
        try FileManager.default.removeItem(atPath: daemon.store + "/log.db-wal")
        try daemon.start()
        func refused(_ target: String, _ api: APIClient) throws {
            let answer = try #require(api.ask("GET", target))
            #expect(answer.0 == 409 && answer.1.first?["code"] as? String == "E_CURSOR", "\(target): \(answer)")
        }
        // Before the log has that position again, and after it.
        for _ in 0..<3 {
            try refused("/v1/events?wait_ms=5000&cursor=\(place)", api)
            try refused("/v1/users/u/history?limit=2&cursor=\(page)", api)
            let tail = try Programs.syncctl(daemon.store, ["tail", "--cursor-file", file])
            #expect(tail.code == 65 && tail.errors.contains("[E_CURSOR]"), "\(tail.errors)")
            for number in 0..<6 { #expect(post("new \(number)")) }
        }
        for after in ["500", "9999999"] {
            let export = try Programs.syncctl(daemon.store, ["export", "--after", after])
            #expect(export.code == 64 && export.errors.contains("[E_POSITION]"), "\(export.errors)")
        }
        let here = try #require(try lines(api, "/v1/events?limit=500").last?["next"] as? String)
        let (other, otherAPI) = try self.daemon()
        try refused("/v1/events?cursor=\(here)", otherAPI)
        #expect(other.terminate() == 0)
        #expect(daemon.terminate() == 0)
    }

    @Test("What cannot be answered is refused, and says by which name and how")
    func refusals() throws {
        let (daemon, api) = try daemon()
        let event = #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"a"}}"#
        #expect(api.ask("POST", "/v1/events", body: event + "\n" + event)?.0 == 200)
        let next = try #require(try lines(api, "/v1/users/u/history?limit=1").last?["next"] as? String)
        func refusal(_ method: String, _ target: String) throws -> (Int, String, String) {
            let answer = try #require(api.ask(method, target), "\(target)")
            let error = answer.1.first
            return (answer.0, error?["code"] as? String ?? "", error?["detail"] as? String ?? "")
        }
        #expect(try lines(api, "/v1/users/u/history?limit=2&cursor=\(next)").count == 2)
        let history = "/v1/users/u/history"
        let bad: [(String, String)] = [
            (history + "?limit=0", "limit"), (history + "?limit=501", "limit"), (history + "?limit=-1", "limit"),
            (history + "?limit=99999999999999999999", "limit"), (history + "?limit=1&limit=2", "limit"),
            (history + "?order=up", "order"), (history + "?role=bot", "role"),
            (history + "?since=yesterday", "since"), (history + "?until=", "until"),
            (history + "?known_at=9223372036854775808", "known_at"), (history + "?typ=a", "typ"),
            (history + "?cursor=", "cursor"), (history + "?cursor=00", "cursor"),
            (history + "?type=note&cursor=\(next)", "cursor"), ("/v1/users/v/history?cursor=\(next)", "cursor"),
            ("/v1/conversations/c/rows?cursor=\(next)", "cursor"), ("/v1/events?cursor=\(next)", "cursor"),
            (history + "?cursor=" + String(next.dropLast(2)), "cursor"),
            ("/v1/conversations/c/rows?conversation=c", "conversation"),
            ("/v1/conversations/c?order=oldest", "order"),
        ]
        for (target, name) in bad {
            let answer = try refusal("GET", target)
            #expect(answer.0 == 400 && answer.1 == "E_PARAMETER" && answer.2.hasPrefix(name), "\(target): \(answer)")
        }
        for target in [
            "/v1/events/1", "/v1/events/0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e01", "/v1/conversations/x", "/v1/user",
            "/v1/users/u/x", "/v1/conversations/c/rows/x", "/v1/surveys/a/b",
        ] {
            let answer = try refusal("GET", target)
            #expect(answer.0 == 404 && answer.1 == "E_NOT_FOUND", "\(target): \(answer)")
        }
        for target in [history, "/v1/conversations", "/v1/surveys/s"] {
            #expect(try refusal("POST", target).0 == 405, "\(target)")
        }
        for target in ["/v1/users/nobody/history", "/v1/conversations/x/rows", "/v1/users/nobody", "/v1/surveys/s"] {
            #expect(try lines(api, target).count == 1, "\(target)")
        }
        #expect(api.ask("HEAD", history)?.0 == 200)
        #expect(daemon.terminate() == 0)
    }

    @Test("A bot follows the log by its cursor: each event once, as soon as it is durable, across a kill (INV-1)")
    func follow() throws {
        let (daemon, api) = try daemon()
        let place = try #require(try lines(api, "/v1/events?limit=500").last?["next"] as? String)
        let start = Date()
        #expect(try lines(api, "/v1/events?wait_ms=300&cursor=\(place)").count == 1)
        let waited = Date().timeIntervalSince(start)
        #expect(waited > 0.25 && waited < 3)
        func post(_ text: String) -> Bool {
            let event = #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"\#(text)"}}"#
            return api.ask("POST", "/v1/events", body: event)?.0 == 200
        }
        // One that waits is woken.
        let waiting = Follower(api, from: place, until: 1)
        usleep(300_000)
        #expect(post("first"))
        waiting.finish()
        #expect(waiting.refusals == 0)
        #expect(waiting.texts == ["first"] && waiting.longest < 1, "woken after \(waiting.longest) s")
        let next = try #require(try lines(api, "/v1/events?cursor=\(place)").last?["next"] as? String)
        let total = 200
        let seen = Follower(api, from: next, until: total)
        for number in 0..<total {
            let event =
                #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"\#(number)"}}"#
            while api.ask(
                "POST", "/v1/events",
                body: event.replacingOccurrences(of: "{\"type\"", with: "{\"id\":\"\(UUID())\",\"type\""))?.0 != 200
            {}
            if number == total / 2 {
                daemon.kill()
                try daemon.start()
            }
        }
        seen.finish()
        #expect(seen.texts == (0..<total).map(String.init))
        #expect(seen.longest < 1, "an event that was there came after \(seen.longest) s")
        let bad = try #require(api.ask("GET", "/v1/events?wait_ms=25001"))
        #expect(bad.0 == 400)
        #expect(daemon.terminate() == 0)
    }
}

/// A bot that asks on from its cursor until it has so many messages, whatever happens to the daemon.
private final class Follower: @unchecked Sendable {
    private(set) var texts: [String] = []
    /// From the moment at which an event was recorded to that at which it was here, seconds.
    private(set) var longest = 0.0
    private(set) var refusals = 0
    private let done = DispatchSemaphore(value: 0)

    /// `@unchecked Sendable`: its thread alone writes, and ``finish()`` waits for its end.
    init(_ api: APIClient, from place: String, until total: Int) {
        Thread { [self] in
            var place = place
            let end = Date().addingTimeInterval(60)
            while texts.count < total, Date() < end {
                let answer = api.ask("GET", "/v1/events?wait_ms=5000&cursor=\(place)", seconds: 30)
                if let answer, answer.0 != 200 { refusals += 1 }
                guard let answer, answer.0 == 200, let next = answer.1.last?["next"] as? String
                else { continue }
                for line in answer.1.dropLast() where line["type"] as? String == "message.posted" {
                    texts.append((line["data"] as? [String: Any])?["text"] as? String ?? "")
                    let hlc = (line["hlc"] as? String ?? "").prefix(12)
                    let recorded = Double(UInt64(hlc, radix: 16) ?? 0) / 1_000
                    longest = max(longest, Date().timeIntervalSince1970 - recorded)
                }
                place = next
            }
            done.signal()
        }.start()
    }

    func finish() { done.wait() }
}

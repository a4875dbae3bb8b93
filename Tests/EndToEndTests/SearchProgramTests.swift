import Foundation
import TestSupport
import Testing

/// The search through the real programs: of a daemon, of its files, and for those who see a part of it (D15, INV-17).
@Suite(.serialized)
struct SearchProgramTests {
    private static let lines = [
        #"{"type":"conversation.started","user":"kim","subject":"conversation/c-1","data":{"title":"두통 상담"}}"#,
        message(1, "kim", "c-1", "어제부터 편두통이 심해요"), message(2, "kim", "c-1", "약은 먹었어요"),
        #"{"id":"\#(id(3))","type":"bot.replied","user":"kim","author":"medibot","subject":"conversation/c-1","#
            + #""time":"2026-08-01T02:00:03Z","data":{"text":"두통은 두통약으로 😀 두통"}}"#,
        message(4, "lee", "c-2", "편지 두 통, Kim 에게 3통"),
        #"{"type":"message.edited","user":"lee","subject":"conversation/c-2","#
            + #""data":{"message":"\#(id(4))","text":"두통 아님"}}"#,
        #"{"type":"profile.changed","user":"u-7","data":{"fields":{"name":"김하나"}}}"#,
        #"{"type":"profile.changed","user":"u-8","data":{"fields":{"name":"Kim Ha-na"}}}"#,
        #"{"type":"profile.changed","user":"u-9","data":{"fields":{"name":"이둘"}}}"#,
    ].joined(separator: "\n")

    private static func id(_ number: Int) -> String { "0198e2c4-77aa-7c01-8b1e-0a1b2c3d5e0\(number)" }

    private static func message(_ number: Int, _ user: String, _ conversation: String, _ text: String) -> String {
        #"{"id":"\#(id(number))","type":"message.posted","user":"\#(user)","subject":"conversation/\#(conversation)","#
            + #""time":"2026-08-01T02:00:0\#(number)Z","data":{"text":"\#(text)"}}"#
    }

    private func daemon() throws -> (DaemonProcess, APIClient) {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        try #require(api.ask("POST", "/v1/events?ids=derived", body: Self.lines)?.0 == 200)
        return (daemon, api)
    }

    @Test("The same is found through the socket and from the files, in every form, and says whether it is all")
    func sameBothWays() throws {
        let (daemon, _) = try daemon()
        let commands: [[String]] = [
            ["두통"], ["두통", "--rank"], ["두통", "-n", "2"], ["두통", "--total"], ["두통", "-C", "1"], ["두통", "--ids"],
            ["두통", "--user", "kim", "--type", "message.posted"], ["두통", "--bot"], ["두통", "--csv"],
            ["두통", "--rank", "-n", "1"], [#"두통 -"상담""#], ["두통", "--until", "2026-08-01T02:00:02Z"],
        ]
        var printed: [[String]: String] = [:]
        for command in commands {
            for form in command.contains("--csv") ? [[]] : [[], ["--json"], ["--plain"]] {
                let run = try Programs.syncctl(daemon.store, ["search"] + command + form)
                #expect(run.code == 0, "\(command): \(run.errors)")
                printed[command + form] = run.output
            }
        }
        let plain = try #require(printed[["두통", "--plain"]])
        #expect(plain.contains("편[두통]이") && plain.contains("[두통] 아님") && !plain.contains("편지"), "\(plain)")
        let found = try Programs.syncctl(daemon.store, ["search", "두통", "--json"]).lines
        #expect(found.count == 5 && found.last?["complete"] as? Bool == true && found.last?["hits"] as? Int == 4)
        let reply = try #require(found.first { $0["kind"] as? String == "reply" })
        let ranges = try #require(reply["ranges"] as? [[String: [Int]]])
        let text = try #require(reply["text"] as? String)
        #expect(ranges.count == 3)
        for range in ranges {
            let (bytes, units) = (try #require(range["utf8"]), try #require(range["utf16"]))
            #expect(String(decoding: Array(text.utf8)[bytes[0]..<bytes[1]], as: UTF8.self) == "두통")
            #expect(String(decoding: Array(text.utf16)[units[0]..<units[1]], as: UTF16.self) == "두통")
        }
        let cut = try Programs.syncctl(daemon.store, ["search", "두통", "-n", "2", "--json"]).lines
        #expect(cut.last?["complete"] as? Bool == false && cut.count == 3)
        // The reply has the word three times.
        let best = try Programs.syncctl(daemon.store, ["search", "두통", "--rank", "--json"]).lines
        #expect(best.first?["kind"] as? String == "reply" && best.last?["complete"] as? Bool == true)
        let around = try Programs.syncctl(daemon.store, ["search", "두통", "-C", "1", "--bot", "--json"]).lines
        #expect(around.compactMap { $0["context"] as? String } == ["before"], "\(around)")
        #expect(daemon.terminate() == 0)
        for (command, output) in printed {
            #expect(try Programs.syncctl(daemon.store, ["search"] + command).output == output, "\(command)")
        }
    }

    @Test("A -word of its own is one that must not be there; --language finds, and --lang says that it does not")
    func words() throws {
        let (daemon, api) = try daemon()
        let korean = #"{"type":"message.posted","user":"kim","data":{"text":"두통 또","lang":"ko"}}"#
        #expect(api.ask("POST", "/v1/events", body: korean)?.0 == 200)
        func search(_ words: String...) throws -> (texts: Set<String>, errors: String, code: Int32) {
            let run = try Programs.syncctl(daemon.store, ["search", "--json"] + words)
            return (Set(run.lines.compactMap { $0["text"] as? String }), run.errors, run.code)
        }
        let all: Set = ["두통 상담", "어제부터 편두통이 심해요", "두통은 두통약으로 😀 두통", "두통 아님", "두통 또"]
        #expect(try search("두통").texts == all)
        let without = all.subtracting(["두통 상담", "두통은 두통약으로 😀 두통"])
        #expect(try search("두통", "-상담", "-두통약").texts == without)
        #expect(try search("두통", "-상담", "-n", "9", "-두통약", "-C0").texts == without)
        #expect(try search("--", "-상담", "두통", "-두통약").texts == without)
        let unknown = try search("두통", "--상담")
        #expect(unknown.code == 64 && unknown.errors.contains("syncctl search --help"), "\(unknown)")

        let filtered = try search("두통", "--language", "ko")
        #expect(filtered.texts == ["두통 또"] && !filtered.errors.contains("--language"))
        let told = try search("두통", "--lang", "ko")
        #expect(told.texts == all && told.errors.contains("--language ko"), "\(told)")
        #expect(try !search("두통", "--lang", "ko", "--language", "ko").errors.contains("--language"))
        let human = try Programs.syncctl(daemon.store, ["search", "두통", "--lang", "ko"])
        #expect(human.output.contains("작성자") && human.errors.contains("찾으려면 --language ko"), "\(human)")
    }

    @Test("What cannot be looked for is refused, and says what can")
    func refusals() throws {
        let (daemon, api) = try daemon()
        for (words, expected) in [
            ([" !? "], "no words"), (["--", "-두통"], "must not have"), (["\"두통"], "not closed"),
            (["두통", "--rank", "--all"], "--rank"), (["두통", "--total", "--bot"], "--total"),
            (["두통", "--rank", "-n", "501"], "501"), (["두통", "-C", "1", "--csv"], "--around and --csv"),
            ([String(repeating: "가", count: 700)], "2000"),
        ] {
            let run = try Programs.syncctl(daemon.store, ["search"] + words)
            #expect(run.code == 64 && run.errors.contains(expected), "\(words): \(run)")
        }
        #expect(try Programs.syncctl(daemon.store, ["search", "없는말"]).code == 1)
        for target in ["/v1/search", "/v1/search?q=%22", "/v1/search?q=-a", "/v1/search?q=a&count=1&author=u"] {
            let answer = try #require(api.ask("GET", target))
            #expect(answer.0 == 400 && answer.1.first?["hint"] is String, "\(target): \(answer)")
        }
    }

    @Test("Users are found by how their names begin, in any case and normal form, in pages")
    func users() throws {
        let (daemon, api) = try daemon()
        func ids(_ words: String...) throws -> [String] {
            try Programs.syncctl(daemon.store, ["users", "--json"] + words).lines.compactMap { $0["user"] as? String }
        }
        #expect(try ids() == ["u-8", "u-7", "u-9"])
        #expect(try ids("--match", "kim ha") == ["u-8"] && ids("--match", "김하".decomposed) == ["u-7"])
        #expect(try ids("--match", "KIM") == ["u-8"] && ids("--match", "하나").isEmpty && ids("-n", "2").count == 2)
        var (seen, target): ([String], String?) = ([], "/v1/users?limit=1")
        while let next = target {
            let page = try #require(api.ask("GET", next)).1
            seen += page.compactMap { $0["user"] as? String }
            target = (page.last?["next"] as? String).map { "/v1/users?limit=1&cursor=\($0)" }
        }
        #expect(seen == ["u-8", "u-7", "u-9"])
        let renamed = #"{"type":"profile.changed","user":"u-7","data":{"fields":{"name":"박하나"}}}"#
        #expect(api.ask("POST", "/v1/events", body: renamed)?.0 == 200)
        #expect(try ids("--match", "김").isEmpty && ids("--match", "박") == ["u-7"])
        #expect(daemon.terminate() == 0)
        #expect(try ids("--match", "박") == ["u-7"] && ids("-n", "2") == ["u-8", "u-7"])
    }
}

extension String {
    fileprivate var decomposed: String { decomposedStringWithCanonicalMapping }
}

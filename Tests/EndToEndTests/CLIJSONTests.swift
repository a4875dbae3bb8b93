import Foundation
import TestSupport
import Testing

/// The lines of JSON output are those of docs/reference/CLI-JSON.md: no member more, none less, of the kinds said there.
struct CLIJSONTests {
    private struct Shape {
        var members: [String: (kinds: Set<String>, isOptional: Bool)] = [:]

        init(_ words: [Substring]) {
            for word in words {
                let parts = word.split(separator: ":")
                let isOptional = parts[0].hasSuffix("?")
                let name = String(isOptional ? parts[0].dropLast() : parts[0])
                members[name] = (Set(parts[1].split(separator: "|").map(String.init)), isOptional)
            }
            members["type"] = (["string"], false)
            members["v"] = (["number"], false)
        }

        func complaints(_ line: [String: Any]) -> [String] {
            var found = members.filter { !$0.value.isOptional && line[$0.key] == nil }.map { "\($0.key) is missing" }
            for (name, value) in line {
                guard let member = members[name] else {
                    found.append("\(name) is not documented")
                    continue
                }
                let kind = Shape.kind(value)
                if !member.kinds.contains(kind), !member.kinds.contains("any") { found.append("\(name) is \(kind)") }
            }
            return found
        }

        static func kind(_ value: Any) -> String {
            switch value {
            case is NSNull: return "null"
            case is String: return "string"
            case let number as NSNumber: return CFBooleanKind.isBoolean(number) ? "boolean" : "number"
            case is [Any]: return "array"
            case is [String: Any]: return "object"
            default: return "unknown"
            }
        }
    }

    private enum CFBooleanKind {
        /// JSON's `true` and `1` are both NSNumbers; their types differ.
        static func isBoolean(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }
    }

    /// By command and type.
    private static func documented() throws -> [String: [String: Shape]] {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/reference/CLI-JSON.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let block = try #require(
            text.components(separatedBy: "```shapes\n").dropFirst().first?.components(separatedBy: "```").first)
        var shapes: [String: [String: Shape]] = [:]
        for line in block.split(separator: "\n") {
            let words = line.split(separator: " ")
            let members = words.firstIndex { $0.contains(":") } ?? words.endIndex
            let command = words[..<(members - 1)].joined(separator: " ")
            shapes[command, default: [:]][String(words[members - 1])] = Shape(Array(words[members...]))
        }
        return shapes
    }

    /// A file of docs/reference/vectors.
    private static func vector(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/reference/vectors/\(name).ndjson"
        ).path
    }

    /// What commands print that only a running daemon answers.
    private static func asked() throws -> [(name: String, objects: [[String: Any]])] {
        let node = try DaemonProcess("n")
        try node.start()
        defer { node.kill() }
        #expect(try node.syncctl("append", "--user", "u", "--text", "안녕").code == 0)
        var all: [(name: String, objects: [[String: Any]])] = []
        func ask(_ name: String, _ words: String...) throws {
            let arguments = name.split(separator: " ").map(String.init) + words + ["--json"]
            let run = try Programs.syncctl(node.store, arguments)
            #expect(run.code == 0, "\(name): \(run.errors)")
            #expect(!run.output.contains("\n\n"), "\(name): an empty line")
            all.append((name, run.lines))
        }
        try ask("subscriptions create", "bot", "--start", "first", "--type", "message.posted")
        try ask("subscriptions")
        let api = APIClient(socket: node.store + "/api.sock")
        let pulled = try #require(api.ask("POST", "/v1/subscriptions/bot/pull", body: "{}")?.1.first)
        let delivery = try #require((pulled["deliveries"] as? [[String: Any]])?.first)
        let event = try #require((delivery["event"] as? [String: Any])?["id"] as? String)
        let token = try #require(delivery["delivery"] as? String)
        let body = #"{"deliveries":["\#(token)"],"reason":"고장"}"#
        #expect(api.ask("POST", "/v1/subscriptions/bot/park", body: body)?.0 == 200)
        try ask("subscriptions parked", "bot")
        let parked = try Programs.syncctl(node.store, ["subscriptions", "parked", "bot"]).output
        // In the zone that the heading names.
        #expect(parked.contains(/AT \([+-]\d\d:\d\d\)/) && !parked.contains(/\d\dT\d\d:.*Z/), "\(parked)")
        try ask("subscriptions retry", "bot", event)
        try ask("subscriptions move", "bot")
        try ask("subscriptions change", "bot", "--type", "message.*", "--attempts", "2")
        try ask("subscriptions seek", "bot", "now", "--reason", "시험")
        try ask("subscriptions delete", "bot")
        try ask("whoami")
        try ask("tokens create", "auditor/park", "--role", "auditor", "--valid", "1d")
        let secret = try #require(all.last?.objects.first?["token"] as? String)
        let headers = ["Authorization: Bearer \(secret)", "Sillok-Reason: audit"]
        #expect(api.ask("GET", "/v1/users/u/history", headers: headers)?.0 == 200)
        try ask("tokens")
        try ask("access")
        let credential = try #require(all.last { $0.name == "tokens" }?.objects.first?["credential"] as? String)
        try ask("tokens revoke", credential)
        try ask("tokens")
        return all
    }

    @Test("The page names commands that there are")
    func commands() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/reference/CLI-JSON.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        func quoted(_ text: some StringProtocol) -> [String] {
            text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .compactMap { $0.offset % 2 == 1 ? String($0.element) : nil }
        }
        var names = Set(try Self.documented().keys)
        let sentence = try #require(
            text.components(separatedBy: "none is as good as some").last?.split(separator: "\n\n").first)
        names.formUnion(quoted(sentence))
        // Tables that begin with a command.
        for table in text.components(separatedBy: "| command |").dropFirst() {
            for row in table.split(separator: "\n").dropFirst(2).prefix(while: { $0.hasPrefix("|") }) {
                names.formUnion(quoted(row.split(separator: "|").first ?? ""))
            }
        }
        #expect(names.count > 40)
        for name in names.sorted() {
            let words = name.split(separator: " ").map(String.init).filter { !$0.hasPrefix("-") }
            #expect(try Programs.syncctl("/", ["help"] + words).code == 0, "\(name)")
        }
    }

    @Test("Each line of each command has the documented shape; an event of type 'end' is told from the last line")
    func shapes() async throws {
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        #expect(try await tool.run(["init", "--name", "n"]).code == 0)
        // Of "x".
        let picture = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
        let node = String(repeating: "ab", count: 32)
        let file = try folder.write(Data("x".utf8), to: "x")
        let lines = [
            #"{"type":"conversation.started","user":"u","subject":"conversation/c","data":{"title":"제목"}}"#,
            #"{"id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f","type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"a"}}"#,
            #"{"type":"message.edited","user":"u","subject":"conversation/c","cause":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f","data":{"text":"b"}}"#,
            #"{"type":"end","user":"u","data":{"count":99}}"#,
            #"{"type":"survey.answered","user":"u","data":{"survey":"s","question":"q","rating":7}}"#,
            #"{"type":"survey.answered","user":"u","data":{"survey":5}}"#,
            #"{"type":"profile.changed","user":"u","data":{"fields":{"name":"하늘"}}}"#,
            #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"뒤"}}"#,
            #"{"type":"contact.added","user":"u","data":{"contact":"v","name":"친구"}}"#,
            #"{"type":"search.remembered","user":"u","data":{"query":"두통"}}"#,
            #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"attachments":[{"sha256":"\#(picture)","bytes":1}]}}"#,
            #"{"type":"message.posted","user":"u","data":{"attachments":[{"sha256":"\#(node)","bytes":1,"mediaType":"x/y"}]}}"#,
            #"{"type":"bot.replied","user":"u","author":"b","subject":"conversation/c","cause":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f","data":{"text":"답"}}"#,
            "nonsense",
        ]
        let commands: [(name: String, words: [String], input: String)] = [
            ("append", ["-"], lines.joined(separator: "\n")), ("append", ["-"], lines[1]),
            ("history", ["u"], ""), ("conversation", ["c"], ""), ("conversation", ["nobody"], ""),
            ("conversations", [], ""), ("conversations", ["--all"], ""), ("profile", ["u"], ""), ("survey", [], ""),
            ("survey", ["s"], ""), ("dialogues", [], ""), ("search", ["b"], ""), ("search", ["b", "-C", "2"], ""),
            ("search", ["제목", "--total"], ""), ("search", ["하늘", "--rank"], ""), ("users", ["--match", "하"], ""),
            ("rooms", ["u"], ""), ("rooms", ["nobody"], ""), ("conversations", ["--user", "u"], ""),
            ("contacts", ["u"], ""), ("contacts", ["nobody"], ""), ("searches", ["u"], ""),
            ("attachment put", [file], ""), ("attachment get", [picture, "--out", folder.file("got")], ""),
            ("attachment list", [], ""), ("attachment list", ["--missing"], ""), ("attachment verify", [], ""),
            ("tail", [], ""), ("show", ["2"], ""), ("show", ["99"], ""),
            ("why", ["2"], ""), ("why", ["99"], ""),
            ("diff", ["u", "--known-at", "1"], ""), ("diff", ["u", "--profile", "--known-at", "1"], ""),
            ("replay", ["--all"], ""), ("export", [], ""), ("verify", ["--actors"], ""), ("digest", [], ""),
            ("status", [], ""),
            ("doctor", ["--all"], ""), ("vector", [], ""), ("clocks", [], ""), ("peers add", ["p", node], ""),
            ("peers list", [], ""), ("peers remove", ["p"], ""), ("quarantine list", [], ""), ("forks", [], ""),
            ("backup copy", [folder.file("copy")], ""), ("backup create", [folder.file("backup")], ""),
            ("backup create", [folder.file("backup"), "--anew"], ""),
            ("backup list", [folder.file("backup")], ""), ("backup verify", [folder.file("backup")], ""),
            ("backup drill", [folder.file("backup")], ""),
            ("backup restore", [folder.file("backup"), "--into", folder.file("restored")], ""),
            ("backup prune", [folder.file("backup"), "--keep", "1"], ""),
            ("check-proof", [Self.vector("receipt")], ""), ("check-proof", [Self.vector("answer")], ""),
            ("erase user", ["v", "--dry-run"], ""),
            ("erase user", ["u", "--reason", "r", "--who", "w", "--plan", folder.file("plan")], ""),
            ("erase user", ["u", "--confirm", folder.file("plan")], ""), ("erase status", [], ""),
        ]
        let documented = try Self.documented()
        var seen: [String: Set<String>] = [:]
        func check(_ name: String, _ objects: [[String: Any]]) {
            let own = objects.filter { $0["specversion"] == nil }
            #expect(own.count { $0["type"] as? String == "end" } == 1, "\(name)")
            #expect(objects.last?["count"] as? Int == objects.count - 1, "\(name)")
            #expect(objects.last?["type"] as? String == "end" && objects.last?["specversion"] == nil, "\(name)")
            for line in own {
                let type = line["type"] as? String ?? ""
                seen[name, default: []].insert(type)
                guard let shape = documented[name]?[type] else {
                    Issue.record("\(name) prints a line of type \(type), which CLI-JSON.md does not have")
                    continue
                }
                #expect(shape.complaints(line) == [], "\(name): \(line)")
            }
        }
        for (name, words, input) in commands {
            let run = try await tool.run(
                name.split(separator: " ").map(String.init) + words + ["--json"], input: Data(input.utf8))
            check(name, try run.objects())
            guard name == "replay" else { continue }
            let replayed = try run.objects().filter { $0["type"] as? String == "end" }
            #expect(replayed.map { $0["specversion"] != nil } == [true, false])
        }
        for (name, objects) in try Self.asked() { check(name, objects) }
        // Nothing is documented that no command prints, but for what needs damage.
        for (name, types) in documented {
            let missing = types.keys.filter {
                !(seen[name]?.contains($0) ?? false)
                    && ![
                        "verify finding", "verify fork", "verify actor", "backup verify finding",
                        "backup verify broken", "forks fork",
                    ].contains("\(name) \($0)")
            }
            #expect(missing.sorted() == [], "\(name)")
        }
    }
}

import CommandLineKit
import Foundation
import Testing

@testable import syncctl

/// `syncctl` from outside: the real program on real stores.
struct SyncctlTests {
    private let folder: ScratchFolder
    private let tool: Tool

    init() throws {
        folder = try ScratchFolder()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        self.tool = tool
    }

    private func run(_ arguments: String..., input: String = "") async throws -> Tool.Run {
        try await tool.run(arguments, input: Data(input.utf8))
    }

    private func makeStore() async throws {
        let made = try await run("init", "--name", "seoul-1")
        #expect(made.code == 0, "\(made.errors)")
    }

    /// Three conversations' worth of Korean and English, one line of nonsense and one that lacks its user.
    private static let sample = """
        {"type":"conversation.started","time":"2026-08-01T02:02:00Z","subject":"conversation/c-88","user":"김하늘","data":{"title":"두통 상담","category":"text","participants":["김하늘","medibot"]}}
        {"id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f","type":"message.posted","time":"2026-08-01T02:02:15.120Z","subject":"conversation/c-88","user":"김하늘","data":{"text":"어제부터 두통이 심해요"}}
        {"type":"bot.replied","time":"2026-08-01T02:02:17Z","subject":"conversation/c-88","user":"김하늘","author":"medibot","data":{"text":"Since when exactly? 1) 오늘 2) 어제","inReplyTo":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"}}
        not json
        {"type":"survey.answered","time":"2026-08-01T02:04:02Z","user":"김하늘","data":{"survey":"pain","question":"score","rating":7}}
        {"type":"profile.changed","time":"2026-08-01T02:05:00Z","user":"김하늘","data":{"fields":{"name":"김하늘","language":"ko"}}}
        {"type":"message.posted","data":{"text":"whose?"}}
        {"type":"message.posted","time":"2026-08-01T03:00:00Z","subject":"conversation/c-90","user":"alice","data":{"text":"hello"}}

        """

    // MARK: Making and appending

    @Test func initMakesAStoreOnce() async throws {
        let made = try await run("init", "--name", "seoul-1", "--cluster", "clinic", "--json")
        #expect(made.code == 0)
        let objects = try made.objects()
        #expect(objects.first?["name"] as? String == "seoul-1")
        #expect(objects.first?["cluster"] as? String == "clinic")
        #expect((objects.first?["node"] as? String)?.count == 64)
        #expect(objects.last?["type"] as? String == "end")

        let again = try await run("init")
        #expect(again.code == 73)
        #expect(again.errors.contains("[E_STORE_EXISTS]"))
        let bad = try await run("init", "--store", folder.file("other"), "--name", "a b")
        #expect(bad.code == 64)
        #expect(!FileManager.default.fileExists(atPath: folder.file("other")))
    }

    @Test func appendTellsWhereTheEventIs() async throws {
        try await makeStore()
        let first = try await run("append", "--user", "u-1", "--conversation", "c", "--text", "물을 충분히 드세요")
        #expect(first.code == 0)
        #expect(first.text.hasPrefix("appended position 2 id "))

        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
        let arguments = ["append", "--user", "u-1", "--text", "once", "--id", id, "--json"]
        let appended = try await tool.run(arguments).objects()
        #expect(appended.first?["type"] as? String == "appended")
        #expect(appended.first?["id"] as? String == id)
        let already = try await tool.run(arguments)
        #expect(already.code == 0)
        #expect(try already.objects().first?["type"] as? String == "already")
        #expect(try already.objects().first?["position"] as? String == appended.first?["position"] as? String)

        let other = try await run("append", "--user", "u-1", "--text", "else", "--id", id)
        #expect(other.code == 4)
        #expect(other.errors.contains("[E_ID_REUSED]"))
    }

    @Test func saidTwiceIsMeantTwice() async throws {
        try await makeStore()
        let line = #"{"type":"message.posted","user":"u","data":{"text":"ping"}}"# + "\n"
        let run = try await run("append", "-", "--json", input: line + line)
        #expect(run.code == 0)
        #expect(try run.objects().map { $0["type"] as? String } == ["appended", "appended", "end"])
    }

    @Test func expectedVersionGuardsAConversation() async throws {
        try await makeStore()
        let arguments = ["append", "--user", "u", "--conversation", "c", "--text", "x", "--expect"]
        #expect(try await tool.run(arguments + ["0"]).code == 0)
        let moved = try await tool.run(arguments + ["0"])
        #expect(moved.code == 4)
        #expect(moved.errors.contains("[E_VERSION]"))
        #expect(try await tool.run(arguments + ["1"]).code == 0)
    }

    @Test func appendRefusesWhatIsNoEvent() async throws {
        try await makeStore()
        let identifier = try await run(
            "append", "--user", "u", "--text", "x", "--conversation", String(repeating: "c", count: 10 << 10))
        #expect(identifier.code == 65)
        #expect(identifier.errors.contains("[E_IDENTIFIER]"))
        #expect(identifier.errors.utf8.count < 1_000)

        let large =
            #"{"type":"message.posted","user":"u","data":{"text":""#
            + String(repeating: "가", count: 100_000) + "\"}}\n"
        let oversized = try await run("append", "-", input: large)
        #expect(oversized.code == 65)
        #expect(oversized.errors.contains("[E_PAYLOAD_SIZE]"))

        let notUTF8 = try await tool.run(
            ["append", "-"],
            input: Data(#"{"type":"t","user":"u","data":{"x":""#.utf8) + [0xff, 0xfe] + Data("\"}}\n".utf8))
        #expect(notUTF8.code == 65)
        #expect(notUTF8.errors.contains("[E_LINE_JSON]"))

        let data = try await run("append", "--user", "u", "--data", "[1]")
        #expect(data.code == 65)
        #expect(try await run("append", "--text", "x").code == 64)
        #expect(try await run("append", "--user", "u").code == 64)
        #expect(try await run("append", "-", "--user", "u").code == 64)
        #expect(try await run("append", "--user", "u", "--text", "x", "--id", "nonsense").code == 64)
        #expect(try await run("append", "--user", "u", "--text", "x", "--time", "someday").code == 64)
        #expect(
            try await run("tail", "--json").objects().last?["count"] as? Int == 1, "only the store's own first event")
    }

    // MARK: Import and export

    @Test func importReportsBadLinesAndAddsNothingTwice() async throws {
        try await makeStore()
        let file = try folder.write(Data(Self.sample.utf8), to: "sample.ndjson")
        let first = try await run("import", file)
        #expect(first.code == 4)
        #expect(first.text == "lines 8  appended 6  already 0  rejected 2\n")
        #expect(first.errors.contains("line 4 rejected: line: not a JSON object at byte 0   [E_LINE_JSON]"))
        #expect(first.errors.contains("line 7 rejected: user: missing, every line needs it   [E_LINE_MISSING]"))

        let again = try await run("import", file, "--batch", "2", "--json")
        #expect(again.code == 4)
        let objects = try again.objects()
        #expect(objects.compactMap { $0["line"] as? Int } == [4, 7])
        #expect(objects.last?["appended"] as? Int == 0)
        #expect(objects.last?["already"] as? Int == 6)
        #expect(objects.last?["rejected"] as? Int == 2)

        let dry = try await run("import", "-", "--dry-run", input: Self.sample)
        #expect(dry.text == "lines 8  new 0  already 6  rejected 2\n")
        #expect(try await run("import", folder.file("nowhere")).code == 66)
        #expect(try await run("import", folder.path).code == 66)
        #expect(try await run("import", file, "--batch", "0").code == 64)
    }

    @Test func onlyTwentyBadLinesAreShown() async throws {
        try await makeStore()
        let run = try await run("import", "-", input: String(repeating: "bad\n", count: 30))
        #expect(run.errors.components(separatedBy: " rejected: ").count - 1 == 20)
        #expect(run.errors.contains("and 10 more rejected lines"))
        #expect(run.text == "lines 30  appended 0  already 0  rejected 30\n")
    }

    @Test func anExportMakesTheSameEventsElsewhere() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        let exported = try await run("export", "--json")
        #expect(exported.code == 0)
        #expect(try exported.objects().last?["type"] as? String == "end")
        #expect(try exported.objects().dropLast().allSatisfy { ($0["leaf"] as? String)?.count == 64 })

        let copy = ["--store", folder.file("copy")]
        #expect(try await tool.run(["init", "--name", "copy"] + copy).code == 0)
        let imported = try await tool.run(["import", "-"] + copy, input: exported.output)
        #expect(imported.code == 0, "\(imported.errors)")
        let back = try await tool.run(["export"] + copy)
        func identities(_ run: Tool.Run) throws -> [[String]] {
            try run.objects().filter { $0["specversion"] != nil }.map { object in
                ["id", "type", "time", "user", "author", "subject"].map { object[$0] as? String ?? "" }
            }
        }
        // The copy begins with an event of its own.
        #expect(try identities(back).dropFirst().elementsEqual(try identities(exported)))
        #expect(try await tool.run(["verify"] + copy).code == 0)

        let part = try await run("export", "--since-position", "3", "--until-position", "4")
        #expect(try part.objects().map { $0["position"] as? String } == ["3", "4"])
    }

    // MARK: Reading

    @Test func historyIsAligned() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        let history = try await run("history", "김하늘")
        #expect(history.code == 0)
        let lines = history.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines[0] == "김하늘 · 5 events · beginning .. now (+09:00)")
        let heading = lines[2]
        let rows = lines[3...].filter { !$0.isEmpty }
        #expect(rows.count == 5)
        func column(_ text: String, _ part: String) throws -> Int {
            DisplayWidth.of(text[..<(try #require(text.range(of: part))).lowerBound])
        }
        let type = try column(heading, "TYPE")
        for (row, name) in zip(
            rows, ["conversation.started", "message.posted", "bot.replied", "survey.", "profile."])
        {
            #expect(try column(row, name) == type, "\(row)")
        }
        #expect(try column(rows[1], "어제부터") == column(heading, "TEXT"))
        #expect(rows[1].hasPrefix("2026-08-01 11:02:15  "))

        let none = try await run("history", "nobody", "--json")
        #expect(none.code == 1)
        #expect(none.text == #"{"type":"end","v":1,"count":0,"user":"nobody"}"# + "\n")
    }

    @Test func historyCanBeCut() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        func kinds(_ arguments: String...) async throws -> [String] {
            try await tool.run(["history", "김하늘", "--json"] + arguments).objects().compactMap {
                $0["kind"] as? String
            }
        }
        #expect(try await kinds("--last", "2") == ["survey.answered", "profile.changed"])
        #expect(try await kinds("--first", "1") == ["conversation.started"])
        #expect(try await kinds("--type", "bot.replied") == ["bot.replied"])
        #expect(try await kinds("--since", "2026-08-01 11:04", "--until", "2026-08-01 11:05") == ["survey.answered"])
        #expect(try await kinds("--conversation", "c-88", "--last", "1") == ["bot.replied"])
        #expect(try await run("history", "김하늘", "--since", "12m3q").code == 64)
        #expect(try await run("history", "김하늘", "--first", "1", "--last", "1").code == 64)
    }

    @Test func editsAndRetractionsAreShown() async throws {
        try await makeStore()
        let ids = (1...3).map { "0198e2c4-77aa-7c01-8b1e-00000000000\($0)" }
        let posts = ids.enumerated().map { index, id in
            #"{"id":"\#(id)","type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"text \#(index)"}}"#
        }
        let changes = [
            #"{"type":"message.edited","user":"u","subject":"conversation/c","cause":"\#(ids[0])","data":{"message":"\#(ids[0])","text":"better"}}"#,
            #"{"type":"message.retracted","user":"u","subject":"conversation/c","cause":"\#(ids[1])","data":{"message":"\#(ids[1])"}}"#,
        ]
        let appended = try await run("append", "-", input: (posts + changes).joined(separator: "\n") + "\n")
        #expect(appended.code == 0, "\(appended.errors)")
        let shown = try await run("conversation", "c", "--type", "message.posted")
        #expect(shown.text.contains("  better (edited)\n"))
        #expect(shown.text.contains("  (retracted) text 1\n"))
        #expect(shown.text.contains("  text 2\n"))
        let objects = try await run("conversation", "c", "--type", "message.posted", "--json").objects()
        #expect(objects.compactMap { $0["edited"] as? Bool } == [true, false, false])
        #expect(objects.compactMap { $0["retracted"] as? Bool } == [false, true, false])
    }

    @Test func otherViewsAnswer() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        let conversations = try await run("conversations", "--json").objects()
        #expect(conversations.compactMap { $0["conversation"] as? String } == ["c-90", "c-88"])
        #expect(conversations[1]["title"] as? String == "두통 상담")
        #expect(conversations[1]["version"] as? String == "3")

        let profile = try await run("profile", "김하늘", "--json").objects()
        #expect(profile.compactMap { $0["name"] as? String } == ["language", "name"])
        #expect(profile[1]["value"] as? String == "김하늘")
        #expect(try await run("profile", "nobody").code == 1)

        let survey = try await run("survey", "pain")
        #expect(survey.lines.last == "score     7           1   100%  ####################")
        #expect(try await run("survey").lines.last == "pain          1")
        #expect(try await run("survey", "nothing").code == 1)
        #expect(try await run("conversation", "nothing").code == 1)
    }

    @Test func tailShowAndReplayReadTheLog() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        let tail = try await run("tail", "-n", "2", "--json").objects()
        #expect(tail.compactMap { $0["position"] as? String } == ["6", "7", "7"])
        let filtered = try await run("tail", "--conversation", "c-88", "--type", "bot.replied", "--json").objects()
        #expect(filtered.count == 2)
        #expect(filtered[0]["text"] as? String == "Since when exactly? 1) 오늘 2) 어제")

        for name in ["3", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f", "\(tail[0]["origin"] as? String ?? "")/3"] {
            let shown = try await run("show", name)
            #expect(shown.code == 0, "\(name)")
            #expect(shown.text.contains("id            0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f\n"))
            #expect(shown.text.contains("time          2026-08-01 11:02:15 +09:00 = 2026-08-01T02:02:15.120Z\n"))
            #expect(shown.text.contains(#"  "text": "어제부터 두통이 심해요""#))
        }
        #expect(try await run("show", "99").code == 1)
        #expect(try await run("show", "what").code == 64)

        let replayed = try await run("replay", "--conversation", "c-88", "--as-of", "2026-08-01 11:02:16", "--json")
        #expect(
            try replayed.objects().map { $0["type"] as? String } == ["conversation.started", "message.posted", "end"])
        let known = try await run("replay", "--all", "--as-of", "seq:2", "--json").objects()
        #expect(known.last?["count"] as? Int == 2)
        // The store's own first event happened now, long after what was imported.
        let everything = try await run("replay", "--all", "--json").objects()
        #expect(everything.dropLast().last?["type"] as? String == "origin.started")
        #expect(try await run("replay").code == 64)
        #expect(try await run("replay", "--user", "nobody").code == 1)
    }

    @Test func aCursorFileSkipsWhatWasSeen() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        let file = folder.file("cursor")
        #expect(try await run("tail", "--cursor-file", file, "--json").objects().last?["count"] as? Int == 7)
        #expect(try await run("tail", "--cursor-file", file, "--json").objects().last?["count"] as? Int == 0)
        _ = try await run("append", "--user", "u", "--text", "new")
        #expect(try await run("tail", "--cursor-file", file, "--json").objects().first?["text"] as? String == "new")

        #expect(try await tool.run(["init", "--store", folder.file("other")]).code == 0)
        let foreign = try await run("tail", "--cursor-file", file, "--store", folder.file("other"))
        #expect(foreign.code == 65)
        #expect(foreign.errors.contains("[E_CURSOR]"))
    }

    @Test func viewsOfAStoreThatCannotBeWrittenAreTemporary() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        let store = folder.file("store")
        try FileManager.default.createDirectory(atPath: folder.file("copy"), withIntermediateDirectories: false)
        for name in ["log.db", "log.db-wal", "log.db-shm"]
        where FileManager.default.fileExists(atPath: store + "/" + name) {
            try FileManager.default.copyItem(atPath: store + "/" + name, toPath: folder.file("copy") + "/" + name)
        }
        // Root may write anywhere; a folder in the place of the views keeps even root from making them.
        try FileManager.default.createDirectory(atPath: folder.file("copy/lock"), withIntermediateDirectories: false)
        let history = try await run("history", "alice", "--store", folder.file("copy"), "--json")
        #expect(history.code == 0, "\(history.errors)")
        #expect(try history.objects().first?["text"] as? String == "hello")
        #expect(!FileManager.default.fileExists(atPath: folder.file("copy/views.db")))
    }

    // MARK: Trust and administration

    @Test func verifyFindsAChangedByte() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        let intact = try await run("verify")
        #expect(intact.code == 0)
        #expect(intact.lines.last?.hasPrefix("VERIFIED  positions 1..7   took ") ?? false)

        let log = URL(fileURLWithPath: folder.file("store/log.db"))
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: log.path + suffix) }
        var bytes = try Data(contentsOf: log)
        let place = try #require(bytes.range(of: Data("두통이".utf8)))
        bytes.replaceSubrange(place, with: Data("치통이".utf8))
        try bytes.write(to: log)
        let damaged = try await run("verify", "--json")
        #expect(damaged.code == 3)
        let objects = try damaged.objects()
        #expect(objects.contains { $0["type"] as? String == "finding" && $0["position"] as? String == "3" })
        #expect(objects.last?["intact"] as? Bool == false)
        let text = try await run("verify")
        #expect(text.code == 3)
        #expect(text.lines.last?.hasPrefix("DAMAGED  ") ?? false)
    }

    @Test func statusAndPeersWorkWithoutADaemon() async throws {
        try await makeStore()
        let status = try await run("status")
        #expect(status.code == 0)
        #expect(status.text.hasPrefix("seoul-1 · daemon not running\n"))
        #expect(try await run("status", "--json").objects().first?["running"] as? Bool == false)

        let node = String(repeating: "ab", count: 32)
        #expect(try await run("peers", "add", "busan-1", "\(node)@203.0.113.7:7460").code == 0)
        let listed = try await run("peers", "list", "--json").objects()
        #expect(listed.first?["name"] as? String == "busan-1")
        #expect(listed.first?["node"] as? String == node)
        #expect(listed.first?["address"] as? String == "203.0.113.7:7460")
        #expect(try await run("peers", "add", "again", node).code == 0)
        #expect(try await run("peers", "list", "--json").objects().map { $0["name"] as? String } == ["again", nil])
        #expect(try await run("peers", "remove", "again").code == 0)
        #expect(try await run("peers", "remove", "again").code == 1)
        #expect(try await run("peers", "add", "x", "abc").code == 64)
        #expect(try await run("peers", "add", "a/b", node).code == 64)
        #expect(try await run("peers", "add", "x", "\(node)@nowhere").code == 64)
    }

    // MARK: Every command

    @Test func everyCommandExplainsItself() async throws {
        #expect(Syncctl.table.contradictions() == [])
        for command in Syncctl.table.commands {
            let help = try await tool.run(command.name.split(separator: " ").map(String.init) + ["--help"])
            #expect(help.code == 0)
            #expect(help.text.hasPrefix("syncctl \(command.name): "), "\(help.text)")
            #expect(help.text.contains("\nExamples:\n  "), "\(command.name) has no examples")
            #expect(help.text.contains("--json"))
            #expect(!command.examples.isEmpty)
        }
        #expect(try await tool.run([]).text.contains("history <user>"))
    }

    @Test func everyReadingCommandEndsItsJSON() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        let commands: [[String]] = [
            ["history", "alice"], ["conversation", "c-88"], ["conversations"], ["profile", "alice"], ["survey"],
            ["survey", "pain"], ["tail"], ["show", "1"], ["replay", "--all"], ["export"], ["verify"], ["status"],
            ["peers", "list"],
        ]
        for command in commands {
            let objects = try await tool.run(command + ["--json"]).objects()
            #expect(objects.last?["type"] as? String == "end", "\(command)")
            #expect(objects.last?["v"] as? Int == 1, "\(command)")
            #expect(objects.last?["count"] as? Int != nil, "\(command)")
            let plain = try await tool.run(command + ["--plain"])
            #expect(plain.code <= 1, "\(command): \(plain.errors)")
        }
    }

    @Test func mistakesHaveTheirExitCodes() async throws {
        let none = try await run("tail")
        #expect(none.code == 66)
        #expect(none.errors.contains("[E_NO_STORE]"))
        let json = try await run("tail", "--json")
        #expect(json.errors.hasPrefix(#"{"type":"error","v":1,"code":"E_NO_STORE","#))
        let typo = try await run("histroy")
        #expect(typo.code == 64)
        #expect(typo.errors.contains("did you mean 'syncctl history'?"))
        #expect(try await run("tail", "--nonsense").code == 64)
        #expect(try await run("history").code == 64)

        try FileManager.default.createDirectory(atPath: folder.file("store"), withIntermediateDirectories: true)
        _ = try folder.write(Data("no database at all, but long enough to be read as one".utf8), to: "store/log.db")
        let corrupt = try await run("tail")
        #expect([65, 76].contains(corrupt.code), "\(corrupt.code) \(corrupt.errors)")
    }

    @Test func theStoreIsFoundWithoutItsName() async throws {
        var bare = tool
        bare.environment["SYNCCTL_STORE"] = nil
        #expect(try await bare.run(["init"], in: folder.path).code == 0)
        let tail = try await bare.run(["tail", "--json"], in: folder.path)
        #expect(tail.code == 0)
        #expect(tail.errors == "syncctl: using the store ./syncd-dev\n")
        #expect(try await bare.run(["tail", "-q", "--json"], in: folder.path).errors == "")
    }

    // MARK: Hostile text

    @Test func hostileTextIsMadeVisible() async throws {
        try await makeStore()
        let text = "\u{1b}[2J\u{1b}]0;owned\u{7} \u{202e}desrever\u{2066} a\nb\t\u{9b}31m"
        _ = try await run("append", "--user", "u", "--author", "\u{202e}evil", "--text", text)
        for command in [["tail"], ["history", "u"], ["show", "2"], ["replay", "--all"], ["tail", "--plain"]] {
            let shown = try await tool.run(command)
            #expect(shown.code == 0)
            for scalar in shown.text.unicodeScalars where scalar != "\n" && scalar != "\t" {
                #expect(scalar.value >= 0x20 && !(0x7f...0x9f).contains(scalar.value), "\(command)")
                #expect(scalar != "\u{202e}" && scalar != "\u{2066}", "\(command)")
            }
        }
        let bad = try await run("history", "\u{1b}[31m")
        #expect(!bad.errors.contains("\u{1b}"))
        let line = try await run("import", "-", input: #"{"\u001b[31m":1,"type":"t","user":"u","data":{}}"# + "\n")
        #expect(line.code == 4)
        #expect(!line.errors.contains("\u{1b}"))
    }

    // MARK: Signals

    @Test func aClosedPipeIsQuiet() async throws {
        try await makeStore()
        let lines = (0..<3_000).map { #"{"type":"message.posted","user":"u","data":{"text":"line \#($0)"}}"# }
        _ = try await run("import", "-", input: lines.joined(separator: "\n"))
        let shell = Tool(path: "/bin/sh", environment: tool.environment)
        let piped = try await shell.run(["-c", "{ '\(tool.path)' export; echo $? >&2; } | head -n 1"])
        #expect(piped.lines.count == 1)
        #expect(piped.errors == "141\n")
    }

    @Test func anInterruptedImportEndsInGoodOrder() async throws {
        try await makeStore()
        // The pipe stays open: without the signal the import would wait for ever.
        let script = """
            mkfifo '\(folder.path)/pipe'; '\(tool.path)' import '\(folder.path)/pipe' & child=$!
            exec 3>'\(folder.path)/pipe'
            printf '%s\\n' '{"type":"message.posted","user":"u","data":{"text":"a"}}' 'bad' >&3
            i=0; while [ $i -lt 500 ] && ! grep -q 'line 2' '\(folder.path)/errors'; do sleep 0.02; i=$((i+1)); done
            kill -INT $child; wait $child; echo $?
            """
        _ = try folder.write(Data(), to: "errors")
        // A shell lets its background jobs ignore SIGINT; syncctl asks for it again.
        let shell = Tool(path: "/bin/sh", environment: tool.environment)
        let run = try await shell.run(["-c", "exec 2>'\(folder.path)/errors'; " + script])
        #expect(run.lines == ["lines 2  appended 1  already 0  rejected 1", "130"])
        let errors = try String(contentsOfFile: folder.file("errors"), encoding: .utf8)
        #expect(errors.contains("Run the same command again to go on"))
    }
}

import Foundation
import TestSupport
import Testing

/// `syncctl` from outside: the real program on real stores.
struct SyncctlProgramTests {
    let folder: TemporaryFolder
    let tool: Tool

    init() throws {
        folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        self.tool = tool
    }

    func run(_ arguments: String..., input: String = "") async throws -> Tool.Run {
        try await tool.run(arguments, input: Data(input.utf8))
    }

    func makeStore() async throws {
        let made = try await run("init", "--name", "seoul-1")
        #expect(made.code == 0, "\(made.errors)")
    }

    /// Three conversations' worth of Korean and English, one line of nonsense and one that lacks its user.
    static let sample = """
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

        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e61"
        let arguments = ["append", "--user", "u-1", "--text", "once", "--id", id, "--json"]
        let appended = try await tool.run(arguments).objects()
        #expect(appended.first?["type"] as? String == "appended")
        #expect(appended.first?["id"] as? String == id)
        let already = try await tool.run(arguments)
        #expect(already.code == 0)
        #expect(try already.objects().first?["type"] as? String == "already")
        #expect(try already.objects().first?["position"] as? Int == appended.first?["position"] as? Int)

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
        #expect(first.text == "8 lines: 6 appended, 0 already there, 2 rejected\n")
        #expect(first.errors.contains("line 4: JSON: not a JSON object at byte 0   [E_LINE_JSON]"))
        #expect(first.errors.contains("line 7: user: missing, every line needs it   [E_LINE_MISSING]"))

        let again = try await run("import", file, "--batch", "2", "--json")
        #expect(again.code == 4)
        let objects = try again.objects()
        #expect(objects.compactMap { $0["line"] as? Int } == [4, 7])
        #expect(objects.last?["appended"] as? Int == 0)
        #expect(objects.last?["already"] as? Int == 6)
        #expect(objects.last?["rejected"] as? Int == 2)

        let dry = try await run("import", "-", "--dry-run", input: Self.sample)
        #expect(dry.text == "8 lines: 0 new, 6 already there, 2 rejected\n")
        // What an import rejects a dry run rejects, too: a type that only nodes write, an id with other content.
        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e61"
        let bad = [
            #"{"specversion":"1.0","type":"user.erased","user":"u","data":{}}"#,
            #"{"specversion":"1.0","id":"\#(id)","type":"t","user":"u","data":{"a":1}}"#,
            #"{"specversion":"1.0","id":"\#(id)","type":"t","user":"u","data":{"a":2}}"#,
            #"{"specversion":"1.0","id":"\#(id)","type":"t","user":"u","data":{"a":1}}"#,
            // Canonically equivalent is not the same.
            #"{"specversion":"1.0","id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e62","type":"t","user":"\u00e9","data":{}}"#,
            #"{"specversion":"1.0","id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e62","type":"t","user":"e\u0301","data":{}}"#,
        ].map { $0 + "\n" }.joined()
        let rejecting = try await run("import", "-", "--dry-run", input: bad)
        #expect(rejecting.code == 4 && rejecting.text == "6 lines: 2 new, 1 already there, 3 rejected\n")
        #expect(rejecting.errors.contains("[E_RESERVED]") && rejecting.errors.contains("[E_ID_REUSED]"))
        #expect(try await run("import", "-", input: bad).text == "6 lines: 2 appended, 1 already there, 3 rejected\n")
        #expect(try await run("import", folder.file("nowhere")).code == 66)
        #expect(try await run("import", folder.path).code == 65)
        #expect(try await run("import", file, "--batch", "0").code == 64)
    }

    @Test func onlyTwentyBadLinesAreShown() async throws {
        try await makeStore()
        let run = try await run("import", "-", input: String(repeating: "bad\n", count: 30))
        #expect(run.errors.components(separatedBy: "[E_LINE_JSON]").count - 1 == 20)
        #expect(run.errors.contains("and 10 more rejected lines"))
        #expect(run.text == "30 lines: 0 appended, 0 already there, 30 rejected\n")
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
        // Each begins with an event of its own, which does not travel.
        #expect(try identities(back).dropFirst().elementsEqual(try identities(exported).dropFirst()))
        #expect(imported.text.contains(", 1 that only nodes write passed over"))
        #expect(try await tool.run(["verify"] + copy).code == 0)

        let part = try await run("export", "--after", "2", "--through", "4")
        #expect(try part.objects().map { $0["position"] as? String } == ["3", "4"])
    }
}

import Foundation
import TestSupport
import Testing

/// Exports of other services through the programs: into files, through a daemon, at a node that is named; and out again.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ExportImportTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder.made() }

    private func store(_ name: String) throws -> String {
        let path = folder.file(name)
        #expect(try Programs.syncctl(path, ["init", "--name", name]).code == 0)
        return path
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = folder.file(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// A chat as KakaoTalk writes it on Windows, a message a minute.
    private func chat(_ count: Int, from first: Int = 0) -> String {
        var text = "방 님과 카카오톡 대화\n저장한 날짜 : 2025-10-14 21:03:11\n"
        var day = -1
        for number in first..<first + count {
            if number / 720 != day {
                day = number / 720
                text += "--------------- 2025년 \(1 + day / 28 % 12)월 \(1 + day % 28)일 월요일 ---------------\n"
            }
            text +=
                "[홍] [오전 \((number / 60 % 12 + 11) % 12 + 1):\(number % 60 < 10 ? "0" : "")\(number % 60)] 말 \(number)\n"
        }
        return text
    }

    private func end(_ run: Programs.Result) -> [String: Int] {
        (run.lines.last ?? [:]).compactMapValues { $0 as? Int }
    }

    @Test(
        "A store in an archive is unpacked to a folder that is gone when the import ends, and so is what a killed one has left"
    )
    func unpacked() async throws {
        let script = """
            import sqlite3, sys, zipfile
            db = sqlite3.connect(sys.argv[1] + "/Search.sqlite")
            db.executescript("CREATE TABLE ZSEARCHRESULT (Z_PK INTEGER PRIMARY KEY, ZID VARCHAR, ZNAME VARCHAR, ZDATE TIMESTAMP);"
                "INSERT INTO ZSEARCHRESULT VALUES (1, 'a', '서울', 700000000);")
            with zipfile.ZipFile(sys.argv[1] + "/s.zip", "w", zipfile.ZIP_DEFLATED) as zip:
                zip.write(sys.argv[1] + "/Search.sqlite", "backup/Search.sqlite")
            """
        let packed = try await Tool(path: "/usr/bin/env").run(["python3", "-c", script, folder.path])
        #expect(packed.code == 0, "\(packed.errors)")
        let target = try store("searches")
        var tool = try Tool.named("syncctl")
        let place = folder.file("tmp")
        tool.environment["TMPDIR"] = place
        try FileManager.default.createDirectory(
            atPath: place + "/sillok-import-killed", withIntermediateDirectories: true)
        try Data("비밀".utf8).write(to: URL(filePath: place + "/sillok-import-killed/copy"))
        let words = ["--store", target, "import", folder.file("s.zip"), "--user", "hana", "--json"]
        for appended in [1, 0] {
            let run = try await tool.run(words)
            let end = try #require(try run.objects().last)
            #expect(run.code == 0 && end["appended"] as? Int == appended, "\(run.errors)")
            #expect(end["format"] as? String == "coredata" && end["passed_over"] as? Int == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
        }
        tool.environment["TMPDIR"] = "/nowhere"
        let run = try await tool.run(words)
        #expect(run.code != 0 && run.errors.contains("/nowhere"), "\(run.code) \(run.errors)")
    }

    @Test("An export comes in by the files, through a daemon and at a named node alike, and never twice (INV-8)")
    func places() throws {
        let export = try file("KakaoTalkChats.txt", chat(50)), later = try file("later.txt", chat(50, from: 25))
        let alone = try store("alone")
        let daemon = try DaemonProcess("d")
        try daemon.start()
        defer { daemon.kill() }
        let tokens = folder.file("app.token")
        let made = try daemon.syncctl("tokens", "create", "app/importer", "--role", "app", "--out", tokens)
        #expect(made.code == 0, "\(made.errors)")
        let socket = ["--url", "unix:\(daemon.store)/api.sock", "--token-file", tokens]
        // The token counts as soon as the node's own event of it is read.
        try waitWhile(every: 50_000, Programs.syncctl(alone, ["whoami"] + socket).code != 0)
        for (target, more) in [(alone, [String]()), (daemon.store, []), (alone, socket)] {
            let first = try Programs.syncctl(target, ["import", export, "--json"] + more)
            // At the named node, which is the daemon, all of it is there.
            let isThere = !more.isEmpty
            #expect(first.code == 0 && end(first)["appended"] == (isThere ? 0 : 50), "\(first.errors)")
            #expect(end(first)["already"] == (isThere ? 50 : 0))
            let second = try Programs.syncctl(target, ["import", later, "--json"] + more)
            #expect(second.code == 0 && end(second)["appended"] == (isThere ? 0 : 25))
            #expect(end(second)["already"] == (isThere ? 75 - 25 : 25))
        }
        let more = try file("more.txt", chat(10, from: 70))
        #expect(end(try Programs.syncctl(alone, ["import", more, "--json"] + socket))["appended"] == 5)
        #expect(try Programs.syncctl(alone, ["import", more, "--dry-run"] + socket).code == 64)
        #expect(end(try Programs.syncctl(daemon.store, ["import", more, "--dry-run", "--json"]))["already"] == 10)
        #expect(try daemon.verified() == 0)
    }

    @Test("Of a malformed export nothing is stored, wherever in it the fault is, by the files and through a daemon")
    func malformed() throws {
        let good = chat(3_000)
        let broken = try file("broken.txt", good + "[홍] [오전 1:00] \u{0}\n")
        var bytes = Data(good.utf8)
        bytes += [0xff, 0xfe, 0x0a]
        let path = folder.file("cut.txt")
        try bytes.write(to: URL(filePath: path))
        let daemon = try DaemonProcess("d")
        try daemon.start()
        defer { daemon.kill() }
        for target in [try store("alone"), daemon.store] {
            let before = try Programs.syncctl(target, ["vector"]).output
            let run = try Programs.syncctl(target, ["import", path])
            #expect(run.code == 65 && run.errors.contains("line "), "\(run.errors)")
            #expect(run.errors.contains("Nothing of it was stored.") && run.errors.contains(path))
            #expect(try Programs.syncctl(target, ["vector"]).output == before)
        }
        // A NUL is text like any other.
        #expect(try Programs.syncctl(try store("nul"), ["import", broken]).code == 0)
    }

    @Test("An import that was killed goes on with the same command, and nothing is there twice")
    func killed() throws {
        let count = 12_000
        let export = try file("long.txt", chat(count))
        let store = try store("killed")
        let process = Process()
        process.executableURL = Programs.folder.appending(path: "syncctl")
        process.arguments = ["--store", store, "import", export, "--batch", "50", "--quiet"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        for _ in 0..<12_000 {
            let size = try? FileManager.default.attributesOfItem(atPath: store + "/log.db-wal")[.size] as? Int
            if size ?? 0 > 400_000 || !process.isRunning { break }
            usleep(5_000)
        }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let again = try Programs.syncctl(store, ["import", export, "--json"])
        #expect(again.code == 0, "\(again.errors)")
        #expect((end(again)["appended"] ?? 0) + (end(again)["already"] ?? 0) == count)
        #expect(process.terminationReason != .uncaughtSignal || end(again)["already"] ?? 0 > 0)
        #expect(end(try Programs.syncctl(store, ["import", export, "--json"]))["already"] == count)
        #expect(try Programs.syncctl(store, ["verify"]).code == 0)
    }

    @Test("Read in another zone the same records are there with other content: counted, and left alone")
    func zones() throws {
        let store = try store("zones")
        let export = try file("z.txt", chat(3))
        #expect(try Programs.syncctl(store, ["import", export, "--timezone", "Asia/Seoul"]).code == 0)
        let other = try Programs.syncctl(store, ["import", export, "--timezone", "UTC", "--json"])
        // The first minute of an export may begin in its middle: its first message may stand elsewhere in it, and nowhere else.
        #expect(other.code == 4 && end(other)["differing"] == 3 && end(other)["appended"] == 0, "\(other.output)")
        #expect(try Programs.syncctl(store, ["import", export, "--timezone", "Mars/Base"]).code == 64)
    }

    @Test("What no importer reads is refused by its name, with a way out, and nothing of it is stored")
    func strangers() throws {
        let store = try store("strangers")
        let before = try Programs.syncctl(store, ["vector"]).output
        for (name, text) in [
            ("LibreChat", #"{"conversationId":"c","title":"t","exportAt":"x","recursive":false,"messages":[]}"#),
            ("chatbot-ui", #"{"version":4,"history":[{"id":"1","messages":[{"role":"user","content":"a"}]}]}"#),
            ("Instagram", #"{"messages":[{"sender_name":"a","timestamp_ms":1579294140000,"content":"b"}]}"#),
            ("Signal", "[2019-12-24, 12:23] Jane Doe: Hello\nJohn!\n"),
        ] {
            let path = try file("stranger", text)
            for more in [[], ["--dry-run"], ["--format", "auto"]] {
                let run = try Programs.syncctl(store, ["import", path] + more)
                #expect(run.code == 65 && run.errors.contains("E_IMPORT_FORMAT"), "\(name): \(run)")
                #expect(
                    run.errors.contains("an export of \(name)") && run.errors.contains("native NDJSON made of it"))
            }
            let korean = try Programs.syncctl(store, ["import", path, "--lang", "ko"])
            #expect(korean.errors.contains(name) && korean.errors.contains("NDJSON으로 바꾸어"), "\(korean.errors)")
        }
        #expect(try Programs.syncctl(store, ["vector"]).output == before)
        // With seconds it is a chat of WhatsApp, and it is one where the user says so.
        let phone = try file("WhatsApp Chat - a.txt", "[2019-12-24, 12:23:01] Jane Doe: Hello\n")
        #expect(try Programs.syncctl(store, ["import", phone]).code == 0)
        let said = try file("WhatsApp Chat - b.txt", "[2019-12-24, 12:23] Jane Doe: Hello\n")
        #expect(try Programs.syncctl(store, ["import", said, "--format", "whatsapp"]).code == 0)
    }

    @Test("A question without its answer is named, and taken where that is asked for; a later export adds the answer")
    func partial() throws {
        func export(_ more: String) throws -> String {
            try file(
                "chats.json",
                #"{"__collections__":{"chats":{"d1":{"senderId":"u","senderName":"User","sentDate":1686045669.5,"#
                    + #""messageId":"0B1B2C3D-0000-4000-8000-000000000004","text":"아파요"\#(more)}}}}"#)
        }
        let store = try store("partial")
        let path = try export("")
        let passed = try Programs.syncctl(store, ["import", path])
        #expect(passed.code == 0 && passed.output.contains("--partial takes it (d1)"), "\(passed)")
        let taken = try Programs.syncctl(store, ["import", path, "--partial", "--json"])
        #expect(taken.code == 0 && end(taken)["appended"] == 1 && end(taken)["passed_over"] == 0, "\(taken)")
        let later = try Programs.syncctl(store, ["import", try export(#","botResponse":"쉬세요""#), "--json"])
        #expect(end(later)["appended"] == 1 && end(later)["already"] == 1, "\(later)")
        let pairs = try Programs.syncctl(store, ["dialogues", "--json"]).lines
        #expect(pairs.first?["question"] as? String == "아파요" && pairs.first?["answer"] as? String == "쉬세요")
        for words in [
            [try file("chat.txt", chat(2)), "--partial"], ["-", "--partial"], [path, "--twice"], ["-", "--twice"],
            [try file("n.ndjson", #"{"type":"t","user":"u","data":{}}"#), "--partial"],
        ] {
            #expect(try Programs.syncctl(store, ["import"] + words).code == 64, "\(words)")
        }
    }

    // MARK: Out again

    private static let dialogue = [
        #"{"type":"conversation.started","id":"0198e2c4-0000-7c01-8b1e-000000000001","user":"u","time":"2026-08-01T00:00:00Z","subject":"conversation/c","data":{"title":"유심"}}"#,
        #"{"type":"message.posted","id":"0198e2c4-0000-7c01-8b1e-000000000002","user":"u","time":"2026-08-01T00:00:01Z","subject":"conversation/c","data":{"text":"=안녕 <b>"}}"#,
        #"{"type":"bot.replied","id":"0198e2c4-0000-7c01-8b1e-000000000003","user":"u","author":"bot","cause":"0198e2c4-0000-7c01-8b1e-000000000002","time":"2026-08-01T00:00:02Z","subject":"conversation/c","data":{"text":"네"}}"#,
        #"{"type":"survey.answered","id":"0198e2c4-0000-7c01-8b1e-000000000004","user":"u","time":"2026-08-01T00:00:03Z","subject":"conversation/c","data":{"survey":"satisfaction","question":"helpful","choice":"dissatisfied"}}"#,
        #"{"type":"message.posted","id":"0198e2c4-0000-7c01-8b1e-000000000005","user":"v","time":"2026-08-01T00:00:04Z","subject":"conversation/e","data":{"text":"혼잣말"}}"#,
        #"{"type":"profile.changed","id":"0198e2c4-0000-7c01-8b1e-000000000006","user":"u","time":"2026-08-01T00:00:05Z","data":{"fields":{"name":"하늘"}}}"#,
    ].joined(separator: "\n")

    @Test("Each form is the same from the files and from a daemon; what is asked wrongly is refused")
    func forms() throws {
        let alone = try store("alone")
        let daemon = try DaemonProcess("d")
        try daemon.start()
        defer { daemon.kill() }
        for target in [alone, daemon.store] {
            #expect(try Programs.syncctl(target, ["import", "-"], input: Self.dialogue).code == 0)
        }
        let zone = ["--timezone", "Asia/Seoul", "--conversation", "c"]
        for words in [
            ["csv"], ["csv", "--user", "u"], ["openai"], ["openai", "--context", "1"], ["dialogues"],
            ["openai", "--survey", "satisfaction=dissatisfied"], ["dialogues", "--conversation", "c"],
            ["html", "--lang", "ko"] + zone, ["html", "--lang", "en", "--since", "2026-08-01T00:00:02Z"] + zone,
        ] {
            let runs = try [alone, daemon.store].map { try Programs.syncctl($0, ["export", "--format"] + words) }
            #expect(runs[0].code == 0 && runs[1].code == 0, "\(words): \(runs[0].errors) \(runs[1].errors)")
            // When and where a page was made is its own.
            let texts = runs.map {
                $0.output.replacing(/(Exported at|내보낸 시각:) [0-9: -]*/, with: "")
                    .replacing(/<dt>(Node|Log|Head|노드|로그|헤드)<.*/, with: "")
            }
            #expect(!texts[0].isEmpty && texts[0] == texts[1], "\(words)")
        }
        let page = try Programs.syncctl(alone, ["export", "--format", "html", "--lang", "ko"] + zone).output
        #expect(page.contains("=안녕 &lt;b&gt;") && page.contains(">하늘<") && page.contains("09:00:01"))
        let table = try Programs.syncctl(alone, ["export", "--format", "csv"]).output
        #expect(table.contains(",'=안녕 <b>,") && table.contains("혼잣말"))
        for (words, code) in [
            (["html"], Int32(64)), (["html", "--conversation", "none"], 1), (["csv", "--type", "x"], 64),
            (["csv", "--context", "2"], 64), (["openai", "--survey", "satisfaction"], 64),
            (["openai", "--json"], 64),
            (["openai", "--conversation", "e"], 1), (["dialogues", "--survey", "satisfaction=satisfied"], 1),
            (["cloudevents", "--survey", "a=b"], 64),
            (["html", "--timezone", "Mars/Base", "--conversation", "c"], 64),
            (["html", "--proof", "--conversation", "c"], 64), (["csv", "--out", "x"], 64), (["csv", "--proof"], 64),
        ] {
            let run = try Programs.syncctl(alone, ["export", "--format"] + words)
            #expect(run.code == code, "\(words): \(run.code) \(run.errors)")
        }
        // The same pairs by their own command, in all forms.
        for words in [[], ["--conversation", "c"], ["--user", "u"], ["--survey", "satisfaction=dissatisfied"]] {
            let runs = try ["export --format dialogues", "dialogues --csv", "dialogues --json", "dialogues --plain"]
                .map {
                    try Programs.syncctl(alone, $0.split(separator: " ").map(String.init) + words)
                }
            #expect(runs.allSatisfy { $0.code == 0 } && runs[0].output == runs[1].output, "\(words): \(runs)")
            let pair = try #require(runs[2].lines.first)
            #expect(pair["question"] as? String == "=안녕 <b>" && pair["seconds"] as? Double == 1, "\(pair)")
            #expect(pair["satisfaction"] as? String == "dissatisfied" && pair["comment"] is NSNull)
            #expect(runs[2].lines.last?["count"] as? Int == 1 && runs[2].lines.count == 2)
            #expect(
                runs[3].output.split(separator: "\n").count == 2 && runs[3].output.contains("\t=안녕 <b>\t네\t1.000\t"))
        }
        for (words, code) in [
            (["--survey", "satisfaction=satisfied"], Int32(1)), (["--until", "2026-08-01T00:00:01Z"], 1),
            (["--user", "v"], 1), (["--survey", "="], 64), (["--csv", "--json"], 64), (["--type", "x"], 64),
        ] {
            #expect(try Programs.syncctl(alone, ["dialogues"] + words).code == code, "\(words)")
        }
        #expect(try Programs.syncctl(alone, ["dialogues", "--lang", "ko"]).output.contains("걸린 초"))
        // One conversation without an answer.
        let lines = try Programs.syncctl(alone, ["export", "--format", "openai"])
        #expect(
            lines.output.split(separator: "\n").count == 1 && lines.errors.contains("left out (1): conversations"))
    }
}

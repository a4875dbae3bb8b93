import Foundation
import TestSupport
import Testing

/// The commands of docs/operating/auditing.md, as processes: why, diff, replay, subject.
@Suite(.serialized)
struct AuditingTests {
    private static let question = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e01"
    private static let reply = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e02"
    private static let survey = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e03"
    private static let missing = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4eff"

    private static func line(
        _ type: String, _ id: String, _ data: String, author: String = "kim", user: String = "kim",
        cause: String? = nil,
        conversation: String? = "c"
    ) -> String {
        var line = #"{"type":"\#(type)","id":"\#(id)","user":"\#(user)","author":"\#(author)","data":\#(data)"#
        if let cause { line += #","cause":"\#(cause)""# }
        if let conversation { line += #","subject":"conversation/\#(conversation)""# }
        return line + "}"
    }

    private static let dialogue = [
        line(
            "bot.configured", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e00",
            #"{"model":"m-1","persona":{"name":"닥터","version":"3"}}"#, author: "bot/medibot", user: "bot/medibot",
            conversation: nil),
        line(
            "conversation.started", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e10",
            #"{"title":"두통","participants":["kim","lee"]}"#),
        line("message.posted", question, #"{"text":"머리가 아파요"}"#),
        line(
            "bot.replied", reply,
            #"{"text":"언제부터 아프셨어요?","model":"m-1","persona":{"name":"닥터","version":"3"},"prompt":"p-7"}"#,
            author: "medibot", cause: question),
        line("survey.answered", survey, #"{"survey":"만족도","question":"도움","choice":"예"}"#, cause: reply),
        line(
            "message.edited", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e04", #"{"message":"\#(reply)","text":"언제부터요?"}"#,
            author: "medibot", cause: survey),
        line(
            "message.posted", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e05", #"{"text":"남의 말"}"#, author: "lee", user: "lee"),
        line(
            "message.posted", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e06", #"{"text":"다른 방"}"#, cause: missing,
            conversation: "d"),
        line(
            "message.posted", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e07", #"{"text":"이의 이력에 쓴 말"}"#, user: "lee",
            conversation: "e"),
        line(
            "profile.changed", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e08", #"{"fields":{"name":"김하늘"}}"#,
            conversation: nil),
    ].joined(separator: "\n")

    private func started() throws -> (DaemonProcess, APIClient) {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        let imported = try Programs.syncctl(daemon.store, ["import", "-"], input: Self.dialogue)
        #expect(imported.code == 0, "\(imported.errors)")
        return (daemon, api)
    }

    private func token(_ api: APIClient, _ principal: String, _ roles: [String]) throws -> String {
        let list = roles.map { "\"\($0)\"" }.joined(separator: ",")
        let answer = try #require(
            api.ask("POST", "/v1/credentials", body: #"{"principal":"\#(principal)","roles":[\#(list)]}"#))
        let header = "Authorization: Bearer \(try #require(answer.1.first?["token"] as? String))"
        waitWhile(api.ask("GET", "/v1/me", headers: [header])?.0 != 200)
        return header
    }

    @Test("The tree is the same through the daemon and from the files, and readable in both languages")
    func why() throws {
        let (daemon, _) = try started()
        var told: [String] = []
        for isRunning in [true, false] {
            if !isRunning { #expect(daemon.terminate() == 0) }
            let run = try daemon.syncctl("why", Self.reply, "--json")
            #expect(run.code == 0, "\(run.errors)")
            told.append(run.output)
            let lines = run.lines
            #expect(lines.dropLast().map { $0["depth"] as? Int } == [-1, -1, 0, 1, 1], "\(run.output)")
            #expect(lines[2]["id"] as? String == Self.reply && lines[2]["parent"] as? String == Self.question)
            #expect(lines[2]["text"] as? String == "언제부터요?" && lines.last?["whole"] as? Bool == true)
        }
        #expect(told[0] == told[1])
        let korean = try daemon.syncctl("why", Self.question, "--lang", "ko", "--ids")
        #expect(
            korean.output.contains("> message.posted") && korean.output.contains("    bot.replied"),
            "\(korean.output)")
        #expect(korean.output.contains("[모델 m-1] [페르소나 닥터 3] [프롬프트 p-7]"), "\(korean.output)")
        #expect(korean.output.contains("수정됨: medibot"))
        let pending = try daemon.syncctl("why", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e06")
        #expect(pending.output.contains("(has not come to this node yet) \(Self.missing)"), "\(pending.output)")
        #expect(try daemon.syncctl("why", Self.missing).code == 1)
        #expect(try daemon.syncctl("why", "--rows", "0", "2").code == 64)
        #expect(try daemon.syncctl("why", "--rows", "2", Self.question).output.contains("[cut here]"))
    }

    @Test(
        "Through the API everybody sees what they may see of each event, and an auditor's look is recorded (INV-13, INV-17)"
    )
    func rights() throws {
        let (daemon, api) = try started()
        let target = "/v1/events/\(Self.reply)/why"
        #expect(api.ask("GET", target)?.1.count == 6)
        let lee = try token(api, "user/lee", ["user:lee"])
        let eve = try token(api, "user/eve", ["user:eve"])
        let auditor = try token(api, "auditor/park", ["auditor"])
        #expect(api.ask("GET", target, headers: [eve])?.0 == 404)
        // Lee takes part in the conversation, and does not see how the bot is set up.
        let seen = try #require(api.ask("GET", target, headers: [lee])?.1)
        #expect(seen.compactMap { $0["depth"] as? Int } == [-1, 0, 1, 1], "\(seen)")
        #expect(api.ask("GET", target, headers: [auditor])?.0 == 400)
        #expect(api.ask("GET", target, headers: [auditor, "Sillok-Reason: complaint 5"])?.0 == 200)
        let reads = try #require(api.ask("GET", "/v1/access")?.1)
        #expect(Set(reads[0]["users"] as? [String] ?? []) == ["kim", "medibot", "bot/medibot"], "\(reads[0])")
        for bad in ["limit=0", "limit=501", "depth=501", "depth=-1", "cursor=x"] {
            #expect(api.ask("GET", target + "?" + bad)?.0 == 400, "\(bad)")
        }
        #expect(api.ask("GET", "/v1/events/\(Self.missing)/why")?.0 == 404)
        #expect(api.ask("GET", "/v1/events/nonsense/why")?.0 == 404)
        _ = daemon
    }

    @Test("What a page showed then, and what has changed")
    func diff() throws {
        let (daemon, _) = try started()
        let end = try #require(try daemon.syncctl("history", "kim", "--json").lines.last)
        #expect(end["count"] as? Int == 7)
        // origin.started stands first; the reply is the fifth, its edit the seventh.
        let run = try daemon.syncctl("diff", "--conversation", "c", "--known-at", "5", "--known-at", "8", "--json")
        let changes = run.lines.dropLast()
        #expect(
            changes.map { ($0["changes"] as? [String])?.joined() ?? "" }.sorted() == [
                "added", "added", "added", "edited",
            ],
            "\(run.output)\(run.errors)")
        let edited = try #require(changes.first { $0["changes"] as? [String] == ["edited"] })
        #expect((edited["before"] as? [String: Any])?["text"] as? String == "언제부터 아프셨어요?")
        #expect((edited["after"] as? [String: Any])?["text"] as? String == "언제부터요?")
        let korean = try daemon.syncctl("diff", "kim", "--known-at", "seq:5", "--lang", "ko")
        #expect(korean.output.contains("수정됨") && korean.output.contains("  이전"), "\(korean.output)")
        let profile = try daemon.syncctl("diff", "kim", "--profile", "--known-at", "5", "--json")
        #expect(profile.lines.first?["name"] as? String == "name" && profile.lines.first?["before"] is NSNull)
        #expect(try daemon.syncctl("diff", "kim", "--known-at", "11").code == 1)
        for wrong in [
            ["diff"], ["diff", "kim"], ["diff", "kim", "--known-at", "8", "--known-at", "5"],
            ["diff", "kim", "--known-at", "99"], ["diff", "kim", "--known-at", "1", "--as-of", "2h"],
            ["diff", "--profile", "--conversation", "c", "--known-at", "1"],
        ] {
            #expect(try Programs.syncctl(daemon.store, wrong).code == 64, "\(wrong)")
        }
    }

    @Test("A store made anew has equal digests, is refused as a node's, and is not made over another")
    func replayInto() throws {
        let (daemon, _) = try started()
        #expect(daemon.terminate() == 0)
        let copy = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let run = try daemon.syncctl("replay", "--all", "--into", copy, "--json")
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.lines.first?["roots"] as? String == "equal" && run.lines.first?["views"] as? String == "equal")
        let digests = try [daemon.store, copy].map { try Programs.syncctl($0, ["digest", "--search"]).output }
        #expect(digests[0] == digests[1] && !digests[0].isEmpty)
        #expect(try Programs.syncctl(copy, ["verify", "--views"]).code == 0)
        #expect(try Programs.syncctl(copy, ["append", "--user", "u", "--text", "x"]).code != 0)
        #expect(!FileManager.default.fileExists(atPath: copy + "/node.key"))
        let again = try daemon.syncctl("replay", "--all", "--into", copy)
        #expect(again.code == 73 && again.errors.contains("not empty"), "\(again.errors)")
        #expect(try daemon.syncctl("replay", "--user", "kim", "--into", copy + "2").code == 64)
        // The end of a part is no one's word: verify would call it forged.
        let part = try daemon.syncctl("replay", "--all", "--into", copy + "2", "--known-at", "4")
        #expect(part.code == 64 && part.errors.contains("backup restore"), "\(part.errors)")
    }

    @Test(
        "A replay that was killed leaves nothing in the way of the next one, which does not take it away under one that runs"
    )
    func replayKilled() throws {
        let daemon = try DaemonProcess("n")
        #expect(try daemon.syncctl("init", "--name", "n").code == 0)
        let lines = (0..<60_000).map { #"{"type":"message.posted","user":"u","data":{"text":"말 \#($0)"}}"# }
        #expect(try daemon.syncctl("import", "-", input: lines.joined(separator: "\n") + "\n").code == 0)
        let copy = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let process = Process()
        process.executableURL = Programs.folder.appending(path: "syncctl")
        process.arguments = ["--store", daemon.store, "replay", "--all", "--into", copy]
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        for _ in 0..<4_000 where !FileManager.default.fileExists(atPath: copy + "/log.new") { usleep(2_000) }
        let second = try daemon.syncctl("replay", "--all", "--into", copy)
        #expect(second.code != 0 && second.errors.contains("E_LOCKED"), "\(second.errors)")
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(try FileManager.default.contentsOfDirectory(atPath: copy).contains("log.new"))
        // What is not its own stays, and so does all else.
        try Data("x".utf8).write(to: URL(filePath: copy + "/mine"))
        let refused = try daemon.syncctl("replay", "--all", "--into", copy)
        #expect(refused.code != 0 && refused.errors.contains("not empty"), "\(refused.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: copy).contains("log.new"))
        try FileManager.default.removeItem(atPath: copy + "/mine")
        let again = try daemon.syncctl("replay", "--all", "--into", copy, "--json")
        #expect(again.code == 0 && again.lines.first?["views"] as? String == "equal", "\(again.errors)")
        #expect(try !FileManager.default.contentsOfDirectory(atPath: copy).contains { $0.hasPrefix("log.new") })
        let whole = try daemon.syncctl("replay", "--all", "--into", copy)
        #expect(whole.code != 0 && whole.errors.contains("a store is there"), "\(whole.errors)")
    }

    @Test("Events come as far apart as they were, divided by the speed; in the order of the log, too")
    func pace() throws {
        let daemon = try DaemonProcess("n")
        #expect(try daemon.syncctl("init", "--name", "n").code == 0)
        let lines = [("둘", "11:00:02"), ("하나", "11:00:00"), ("셋", "11:00:04")].map { text, time in
            #"{"type":"message.posted","user":"u","time":"2026-08-01T\#(time)+09:00","data":{"text":"\#(text)"}}"#
        }
        #expect(try daemon.syncctl("append", "-", input: lines.joined(separator: "\n")).code == 0)
        func texts(_ options: String...) throws -> [String] {
            let run = try Programs.syncctl(daemon.store, ["replay", "--user", "u", "--json"] + options)
            #expect(run.code == 0, "\(run.errors)")
            return run.lines.compactMap { ($0["data"] as? [String: Any])?["text"] as? String }
        }
        #expect(try texts() == ["하나", "둘", "셋"] && texts("--order", "log") == ["둘", "하나", "셋"])
        let start = Date()
        #expect(try texts("--speed", "4") == ["하나", "둘", "셋"])
        #expect((0.9...6).contains(Date().timeIntervalSince(start)))
        for wrong in ["0", "-1", "fast", "nan", "inf"] {
            #expect(try daemon.syncctl("replay", "--user", "u", "--speed", wrong).code == 64, "\(wrong)")
        }
    }

    @Test(
        "A package has all that is here of a person, is whole, proves itself, and is recorded before it is made (INV-17)"
    )
    func subject() throws {
        for isRunning in [true, false] {
            let (daemon, api) = try started()
            if !isRunning { #expect(daemon.terminate() == 0) }
            let out = TemporaryFolder.unusedPath()
            defer { try? FileManager.default.removeItem(atPath: out) }
            #expect(try daemon.syncctl("subject", "kim", "--out", out).code == 64)
            let run = try daemon.syncctl(
                "subject", "kim", "--out", out, "--reason", "민원 88", "--who", "김하늘", "--json")
            #expect(run.code == 0, "\(run.errors)")
            let told = try #require(run.lines.first)
            #expect(
                told["events"] as? Int == 7 && told["elsewhere"] as? Int == 1 && told["context"] as? Int == 1,
                "\(told)")
            #expect(told["conversations"] as? Int == 3 && told["reads"] as? Int == 1 && told["unproven"] as? Int == 0)
            func text(_ name: String) throws -> String {
                try String(contentsOfFile: out + "/" + name, encoding: .utf8)
            }
            #expect(try text("events.ndjson").split(separator: "\n").count == 8)
            #expect(try text("events.ndjson").contains("이의 이력에 쓴 말"))
            // What another has said is theirs.
            let context = try text("context.ndjson")
            #expect(context.contains(#""left_out":true"#) && !context.contains("남의 말"))
            #expect(try text("conversations/0001.ko.html").contains("[다른 사람의 말, 생략함]"))
            for name in try FileManager.default.subpathsOfDirectory(atPath: out)
            where name.hasSuffix(".html") || name.hasSuffix("json") {
                #expect(try !text(name).contains("남의 말"), "\(name)")
            }
            #expect(try text("index.ko.html").contains("김하늘") && text("index.en.html").contains("Who has looked"))
            #expect(
                try text("readers.ndjson").contains("민원 88")
                    && text("README.md").contains("check-proof proofs/history.proof"))
            for proof in ["history", "elsewhere-1"] {
                let check = try Programs.syncctl(daemon.store, ["check-proof", "\(out)/proofs/\(proof).proof"])
                #expect(check.code == 0, "\(proof): \(check.errors)\(check.output)")
            }
            let sums = Process()
            sums.executableURL = URL(filePath: "/usr/bin/sha256sum")
            sums.arguments = ["-c", "--quiet", "SHA256SUMS"]
            sums.currentDirectoryURL = URL(filePath: out)
            try sums.run()
            sums.waitUntilExit()
            #expect(sums.terminationStatus == 0)
            for name in try FileManager.default.subpathsOfDirectory(atPath: out) {
                let mode =
                    try FileManager.default.attributesOfItem(atPath: out + "/" + name)[.posixPermissions] as? Int
                #expect((mode ?? 0o777) & 0o077 == 0, "\(name)")
            }
            let again = try daemon.syncctl("subject", "kim", "--out", out, "--reason", "r", "--who", "w")
            #expect(again.code != 0 && again.errors.contains("not empty"))
            #expect(
                try daemon.syncctl("subject", "nobody", "--out", out + "x", "--reason", "r", "--who", "w").code == 1)
            if isRunning {
                #expect(api.ask("GET", "/v1/users/kim/readers")?.2.contains("민원 88") == true)
                let kim = try token(api, "user/kim", ["user:kim"])
                #expect(api.ask("GET", "/v1/users/kim/readers", headers: [kim])?.2.contains("김하늘") == true)
                let body = #"{"reason":"r","who":"w"}"#
                #expect(api.ask("POST", "/v1/users/kim/package", body: body, headers: [kim])?.0 == 403)
                for wrong in ["{}", #"{"reason":" ","who":"w"}"#, #"{"reason":"r","who":""}"#] {
                    #expect(api.ask("POST", "/v1/users/kim/package", body: wrong)?.0 == 400, "\(wrong)")
                }
                // No client can write such a record itself.
                let forged = #"{"type":"access.given","user":"kim","data":{"users":["kim"]}}"#
                #expect(api.ask("POST", "/v1/events", body: forged)?.0 == 422)
                try readersOfOthers(daemon, api)
            }
        }
    }

    /// Whom else an auditor looked at, and for what, is not the person's to know.
    private func readersOfOthers(_ daemon: DaemonProcess, _ api: APIClient) throws {
        let auditor = try token(api, "audit/a", ["auditor"])
        let search = "/v1/search?q=zebra%20-secretword&user=kim&user=park"
        #expect(api.ask("GET", search, headers: [auditor, "Sillok-Reason: case 7"])?.0 == 200)
        let out = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: out) }
        #expect(try daemon.syncctl("subject", "kim", "--out", out, "--reason", "r", "--who", "w").code == 0)
        for name in ["readers.ndjson", "index.ko.html", "index.en.html"] {
            let text = try String(contentsOfFile: "\(out)/\(name)", encoding: .utf8)
            #expect(text.contains("case 7") && text.contains("/v1/search"), "\(name)")
            #expect(!text.contains("secretword") && !text.contains("park"), "\(name)")
        }
    }

    @Test(
        "A package has its name when it is whole: a run that was killed leaves none, and the next one says what it found"
    )
    func killedPackage() throws {
        let daemon = try DaemonProcess("n")
        #expect(try daemon.syncctl("init", "--name", "n").code == 0)
        let lines = (0..<20_000).map {
            #"{"type":"message.posted","user":"kim","subject":"conversation/c-\#($0 % 9)","data":{"text":"말 \#($0)"}}"#
        }
        #expect(try daemon.syncctl("append", "-", input: lines.joined(separator: "\n")).code == 0)
        #expect(try daemon.syncctl("verify").code != 3)
        let out = TemporaryFolder.unusedPath()
        let part = out + ".unfinished"
        defer { for path in [out, part] { try? FileManager.default.removeItem(atPath: path) } }
        let arguments = ["subject", "kim", "--out", out, "--reason", "r", "--who", "w"]
        let process = Process()
        process.executableURL = Programs.folder.appending(path: "syncctl")
        process.arguments = ["--store", daemon.store] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let end = Date().addingTimeInterval(60)
        while ![out, part].contains(where: { FileManager.default.fileExists(atPath: $0 + "/events.ndjson") }),
            Date() < end
        {
            usleep(1_000)
        }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
        #expect(!FileManager.default.fileExists(atPath: out), "a folder that looks finished")
        let again = try Programs.syncctl(daemon.store, arguments)
        #expect(again.code == 0 && again.errors.contains("interrupted"), "\(again.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: out).contains("SHA256SUMS"))
        #expect(
            !FileManager.default.fileExists(atPath: part)
                && !FileManager.default.fileExists(atPath: out + "/UNFINISHED"))
        // What is not of such a run is left alone.
        try FileManager.default.createDirectory(atPath: out + "2.unfinished", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: out + "2.unfinished") }
        try Data("mine".utf8).write(to: URL(filePath: out + "2.unfinished/letter"))
        let other = try Programs.syncctl(
            daemon.store, ["subject", "kim", "--out", out + "2", "--reason", "r", "--who", "w"])
        #expect(
            other.code == 73 && FileManager.default.fileExists(atPath: out + "2.unfinished/letter"), "\(other.errors)"
        )
    }

    @Test("With everything in it, a package has others' words, too; hostile names stay text")
    func full() throws {
        let daemon = try DaemonProcess("n")
        #expect(try daemon.syncctl("init", "--name", "n").code == 0)
        let name = #"a<script>`\#u{202e}"#
        let lines = [
            #"{"type":"message.posted","user":"\#(name)","subject":"conversation/../../x","data":{"text":"<b>나</b>"}}"#,
            #"{"type":"message.posted","user":"other","subject":"conversation/../../x","data":{"text":"남의 말"}}"#,
        ]
        #expect(try daemon.syncctl("append", "-", input: lines.joined(separator: "\n")).code == 0)
        let out = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: out) }
        let run = try daemon.syncctl(
            "subject", name, "--out", out, "--reason", "`r` <i>", "--who", "w|\u{202e}", "--others", "full")
        #expect(run.code == 0, "\(run.errors)")
        let files = try FileManager.default.subpathsOfDirectory(atPath: out)
        #expect(files.contains("conversations/0001.ko.html") && files.contains("proofs/history.proof"))
        let page = try String(contentsOfFile: out + "/conversations/0001.en.html", encoding: .utf8)
        #expect(page.contains("남의 말") && page.contains("&lt;b&gt;나&lt;/b&gt;") && !page.contains("<script>"))
        for file in ["index.ko.html", "README.md"] {
            let text = try String(contentsOfFile: out + "/" + file, encoding: .utf8)
            #expect(!text.contains("\u{202e}"), "\(file)")
        }
        #expect(try !String(contentsOfFile: out + "/index.ko.html", encoding: .utf8).contains("<script>"))
    }
}

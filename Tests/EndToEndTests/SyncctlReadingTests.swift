import CommandLineKit
import Foundation
import TestSupport
import Testing

/// What `syncctl` shows of a store.
extension SyncctlProgramTests {
    @Test func historyIsAligned() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        let history = try await run("history", "김하늘")
        #expect(history.code == 0)
        let lines = history.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let heading = lines[0]
        #expect(heading.hasPrefix("TIME (+09:00) "))
        let rows = lines[1...].filter { !$0.isEmpty }
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
            try await tool.run(["history", "김하늘", "--json"] + arguments).events().compactMap { $0["type"] as? String }
        }
        #expect(try await kinds("--last", "2") == ["survey.answered", "profile.changed"])
        #expect(try await kinds("--first", "1") == ["conversation.started"])
        #expect(try await kinds("--type", "bot.replied") == ["bot.replied"])
        #expect(try await kinds("--role", "assistant") == ["bot.replied"])
        let said = try await kinds("--role", "all")
        #expect(Set(said) == ["message.posted", "bot.replied"] && said.contains("bot.replied"))
        #expect(try await kinds("--role", "user") == said.filter { $0 == "message.posted" })
        // Different ones must all hold.
        #expect(try await kinds("--role", "assistant", "--type", "profile.changed").isEmpty)
        let both = try await kinds("--role", "all", "--type", "bot.replied", "--type", "profile.changed")
        #expect(both == ["bot.replied"])
        #expect(try await run("history", "김하늘", "--role", "bot").code == 64)
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
            #"{"id":"\#(ids[0].dropLast())9","type":"message.edited","user":"mallory","subject":"conversation/d","cause":"\#(ids[2])","data":{"text":"남의 글"}}"#,
        ]
        let appended = try await run("append", "-", input: (posts + changes).joined(separator: "\n") + "\n")
        #expect(appended.code == 0, "\(appended.errors)")
        let shown = try await run("conversation", "c", "--type", "message.posted", "--utc")
        #expect(shown.text.contains("  better (edited by u at 20"))
        #expect(shown.text.contains("  (retracted by u at 20"))
        #expect(shown.text.contains("  text 2 [an edit by mallory at 20"))
        let original = try await run("conversation", "c", "--type", "message.posted", "--original")
        #expect(original.text.contains("  text 0 (edited by u at "))
        let objects = try await run("conversation", "c", "--type", "message.posted", "--json").objects()
        #expect(objects.map { $0["text"] as? String } == ["better", nil, nil, nil])
        #expect(objects.map { $0["original"] as? String } == ["text 0", nil, nil, nil])
        #expect((objects[1]["retracted"] as? [String: Any])?["by"] as? String == "u")
        let edits = objects.map { ($0["edits"] as? [[String: Any]])?.first }
        #expect(edits.map { $0?["author"] as? String } == ["u", nil, "mallory", nil])
        #expect(edits.map { $0?["applied"] as? Bool } == [true, nil, false, nil])
        #expect(edits[2]?["text"] as? String == "남의 글" && edits[2]?["id"] as? String == "\(ids[0].dropLast())9")
        let full = try await run("conversation", "c", "--type", "message.posted", "--full")
        #expect(full.text.contains("\nbetter\n  (edited by u at "))
        #expect(full.text.contains("\(ids[2])\ntext 2\n  (edited by mallory at "))
        #expect(full.text.contains("does not count)\n    남의 글\n"))
    }

    @Test func fullMessagesKeepTheirLineEnds() async throws {
        try await makeStore()
        let line =
            #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"one\n\n  two\u001b[31m\r\nthree"}}"#
        #expect(try await run("append", "-", input: line + "\n").code == 0)
        for command in [["history", "u"], ["conversation", "c"]] {
            let full = try await run(command[0], command[1], "--full")
            #expect(full.text.contains("\none\n\n  two\\x1b[31m\nthree\n"))
            #expect(try await run(command[0], command[1]).text.contains(#"one\n\n  two\x1b[31m\r\nthree"#))
        }
    }

    @Test func otherViewsAnswer() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        let conversations = try await run("conversations", "--json").objects()
        #expect(conversations.compactMap { $0["conversation"] as? String } == ["c-90", "c-88"])
        #expect(conversations[1]["title"] as? String == "두통 상담")
        #expect(conversations[1]["version"] as? Int == 3)

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

    @Test func damagedViewsAreBuiltAnew() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        #expect(try await run("history", "alice").code == 0)
        for suffix in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: folder.file("store/views.db" + suffix))
        }
        _ = try folder.write(Data(repeating: 0x5a, count: 20_000), to: "store/views.db")
        let history = try await run("history", "alice", "--json")
        #expect(history.code == 0, "\(history.errors)")
        #expect(try history.events().first?.text == "hello")
        #expect(try await run("verify").code == 0)
    }

    @Test func tailShowAndReplayReadTheLog() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        let tail = try await run("tail", "-n", "2", "--json").events()
        #expect(tail.compactMap { $0["position"] as? String } == ["6", "7"])
        let filtered = try await run("tail", "--conversation", "c-88", "--type", "bot.replied", "--json").events()
        #expect(filtered.count == 1)
        #expect(filtered[0].text == "Since when exactly? 1) 오늘 2) 어제")

        let origin = try #require((tail[0]["source"] as? String)?.split(separator: "/").last)
        for name in ["3", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f", "\(origin)/3"] {
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
        let known = try await run("replay", "--all", "--known-at", "2", "--json").objects()
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
        // Who has never asked begins now, or at the start if that is said.
        #expect(try await run("tail", "--cursor-file", folder.file("now"), "--json").objects().count == 1)
        let all = try await run("tail", "--cursor-file", file, "--from-start", "--json").objects()
        #expect(all.last?["count"] as? Int == 7)
        #expect(try await run("tail", "--cursor-file", file, "--json").objects().last?["count"] as? Int == 0)
        _ = try await run("append", "--user", "u", "--text", "new")
        #expect(try await run("tail", "--cursor-file", file, "--json").events().first?.text == "new")
        #expect(try await run("tail", "--cursor-file", folder.file("now"), "--json").events().count == 1)

        #expect(try await tool.run(["init", "--store", folder.file("other")]).code == 0)
        let foreign = try await run("tail", "--cursor-file", file, "--store", folder.file("other"))
        #expect(foreign.code == 65)
        #expect(foreign.errors.contains("[E_CURSOR]"))
    }

    @Test("A follower goes on in the same log in another file, and ends where the log is another one")
    func aFollowedLogIsReplaced() async throws {
        try await makeStore()
        _ = try await run("append", "--user", "u", "--text", "first")
        let (store, copy, output) = (folder.file("store"), folder.file("copy"), folder.file("out"))
        let script = """
            say() { '\(tool.path)' append --store "$1" --user u --text "$2" >/dev/null; }
            seen() { i=0; while [ $i -lt 500 ] && ! grep -q "$1" '\(output)'; do sleep 0.02; i=$((i+1)); done; }
            cp -a '\(store)' '\(copy)'
            '\(tool.path)' tail -f --store '\(store)' >'\(output)' 2>'\(output).err' & child=$!
            seen first
            cp -a '\(store)' '\(store).new'; say '\(store).new' second
            mv '\(store)' '\(store).old'; mv '\(store).new' '\(store)'
            seen second
            say '\(copy)' other; say '\(copy)' and; say '\(copy)' more
            mv '\(store)' '\(store).older'; mv '\(copy)' '\(store)'
            wait $child; echo $?
            """
        let shell = Tool(path: "/bin/sh", environment: tool.environment)
        let run = try await shell.run(["-c", script])
        #expect(run.lines == ["65"], "\(run)")
        let printed = try String(contentsOfFile: output, encoding: .utf8)
        #expect(printed.contains("second") && !printed.contains("other"))
        #expect(try String(contentsOfFile: output + ".err", encoding: .utf8).contains("[E_CURSOR]"))
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
        // Root may write anywhere; a folder where the views should be keeps even root from making them.
        try FileManager.default.createDirectory(atPath: folder.file("copy/lock"), withIntermediateDirectories: false)
        let history = try await run("history", "alice", "--store", folder.file("copy"), "--json")
        #expect(history.code == 0, "\(history.errors)")
        #expect(try history.events().first?.text == "hello")
        #expect(!FileManager.default.fileExists(atPath: folder.file("copy/views.db")))
    }
}

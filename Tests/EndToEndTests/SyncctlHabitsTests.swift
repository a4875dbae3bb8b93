import CommandLineKit
import Foundation
import TestSupport
import Testing

@testable import syncctl

/// What holds for every command: help, exit codes, JSON, hostile text, signals; and checking and administration.
extension SyncctlProgramTests {
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
        #expect(objects.contains { $0["type"] as? String == "finding" && $0["position"] as? Int == 3 })
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

    @Test("What works on files works on none that it finds by itself where the environment names a node")
    func namedNodes() async throws {
        try await makeStore()
        let here = Tool(path: tool.path)
        for command in [
            ["verify"], ["export"], ["digest"], ["replay", "--all"], ["doctor"], ["vector"],
            ["backup", "create", "b"], ["erase", "status"],
            ["erase", "user", "u", "--reason", "r", "--who", "w", "--dry-run"],
        ] {
            var named = here
            // Here it would find ./syncd-dev.
            named.environment["SYNCCTL_URL"] = "http://127.0.0.1:1"
            let refused = try await named.run(command, in: folder.path)
            #expect(refused.code == 64, "\(command): \(refused.code) \(refused.errors)")
            #expect(refused.errors.contains("SYNCCTL_URL names a node"), "\(command): \(refused.errors)")
        }
        var both = here
        (both.environment["SYNCCTL_URL"], both.environment["SYNCCTL_OUTPUT"]) = ("http://127.0.0.1:1", "")
        #expect(try await both.run(["verify", "--store", folder.file("store")], in: folder.path).code == 0)
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

    @Test("The help of --match says what each command goes by: titles, names, or what was looked for")
    func matchSaysWhatItGoesBy() async throws {
        let texts = [
            "rooms": "Only in whose titles words begin so", "conversations": "Only in whose titles words begin so",
            "users": "Only whose names begin so", "searches": "Only what begins so",
        ]
        for (command, text) in texts {
            let help = try await tool.run([command, "--help"]).text.split { " \n".contains($0) }
            #expect(help.joined(separator: " ").contains("--match TEXT \(text), whatever the case."), "\(help)")
        }
    }

    @Test("A search that lacks the newest events ends with 2, be something found or not", arguments: [false, true])
    func searchThatLacksEvents(isFound: Bool) {
        #expect(SearchCommand.exitCode(isFound: isFound, 458) == .degraded)
        #expect(SearchCommand.exitCode(isFound: isFound, 0) == (isFound ? .success : .nothingFound))
    }

    @Test func everyReadingCommandEndsItsJSON() async throws {
        try await makeStore()
        _ = try await run("import", "-", input: Self.sample)
        let commands: [[String]] = [
            ["history", "alice"], ["conversation", "c-88"], ["conversations"], ["profile", "alice"], ["survey"],
            ["survey", "pain"], ["digest"], ["tail"], ["show", "1"], ["replay", "--all"], ["export"], ["verify"],
            ["status"],
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
        let file = try await tool.run(["tail", "--store", "/etc/passwd"])
        #expect(file.errors.contains("[E_STORE_FILE]") && !file.errors.contains("init"), "\(file.errors)")
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
        #expect(tail.errors == "" || tail.errors == "syncctl: using the store ./syncd-dev\n")
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
        #expect(line.code == 65)
        #expect(!line.errors.contains("\u{1b}"))
    }

    @Test func anUnknownFormOfOutputIsNoGuess() async throws {
        try await makeStore()
        var odd = tool
        odd.environment["SYNCCTL_OUTPUT"] = "xml"
        let run = try await odd.run(["status"])
        #expect(run.code == 64 && run.lines.isEmpty)
        #expect(run.errors.contains("SYNCCTL_OUTPUT=xml: it is human, plain, json or csv"))
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
            i=0; while [ $i -lt 500 ] && ! grep -q 'line 2:' '\(folder.path)/errors'; do sleep 0.02; i=$((i+1)); done
            kill -INT $child; wait $child; echo $?
            """
        _ = try folder.write(Data(), to: "errors")
        // A shell lets its background jobs ignore SIGINT; syncctl asks for it again.
        let shell = Tool(path: "/bin/sh", environment: tool.environment)
        let run = try await shell.run(["-c", "exec 2>'\(folder.path)/errors'; " + script])
        #expect(run.lines == ["2 lines: 1 appended, 0 already there, 1 rejected", "130"])
        let errors = try String(contentsOfFile: folder.file("errors"), encoding: .utf8)
        #expect(errors.contains("Run the same command again to go on"))
    }

    @Test("An empty --store and an empty SYNCCTL_STORE name no store: nothing is written into the usual one")
    func emptyStore() async throws {
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        #expect(try await tool.run(["init"], in: folder.path).code == 0)
        let words = ["append", "--user", "u", "--text", "lost"]
        let lines = try await tool.run(["export"], in: folder.path).lines
        for command in [words, ["export"], ["init"], ["import", "-"], ["verify"]] {
            let run = try await tool.run(["--store", ""] + command, in: folder.path)
            #expect(run.code == 64 && run.errors.contains("[E_USAGE]"), "\(command): \(run.errors)")
        }
        tool.environment["SYNCCTL_STORE"] = ""
        for command in [words, ["export"], ["init"]] {
            let run = try await tool.run(command, in: folder.path)
            #expect(run.code == 64 && run.errors.contains("SYNCCTL_STORE"), "\(command): \(run.errors)")
        }
        #expect(try await tool.run(["--store", "syncd-dev", "export"], in: folder.path).lines == lines)
    }

    @Test(
        "What init takes for a name the daemon's configuration takes, too, and nothing else",
        arguments: ["서울", "a b", "x"])
    func names(name: String) async throws {
        let folder = try TemporaryFolder.made()
        let longest = name == "x" ? String(repeating: "x", count: 64) : name
        for name in [longest, longest + "/", ""] {
            let store = TemporaryFolder()
            let made = try await Tool.named("syncctl").run(["--store", store.path, "init", "--name", name])
            let checked = try await Tool.named("syncd").run(
                ["--dev", folder.file("d"), "--node-name", name, "--cluster", name, "--check-config"])
            #expect((made.code == 0) == (checked.code == 0), "\(name): \(made.errors) \(checked.errors)")
            #expect((made.code == 0) == (name == longest && !name.contains(" ")), "\(name): \(made.errors)")
        }
    }
}

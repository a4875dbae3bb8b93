import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What an operator is told, and what the documents promise of backups and settled findings.
struct OperatorTests {
    private let folder: TemporaryFolder
    private let syncd: Tool
    private let syncctl: Tool

    init() throws {
        folder = try TemporaryFolder.made()
        syncd = try Tool.named("syncd")
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        syncctl = tool
    }

    // MARK: Configuration

    @Test("Another cluster or name than the store's stops the start and names both; what nobody says does not")
    func otherStore() async throws {
        let store = folder.file("store")
        #expect(try await syncctl.run(["init", "--name", "seoul", "--cluster", "hospital"]).code == 0)
        func start(_ words: [String]) async throws -> Tool.Run {
            // Ends by itself: the socket's folder is not there.
            try await syncd.run(["--dev", store, "--socket", folder.file("none/s")] + words)
        }
        for (words, said, stored) in [
            (["--cluster", "clinic"], "clinic", "hospital"), (["--node-name", "busan"], "busan", "seoul"),
        ] {
            let run = try await start(words)
            #expect(run.code == 78 && run.errors.contains("[E_OTHER_STORE]"), "\(run.errors)")
            #expect(
                run.errors.contains("'\(said)' (\(words[0]))") && run.errors.contains("'\(stored)'"), "\(run.errors)")
        }
        let file = folder.file("c.json5")
        try Data(#"{ node: { cluster: "clinic" }, storage: { dir: "\#(store)" } }"#.utf8).write(
            to: URL(filePath: file))
        let run = try await syncd.run(["--config", file])
        #expect(run.code == 78 && run.errors.contains("c.json5:1:"), "\(run.errors)")
        for words in [[], ["--cluster", "hospital", "--node-name", "seoul"]] {
            #expect(try await start(words).code == 73)
        }
    }

    @Test("--check-config names what a start would refuse: files, addresses and stores")
    func refusedStarts() async throws {
        let store = folder.file("s")
        var made = syncctl
        made.environment["SYNCCTL_STORE"] = store
        #expect(try await made.run(["init", "--name", "seoul"]).code == 0)
        let long = folder.path + "/" + String(repeating: "x", count: 108)
        for (text, said) in [
            (
                #"api: { listen: "127.0.0.1:7461", tls: { certificate: "/nope.pem", key: "/nope.key" } }"#,
                "/nope.pem is not there"
            ),
            (#"api: { listen: "127.0.0.1:7461" }, metrics: { listen: "127.0.0.1:7461" }"#, "are one place"),
            (#"api: { socket: { path: "\#(long)" } }"#, "107 are possible"),
            (#"node: { name: "busan" }"#, "[E_OTHER_STORE]"), (#"node: { cluster: "other" }"#, "[E_OTHER_STORE]"),
        ] {
            let file = folder.file("c.json5")
            try #"{ storage: { dir: "\#(store)" }, \#(text) }"#.write(toFile: file, atomically: true, encoding: .utf8)
            for words in [["--check-config"], []] {
                let run = try await syncd.run(["--config", file] + words)
                #expect(run.code == 78 && run.errors.contains(said), "\(text): \(run.code) \(run.text)")
            }
        }
    }

    @Test(
        "--check-config of a file that is not there is an error; variables that --dev overrides and unknown zones are said"
    )
    func ignoredWords() async throws {
        let missing = try await syncd.run(["--check-config", "--config", folder.file("none.json5")])
        #expect(missing.code == 78 && missing.errors.contains("[E_CONFIG]"))
        if !FileManager.default.fileExists(atPath: "/etc/syncd/syncd.json5") {
            let usual = try await syncd.run(["--check-config"])
            #expect(usual.code == 78 && usual.errors.contains("/etc/syncd/syncd.json5"), "\(usual.text)")
        }
        var told = syncd
        told.environment["SYNCD_STORAGE__DIR"] = "/elsewhere"
        let checked = try await told.run(["--dev", folder.file("d"), "--check-config"])
        #expect(
            checked.code == 0 && checked.text.contains("note: SYNCD_STORAGE__DIR has no effect"), "\(checked.text)")

        #expect(try await syncctl.run(["init", "--name", "n"]).code == 0)
        for (zone, isSaid) in [
            ("Nope/Zone", true), ("Asia/Seoul", false), ("KST-9", false), ("UTC", false), ("", false),
        ] {
            var tool = syncctl
            tool.environment["TZ"] = zone
            #expect(try await tool.run(["tail"]).errors.contains("is no time zone") == isSaid, "\(zone)")
        }
    }

    @Test(
        "Times on the other side of a change of clocks have their own offset, and of a time that clocks show twice it is said which was taken"
    )
    func changingClocks() async throws {
        let folder = try TemporaryFolder.made()
        var syncctl = try Tool.named("syncctl")
        syncctl.environment["SYNCCTL_STORE"] = folder.file("s")
        #expect(try await syncctl.run(["init", "--name", "n"]).code == 0)
        let line = #"{"type":"message.posted","user":"u","time":"%","data":{"text":"x"}}"#
        let lines = ["2026-08-01T05:30:00Z", "2026-12-01T05:30:00Z"].map { line.replacing("%", with: $0) + "\n" }
        #expect(try await syncctl.run(["append", "-"], input: Data(lines.joined().utf8)).code == 0)
        syncctl.environment["TZ"] = "America/New_York"
        for form in [["--plain"], []] {
            let shown = try await syncctl.run(["history", "u"] + form).text
            let isSummer = shown.contains("(-04:00)")
            #expect(isSummer || shown.contains("(-05:00)"), "\(shown)")
            #expect(shown.contains("2026-08-01 01:30:00 -04:00") == !isSummer, "\(shown)")
            #expect(shown.contains("2026-12-01 00:30:00 -05:00") == isSummer, "\(shown)")
        }
        let full = try await syncctl.run(["history", "u", "--full"]).text
        #expect(
            full.contains("2026-08-01 01:30:00 (-04:00)") && full.contains("2026-12-01 00:30:00 (-05:00)"), "\(full)")
        for (text, isTwice) in [
            ("2026-11-01 01:30", true), ("2026-11-01 01:30 -05:00", false), ("2026-11-01 01:30 -04:00", false),
            ("2026-11-01 02:30", false), ("2026-11-01T06:30:00Z", false),
        ] {
            let said = try await syncctl.run(["history", "u", "--as-of", text]).errors
            #expect(said.contains("twice; it was taken with the offset -04:00") == isTwice, "\(text): \(said)")
        }
    }

    @Test("--check-config says which roles no one has, and which limit another one replaces")
    func remarks() async throws {
        let file = folder.file("r.json5")
        let text = """
            { storage: { dir: "\(folder.file("new"))" }, api: { max_body: "8MiB", max_pending: "8MiB", socket: {
              path: "\(folder.file("api.sock"))", roles: { "group:nosuch": ["auditor"], "user:nobody-here": ["app"], "uid:0": ["app"] } } } }
            """
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let run = try await syncd.run(["--config", file, "--check-config"])
        #expect(run.code == 0 && run.text.contains("there is no group nosuch"), "\(run.text)\(run.errors)")
        #expect(run.text.contains("there is no user nobody-here") && !run.text.contains("uid"), "\(run.text)")
        #expect(run.text.contains("api.max_pending: less than twice api.max_body"), "\(run.text)")
        let well = text.replacingOccurrences(of: #"max_pending: "8MiB""#, with: #"max_pending: "16MiB""#)
        try well.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try await !syncd.run(["--config", file, "--check-config"]).text.contains("api.max_pending"))
    }

    @Test(
        "A socket that is open to all is told, by --check-config and by the start; one with a group or roles is not")
    func openSocket() async throws {
        let file = folder.file("o.json5")
        for (socket, isTold) in [
            (#"mode: "0666", group: null"#, true), (#"mode: "0662", group: null"#, true),
            (#"mode: "0660", group: null"#, false), (#"mode: "0664", group: null"#, false),
            (#"mode: "0666", group: "root""#, false),
            (#"mode: "0666", group: null, roles: { "uid:7": ["app"] }"#, false),
        ] {
            let (dir, path) = (folder.file("o"), folder.file("o.sock"))
            let text = "{ storage: { dir: \"\(dir)\" }, api: { socket: { path: \"\(path)\", \(socket) } } }"
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let run = try await syncd.run(["--config", file, "--check-config"])
            let remark = "every user of this machine is a program (app)"
            #expect(run.code == 0 && run.text.contains(remark) == isTold, "\(socket): \(run.text)\(run.errors)")
        }
    }

    @Test("What is no UTF-8, no number of a user, or parts an actor is refused")
    func refusedTexts() async throws {
        let file = folder.file("u.json5")
        let provider = #"issuer: "i", audience: "a", jwks_file: "/nope", uid: "{sub}""#
        for (text, said) in [
            (Data("{ node: { name: \"".utf8) + Data([0xff, 0xfe]) + Data("\" } }".utf8), "it is not in UTF-8"),
            (Data("{} // ".utf8) + Data([0xed, 0xa0, 0x80]), "it is not in UTF-8"),
            (Data(#"{ api: { socket: { roles: { "uid:01": ["app"] } } } }"#.utf8), "'uid:01' names no one"),
            (Data(#"{ api: { socket: { roles: { "uid:+1": ["app"] } } } }"#.utf8), "'uid:+1' names no one"),
            (Data("{ api: { jwt: [{ name: \"a:b\", \(provider) }] } }".utf8), "'a:b' has a colon"),
        ] {
            try text.write(to: URL(filePath: file))
            let run = try await syncd.run(["--config", file, "--check-config"])
            #expect(run.code == 78 && run.errors.contains(said), "\(said): \(run.code) \(run.text)\(run.errors)")
        }
        let folder = folder.file("conf.d")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: URL(filePath: file))
        try Data([0x7b, 0x7d, 0x20, 0xc3]).write(to: URL(filePath: folder + "/more.conf"))
        let run = try await syncd.run(["--config", file, "--check-config"])
        #expect(run.code == 78 && run.errors.contains("more.conf: it is not in UTF-8"), "\(run.text)\(run.errors)")
    }

    @Test("Who may not read the lock is not told that no daemon runs")
    func anotherUser() async throws {
        guard geteuid() == 0, getpwnam("nobody") != nil else { return print("skipped: needs root and nobody") }
        let store = folder.file("store")
        #expect(try await syncctl.run(["init", "--name", "n"]).code == 0)
        let lock = try StoreLock(StoreFiles(store), owner: "syncd pid 1 socket \(folder.file("s"))")
        // As an auditor who may read the store.
        let parent = URL(filePath: folder.file("")).deletingLastPathComponent().path
        for path in [parent, folder.file(""), store] { chmod(path, 0o755) }
        for name in ["log.db", "log.db-wal", "log.db-shm", "views.db"] { chmod(store + "/" + name, 0o644) }
        chmod(store + "/lock", 0o600)
        let path = syncctl.path
        var shell = Tool(path: "/bin/sh")
        shell.environment["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
        let asNobody = "setpriv --reuid=nobody --regid=nogroup --clear-groups"
        guard try await shell.run(["-c", "\(asNobody) test -x \(path)"]).code == 0 else {
            return print("skipped: nobody cannot run the program")
        }
        let run = try await shell.run(["-c", "\(asNobody) \(path) --store \(store) status"])
        // /proc/locks may name the process; if it does not, nothing is claimed.
        #expect(run.text.contains("in use by") || run.text.contains("cannot tell"), "\(run.text) \(run.errors)")
        #expect(!run.text.contains("not running"))
        #expect(run.text.contains("in use by") || run.code == 2)
        withExtendedLifetime(lock) {}
    }

    @Test("Lists show event ids where that is asked for, and never cut the id of a conversation")
    func ids() async throws {
        #expect(try await syncctl.run(["init", "--name", "n"]).code == 0)
        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
        let conversation = "6CM3crsXHfQf6UD7KB-" + String(repeating: "x", count: 60)
        let words = ["append", "--user", "u", "--conversation", conversation, "--id", id, "--text", "안녕"]
        #expect(try await syncctl.run(words).code == 0)
        for command in [
            ["history", "u"], ["conversation", conversation], ["tail"], ["replay", "--all"],
        ] {
            let (plain, ids) = (try await syncctl.run(command), try await syncctl.run(command + ["--ids"]))
            #expect(!plain.text.contains(id) && ids.text.contains(id), "\(command)")
            #expect(ids.text.contains(conversation) || command[0] == "conversation", "\(ids.text)")
        }
        let known = try await syncctl.run(["replay", "--all", "--known-at", "3"])
        #expect(known.code == 64 && known.errors.contains("ends at position 2"), "\(known.errors)")
        let slip = try await syncctl.run(["history", "u", "--type", "mesage.posted"])
        #expect(slip.code == 1 && slip.errors.contains("did you mean message.posted?"), "\(slip.errors)")
        #expect(try await syncctl.run(["history", "nobody"]).errors.contains("there is no user nobody"))
        #expect(try await syncctl.run(["history", "u", "--sicne", "2h"]).errors.contains("syncctl history --help"))
        #expect(try await syncctl.run(["history", "u", "--since", "seq:3"]).code == 64)
    }

    // MARK: Backup

    /// The commands of the chapter "Backup" of docs/operating/backup.md, with the paths of a test in place of the usual ones.
    private func documentedBackup(store: String, copy: String) throws -> [String] {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/operating/backup.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let chapter = try #require(text.components(separatedBy: "## A plain copy\n").dropFirst().first)
        let commands = chapter.components(separatedBy: "\n#")[0].split(separator: "\n").filter {
            $0.hasPrefix("    $ ")
        }
        return commands.map {
            String($0.dropFirst(6).prefix { $0 != "#" })
                .replacingOccurrences(of: "/var/lib/syncd", with: store)
                .replacingOccurrences(of: "/copies/seoul", with: copy)
        }
    }

    @Test("The documented backup of a running node can be verified and started (INV-4)")
    func backup() async throws {
        let daemon = try DaemonProcess("seoul")
        try daemon.start()
        #expect(try daemon.syncctl("append", "--user", "u", "--text", "before").code == 0)
        let copy = folder.file("copy")
        let commands = try documentedBackup(store: daemon.store, copy: copy)
        #expect(commands.count == 2 && commands[0].contains("syncctl backup "), "\(commands)")
        var shell = Tool(path: "/bin/sh")
        shell.environment["PATH"] = "/usr/bin:/bin:\(URL(filePath: syncctl.path).deletingLastPathComponent().path)"
        for command in commands {
            let run = try await shell.run(["-c", command])
            // What was not signed yet when the copy was made is not proven: 2.
            let isFine = run.code == 0 || command.contains("verify") && run.code == 2
            #expect(isFine, "\(command)\n\(run.text)\(run.errors)")
        }
        daemon.kill()

        let restored = try await syncctl.run(["history", "u", "--store", copy])
        #expect(restored.text.contains("before"))
        // Started where it lies: it knows that it is a copy, and goes on.
        let appended = try await syncctl.run(["append", "--user", "u", "--text", "after", "--store", copy])
        #expect(appended.code == 0, "\(appended.errors)")
        #expect(try await syncctl.run(["doctor", "--store", copy]).text.contains("NEW_ORIGIN"))
        #expect(try await syncctl.run(["verify", "--store", copy]).code == 0)
    }

    @Test(
        "A backup beside a daemon that commits all the time ends, and has one state of the log; nothing half is left of one that fails"
    )
    func backupUnderLoad() async throws {
        let daemon = try DaemonProcess("seoul")
        let lines = (1...20_000).map {
            #"{"type":"message.posted","source":"/t","recordid":"\#($0)","subject":"conversation/c","user":"u","#
                + #""time":"2026-08-01T00:00:10Z","data":{"text":"말 \#($0) 말 말 말 말 말 말 말 말 말"}}"#
        }
        #expect(try Programs.syncctl(daemon.store, ["init", "--name", "seoul"]).code == 0)
        #expect(try daemon.syncctl("import", "-", input: lines.joined(separator: "\n")).code == 0)
        try daemon.start()
        let client = APIClient(socket: daemon.store + "/api.sock")
        let isDone = Lock(false)
        let appended = Task.detached {
            var count = 0
            while !isDone.withLock({ $0 }) {
                let line = #"{"type":"message.posted","subject":"conversation/c","user":"u","data":{"text":"x"}}"#
                if client.ask("POST", "/v1/events", body: line)?.0 == 200 { count += 1 }
            }
            return count
        }
        let copy = folder.file("copy")
        let run = try await syncctl.run(["backup", "copy", copy, "--json", "--store", daemon.store])
        isDone.withLock { $0 = true }
        #expect(run.code == 0, "\(run.errors)")
        #expect(await appended.value > 0)
        let verified = try await syncctl.run(["verify", "--store", copy, "--json"])
        #expect([0, 2].contains(verified.code) && run.text.contains(#""key":true"#), "\(verified.text)")
        let names = try FileManager.default.contentsOfDirectory(atPath: copy)
        #expect(Set(names).isSuperset(of: ["log.db", "node.key"]) && !names.contains("log.db.new"), "\(names)")

        let again = try await syncctl.run(["backup", "copy", copy, "--store", daemon.store])
        #expect(again.code != 0 && again.errors.contains("name a folder that is not there yet"), "\(again.errors)")
        let bare = folder.file("bare")
        #expect(try await syncctl.run(["backup", "copy", "--without-key", bare, "--store", daemon.store]).code == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bare) == ["log.db"])
        chmod(daemon.store + "/node.key", 0o700)
        let nowhere = ["backup", "copy", folder.file("no/where"), "--store", daemon.store]
        #expect(try await syncctl.run(nowhere).code == 74)
    }

    @Test("A copy without its key can be read and verified, and is not called damaged")
    func copyWithoutKey() async throws {
        #expect(try await syncctl.run(["init", "--name", "n"]).code == 0)
        #expect(try await syncctl.run(["append", "--user", "u", "--text", "x"]).code == 0)
        let store = folder.file("store")
        try FileManager.default.removeItem(atPath: store + "/node.key")
        #expect(try await syncctl.run(["history", "u"]).text.contains("x"))
        #expect(try await syncctl.run(["verify"]).code == 0)
        let doctor = try await syncctl.run(["doctor"])
        #expect(doctor.code == 0 && doctor.text.contains("KEY_MISSING (information)"), "\(doctor.text)")
        let started = try await syncd.run(["--dev", store])
        #expect(started.code == 66 && started.errors.contains("[E_NO_KEY]"), "\(started.errors)")
        #expect(started.errors.contains("a copy without node.key") && !started.errors.contains("damaged"))
        let appended = try await syncctl.run(["append", "--user", "u", "--text", "y"])
        #expect(appended.code == 66 && appended.errors.contains("[E_NO_KEY]"))
    }

    // MARK: Findings

    @Test("A settled finding is settled on every node; a new one about something else is open again")
    func settle() throws {
        let (a, b) = try makePair()
        _ = try converge(a, b)
        // A copy is a new origin: a finding for information, which can be settled, too.
        let store = a.store
        a.kill()
        let moved = store + ".moved"
        try? FileManager.default.removeItem(atPath: store + "/api.sock")
        try FileManager.default.moveItem(atPath: store, toPath: moved)
        try FileManager.default.copyItem(atPath: moved, toPath: store)
        try FileManager.default.removeItem(atPath: moved)
        try a.start()
        let found = try a.syncctl("doctor", "--json").lines.filter { $0["code"] as? String == "NEW_ORIGIN" }
        let subject = try #require(found.first?["subject"] as? String)
        #expect(try a.syncctl("doctor", "settle", "PEER_AWAY").code != 0)
        #expect(try a.syncctl("doctor", "settle", "FORK").code == 1)
        // Over the API, too, nothing can be settled that is not there.
        let api = APIClient(socket: store + "/api.sock")
        for (code, status, error) in [
            ("FORK", 404, "E_NO_FINDING"), ("AMNESIA", 404, "E_NO_FINDING"), ("NOSUCH", 400, "E_PARAMETER"),
        ] {
            let answer = api.ask("POST", "/v1/findings", body: #"{"code":"\#(code)","subject":"\#(subject)"}"#)
            #expect(answer?.0 == status && answer?.1.first?["code"] as? String == error, "\(answer?.2 ?? "")")
        }
        #expect(try a.syncctl("doctor", "settle", "NEW_ORIGIN", "--note", "옮겼다").code == 0)
        func open(_ node: DaemonProcess) throws -> Bool {
            try node.syncctl("doctor", "--json").lines.contains {
                $0["code"] as? String == "NEW_ORIGIN" && $0["settled"] == nil
            }
        }
        #expect(try !open(a))
        let all = try a.syncctl("doctor", "--all", "--json").lines.first { $0["subject"] as? String == subject }
        #expect((all?["settled"] as? [String: Any])?["note"] as? String == "옮겼다")
        #expect(try a.syncctl("doctor", "--all").output.contains("Settled at "))
        // The event travels, and says who settled it.
        let event = try a.syncctl("history", "node/\(a.node())", "--type", "finding.settled", "--json").lines.first
        let data = (event?["event"] as? [String: Any])?["data"] as? [String: Any]
        #expect(data?["code"] as? String == "NEW_ORIGIN" && data?["subject"] as? String == subject)
        #expect((event?["event"] as? [String: Any])?["actor"] as? String == "socket:uid:\(geteuid())")
        #expect(data?["of"] as? String == (try a.status()["origin"] as? String), "the origin that was started")
        // Without the daemon, too.
        #expect(a.terminate() == 0)
        #expect(try !open(a))
        #expect(try a.syncctl("doctor", "--all").output.contains("Settled at "))
        #expect(b.terminate() == 0)
        // What only nodes write is passed over by an import, and rejects nothing.
        let export = try a.syncctl("export").output
        let fresh = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: fresh) }
        #expect(try Programs.syncctl(fresh, ["init", "--name", "n"]).code == 0)
        let imported = try Programs.syncctl(fresh, ["import", "-"], input: export)
        #expect(imported.code == 0 && imported.output.contains("4 that only nodes write"), "\(imported.output)")
    }

    @Test("A daemon that could not serve its socket makes no store; what is said with --json is JSON")
    func nothingMade() async throws {
        let place = folder.file("new")
        let run = try await syncd.run([
            "--data-dir", place, "--socket", folder.file("none/s"), "--node-name", "n", "--peer-listen",
            "127.0.0.1:0",
        ])
        #expect(run.code == 73 && run.errors.contains("[E_SOCKET]"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: place))
        // A script with an unset variable does not mean the folder it stands in.
        let unset = try await syncd.run(["--dev", "--data-dir", "", "--check-config"], in: folder.path)
        #expect(unset.code != 0 && unset.errors.contains("storage.dir"), "\(unset)")
        #expect(try await syncctl.run(["init", "--name", "n"]).code == 0)
        for words in [["show", "99"], ["history", "nobody"], ["doctor", "settle", "FORK"]] {
            let said = try await syncctl.run(words + ["--json"])
            let line = try JSONSerialization.jsonObject(with: Data(said.errors.utf8)) as? [String: Any]
            #expect(said.code == 1 && line?["type"] as? String == "message", "\(words): \(said.errors)")
        }
    }
}

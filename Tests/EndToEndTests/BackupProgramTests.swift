import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Backups through the real programs: docs/operating/backup.md.
@Suite(.serialized)
struct BackupProgramTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder.made() }

    private func appends(_ node: DaemonProcess, _ count: Int, text: String = "말") throws {
        let lines = (0..<count).map {
            #"{"type":"message.posted","subject":"conversation/c","user":"u","data":{"text":"\#(text) \#($0)"}}"#
        }
        #expect(try node.syncctl("append", "-", "--json", input: lines.joined(separator: "\n") + "\n").code == 0)
    }

    private func create(_ node: DaemonProcess, _ more: String...) throws -> [String: Any] {
        let run = try Programs.syncctl(node.store, ["backup", "create", folder.file("repository"), "--json"] + more)
        #expect(run.code == 0, "\(run.errors)")
        return run.lines.first ?? [:]
    }

    private func syncctl(_ arguments: String...) throws -> Programs.Result {
        try Programs.syncctl(folder.file("nowhere"), arguments)
    }

    @Test("Beside a daemon that commits all the time: increments that verify, drills that are good (INV-3, INV-4)")
    func underLoad() async throws {
        let daemon = try DaemonProcess("seoul")
        try daemon.start()
        let client = APIClient(socket: daemon.store + "/api.sock")
        let isDone = DispatchSemaphore(value: 0)
        let appended = Task.detached {
            var count = 0
            while isDone.wait(timeout: .now()) == .timedOut {
                let line = #"{"type":"message.posted","subject":"conversation/c","user":"u","data":{"text":"x"}}"#
                if client.ask("POST", "/v1/events", body: line)?.0 == 200 { count += 1 }
            }
            return count
        }
        var positions: [Int] = []
        for _ in 0..<4 { positions.append(try create(daemon)["position"] as? Int ?? 0) }
        isDone.signal()
        #expect(await appended.value > 0)
        #expect(positions == positions.sorted() && positions.first ?? 0 > 0)
        let verified = try syncctl("backup", "verify", folder.file("repository"), "--json")
        #expect(
            verified.code == 0 && verified.lines.filter { $0["type"] as? String == "proven" }.count == 4,
            "\(verified.output)")
        let drill = try syncctl("backup", "drill", folder.file("repository"), "--json", "--scratch", folder.path)
        #expect(drill.code == 0 && drill.lines.first?["good"] as? Bool == true, "\(drill.output)\(drill.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["repository"])
        #expect(try daemon.verified() == 0)
    }

    @Test(
        "A newer backup that no node has signed is not the newest; a drill of it, and a verification, end with 2 (INV-19)"
    )
    func planted() throws {
        let node = try DaemonProcess("seoul")
        try node.start()
        try appends(node, 3)
        let id = try #require(try create(node)["id"] as? String)
        let (repository, other) = (folder.file("repository"), "20990101T000000Z-9")
        let text = try String(contentsOfFile: "\(repository)/backups/\(id).manifest", encoding: .utf8)
        var lines = text.split(separator: "\n").map(String.init)
        lines[0] = lines[0].replacingOccurrences(of: id, with: other)
            .replacing(/"time":"[^"]*"/, with: #""time":"2099-01-01T00:00:00.000Z""#)
        let body = lines.dropLast().joined(separator: "\n") + "\n"
        let end = #"{"type":"end","v":1,"sha256":"\#(SHA256().digest(Array(body.utf8)))"}"#
        try Data((body + end + "\n").utf8).write(to: URL(filePath: "\(repository)/backups/\(other).manifest"))
        for command in [["drill", repository], ["restore", repository, "--into", folder.file("r")]] {
            let run = try Programs.syncctl(folder.file("nowhere"), ["backup"] + command)
            #expect(run.code == 0 && run.output.contains(id), "\(run.output)\(run.errors)")
            #expect(run.errors.contains("\(other): newer than \(id), and not signed by the node"), "\(run.errors)")
        }
        #expect(try syncctl("backup", "drill", repository, "--backup", other).code == 2)
        #expect(try syncctl("backup", "verify", repository).code == 2)
        let again = try Programs.syncctl(node.store, ["backup", "create", repository, "--json"])
        #expect(again.lines.first?["base"] as? String == id && again.lines.first?["unsigned"] as? [String] == [other])
        #expect(again.errors.contains("\(other): not signed by this node"), "\(again.errors)")
        node.kill()
    }

    @Test(
        "A restored node goes on in a new origin, gets back from its peer what it had lost, and no seq has two histories (D12, INV-3, INV-6)"
    )
    func rejoins() throws {
        let (a, b) = try makePair()
        try appends(a, 30)
        _ = try create(a)
        try appends(a, 20, text: "verloren")
        _ = try converge(a, b)
        a.kill()
        try FileManager.default.removeItem(atPath: a.store)
        let restored = try syncctl("backup", "restore", folder.file("repository"), "--into", a.store)
        #expect(restored.code == 0, "\(restored.errors)")
        try a.start()
        #expect(try b.syncctl("peers", "remove", "a").code == 0)
        #expect(try b.syncctl("peers", "add", "a", "\(a.node())@127.0.0.1:\(a.port())").code == 0)
        try appends(a, 3, text: "nachher")
        let digest = try converge(a, b)
        #expect(!digest.isEmpty)
        #expect(try a.syncctl("history", "u", "--last", "100", "--json").output.contains("verloren 19"))
        for node in [a, b] {
            #expect(try node.verified() == 0, "\(node.name)")
            #expect(try !node.syncctl("doctor", "--all").output.contains("FORK"))
        }
        #expect(try a.syncctl("vector", "--json").lines.filter { $0["type"] as? String == "origin" }.count == 3)
    }

    @Test(
        "What was erased is gone from the repository with the next backup, and a restored store answers without it (INV-11)"
    )
    func erasure() throws {
        let word = "비밀\(UInt64.random(in: 1 << 60 ... .max))"
        let a = try DaemonProcess("seoul")
        try a.start()
        try appends(a, 5, text: word)
        _ = try create(a)
        let plan = folder.file("plan")
        let planned = try a.syncctl(
            "erase", "user", "u", "--authored", "erase", "--replies", "erase", "--reason", "요청", "--who", "kim",
            "--plan",
            plan)
        #expect(planned.code == 0, "\(planned.errors)")
        #expect(try a.syncctl("erase", "user", "u", "--confirm", plan).code == 0)
        #expect(try create(a)["rewritten"] as? Int == 1)
        let list = try syncctl("backup", "list", folder.file("repository"), "--json").lines.compactMap {
            $0["id"] as? String
        }
        #expect(list.count == 2)
        for id in list {
            let into = folder.file("r-\(id)")
            #expect(
                try syncctl("backup", "restore", folder.file("repository"), "--backup", id, "--into", into).code == 0)
            #expect(ByteScan.find([word], in: [into]).isEmpty)
        }
        #expect(try syncctl("backup", "drill", folder.file("repository")).code == 0)
    }

    @Test(
        "Through commands: a stream and one behind it, encrypted, restored from what they wrote; a command that fails is told"
    )
    func commands() throws {
        let a = try DaemonProcess("seoul")
        try a.start()
        let key = try folder.write(Data((0..<32).map { String(format: "%02x", $0) }.joined().utf8), to: "key")
        for number in 1...2 {
            try appends(a, 10)
            let run = try a.syncctl(
                "backup", "create", "--to-command", "cat > '\(folder.file("s\(number)"))'", "--base",
                folder.file("base"), "--key-file", key, "--json")
            #expect(
                run.code == 0 && run.lines.first?["after"] as? Int == (number == 1 ? 0 : 11),
                "\(run.output)\(run.errors)")
        }
        let streams = "cat '\(folder.file("s1"))' '\(folder.file("s2"))'"
        #expect(
            try syncctl("backup", "restore", "--from-command", streams, "--into", folder.file("r"), "--key-file", key)
                .code == 0)
        #expect(try [0, 2].contains(Programs.syncctl(folder.file("r"), ["verify"]).code))
        #expect(
            try Programs.syncctl(folder.file("r"), ["replay", "--all", "--json"]).lines.filter {
                $0["specversion"] != nil
            }.count == 21)
        #expect(try syncctl("backup", "restore", "--from-command", streams, "--into", folder.file("x")).code == 65)
        #expect(
            try syncctl(
                "backup", "restore", "--from-command", "exit 7", "--into", folder.file("x"), "--key-file", key
            ).errors.contains("E_BACKUP_COMMAND"))
        let base = FileManager.default.contents(atPath: folder.file("base"))
        let failed = try a.syncctl(
            "backup", "create", "--to-command", "cat > /dev/null; exit 3", "--base", folder.file("base"),
            "--key-file", key)
        #expect(failed.code == 74 && failed.errors.contains("status 3"), "\(failed.errors)")
        #expect(FileManager.default.contents(atPath: folder.file("base")) == base)
        #expect(try a.syncctl("backup", "create").code == 64)
    }

    @Test("What is wrong with a stream is told, and not that its giver could write no more to a pipe that was closed")
    func wrongStream() throws {
        let restore = ["backup", "restore", "--into", folder.file("r"), "--from-command"]
        let damaged = try Programs.syncctl(folder.file("nowhere"), restore + ["yes no stream"])
        #expect(damaged.code == 3 && damaged.errors.contains("E_BACKUP_DAMAGED"), "\(damaged.errors)")
        #expect(
            !damaged.errors.contains("has failed") && damaged.errors.contains("in their order"), "\(damaged.errors)")
        let failed = try Programs.syncctl(folder.file("nowhere"), restore + ["exit 7"])
        #expect(failed.code == 74 && failed.errors.contains("status 7"), "\(failed.errors)")
    }

    @Test("A backup that its node has not signed, or one of several nodes', is no success of verify or drill (INV-4)")
    func unproven() throws {
        let (repository, stores) = (folder.file("repository"), ["a", "b"].map { folder.file($0) })
        for (store, name) in zip(stores, ["seoul", "busan"]) {
            #expect(try Programs.syncctl(store, ["init", "--name", name]).code == 0)
            let line = #"{"type":"t","user":"u","data":{}}"# + "\n"
            #expect(try Programs.syncctl(store, ["append", "-"], input: line).code == 0)
        }
        #expect(try Programs.syncctl(stores[0], ["backup", "create", repository]).code == 0)
        #expect(try syncctl("backup", "drill", repository, "--scratch", folder.path).code == 0)
        let manifest = try #require(
            try FileManager.default.contentsOfDirectory(atPath: repository + "/backups").first { !$0.hasPrefix(".") })
        let path = "\(repository)/backups/\(manifest)"
        let good = try String(contentsOfFile: path, encoding: .utf8)
        try Data(good.replacing(#/,"signature":"[^"]*"}\n$/#, with: "}\n").utf8).write(to: URL(filePath: path))
        #expect(try syncctl("backup", "verify", repository).code == 2)
        let drill = try syncctl("backup", "drill", repository, "--json", "--scratch", folder.path)
        #expect(drill.code == 2 && drill.errors.contains("not signed"), "\(drill.output)\(drill.errors)")
        #expect(drill.lines.first?["good"] as? Bool == true && drill.lines.first?["signed"] as? Bool == false)
        try Data(good.utf8).write(to: URL(filePath: path))
        #expect(try syncctl("backup", "verify", repository).code == 0)
        #expect(try Programs.syncctl(stores[1], ["backup", "create", repository]).code == 0)
        let mixed = try syncctl("backup", "verify", repository)
        #expect(mixed.code == 2 && mixed.errors.contains("2 nodes"), "\(mixed.output)\(mixed.errors)")
        let restored = try syncctl("backup", "restore", repository, "--into", folder.file("r"))
        #expect(restored.code == 3 && restored.errors.contains("E_BACKUP_DAMAGED"), "\(restored.errors)")
    }

    /// Kills a run of syncctl after `delay`; how it ended.
    private func killed(_ arguments: [String], after delay: useconds_t) throws -> Int32 {
        let process = Process()
        process.executableURL = Programs.folder.appending(path: "syncctl")
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        usleep(delay)
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
    }

    @Test("Killed at any moment of a backup or a restore: what is listed is whole, and the next run goes on (INV-1)")
    func killedAnywhere() throws {
        let a = try DaemonProcess("seoul")
        #expect(try Programs.syncctl(a.store, ["init", "--name", "seoul"]).code == 0)
        let repository = folder.file("repository")
        var random = SplitMix64(state: 482)
        var cut = 0
        for number in 0..<20 {
            let lines = (0..<2_000).map {
                #"{"type":"message.posted","user":"u-\#($0 % 50)","data":{"text":"\#(number) \#($0) 말 말 말"}}"#
            }
            #expect(try a.syncctl("append", "-", input: lines.joined(separator: "\n") + "\n").code == 0)
            let delay = useconds_t(UInt64.random(in: 5_000...250_000, using: &random))
            if try killed(["--store", a.store, "backup", "create", repository], after: delay) != 0 { cut += 1 }
            if FileManager.default.fileExists(atPath: repository + "/repository.json") {
                let verified = try syncctl("backup", "verify", repository, "--json")
                // Of a run that was killed there may be segments that no backup names yet; nothing else.
                let end = verified.lines.last
                let isUnnamed = end?["findings"] as? Int == 0 && end?["unnamed"] as? Int ?? 0 > 0
                #expect(
                    [0, 1].contains(verified.code) || verified.code == 2 && isUnnamed,
                    "\(delay): \(verified.output)\(verified.errors)")
            }
        }
        #expect(cut > 0)
        _ = try create(a)
        #expect(try syncctl("backup", "prune", repository).code == 0)
        let end = try syncctl("backup", "verify", repository, "--json").lines.last
        #expect((end?["leftovers"] as? [String])?.isEmpty == true)
        cut = 0
        for _ in 0..<20 {
            let delay = useconds_t(UInt64.random(in: 5_000...900_000, using: &random))
            let into = folder.file("r")
            if try killed(["backup", "restore", repository, "--into", into], after: delay) != 0 { cut += 1 }
            // A folder under that name is a store.
            if FileManager.default.fileExists(atPath: into) {
                #expect(try [0, 2].contains(Programs.syncctl(into, ["verify"]).code))
                try FileManager.default.removeItem(atPath: into)
            }
        }
        #expect(cut > 0)
        #expect(try syncctl("backup", "restore", repository, "--into", folder.file("r")).code == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.file("r.restoring")))
        #expect(try [0, 2].contains(Programs.syncctl(folder.file("r"), ["verify"]).code))
    }

    private static let unshare = "/usr/bin/unshare"
    private static let mayMount: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: unshare)
        process.arguments = ["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    private static let story = """
        mount -t tmpfs -o size=8m none "$1" || exit 99
        export PATH="$2:$PATH"
        syncctl --store "$3" backup create "$1/repository" > "$1/out" 2>&1; echo "first: $?"
        syncctl backup verify "$1/repository" > "$1/out" 2>&1; echo "whole: $?"
        head -c 20m /dev/zero > "$1/filler" 2> /dev/null
        syncctl --store "$3" backup create --anew "$1/repository" 2>&1 | grep -o 'E_[A-Z_]*'
        syncctl backup restore "$1/repository" --into "$1/store" 2>&1 | grep -o 'E_[A-Z_]*'
        ls "$1" | grep -c store
        rm "$1/filler"
        syncctl backup verify "$1/repository" > "$1/out" 2>&1; echo "still: $?"
        syncctl --store "$3" backup create --anew "$1/repository" > "$1/out" 2>&1; echo "again: $?"
        """

    @Test(
        "On a full disk it says so, what was there stays whole, and nothing half is left (INV-1)",
        .enabled(if: mayMount, "needs mounts in a namespace of one's own"))
    func fullDisk() async throws {
        let store = folder.file("source")
        #expect(try Programs.syncctl(store, ["init", "--name", "n"]).code == 0)
        let lines = (0..<1_000).map { _ in
            #"{"type":"t","user":"u","data":{"x":"\#(UUID().uuidString)\#(UUID().uuidString)"}}"#
        }
        #expect(try Programs.syncctl(store, ["append", "-"], input: lines.joined(separator: "\n") + "\n").code == 0)
        try FileManager.default.createDirectory(atPath: folder.file("disk"), withIntermediateDirectories: true)
        let run = try await Tool(path: Self.unshare).run([
            "--user", "--map-root-user", "--mount", "sh", "-c", Self.story, "story", folder.file("disk"),
            Programs.folder.path, store,
        ])
        #expect(
            run.lines == ["first: 0", "whole: 0", "E_DISK", "E_DISK", "0", "still: 0", "again: 0"],
            "\(run.text)\(run.errors)")
    }
}

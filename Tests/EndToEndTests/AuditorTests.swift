import Foundation
import TestSupport
import Testing

/// Another user who may read some of a store gets all of its events, or none (operating/starting.md, "The store").
@Suite(.timeLimit(.minutes(5)))
struct AuditorTests {
    private static let setpriv = "/usr/bin/setpriv"
    private static let isRoot = geteuid() == 0 && FileManager.default.isExecutableFile(atPath: setpriv)

    /// Runs syncctl as a user who owns nothing: `nobody`, where this may be done; else the user of the tests.
    private func audit(_ store: String, _ arguments: [String]) async throws -> Tool.Run {
        let program = Programs.folder.appending(path: "syncctl").path
        let words = ["--store", store] + arguments
        guard Self.isRoot else { return try await Tool(path: program).run(words) }
        return try await Tool(path: Self.setpriv).run(
            ["--reuid=65534", "--regid=65534", "--clear-groups", program] + words)
    }

    /// A daemon with events that stand in its WAL alone.
    private func busy() throws -> DaemonProcess {
        let node = try DaemonProcess("n")
        // Others may go through the folder of the tests.
        chmod(URL(filePath: node.store).deletingLastPathComponent().path, 0o711)
        try node.start()
        for number in 1...5 {
            #expect(try node.syncctl("append", "--user", "u", "--text", "m\(number)").code == 0)
        }
        return node
    }

    @Test("Who may read log.db and not its WAL is refused by every command, and gets no half of the truth")
    func halfOpen() async throws {
        let node = try busy()
        let files = (log: node.store + "/log.db", wal: node.store + "/log.db-wal")
        if Self.isRoot {
            #expect(chown(node.store, 0, 65534) == 0 && chown(files.log, 0, 65534) == 0)
        }
        chmod(node.store, 0o750)
        chmod(files.log, 0o640)
        if !Self.isRoot { chmod(files.wal, 0) }
        for command in [
            ["export"], ["export", "--evidence"], ["status"], ["vector"], ["digest"], ["verify"],
            ["replay", "--all"], ["history", "u"], ["tail"], ["conversations"],
        ] {
            let answer = try await audit(node.store, command)
            #expect(answer.code == 77 && answer.errors.contains("permission denied"), "\(command): \(answer)")
            #expect(!answer.text.contains("m1"), "\(command): \(answer)")
        }
        chmod(files.wal, 0o600)
        #expect(node.terminate() == 0)
    }

    @Test("The documented way: a group that reads the log with its WAL sees every event, also after a new start")
    func recipe() async throws {
        guard Self.isRoot else { return }
        let node = try busy()
        for name in ["", "/log.db", "/log.db-wal", "/log.db-shm"] {
            #expect(chown(node.store + name, 0, 65534) == 0)
            chmod(node.store + name, name.isEmpty ? 0o2750 : 0o640)
        }
        for round in 0..<3 {
            let lines = try await audit(node.store, ["export"])
            #expect(lines.code == 0 && lines.lines.count == 6 + round, "\(lines)")
            let verified = try await audit(node.store, ["verify"])
            #expect(verified.code == 2 && verified.text.contains("mark.json"), "\(verified)")
            if round == 1 { node.kill() } else { #expect(node.terminate() == 0) }
            let still = try await audit(node.store, ["export"])
            #expect(still.code == 0 && still.lines.count == 6 + round, "\(still)")
            try node.start()
            #expect(try node.syncctl("append", "--user", "u", "--text", "more").code == 0)
        }
        #expect(node.terminate() == 0)
    }
}

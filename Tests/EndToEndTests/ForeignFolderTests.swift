import Foundation
import TestSupport
import Testing

/// Root beside the store of another user: what it wrote there the user's own daemon could not open any more.
@Suite(.timeLimit(.minutes(5)))
struct ForeignFolderTests {
    private static let owner: uid_t = 65534

    /// What is in the folder and belongs to root.
    private func ofRoot(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
            var entry = stat()
            return lstat(folder + "/" + name, &entry) == 0 && entry.st_uid == 0
        }
    }

    private func give(_ folder: String) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            #expect(lchown(folder + "/" + name, Self.owner, Self.owner) == 0)
        }
        #expect(chown(folder, Self.owner, Self.owner) == 0)
    }

    @Test(
        "Commands that write are refused, with the owner's name and the way out; what reads leaves no file of root's")
    func commands() async throws {
        guard geteuid() == 0 else { return print("skipped: needs root") }
        let folder = TemporaryFolder()
        #expect(try Programs.syncctl(folder.path, ["init", "--name", "n"]).code == 0)
        #expect(try Programs.syncctl(folder.path, ["append", "--user", "u", "--text", "one"]).code == 0)
        let lines = try Programs.syncctl(folder.path, ["export"]).output
        let node = String(repeating: "07", count: 32)
        #expect(try Programs.syncctl(folder.path, ["peers", "add", "y", node]).code == 0)
        // As after a kill: the views are not there, and a reader would bring them up to date.
        for name in ["views.db", "views.db-wal", "views.db-shm", "views.mark"] { unlink(folder.file(name)) }
        try give(folder.path)
        for command in [
            ["append", "--user", "u", "--text", "x"], ["append", "-"], ["import", "-"],
            ["quarantine", "retry"],
            ["peers", "add", "x", node], ["peers", "remove", "y"], ["peers", "pause", "y"],
            ["peers", "invite", "--address", "127.0.0.1:5"], ["import", "--evidence", "/dev/null"],
        ] {
            let run = try Programs.syncctl(folder.path, command, input: lines)
            #expect(run.code == 77 && run.errors.contains("[E_UNSAFE]"), "\(command): \(run)")
            #expect(run.errors.contains("nobody") && run.errors.contains("sudo -u nobody"), "\(command): \(run)")
            #expect(try ofRoot(folder.path) == [], "\(command)")
        }
        for command in [
            ["verify"], ["verify", "--views"], ["history", "u"], ["conversations"], ["doctor"], ["status"],
            ["export"],
            ["tail"], ["digest"], ["survey"],
        ] {
            let run = try Programs.syncctl(folder.path, command)
            #expect(run.code < 3, "\(command): \(run)")
            #expect(try ofRoot(folder.path) == [], "\(command)")
        }
        #expect(try Programs.syncctl(folder.path, ["history", "u"]).output.contains("one"))
    }

    @Test("A daemon of root is refused there, too, and makes neither store nor witness")
    func daemon() async throws {
        guard geteuid() == 0 else { return print("skipped: needs root") }
        let folder = try TemporaryFolder.made()
        let store = folder.file("s")
        #expect(mkdir(store, 0o700) == 0)
        try give(store)
        let made = try Programs.syncctl(store, ["init", "--name", "n"])
        #expect(made.code == 77 && made.errors.contains("sudo -u nobody"), "\(made)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: store) == [])
        let configuration = try folder.write(
            Data("{storage: {dir: '\(store)'}, api: {socket: {path: '\(store)/api.sock'}}}".utf8), to: "c.json5")
        for isMade in [false, true] {
            if isMade {
                #expect(chown(store, 0, 0) == 0)
                #expect(try Programs.syncctl(store, ["init", "--name", "n"]).code == 0)
                try give(store)
            }
            let run = try await Tool(path: "/usr/bin/timeout").run(
                ["20", Tool.named("syncd").path, "--config", configuration])
            #expect(run.code == 77 && run.errors.contains("sudo -u nobody"), "\(run.errors)")
            #expect(try ofRoot(store) == [])
            #expect(!FileManager.default.fileExists(atPath: store + "-witness"))
        }
    }
}

import Foundation
import TestSupport
import Testing

/// Stores of another user than root: made, served, and closed to all others (operating/starting.md, "The store").
@Suite(.timeLimit(.minutes(5)))
struct OtherUserTests {
    private static let setpriv = "/usr/bin/setpriv"
    private static let (owner, stranger): (uid_t, uid_t) = (65534, 65533)

    private func words(_ program: String, as user: uid_t, _ arguments: [String]) -> [String] {
        let path = Programs.folder.appending(path: program).path
        return ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", path] + arguments
    }

    private func run(_ program: String, as user: uid_t, _ arguments: [String]) async throws -> Tool.Run {
        try await Tool(path: Self.setpriv).run(words(program, as: user, arguments))
    }

    /// A folder of the owner through which all may go; `nil` where no program can be run as another user.
    private func home() async throws -> TemporaryFolder? {
        guard geteuid() == 0, FileManager.default.isExecutableFile(atPath: Self.setpriv) else {
            print("skipped: needs root and setpriv")
            return nil
        }
        let folder = try TemporaryFolder.made()
        chmod(URL(filePath: folder.path).deletingLastPathComponent().path, 0o711)
        #expect(chown(folder.path, Self.owner, Self.owner) == 0 && chmod(folder.path, 0o755) == 0)
        guard try await run("syncctl", as: Self.owner, ["--version"]).code == 0 else {
            print("skipped: another user cannot run the programs")
            return nil
        }
        return folder
    }

    /// What of a store is not its owner's alone.
    private func exposed(_ store: String) throws -> [String] {
        let inside = try FileManager.default.subpathsOfDirectory(atPath: store).map { store + "/" + $0 }
        return ([store] + inside).filter { path in
            var entry = stat()
            // A running daemon takes files away that were listed.
            guard lstat(path, &entry) == 0 else { return false }
            return entry.st_uid != Self.owner || entry.st_mode & 0o077 != 0
        }
    }

    private func configuration(_ home: TemporaryFolder, _ store: String) throws -> String {
        let text = "{storage: {dir: '\(store)'}, api: {socket: {path: '\(home.file("api.sock"))'}}}"
        return try home.write(Data(text.utf8), to: "c.json5")
    }

    /// Each is refused with the place and what to do, and writes nothing there.
    private func refuses(
        _ place: String, _ user: uid_t, _ program: String, _ arguments: [String], in folder: String
    ) async throws {
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
        let refused = try await run(program, as: user, arguments)
        #expect(refused.code == 77 && refused.errors.contains("[E_PERMISSION]"), "\(arguments): \(refused)")
        #expect(refused.errors.contains(place) && refused.errors.contains("as the user"), "\(arguments): \(refused)")
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() == before)
    }

    private static let commands = [
        ["append", "--user", "u", "--text", "x"], ["history", "u"], ["export"], ["verify"], ["doctor"], ["status"],
    ]

    @Test("A store that another user makes is theirs alone, and refused to a stranger (INV-13)")
    func made() async throws {
        guard let home = try await home() else { return }
        let store = home.file("s")
        let made = try await run("syncctl", as: Self.owner, ["--store", store, "init", "--name", "n"])
        #expect(made.code == 0, "\(made)")
        let appended = try await run(
            "syncctl", as: Self.owner, ["--store", store, "append", "--user", "u", "--text", "비밀"])
        #expect(appended.code == 0, "\(appended)")
        #expect(try await run("syncctl", as: Self.owner, ["--store", store, "history", "u"]).text.contains("비밀"))
        #expect(try exposed(store) == [])
        for command in Self.commands {
            try await refuses(store, Self.stranger, "syncctl", ["--store", store] + command, in: store)
        }
    }

    @Test("A daemon of another user makes store and witness theirs alone, and serves no stranger (INV-13)")
    func served() async throws {
        guard let home = try await home() else { return }
        let store = home.file("s")
        let daemon = Process()
        daemon.executableURL = URL(filePath: Self.setpriv)
        daemon.arguments = words("syncd", as: Self.owner, ["--config", try configuration(home, store)])
        daemon.standardError = FileHandle.nullDevice
        try daemon.run()
        defer { if daemon.isRunning { kill(daemon.processIdentifier, SIGKILL) } }
        let api = APIClient(socket: home.file("api.sock"))
        waitWhile(api.ask("GET", "/livez", seconds: 5)?.0 != 200 && daemon.isRunning)
        let append = ["--store", store, "append", "--user", "u", "--text", "x"]
        let appended = try await run("syncctl", as: Self.owner, append)
        #expect(appended.code == 0, "\(appended)")
        for folder in [store, store + "-witness"] { #expect(try exposed(folder) == [], "\(folder)") }
        let refused = try await run("syncctl", as: Self.stranger, append)
        #expect(refused.code == 77 && refused.errors.contains("[E_PERMISSION]"), "\(refused)")
        kill(daemon.processIdentifier, SIGTERM)
        daemon.waitUntilExit()
        #expect(daemon.terminationStatus == 0)
        #expect(try exposed(store) == [])
    }

    @Test("The folder of another is refused by name, to command and daemon, and stays as it is (INV-13)")
    func foreign() async throws {
        guard let home = try await home() else { return }
        let store = home.file("root")
        #expect(try Programs.syncctl(store, ["init", "--name", "r"]).code == 0)
        for mode in [0o700, 0o755] as [mode_t] {
            chmod(store, mode)
            for command in Self.commands {
                try await refuses(store, Self.owner, "syncctl", ["--store", store] + command, in: store)
            }
            try await refuses(store, Self.owner, "syncd", ["--config", try configuration(home, store)], in: store)
        }
        // One that is empty, and one that would have to be made there.
        let empty = home.file("empty")
        #expect(mkdir(empty, 0o755) == 0)
        for place in [empty, empty + "/s"] {
            let made = ["--store", place, "init", "--name", "x"]
            try await refuses(empty, Self.owner, "syncctl", made, in: home.path)
            let served = ["--config", try configuration(home, place)]
            try await refuses(empty, Self.owner, "syncd", served, in: home.path)
        }
    }
}

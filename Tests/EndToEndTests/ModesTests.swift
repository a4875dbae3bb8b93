import Foundation
import TestSupport
import Testing

/// What the programs say of a store that others can read or change.
@Suite(.timeLimit(.minutes(5)))
struct ModesTests {
    @Test("doctor names what others can read; what they can write to is refused, with what to do")
    func modes() async throws {
        let node = try DaemonProcess("n")
        try node.start()
        #expect(try node.syncctl("append", "--user", "u", "--text", "a").code == 0)
        func findings() throws -> String { try node.syncctl("doctor").output }
        #expect(!(try findings().contains("READABLE")))
        chmod(node.store, 0o755)
        #expect(!(try findings().contains("READABLE")), "nothing in it can be read")
        chmod(node.store + "/log.db", 0o640)
        let readable = try node.syncctl("doctor")
        #expect(readable.code == 2 && readable.output.contains("READABLE") && readable.output.contains("log.db"))
        chmod(node.store, 0o777)
        #expect(try findings().contains("FOLDER_WRITABLE"))
        #expect(node.terminate() == 0)
        let refused = try await Tool.named("syncd").run(["--dev", node.store])
        #expect(refused.code == 77 && refused.errors.contains("chmod go-w \(node.store)"), "\(refused.errors)")
        #expect(try node.syncctl("append", "--user", "u", "--text", "b").code == 77)
        #expect(try node.verified() == 0, "reading is not refused")
        chmod(node.store, 0o700)
        try node.start()
        #expect(node.terminate() == 0)
    }

    @Test(
        "A key that others can read is its owner's alone once the store was opened for writing, whatever group may read the log"
    )
    func key() throws {
        let folder = TemporaryFolder()
        #expect(try Programs.syncctl(folder.path, ["init", "--name", "n"]).code == 0)
        chmod(folder.path, 0o750)
        chmod(folder.file("node.key"), 0o644)
        #expect(try Programs.syncctl(folder.path, ["doctor"]).output.contains("KEY_MODE"))
        #expect(try Programs.syncctl(folder.path, ["append", "--user", "u", "--text", "a"]).code == 0)
        var entry = stat()
        #expect(stat(folder.file("node.key"), &entry) == 0 && entry.st_mode & 0o777 == 0o600)
        #expect(try !Programs.syncctl(folder.path, ["doctor"]).output.contains("KEY_MODE"))
    }

    @Test("A witness within the store, or where others can write, is named by the start and by doctor")
    func witness() throws {
        for (place, mode, words) in [
            ("s", 0o700, "is a part of the store"), ("s/w", 0o700, "is a part of the store"),
            ("w", 0o777, "can be written to by others"), ("w", 0o700, ""),
        ] as [(String, mode_t, String)] {
            let folder = try TemporaryFolder.made()
            let store = folder.file("s")
            #expect(try Programs.syncctl(store, ["init", "--name", "n"]).code == 0)
            mkdir(folder.file(place), 0o700)
            chmod(folder.file(place), mode)
            let text =
                "{storage: {dir: '\(store)', witness: '\(folder.file(place))'}, api: {socket: {path: '\(store)/a.sock'}}}"
            let configuration = try folder.write(Data(text.utf8), to: "c.json5")
            let said = URL(filePath: try folder.write(Data(), to: "said"))
            let daemon = Process()
            daemon.executableURL = Programs.folder.appending(path: "syncd")
            daemon.arguments = ["--config", configuration]
            daemon.standardError = try FileHandle(forWritingTo: said)
            try daemon.run()
            try waitWhile(!String(contentsOf: said, encoding: .utf8).contains("ready"))
            let doctor = try Programs.syncctl(store, ["doctor"])
            daemon.terminate()
            daemon.waitUntilExit()
            for text in [try String(contentsOf: said, encoding: .utf8), doctor.output] {
                #expect(text.contains("the folder of the witness") == !words.isEmpty, "\(place) \(text)")
                #expect(words.isEmpty || text.replacing("\n", with: " ").contains(words), "\(place) \(text)")
            }
        }
    }

    @Test(
        "A pipe in the place of a file of the store ends the start at once, with its name",
        arguments: ["peers.json", "invitations.json", "node.key", "lock"])
    func pipes(name: String) async throws {
        let folder = TemporaryFolder()
        #expect(try await Tool.named("syncctl").run(["init", "--store", folder.path, "--name", "n"]).code == 0)
        unlink(folder.file(name))
        #expect(mkfifo(folder.file(name), 0o600) == 0)
        let run = try await Tool.named("syncd").run(["--dev", folder.path, "--peer-listen", "127.0.0.1:0"])
        #expect(run.code == 77 && run.errors.contains(folder.file(name)), "\(run.errors)")
    }

    @Test(
        "A key of another node, or peers that cannot be read, are no damage of the log: it is said what they are, and what to do",
        arguments: ["node.key", "key of another", "peers.json", "invitations.json"])
    func beside(_ what: String) async throws {
        let (folder, other) = (TemporaryFolder(), TemporaryFolder())
        for place in [folder, other] {
            #expect(try await Tool.named("syncctl").run(["init", "--store", place.path, "--name", "n"]).code == 0)
        }
        let name = what == "key of another" ? "node.key" : what
        try? FileManager.default.removeItem(atPath: folder.file(name))
        if what == "key of another" {
            try FileManager.default.copyItem(atPath: other.file(name), toPath: folder.file(name))
        } else {
            try Data("{".utf8).write(to: URL(filePath: folder.file(name)))
        }
        let run = try await Tool.named("syncd").run(["--dev", folder.path, "--peer-listen", "127.0.0.1:0"])
        #expect(run.code == 65 && run.errors.contains("[E_STORE_FILE]"), "\(run.errors)")
        #expect(run.errors.contains(folder.file(name)) && run.errors.contains("Try: "), "\(run.errors)")
        #expect(!run.errors.contains("damaged") && !run.errors.contains("verify"), "\(run.errors)")
    }
}

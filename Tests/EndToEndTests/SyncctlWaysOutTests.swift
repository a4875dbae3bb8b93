import CommandLineKit
import Foundation
import TestSupport
import SillokAPI
import Testing

@testable import EventStore
@testable import syncctl

/// Errors name the thing and the way out.
struct SyncctlWaysOutTests {
    private let folder: TemporaryFolder
    private let tool: Tool

    init() async throws {
        folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        self.tool = tool
        #expect(try await tool.run(["init", "--name", "seoul-1"]).code == 0)
    }

    @Test(
        "A pattern in place of a type is refused by all that take types by their names",
        arguments: ["*", "message.*"])
    func pattern(text: String) async throws {
        for words in [
            ["history", "u"], ["conversation", "c"], ["search", "말"], ["tail"], ["replay", "--all"], ["export"],
        ] {
            let refused = try await tool.run(words + ["--type", text])
            #expect(refused.code == 64 && refused.text.isEmpty, "\(words): \(refused)")
            #expect(refused.errors.contains("--type '\(text)': a pattern is no type\n"), "\(words): \(refused)")
            #expect(refused.errors.contains("Try: each type by its name; "), "\(words): \(refused)")
        }
    }

    @Test("What may not be read or written ends with 77 and says as whom to try")
    func permission() throws {
        for code in [EACCES, EPERM] {
            errno = code
            let error = StoreError.system("/store/lock")
            #expect(error == .forbidden(path: "/store/lock"))
            let failure = CommandFailure(error)
            #expect(failure.exitCode == .notPermitted && failure.code == "E_PERMISSION")
            #expect(failure.hint == "the same command as the user that runs syncd")
            #expect(!error.isRetriable)
        }
        errno = EROFS
        #expect(StoreError.system("/store/lock").code == "E_READ_ONLY")
        errno = ENOSPC
        #expect(StoreError.system("/store/lock").code == "E_DISK")
        errno = ENOENT
        #expect(StoreError.system("/store/lock") == .io("/store/lock: No such file or directory"))
    }

    @Test("The event of the options has no line; lines of a stream have")
    func linesOfAppends() async throws {
        let single = try await tool.run(["append", "--user", "", "--text", "x"])
        #expect(single.code == 65)
        #expect(single.errors == "syncctl: user: must not be empty   [E_IDENTIFIER]\n")
        let stream = try await tool.run(["append", "-"], input: Data("{\"type\":\"x\"\n".utf8))
        #expect(stream.code == 65)
        #expect(stream.errors == "syncctl: line 1: JSON: text ends too early at byte 11   [E_LINE_JSON]\n")
        let long = Data(#"{"type":"x","user":"u","data":{"text":"\#(String(repeating: "x", count: 2 << 20))"}}"#.utf8)
        let imported = try await tool.run(["import", "-"], input: long)
        #expect(imported.errors.contains("line 1: \(long.count) bytes; a line has at most 1048576   [E_LINE_SIZE]"))
        #expect(imported.text == "1 line: 0 appended, 0 already there, 1 rejected\n")
    }

    @Test("A cursor file that cannot be written is told before anything is printed")
    func cursorFile() async throws {
        #expect(try await tool.run(["append", "--user", "u", "--text", "x"]).code == 0)
        let refused = try await tool.run(["tail", "--cursor-file", "/nowhere/cursor"])
        #expect(refused.code == 74 && refused.text.isEmpty)
        #expect(refused.errors.contains("/nowhere/cursor: No such file or directory"))
        let cursor = folder.file("cursor")
        let all = try await tool.run(["tail", "--cursor-file", cursor, "--from-start", "--json"])
        #expect(try all.events().count == 2)
        #expect(try await tool.run(["tail", "--cursor-file", cursor, "--json"]).events().isEmpty)
    }

    @Test("'help' works as a word, also for commands that need a second one")
    func help() async throws {
        #expect(try await tool.run(["help"]).text == tool.run(["--help"]).text)
        #expect(try await tool.run(["help", "history"]).text == tool.run(["history", "--help"]).text)
        let group = try await tool.run(["quarantine", "--help"])
        #expect(group.code == 0 && group.text.hasPrefix("Usage: syncctl quarantine <command> [options]\n"))
        let peers = try await tool.run(["peers", "--help"])
        for name in ["invite", "join", "add", "remove", "pause", "resume", "ping"] {
            #expect(peers.text.contains("\n  peers \(name)"), "\(name)")
        }
        #expect(try await tool.run(["help", "histroy"]).errors.contains("did you mean 'syncctl history'?"))
    }

    @Test("Both programs print their manual page and their completions")
    func generated() async throws {
        for (name, section) in [("syncctl", 1), ("syncd", 8)] {
            let program = try Tool.named(name)
            let page = try await program.run(["--generate", "man"])
            #expect(page.code == 0 && page.text.hasPrefix(".TH \(name.uppercased()) \(section) "))
            let script = try await program.run(["--generate", "bash"])
            #expect(script.code == 0 && script.text.hasSuffix("complete -o default -F _\(name) \(name)\n"))
        }
    }

    @Test("A port or a socket that cannot be had: in words, with what to change")
    func places() async throws {
        let daemon = try Tool.named("syncd")
        let busy = try DaemonProcess("busy")
        try busy.start()
        let port = try busy.port()
        let second = try await daemon.run(["--dev", folder.file("a"), "--peer-listen", "127.0.0.1:\(port)"])
        #expect(second.code == 69)
        #expect(second.errors.contains("Address already in use (EADDRINUSE)"), "\(second.errors)")
        #expect(second.errors.contains("Try: another address for peers.listen (--peer-listen)"))
        let socket = try await daemon.run(["--dev", folder.file("b"), "--socket", "/nowhere/x.sock"])
        #expect(socket.code == 73)
        #expect(
            socket.errors.contains("cannot serve /nowhere/x.sock: /nowhere: No such file or directory"))
        #expect(socket.errors.contains("Try: api.socket.path (--socket) in a folder that is there and writable"))
    }
}

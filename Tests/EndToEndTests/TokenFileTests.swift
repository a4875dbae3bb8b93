import Foundation
import TestSupport
import Testing

/// `syncctl tokens create --out`, and what is said to who shows no token.
@Suite(.serialized)
struct TokenFileTests {
    @Test("A token that is refused leaves no file, and the same command goes on when it is not")
    func refused() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let file = TemporaryFolder.unusedPath()
        let refused = try daemon.syncctl("tokens", "create", "bot/a", "--role", "king", "--out", file)
        #expect(refused.code != 0 && !FileManager.default.fileExists(atPath: file), "\(refused.errors)")
        let made = try daemon.syncctl("tokens", "create", "bot/a", "--role", "bot:a", "--out", file)
        #expect(made.code == 0, "\(made.errors)")
        let token = try String(contentsOfFile: file, encoding: .utf8)
        #expect(token.hasPrefix("slk1_"))
        // One that is there is not touched.
        let again = try daemon.syncctl("tokens", "create", "bot/b", "--role", "bot:b", "--out", file)
        #expect(again.code == 73 && again.errors.contains("File exists"), "\(again.errors)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == token)
    }

    @Test("A folder, or a file of another kind, that is named for a token or for certificates is told as such")
    func namedFiles() async throws {
        let folder = try TemporaryFolder.made()
        let (token, other) = (folder.file("token"), folder.file("other"))
        for path in [token, other] { try "slk1_x\n".write(toFile: path, atomically: true, encoding: .utf8) }
        chmod(token, 0o600)
        for (words, code, name) in [
            (["--token-file", folder.path], 66 as Int32, "E_NOT_A_FILE"),
            (["--token-file", folder.file("none")], 66, "E_IO"),
            (["--token-file", token, "--ca-file", folder.path], 66, "E_NOT_A_FILE"),
            (["--token-file", token, "--ca-file", folder.file("none")], 66, "E_IO"),
            (["--token-file", token, "--ca-file", other], 64, "E_USAGE"),
        ] {
            let run = try await Tool.named("syncctl").run(["whoami", "--url", "https://127.0.0.1:1"] + words)
            #expect(run.code == code && run.errors.contains("[\(name)]"), "\(words): \(run.code) \(run.errors)")
            #expect(!run.errors.contains("store's folder"), "\(run.errors)")
        }
    }
}

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
}

import CommandLineKit
import Foundation
import Testing

@Suite struct OutcomeTests {
    @Test func codesAreTheDocumentedOnes() {
        #expect(
            ExitCode.allCases.map(\.rawValue)
                == [0, 1, 2, 3, 4, 64, 65, 66, 69, 70, 73, 74, 75, 76, 77, 78, 130, 141, 143])
    }

    @Test("The table of exit codes has those that there are, and no other page names another")
    func exitCodes() throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL
        let codes = ExitCode.allCases.map { Int($0.rawValue) }
        func text(_ page: String) throws -> String {
            try String(contentsOf: root.appending(path: "docs/\(page)"), encoding: .utf8)
        }
        func numbers(_ text: some StringProtocol) -> [Int] { text.split { !$0.isNumber }.compactMap { Int($0) } }
        let rows = try text("operating/starting.md").split(separator: "## Exit codes", maxSplits: 1).last ?? ""
        let table = rows.prefix { $0 != "#" }.split(separator: "\n").filter { $0.hasPrefix("| ") }
        #expect(table.flatMap { numbers($0.split(separator: "|").dropFirst(0).first ?? "") } == codes)
        for page in ["ERRORS", "FORMATS", "COMPATIBILITY", "RELIABILITY"] {
            for match in try text("reference/\(page).md").matches(of: /exit code (\d+)/) {
                #expect(codes.contains(Int(match.output.1) ?? -1), "\(page): \(match.output.0)")
            }
        }
        // What keeps a verifier from a verdict: FORMATS §3.
        let verdict = try #require(try text("reference/FORMATS.md").split(separator: "No verdict is an error").last)
        #expect(numbers(verdict.prefix { $0 != "." }) == [66, 66, 76, 77])
    }

    private let failure = CommandFailure(
        code: "E_SOCKET_PERM", "cannot reach syncd at /run/syncd/api.sock: permission denied",
        why: "The socket belongs to group syncd-clients.", hint: "sudo usermod -aG syncd-clients ejk",
        exitCode: .notPermitted)

    @Test func forPeople() {
        #expect(
            failure.text(program: "syncctl") == """
                syncctl: cannot reach syncd at /run/syncd/api.sock: permission denied
                  The socket belongs to group syncd-clients.
                  Try: sudo usermod -aG syncd-clients ejk   [E_SOCKET_PERM]

                """)
        let short = CommandFailure(code: "E_X", "no user '\u{1B}[2J'", exitCode: .nothingFound)
        #expect(short.text(program: "syncctl") == "syncctl: no user '\\x1b[2J'   [E_X]\n")
    }

    @Test func forPrograms() {
        #expect(
            failure.json == """
                {"type":"error","v":1,"code":"E_SOCKET_PERM","message":"cannot reach syncd at /run/syncd/api.sock: \
                permission denied","detail":"The socket belongs to group syncd-clients.",\
                "hint":"sudo usermod -aG syncd-clients ejk","exit":77}

                """)
        let short = CommandFailure(code: "E_X", "x", exitCode: .ioError)
        #expect(
            short.json
                == "{\"type\":\"error\",\"v\":1,\"code\":\"E_X\",\"message\":\"x\",\"hint\":null,\"exit\":74}\n")
    }

    @Test func aBrokenPipeIsQuiet() {
        #expect(CommandFailure.brokenPipe.text(program: "syncctl") == "")
        #expect(CommandFailure.brokenPipe.json == "")
        #expect(CommandFailure.brokenPipe.exitCode.rawValue == 141)
    }

    @Test func systemErrorsAreNamed() {
        let failure = CommandFailure.system("cannot open x", errno: ENOENT, exitCode: .inputMissing)
        #expect(failure.what == "cannot open x: No such file or directory")
    }
}

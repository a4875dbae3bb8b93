import CommandLineKit
import Foundation
import TestSupport
import Testing

/// What `--generate` prints.
@Suite struct GeneratedTests {
    private var table: CommandTable {
        var table = sampleTable
        table.commands.append(Command("peers", "all nodes"))
        table.commands.append(
            Command(
                "quarantine list", "what is held", group: "NODES",
                examples: [.init(".odd 'quoted' -n \\ \"x\"", "a line that roff would take for a request")]))
        table.globalOptions.append(.value("store", "DIR", "The folder."))
        return table
    }

    @Test("Only these two words generate anything")
    func words() {
        for words in [[], ["--generate"], ["--generate", "tcsh"], ["--generate", "man", "x"], ["history"]] {
            #expect(table.generated(by: words, section: 1, version: "1", seeAlso: []) == nil)
        }
        for form in ["bash", "zsh", "fish"] {
            #expect(table.generated(by: ["--generate", form], section: 1, version: "1", seeAlso: []) != nil)
        }
    }

    @Test("The manual page has every command, option, example and exit code, and roff reads it as it is meant")
    func manual() throws {
        let page = try #require(
            table.generated(by: ["--generate", "man"], section: 1, version: "1.2", seeAlso: ["syncd(8)"]))
        #expect(page.hasPrefix(".TH SYNCCTL 1 "))
        for command in table.commands {
            #expect(page.contains(".SS \"syncctl \(command.name)"), "\(command.name)")
            for option in command.options { #expect(page.contains("\\-\\-" + option.name), "\(option.name)") }
        }
        for code in ExitCode.allCases { #expect(page.contains(".TP\n.B \"\(code.rawValue)\"\n")) }
        #expect(page.contains("\n\\&.odd \\(aqquoted\\(aq \\-n \\e \\(dqx\\(dq\n"))
        #expect(page.hasSuffix(".SH \"SEE ALSO\"\nsyncd(8)\n"))
        // A request is two capitals, or nf and fi; nothing else stands after a dot at the beginning of a line.
        for line in page.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
            let request = line.dropFirst().prefix { $0 != " " }
            #expect(["TH", "SH", "SS", "TP", "PP", "B", "RS", "RE", "nf", "fi"].contains(request), "\(line)")
        }
    }

    @Test(
        "bash completes commands, second words, options and values",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/bash"), "bash is not here"),
        arguments: [
            (["syncctl", "hi"], ["history"]), (["syncctl", "--json", "pe"], ["peers"]),
            (["syncctl", "peers", "a"], ["add"]), (["syncctl", "quarantine", ""], ["list"]),
            (["syncctl", "history", "u-1", "--fo"], ["--follow"]),
            (["syncctl", "--store", "/nowhere", "history", "--order", ""], ["log", "time"]),
            (["syncctl", "import", "n"], ["ndjson"]), (["syncctl", "peers", "list", "--ti"], ["--timeout"]),
            (["syncctl", "history", "--since", ""], []), (["syncctl", "nonsense", ""], []),
        ])
    func completion(typed: [String], expected: [String]) throws {
        #expect(try complete(typed, with: table) == expected)
    }

    @Test(
        "fish completes commands, second words, options and values",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/fish"), "fish is not here"),
        arguments: [
            ("syncctl hi", ["history"]), ("syncctl peers a", ["add"]), ("syncctl quarantine ", ["list"]),
            ("syncctl history u-1 --fo", ["--follow"]), ("syncctl history --order ", ["log", "time"]),
            ("syncctl import n", ["ndjson"]), ("syncctl peers list --ti", ["--timeout"]),
        ])
    func fish(typed: String, expected: [String]) throws {
        let script = table.fishCompletion() + "\ncomplete -C '\(typed)'\n"
        let lines = try output(of: "/usr/bin/fish", ["--no-config"], script).split(separator: "\n")
        #expect(lines.map { String($0.prefix { $0 != "\t" }) } == expected)
    }

    @Test(
        "zsh can read what is generated for it",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/zsh"), "zsh is not here"))
    func zsh() throws {
        let script = "compdef() { echo defined $* }\n" + table.zshCompletion()
        #expect(try output(of: "/usr/bin/zsh", ["-f"], script) == "defined _syncctl syncctl\n")
        #expect(table.zshCompletion().contains("'list:what is held'"))
    }

    private func output(of shell: String, _ arguments: [String], _ script: String) throws -> String {
        let folder = try TemporaryFolder.made()
        let process = Process()
        process.executableURL = URL(filePath: shell)
        process.arguments = arguments + [try folder.write(Data(script.utf8), to: "script")]
        let output = folder.file("output")
        try Data().write(to: URL(filePath: output))
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return try String(contentsOfFile: output, encoding: .utf8)
    }

    @Test(
        "A program without commands completes its options before and behind its arguments",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/bash"), "bash is not here"))
    func completionWithoutCommands() throws {
        let daemon = CommandTable(
            program: "syncctl", summary: "one thing",
            commands: [
                Command("", "one thing", arguments: [.init("dir", "Where.")], options: [.flag("dev", "A first try.")])
            ])
        #expect(try complete(["syncctl", "--d"], with: daemon) == ["--dev"])
        #expect(try complete(["syncctl", "folder", "--d"], with: daemon) == ["--dev"])
    }

    /// What bash offers for the last of the words.
    private func complete(_ typed: [String], with table: CommandTable) throws -> [String] {
        let folder = try TemporaryFolder.made()
        let words = typed.map { "'\($0)'" }.joined(separator: " ")
        let script =
            table.bashCompletion() + """

                COMP_WORDS=(\(words)); COMP_CWORD=\(typed.count - 1)
                _syncctl
                echo "${COMPREPLY[*]}"

                """
        let bash = Process()
        bash.executableURL = URL(filePath: "/bin/bash")
        bash.arguments = ["-u", try folder.write(Data(script.utf8), to: "script")]
        let output = folder.file("output")
        try Data().write(to: URL(filePath: output))
        bash.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        try bash.run()
        bash.waitUntilExit()
        #expect(bash.terminationStatus == 0)
        return try String(contentsOfFile: output, encoding: .utf8).split(whereSeparator: \.isWhitespace).map(
            String.init)
    }
}

internal import CProgram
internal import Glibc

/// What a program does first: its words, and a line when it dies.
package enum ProgramStart {
    /// The words of the command line without the program's own name.
    ///
    /// They are those the kernel handed over. `CommandLine.arguments` reads /proc/self/cmdline: where that cannot be read there
    /// are none, and a daemon would make another store without a word. Swift also repairs malformed words silently; a record
    /// must not.
    package static func arguments() throws(CommandFailure) -> [String] {
        let count = Int(sillok_argument_count())
        guard count > 0 else {
            throw CommandFailure(
                code: "E_ARGUMENTS", "started without any word, not even the program's name",
                hint: "start it with execve(2) and at least one argument", exitCode: .usage)
        }
        var words: [String] = []
        for index in 1..<max(count, 1) {
            guard let word = sillok_argument(Int32(index)), let text = String(validatingCString: word) else {
                throw CommandFailure(code: "E_UTF8", "argument \(index) is not UTF-8", exitCode: .usage)
            }
            words.append(text)
        }
        return words
    }

    /// From here on a crash says its signal and its frames in one line on standard error, and ends the process as ever.
    package static func reportCrashes(of program: StaticString) {
        program.withUTF8Buffer { name in
            // A literal's bytes end with a zero and live as long as the process.
            guard let start = name.baseAddress else { return }
            start.withMemoryRebound(to: CChar.self, capacity: name.count + 1) { sillok_report_crashes($0) }
        }
    }

    /// A program of commands from its start to its exit code: it tells its version, help, manual page and completions itself.
    ///
    /// - Parameters:
    ///   - chapters: What its manual page tells beside the commands.
    ///   - body: Runs a command.
    package static func main(
        _ name: StaticString, version: String, _ table: CommandTable, chapters: [ManualChapter],
        _ body: (ParsedArguments, Output) throws(CommandFailure) -> ExitCode
    ) -> Never {
        reportCrashes(of: name)
        Terminal.ignoreBrokenPipes()
        let output = Output(.output)
        do throws(CommandFailure) {
            let code = try run(version, table, chapters, output, body)
            try output.finish()
            exit(code.rawValue)
        } catch {
            try? output.finish()
            let language = Language(environment: Terminal.current().environment)
            Output.message(error.text(program: table.program, in: language))
            exit(error.exitCode.rawValue)
        }
    }

    private static func run(
        _ version: String, _ table: CommandTable, _ chapters: [ManualChapter], _ output: Output,
        _ body: (ParsedArguments, Output) throws(CommandFailure) -> ExitCode
    ) throws(CommandFailure) -> ExitCode {
        let words = try arguments()
        if words == ["--version"] {
            try output.line("\(table.program) \(version)")
            return .success
        }
        let seeAlso = ["syncd(8)", "syncctl(1)"]
        if let text = table.generated(by: words, section: 8, version: version, seeAlso: seeAlso, chapters: chapters) {
            try output.write(text)
            return .success
        }
        let invocation: CommandTable.Invocation
        do { invocation = try table.parse(words.isEmpty ? ["--help"] : words) } catch {
            throw error.failure(program: table.program)
        }
        switch invocation {
        case .help(let topic):
            let terminal = Terminal.current()
            try output.write(
                table.help(for: topic, width: terminal.width, in: Language(environment: terminal.environment)))
            return .success
        case .run(let arguments): return try body(arguments, output)
        }
    }
}

internal import CProgram

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
}

internal import Glibc

/// Why a command could not do its work: what happened, why, what to do next, and a stable code.
package struct CommandFailure: Error, Sendable, Equatable {
    /// A stable name for programs, such as `E_SOCKET_PERM`. Never translated, never changed.
    package var code: String
    /// What happened, without the program's name.
    package var what: String
    /// The circumstances that led to it.
    package var why: String?
    /// What to try.
    package var hint: String?
    /// What happened, in Korean, where it has words of its own beside the meaning of the code.
    package var korean: String?
    /// How the program ends.
    package var exitCode: ExitCode

    /// Describes a failure.
    package init(
        code: String, _ what: String, why: String? = nil, hint: String? = nil, exitCode: ExitCode
    ) {
        self.code = code
        self.what = what
        self.why = why
        self.hint = hint
        self.exitCode = exitCode
    }

    /// The reader of our output went away. It is reported by the exit code alone.
    package static let brokenPipe = CommandFailure(code: "E_PIPE", "broken pipe", exitCode: .brokenPipe)

    /// A system call failed with this `errno` while doing `what`.
    package static func system(_ what: String, errno code: Int32, exitCode: ExitCode = .ioError) -> CommandFailure {
        let text = "\(what): \(SystemError.text(code))"
        guard code == ENOSPC || code == EDQUOT else { return CommandFailure(code: "E_IO", text, exitCode: exitCode) }
        return CommandFailure(code: "E_DISK", text, hint: "make room there, then again", exitCode: .cannotCreate)
    }

    /// The failure for people: one to three lines for stderr, ending in a newline, or nothing for a broken pipe.
    ///
    ///     syncctl: cannot reach syncd at /run/syncd/api.sock: permission denied
    ///       The socket belongs to group syncd-clients.
    ///       Try: log in as a member of that group   [E_SOCKET_PERM]
    ///
    /// - Parameter meaning: What the code means, in the language of the reader; it stands first, then.
    package func text(program: String, in language: Language = .english, meaning: String? = nil) -> String {
        if exitCode == .brokenPipe { return "" }
        var lines = ["\(program): \(meaning ?? Sanitizer.lines(what))"]
        if meaning != nil { lines.append("  " + Sanitizer.lines(what)) }
        if let why { lines.append("  " + Sanitizer.lines(why)) }
        if let hint { lines.append("  \(Phrase("Try", "해결 방법").text(language)): " + Sanitizer.lines(hint)) }
        return lines.joined(separator: "\n") + "   [\(code)]\n"
    }

    /// The failure for programs: one JSON line for stderr, ending in a newline, or nothing for a broken pipe.
    ///
    /// `{"type":"error","v":1,"code":…,"message":…,"detail":…,"hint":…,"exit":…}`; `detail` (the why) only when known.
    package var json: String {
        if exitCode == .brokenPipe { return "" }
        var line = JSONLine(type: "error")
        line.add("code", code)
        line.add("message", what)
        if let why { line.add("detail", why) }
        line.add("hint", hint)
        line.add("exit", exitCode.rawValue)
        return line.text + "\n"
    }
}

@preconcurrency internal import Glibc

/// The three standard streams of a process.
package enum StandardStream: Int32, Sendable {
    /// Where prompts are answered.
    case input = 0
    /// Data.
    case output = 1
    /// Messages, progress and prompts.
    case error = 2
}

/// When to colour, as given by `--color`.
package enum ColorChoice: String, Sendable, CaseIterable {
    /// On a terminal, unless the environment says otherwise.
    case auto
    /// Also into files and pipes.
    case always
    /// Not at all.
    case never
}

/// What is known about the terminal the process runs in. A plain value: tests make their own.
package struct Terminal: Sendable, Equatable {
    /// The streams that are terminals.
    package var interactive: Set<StandardStream>
    /// The columns of the terminal, if there is one.
    package var columns: Int?
    /// The environment variables.
    package var environment: [String: String] = [:]
    /// The lines of the terminal, if there is one.
    package var rows: Int?

    /// The terminal and environment of this process.
    package static func current() -> Terminal {
        let streams: [StandardStream] = [.input, .output, .error]
        let interactive = Set(streams.filter { isatty($0.rawValue) == 1 })
        return Terminal(
            interactive: interactive, columns: interactive.isEmpty ? nil : measured().map { Int($0.ws_col) },
            environment: processEnvironment(), rows: measured().map { Int($0.ws_row) })
    }

    /// Whether the stream is a terminal.
    package func isTerminal(_ stream: StandardStream) -> Bool {
        interactive.contains(stream)
    }

    /// The columns to fill: `COLUMNS` if it is a sensible number, else what the terminal says, else 80.
    package var width: Int {
        if let text = environment["COLUMNS"], let columns = Int(text), (1...10_000).contains(columns) {
            return columns
        }
        return columns ?? 80
    }

    /// Whether to colour what goes to `stream`.
    ///
    /// `--color always` and `never` decide alone. Otherwise, in this order: `NO_COLOR` (any text but none) says no,
    /// `CLICOLOR_FORCE` (not `0`) yes, `TERM=dumb` and `CLICOLOR=0` no, and else a terminal is coloured.
    package func usesColor(_ stream: StandardStream, choice: ColorChoice = .auto) -> Bool {
        switch choice {
        case .always: return true
        case .never: return false
        case .auto: break
        }
        if let value = environment["NO_COLOR"], !value.isEmpty { return false }
        if let value = environment["CLICOLOR_FORCE"], !value.isEmpty, value != "0" { return true }
        if environment["TERM"] == "dumb" || environment["CLICOLOR"] == "0" { return false }
        return isTerminal(stream)
    }

    /// Whether flat records without animation are asked for (`ACCESSIBLE`, any text but none and `0`).
    package var isAccessible: Bool {
        environment["ACCESSIBLE"].map { !$0.isEmpty && $0 != "0" } ?? false
    }

    /// Makes a write into a closed pipe an error (`EPIPE`) instead of the end of the process. Call once at the start.
    package static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// All environment variables of this process. Not for use while another thread changes them.
    package static func processEnvironment() -> [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let split = text.firstIndex(of: "=") {
                variables[String(text[..<split])] = String(text[text.index(after: split)...])
            }
            next += 1
        }
        return variables
    }

    private static func measured() -> winsize? {
        for stream: StandardStream in [.output, .error, .input] {
            var size = winsize()
            if ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return size }
        }
        return nil
    }
}

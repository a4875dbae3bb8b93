internal import Glibc

/// Questions before something that is hard to undo. They are asked on a terminal only; without one the caller's flag must
/// have been given.
package struct Confirm {
    private let terminal: Terminal
    private let ask: (String) -> Void
    private let answer: () -> String?

    /// Asks on stderr and reads stdin.
    package init(terminal: Terminal) {
        self.init(terminal: terminal, ask: Output.message, answer: Self.readLine)
    }

    /// Asks and hears through the given functions; `answer` returns `nil` at the end of input.
    package init(terminal: Terminal, ask: @escaping (String) -> Void, answer: @escaping () -> String?) {
        self.terminal = terminal
        self.ask = ask
        self.answer = answer
    }

    /// Asks a yes-or-no question; anything but yes is no.
    ///
    /// - Parameter flag: the option that answers yes beforehand, named in the error when there is no terminal.
    package func yes(_ question: String, flag: String = "--yes") throws(CommandFailure) -> Bool {
        try requireTerminal(flag: flag)
        ask("\(Sanitizer.lines(question)) [y/N] ")
        guard let text = answer() else { return false }
        return ["y", "yes", "예", "네"].contains(Self.trimmed(text).lowercased())
    }

    /// Asks to type `expected`; anything else is no.
    package func typed(_ expected: String, _ question: String, flag: String) throws(CommandFailure) -> Bool {
        try requireTerminal(flag: flag)
        ask("\(Sanitizer.lines(question)): ")
        guard let text = answer() else { return false }
        return Self.trimmed(text) == expected
    }

    private func requireTerminal(flag: String) throws(CommandFailure) {
        if terminal.isTerminal(.input) && terminal.isTerminal(.error) { return }
        throw CommandFailure(
            code: "E_CONFIRM", "this needs a confirmation, and there is no terminal to ask on",
            hint: "the same command with \(flag)", exitCode: .usage)
    }

    private static func trimmed(_ text: String) -> String {
        let isBlank: (Character) -> Bool = { $0.isWhitespace }
        let start = text.drop(while: isBlank)
        return String(start.reversed().drop(while: isBlank).reversed())
    }

    /// One line of stdin without its newline, read byte by byte so that nothing behind it is taken.
    private static func readLine() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count < 4_096 {
            let count = read(StandardStream.input.rawValue, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if byte == UInt8(ascii: "\n") { break }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

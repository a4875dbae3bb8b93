/// What a command line said, checked against its ``Command``.
///
/// Asking for a name the command does not have is a mistake in the program and stops it.
package struct ParsedArguments: Sendable, Equatable {
    /// The command that was asked for.
    package let command: Command
    let declared: [Command.Option]
    let optionValues: [String: [String]]
    let positionalValues: [String: [String]]

    /// Whether the command has an option of this name, given or not.
    package func declares(_ name: String) -> Bool { declared.contains { $0.name == name } }

    /// Whether the flag was given.
    package func flag(_ name: String) -> Bool {
        require(option: name, isFlag: true)
        return optionValues[name] != nil
    }

    /// The value of an option, or `nil` if it was not given.
    package func value(_ name: String) -> String? {
        require(option: name, isFlag: false)
        return optionValues[name]?.last
    }

    /// All values of a repeatable option, in order.
    package func values(_ name: String) -> [String] {
        require(option: name, isFlag: false)
        return optionValues[name] ?? []
    }

    /// The value of an option as an integer in `range`, or `nil` if it was not given. A `mark` may stand before it.
    package func integer(
        _ name: String, in range: ClosedRange<Int>, after mark: String = ""
    ) throws(UsageError) -> Int? {
        guard var text = value(name) else { return nil }
        if text.hasPrefix(mark) { text.removeFirst(mark.count) }
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }), text.utf8.count - digits.count <= 1
        else {
            throw .notWhole(name: "--" + name, value: text)
        }
        guard let number = Int(text), range.contains(number) else {
            throw .outOfRange(name: "--" + name, value: text, lowest: range.lowerBound, highest: range.upperBound)
        }
        return number
    }

    /// A positional argument, or `nil` if it was left out.
    package func positional(_ name: String) -> String? {
        positionals(name).first
    }

    /// All values of a repeating positional argument, in order.
    package func positionals(_ name: String) -> [String] {
        precondition(
            command.arguments.contains { $0.name == name }, "'\(command.name)' has no argument <\(name)>")
        return positionalValues[name] ?? []
    }

    private func require(option name: String, isFlag: Bool) {
        precondition(
            declared.contains { $0.name == name && ($0.placeholder == nil) == isFlag },
            "'\(command.name)' has no \(isFlag ? "flag" : "option with a value") --\(name)")
    }
}

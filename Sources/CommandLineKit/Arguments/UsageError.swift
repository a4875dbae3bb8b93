/// What is wrong with a command line. Every message names the word at fault, every hint the way out.
package enum UsageError: Error, Equatable, Sendable {
    /// Nothing but options were given to a program with commands.
    case noCommand
    /// The first word is no command.
    case unknownCommand(String, suggestion: String?)
    /// The first of two words was given: `peers` of `peers add`.
    case incompleteCommand(String, choices: [String])
    /// No command has this option. The command is the one it was given to; empty: none is known.
    case unknownOption(String, suggestion: String?, command: String = "")
    /// Another command has this option, this one has not.
    case foreignOption(String, command: String)
    /// The option stands without its value.
    case missingValue(option: String, placeholder: String)
    /// A flag was given a value.
    case unexpectedValue(option: String)
    /// An option that may stand once has two values.
    case repeatedOption(String, first: String, second: String)
    /// The value is not one of the possible ones.
    case notAllowed(name: String, value: String, allowed: [String], suggestion: String?)
    /// The value is no whole number.
    case notWhole(name: String, value: String)
    /// The number is too small or too large.
    case outOfRange(name: String, value: String, lowest: Int, highest: Int)
    /// A positional argument is missing.
    case missingArgument(String, command: String)
    /// There are more words than the command takes.
    case unexpectedArgument(String, command: String)

    /// What is wrong, in one line without the program's name.
    package var message: String {
        switch self {
        case .noCommand: "no command given"
        case .unknownCommand(let name, let suggestion): "unknown command '\(name)'" + Self.question(suggestion)
        case .incompleteCommand(let name, _): "'\(name)' needs a second word"
        case .unknownOption(let option, let suggestion, _): "unknown option \(option)" + Self.question(suggestion)
        case .foreignOption(let option, let command): "\(option) does not apply to '\(command)'"
        case .missingValue(let option, let placeholder): "\(option) needs a value: \(option) \(placeholder)"
        case .unexpectedValue(let option): "\(option) takes no value"
        case .repeatedOption(let option, let first, let second):
            "\(option) is given twice: '\(first)' and '\(second)'"
        case .notAllowed(let name, let value, let allowed, let suggestion):
            "\(name): '\(value)' is not one of \(allowed.joined(separator: ", "))" + Self.question(suggestion)
        case .notWhole(let name, let value): "\(name): '\(value)' is not a whole number"
        case .outOfRange(let name, let value, let lowest, let highest):
            switch (lowest, highest) {
            case (_, Int.max): "\(name): \(value) is less than \(lowest)"
            case (Int.min, _): "\(name): \(value) is more than \(highest)"
            default: "\(name): \(value) is not between \(lowest) and \(highest)"
            }
        case .missingArgument(let name, _): "missing argument <\(name)>"
        case .unexpectedArgument(let value, _): "unexpected argument '\(value)'"
        }
    }

    /// What to do about it, for the program of this name.
    package func hint(program: String) -> String {
        switch self {
        case .noCommand, .unknownCommand: "\(program) --help"
        case .incompleteCommand(let name, let choices):
            choices.map { "\(program) \(name) \($0)" }.joined(separator: ", ")
        case .unknownOption(_, _, let command), .foreignOption(_, let command), .missingArgument(_, let command),
            .unexpectedArgument(_, let command):
            command.isEmpty ? "\(program) --help" : "\(program) \(command) --help"
        case .missingValue(let option, let placeholder):
            "\(option + (option.hasPrefix("--") ? "=" : "") + placeholder) if the value begins with a dash"
        case .unexpectedValue(let option): option
        case .repeatedOption(let option, _, _): "one \(option)"
        case .notAllowed(_, let value, ["-"], _): "- < \(value)"
        case .notAllowed(_, _, let allowed, let suggestion): suggestion ?? allowed.joined(separator: ", ")
        case .notWhole: "a whole number"
        case .outOfRange(_, _, let lowest, let highest):
            switch (lowest, highest) {
            case (_, Int.max): "\(lowest) or more"
            case (Int.min, _): "\(highest) or less"
            default: "a number from \(lowest) to \(highest)"
            }
        }
    }

    /// The same in Korean.
    package var korean: String {
        switch self {
        case .noCommand: "명령이 없습니다."
        case .unknownCommand(let name, let near): "'\(name)' 명령은 없습니다." + Self.koreanQuestion(near)
        case .incompleteCommand(let name, _): "'\(name)' 뒤에 한 단어가 더 필요합니다."
        case .unknownOption(let option, let near, _): "\(option) 옵션은 없습니다." + Self.koreanQuestion(near)
        case .foreignOption(let option, let command): "'\(command)' 명령에는 \(option) 옵션을 쓸 수 없습니다."
        case .missingValue(let option, let placeholder): "\(option) 옵션에 값이 없습니다: \(option) \(placeholder)"
        case .unexpectedValue(let option): "\(option) 옵션에는 값을 쓰지 않습니다."
        case .repeatedOption(let option, let first, let second):
            "\(option) 옵션이 두 번 있습니다: '\(first)', '\(second)'"
        case .notAllowed(let name, let value, let allowed, let near):
            "\(name): '\(value)' 값은 쓸 수 없습니다. 쓸 수 있는 값: \(allowed.joined(separator: ", "))"
                + Self.koreanQuestion(near)
        case .notWhole(let name, let value): "\(name): '\(value)' 값은 정수가 아닙니다."
        case .outOfRange(let name, let value, let lowest, let highest):
            switch (lowest, highest) {
            case (_, Int.max): "\(name): \(value) 값은 \(lowest)보다 작습니다."
            case (Int.min, _): "\(name): \(value) 값은 \(highest)보다 큽니다."
            default: "\(name): \(value) 값은 \(lowest)에서 \(highest) 사이가 아닙니다."
            }
        case .missingArgument(let name, _): "인자 <\(name)> 값이 없습니다."
        case .unexpectedArgument(let value, _): "인자 '\(value)'은(는) 필요하지 않습니다."
        }
    }

    private static func koreanQuestion(_ near: String?) -> String { near.map { " 혹시 \($0)입니까?" } ?? "" }

    private static func question(_ suggestion: String?) -> String {
        suggestion.map { "; did you mean \($0)?" } ?? ""
    }

    /// The error as the program reports it: code `E_USAGE`, exit 64.
    package func failure(program: String) -> CommandFailure {
        var failure = CommandFailure(code: "E_USAGE", message, hint: hint(program: program), exitCode: .usage)
        failure.korean = korean
        return failure
    }
}

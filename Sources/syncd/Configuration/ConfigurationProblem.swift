internal import CommandLineKit

/// Where a configured value comes from.
enum ConfigurationOrigin: Sendable, Equatable, CustomStringConvertible {
    /// Nothing was said.
    case builtIn
    /// The configuration file.
    case file(String, TextPosition)
    /// An environment variable.
    case environment(String)
    /// A command line flag.
    case flag(String)

    var description: String {
        switch self {
        case .builtIn: "built-in"
        case .file(let path, let position): "\(path):\(position)"
        case .environment(let name): name
        case .flag(let name): name
        }
    }
}

extension ConfigurationOrigin {
    /// Adds `origin` and what names the place to a line.
    func write(to line: inout JSONLine) {
        switch self {
        case .builtIn: line.add("origin", "built-in")
        case .file(let path, let position):
            line.add("origin", "file")
            line.add("file", path)
            line.add("line", position.line)
            line.add("column", position.column)
        case .environment(let name):
            line.add("origin", "environment")
            line.add("name", name)
        case .flag(let name):
            line.add("origin", "flag")
            line.add("name", name)
        }
    }
}

/// Something wrong with the configuration: where, and what.
struct ConfigurationProblem: Error, Sendable, Equatable, CustomStringConvertible {
    let origin: ConfigurationOrigin
    let message: String

    /// `/etc/syncd/syncd.json5:12:7: expected ',' or '}' after value, not ':'`
    var description: String { Sanitizer.line("\(origin): \(message)") }

    /// For programs.
    var json: JSONLine {
        var line = JSONLine(type: "problem")
        line.add("message", message)
        origin.write(to: &line)
        return line
    }
}

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

/// Something wrong with the configuration: where, and what.
struct ConfigurationProblem: Error, Sendable, Equatable, CustomStringConvertible {
    let origin: ConfigurationOrigin
    let message: String

    /// `/etc/syncd/syncd.json5:12:7: expected ',' or '}' after value, not ':'`
    var description: String { Sanitizer.line("\(origin): \(message)") }
}

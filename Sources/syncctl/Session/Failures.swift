internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// Runs something that works on a store; its errors become failures of the command.
///
/// The body is untyped because a closure's error type is not inferred in Swift 6 unless it is written out.
@discardableResult
func stored<Result>(_ body: () throws -> Result) throws(CommandFailure) -> Result {
    do { return try body() } catch { throw CommandFailure(any: error) }
}

/// Runs something that reads the command line.
func usage<Result>(_ body: () throws -> Result) throws(CommandFailure) -> Result {
    do { return try body() } catch { throw CommandFailure(any: error) }
}

extension CommandFailure {
    fileprivate init(any error: any Error) {
        switch error {
        case let error as StoreError: self.init(error)
        case let error as UsageError: self = error.failure(program: "syncctl")
        case let error as CommandFailure: self = error
        default: self.init(code: "E_INTERNAL", String(describing: error), exitCode: .internalError)
        }
    }
}

extension LineReader {
    /// The next line of `source`, as an error names it.
    mutating func line(of source: String) throws(CommandFailure) -> Line? {
        do { return try next() } catch { throw .system("cannot read \(source)", errno: error.errno) }
    }
}

/// A command line that cannot be carried out.
func usageFailure(_ what: String, hint: String? = nil) -> CommandFailure {
    CommandFailure(code: "E_USAGE", what, hint: hint, exitCode: .usage)
}

internal import CommandLineKit
internal import EventStore

extension CommandFailure {
    /// What went wrong with a store, as the program reports it.
    init(_ error: StoreError) {
        let hint: String? =
            switch error {
            case .notFound(let path): "the right path, if it should be there; syncctl init --store \(path) makes one"
            case .noKey: "put the node.key of its node beside log.db; reading, verify and export need none"
            case .exists: "another folder; a store is never overwritten"
            case .locked: "again when it has ended"
            case .corrupt: "syncctl verify names the damage; a peer or a backup has a good copy"
            case .badFile(_, let wayOut): wayOut
            case .unknownFormat: "a newer release of syncctl"
            case .diskFull: "again when there is room; what was reported as appended is safe"
            case .busy: "again in a moment"
            case .notSettled: "the release that wrote it, once; then this one"
            case .forbidden: "the same command as the user that runs syncd"
            case .readOnly: "the kernel's log says why it is; reading needs no more than that"
            case .unsafe: "take away what stands there, or close the folder to others, as the message says"
            case .io, .batchTooLarge, .closed: nil
            case .fault: "please report it"
            }
        let exitCode: ExitCode =
            switch error {
            case .notFound, .noKey: .inputMissing
            case .exists, .diskFull: .cannotCreate
            case .locked, .busy: .tryAgain
            case .corrupt, .badFile, .notSettled: .badInput
            case .unknownFormat: .versionMismatch
            case .forbidden, .unsafe: .notPermitted
            case .io, .readOnly: .ioError
            case .batchTooLarge, .closed, .fault: .internalError
            }
        self.init(code: error.code, error.description, hint: hint, exitCode: exitCode)
    }
}

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

/// A command line that cannot be carried out.
func usageFailure(_ what: String, hint: String? = nil) -> CommandFailure {
    CommandFailure(code: "E_USAGE", what, hint: hint, exitCode: .usage)
}

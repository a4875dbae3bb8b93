/// How a program ends. Low numbers are answers; 64 to 78 are the errors of `sysexits.h`; 128 + N are signals.
///
/// A reader must take a code it does not know as a failure.
package enum ExitCode: Int32, Sendable, CaseIterable {
    /// Done, healthy, or something found.
    case success = 0
    /// Nothing matched.
    case nothingFound = 1
    /// Degraded, or a warning; an answer that lacks the newest events.
    case degraded = 2
    /// An integrity check failed.
    case integrityFailure = 3
    /// Some inputs were rejected, the rest was done.
    case partlyDone = 4
    /// The command line is wrong.
    case usage = 64
    /// Input data is malformed.
    case badInput = 65
    /// An input file is missing.
    case inputMissing = 66
    /// The daemon or a peer cannot be reached.
    case unreachable = 69
    /// A fault of this program.
    case internalError = 70
    /// Output cannot be created.
    case cannotCreate = 73
    /// Input or output failed, as on a full disk.
    case ioError = 74
    /// A timeout or a busy resource; trying again may help.
    case tryAgain = 75
    /// The versions of client and daemon do not fit.
    case versionMismatch = 76
    /// Not permitted.
    case notPermitted = 77
    /// The configuration is wrong.
    case configuration = 78
    /// Stopped by SIGINT.
    case interrupted = 130
    /// The reader of our output went away (SIGPIPE); nothing is said about it.
    case brokenPipe = 141
    /// Stopped by SIGTERM.
    case terminated = 143

    /// What it means, for a manual page.
    package var meaning: String {
        switch self {
        case .success: "Done, healthy, or something found."
        case .nothingFound: "Nothing matched."
        case .degraded: "Degraded, or a warning; an answer that lacks the newest events."
        case .integrityFailure: "An integrity check failed."
        case .partlyDone: "Some inputs were rejected, the rest was done."
        case .usage: "The command line is wrong."
        case .badInput: "Input data is malformed."
        case .inputMissing: "An input file is missing."
        case .unreachable: "The daemon or a peer cannot be reached."
        case .internalError: "A fault of the program."
        case .cannotCreate: "Output cannot be created, as on a full disk."
        case .ioError: "Input or output failed."
        case .tryAgain: "A timeout or a busy resource; trying again may help."
        case .versionMismatch: "The versions of client and daemon do not fit."
        case .notPermitted: "Not permitted."
        case .configuration: "The configuration is wrong."
        case .interrupted: "Stopped by SIGINT."
        case .brokenPipe: "The reader of the output went away."
        case .terminated: "Stopped by SIGTERM."
        }
    }
}

internal import CommandLineKit

/// One command: how it is described and what it does.
struct Subcommand: Sendable {
    let command: Command
    let run: @Sendable (Session) throws(CommandFailure) -> ExitCode

    init(_ command: Command, run: @escaping @Sendable (Session) throws(CommandFailure) -> ExitCode) {
        self.command = command
        self.run = run
    }
}

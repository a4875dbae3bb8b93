internal import CommandLineKit
internal import EventStore
internal import Glibc

/// A command of the user's, run by `/bin/sh`, at the other end of a pipe.
package final class ShellCommand {
    package enum Direction: Sendable {
        /// It reads what is written.
        case takes
        /// It writes what is read.
        case gives
    }

    private let command: String
    private let running: PipedCommand
    /// This end of the pipe.
    package private(set) var descriptor: Int32

    /// Starts it. Its other streams are this process's.
    package init(
        _ command: String, _ direction: Direction, environment: [String: String]
    ) throws(BackupError) {
        self.command = command
        do throws(PipedCommand.Failure) {
            running = try PipedCommand(command, direction == .takes ? .input : .output, environment: environment)
        } catch {
            throw .command(command, status: error.code)
        }
        descriptor = running.descriptor
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Closes the pipe and waits; throws where the command says that it failed.
    package func finish() throws(BackupError) {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        let status = running.wait()
        guard status == 0 else { throw .command(command, status: status) }
    }
}

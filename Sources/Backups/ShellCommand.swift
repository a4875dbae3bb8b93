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
    private var child: pid_t = 0
    /// This end of the pipe.
    package private(set) var descriptor: Int32

    /// Starts it. Its other streams are this process's.
    package init(
        _ command: String, _ direction: Direction, environment: [String: String]
    ) throws(BackupError) {
        self.command = command
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .store(.system("a pipe")) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (mine, its) = direction == .takes ? (ends[1], ends[0]) : (ends[0], ends[1])
        descriptor = mine
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, its, direction == .takes ? STDIN_FILENO : STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // This process takes no notice of a pipe that breaks; the command may want to.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        let texts: [String] = ["/bin/sh", "-c", command]
        var words = texts.map { (text: String) -> UnsafeMutablePointer<CChar>? in strdup(text) }
        words.append(nil)
        var variables = environment.map { variable -> UnsafeMutablePointer<CChar>? in
            strdup("\(variable.key)=\(variable.value)")
        }
        variables.append(nil)
        defer { for text in words + variables { free(text) } }
        let code = posix_spawn(&child, "/bin/sh", &actions, &attributes, words, variables)
        close(its)
        guard code == 0 else {
            close(mine)
            descriptor = -1
            throw .command(command, status: code)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Closes the pipe and waits; throws where the command says that it failed.
    package func finish() throws(BackupError) {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else {
            let isSignal = status & 0x7f != 0
            throw .command(command, status: isSignal ? 128 + (status & 0x7f) : (status >> 8) & 0xff)
        }
    }
}

internal import Glibc

/// A command that `/bin/sh` runs, with one of its streams at the other end of a pipe; its other streams are this process's.
package struct PipedCommand: Sendable {
    /// Which of the command's streams the pipe is.
    package enum Stream: Sendable { case input, output }

    /// Why it could not be started, as `errno` has it.
    package struct Failure: Error { package let code: Int32 }

    let process: pid_t
    /// This end of the pipe, which is the caller's to close.
    package let descriptor: Int32

    /// Starts it.
    package init(_ command: String, _ stream: Stream, environment: [String: String]) throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (own, other) = stream == .input ? (ends[1], ends[0]) : (ends[0], ends[1])
        defer { close(other) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, other, stream == .input ? STDIN_FILENO : STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // This process takes no notice of a pipe that breaks; a command that writes to one should end.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var child = pid_t()
        let code = Self.withStrings(["/bin/sh", "-c", command]) { words in
            Self.withStrings(environment.map { "\($0.key)=\($0.value)" }) { variables in
                posix_spawn(&child, "/bin/sh", &actions, &attributes, words, variables)
            }
        }
        guard code == 0 else {
            close(own)
            throw Failure(code: code)
        }
        (process, descriptor) = (child, own)
    }

    /// Waits for its end. What it says of itself as a shell tells it: its exit code, or 128 and the signal that ended it.
    package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F != 0 ? 128 + (status & 0x7F) : status >> 8 & 0xFF
    }

    private static func withStrings(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Int32
    ) -> Int32 {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}

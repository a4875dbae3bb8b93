internal import Glibc

/// The program that long output is read in, as `less`. It is started when more has been written than the screen has lines.
package final class Pager {
    private let command: String
    private let environment: [String: String]
    private var process: pid_t?
    private var pipe: Int32 = -1

    /// Whether there was no such program, so that nothing was shown.
    private(set) var isMissing = false

    /// The pager of this environment: `SILLOK_PAGER`, else `PAGER`, else `less` where it is installed. `nil` where one of them is empty
    /// or `cat`: none is wanted.
    package init?(environment: [String: String]) {
        let wanted = environment["SILLOK_PAGER"] ?? environment["PAGER"]
        let command = wanted ?? "less"
        guard !command.isEmpty, command != "cat" else { return nil }
        if wanted == nil {
            let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
            guard folders.contains(where: { access("\($0)/less", X_OK) == 0 }) else { return nil }
        }
        self.command = command
        self.environment = environment
    }

    /// Starts it; what is written to the descriptor is what it shows. `nil` where it cannot be started.
    func start() -> Int32? {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // We ignore it; a pager that writes to a closed pipe should end.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var variables = environment
        // -F ends where it fits on the screen, -R keeps colour, -X leaves the text there.
        variables["LESS"] = environment["LESS"] ?? "FRX"
        variables["LESSCHARSET"] = environment["LESSCHARSET"] ?? "utf-8"
        // A pager of root runs no other programs.
        if geteuid() == 0 { variables["LESSSECURE"] = "1" }
        var child = pid_t()
        let isStarted = Self.withStrings(["/bin/sh", "-c", command]) { words in
            Self.withStrings(variables.map { "\($0.key)=\($0.value)" }) { variables in
                posix_spawn(&child, "/bin/sh", &actions, &attributes, words, variables) == 0
            }
        }
        guard isStarted else {
            close(ends[1])
            return nil
        }
        process = child
        pipe = ends[1]
        // The key that interrupts us is the pager's: it ends a search there, and not us beneath it.
        _ = signal(SIGINT, SIG_IGN)
        return pipe
    }

    /// Tells it that this was all, and waits until its reader has left.
    func finish() {
        guard let process else { return }
        close(pipe)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        self.process = nil
        // What a shell ends with where it cannot find or run a program.
        isMissing = status & 0x7F == 0 && [126, 127].contains(status >> 8 & 0xFF)
    }

    private static func withStrings(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Bool
    ) -> Bool {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}

internal import Foundation
internal import Glibc

/// A program run beside us, whose standard output we read.
final class ChildProcess {
    /// The reading end of its standard output, owned by this object.
    let output: Int32
    private let name: String
    private let pid: pid_t
    private var isReaped = false

    /// Starts `arguments[0]`, found on the PATH.
    /// - Parameters:
    ///   - package: the Debian package to name when the program is missing.
    ///   - input: becomes its standard input; nil for none.
    /// - Throws: `ConversionError.missingProgram`, or `.unreadable` when the system refuses.
    init(_ arguments: [String], package: String, input: Int32? = nil) throws {
        let program = arguments.first ?? ""
        var ends: [Int32] = [-1, -1]
        // A socket pair can be made close-on-exec in one step (`pipe2` is not visible here), so no child that
        // another thread starts meanwhile holds the writing end open.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw ConversionError.unreadable(path: program, reason: String(cString: strerror(errno)))
        }
        defer { close(ends[1]) }
        let (status, started) = Self.spawn(arguments, input: input, output: ends[1])
        guard status == 0 else {
            close(ends[0])
            throw status == ENOENT
                ? ConversionError.missingProgram(name: program, package: package)
                : ConversionError.unreadable(path: program, reason: String(cString: strerror(status)))
        }
        output = ends[0]
        name = program
        pid = started
    }

    deinit {
        close(output)
        if !isReaped { _ = wait() }
    }

    /// Waits for the end of a program whose output was read to the end.
    /// - Throws: `ConversionError.programFailed`.
    func finish() throws {
        let status = wait()
        let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
        guard code == 0 else { throw ConversionError.programFailed(name: name, status: code) }
    }

    private func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) == -1 && errno == EINTR {}
        isReaped = true
        return status
    }

    private static func spawn(_ arguments: [String], input: Int32?, output: Int32) -> (status: Int32, pid: pid_t) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        // A child whose reader has gone must die quietly, also when we ignore the signal or, as the threads of
        // Swift's pool do, block it.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = environment.map { strdup($0) } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var pid: pid_t = 0
        let status = posix_spawnp(&pid, arguments.first ?? "", &actions, &attributes, &argv, &envp)
        return (status, pid)
    }
}

internal import Glibc

/// The program that long output is read in, as `less`. It is started when more has been written than the screen has lines.
package final class Pager {
    private let command: String
    private let environment: [String: String]
    private var running: PipedCommand?

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
        var variables = environment
        // -F ends where it fits on the screen, -R keeps colour, -X leaves the text there.
        variables["LESS"] = environment["LESS"] ?? "FRX"
        variables["LESSCHARSET"] = environment["LESSCHARSET"] ?? "utf-8"
        // A pager of root runs no other programs.
        if geteuid() == 0 { variables["LESSSECURE"] = "1" }
        guard let started = try? PipedCommand(command, .input, environment: variables) else { return nil }
        running = started
        // The key that interrupts us is the pager's: it ends a search there, and not us beneath it.
        _ = signal(SIGINT, SIG_IGN)
        return started.descriptor
    }

    /// Tells it that this was all, and waits until its reader has left.
    func finish() {
        guard let running else { return }
        close(running.descriptor)
        let status = running.wait()
        self.running = nil
        // What a shell ends with where it cannot find or run a program.
        isMissing = [126, 127].contains(status)
    }
}

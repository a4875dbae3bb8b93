internal import Glibc
internal import Synchronization

/// SIGINT as a wish to end in good order. The second one ends at once.
enum Interrupt {
    private static let requested = Atomic<Bool>(false)
    private static let input = Atomic<Int32>(-1)
    private static let nothing = Atomic<Int32>(-1)

    static var isRequested: Bool { requested.load(ordering: .relaxed) }

    /// From here on signals to end only set ``isRequested``: a wait is over then, and the terminal can be put back.
    static func watchEnd() {
        requested.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in Interrupt.requested.store(true, ordering: .relaxed) }
            sigaction(number, &action, nil)
        }
    }

    /// From here on SIGINT sets ``isRequested`` and ends the input at `descriptor`, also for a read that waits for it:
    /// the system call is started again and then finds the end of /dev/null.
    static func watch(reading descriptor: Int32) {
        input.store(descriptor, ordering: .relaxed)
        nothing.store(open("/dev/null", O_RDONLY | O_CLOEXEC), ordering: .relaxed)
        requested.store(false, ordering: .relaxed)
        _ = signal(SIGINT) { _ in
            if Interrupt.requested.exchange(true, ordering: .relaxed) { _exit(130) }
            dup2(Interrupt.nothing.load(ordering: .relaxed), Interrupt.input.load(ordering: .relaxed))
        }
    }
}

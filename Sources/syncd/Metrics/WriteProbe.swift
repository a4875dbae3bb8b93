internal import EventStore
internal import Glibc

/// Whether the store's file system takes and keeps bytes: writes 4 KiB into a file without a name beside the log, and syncs it. What
/// commits prove needs no probe; so it writes at most once in ten seconds, and only where none came.
///
/// ## Concurrency model
/// One lock. The disk is waited for by a thread of its own, so that one that hangs keeps no probe waiting.
final class WriteProbe: Sendable {
    private struct State {
        /// When it began, nanoseconds; `nil` while none is under way.
        var begun: UInt64?
        /// When something was last proven, or refused.
        var last: UInt64 = 0
        var problem: String?
    }

    private static let interval: UInt64 = 10_000_000_000
    /// How long it may take before that is a problem.
    private static let patience: UInt64 = 5_000_000_000

    private let folder: String
    private let worker: SerialWorker<Void>
    private let state = Lock(State())

    init(_ folder: String) {
        self.folder = folder
        worker = SerialWorker<Void>(name: "write-probe") {}
    }

    /// Why the store cannot be written, as far as is known. Waits for the disk, for a short time.
    ///
    /// - Parameter commit: When the log was written last, nanoseconds.
    func problem(since commit: UInt64) -> String? {
        let now = MonotonicClock.now
        let isDue = state.withLock { state in
            // A commit proves it for others, but not that what was refused is over: that only the next write shows.
            if state.problem == nil { state.last = max(state.last, commit) }
            guard state.begun == nil, now > state.last + (state.problem == nil ? Self.interval : 1_000_000_000) else {
                return false
            }
            state.begun = now
            return true
        }
        if isDue {
            let folder = folder
            _ = worker.submit { [self] _ in
                let problem = Self.write(in: folder)
                state.withLock { $0 = State(begun: nil, last: MonotonicClock.now, problem: problem) }
            }
            for _ in 0..<20 where state.withLock({ $0.begun != nil }) { sleepMilliseconds(10) }
        }
        return state.withLock { state in
            if let begun = state.begun, now > begun, now - begun > Self.patience {
                return "disk: a write of 4 KiB has not come back for \((now - begun) / 1_000_000_000) s"
            }
            return state.problem
        }
    }

    func stop() { worker.stop() }

    private static func write(in folder: String) -> String? {
        // O_TMPFILE, whose parts the importer does not show.
        let descriptor = open(folder, O_WRONLY | O_CLOEXEC | 0o20000000 | O_DIRECTORY, 0o600)
        guard descriptor >= 0 else {
            // Some file systems have no files without names: there the commits alone can tell.
            return [EOPNOTSUPP, EISDIR, ENOENT, EINVAL].contains(errno) ? nil : reason("a file")
        }
        defer { close(descriptor) }
        let bytes = [UInt8](repeating: 0, count: 4_096)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { return reason("4 KiB") }
        return fdatasync(descriptor) == 0 ? nil : reason("4 KiB, synced")
    }

    private static func reason(_ what: String) -> String { "disk: \(what): \(String(cString: strerror(errno)))" }
}

internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

/// The views of a store, as fresh as they can be had: a query sees everything that was in the log when it began.
///
/// A running daemon keeps them so; it gets two seconds. Without one they are brought up to date here, under the writer's
/// lock, or built in a temporary place when the store cannot be written.
struct FreshViews {
    private let session: Session
    private let files: StoreFiles
    private static let patience: Int64 = 2_000

    /// The views of the store the session is about.
    static func open(_ session: Session) throws(CommandFailure) -> ViewReader {
        try open(session, StoreLocation.find(for: session).files)
    }

    /// The views of the store in `files`.
    static func open(_ session: Session, _ files: StoreFiles) throws(CommandFailure) -> ViewReader {
        try FreshViews(session: session, files: files).open()
    }

    private func open() throws(CommandFailure) -> ViewReader {
        let top = try stored { try LogReader(files).top() }
        let start = WallClock.now
        while true {
            if let reader = existing(), let found = try? reader.progress(), found >= top { return reader }
            if StoreLock.owner(files) == nil, access(files.folder, W_OK) == 0 {
                if let reader = try caughtUp() { return reader }
            } else if StoreLock.owner(files) == nil {
                return try temporary()
            }
            if WallClock.now - start >= Self.patience { return try stale(top) }
            sleep(milliseconds: 20)
        }
    }

    /// The views that are there; `nil` if there are none yet, or none that can be read: they can be built anew.
    private func existing() -> ViewReader? {
        guard access(files.views, R_OK) == 0 else { return nil }
        // A daemon looks at its start, and knows what it has written since.
        if StoreLock.owner(files) == nil, let verdict = ViewsMark(files)?.verdict(), verdict != .asLeft { return nil }
        return try? ViewReader(files)
    }

    /// Brings the views up to date; `nil` if another process has just taken the store.
    private func caughtUp() throws(CommandFailure) -> ViewReader? {
        do throws(StoreError) {
            let lock = try StoreLock(files, owner: "syncctl pid \(getpid())")
            defer { withExtendedLifetime(lock) {} }
            var progress = Progress("views", unit: "events", style: session.isJSON ? .off : session.style())
            var last: UInt64 = 0
            let distrust = try Projector.catchUp(files) { done, total in
                last = done
                progress.update(done: done, total: total)
            }
            if let distrust { session.say("the views were built anew: \(distrust)") }
            progress.finish(done: last, total: nil)
            return try ViewReader(files)
        } catch {
            if case .locked = error { return nil }
            if case .io = error { return try temporary() }
            throw CommandFailure(error)
        }
    }

    private func temporary() throws(CommandFailure) -> ViewReader {
        session.say("the store cannot be written: building its views in a temporary place")
        return try stored { try ViewReader(temporary: files) }
    }

    /// What there is, with a word about what is missing.
    private func stale(_ top: UInt64) throws(CommandFailure) -> ViewReader {
        guard let reader = existing() else { return try temporary() }
        let position = try stored { try reader.progress() }
        if position < top {
            session.say("the views are behind: the newest \(top - position) events are missing from this answer")
        }
        return reader
    }
}

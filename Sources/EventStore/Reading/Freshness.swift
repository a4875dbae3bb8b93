internal import Glibc

/// The rule by which views are fresh: a query sees everything that was in the log when it began.
///
/// A projector of this process, or a running daemon, keeps them so; it gets two seconds. Without one they are brought up to date here,
/// under the writer's lock, or built in a temporary place when the store cannot be written.
package struct Freshness: Sendable {
    /// What the one who asks is told meanwhile.
    package struct Told: Sendable {
        /// What other processes are told when they find the store in use.
        var owner = "a reader, pid \(getpid())"
        /// How many events were applied, and how many there are.
        var progress: @Sendable (UInt64, UInt64) -> Void = { _, _ in }
        /// A sentence for people.
        var remark: @Sendable (String) -> Void = { _ in }
        /// Told how many events are missing, when the answer is to be given without them; `nil`: it is refused.
        var lacking: (@Sendable (UInt64) -> Void)?

        /// Nothing.
        init() {}

        package init(
            owner: String, progress: @escaping @Sendable (UInt64, UInt64) -> Void,
            remark: @escaping @Sendable (String) -> Void, lacking: @escaping @Sendable (UInt64) -> Void
        ) {
            (self.owner, self.progress, self.remark, self.lacking) = (owner, progress, remark, lacking)
        }
    }

    /// How long the one who keeps the views is waited for, milliseconds.
    private static let patience = (all: 2_000, each: 20)

    let files: StoreFiles
    private let told: Told
    /// Keeps the views up to date in this process.
    private let projector: ProjectorThread?

    package init(_ files: StoreFiles, projector: ProjectorThread? = nil, _ told: Told = Told()) {
        (self.files, self.projector, self.told) = (files, projector, told)
    }

    /// Views that show the log up to `top`.
    ///
    /// - Parameter open: Views that were given before, if they are open still.
    func views(upTo top: UInt64, reusing open: ViewReader? = nil) throws(StoreError) -> ViewReader {
        if let projector {
            guard projector.wait(for: top, milliseconds: Self.patience.all) else {
                throw projector.lastError ?? .busy("the views are behind")
            }
            if let open, (try? open.progress()).map({ $0 >= top }) == true { return open }
            return try ViewReader(files, tails: projector.tails)
        }
        let start = MonotonicClock.now
        while true {
            let isOpen = open?.isInPlace == true
            if let reader = isOpen ? open : existing(), let found = try? reader.progress(), found >= top {
                return reader
            }
            if StoreLock.owner(files) == nil, access(files.folder, W_OK) == 0, !StoreLock.isForeign(files.folder) {
                if let reader = try caughtUp() { return reader }
            } else if StoreLock.owner(files) == nil {
                return try temporary()
            }
            if (MonotonicClock.now - start) / 1_000_000 >= Self.patience.all { return try stale(top) }
            sleepMilliseconds(Self.patience.each)
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
    private func caughtUp() throws(StoreError) -> ViewReader? {
        do throws(StoreError) {
            let lock = try StoreLock(files, owner: told.owner)
            defer { withExtendedLifetime(lock) {} }
            let distrust = try Projector.catchUp(files, progress: told.progress)
            if let distrust { told.remark("the views were built anew: \(distrust)") }
            return try ViewReader(files)
        } catch {
            switch error {
            case .locked: return nil
            case .io, .badFile: return try temporary()
            default: throw error
            }
        }
    }

    private func temporary() throws(StoreError) -> ViewReader {
        told.remark("the store cannot be written: building its views in a temporary place")
        return try ViewReader(temporary: files)
    }

    /// What there is without the newest events, for one who takes it so.
    private func stale(_ top: UInt64) throws(StoreError) -> ViewReader {
        guard let lacking = told.lacking else {
            let owner = StoreLock.owner(files) ?? "another process"
            throw .busy("the views are behind, and \(owner) has the store open")
        }
        guard let reader = existing() else { return try temporary() }
        let position = try reader.progress()
        if position < top { lacking(top - position) }
        return reader
    }
}

internal import EventStore

/// What the main thread waits for.
struct DaemonWake: Sendable {
    enum Reason {
        case signal(Int32)
        /// The configuration is to be read again. The daemon goes on.
        case reload
        case snapshot
        /// The disk has refused something, or the log's files were taken away, or others put in their place.
        case failure(StoreError)
    }

    /// The signal that asked the daemon to end.
    var signal: Int32?
    /// Whether the configuration is to be read again.
    var isReloadWanted = false
    /// Whether a snapshot waits to become the log.
    var isSnapshotReady = false
    /// Why nothing more is stored.
    var failure: StoreError?

    var reason: Reason? {
        if let failure { return .failure(failure) }
        if let signal { return .signal(signal) }
        if isSnapshotReady { return .snapshot }
        return isReloadWanted ? .reload : nil
    }
}

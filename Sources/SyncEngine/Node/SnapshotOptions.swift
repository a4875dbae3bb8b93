/// How a node deals with snapshots.
package struct SnapshotOptions: Sendable {
    /// An empty node takes a snapshot from a peer that has at least so many events; 0: never.
    package var after: UInt64
    /// Whether empty peers are offered one.
    package var offers: Bool
    /// Bytes of disk that must stay free.
    package var minFree: UInt64
    /// Threads that check and build.
    package var threads: Int

    package init(after: UInt64 = 100_000, offers: Bool = true, minFree: UInt64 = 64 << 20, threads: Int = 4) {
        self.after = after
        self.offers = offers
        self.minFree = minFree
        self.threads = threads
    }
}

/// Who reads and who receives snapshots for a node.
struct SnapshotEndpoint: Sendable {
    let server: SnapshotServer
    let intake: SnapshotReceiver
    let options: SnapshotOptions
    let onComplete: @Sendable () -> Void
}

/// What receiving a snapshot asks of an open store.
extension EventStore {
    /// Most events of its own a node may have and still take a snapshot.
    package static let mostOwnEvents: UInt64 = 1_000

    /// Stops all storing until ``endSnapshotHold()`` or until the store is opened again: a snapshot is about to become the
    /// log, and what was stored meanwhile would be lost. Appends are refused as busy. Refused unless all that the log
    /// has are a few events of this node itself. Blocks.
    package func beginSnapshotHold(_ reason: String) throws(SnapshotError) {
        writer.hold(reason)
        do throws(StoreError) {
            // What was queued before is stored by now.
            let progress = try progressBlocking()
            try flushBlocking()
            if progress.allowsSnapshot(own: identity.origin) { return }
        } catch {
            writer.hold(nil)
            throw .store(error)
        }
        writer.hold(nil)
        throw .notEmpty("this node's log is no longer empty")
    }

    /// Goes on storing: there will be no snapshot.
    package func endSnapshotHold() { writer.hold(nil) }
}

extension Sequence<OriginProgress> {
    /// Whether a log that has so much may give way to a snapshot: it has nothing but a few events of its `own`.
    package func allowsSnapshot(own: OriginID) -> Bool {
        allSatisfy { $0.origin == own && $0.seq <= EventStore.mostOwnEvents }
    }
}

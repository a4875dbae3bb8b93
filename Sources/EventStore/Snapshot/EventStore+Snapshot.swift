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
            let others = progress.filter { $0.origin != identity.origin }.count
            let own = progress.reduce(0) { $0 + ($1.origin == identity.origin ? $1.seq : 0) }
            if others == 0, own <= Self.mostOwnEvents { return }
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

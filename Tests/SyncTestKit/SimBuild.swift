internal import EventStore
internal import SyncEngine

/// A log that is being made of the pieces of a snapshot, by the rules of the real one: ``CheckedRows`` and
/// ``Sequencer`` decide. Its rows are put in by the appender, not page by page.
final class SimBuild {
    /// This node's own events, then what has been proved.
    private let live: MemoryLog
    private var log: SimLog
    private let order: Sequencer
    /// Has the heads that the sequencer keeps.
    private let scratch: LogReader
    private let sha = SHA256()
    private unowned let node: SimNode

    private var sim: Simulation { node.sim }

    /// Begins with the node's own events.
    init(of node: SimNode) throws(SnapshotError) {
        self.node = node
        let own = node.store.file
        log = own.log
        do throws(DatabaseError) { (order, scratch) = try Sequencer.begin(over: own.image, own: own.log.own) } catch {
            throw SnapshotError(error)
        }
        do throws(StoreError) {
            live = try MemoryLog(own.image, key: node.key, wall: node.wall, seed: node.sim.random.next())
        } catch {
            throw .store(error)
        }
        let reader = SnapshotReader(live.reader)
        var after = UInt64(0)
        while after < own.log.top {
            let rows: SnapshotRows
            do throws(StoreError) { rows = try reader.rows(after: after, through: own.log.top, bytes: 1 << 20) } catch
            {
                throw .store(error)
            }
            _ = try order.take(try CheckedRows(rows, using: sha))
            after = rows.last
        }
        order.ownRowsEnded()
    }

    /// Proves a piece and puts it in its place.
    func add(_ rows: SnapshotRows) throws(SnapshotError) {
        let checked = try CheckedRows(rows, using: sha)
        var skipped: Set<Int> = []
        do throws(SnapshotError) { skipped = try order.take(checked).skipped } catch {
            guard sim.has(.snapshotUnproved) else { throw error }
        }
        var placed: [(event: Event, leaf: Digest)] = []
        for (number, event) in try checked.events().enumerated() where !skipped.contains(number) {
            let leaf = sha.leaf(of: event)
            if leaf != checked.list[number].leaf {
                sim.violate("snapshot", "\(event.header.dot) is another event than the one that was checked")
            }
            placed.append((event, leaf))
        }
        place(placed)
    }

    private func place(
        _ events: [(event: Event, leaf: Digest)], _ heads: [SignedHead] = [], _ reaches: [PendingCoverage] = []
    ) {
        let batch = VerifiedBatch(unproved: events, heads: heads, reaches: reaches)
        if case .failure(let refusal) = live.commit([.ingest(batch)], wall: node.wall), !sim.has(.snapshotUnproved) {
            sim.violate("snapshot", "what was accepted does not follow on: \(refusal.error)")
        }
    }

    /// All pieces are there: proves the whole against signed heads.
    func finish(_ coverage: [Coverage], _ offer: SnapshotOffer) throws(SnapshotError) -> SimFile {
        do throws(SnapshotError) {
            try order.finish(coverage, expecting: SnapshotPlan(offer).progress)
        } catch {
            guard sim.has(.snapshotUnproved) else { throw error }
        }
        do throws(StoreError) {
            try log.read(live.reader, own: log.own, using: sha)
            let (heads, reaches) = try SimFile.vouchers(of: log.originIDs, scratch)
            place([], heads, reaches)
        } catch {
            throw .store(error)
        }
        return SimFile(image: live.image, log: log)
    }
}

internal import EventStore
internal import SyncEngine

/// A log that is being made of the pieces of a snapshot, by the rules of the real one: ``CheckedRows`` and
/// ``Sequencer`` decide. Its rows are put in by the appender, not page by page.
final class SimBuild {
    /// This node's own events, then what has been proved.
    private let live: MemoryLog
    private var log: SimLog
    private let scratch: Scratch
    private let order: Sequencer
    private let sha = SHA256()
    private unowned let node: SimNode

    private var sim: Simulation { node.sim }

    /// What the sequencer keeps: of nodes a log in memory needs nothing.
    private final class Scratch: SnapshotScratch {
        private let known: [(id: OriginID, key: VerifyingKey)]
        var heads: [SignedHead] = []
        var reaches: [PendingCoverage] = []
        private var refs: [[UInt8]: Int64] = [:]

        init(_ log: SimLog) { known = log.keys }

        func origins() throws(DatabaseError) -> [(id: OriginID, key: VerifyingKey)] { known }
        /// Equal texts have one ref, others have others.
        func refs(of names: [UnsafeRawBufferPointer]) throws(DatabaseError) -> [Int64] {
            names.map { name in
                let bytes = [UInt8](name)
                let ref = refs[bytes] ?? Int64(refs.count) + 1
                refs[bytes] = ref
                return ref
            }
        }
        func insert(origin: OriginID, _ key: VerifyingKey, ref: Int64) throws(DatabaseError) {}
        func insertNode(origin: Int64, level: Int, index: UInt64, hash: Digest) throws(DatabaseError) {}
        func insertHead(_ signed: SignedHead, origin: Int64) throws(DatabaseError) { heads.append(signed) }
        func insertReach(_ reach: PendingCoverage, origin: Int64) throws(DatabaseError) { reaches.append(reach) }
        func commit() throws(DatabaseError) {}
    }

    /// Begins with the node's own events.
    init(of node: SimNode) throws(SnapshotError) {
        self.node = node
        let own = node.store.file
        log = own.log
        scratch = Scratch(own.log)
        do throws(DatabaseError) { order = try Sequencer(scratch, own: own.log.own) } catch {
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
        let checked: CheckedRows
        var skipped: Set<Int> = []
        do throws(SnapshotError) {
            checked = try CheckedRows(rows, using: sha)
            skipped = try order.take(checked).skipped
        } catch {
            guard sim.has(.snapshotUnproved) else { throw error }
            for event in SimRows.events(rows) ?? [] { place([(event, sha.leaf(of: event))]) }
            return
        }
        guard let events = SimRows.events(rows), events.count == checked.list.count else {
            return sim.violate("snapshot", "rows that were accepted cannot be read")
        }
        var placed: [(event: Event, leaf: Digest)] = []
        for (number, event) in events.enumerated() where !skipped.contains(number) {
            let leaf = sha.leaf(of: event)
            if leaf != checked.list[number].leaf {
                sim.violate("snapshot", "\(event.header.dot) is another event to the verifier than to FORMATS.md")
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
        place([], scratch.heads, scratch.reaches)
        do throws(StoreError) { try log.read(live.reader, own: log.own, using: sha) } catch { throw .store(error) }
        return SimFile(image: live.image, log: log)
    }
}

internal import EventStore
internal import SyncEngine

/// A log that is being made of the pieces of a snapshot, by the rules of the real one: ``CheckedRows`` and
/// ``Sequencer`` decide.
final class SimBuild {
    /// This node's own events, then what has been proved.
    private(set) var log: SimLog
    private let scratch: Scratch
    private let order: Sequencer
    private let sha = SHA256()
    private unowned let sim: Simulation

    /// What the sequencer keeps: of nodes a log in memory needs nothing.
    private final class Scratch: SnapshotScratch {
        private let known: [(id: OriginID, key: VerifyingKey)]
        var heads: [SignedHead] = []
        var reaches: [PendingCoverage] = []
        var keys: [OriginID: VerifyingKey] = [:]
        private var refs: [[UInt8]: Int64] = [:]

        init(_ log: SimLog) {
            known = log.metOrigins.compactMap { id in log.origins[id].map { (id, $0.key) } }
        }

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
        func insert(origin: OriginID, _ key: VerifyingKey, ref: Int64) throws(DatabaseError) { keys[origin] = key }
        func insertNode(origin: Int64, level: Int, index: UInt64, hash: Digest) throws(DatabaseError) {}
        func insertHead(_ signed: SignedHead, origin: Int64) throws(DatabaseError) { heads.append(signed) }
        func insertReach(_ reach: PendingCoverage, origin: Int64) throws(DatabaseError) { reaches.append(reach) }
        func commit() throws(DatabaseError) {}
    }

    /// Begins with the node's own events.
    init(over own: SimLog, sim: Simulation) throws(SnapshotError) {
        log = own
        self.sim = sim
        scratch = Scratch(own)
        do { order = try Sequencer(scratch, own: own.own) } catch { throw SnapshotError(error) }
        var after = UInt64(0)
        while after < own.top {
            let rows = SimRows.piece(of: own, after: after, through: own.top, bytes: 1 << 20)
            _ = try order.take(try CheckedRows(rows, using: sha))
            after = rows.last
        }
        order.ownRowsEnded()
    }

    /// Proves a piece and puts it in its place.
    func add(_ rows: SnapshotRows, wall: Int64) throws(SnapshotError) {
        let checked: CheckedRows
        var skipped: Set<Int> = []
        do throws(SnapshotError) {
            checked = try CheckedRows(rows, using: sha)
            skipped = try order.take(checked).skipped
        } catch {
            guard sim.has(.snapshotUnproved) else { throw error }
            for event in SimRows.events(rows) ?? [] { place(event, sha.leaf(of: event), wall) }
            return
        }
        guard let events = SimRows.events(rows), events.count == checked.list.count else {
            return sim.violate("snapshot", "rows that were accepted cannot be read")
        }
        for (number, event) in events.enumerated() where !skipped.contains(number) {
            let leaf = sha.leaf(of: event)
            if leaf != checked.list[number].leaf {
                sim.violate("snapshot", "\(event.header.dot) is another event to the verifier than to FORMATS.md")
            }
            place(event, leaf, wall)
        }
    }

    private func place(_ event: Event, _ leaf: Digest, _ wall: Int64) {
        let origin = event.header.dot.origin
        let key = scratch.keys[origin] ?? OriginStart(event)?.key
        let isPlaced = log.ingest(event, leaf: leaf, key: key, wall: wall, using: sha)
        if !isPlaced, !sim.has(.snapshotUnproved) {
            sim.violate("snapshot", "\(event.header.dot) was accepted and does not follow on")
        }
    }

    /// All pieces are there: proves the whole against signed heads.
    func finish(_ coverage: [Coverage], _ offer: SnapshotOffer) throws(SnapshotError) -> SimLog {
        do throws(SnapshotError) {
            try order.finish(coverage, expecting: SnapshotPlan(offer).progress)
        } catch {
            guard sim.has(.snapshotUnproved) else { throw error }
        }
        for head in scratch.heads { log.store(head) }
        for reach in scratch.reaches { log.store(reach) }
        return log
    }
}

/// Rows that have their place: position, refs of names and origins.
package struct SequencedRows: Sendable {
    let checked: CheckedRows
    /// The position of the first row that is kept.
    let first: UInt64
    /// For each name its ref.
    let names: [Int64]
    /// For each actor its ref.
    let actors: [Int64]
    /// For each run its origin's ref.
    let origins: [Int64]
    /// For each of the extras column `dependencies`.
    let dependencies: [[UInt8]]
    /// Rows that are here already: this node's own events on their way back.
    package let skipped: Set<Int>
}

/// Checks what depends on order, piece by piece: gapless seqs, dependencies before what depends on them, roots equal to
/// the signed heads; and gives out positions and refs. Names, nodes and heads go to a ``ScratchDatabase``, so memory is
/// bounded by the number of origins.
///
/// Used by one thread at a time.
package final class Sequencer {
    private struct Origin {
        let ref: Int64
        let id: OriginID
        let key: VerifyingKey
        var tree = GrowingTree()
        var range: MerkleRange { tree.range }
        /// The greatest stamp of it.
        var hlc: UInt64 = 0
        /// The stamp of its last event, if that one's header can be read.
        var last: UInt64?

        /// Whether a head of its rows so far says when the last one was recorded.
        func agrees(with head: TreeHead) -> Bool { last.map { $0 == head.hlc.rawValue } ?? true }
    }

    private let scratch: ScratchDatabase
    private let sha = SHA256()
    private var origins: [Origin] = []
    private var indexes: [OriginID: Int] = [:]
    let own: OriginID
    /// Leaves of this node's own events, which come first.
    private var ownLeaves: [Digest] = []
    private(set) var position: UInt64 = 0
    /// The sender's position of the last row.
    private var received: UInt64 = 0
    /// Whether the rows are this node's own log.
    private var isOwn = true

    /// - Parameter scratch: Has the origins of this node's log.
    init(_ scratch: ScratchDatabase, own: OriginID) throws(DatabaseError) {
        self.scratch = scratch
        self.own = own
        for origin in try scratch.origins() { add(origin.id, origin.key) }
    }

    /// From now on the rows are the other node's.
    package func ownRowsEnded() {
        isOwn = false
        received = 0
    }

    private func add(_ id: OriginID, _ key: VerifyingKey) {
        indexes[id] = origins.count
        origins.append(Origin(ref: Int64(origins.count) + 1, id: id, key: key))
    }

    /// How far each origin is.
    var progress: [OriginProgress] {
        origins.filter { $0.range.size > 0 }.map {
            OriginProgress(origin: $0.id, seq: $0.range.size, rootPrefix: $0.range.root(using: sha).prefix64)
        }.sorted { $0.origin < $1.origin }
    }

    /// The origins whose stamps are too far ahead of `wall`, as if their events had come one by one now (D7).
    func skews(wall: Int64) -> [(origin: OriginID, skew: ClockSkew)] {
        origins.compactMap { origin in
            let ahead = HybridTime(rawValue: origin.hlc).milliseconds - wall
            guard origin.id != own, ahead > HybridClock.bound else { return nil }
            return (origin.id, ClockSkew(ahead: ahead, at: wall))
        }
    }

    package func take(_ checked: CheckedRows) throws(SnapshotError) -> SequencedRows {
        let refs: [Int64]
        let actors: [Int64]
        do throws(DatabaseError) {
            refs = try checked.withNames { names throws(DatabaseError) in try scratch.refs(of: names) }
            actors = try checked.actors.map { actor throws(DatabaseError) in try scratch.ref(of: actor) }
            for (row, start) in checked.starts {
                let id = checked.rows.runs[Int(checked.list[row].run)].origin
                if indexes[id] == nil { try insert(id, start) }
            }
        } catch {
            throw SnapshotError(error)
        }
        guard Set(refs).count == refs.count else { throw .malformed("a name occurs twice") }
        let placed = try place(checked, refs, actors)
        guard checked.rows.after == received else {
            throw .malformed("rows after \(checked.rows.after) where those after \(received) are next")
        }
        received = checked.rows.last
        return placed
    }

    private func insert(_ id: OriginID, _ start: OriginStart) throws(DatabaseError) {
        add(id, start.key)
        try scratch.insert(origin: id, start.key, ref: Int64(origins.count))
    }

    private func place(
        _ checked: CheckedRows, _ refs: [Int64], _ actors: [Int64]
    ) throws(SnapshotError) -> SequencedRows {
        let runs = try checked.rows.runs.map { run throws(SnapshotError) in
            guard let index = indexes[run.origin] else { throw .event(.originStart(run.origin)) }
            return index
        }
        guard let heads = headsByRun(checked.rows) else { throw .malformed("heads out of order") }
        var next = heads.map { $0.first?.head.size ?? .max }
        var done = heads.map { _ in 0 }
        var skipped: Set<Int> = []
        let first = position + 1
        for (number, row) in checked.list.enumerated() {
            let run = Int(row.run)
            let index = runs[run]
            let dot = Dot(origin: origins[index].id, seq: row.seq)
            if !isOwn, dot.origin == own {
                try checkOwn(dot, row.leaf)
                skipped.insert(number)
                continue
            }
            let size = origins[index].range.size
            guard row.seq == size + 1 else { throw .event(.gap(dot, have: size)) }
            if !row.isOpaque, let last = origins[index].last, row.hlc <= last { throw .event(.stampOrder(dot)) }
            if row.extra >= 0 { try checkDependencies(checked.extras[Int(row.extra)].dependencies, dot) }
            try append(row.leaf, to: index)
            origins[index].hlc = max(origins[index].hlc, row.hlc)
            origins[index].last = row.isOpaque ? nil : row.hlc
            position += 1
            if isOwn { ownLeaves.append(row.leaf) }
            if row.seq == next[run] {
                try check(heads[run][done[run]], index)
                done[run] += 1
                next[run] = done[run] < heads[run].count ? heads[run][done[run]].head.size : .max
            }
        }
        for (run, index) in runs.enumerated() where origins[index].id != own || isOwn {
            guard done[run] == heads[run].count else { throw .malformed("a head of other rows") }
        }
        // Only of rows that are skipped an origin may be missing: the others' dependencies have been checked.
        let dependencies = checked.extras.map { extra in
            EventRow.dependencyBytes(
                extra.dependencies.compactMap { dot in
                    indexes[dot.origin].map { (ref: origins[$0].ref, seq: dot.seq) }
                })
        }
        return SequencedRows(
            checked: checked, first: first, names: refs, actors: actors, origins: runs.map { origins[$0].ref },
            dependencies: dependencies, skipped: skipped)
    }

    private func checkOwn(_ dot: Dot, _ leaf: Digest) throws(SnapshotError) {
        guard dot.seq <= UInt64(ownLeaves.count) else { throw .event(.amnesia(dot, known: dot.seq)) }
        guard ownLeaves[Int(dot.seq) - 1] == leaf else {
            throw .foreign("its event \(dot) is not the one this node wrote")
        }
    }

    private func checkDependencies(_ dependencies: [Dot], _ dot: Dot) throws(SnapshotError) {
        for needs in dependencies {
            guard let index = indexes[needs.origin], needs.seq <= origins[index].range.size else {
                throw .event(.causalGap(dot, needs: needs))
            }
        }
    }

    private func append(_ leaf: Digest, to index: Int) throws(SnapshotError) {
        do throws(DatabaseError) {
            for node in origins[index].tree.grow(leaf, using: sha) {
                try scratch.merkle.insert(node, origin: origins[index].ref, at: position + 1)
            }
        } catch {
            throw SnapshotError(error)
        }
    }

    private func check(_ signed: SignedHead, _ index: Int) throws(SnapshotError) {
        let origin = origins[index]
        guard signed.isValid(for: origin.key) else {
            throw .event(.badSignature(origin.id, size: signed.head.size))
        }
        guard signed.head.root == origin.range.root(using: sha) else {
            throw .event(.badProof(origin.id, size: signed.head.size))
        }
        guard origin.agrees(with: signed.head) else { throw .event(.badTime(origin.id, size: signed.head.size)) }
        do { try scratch.merkle.insertHead(signed, origin: origin.ref) } catch { throw SnapshotError(error) }
    }

    /// All rows have come: every origin's last event must be covered by a head its node has signed, and they must be those that
    /// were offered.
    package func finish(_ coverage: [Coverage], expecting offered: [OriginProgress]) throws(SnapshotError) {
        let covers = Dictionary(coverage.map { ($0.head.head.origin, $0) }) { first, _ in first }
        for origin in origins where origin.id != own && origin.range.size > 0 {
            guard let cover = covers[origin.id], cover.head.head.size >= origin.range.size else {
                throw .event(.notCovered(origin.id))
            }
            let head = cover.head.head
            guard cover.head.isValid(for: origin.key) else {
                throw .event(.badSignature(origin.id, size: head.size))
            }
            guard
                MerkleProof.isConsistent(
                    old: origin.range.size, oldRoot: origin.range.root(using: sha), new: head.size,
                    newRoot: head.root, proof: cover.proof, using: sha)
            else { throw .event(.badProof(origin.id, size: origin.range.size)) }
            guard head.size > origin.range.size || origin.agrees(with: head) else {
                throw .event(.badTime(origin.id, size: head.size))
            }
            do throws(DatabaseError) {
                if head.size == origin.range.size {
                    try scratch.merkle.insertHead(cover.head, origin: origin.ref)
                } else {
                    // The rest may never come: this is what vouches for the last rows then.
                    try scratch.merkle.replaceReach(
                        PendingCoverage(size: origin.range.size, coverage: cover), origin: origin.ref)
                }
            } catch {
                throw SnapshotError(error)
            }
        }
        guard progress.filter({ $0.origin != own }) == offered.filter({ $0.origin != own }) else {
            throw .stale("it does not hold what was offered")
        }
        do { try scratch.commit() } catch { throw SnapshotError(error) }
    }
}

/// The heads of a piece, for each of its runs; `nil` unless they ascend by origin and size, and each is of a run.
private func headsByRun(_ rows: SnapshotRows) -> [[SignedHead]]? {
    var indexes: [OriginID: Int] = [:]
    for (index, run) in rows.runs.enumerated() { indexes[run.origin] = index }
    var heads = [[SignedHead]](repeating: [], count: rows.runs.count)
    for (a, b) in zip(rows.heads, rows.heads.dropFirst()) {
        guard (a.head.origin, a.head.size) < (b.head.origin, b.head.size) else { return nil }
    }
    for head in rows.heads {
        guard let index = indexes[head.head.origin] else { return nil }
        heads[index].append(head)
    }
    return heads
}

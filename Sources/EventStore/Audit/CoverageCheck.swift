/// What is checked of table `reach`: heads that speak of more than is here, and the proofs that lead to them.
extension LogAudit {
    /// Compares the rows with what the scan has found. Where a writer goes on, a row may speak of later events.
    mutating func checkReaches() throws(DatabaseError) {
        guard try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'reach'") == 1 else { return }
        let select = try connection.statement(
            """
            SELECT origin, typeof(size) = 'integer' AND typeof(head) = 'integer' AND typeof(root) = 'blob' \
            AND typeof(hlc) = 'integer' AND typeof(signature) = 'blob' AND typeof(proof) = 'blob' \
            AND length(proof) % 32 = 0 AND size > 0 AND (head > size OR head < 0), \
            typeof(head) = 'integer' AND (head < 0 OR head > \(Limits.number)) FROM reach ORDER BY origin
            """)
        var beyond: [(head: TreeHead, index: Int)] = []
        while try select.step() {
            let ref = select.int64(0)
            guard let index = indexes[ref] else {
                // An origin that came after the audit had begun.
                if !isWritten { findings.add(.heads, "table reach has the unknown ref \(ref)") }
                continue
            }
            let proof = origins[index]
            if select.int64(2) == 1 {
                findings.add(
                    .heads,
                    "origin \(proof.id): its head that reaches beyond states a size that no log has; it came from a "
                        + "peer, before sizes had a bound, and vouches for nothing")
                continue
            }
            guard select.int64(1) == 1,
                let reach = try MerkleStore(connection: connection, sha: sha).reach(of: proof.id, ref: ref)
            else {
                findings.add(.heads, "origin \(proof.id): its row of table reach has a column of the wrong kind")
                continue
            }
            let faults = try faults(of: reach, index)
            if faults.isEmpty {
                origins[index].isVouched(to: reach.size)
                beyond.append((reach.coverage.head.head, index))
            }
            for fault in faults {
                findings.add(.heads, "origin \(proof.id): the head at \(reach.coverage.head.head.size) \(fault)")
            }
        }
        // What a writer has stored since is seen only when nothing is read any more.
        select.reset()
        let until = MonotonicClock.now + UInt64(Verifier.patience.all) * 1_000_000
        for (head, index) in beyond { try tell(of: head, origins[index], until) }
    }

    /// Says where a node has signed more events than are here. Of a fork the others may be elsewhere, and the origin that took over says what
    /// its own node has lost.
    private mutating func tell(
        of head: TreeHead, _ origin: OriginProof, _ until: UInt64
    ) throws(DatabaseError) {
        let here = try present(origin, atLeast: head.size, until)
        guard head.size > here else { return }
        let text = "origin \(origin.id): its node has signed \(head.size) events, of which \(here) are here"
        let isSucceeded = successions.contains { $0.1.previous == origin.id }
        if isSucceeded || forked.contains(origin.id) { remarks.append(text) } else { notes.append(text) }
    }

    /// How many events of an origin are here. Beside a writer the rest may be about to come, and is waited for until a moment of the
    /// monotonic clock, which is one for all origins.
    private func present(
        _ origin: OriginProof, atLeast size: UInt64, _ until: UInt64
    ) throws(DatabaseError) -> UInt64 {
        var here = origin.seq
        while isWritten, here < size {
            let seq = try connection.integer("SELECT max(seq) FROM event WHERE origin = ?", .integer(origin.ref))
            here = max(here, UInt64(clamping: seq ?? 0))
            guard here < size, MonotonicClock.now < until else { break }
            sleepMilliseconds(Verifier.patience.each)
        }
        return here
    }

    private mutating func faults(of reach: PendingCoverage, _ index: Int) throws(DatabaseError) -> [String] {
        let (signed, origin) = (reach.coverage.head, origins[index])
        guard signed.isValid(for: origin.key) else {
            return ["that reaches beyond has a signature that is not that of node \(origin.node.short)"]
        }
        if reach.size > origin.seq { return isWritten ? [] : ["is proven from events that are not here"] }
        // It may be behind: events have come since.
        guard let root = try root(of: index, size: reach.size) else { return [] }
        let isProven = MerkleProof.isConsistent(
            old: reach.size, oldRoot: root, new: signed.head.size, newRoot: signed.head.root,
            proof: reach.coverage.proof, using: sha)
        guard isProven else { return ["that reaches beyond does not follow from these events"] }
        // Of two histories that are proven the node has heard of the other one.
        guard signed.head.size <= origin.seq, !forked.contains(origin.id) else { return [] }
        let here = try self.root(of: index, size: signed.head.size)
        return here == signed.head.root ? [] : ["is of another history than the events that have come since"]
    }

    /// The root of the first events of an origin that are here; `nil` where damage, which is a finding already, keeps it from being told.
    mutating func root(of index: Int, size: UInt64) throws(DatabaseError) -> Digest? {
        guard let tree = origins[index].tree else { return nil }
        if tree.size == size { return tree.root(using: sha) }
        let merkle = MerkleStore(connection: connection, sha: sha)
        return try merkle.root(origin: origins[index].ref, size: size, names: &names)
    }
}

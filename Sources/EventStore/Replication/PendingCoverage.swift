/// How far a head reaches beyond the last events of its origin that are here.
///
/// A batch may end before the head that covers it. Until the rest has come, this is what vouches for those last events:
/// without it a node could not pass them on, and if the rest never comes, no other node would ever get them (INV-12).
package struct PendingCoverage: Hashable, Sendable {
    /// How many events of the origin are here.
    package let size: UInt64
    /// A later head of the origin, and the proof from `size` to it. Both are verified.
    package let coverage: Coverage

    package var origin: OriginID { coverage.head.head.origin }

    /// Puts together what is proven about the events that are here and what is not.
    package var bridge: MerkleBridge? {
        MerkleBridge(have: size, whole: coverage.head.head.size, proof: coverage.proof)
    }

    /// What vouches for the first `old` events, at most ``size``.
    package func covering<Failure: Error>(
        _ old: UInt64, using sha: SHA256, nodes: MerkleProof.NodeSource<Failure>
    ) throws(Failure) -> Coverage? {
        guard let proof = try bridge?.consistency(from: old, using: sha, nodes: nodes) else { return nil }
        return Coverage(head: coverage.head, proof: proof)
    }
}

extension MerkleStore {
    /// Stores how far the last head reaches, in place of what was known before.
    func replaceReach(_ reach: PendingCoverage, origin: Int64) throws(DatabaseError) {
        let signed = reach.coverage.head
        let insert = try connection.statement(
            "INSERT OR REPLACE INTO reach(origin, size, head, root, hlc, signature, proof) VALUES(?,?,?,?,?,?,?)")
        try insert.bind(1, origin)
        try insert.bind(2, reach.size)
        try insert.bind(3, signed.head.size)
        try insert.bind(4, blob: signed.head.root.bytes)
        try insert.bind(5, signed.head.hlc.rawValue)
        try insert.bind(6, blob: signed.signature)
        try insert.bind(7, blob: reach.coverage.proof.flatMap(\.bytes))
        try insert.run()
    }

    /// How far the last head of an origin reaches beyond its events, if one ever did.
    func reach(of origin: OriginID, ref: Int64) throws(DatabaseError) -> PendingCoverage? {
        let select = try connection.statement(
            "SELECT size, head, root, hlc, signature, proof FROM reach WHERE origin = ?")
        defer { select.reset() }
        try select.bind(1, ref)
        // A head of a size that no log can have, which an earlier release took from a peer, vouches for nothing.
        guard try select.step(), let root = select.digest(2), select.uint64(1) <= Limits.number else { return nil }
        let bytes = select.bytes(5)
        let proof = stride(from: 0, to: bytes.count, by: 32).compactMap { start in
            Digest(bytes: bytes[start..<min(start + 32, bytes.count)])
        }
        let head = TreeHead(
            origin: origin, size: select.uint64(1), root: root, hlc: HybridTime(rawValue: select.uint64(3)))
        return PendingCoverage(
            size: select.uint64(0),
            coverage: Coverage(head: SignedHead(head: head, signature: select.bytes(4)), proof: proof))
    }
}

extension LogReader {
    /// How far the last head of an origin reaches beyond its events, if one ever did.
    package func reach(of origin: OriginID) throws(StoreError) -> PendingCoverage? {
        try mapped { () throws(DatabaseError) in
            guard let ref = try names.originRef(origin, on: connection) else { return nil }
            return try MerkleStore(connection: connection, sha: SHA256()).reach(of: origin, ref: ref)
        }
    }

    /// All that reach beyond the last events of their origins.
    func reaches() throws(StoreError) -> [PendingCoverage] {
        try mapped { () throws(DatabaseError) in
            let merkle = MerkleStore(connection: connection, sha: SHA256())
            return try connection.all("SELECT id, ref FROM origin JOIN reach ON reach.origin = ref ORDER BY ref") {
                row throws(DatabaseError) in
                try row.uuid(0).flatMap { id throws(DatabaseError) in
                    try merkle.reach(of: OriginID(id), ref: row.int64(1))
                }
            }
        }
    }

    /// What vouches for the first `old` events of the origin of `reach`.
    package func coverage(
        ofFirst old: UInt64, by reach: PendingCoverage, using sha: SHA256
    ) throws(StoreError) -> Coverage? {
        try mapped { () throws(DatabaseError) in
            guard let ref = try names.originRef(reach.origin, on: connection) else { return nil }
            let merkle = MerkleStore(connection: connection, sha: sha)
            return try reach.covering(old, using: sha) { (level, index) throws(DatabaseError) in
                try merkle.node(origin: ref, level: level, index: index, names: &names)
            }
        }
    }
}

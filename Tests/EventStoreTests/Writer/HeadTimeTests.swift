import TestSupport
import Testing

@testable import EventStore

/// A head says when its last event was recorded: one that says something else is never stored, whatever key signed it (D5).
struct HeadTimeTests {
    private let sha = SHA256()

    /// Six events.
    private func origin() -> ForeignOrigin {
        var origin = ForeignOrigin(1, name: "wrong clock")
        for number in 2...6 { origin.add(.message("\(number)", user: "u")) }
        return origin
    }

    /// Rightly signed, of another time.
    private func falseHead(_ origin: ForeignOrigin) -> SignedHead {
        let head = origin.head(using: sha).head
        return SignedHead(
            signing: TreeHead(
                origin: head.origin, size: head.size, root: head.root, hlc: HybridTime(rawValue: 77 << 16)),
            with: origin.key)
    }

    private func proof(from size: UInt64, of origin: ForeignOrigin) -> [Digest] {
        let leaves = origin.received.map { sha.leaf(header: $0.header, payloadDigest: sha.payloadDigest($0.body)) }
        return MerkleProof.consistency(from: size, to: origin.tree.size, using: sha) { (level, index) throws(Never) in
            var range = MerkleRange()
            for leaf in leaves[Int(index) << level..<(Int(index) + 1) << level] { range.append(leaf, using: sha) }
            return range.root(using: sha)
        }
    }

    @Test("Refused where its last event comes with it")
    func whole() throws {
        let origin = origin()
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let verifier = try store.makeVerifierBlocking()
        #expect(throws: IngestError.badTime(origin.id, size: 6)) {
            try verifier.verify(origin.received, [Coverage(head: falseHead(origin), proof: [])])
        }
        #expect(verifier.size(of: origin.id) == 0)
        let good = try verifier.verify(origin.received, [Coverage(head: origin.head(using: sha), proof: [])])
        #expect(good.count == 6)
    }

    @Test(
        "Taken ahead, it is dropped and named when its last event comes, also after a restart",
        arguments: [false, true])
    func ahead(isRestarted: Bool) throws {
        let origin = origin()
        let (folder, store) = try makeStore()
        var verifier = try store.makeVerifierBlocking()
        let beginning = try verifier.verify(
            Array(origin.received.prefix(3)),
            [Coverage(head: falseHead(origin), proof: proof(from: 3, of: origin))])
        try blocking { store.ingest(beginning, completion: $0) }
        if isRestarted { verifier = try store.makeVerifierBlocking() }
        let rest = Array(origin.received.suffix(3))
        #expect(throws: IngestError.badTime(origin.id, size: 6)) {
            try verifier.verify(rest, [Coverage(head: falseHead(origin), proof: [])])
        }
        let batch = try verifier.verify(rest, [Coverage(head: origin.head(using: sha), proof: [])])
        #expect(batch.contradicted == [Dot(origin: origin.id, seq: 6)])
        #expect(batch.heads == [origin.head(using: sha)])
        try blocking { store.ingest(batch, completion: $0) }
        store.close()
        #expect(try verify(folder).isIntact)
    }

    @Test("Not compared where the last event's header cannot be read")
    func opaque() throws {
        var origin = origin()
        let header = origin.next()
        // A second type makes it opaque.
        origin.append(
            header.canonicalBytes + [0x32, 1, 0x61], .present(salt: UUIDBits(high: 1, low: 2), payload: [0x7b, 0x7d]))
        let (folder, store) = try makeStore()
        let verifier = try store.makeVerifierBlocking()
        let batch = try verifier.verify(origin.received, [Coverage(head: falseHead(origin), proof: [])])
        #expect(batch.count == 7 && batch.heads == [falseHead(origin)])
        try blocking { store.ingest(batch, completion: $0) }
        store.close()
        #expect(try verify(folder).isIntact)
    }

    @Test("Refused in a snapshot, among the rows and at the end")
    func snapshot() throws {
        let origin = origin()
        let (folder, store) = try makeStore(name: "full")
        try origin.send(to: store)
        store.close()
        func refusal(_ change: (inout SnapshotPieces) -> Void) throws -> SnapshotError? {
            var pieces = try SnapshotPieces(of: folder, bytes: 1 << 20)
            change(&pieces)
            let empty = try makeEmptyStore()
            do { try pieces.build(in: empty) } catch let error as SnapshotError { return error }
            return nil
        }
        let refused = SnapshotError.event(.badTime(origin.id, size: 6))
        let rows = try refusal { pieces in
            let last = pieces.pieces.count - 1
            pieces.pieces[last].heads = pieces.pieces[last].heads.map {
                $0.head.origin == origin.id ? falseHead(origin) : $0
            }
            if !pieces.pieces[last].heads.contains(falseHead(origin)) {
                pieces.pieces[last].heads.append(falseHead(origin))
                pieces.pieces[last].heads.sort { ($0.head.origin, $0.head.size) < ($1.head.origin, $1.head.size) }
            }
        }
        #expect(rows == refused)
        let end = try refusal { pieces in
            pieces.pieces = pieces.pieces.map { rows in
                var rows = rows
                rows.heads.removeAll { $0.head.origin == origin.id }
                return rows
            }
            pieces.coverage = pieces.coverage.map {
                $0.head.head.origin == origin.id ? Coverage(head: falseHead(origin), proof: []) : $0
            }
        }
        #expect(end == refused)
    }
}

import TestSupport
import Testing

@testable import EventStore

/// What comes after something good from the same origin is checked as closely as what came first (INV-3, INV-4).
struct SecondLookTests {
    private let sha = SHA256()

    private func head(_ origin: ForeignOrigin) -> SignedHead {
        let hlc = HybridTime(milliseconds: 1_700_000_000_000 + Int64(origin.tree.size), counter: 7)
        return SignedHead(
            signing: TreeHead(
                origin: origin.id, size: origin.tree.size, root: origin.tree.root(using: sha), hlc: hlc),
            with: origin.key)
    }

    private func proof(_ origin: ForeignOrigin, from old: UInt64) -> [Digest] {
        let leaves = origin.received.map { sha.leaf(header: $0.header, payloadDigest: sha.payloadDigest($0.body)) }
        return MerkleProof.consistency(from: old, to: origin.tree.size, using: sha) { (level, index) throws(Never) in
            var range = MerkleRange()
            for leaf in leaves[Int(index) << level..<(Int(index) + 1) << level] { range.append(leaf, using: sha) }
            return range.root(using: sha)
        }
    }

    /// Two histories that part at event 4, of six events each.
    private func histories() -> (signed: ForeignOrigin, forged: ForeignOrigin) {
        var signed = ForeignOrigin(1, name: "busan")
        for number in 2...3 { signed.add(.message("\(number)", user: "u")) }
        var forged = signed
        for number in 4...6 {
            signed.add(.message("\(number)", user: "u"))
            forged.add(.message("forged \(number)", user: "u"))
        }
        return (signed, forged)
    }

    /// A store that has the first three events, under a true head of six.
    private func store(of origin: ForeignOrigin) throws -> (TemporaryFolder, EventStore, IngestVerifier) {
        let (folder, store) = try makeStore()
        let verifier = try store.makeVerifierBlocking()
        let batch = try verifier.verify(
            Array(origin.received[..<3]), [Coverage(head: head(origin), proof: proof(origin, from: 3))])
        try blocking { store.ingest(batch, completion: $0) }
        return (folder, store, verifier)
    }

    @Test("A row of table reach that is behind the events is compared with them, too (INV-3)")
    func reachBehind() throws {
        let (signed, forged) = histories()
        for (origin, isTrue) in [(signed, true), (forged, false)] {
            let (folder, store, verifier) = try store(of: signed)
            let rest = try verifier.verify(Array(signed.received[3...]), [Coverage(head: head(signed), proof: [])])
            try blocking { store.ingest(rest, completion: $0) }
            let reader = try LogReader(store.files)
            let ref = try #require(try reader.names.originRef(signed.id, on: reader.connection))
            store.close()
            let connection = try Connection(path: StoreFiles(folder.path).log, mode: .write)
            try connection.execute("DELETE FROM reach")
            try MerkleStore(connection: connection, sha: sha).replaceReach(
                PendingCoverage(size: 3, coverage: Coverage(head: head(signed), proof: proof(origin, from: 3))),
                origin: ref)
            let report = try verify(folder)
            #expect(report.findings.map(\.check) == (isTrue ? [] : [.heads]), report.text)
        }
    }

    @Test("Behind a good head, other events under a head of that size with a false signature are refused")
    func forgedEvents() throws {
        let (signed, forged) = histories()
        let (folder, _, verifier) = try store(of: signed)
        defer { withExtendedLifetime(folder) {} }
        let false1 = SignedHead(head: head(forged).head, signature: head(signed).signature)
        for lie in [false1, SignedHead(signing: head(forged).head, with: SigningKey.generate())] {
            // Up to that size, where the good head is stored first, and up to less.
            for end in [5, 6] {
                let cover = Coverage(head: lie, proof: proof(forged, from: UInt64(end)))
                #expect(throws: IngestError.badSignature(signed.id, size: 6)) {
                    try verifier.verify(Array(forged.received[3..<end]), [cover])
                }
            }
        }
        // The true ones still pass.
        let batch = try verifier.verify(Array(signed.received[3...]), [Coverage(head: head(signed), proof: [])])
        #expect(batch.count == 3 && batch.contradicted.isEmpty)
    }

    @Test("A known head whose signature has changed is refused, bit by bit")
    func changedSignature() throws {
        let (signed, _) = histories()
        let (folder, _, verifier) = try store(of: signed)
        defer { withExtendedLifetime(folder) {} }
        for bit in stride(from: 0, to: 512, by: 37) {
            var signature = head(signed).signature
            signature[bit / 8] ^= 1 << UInt8(bit % 8)
            let changed = SignedHead(head: head(signed).head, signature: signature)
            for end in [5, 6] {
                let cover = Coverage(head: changed, proof: proof(signed, from: UInt64(end)))
                #expect(throws: IngestError.badSignature(signed.id, size: 6)) {
                    try verifier.verify(Array(signed.received[3..<end]), [cover])
                }
            }
        }
    }

    @Test("After a restart, a stored reach that its origin has not signed contradicts nobody")
    func forgedReach() throws {
        let (signed, forged) = histories()
        let (folder, store, _) = try store(of: signed)
        store.close()
        let connection = try Connection(path: store.files.log, mode: .write)
        let update = try connection.statement("UPDATE reach SET root = ?")
        try update.bind(1, blob: head(forged).head.root.bytes)
        try update.run()
        let again = try EventStore(opening: folder.path)
        let batch = try again.makeVerifierBlocking().verify(
            Array(signed.received[3...]), [Coverage(head: head(signed), proof: [])])
        #expect(batch.count == 3 && batch.contradicted.isEmpty)
        // One that it has signed does, or the test above would prove nothing.
        update.reset()
        try connection.execute("DELETE FROM reach")
        let reader = try LogReader(again.files)
        let ref = try #require(try reader.names.originRef(signed.id, on: reader.connection))
        try MerkleStore(connection: connection, sha: sha).replaceReach(
            PendingCoverage(size: 3, coverage: Coverage(head: head(forged), proof: proof(forged, from: 3))),
            origin: ref)
        let third = try again.makeVerifierBlocking().verify(
            Array(signed.received[3...]), [Coverage(head: head(signed), proof: [])])
        #expect(third.contradicted == [Dot(origin: signed.id, seq: 6)])
    }
}

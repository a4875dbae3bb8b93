import TestSupport
import Testing

@testable import EventStore

/// Receiving while an origin has two histories: what does not belong to them goes on (D12, INV-12).
struct ForkedIngestTests {
    private let sha = SHA256()

    private func head(_ origin: ForeignOrigin) -> SignedHead {
        let hlc = HybridTime(milliseconds: 1_700_000_000_000 + Int64(origin.tree.size), counter: 7)
        return SignedHead(
            signing: TreeHead(
                origin: origin.id, size: origin.tree.size, root: origin.tree.root(using: sha), hlc: hlc),
            with: origin.key)
    }

    private func leaves(_ origin: ForeignOrigin) -> [Digest] {
        origin.received.map { sha.leaf(header: $0.header, payloadDigest: sha.payloadDigest($0.body)) }
    }

    private func node(_ leaves: [Digest], _ level: Int, _ index: UInt64) -> Digest {
        var range = MerkleRange()
        for leaf in leaves[Int(index) << level..<(Int(index) + 1) << level] { range.append(leaf, using: sha) }
        return range.root(using: sha)
    }

    private func branch(_ origin: ForeignOrigin, at seq: UInt64) throws -> ForkBranch {
        let leaves = leaves(origin)
        let item = origin.received[Int(seq) - 1]
        let bridge = try #require(MerkleBridge(have: origin.tree.size, whole: origin.tree.size, proof: []))
        let path = bridge.inclusion(of: seq - 1, using: sha) { (level, index) throws(Never) in
            node(leaves, level, index)
        }
        let proof = try #require(path)
        return ForkBranch(
            head: head(origin), header: item.header, payloadDigest: sha.payloadDigest(item.body), proof: proof)
    }

    /// One origin with two histories that part at event 4, of 6 and of 9 events.
    private func fork() -> (ForeignOrigin, ForeignOrigin) {
        var one = ForeignOrigin(1, name: "forked")
        for number in 2...3 { one.add(.message("\(number)", user: "u")) }
        var other = one
        for number in 4...6 { one.add(.message("one \(number)", user: "u")) }
        for number in 4...9 { other.add(.message("other \(number)", user: "u")) }
        return (one, other)
    }

    @Test("A proof that came before its origin is checked when an event needs it")
    func claims() throws {
        let (one, other) = fork()
        // It has applied nine events of the other history.
        var witness = ForeignOrigin(2, name: "witness")
        witness.add(.message("대답", user: "u"), needs: [Dot(origin: one.id, seq: 9)])
        let dot = Dot(origin: one.id, seq: 4)
        let events = one.received + witness.received
        let coverage = [Coverage(head: head(one), proof: []), Coverage(head: head(witness), proof: [])]
        func verifier(_ store: EventStore) throws -> IngestVerifier { try store.makeVerifierBlocking() }

        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let missing = IngestError.causalGap(Dot(origin: witness.id, seq: 2), needs: Dot(origin: one.id, seq: 9))
        #expect(throws: missing) { try verifier(store).verify(events, coverage) }
        // Branches that are the same, or signed by another key, prove nothing.
        let same = try verifier(store)
        same.claim(dot, try branch(one, at: 4), try branch(one, at: 4))
        #expect(throws: missing) { try same.verify(events, coverage) }
        var stranger = ForeignOrigin(1, name: "stranger")
        for number in 2...9 { stranger.add(.message("\(number)", user: "u")) }
        let forged = try verifier(store)
        forged.claim(dot, try branch(one, at: 4), try branch(stranger, at: 4))
        #expect(throws: missing) { try forged.verify(events, coverage) }

        let told = try verifier(store)
        told.claim(dot, try branch(one, at: 4), try branch(other, at: 4))
        let batch = try told.verify(events, coverage)
        #expect(batch.count == 8 && batch.proven.map(\.dot) == [dot])
        try blocking { store.ingest(batch, completion: $0) }
        #expect(try LogReader(store.files).vector()[witness.id] == 2)
        // From now on it is known.
        witness.add(.message("더", user: "u"), needs: [Dot(origin: one.id, seq: 8)])
        let next = try told.verify(
            Array(witness.received.suffix(1)), [Coverage(head: head(witness), proof: [])])
        #expect(next.count == 1 && next.proven.isEmpty)
    }

    @Test("A proof that came before its origin is checked when the origin has come, also if no event needs it")
    func claimOfNothingNeeded() throws {
        let (one, other) = fork()
        let dot = Dot(origin: one.id, seq: 4)
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let told = try store.makeVerifierBlocking()
        told.claim(dot, try branch(one, at: 4), try branch(other, at: 4))
        let batch = try told.verify(one.received, [Coverage(head: head(one), proof: [])])
        #expect(batch.proven.map(\.dot) == [dot])
        try blocking { store.ingest(batch, completion: $0) }
        let forged = try store.makeVerifierBlocking()
        var stranger = ForeignOrigin(2, name: "stranger")
        stranger.add(.message("말", user: "u"))
        forged.claim(Dot(origin: stranger.id, seq: 2), try branch(one, at: 2), try branch(other, at: 2))
        let next = try forged.verify(stranger.received, [Coverage(head: head(stranger), proof: [])])
        #expect(next.proven.isEmpty && next.count == 2)
    }

    @Test(
        "A known fork excuses an event of no origin that is not here: its dependency could not be stored (INV-3, INV-5)"
    )
    func knownForkOfAnOriginThatIsNotHere() throws {
        let (one, other) = fork()
        var witness = ForeignOrigin(2, name: "witness")
        witness.add(.message("대답", user: "u"), needs: [Dot(origin: one.id, seq: 9)])
        let coverage = [Coverage(head: head(one), proof: []), Coverage(head: head(witness), proof: [])]
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        // The proof outlives a log that was set back to before its origin.
        let evidence = ForkEvidence(
            Dot(origin: one.id, seq: 4), try branch(one, at: 4), try branch(other, at: 4), key: one.key.publicKey)
        #expect(try store.keep(try #require(evidence)))
        let verifier = try store.makeVerifierBlocking()
        #expect(throws: IngestError.causalGap(Dot(origin: witness.id, seq: 2), needs: Dot(origin: one.id, seq: 9))) {
            try verifier.verify(witness.received, [Coverage(head: head(witness), proof: [])])
        }
        let batch = try verifier.verify(one.received + witness.received, coverage)
        try blocking { store.ingest(batch, completion: $0) }
        let stored = try #require(try LogReader(store.files).event(Dot(origin: witness.id, seq: 2)))
        #expect(stored.event.header.dependencies == [Dot(origin: one.id, seq: 9)])
        #expect(try Verifier(store.files).run().answer != .contradicted)
    }

    @Test("Only so many claims are kept, the newest of each origin (INV-9)")
    func manyClaims() throws {
        let (one, other) = fork()
        var witness = ForeignOrigin(2, name: "witness")
        witness.add(.message("대답", user: "u"), needs: [Dot(origin: one.id, seq: 9)])
        let coverage = [Coverage(head: head(one), proof: []), Coverage(head: head(witness), proof: [])]
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let verifier = try store.makeVerifierBlocking()
        verifier.claim(Dot(origin: one.id, seq: 4), try branch(one, at: 4), try branch(other, at: 4))
        for number in 0..<16 {
            let dot = Dot(origin: OriginID(UUIDBits(high: 1, low: UInt64(number))), seq: 4)
            verifier.claim(dot, try branch(one, at: 4), try branch(other, at: 4))
        }
        #expect(throws: IngestError.self) { try verifier.verify(one.received + witness.received, coverage) }
    }

    @Test(
        "A head of another history that reaches beyond what is here does not keep the history that comes out",
        arguments: [false, true])
    func contradictedHead(isRestarted: Bool) throws {
        let (one, other) = fork()
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        var verifier = try store.makeVerifierBlocking()
        // The common beginning, vouched for by the history of six.
        let leaves = leaves(one)
        let proof = MerkleProof.consistency(from: 3, to: 6, using: sha) { (level, index) throws(Never) in
            node(leaves, level, index)
        }
        let beginning = try verifier.verify(
            Array(one.received.prefix(3)), [Coverage(head: head(one), proof: proof)])
        try blocking { store.ingest(beginning, completion: $0) }
        // The rest comes from the other: it is named, also by a verifier that was made anew.
        if isRestarted { verifier = try store.makeVerifierBlocking() }
        let rest = Array(other.received.suffix(6))
        let batch = try verifier.verify(rest, [Coverage(head: head(other), proof: [])])
        #expect(batch.count == 6 && batch.contradicted == [Dot(origin: one.id, seq: 6)])
        try blocking { store.ingest(batch, completion: $0) }
        let log = try LogReader(store.files)
        #expect(try log.vector()[one.id] == 9)
        #expect(try log.root(of: one.id, size: 9) == other.tree.root(using: sha))
        // What was not signed at all is refused as before, and nothing of it is taken note of.
        var tampered = other
        tampered.add(.message("거짓", user: "u"))
        #expect(throws: IngestError.self) {
            try verifier.verify(Array(tampered.received.suffix(1)), [Coverage(head: head(other), proof: [])])
        }
        #expect(verifier.size(of: one.id) == 9)
    }
}

import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A signed head that was heard of before its events came is compared with them when they are here (INV-3): a node's copy wrote other events
/// under one origin, and the proof of that is kept.
struct HeardHeadTests {
    private let sha = SHA256()

    private func leaves(_ origin: ForeignOrigin) -> [Digest] {
        origin.received.map { sha.leaf(header: $0.header, payloadDigest: sha.payloadDigest($0.body)) }
    }

    private func range(_ leaves: some Sequence<Digest>) -> MerkleRange {
        var range = MerkleRange()
        for leaf in leaves { range.append(leaf, using: sha) }
        return range
    }

    /// What vouches for the first `old` events by a head of all.
    private func coverage(_ origin: ForeignOrigin, from old: UInt64) -> Coverage {
        let leaves = leaves(origin)
        let proof = MerkleProof.consistency(from: old, to: origin.tree.size, using: sha) {
            (level, index) throws(Never) in
            range(leaves[Int(index) << level..<(Int(index) + 1) << level]).root(using: sha)
        }
        return Coverage(head: origin.head(using: sha), proof: proof)
    }

    /// Two copies of one node that share five events: one wrote ten, the other as many as `last`.
    private func copies(of last: Int = 12) -> (one: ForeignOrigin, other: ForeignOrigin) {
        var one = ForeignOrigin(1, name: "busan-1")
        for number in 2...5 { one.add(.message("\(number)", user: "u")) }
        var other = one
        for number in 6...10 { one.add(.message("one \(number)", user: "u")) }
        for number in 6...last { other.add(.message("other \(number)", user: "u")) }
        return (one, other)
    }

    /// Stores events `first` and on of an origin, up to `last`, as a node does with what a peer sends.
    @discardableResult
    private func store(
        _ origin: ForeignOrigin, _ first: Int, _ last: Int, in store: EventStore, _ verifier: IngestVerifier,
        isKept: Bool = true
    ) throws -> VerifiedBatch {
        let batch = try verifier.verify(
            Array(origin.received[first - 1..<last]), [coverage(origin, from: UInt64(last))])
        if isKept { for evidence in batch.contradictions { _ = try store.keep(evidence) } }
        try blocking { store.ingest(batch, completion: $0) }
        return batch
    }

    @Test("Events that a head of ten contradicts prove the fork, wherever their batch ends", arguments: [10, 11, 12])
    func proven(end: Int) throws {
        let (one, other) = copies()
        let (folder, store) = try makeStore()
        let verifier = try store.makeVerifierBlocking()
        try self.store(one, 1, 5, in: store, verifier)
        let batch = try self.store(other, 6, end, in: store, verifier)
        let dot = Dot(origin: one.id, seq: 10)
        #expect(batch.contradicted == [dot] && batch.contradictions.map(\.dot) == [dot])
        let evidence = try #require(batch.contradictions.first)
        #expect(!evidence.namesEvent && evidence.stamp == .max)
        #expect(evidence.name.hasPrefix("fork-\(one.id)-10-"))
        #expect(try ForkEvidence.list(store.files) == [evidence], "it is read as it was written")
        let here = try #require(try evidence.branch(in: LogReader(store.files)))
        #expect(evidence.branches[here].head == other.head(using: sha))
        #expect(evidence.branches[1 - here].head == one.head(using: sha))
        // It names no event: what depends on the other history must show one.
        #expect(store.forkedOrigins.isEmpty)
        store.close()
        let report = try verify(folder)
        #expect(report.isIntact && report.forks == [evidence], report.text)
        // Without the proof the head contradicts, where no later one has taken its place.
        guard end == 12 else { return }
        try FileManager.default.removeItem(atPath: StoreFiles(folder.path).evidence + "/\(evidence.name).json")
        let bare = try verify(folder)
        #expect(bare.answer == .contradicted && bare.says(.heads, "another history"), bare.text)
    }

    @Test("A head that the events are of proves nothing, and neither does one whose events have not come")
    func agreed() throws {
        let (one, other) = copies()
        for (origin, last) in [(one, 10), (other, 9)] {
            let (folder, store) = try makeStore()
            let verifier = try store.makeVerifierBlocking()
            try self.store(one, 1, 5, in: store, verifier)
            let batch = try self.store(origin, 6, last, in: store, verifier)
            #expect(batch.contradicted.isEmpty && batch.contradictions.isEmpty)
            store.close()
            #expect(try verify(folder).isIntact)
            try EventStore(opening: folder.path).close()
            #expect(try ForkEvidence.list(StoreFiles(folder.path)).isEmpty)
        }
    }

    @Test("What an earlier release stored and did not compare is contradicted until a start has kept the proof")
    func atStart() throws {
        let (one, other) = copies()
        let (folder, store) = try makeStore()
        let verifier = try store.makeVerifierBlocking()
        try self.store(one, 1, 5, in: store, verifier)
        try self.store(other, 6, 12, in: store, verifier, isKept: false)
        store.close()
        let before = try verify(folder)
        #expect(before.answer == .contradicted && before.says(.heads, "another history"), before.text)
        try EventStore(opening: folder.path).close()
        let kept = try ForkEvidence.list(StoreFiles(folder.path))
        #expect(kept.map(\.dot) == [Dot(origin: one.id, seq: 10)])
        let after = try verify(folder)
        #expect(after.isIntact && after.forks == kept, after.text)
        // Once is enough: a second start makes no second proof.
        try EventStore(opening: folder.path).close()
        #expect(try ForkEvidence.list(StoreFiles(folder.path)) == kept)
    }

    @Test("Two heads of one size and two roots are a proof before the events of either are here")
    func bothHeard() throws {
        let (one, copy) = copies(of: 10)
        var other = copy
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let verifier = try store.makeVerifierBlocking()
        try self.store(one, 1, 5, in: store, verifier)
        let batch = try self.store(other, 6, 7, in: store, verifier)
        let dot = Dot(origin: one.id, seq: 10)
        #expect(batch.contradicted.isEmpty && batch.contradictions.map(\.dot) == [dot])
        #expect(try ForkEvidence.list(store.files).map(\.dot) == [dot])
        // When the events come nothing new is proven.
        try self.store(other, 8, 10, in: store, verifier)
        #expect(try ForkEvidence.list(store.files).count == 1)
        other.add(.message("more", user: "u"))
        #expect(try self.store(other, 11, 11, in: store, verifier).contradictions.isEmpty)
    }

    @Test("An origin whose fork is proven gets no proof by roots beside that")
    func provenBefore() throws {
        let (one, other) = copies()
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let proven = try #require(
            ForkEvidence(
                Dot(origin: one.id, seq: 6), try event(one, 6), try event(other, 6), key: one.key.publicKey))
        #expect(try store.keep(proven))
        let verifier = try store.makeVerifierBlocking()
        try self.store(one, 1, 5, in: store, verifier)
        let batch = try self.store(other, 6, 12, in: store, verifier)
        #expect(batch.contradictions.count == 1)
        #expect(try ForkEvidence.list(store.files) == [proven])
    }

    /// A history as a branch with its event `seq`.
    private func event(_ origin: ForeignOrigin, _ seq: Int) throws -> ForkBranch {
        let bridge = try #require(MerkleBridge(have: origin.tree.size, whole: origin.tree.size, proof: []))
        let leaves = leaves(origin)
        let path = bridge.inclusion(of: UInt64(seq) - 1, using: sha) { (level, index) throws(Never) in
            range(leaves[Int(index) << level..<(Int(index) + 1) << level]).root(using: sha)
        }
        let item = origin.received[seq - 1]
        return ForkBranch(
            head: origin.head(using: sha), header: item.header, payloadDigest: sha.payloadDigest(item.body),
            proof: try #require(path))
    }

    @Test("Nothing but two signed roots that differ is evidence")
    func refuses() throws {
        let (one, other) = copies()
        let key = one.key.publicKey
        let dot = Dot(origin: one.id, seq: 10)
        func branch(_ origin: ForeignOrigin, _ size: Int) -> ForkBranch {
            let root = range(leaves(origin).prefix(size)).root(using: sha)
            return ForkBranch(root: root, of: coverage(origin, from: UInt64(size)))
        }
        let (mine, theirs) = (branch(one, 10), branch(other, 10))
        #expect(ForkEvidence(dot, mine, theirs, key: key) != nil)
        // The last event of one history, beside the root of the same one, is no second history.
        #expect(try event(one, 10).isValid(dot, key: key))
        #expect(ForkEvidence(dot, mine, try event(one, 10), key: key) == nil)
        #expect(ForkEvidence(dot, mine, mine, key: key) == nil)
        #expect(ForkEvidence(dot, mine, theirs, key: SigningKey.generate().publicKey) == nil)
        // Before they part both say the same.
        #expect(ForkEvidence(Dot(origin: one.id, seq: 5), branch(one, 5), branch(other, 5), key: key) == nil)
        for seq in [UInt64(0), 9, 11, 13] {
            #expect(ForkEvidence(Dot(origin: one.id, seq: seq), mine, theirs, key: key) == nil)
        }
        #expect(ForkEvidence(Dot(origin: .random(), seq: 10), mine, theirs, key: key) == nil)
        let head = theirs.head
        guard case .root(let root) = theirs.content else {
            Issue.record("a branch of a root shows none")
            return
        }
        let forged = SignedHead(signing: head.head, with: SigningKey.generate())
        for branch in [
            ForkBranch(root: root, of: Coverage(head: forged, proof: theirs.proof)),
            ForkBranch(root: root, of: Coverage(head: head, proof: [])),
            ForkBranch(root: root, of: Coverage(head: head, proof: theirs.proof + [root])),
            ForkBranch(root: root, of: Coverage(head: head, proof: [Digest](repeating: root, count: 1_000))),
            ForkBranch(root: head.head.root, of: Coverage(head: head, proof: theirs.proof)),
        ] { #expect(ForkEvidence(dot, mine, branch, key: key) == nil) }
    }

    // MARK: Evidence files

    private func exported(_ store: EventStore, _ origin: OriginID) throws -> [[UInt8]] {
        let export = try EvidenceExport(store.files, origins: [origin])
        var out: [UInt8] = []
        while let piece = try export.next() { out += piece }
        return out.split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    private func take(_ lines: [[UInt8]], into store: EventStore) throws {
        let intake = try EvidenceImport(store)
        for line in lines { try intake.take(line, 0..<line.count) }
        try intake.finish()
    }

    @Test("A head of more events than its file has is held against the store; the proof goes with what is exported")
    func fileOfHeadOnly() throws {
        let (one, other) = copies()
        let dot = Dot(origin: one.id, seq: 10)
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        try self.store(one, 1, 5, in: store, try store.makeVerifierBlocking())
        let file = try exported(store, one.id)
        for (origin, isOther) in [(one, false), (other, true)] {
            let (archiveFolder, archive) = try makeStore(name: "archive")
            defer { withExtendedLifetime(archiveFolder) {} }
            try origin.send(to: archive)
            if isOther {
                #expect(throws: EvidenceError.otherHead(dot)) { try take(file, into: archive) }
            } else {
                try take(file, into: archive)
            }
            #expect(try ForkEvidence.list(archive.files).map(\.dot) == (isOther ? [dot] : []))
            let (freshFolder, fresh) = try makeStore(name: "fresh")
            defer { withExtendedLifetime(freshFolder) {} }
            try take(try exported(archive, one.id), into: fresh)
            #expect(try ForkEvidence.list(fresh.files) == ForkEvidence.list(archive.files))
            for store in [archive, fresh] { store.close() }
        }
        store.close()
    }

    @Test("A file with the events that a head of the store contradicts is taken, and named")
    func fileOfOtherEvents() throws {
        let (one, other) = copies()
        let dot = Dot(origin: one.id, seq: 10)
        let (folder, store) = try makeStore()
        try self.store(one, 1, 5, in: store, try store.makeVerifierBlocking())
        let (thereFolder, there) = try makeStore(name: "there")
        defer { withExtendedLifetime(thereFolder) {} }
        try other.send(to: there)
        #expect(throws: EvidenceError.otherHead(dot)) { try take(try exported(there, one.id), into: store) }
        #expect(try LogReader(store.files).vector()[one.id] == 12)
        #expect(try ForkEvidence.list(store.files).map(\.dot) == [dot])
        for store in [store, there] { store.close() }
        #expect(try verify(folder).isIntact)
    }

    @Test("From a tree and the leaves behind it the proof to every later head is made, for all sizes to 24")
    func proofs() throws {
        let leaves = (0..<24).map { sha.digest([UInt8($0)]) }
        let key = SigningKey.generate()
        func proof(_ old: Int, _ new: Int) -> [Digest] {
            MerkleProof.consistency(from: UInt64(old), to: UInt64(new), using: sha) { (level, index) throws(Never) in
                range(leaves[Int(index) << level..<(Int(index) + 1) << level]).root(using: sha)
            }
        }
        for whole in 1...leaves.count {
            let root = range(leaves.prefix(whole)).root(using: sha)
            let head = TreeHead(origin: .random(), size: UInt64(whole), root: root, hlc: HybridTime(rawValue: 1))
            let signed = SignedHead(signing: head, with: key)
            for have in 1...whole {
                for size in 1...have {
                    let made = range(leaves.prefix(size)).proof(
                        to: Coverage(head: signed, proof: proof(have, whole)), through: Array(leaves[size..<have]),
                        using: sha)
                    #expect(made == proof(size, whole), "\(size) of \(have) of \(whole)")
                }
            }
        }
    }
}

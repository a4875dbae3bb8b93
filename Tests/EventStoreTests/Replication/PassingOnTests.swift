import TestSupport
import Testing

@testable import EventStore

/// What was received is fit to be passed on, whatever becomes of the rest of its origin (INV-12).
struct PassingOnTests {
    private let sha = SHA256()

    /// The leaves of a history, and its tree at every size.
    private func trees(_ count: UInt64) -> (leaves: [Digest], roots: [Digest]) {
        var tree = MerkleRange()
        var leaves: [Digest] = []
        var roots = [tree.root(using: sha)]
        for number in 0..<count {
            let leaf = sha.digest([UInt8(number & 255), UInt8(number >> 8)])
            leaves.append(leaf)
            tree.append(leaf, using: sha)
            roots.append(tree.root(using: sha))
        }
        return (leaves, roots)
    }

    private func node(_ leaves: some Sequence<Digest>) -> Digest {
        var range = MerkleRange()
        for leaf in leaves { range.append(leaf, using: sha) }
        return range.root(using: sha)
    }

    private func proof(_ leaves: [Digest], from old: UInt64, to new: UInt64) -> [Digest] {
        MerkleProof.consistency(from: old, to: new, using: sha) { (level, index) throws(Never) in
            node(leaves[Int(index) << level..<(Int(index) + 1) << level])
        }
    }

    @Test("From the proof of a longer prefix and its leaves every shorter prefix is proven, for all sizes to 40")
    func bridges() throws {
        let (leaves, roots) = trees(40)
        for whole in UInt64(1)...40 {
            for have in 1...whole {
                let bridge = try #require(
                    MerkleBridge(have: have, whole: whole, proof: proof(leaves, from: have, to: whole)))
                for old in 1...have {
                    let made = try #require(
                        bridge.consistency(from: old, using: sha) { (level, index) throws(Never) in
                            let last = (Int(index) + 1) << level
                            // Nothing is asked of leaves that are not here.
                            #expect(last <= Int(have))
                            return node(leaves[Int(index) << level..<last])
                        })
                    #expect(made == proof(leaves, from: old, to: whole))
                    #expect(
                        MerkleProof.isConsistent(
                            old: old, oldRoot: roots[Int(old)], new: whole, newRoot: roots[Int(whole)], proof: made,
                            using: sha))
                    let path = bridge.inclusion(of: old - 1, using: sha) { (level, index) throws(Never) in
                        node(leaves[Int(index) << level..<(Int(index) + 1) << level])
                    }
                    #expect(
                        MerkleProof.isIncluded(
                            leaves[Int(old) - 1], index: old - 1, size: whole, root: roots[Int(whole)],
                            proof: try #require(path), using: sha))
                }
            }
        }
    }

    @Test("A proof whose end is cut off proves nothing, not even of what is left of it, for all sizes to 40 (INV-3)")
    func cutProofs() {
        let (leaves, roots) = trees(40)
        for new in UInt64(2)...40 {
            for old in 1..<new {
                let whole = proof(leaves, from: old, to: new)
                for count in 0..<whole.count {
                    let cut = Array(whole.prefix(count))
                    let left = folded(old, new, roots[Int(old)], cut)
                    for newRoot in [left.new, roots[Int(new)]] {
                        #expect(
                            !MerkleProof.isConsistent(
                                old: old, oldRoot: left.old, new: new, newRoot: newRoot, proof: cut, using: sha),
                            "\(old) to \(new), \(count) of \(whole.count)")
                    }
                }
            }
        }
    }

    /// The two roots that a proof leads to as far as it goes (RFC 9162 §2.1.4.2).
    private func folded(_ old: UInt64, _ new: UInt64, _ oldRoot: Digest, _ proof: [Digest]) -> (
        old: Digest, new: Digest
    ) {
        var path = proof[...]
        var (first, last) = (old - 1, new - 1)
        while first & 1 == 1 { (first, last) = (first >> 1, last >> 1) }
        let seed = old.nonzeroBitCount == 1 ? oldRoot : path.popFirst() ?? oldRoot
        var sides = (old: seed, new: seed)
        for next in path {
            if first & 1 == 1 || first == last {
                sides = (sha.node(next, sides.old), sha.node(next, sides.new))
                while first & 1 == 0, first != 0 { (first, last) = (first >> 1, last >> 1) }
            } else {
                sides.new = sha.node(sides.new, next)
            }
            (first, last) = (first >> 1, last >> 1)
        }
        return sides
    }

    @Test("A proof of another shape makes no bridge, and none reaches beyond what is here")
    func shapes() throws {
        let (leaves, _) = trees(20)
        let right = proof(leaves, from: 11, to: 20)
        #expect(MerkleBridge(have: 11, whole: 20, proof: Array(right.dropLast())) == nil)
        #expect(MerkleBridge(have: 11, whole: 20, proof: right + right) == nil)
        #expect(MerkleBridge(have: 0, whole: 20, proof: []) == nil)
        #expect(MerkleBridge(have: 21, whole: 20, proof: []) == nil)
        let bridge = try #require(MerkleBridge(have: 11, whole: 20, proof: right))
        for old in [UInt64(0), 12] {
            let none = bridge.consistency(from: old, using: sha) { (level, index) throws(Never) in
                node(leaves[Int(index) << level..<(Int(index) + 1) << level])
            }
            #expect(none == nil)
        }
        #expect(bridge.inclusion(of: 11, using: sha) { (_, _) throws(Never) in leaves[0] } == nil)
    }

    /// A foreign history of 12 events, and its head.
    private func history() -> (origin: ForeignOrigin, head: SignedHead, leaves: [Digest]) {
        var origin = ForeignOrigin(9, name: "gone")
        for number in 2...12 { origin.add(.message("말 \(number)", user: "u", conversation: "c")) }
        let leaves = origin.received.map { item in
            sha.leaf(header: item.header, payloadDigest: sha.payloadDigest(item.body))
        }
        let head = TreeHead(
            origin: origin.id, size: 12, root: origin.tree.root(using: sha),
            hlc: HybridTime(milliseconds: 1_700_000_000_012, counter: 7))
        return (origin, SignedHead(signing: head, with: origin.key), leaves)
    }

    private func store(_ folder: TemporaryFolder, _ name: String) throws -> EventStore {
        try EventStore.create(in: folder.path, name: name)
        return try EventStore(opening: folder.path)
    }

    @Test("The beginning of an origin whose rest never comes reaches a third node, in batches of any size")
    func beginning() throws {
        let (origin, head, leaves) = history()
        let folders = (TemporaryFolder(), TemporaryFolder())
        let first = try store(folders.0, "first")
        // Seven of twelve came; then the origin's node was gone. The head speaks of all twelve.
        let cover = Coverage(head: head, proof: proof(leaves, from: 7, to: 12))
        let batch = try first.makeVerifierBlocking().verify(Array(origin.received.prefix(7)), [cover])
        try blocking { first.ingest(batch, completion: $0) }
        first.close()

        // What vouches for them is in the file.
        let reopened = try EventStore(opening: folders.0.path)
        let reader = try OutgoingReader(reopened)
        let second = try store(folders.1, "second")
        var known = VersionVector([Dot(origin: reopened.identity.origin, seq: 1)])
        var position = try reader.start(for: known)
        var batches = 0
        while batches < 20 {
            let next = try reader.batch(after: position, lacking: known, limits: OutgoingLimits(bytes: 1))
            if next.events.isEmpty { break }
            batches += 1
            position = next.through
            for dot in next.advanced { known.advance(to: dot) }
            let verified = try second.makeVerifierBlocking().verify(next.events, next.coverage)
            try blocking { second.ingest(verified, completion: $0) }
        }
        #expect(batches == 7)
        let there = try LogReader(second.files)
        #expect(try there.vector()[origin.id] == 7)
        #expect(try there.reach(of: origin.id)?.size == 7)
        // The rest comes after all, from another node: nothing stands in its way.
        let rest = try second.makeVerifierBlocking()
            .verify(Array(origin.received.suffix(5)), [Coverage(head: head, proof: [])])
        try blocking { second.ingest(rest, completion: $0) }
        #expect(try there.vector()[origin.id] == 12)
        #expect(try there.head(of: origin.id, atLeast: 12)?.head == head.head)
    }

    /// A closed store with seven of twelve events of an origin.
    private func unfinished() throws -> TemporaryFolder {
        let (origin, head, leaves) = history()
        let folder = TemporaryFolder()
        let store = try store(folder, "first")
        let cover = Coverage(head: head, proof: proof(leaves, from: 7, to: 12))
        let batch = try store.makeVerifierBlocking().verify(Array(origin.received.prefix(7)), [cover])
        try blocking { store.ingest(batch, completion: $0) }
        store.close()
        return folder
    }

    @Test(
        "The verifier sees every change of what vouches for them",
        arguments: [
            "size = 6", "size = 8", "size = 0", "size = 'x'", "head = 13", "head = 7", "root = zeroblob(32)",
            "root = x''", "hlc = hlc + 1", "hlc = 'x'", "signature = zeroblob(64)", "signature = 7",
            "proof = zeroblob(length(proof))", "proof = x''", "proof = x'01'", "origin = 77",
        ])
    func tampered(assignment: String) throws {
        let folder = try unfinished()
        let sound = try verify(folder)
        #expect(sound.isIntact && sound.unsigned == 0, sound.text)
        try Connection(path: StoreFiles(folder.path).log, mode: .write).execute("UPDATE reach SET \(assignment)")
        let report = try verify(folder)
        // Also one that speaks of fewer events than are here must be proven.
        #expect(!report.isIntact && report.unsigned == 7 && report.count(of: .heads) >= 1, report.text)
    }

    @Test("A store of an earlier release has no such table, and gets it when it is opened for writing")
    func earlierRelease() throws {
        let folder = try unfinished()
        try Connection(path: StoreFiles(folder.path).log, mode: .write).execute("DROP TABLE reach")
        let before = try verify(folder)
        #expect(before.answer == .notCovered && before.unsigned > 0, before.text)
        try EventStore(opening: folder.path).close()
        let after = try verify(folder)
        #expect(after.answer == .notCovered && after.unsigned == before.unsigned, after.text)
        #expect(try LogReader(StoreFiles(folder.path)).reach(of: .random()) == nil)
    }

    @Test("A batch that depends on events in one that failed is refused (INV-5)")
    func dependingOnAFailure() throws {
        let (origin, head, _) = history()
        var second = ForeignOrigin(10, name: "second")
        second.add(.message("대답", user: "u"), needs: [Dot(origin: origin.id, seq: 12)])
        let secondHead = TreeHead(
            origin: second.id, size: 2, root: second.tree.root(using: sha),
            hlc: HybridTime(milliseconds: 1_700_000_000_002, counter: 7))
        let secondCover = Coverage(head: SignedHead(signing: secondHead, with: second.key), proof: [])
        let cover = Coverage(head: head, proof: [])
        let folder = TemporaryFolder()
        let store = try store(folder, "first")
        let verifier = try store.makeVerifierBlocking()
        _ = try verifier.verify(origin.received, [cover])
        let failing = try verifier.verify(origin.received, [cover])
        let dependent = try verifier.verify(second.received, [secondCover])
        // Both wait for the writer when the first of them fails.
        #expect(throws: StoreError.self) { try blocking { store.ingest(failing, completion: $0) } }
        #expect(throws: StoreError.self) { try blocking { store.ingest(dependent, completion: $0) } }
        #expect(verifier.lineage.isBroken)
        #expect(try LogReader(store.files).vector().entries.count == 1)
        let anew = try store.makeVerifierBlocking()
        for batch in [try anew.verify(origin.received, [cover]), try anew.verify(second.received, [secondCover])] {
            try blocking { store.ingest(batch, completion: $0) }
        }
        #expect(try LogReader(store.files).vector()[second.id] == 2)
    }

    @Test("A batch that counts on one that failed is refused: nothing is acknowledged that is not here (INV-7)")
    func countingOnAFailure() throws {
        let (origin, head, _) = history()
        let folder = TemporaryFolder()
        let store = try store(folder, "first")
        let verifier = try store.makeVerifierBlocking()
        let cover = Coverage(head: head, proof: [])
        _ = try verifier.verify(origin.received, [cover])
        // The batch above is never stored. The same events come again by another way: for the verifier they are here.
        let again = try verifier.verify(origin.received, [cover])
        #expect(again.count == 0 && again.progress.map(\.seq) == [12])
        #expect(throws: StoreError.self) { try blocking { store.ingest(again, completion: $0) } }
        // A verifier made anew, as after every refusal, lets them in.
        let anew = try store.makeVerifierBlocking().verify(origin.received, [cover])
        try blocking { store.ingest(anew, completion: $0) }
        #expect(try LogReader(store.files).vector()[origin.id] == 12)
    }

    @Test("The beginning of an origin proves a fork before the head that covers it is reached")
    func provesFork() throws {
        var origin = ForeignOrigin(9, name: "forked")
        var other = origin
        other.add(.message("딴말", user: "u"))
        for number in 2...12 { origin.add(.message("말 \(number)", user: "u")) }
        let all = origin.received.map { sha.leaf(header: $0.header, payloadDigest: sha.payloadDigest($0.body)) }
        let folder = TemporaryFolder()
        let store = try store(folder, "first")
        let cover = Coverage(head: origin.head(using: sha), proof: proof(all, from: 7, to: 12))
        let batch = try store.makeVerifierBlocking().verify(Array(origin.received.prefix(7)), [cover])
        try blocking { store.ingest(batch, completion: $0) }
        let theirs = ForkBranch(
            head: other.head(using: sha), header: other.received[1].header,
            payloadDigest: sha.payloadDigest(other.received[1].body), proof: [all[0]])
        let log = try LogReader(store.files)
        for seq in UInt64(1)...7 {
            let dot = Dot(origin: origin.id, seq: seq)
            let mine = try #require(try log.branch(at: dot, ownHead: store.head()))
            #expect(mine.isValid(dot, key: origin.key.publicKey))
            #expect((ForkEvidence(dot, mine, theirs, key: origin.key.publicKey) != nil) == (seq == 2))
        }
        #expect(try log.branch(at: Dot(origin: origin.id, seq: 8), ownHead: store.head()) == nil)
    }
}

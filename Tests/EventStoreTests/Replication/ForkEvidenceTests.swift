import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Proofs that one origin has two histories.
struct ForkEvidenceTests {
    /// Two stores that share 10 events and then go apart, neither of which noticed.
    private func forked() throws -> (EventStore, EventStore, [TemporaryFolder]) {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking((0..<9).map { .message("같은 말 \($0)", user: "u") })
        store.close()
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
        let one = try EventStore(opening: folder.path, surroundings: .unknown)
        let other = try EventStore(opening: copy.path, surroundings: .unknown)
        for (store, count) in [(one, 300), (other, 5)] {
            _ = try store.appendBlocking((0..<count).map { .message("말 \($0) \(count)", user: "u") })
            try store.flushBlocking()
        }
        return (one, other, [folder, copy])
    }

    private func branch(_ store: EventStore, _ seq: UInt64) throws -> ForkBranch {
        let dot = Dot(origin: store.identity.origin, seq: seq)
        return try #require(try LogReader(store.files).branch(at: dot, ownHead: store.head()))
    }

    @Test("Both branches prove the fork, the same on every node; it is kept once, durably, without payloads")
    func proves() throws {
        let (one, other, folders) = try forked()
        defer { withExtendedLifetime(folders) {} }
        let dot = Dot(origin: one.identity.origin, seq: 11)
        let key = one.key.publicKey
        let (mine, theirs) = (try branch(one, 11), try branch(other, 11))
        let evidence = try #require(ForkEvidence(dot, mine, theirs, key: key))
        #expect(evidence == ForkEvidence(dot, theirs, mine, key: key))
        #expect(try evidence.branch(in: LogReader(one.files)) != evidence.branch(in: LogReader(other.files)))
        let stamps = try [one, other].map {
            try #require(try LogReader($0.files).event(dot)).event.header.hlc.milliseconds
        }
        #expect(evidence.stamp == stamps.max(), "it came about when both had been written")
        #expect(one.forkedOrigins.isEmpty)
        #expect(try one.keep(evidence))
        #expect(try !one.keep(evidence))
        #expect(one.forkedOrigins == [dot.origin])
        #expect(try ForkEvidence.list(one.files) == [evidence])
        let file = try String(contentsOfFile: one.files.evidence + "/\(evidence.name).json", encoding: .utf8)
        #expect(!file.contains("말") && file.contains("sillok/\(dot.origin)"))
        one.close()
        #expect(try EventStore(opening: one.files.folder, surroundings: .unknown).forkedOrigins == [dot.origin])
    }

    @Test("A branch that this release cannot read proves a fork as well: it is signed like others (INV-12)")
    func opaque() throws {
        let (one, _, folders) = try forked()
        defer { withExtendedLifetime(folders) {} }
        let dot = Dot(origin: one.identity.origin, seq: 1)
        let event = try #require(try LogReader(one.files).event(dot)).event
        let readable = event.header.canonicalBytes
        // A second type.
        let odd = readable + [0x32, 1, 0x61]
        #expect(try EventHeader(received: odd).isOpaque)
        let sha = SHA256()
        let digest = sha.payloadDigest(event.body)
        func branch(_ header: [UInt8]) -> ForkBranch {
            let leaf = sha.leaf(header: header, payloadDigest: digest)
            let head = TreeHead(origin: dot.origin, size: 1, root: leaf, hlc: event.header.hlc)
            return ForkBranch(
                head: SignedHead(signing: head, with: one.key), header: header, payloadDigest: digest, proof: [])
        }
        let evidence = try #require(ForkEvidence(dot, branch(readable), branch(odd), key: one.key.publicKey))
        #expect(evidence.stamp == event.header.hlc.milliseconds)
        #expect(try one.keep(evidence))
        #expect(try ForkEvidence.list(one.files) == [evidence])
    }

    @Test("A file is JSON in any form of it, but for a name that occurs twice, and what is no object")
    func written() throws {
        let (one, other, folders) = try forked()
        defer { withExtendedLifetime(folders) {} }
        let dot = Dot(origin: one.identity.origin, seq: 11)
        let evidence = try #require(
            ForkEvidence(dot, try branch(one, 11), try branch(other, 11), key: one.key.publicKey))
        #expect(try one.keep(evidence))
        let path = one.files.evidence + "/\(evidence.name).json"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let digest = String(try #require(text.firstMatch(of: /"payload_digest":"([0-9a-f]{64})"/)).1)
        for (old, new, isOne) in [
            (#"{"head":"#, "{ \t\"head\" :", true), ("sillok/", #"sillok\/"#, true),
            (#""proof":"#, #""note":[{}],"proof":"#, true),
            (#""head":"#, #""h\u0065ad":"#, true), (#""proof":"#, #""note":{"a":1,"a":1},"proof":"#, true),
            (#""proof":"#, #""proof":[],"proof":"#, false), (#""proof":"#, #""pr\u006fof":[],"proof":"#, false),
            (#""seq":"#, #""seq":"1","seq":"#, false), (digest, "AA", false), (digest, digest.uppercased(), false),
        ] {
            let changed = text.replacing(old, with: new)
            #expect(changed != text)
            try changed.write(toFile: path, atomically: true, encoding: .utf8)
            #expect(try ForkEvidence.list(one.files) == (isOne ? [evidence] : []), "\(old) \(new)")
        }
    }

    @Test("Nothing but two signed histories that differ is evidence")
    func refuses() throws {
        let (one, other, folders) = try forked()
        defer { withExtendedLifetime(folders) {} }
        let dot = Dot(origin: one.identity.origin, seq: 11)
        let key = one.key.publicKey
        let (mine, theirs) = (try branch(one, 11), try branch(other, 11))
        guard case .event(let ourHeader, let ourDigest) = mine.content,
            case .event(let header, let digest) = theirs.content
        else {
            Issue.record("a branch of an event shows none")
            return
        }
        #expect(ForkEvidence(dot, mine, mine, key: key) == nil)
        // Before the fork both say the same.
        let shared = Dot(origin: dot.origin, seq: 10)
        #expect(ForkEvidence(shared, try branch(one, 10), try branch(other, 10), key: key) == nil)
        #expect(ForkEvidence(shared, mine, theirs, key: key) == nil)
        #expect(ForkEvidence(Dot(origin: .random(), seq: 11), mine, theirs, key: key) == nil)
        #expect(ForkEvidence(dot, mine, theirs, key: SigningKey.generate().publicKey) == nil)
        func changed(
            head: SignedHead? = nil, header other: [UInt8]? = nil, digest otherDigest: Digest? = nil,
            proof: [Digest]? = nil
        ) -> ForkBranch {
            ForkBranch(
                head: head ?? theirs.head, header: other ?? header, payloadDigest: otherDigest ?? digest,
                proof: proof ?? theirs.proof)
        }
        let unsigned = SignedHead(head: theirs.head.head, signature: [UInt8](repeating: 1, count: 64))
        let forged = SignedHead(signing: theirs.head.head, with: SigningKey.generate())
        for branch in [
            changed(head: unsigned), changed(head: forged), changed(head: mine.head), changed(header: ourHeader),
            changed(header: []), changed(digest: ourDigest), changed(proof: []), changed(proof: mine.proof),
            changed(proof: theirs.proof + [digest]),
            changed(proof: [Digest](repeating: digest, count: 1_000)),
        ] { #expect(ForkEvidence(dot, mine, branch, key: key) == nil) }
        #expect(ForkEvidence(dot, mine, changed(), key: key) != nil)
        #expect(try LogReader(one.files).branch(at: Dot(origin: dot.origin, seq: 0), ownHead: nil) == nil)
        #expect(try LogReader(one.files).branch(at: Dot(origin: dot.origin, seq: 311), ownHead: nil) == nil)
    }

    @Test("A folder full of evidence takes no more; unreadable files are passed over")
    func bounded() throws {
        let (one, other, folders) = try forked()
        defer { withExtendedLifetime(folders) {} }
        let dot = Dot(origin: one.identity.origin, seq: 11)
        let evidence = try #require(
            ForkEvidence(dot, try branch(one, 11), try branch(other, 11), key: one.key.publicKey))
        try FileManager.default.createDirectory(atPath: one.files.evidence, withIntermediateDirectories: true)
        for index in 0..<ForkEvidence.capacity {
            try Data("{}".utf8).write(to: URL(fileURLWithPath: one.files.evidence + "/fork-\(index).json"))
        }
        #expect(try !one.keep(evidence))
        #expect(try ForkEvidence.list(one.files).isEmpty)
        // It counts all the same until the store is closed.
        #expect(one.forkedOrigins == [dot.origin])
    }

    @Test("Audit paths prove each leaf of trees of 1 to 70 leaves, and no other (RFC 6962 §2.1.1)")
    func inclusion() throws {
        let sha = SHA256()
        let leaves = (0..<70).map { sha.digest([UInt8($0)]) }
        func node(_ level: Int, _ index: UInt64) -> Digest {
            let width = 1 << level
            var range = MerkleRange()
            for leaf in leaves[Int(index) * width..<(Int(index) + 1) * width] { range.append(leaf, using: sha) }
            return range.root(using: sha)
        }
        var range = MerkleRange()
        for size in UInt64(1)...70 {
            range.append(leaves[Int(size) - 1], using: sha)
            let root = range.root(using: sha)
            for index in 0..<size {
                let bridge = try #require(MerkleBridge(have: size, whole: size, proof: []))
                let proof = try #require(bridge.inclusion(of: index, using: sha, nodes: node))
                func holds(_ leaf: Digest, _ index: UInt64, _ proof: [Digest]) -> Bool {
                    MerkleProof.isIncluded(leaf, index: index, size: size, root: root, proof: proof, using: sha)
                }
                let leaf = leaves[Int(index)]
                #expect(holds(leaf, index, proof))
                #expect(!holds(sha.digest([255]), index, proof))
                #expect(!holds(leaf, index + size, proof))
                #expect(!holds(leaf, index, proof + [root]))
                if size > 1 {
                    #expect(!holds(leaf, index, Array(proof.dropLast())))
                    #expect(!holds(leaf, index ^ 1, proof))
                }
            }
        }
    }
}

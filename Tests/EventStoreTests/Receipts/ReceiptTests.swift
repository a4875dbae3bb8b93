import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Receipts, and logs that are held against them (INV-18, INV-19, D21).
struct ReceiptTests {
    @Test("A receipt tells of each origin's head, since when it is here, and who else holds it")
    func tells() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        let (store, busan, ulsan) = (sample.store, sample.busan, sample.ulsan)
        try sample.tell([try sample.said(busan.key, 301)], by: busan.key)
        try sample.tell([try sample.said(ulsan.key, 120)], by: ulsan.key)
        let cosigner = try Cosigner(store.files, key: store.key)
        _ = try cosigner.look(at: cosigner.origins(), now: 1_785_549_735)
        let (made, bytes) = try receipt(store.files, key: store.key, ownHead: store.head())
        let (read, check) = try checked(bytes)
        #expect(read == made && check.isSigned && check.answer == nil)
        #expect(
            read.maker.key == store.key.publicKey && read.maker.cluster == "default" && read.maker.position == 342)
        let own = try #require(read.heads.first { $0.head.head.origin == store.identity.origin })
        #expect(own.events == 301 && own.head.head.size == 301 && own.arrived != nil)
        let holders = Dictionary(uniqueKeysWithValues: own.cosignatures.map { ($0.cosignature.node, $0) })
        #expect(holders[busan.key.publicKey.nodeID]?.proof == [])
        #expect(holders[ulsan.key.publicKey.nodeID]?.cosignature.head.size == 120)
        #expect(holders[ulsan.key.publicKey.nodeID]?.proof.isEmpty == false)
        // Its own word counts for the origins of others.
        let theirs = try #require(read.heads.first { $0.head.head.origin == busan.id })
        #expect(theirs.cosignatures.map(\.cosignature.node) == [store.identity.node])
        #expect(read.witnesses(of: VersionVector([Dot(origin: store.identity.origin, seq: 120)])) == 2)
        #expect(read.witnesses(of: VersionVector([Dot(origin: store.identity.origin, seq: 121)])) == 1)
        #expect(read.witnesses(of: VersionVector([Dot(origin: busan.id, seq: 41)])) == 0)
        // Without the key all but the last line is the same.
        let (_, unsigned) = try receipt(store.files, key: nil, ownHead: store.head())
        #expect(try !checked(unsigned).check.isSigned)
        #expect(ndjson(unsigned).dropLast() == ndjson(bytes).dropLast())
    }

    @Test("What no head covers is counted, also of an origin that has none at all (INV-19)")
    func uncovered() throws {
        let sample = try WitnessedStore()
        let (store, busan) = (sample.store, sample.busan)
        #expect(try receipt(store.files, key: nil, ownHead: store.head()).0.uncovered == 0)
        store.close()
        func without(_ what: String) throws -> Receipt {
            try Connection(path: store.files.log, mode: .write).execute("DELETE FROM head WHERE \(what)")
            return try checked(receipt(store.files, key: nil).1).receipt
        }
        let theirs = try without("origin = (SELECT ref FROM origin WHERE id = x'\(hexText(busan.id.bytes))')")
        #expect(theirs.uncovered == 40 && theirs.heads.count == 2)
        let none = try without("1")
        #expect(none.uncovered == 342 && none.heads.isEmpty)
    }

    @Test("A receipt with any byte changed, a line less, more or elsewhere, is none (INV-19)")
    func changed() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        try sample.tell([try sample.said(sample.busan.key, 301)], by: sample.busan.key)
        try sample.tell([try sample.said(sample.ulsan.key, 7)], by: sample.ulsan.key)
        let (_, bytes) = try receipt(sample.store.files, key: sample.store.key, ownHead: sample.store.head())
        try checked(bytes)
        for at in bytes.indices {
            var broken = bytes
            broken[at] ^= 1
            #expect(throws: ReceiptError.self, "byte \(at)") { try checked(broken) }
        }
        let lines = ndjson(bytes)
        for index in lines.indices {
            var fewer = lines
            fewer.remove(at: index)
            #expect(throws: ReceiptError.self) { try checked(fewer.flatMap { $0 }) }
            #expect(throws: ReceiptError.self) { try checked((lines[...index] + lines[index...]).flatMap { $0 }) }
            guard index > 0 else { continue }
            var other = lines
            other.swapAt(index, index - 1)
            #expect(throws: ReceiptError.self) { try checked(other.flatMap { $0 }) }
        }
    }

    @Test("Numbers that cannot all be so are in no receipt, whoever has signed them (INV-19)")
    func contradictions() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        let (store, busan) = (sample.store, sample.busan)
        try sample.tell([try sample.said(busan.key, 301)], by: busan.key)
        let builder = try ReceiptBuilder(store.files, key: store.key, ownHead: store.head())
        let made = try builder.receipt(at: 1_785_549_735_120)
        func changed(position: UInt64, _ heads: [WitnessedHead]) throws {
            let maker = made.maker
            try checked(
                builder.bytes(
                    of: Receipt(
                        maker: ReceiptMaker(
                            key: maker.key, name: maker.name, cluster: maker.cluster, time: maker.time,
                            position: position), heads: heads)))
        }
        try changed(position: 342, made.heads)
        try changed(position: 343, made.heads)
        #expect(throws: ReceiptError.place("its heads count more events than its position has")) {
            try changed(position: 341, made.heads)
        }
        // Who has cosigned 301 events has had them; a node that had 300 of them could not have made the proof.
        let own = try #require(made.heads.first { $0.head.head.origin == store.identity.origin })
        let log = try LogReader(store.files)
        let tree = try #require(try log.tree(of: store.identity.origin, size: 120))
        let proof = try log.consistency(of: store.identity.origin, from: 120, to: 301, using: SHA256())
        func head(of events: UInt64) -> WitnessedHead {
            WitnessedHead(
                key: own.key, events: events, head: SignedHead(signing: tree, with: store.key), arrived: nil,
                cosignatures: own.cosignatures.map { ProvenCosignature($0.cosignature, key: $0.key, proof: proof) })
        }
        try changed(position: 342, [head(of: 301)])
        #expect(throws: ReceiptError.head(store.identity.origin)) { try changed(position: 342, [head(of: 300)]) }
    }

    @Test("A witness that has cosigned nothing stands in no receipt, signed as a whole or not (INV-19)")
    func silentWitness() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        let (_, bytes) = try receipt(sample.store.files, key: sample.store.key, ownHead: sample.store.head())
        var lines = ndjson(bytes).dropLast()
        func file() -> [UInt8] {
            var file = lines.flatMap { $0 }
            let digest = SHA256().digest(file)
            let signature = sample.store.key.sign(ReceiptLine.signedText(ofAnswer: false, digest))
            ReceiptLine.end(count: 3, digest: digest, signature: signature).write(to: &file)
            return file
        }
        try checked(file())
        var line: [UInt8] = []
        ReceiptLine.witness(sample.ulsan.key.publicKey).write(to: &line)
        lines.insert(line, at: 1)
        #expect(throws: ReceiptError.place("a witness that has cosigned nothing here")) { try checked(file()) }
    }

    @Test("Forged cosignatures, those of strangers and of other histories are in no receipt")
    func forged() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        let (store, busan, ulsan) = (sample.store, sample.busan, sample.ulsan)
        let right = try sample.said(busan.key, 301)
        let stranger = SigningKey.generate()
        let other = TreeHead(
            origin: store.identity.origin, size: 200, root: SHA256().digest([1]), hlc: HybridTime(rawValue: 1))
        // A node of another cluster has no origin here; one says what another has signed; one holds another history.
        try sample.tell([try sample.said(stranger, 301)], by: stranger)
        try sample.tell(
            [
                Cosignature(
                    node: busan.key.publicKey.nodeID, signed: right.signed, time: right.time + 1,
                    signature: right.signature)
            ],
            by: busan.key)
        try sample.tell(
            [Cosignature(signing: SignedHead(signing: other, with: store.key), at: 1, with: ulsan.key)], by: ulsan.key
        )
        let (made, bytes) = try receipt(store.files, key: store.key, ownHead: store.head())
        #expect(made.heads.allSatisfy { $0.cosignatures.isEmpty })
        try checked(bytes)
        // The same put into the file by hand, and signed by the node itself.
        let own = try #require(made.heads.first { $0.head.head.origin == store.identity.origin })
        for lie in [
            ProvenCosignature(
                Cosignature(node: right.node, signed: right.signed, time: 1, signature: right.signature),
                key: busan.key.publicKey, proof: []),
            ProvenCosignature(
                Cosignature(signing: SignedHead(signing: other, with: store.key), at: 1, with: ulsan.key),
                key: ulsan.key.publicKey, proof: []),
            ProvenCosignature(
                Cosignature(signing: own.head, at: 1, with: store.key), key: store.key.publicKey, proof: []),
        ] {
            let head = WitnessedHead(
                key: own.key, events: own.events, head: own.head, arrived: nil, cosignatures: [lie])
            let file = try ReceiptBuilder(store.files, key: store.key).bytes(
                of: Receipt(maker: made.maker, heads: [head]))
            #expect(throws: ReceiptError.self) { try checked(file) }
        }
    }

    @Test(
        "A log that goes on is proven against a receipt; one that is shorter, rewritten or rolled back is not (INV-18)"
    )
    func heldAgainst() throws {
        let sample = try WitnessedStore()
        let (store, folder) = (sample.store, sample.folder)
        let before = TemporaryFolder()
        store.close()
        try FileManager.default.copyItem(atPath: folder.path, toPath: before.path)
        let again = try EventStore(opening: folder.path)
        _ = try again.appendBlocking((0..<20).map { .message("later \($0)", user: "u") })
        again.close()
        let (made, _) = try receipt(again.files, key: store.key)
        let known = made.known(to: store.identity.node, isSigned: true, as: "today.receipt")
        #expect(try Verifier(again.files, known: known).run().answer == .proven)
        let more = try EventStore(opening: folder.path)
        _ = try more.appendBlocking((0..<20).map { .message("more \($0)", user: "u") })
        more.close()
        #expect(try Verifier(more.files, known: known).run().answer == .proven)
        // What it counts beyond its heads was there, too.
        let own = store.identity.node
        let end = try #require(made.end(of: own, isSigned: true, as: "today.receipt"))
        #expect(try Verifier(more.files, known: known, ends: [end]).run().answer == .proven)
        #expect(made.end(of: own, isSigned: false, as: "today.receipt") == nil)
        // To another node's log that is no more than what may come yet; positions are those of each log.
        let other = try #require(
            made.end(of: sample.busan.key.publicKey.nodeID, isSigned: true, as: "today.receipt"))
        #expect(!other.isOwn && other.position == 0 && other.events == end.events)
        let last = UInt64(try LogReader(more.files).top())
        let counted = Dot(origin: store.identity.origin, seq: 342)
        for (position, dot, text) in [
            (last, counted, "counts 342 events"), (last + 1, nil, "was made at position \(last + 1)"),
        ] as [(UInt64, Dot?, String)] {
            let beyond = KnownEnd(
                position: position, events: VersionVector(dot.map { [$0] } ?? []), source: "today.receipt",
                isOwn: true)
            let cut = try Verifier(more.files, ends: [beyond]).run()
            #expect(cut.answer == .contradicted)
            #expect(cut.findings.contains { $0.message.contains("today.receipt \(text)") }, "\(cut.findings)")
        }
        let lacking = KnownEnd(position: 0, events: VersionVector([counted]), source: "b.receipt", isOwn: false)
        let open = try Verifier(more.files, ends: [lacking]).run()
        #expect(open.answer == .notCovered && open.notes.contains { $0.contains("b.receipt counts 342 events") })
        // Rolled back to the copy.
        let short = try Verifier(StoreFiles(before.path), known: known).run()
        #expect(short.answer == .contradicted)
        #expect(
            short.findings.contains {
                $0.check == .ends && $0.dot == Dot(origin: store.identity.origin, seq: 302)
                    && $0.message.contains("today.receipt knows 321")
            }, "\(short.findings)")
        // The same node's key has written other events since, and signed them: as its operator could.
        let forger = try EventStore(opening: before.path, surroundings: .unknown)
        _ = try forger.appendBlocking((0..<30).map { .message("not said \($0)", user: "u") })
        forger.close()
        let rewritten = try Verifier(StoreFiles(before.path), known: known).run()
        #expect(rewritten.answer == .contradicted)
        #expect(
            rewritten.findings.contains {
                $0.dot == Dot(origin: store.identity.origin, seq: 1) && $0.message.contains("from seq 1 to 321")
            }, "\(rewritten.findings)")
        // A receipt of another node need not be reached, only not be contradicted.
        let elsewhere = made.known(to: SigningKey.generate().publicKey.nodeID, isSigned: true, as: "busan.receipt")
        #expect(try Verifier(StoreFiles(before.path), known: elsewhere).run().answer == .contradicted)
    }

    @Test("A receipt that shares an origin or its maker with the log is held against it (INV-18)")
    func shares() throws {
        let sample = try WitnessedStore()
        let store = sample.store
        defer { withExtendedLifetime(sample.folder) {} }
        store.close()
        let (made, _) = try receipt(store.files, key: store.key)
        let (own, other) = (store.identity.node, SigningKey.generate())
        let origins = try LogReader(store.files).origins()
        #expect(made.shares(origins))
        let stranger = Receipt(
            maker: ReceiptMaker(
                key: other.publicKey, name: "x", cluster: "x", time: 1, position: made.maker.position),
            heads: made.heads)
        #expect(stranger.shares(origins))
        #expect(!Receipt(maker: stranger.maker, heads: []).shares(origins))
        #expect(!made.shares([]))
        // Another key under the same name is another history.
        let known = made.heads.map { head in
            KnownHead(head.head.head, source: "x.receipt", shortfall: .isOpen, signer: other.publicKey)
        }
        let report = try Verifier(store.files, known: known).run()
        #expect(
            report.findings.contains { $0.message.contains("has the key of node \(own.short) here") },
            "\(report.findings)")
        let same = made.known(to: nil, isSigned: true, as: "x.receipt")
        #expect(try Verifier(store.files, known: same).run().answer == .proven)
        let end = KnownEnd(position: 0, events: VersionVector([]), source: "x", isOwn: false, cluster: "x")
        let cluster = try Verifier(store.files, ends: [end]).run()
        #expect(cluster.answer == .contradicted && cluster.findings.contains { $0.message.contains("in cluster x") })
    }

    @Test("What cannot be read of what peers have told is named, and nothing is proven then (INV-18)")
    func unreadCosignatures() throws {
        let sample = try WitnessedStore()
        let (store, busan) = (sample.store, sample.busan)
        defer { withExtendedLifetime(sample.folder) {} }
        try sample.tell([try sample.said(busan.key, 250)], by: busan.key)
        let cosigner = try Cosigner(store.files, key: store.key)
        _ = try cosigner.look(at: cosigner.origins(), now: 1)
        store.close()
        let own = store.identity.node
        let file = try #require(try CosignatureFile(reading: store.files))
        let lists = try file.mine(own)
        #expect(try !lists.isEmpty && file.strange(to: own).isEmpty)
        let whole = CosignatureList(lists).bytes
        let other = "mine/\(store.identity.origin)"
        let names = ["node/\(busan.key.publicKey.nodeID)", "node/x", "later", other]
        let values = try NamedValues(path: store.files.cosignatures)
        try values.put([(names[0], Array(whole.dropLast())), (names[1], whole), (names[2], whole), (names[3], whole)])
        #expect(try Set(file.strange(to: own)) == Set(names))
        let report = try Verifier(store.files, unread: ["cosigned.db: …"]).run()
        #expect(report.answer == .notCovered && report.notes == ["cosigned.db: …"])
    }

    @Test("What a peer holds of this node's own origin must be here (INV-18)")
    func peersKnow() throws {
        let sample = try WitnessedStore()
        let (store, busan) = (sample.store, sample.busan)
        try sample.tell([try sample.said(busan.key, 250)], by: busan.key)
        store.close()
        #expect(try KnownHead.ofPeers(store.files).map(\.head.size) == [250])
        #expect(try Verifier(store.files, known: KnownHead.ofPeers(store.files)).run().answer == .proven)
        let head = TreeHead(
            origin: store.identity.origin, size: 900, root: .zero, hlc: HybridTime(rawValue: 1))
        // A peer that lies: the node has never signed that, and no one is misled.
        let lie = SignedHead(signing: head, with: busan.key)
        try sample.tell([Cosignature(signing: lie, at: 1, with: busan.key)], by: busan.key)
        #expect(try KnownHead.ofPeers(store.files).isEmpty)
        let signed = SignedHead(signing: head, with: store.key)
        try sample.tell([Cosignature(signing: signed, at: 1, with: busan.key)], by: busan.key)
        let report = try Verifier(store.files, known: KnownHead.ofPeers(store.files)).run()
        #expect(report.answer == .contradicted && report.findings.contains { $0.message.contains("900") })
        // Of its own origin it may be ahead.
        let theirs = TreeHead(origin: busan.id, size: 900, root: .zero, hlc: HybridTime(rawValue: 1))
        let ahead = SignedHead(signing: theirs, with: busan.key)
        try sample.tell([Cosignature(signing: ahead, at: 1, with: busan.key)], by: busan.key)
        #expect(try Verifier(store.files, known: KnownHead.ofPeers(store.files)).run().answer == .proven)
    }
}

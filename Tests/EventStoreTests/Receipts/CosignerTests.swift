import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A node signs what it holds of its peers' origins, and nothing that contradicts what it has said (INV-18).
struct CosignerTests {
    private let now: UInt64 = 1_785_549_735

    @Test("A cosignature is that of C2SP: text, key hash and line are as FORMATS.md has them")
    func form() throws {
        let key = try #require(SigningKey(seed: (0..<32).map { UInt8($0) }))
        let origin = try #require(OriginID(text: "1b4e28ba-2fa1-11d2-883f-0016d3cca427"))
        let root = try #require(
            hexBytes("ff718b0b60187a0ece8a2dbf4d089e10d0c09e755db351f8dce73a68d540fe0f").flatMap { Digest(bytes: $0) }
        )
        let head = TreeHead(
            origin: origin, size: 3, root: root, hlc: HybridTime(milliseconds: 1_785_549_735_120, counter: 3))
        let signed = SignedHead(signing: head, with: key)
        let said = Cosignature(signing: signed, at: now, with: key)
        #expect(
            String(decoding: Cosignature.message(head, now), as: UTF8.self)
                == "cosignature/v1\ntime 1785549735\n" + head.checkpointText)
        let line = said.noteSignature(key.publicKey)
        #expect(Cosignature(line, over: signed, by: key.publicKey) == said)
        // The same bytes are no signature of the head, and that of a head no cosignature.
        #expect(Cosignature(signed.noteSignature(key.publicKey), over: signed, by: key.publicKey) == nil)
        #expect(!line.isOf(key.publicKey, .head))
        let note = SignedNote(head, [signed.noteSignature(key.publicKey), line])
        #expect(SignedNote(note.text) == note)
        for broken in [note.text + " ", note.text.replacing("— ", with: "- "), note.text + "\n"] {
            #expect(SignedNote(broken) == nil)
        }
        #expect(CosignatureList(CosignatureList([said]).bytes, of: said.node)?.entries == [said])
        #expect(CosignatureList(CosignatureList([said]).bytes + [0], of: said.node) == nil)
        // No date is later than the year 9999: verify.py could not tell it.
        for (time, isOne) in [(Cosignature.latest, true), (Cosignature.latest + 1, false)] {
            let late = Cosignature(signing: signed, at: time, with: key)
            #expect((CosignatureList(CosignatureList([late]).bytes, of: late.node) != nil) == isOne)
            let line = late.noteSignature(key.publicKey)
            #expect((Cosignature(line, over: signed, by: key.publicKey) != nil) == isOne)
        }
    }

    @Test("What no release has put into cosigned.db is named, by its name (INV-18)")
    func strange() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        let (store, path) = (sample.store, sample.store.files.cosignatures)
        try sample.tell([try sample.said(sample.busan.key, 301)], by: sample.busan.key)
        let node = store.identity.node
        #expect(try CosignatureFile(reading: store.files)?.strange(to: node) == [])
        try Connection(path: path, mode: .write).execute(
            """
            ALTER TABLE value RENAME TO old; CREATE TABLE value(name, bytes); INSERT INTO value SELECT * FROM old;
            INSERT INTO value VALUES(x'6d696e65', x''), (NULL, x''), (1.5, x''), ('node/a', x''), ('mine/a', 'text');
            """)
        let names = try #require(try CosignatureFile(reading: store.files)).strange(to: node)
        #expect(Set(names).isSuperset(of: ["X'6D696E65'", "NULL", "1.5", "node/a", "mine/a"]), "\(names)")
        let own = "node/\(sample.busan.key.publicKey.nodeID)"
        #expect(!names.contains(own))
    }

    @Test("It signs what it has of others, once for each step, and remembers it; its own origin it leaves to others")
    func signs() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        let (store, busan) = (sample.store, sample.busan)
        let cosigner = try Cosigner(store.files, key: store.key)
        #expect(try cosigner.look(at: cosigner.origins(), now: now).isEmpty)
        #expect(cosigner.list.entries.map(\.head.size) == [40, 1])
        #expect(cosigner.list.entries.allSatisfy { $0.isValid(for: store.key.publicKey) && $0.time == now })
        #expect(cosigner.list.entries.map(\.head.origin) == [busan.id, sample.ulsan.id])
        #expect(try cosigner.look(at: [busan.id], now: now + 9).isEmpty)
        #expect(cosigner.list.entries.allSatisfy { $0.time == now }, "nothing new, nothing said")
        let again = try Cosigner(store.files, key: store.key)
        #expect(again.list == cosigner.list)
    }

    @Test(
        "A log that was rolled back, and one that was written anew, are cosigned no more: it remembers what it has said"
    )
    func remembers() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        var busan = ForeignOrigin(1, name: "busan-1")
        for number in 0..<9 { busan.add(.message("\(number)", user: "u")) }
        try busan.send(to: store)
        // What it has said before its log was put back: more of the same history, then of another one.
        var longer = busan
        for number in 0..<9 { longer.add(.message("later \(number)", user: "u")) }
        let said = Cosignature(signing: longer.head(using: SHA256()), at: now, with: store.key)
        let cosigner = try Cosigner(store.files, key: store.key)
        // Its own word comes back from a peer.
        try cosigner.take(CosignatureList([said]), of: store.identity.node)
        #expect(try cosigner.look(at: [busan.id], now: now + 1).isEmpty)
        #expect(cosigner.list.entries == [said], "a shorter log adds nothing to what was said")
        for number in 0..<12 { busan.add(.message("another \(number)", user: "u")) }
        try busan.send(after: 10, to: store)
        for each in [cosigner, try Cosigner(store.files, key: store.key)] {
            #expect(try each.look(at: [busan.id], now: now + 2).isEmpty)
            #expect(each.list.entries == [said])
            #expect(each.refused[busan.id]?.contains("its first 19 events are not those") ?? false)
        }
    }

    @Test(
        "A log of which a peer is known to hold more, or another history, is not gone on with, and doctor says so before (INV-4)",
        arguments: [true, false])
    func putBack(isShorter: Bool) throws {
        let sample = try WitnessedStore()
        let (folder, store, ulsan) = (sample.folder, sample.store, sample.ulsan.key)
        func append(_ text: String) throws {
            let store = try EventStore(opening: folder.path)
            defer { store.close() }
            #expect(store.originChange == nil)
            _ = try store.appendBlocking((0..<5).map { .message("\(text) \($0)", user: "u") })
        }
        store.close()
        let old = LogImage(store.files)
        try append("once")
        let said = try sample.said(ulsan, 306)
        try old.restore(store.files)
        if !isShorter { try append("other") }
        try sample.tell([said], by: ulsan)
        let (origin, node) = (store.identity.origin, "node \(ulsan.publicKey.nodeID.short)")
        let text =
            isShorter
            ? "origin \(origin) ends at seq 301; \(node) knows 306 of its events"
            : "the events of origin \(origin) from seq 1 to 306 are not all those that \(node) knows"
        #expect(try Outside.cut(of: store.files) == text)
        let again = try EventStore(opening: folder.path)
        #expect(again.originChange == .cut && again.cut?.text == text && again.cut?.known == said.head)
        again.close()
        // Also where what peers have told is taken away.
        for suffix in ["", "-wal", "-shm"] { unlink(store.files.cosignatures + suffix) }
        #expect(try verify(folder).answer == .contradicted)
    }

    @Test("A file whose making was cut says nothing; one without its table is told (INV-18)", arguments: [0, 1, 2])
    func cutInTheMaking(stage: Int) throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let path = store.files.cosignatures
        if stage == 0 { try Data().write(to: URL(filePath: path)) }
        if stage > 0 { try Connection(path: path, mode: .write).execute("PRAGMA journal_mode = WAL") }
        if stage == 2 {
            try Connection(path: path, mode: .write).execute("CREATE TABLE value(x); DROP TABLE value")
            #expect(throws: StoreError.self) { try KnownHead.ofPeers(store.files) }
            return
        }
        #expect(try CosignatureFile(reading: store.files) == nil && KnownHead.ofPeers(store.files).isEmpty)
    }

    @Test("What another has signed in its name is not taken for its own word")
    func forged() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let busan = ForeignOrigin(1, name: "busan-1")
        try busan.send(to: store)
        let head = TreeHead(origin: busan.id, size: 99, root: .zero, hlc: HybridTime(rawValue: 1))
        let forged = Cosignature(signing: SignedHead(signing: head, with: busan.key), at: now, with: busan.key)
        let claim = Cosignature(
            node: store.identity.node, signed: forged.signed, time: now, signature: forged.signature)
        let cosigner = try Cosigner(store.files, key: store.key)
        try cosigner.take(CosignatureList([claim]), of: store.identity.node)
        #expect(try cosigner.look(at: [busan.id], now: now).isEmpty)
        #expect(cosigner.list.entries.map(\.head.size) == [1])
    }
}

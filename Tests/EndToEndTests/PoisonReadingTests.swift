import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Every command that reads, on a store with events that cannot be read (D13).
struct PoisonReadingTests {
    /// A store with an own message and five events of another node. These are its start, one with a payload that is none, one with a
    /// header of a later form, one with terminal commands for a type, and one that is as it should be.
    private static func make(in path: String) throws {
        try EventStore.create(in: path, name: "n")
        let store = try EventStore(opening: path)
        _ = try store.appendBlocking([
            EventDraft(type: "message.posted", conversation: "c", user: "u", payload: Array(#"{"text":"여기"}"#.utf8))
        ])
        let key = SigningKey.generate()
        let start = OriginStart(key: key.publicKey, name: "later").draft
        let origin = OriginID.random()
        var tree = MerkleRange()
        let sha = SHA256()
        func hlc(_ seq: UInt64) -> HybridTime {
            HybridTime(milliseconds: 1_785_549_735_120, counter: UInt16(seq))
        }
        var events: [EncodedEvent] = []
        func add(_ type: String, _ user: String, _ payload: [UInt8], _ suffix: [UInt8] = []) {
            let header = EventHeader(
                dot: Dot(origin: origin, seq: tree.size + 1), hlc: hlc(tree.size + 1),
                id: EventID(OriginID.random().bits),
                type: type,
                conversation: "c", user: user)
            let bytes = header.canonicalBytes + suffix
            let body = EventBody.present(salt: UUIDBits(high: 1, low: tree.size), payload: payload)
            tree.append(sha.leaf(header: bytes, payloadDigest: sha.payloadDigest(body)), using: sha)
            events.append(EncodedEvent(header: bytes, body: body))
        }
        add(start.type, start.user, start.payload)
        add("message.posted", "u", Array("{\"text\":\u{1b}[2J".utf8) + [0xff, 0])
        add("message.posted", "u", Array(#"{"text":"나중"}"#.utf8), [0x6a, 1, 7])
        add("x\u{1b}[2J", "u", Array("{}".utf8))
        add("message.posted", "u", Array(#"{"text":"저기"}"#.utf8))
        let head = TreeHead(origin: origin, size: tree.size, root: tree.root(using: sha), hlc: hlc(tree.size))
        let batch = try store.makeVerifierBlocking().verify(
            events, [Coverage(head: SignedHead(signing: head, with: key), proof: [])])
        try blocking { store.ingest(batch, completion: $0) }
        store.close()
    }

    @Test("Nothing that reads stumbles over them, and no terminal command gets out")
    func everyCommand() async throws {
        let folder = try TemporaryFolder.made()
        try Self.make(in: folder.file("store"))
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        for command in [
            ["history", "u"], ["conversation", "c"], ["conversations"], ["tail"], ["replay", "--all"],
            ["replay", "--user", "u"], ["digest"], ["verify"],
            ["status"], ["quarantine", "list"], ["show", "4"], ["show", "5"], ["show", "6"], ["profile", "u"],
            ["survey", "list"], ["export"],
        ] {
            for form in [[], ["--json"], ["--plain"]] {
                let run = try await tool.run(command + form)
                let isFine = run.code == 0 || (run.code == 1 && ["profile", "survey"].contains(command[0]))
                #expect(isFine, "\(command) \(form): \(run.code) \(run.errors)")
                #expect(!run.output.contains(0x1b), "\(command) \(form)")
                if form == ["--json"] { _ = try run.objects() }
            }
        }
        let history = try await tool.run(["history", "u"]).text
        #expect(history.contains("저기") && history.contains("(payload cannot be read)"))
        let exported = try await tool.run(["export", "--json"]).objects()
        #expect(exported.count { $0["data_base64"] != nil } == 1)
        #expect(exported.count { $0["headerbytes"] != nil } == 1)
        let listed = try await tool.run(["quarantine", "list", "--json"]).objects()
        #expect(listed.compactMap { $0["position"] as? Int } == [4, 5, 6])
        #expect(try await tool.run(["show", "6"]).text.contains("unreadable    type: has a control character"))
        // What can be read is taken over by another store; the rest is named.
        let lines = try await tool.run(["export"]).output
        #expect(try await tool.run(["--store", folder.file("other"), "init", "--name", "m"]).code == 0)
        let taken = try await tool.run(["--store", folder.file("other"), "import", "-"], input: lines)
        #expect(taken.code == 4 && taken.errors.contains("E_LINE_UNREADABLE"), "\(taken.text) \(taken.errors)")
    }
}

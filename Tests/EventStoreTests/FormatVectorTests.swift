import Foundation
import Testing

@testable import EventStore

/// The vectors of FORMATS.md, read from the page, recomputed with the code: the two cannot drift apart.
struct FormatVectorTests {
    private let values: [String: String]

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/reference/FORMATS.md"), encoding: .utf8)
        let block = try #require(page.components(separatedBy: "```").first { $0.contains("\nopaque_header: ") })
        var values: [String: String] = [:]
        for line in block.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            values[String(line[..<colon])] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        self.values = values
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        let text = try #require(values[name])
        return try #require(hexBytes(text))
    }

    @Test("The canonical header, in both directions")
    func header() throws {
        let origin = try #require(OriginID(text: "1b4e28ba-2fa1-11d2-883f-0016d3cca427"))
        let other = try #require(OriginID(text: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
        let id = try #require(EventID(text: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"))
        let header = EventHeader(
            dot: Dot(origin: origin, seq: 2), hlc: HybridTime(milliseconds: 1_785_549_735_120, counter: 3),
            time: 1_785_549_700_000, id: id,
            type: "message.posted", conversation: "c-88", user: "u-1029", author: "medibot",
            cause: EventID(text: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e00"),
            dependencies: [Dot(origin: other, seq: 7)], version: 2)
        #expect(header.canonicalBytes == (try bytes("header")))
        #expect(try EventHeader(canonicalBytes: bytes("header")) == header)
    }

    @Test("A header with an actor, and one with fields of a later format on both sides of it")
    func ancillaryFields() throws {
        let plain = try EventHeader(canonicalBytes: bytes("header"))
        let digest = try #require(Digest(bytes: self.bytes("payload_digest")))
        var header = plain
        header.actor = EventActor(.token, principal: "bot/medibot", credential: "9f3c51d20b7e6a84")
        #expect(header.canonicalBytes == (try bytes("actor_header")))
        #expect(try EventHeader(canonicalBytes: bytes("actor_header")) == header)
        #expect(
            SHA256().leaf(header: try bytes("actor_header"), payloadDigest: digest).description
                == values["actor_leaf"])
        let later = try EventHeader(canonicalBytes: bytes("later_header"))
        #expect(later.actor?.text == "socket:uid:1000" && later.isOfLaterFormat && !header.isOfLaterFormat)
        #expect(later.unknownFields == [0xf8, 1, 1, 0x8a, 2, 2, 1, 2, 0x98, 6, 5])
        #expect(later.canonicalBytes == (try bytes("later_header")))
        #expect(
            SHA256().leaf(header: later.canonicalBytes, payloadDigest: digest).description == values["later_leaf"])
    }

    @Test("An opaque header: its place is read, its bytes are hashed as they came")
    func opaqueHeader() throws {
        let bytes = try bytes("opaque_header")
        let header = try EventHeader(received: bytes)
        #expect(header.isOpaque && header.canonicalBytes == bytes)
        let whole = try EventHeader(canonicalBytes: self.bytes("header"))
        #expect(header.dot == whole.dot && header.hlc == whole.hlc && header.dependencies == whole.dependencies)
        let digest = try #require(Digest(bytes: self.bytes("payload_digest")))
        #expect(SHA256().leaf(header: bytes, payloadDigest: digest).description == values["opaque_leaf"])
    }

    @Test("A tile over 256 leaves")
    func tile() throws {
        let sha = SHA256()
        var tree = GrowingTree()
        let nodes = (0..<256).flatMap { tree.grow(sha.digest([0, UInt8($0)]), using: sha) }
        let tile = try #require(nodes.first?.tile)
        #expect(nodes.count == 1 && nodes[0].hash.description == values["root256"])
        #expect(tile.roots.count == 16 && tile.roots.first?.description == values["tile_first"])
        #expect(tile.roots.last?.description == values["tile_last"])
        #expect(sha.digest(tile.bytes).description == values["tile_sha256"])
        #expect(tile.bytes.withUnsafeBytes { MerkleTile(bytes: $0) } == tile)
        for count in [0, 511, 513] {
            #expect([UInt8](repeating: 1, count: count).withUnsafeBytes { MerkleTile(bytes: $0) } == nil)
        }
    }

    @Test("Payload digest, leaf and roots")
    func hashes() throws {
        let sha = SHA256()
        let saltBytes = try bytes("salt")
        let salt = try #require(UUIDBits(bytes: saltBytes))
        let digest = sha.payloadDigest(salt: salt, payload: try bytes("payload"))
        #expect(digest.description == values["payload_digest"])
        #expect(sha.leaf(header: try bytes("header"), payloadDigest: digest).description == values["leaf"])
        var range = MerkleRange()
        for number in UInt8(1)...3 {
            let leaf = sha.digest([0] + [UInt8](repeating: number, count: 3))
            #expect(leaf.description == values["leaf\(number)"])
            range.append(leaf, using: sha)
            if number == 1 { #expect(range.root(using: sha).description == values["root1"]) }
        }
        #expect(range.root(using: sha).description == values["root3"])
    }

    @Test("Node id, checkpoint, signature and note")
    func head() throws {
        let prefix = try #require(hexBytes("302e020100300506032b657004220420"))
        let pem =
            "-----BEGIN PRIVATE KEY-----\n\(base64Text(prefix + (try bytes("seed"))))\n-----END PRIVATE KEY-----\n"
        let key = try #require(SigningKey(pem: Array(pem.utf8)))
        #expect(key.publicKey.rawBytes == (try bytes("public_key")))
        #expect(key.publicKey.nodeID.description == values["node_id"])
        let rootBytes = try bytes("root3")
        let root = try #require(Digest(bytes: rootBytes))
        let origin = try #require(OriginID(text: "1b4e28ba-2fa1-11d2-883f-0016d3cca427"))
        let head = TreeHead(
            origin: origin, size: 3, root: root,
            hlc: HybridTime(milliseconds: 1_785_549_735_120, counter: 3))
        #expect(Array(head.checkpointText.utf8) == (try bytes("checkpoint")))
        let signed = SignedHead(signing: head, with: key)
        #expect(signed.signature == (try bytes("signature")))
        #expect(
            signed.note(signer: key.publicKey).split(separator: "\n").last.map(String.init) == values["note_line"])
    }

    @Test("The seal and the mark, made with Python's hmac and the openssl command")
    func sealAndMark() throws {
        let der = try #require(hexBytes("302e020100300506032b657004220420")) + (try bytes("seed"))
        let pem = "-----BEGIN PRIVATE KEY-----\n\(base64Text(der))\n-----END PRIVATE KEY-----\n"
        let key = try #require(SigningKey(pem: Array(pem.utf8)))
        let text = String(decoding: try bytes("checkpoint"), as: UTF8.self)
        let head = try #require(TreeHead(checkpointText: text))
        #expect(hexText(key.sealer.seal(head).bytes) == values["seal"])
        let mark = Mark(
            state: .stopped, incarnation: 0x0011_2233_4455_66ff, position: 42, head: head,
            boot: "6f1bd2c1-8a55-4f0e-9f6e-0b5ad1f0c3aa", durability: .full,
            settings: Mark.settings(name: "seoul-1", cluster: "default", witness: ""))
        #expect(Array(mark.text(key.publicKey.nodeID).utf8) == (try bytes("mark")))
        #expect(hexText(key.sign(try bytes("mark"))) == values["mark_signature"])
    }
}

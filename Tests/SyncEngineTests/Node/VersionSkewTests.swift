import Foundation
import Testing
import WireKit

@testable import EventStore
@testable import SyncEngine

/// Nodes of other releases, played by hand over a real link (D10, D13).
@Suite(.serialized)
struct VersionSkewTests {
    /// A peer that speaks version 1 as it was first published: eight messages and no features.
    final class PlainPeer {
        let client: HostileClient
        /// What it has received, by origin.
        private(set) var trees: [OriginID: MerkleRange] = [:]
        private(set) var acknowledged: [OriginID: UInt64] = [:]
        private(set) var types: Set<UInt8> = []
        /// Put behind the fields of each message it sends: what a later release may add.
        var suffix: [UInt8] = []

        init(port: UInt16, key: SigningKey, suffix: [UInt8] = [], hello suffixOfHello: [UInt8] = []) throws {
            client = try HostileClient(port: port, key: key)
            self.suffix = suffix
            var hello = client.hello()
            if !suffixOfHello.isEmpty { hello.protocolMax = 9 }
            var frame = Message.hello(hello).frame(compress: false)
            frame.body += suffixOfHello
            client.write(frame.bytes)
            say(.vector([]))
        }

        func say(_ message: Message) {
            var frame = message.frame(compress: false)
            frame.body += suffix
            client.write(frame.bytes)
        }

        /// Takes in what comes until `isDone`.
        func listen(until isDone: (PlainPeer) -> Bool) throws {
            let sha = SHA256()
            while !isDone(self) {
                let message = try #require(try client.receive(), "the link ended")
                types.insert(message.type)
                switch message {
                case .events(let batch):
                    for event in batch.events {
                        let dot = try EventHeader(received: event.header).dot
                        #expect(dot.seq == (trees[dot.origin]?.size ?? 0) + 1)
                        let leaf = sha.leaf(header: event.header, payloadDigest: sha.payloadDigest(event.body))
                        trees[dot.origin, default: MerkleRange()].append(leaf, using: sha)
                    }
                    let entries = trees.sorted { $0.key < $1.key }.map {
                        VectorEntry(origin: $0.key, seq: $0.value.size, root: $0.value.root(using: sha).prefix64)
                    }
                    say(.ack(entries))
                    let bytes = message.frame(compress: false).count
                    say(.credit(UInt64(bytes)))
                case .ack(let entries): for entry in entries { acknowledged[entry.origin] = entry.seq }
                case .ping(let ping): say(.pong(Pong(nonce: ping.nonce, clock: 0)))
                case .bye(let bye):
                    Issue.record("refused: \(bye)")
                    return
                default: break
                }
            }
        }
    }

    private func replicate(suffix: [UInt8], hello: [UInt8]) throws -> Set<UInt8> {
        let key = SigningKey.generate()
        let a = try TestNode("a")
        let b = try TestNode("b", peers: [a.peer()])
        a.node.setPeers([b.peer(calling: false), Peer(name: "other", node: key.publicKey.nodeID, address: nil)])
        try a.append(300)
        try b.append(200)
        let peer = try PlainPeer(port: a.node.status().listeningPort, key: key, suffix: suffix, hello: hello)
        let origins = [a.store.identity.origin, b.store.identity.origin]
        try peer.listen { $0.trees[origins[0]]?.size == 301 && $0.trees[origins[1]]?.size == 201 }

        // Its own events go through a to b, those that no node here can read among them.
        var own = ForeignOrigin(key: key)
        for index in 0..<100 {
            var header = own.header(needs: index == 0 ? [Dot(origin: origins[0], seq: 301)] : [])
            if index % 10 == 0 { header.unknownFields = [0x6a, 0x01, UInt8(index)] }
            if index % 10 == 1 { header.type = String(repeating: "t", count: 300) }
            own.append(header)
        }
        if !hello.isEmpty { peer.client.write(Frame(type: 77, flags: 0, body: [1, 2, 3]).bytes) }
        peer.say(.events(own.batch()))
        try peer.listen { $0.acknowledged[own.id] == 101 }
        #expect(try eventually { try b.vector()[own.id] == 101 })
        // And new events of b come to it through a.
        try b.append(50)
        try peer.listen { $0.trees[origins[1]]?.size == 251 }
        #expect(
            eventually {
                let status = a.node.status().peers
                return status.allSatisfy { $0.phase == .connected && $0.lacks == 0 && $0.owes == 0 }
            })
        #expect(try b.store.progressBlocking().contains(own.progress))
        for (origin, tree) in peer.trees {
            let mine = try #require(try a.store.progressBlocking().first { $0.origin == origin })
            #expect(mine.seq == tree.size && mine.rootPrefix == tree.root(using: SHA256()).prefix64)
        }
        for node in [a, b] { node.stop() }
        return peer.types
    }

    @Test("A node of the first version of the protocol hears nothing that it does not know, and replicates both ways")
    func earlier() throws {
        let types = try replicate(suffix: [], hello: [])
        #expect(types.isSubset(of: [1, 2, 3, 4, 5, 6, 7, 8]))
    }

    @Test("A node of a later version, with messages, fields and abilities nobody here knows, replicates both ways")
    func later() throws {
        // Field 1000, three bytes. In the Hello also features that do not exist yet, and versions up to 9.
        let field: [UInt8] = [0xc2, 0x3e, 0x03, 1, 2, 3]
        let features: [UInt8] = [0x59, 0, 0, 0, 0, 0, 0, 0, 0xf0]
        _ = try replicate(suffix: field, hello: features + field)
    }
}

import EventStore
import Foundation
import TestSupport
import Testing

@testable import SyncEngine

/// A node as a program outside of this package has it.
@Suite(.timeLimit(.minutes(5)))
struct EmbeddingTests {
    private static func store(_ name: String) throws -> EventStore {
        let folder = TemporaryFolder.unusedPath()
        try EventStore.create(in: folder, name: name)
        return try EventStore(opening: folder)
    }

    @Test(
        "Two nodes find each other, exchange what they have, and tell how they stand; stopped, the stores stay open")
    func pair() async throws {
        let (a, b) = (try Self.store("seoul"), try Self.store("busan"))
        let draft = EventDraft(type: "message.posted", user: "u-1", payload: Array(#"{"text":"안녕하세요"}"#.utf8))
        let id = try #require(try await a.append([draft]).first?.receipt?.id)
        let listener = try await SyncNode.start(a, .init(listen: "127.0.0.1:0"))
        #expect(listener.identity == a.identity)
        let port = await listener.status().listeningPort
        let peer = Peer(name: "seoul", node: a.identity.node, address: "127.0.0.1:\(port)")
        let dialer = try await SyncNode.start(b, .init(peers: [peer]))
        // Not let in yet.
        #expect(await listener.status().peers.isEmpty)
        await listener.setPeers([Peer(name: "busan", node: b.identity.node, address: nil)])
        for try await stored in b.subscribe() where stored.event.header.id == id { break }
        var status = await dialer.status()
        for _ in 0..<2_400 where status.peers.first?.lacks != 0 {
            try await Task.sleep(for: .milliseconds(25))
            status = await dialer.status()
        }
        let found = try #require(status.peers.first)
        #expect(found.peer == peer && found.phase == .connected && found.lacks == 0 && found.lastError == nil)
        #expect(status.listeningPort == 0)
        await dialer.stop()
        await listener.stop()
        #expect(try await a.append([draft]).first?.receipt?.position ?? 0 > 2)
        a.close()
        b.close()
    }

    @Test(
        "An address that cannot be listened at is told with a code", arguments: ["here", "127.0.0.1", "192.0.2.1:1"])
    func address(text: String) async throws {
        let store = try Self.store("seoul")
        defer { store.close() }
        do {
            _ = try await SyncNode.start(store, .init(listen: text))
            Issue.record("it listens at \(text)")
        } catch {
            #expect(error.code == "E_PEERS" && !error.isRetriable && error.description.contains(text))
        }
    }

    @Test(
        "A store has one node at a time: a second one is refused until the first is stopped, and one that failed is none"
    )
    func second() async throws {
        let store = try Self.store("seoul")
        defer { store.close() }
        await #expect(throws: NodeError.self) { try await SyncNode.start(store, .init(listen: "192.0.2.1:1")) }
        let first = try await SyncNode.start(store, .init(listen: "127.0.0.1:0"))
        do {
            let second = try await SyncNode.start(store, .init())
            Issue.record("a store has two nodes")
            await second.stop()
        } catch {
            #expect(error.code == "E_LOCKED" && error.isRetriable && error.description.contains("stop that one"))
        }
        // The first is none the worse for it.
        #expect(await first.status().listeningPort != 0)
        await first.stop()
        let next = try await SyncNode.start(store, .init())
        // What was stopped before does not give away what is another's now.
        await first.stop()
        await #expect(throws: NodeError.self) { try await SyncNode.start(store, .init()) }
        await next.stop()
    }

    @Test("An error of the store keeps its code")
    func errors() {
        #expect(NodeError.store(.busy("x")).code == "E_BUSY" && NodeError.store(.busy("x")).isRetriable)
        #expect(NodeError.tls("x").code == "E_STORE_FILE" && !NodeError.tls("x").isRetriable)
    }
}

import EventStore
import SyncEngine

/// Two nodes in one process that replicate with each other over TLS on loopback. The article "Two nodes".
@MainActor
func twoNodes(in folder: String) async throws {
    for name in ["seoul", "busan"] { try EventStore.create(in: "\(folder)/\(name)", name: name, cluster: "clinic") }
    let seoul = try EventStore(opening: "\(folder)/seoul")
    let busan = try EventStore(opening: "\(folder)/busan")
    defer {
        seoul.close()
        busan.close()
    }

    // Each side pins the other's node id. One listens, the other dials.
    let listener = try await SyncNode.start(
        seoul, .init(listen: "127.0.0.1:0", peers: [Peer(name: "busan", node: busan.identity.node, address: nil)]))
    let port = await listener.status().listeningPort
    let dialer = try await SyncNode.start(
        busan,
        .init(peers: [Peer(name: "seoul", node: seoul.identity.node, address: "127.0.0.1:\(port)")]))

    // What is appended on one node arrives on the other.
    let draft = EventDraft(
        type: "message.posted", conversation: "c-88", user: "u-1029", payload: Array(#"{"text":"안녕하세요"}"#.utf8))
    guard let receipt = try await seoul.append([draft])[0].receipt else { throw NotSo("a message is stored") }
    for try await stored in busan.subscribe() where stored.event.header.id == receipt.id {
        try expect(stored.event.header.dot == receipt.dot, "an event has the same name on both nodes")
        break
    }

    // A peer has acknowledged all of it once it lacks nothing.
    while await listener.status().peers.first?.lacks != 0 { try await Task.sleep(for: .milliseconds(10)) }
    try expect(await dialer.status().peers.first?.phase == .connected, "the nodes are connected")
    try await expectEqual(EventReader(seoul), EventReader(busan))

    await dialer.stop()
    await listener.stop()
}

/// Nodes with the same events show the same history.
func expectEqual(_ one: EventReader, _ other: EventReader) async throws {
    let (a, b) = (try await ids(one), try await ids(other))
    try expect(!a.isEmpty && a == b, "both nodes show the same history")
}

func ids(_ reader: EventReader) async throws -> [EventID] {
    try await reader.read { try $0.history(of: "u-1029").map(\.stored.event.header.id) }
}

internal import EventStore
internal import SyncEngine

/// A log to an empty node as a snapshot, over TLS on loopback, both nodes in this process. What is measured ends when all
/// events are proved and durable; the views follow.
enum SnapshotBenchmark {
    static func run(_ full: String, _ empty: String) throws {
        let store = try EventStore(opening: full)
        try store.flushBlocking()
        try snapshot(store, empty)
        store.close()
    }

    /// A listening node for `full` that knows `empty`, and how `empty` names it.
    private static func serve(_ full: EventStore, _ empty: StoreIdentity) throws -> (node: SyncNode, peer: Peer) {
        let caller = Peer(name: "empty", node: empty.node, address: nil)
        let node = try SyncNode(store: full, listen: HostPort("127.0.0.1:0"), peers: [caller], software: "bench")
        let address = "127.0.0.1:\(node.status().listeningPort)"
        return (node, Peer(name: "full", node: full.identity.node, address: address))
    }

    private static func holds(_ vector: VersionVector, _ wanted: VersionVector) -> Bool {
        wanted.entries.allSatisfy { vector[$0.origin] >= $0.seq }
    }

    private static func make(_ folder: String) throws -> EventStore {
        try EventStore.create(in: folder, name: "empty")
        return try EventStore(opening: folder)
    }

    private static func snapshot(_ full: EventStore, _ folder: String) throws {
        let wanted = try LogReader(full.files).vector()
        let count = wanted.entries.reduce(0) { $0 + $1.seq }
        let empty = try make(folder)
        let (server, peer) = try serve(full, empty.identity)
        let isReady = Monitor(false)
        let stretch = Stretch()
        let start = MonotonicClock.now
        let node = try SyncNode(
            store: empty, listen: nil, peers: [peer], software: "bench", snapshots: SnapshotOptions(after: 1),
            onSnapshot: {
                isReady.update {
                    $0 = true
                    return true
                }
            })
        guard isReady.wait(milliseconds: 600_000, for: { $0 ? true : nil }) != nil else {
            throw BenchmarkError("no snapshot: \(node.status())")
        }
        try stretch.end(events: Int(count))
        node.stop()
        server.stop()
        empty.close()
        let opened = try BenchmarkStore(folder, withViews: false)
        let vector = try LogReader(opened.store.files).vector()
        guard holds(vector, wanted) else {
            throw BenchmarkError("the snapshot lacks events")
        }
        report("open_ms", Double(MonotonicClock.now - start) / 1_000_000)
        opened.close()
        let viewed = try BenchmarkStore(folder, withViews: true)
        report("views_ms", Double(MonotonicClock.now - start) / 1_000_000)
        viewed.close()
    }
}

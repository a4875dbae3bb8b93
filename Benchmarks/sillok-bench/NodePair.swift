internal import EventStore
internal import SyncEngine

/// Two nodes in this process, connected over TLS on loopback: b calls a.
struct NodePair {
    let a: BenchmarkStore
    let b: BenchmarkStore
    private let listener: SyncNode
    private let logs: (LogReader, LogReader)
    private var caller: SyncNode?

    init(_ folderA: String, _ folderB: String) throws {
        a = try BenchmarkStore(folderA, name: "a", withViews: true)
        b = try BenchmarkStore(folderB, name: "b", withViews: true)
        logs = (try LogReader(a.store.files), try LogReader(b.store.files))
        try a.store.flushBlocking()
        let peer = Peer(name: "b", node: b.store.identity.node, address: nil)
        listener = try SyncNode(store: a.store, listen: HostPort("127.0.0.1:0"), peers: [peer], software: "bench")
    }

    /// Lets b call a.
    mutating func connect() throws {
        let peer = Peer(
            name: "a", node: a.store.identity.node, address: "127.0.0.1:\(listener.status().listeningPort)")
        caller = try SyncNode(
            store: b.store, listen: nil, peers: [peer], software: "bench", snapshots: SnapshotOptions(after: 0))
    }

    /// Blocks until both have the same events, durably, and all views of b are fresh.
    func waitUntilEqual() throws {
        let start = MonotonicClock.now
        while try logs.0.vector() != logs.1.vector() {
            guard MonotonicClock.now - start < 600_000_000_000 else {
                throw BenchmarkError("the nodes did not become equal: \(listener.status())")
            }
            sleepMilliseconds(5)
        }
        try b.waitForViews()
    }

    /// Fails if the Merkle roots differ, then ends both nodes.
    func close() throws {
        let areEqual = try a.store.progressBlocking() == b.store.progressBlocking()
        for node in [caller, listener] { node?.stop() }
        for store in [b, a] { store.close() }
        guard areEqual else { throw BenchmarkError("equal vectors, but other roots") }
    }
}

internal import EventStore
internal import SyncEngine

/// The same log to an empty node in both ways, in turn: events one by one, and a snapshot; over TLS on loopback, both nodes
/// in this process. Durable and proved is what both are measured to.
enum SnapshotBenchmark {
    private static let rounds = 3

    static func run(_ folder: String, _ drafts: [EventDraft]) throws {
        let full = try makeStore(folder + "/full", name: "full")
        try full.fill(drafts[...], batch: 4_000)
        try full.flushBlocking()
        for round in 0..<rounds {
            try catchUp(full, folder + "/caught-\(round)", drafts.count)
            try snapshot(full, folder + "/copied-\(round)", drafts.count)
        }
        full.close()
    }

    /// A listening node for `full` that knows `empty`, and how `empty` names it.
    private static func serve(_ full: EventStore, _ empty: StoreIdentity) throws -> (node: SyncNode, peer: Peer) {
        let caller = Peer(name: "empty", node: empty.node, address: nil)
        let node = try SyncNode(store: full, listen: HostPort("127.0.0.1:0"), peers: [caller], software: "bench")
        let address = "127.0.0.1:\(node.status().listeningPort)"
        return (node, Peer(name: "full", node: full.identity.node, address: address))
    }

    private static func wait(_ what: String, _ isDone: () throws -> Bool) throws {
        let start = MonotonicClock.now
        while try !isDone() {
            guard MonotonicClock.now - start < 600_000_000_000 else { throw BenchmarkError("no end: \(what)") }
            sleepMilliseconds(2)
        }
    }

    private static func catchUp(_ full: EventStore, _ folder: String, _ count: Int) throws {
        let empty = try makeStore(folder, name: "empty")
        let (server, peer) = try serve(full, empty.identity)
        let (cpu, start) = (cpuTime(), MonotonicClock.now)
        let node = try SyncNode(
            store: empty, listen: nil, peers: [peer], software: "bench", snapshots: SnapshotOptions(after: 0))
        let log = try LogReader(empty.files)
        let origin = full.identity.origin
        try wait("catching up") { try log.vector()[origin] == UInt64(count) + 1 }
        report("6. all events one by one", events: count, elapsed: MonotonicClock.now - start, cpu: cpuTime() - cpu)
        for running in [node, server] { running.stop() }
        empty.close()
    }

    private static func snapshot(_ full: EventStore, _ folder: String, _ count: Int) throws {
        let empty = try makeStore(folder, name: "empty")
        let (server, peer) = try serve(full, empty.identity)
        let isReady = Monitor(false)
        let (cpu, start) = (cpuTime(), MonotonicClock.now)
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
        report("6. a snapshot of them", events: count, elapsed: MonotonicClock.now - start, cpu: cpuTime() - cpu)
        node.stop()
        server.stop()
        empty.close()
        let opened = try EventStore(opening: folder)
        guard try opened.progressBlocking().contains(where: { $0.seq == UInt64(count) + 1 }) else {
            throw BenchmarkError("the snapshot lacks events")
        }
        report("6. a snapshot of them, in use again after (ms)", Double(MonotonicClock.now - start) / 1_000_000)
        let views = ProjectorThread(opened.files, top: UInt64(count) + 2)
        try wait("views") { views.applied >= UInt64(count) + 2 }
        report("6. a snapshot of them, views fresh after (ms)", Double(MonotonicClock.now - start) / 1_000_000)
        views.stop()
        opened.close()
    }
}

internal import EventStore
internal import SyncEngine

/// An empty node learns all that another has, over TLS on loopback; both nodes live in this process.
enum CatchUpBenchmark {
    private static let measured = 300_000

    static func run(_ folder: String, _ drafts: [EventDraft]) throws {
        guard drafts.count >= measured else { throw BenchmarkError("too few records") }
        let full = try makeStore(folder + "/a", name: "a")
        try full.fill(drafts[..<measured], batch: 4_000)
        try full.flushBlocking()
        let empty = try makeStore(folder + "/b", name: "b")
        let caller = Peer(name: "b", node: empty.identity.node, address: nil)
        let a = try SyncNode(
            store: full, listen: HostPort("127.0.0.1:0"), peers: [caller], software: "bench",
            snapshots: SnapshotOptions(after: 0))
        let called = Peer(name: "a", node: full.identity.node, address: "127.0.0.1:\(a.status().listeningPort)")
        let logs = (try LogReader(full.files), try LogReader(empty.files))
        let cpu = cpuTime()
        let start = MonotonicClock.now
        let b = try SyncNode(
            store: empty, listen: nil, peers: [called], software: "bench", snapshots: SnapshotOptions(after: 0))
        while try logs.0.vector() != logs.1.vector() {
            guard MonotonicClock.now - start < 600_000_000_000 else {
                throw BenchmarkError("the nodes did not become equal: \(b.status())")
            }
            sleepMilliseconds(5)
        }
        let elapsed = MonotonicClock.now - start
        let used = cpuTime() - cpu
        guard try full.progressBlocking() == empty.progressBlocking() else {
            throw BenchmarkError("equal vectors, but other roots")
        }
        for node in [b, a] { node.stop() }
        for store in [empty, full] { store.close() }
        report("4. catch-up of an empty node", events: measured, elapsed: elapsed, cpu: used)
    }
}

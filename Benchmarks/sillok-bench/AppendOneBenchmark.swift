internal import EventStore

/// One event in one durable commit, again and again, in a store that has some already.
enum AppendOneBenchmark {
    private static let before = 50_000
    private static let measured = 5_000

    static func run(_ folder: String, _ drafts: [EventDraft]) throws {
        guard drafts.count >= before + measured else { throw BenchmarkError("too few records") }
        let store = try makeStore(folder)
        try store.fill(drafts[..<before], batch: 1_000)
        try store.flushBlocking()
        var latencies: [UInt64] = []
        latencies.reserveCapacity(measured)
        for draft in drafts[before..<before + measured] {
            latencies.append(try nanoseconds { try store.fill([draft], batch: 1) })
        }
        store.close()
        report("1. durable append of one event", latencies: latencies)
    }
}

internal import EventStore
internal import SyncEngine

/// An empty node learns all that another has: every event verified, durable, and in every view.
enum CatchUpBenchmark {
    static func run(_ full: String, _ empty: String) throws {
        let events = Int(try LogReader(StoreFiles(full)).top())
        var pair = try NodePair(full, empty)
        let stretch = Stretch()
        try pair.connect()
        try pair.waitUntilEqual()
        try stretch.end(events: events)
        try pair.close()
    }
}

/// One event after another at a, until b has it: durable in its log (`durable_`), and seen by readers of its views.
enum LiveBenchmark {
    static func run(_ place: Place, _ other: String) throws {
        var pair = try NodePair(place.folder, other)
        try pair.connect()
        try pair.waitUntilEqual()
        let b = pair.b
        guard let views = b.projector else { throw BenchmarkError("b has no views") }
        let arrivals = Monitor<(top: UInt64, at: UInt64)>((0, 0))
        let token = b.store.observeCommits { notice in
            arrivals.update { state in
                state = (notice.top, MonotonicClock.now)
                return true
            }
        }
        var latencies: (acknowledged: [UInt64], durable: [UInt64], visible: [UInt64]) = ([], [], [])
        var top = try LogReader(b.store.files).top()
        for draft in try Records.read(place.data, from: place.from, count: place.count) {
            top += 1
            let start = MonotonicClock.now
            try pair.a.append([draft])
            latencies.acknowledged.append(MonotonicClock.now - start)
            guard
                let arrived = arrivals.wait(milliseconds: 20_000, for: { $0.top >= top ? $0.at : nil }),
                views.wait(for: top, milliseconds: 20_000)
            else { throw BenchmarkError("event \(top) never arrived") }
            latencies.visible.append(MonotonicClock.now - start)
            latencies.durable.append(arrived - start)
            sleepMilliseconds(1)
        }
        b.store.removeObserver(token)
        try pair.close()
        report("ack_", latencies: latencies.acknowledged)
        report("durable_", latencies: latencies.durable)
        report(latencies: latencies.visible)
    }
}

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
        let arrivals = Monitor(Arrivals())
        let token = b.store.observeCommits { notice in arrivals.update { $0.arrived(notice.top) } }
        let first = try LogReader(b.store.files).top() + 1
        let drafts = try Records.read(place.data, from: place.from, count: place.count)
        // A reader of b, as one that waits in a subscription.
        let reader = WorkerThread(name: "reader") {
            for top in first..<first + UInt64(drafts.count) {
                guard views.wait(for: top, milliseconds: 20_000) else { break }
                let now = MonotonicClock.now
                arrivals.update { $0.isSeen(top, now) }
            }
        }
        var latencies: (acknowledged: [UInt64], durable: [UInt64], visible: [UInt64]) = ([], [], [])
        for (top, draft) in zip(first..., drafts) {
            let start = MonotonicClock.now
            try pair.a.append([draft])
            latencies.acknowledged.append(MonotonicClock.now - start)
            guard let times = arrivals.wait(milliseconds: 20_000, for: { $0.times(of: top) }) else {
                throw BenchmarkError("event \(top) never arrived")
            }
            latencies.durable.append(times.durable - start)
            latencies.visible.append(times.visible - start)
            sleepMilliseconds(1)
        }
        reader.join()
        b.store.removeObserver(token)
        try pair.close()
        report("ack_", latencies: latencies.acknowledged)
        report("durable_", latencies: latencies.durable)
        report(latencies: latencies.visible)
    }
}

/// How far b is, and since when.
private struct Arrivals {
    private var durable: (top: UInt64, at: UInt64) = (0, 0)
    private var visible: (top: UInt64, at: UInt64) = (0, 0)

    mutating func arrived(_ top: UInt64) -> Bool {
        durable = (top, MonotonicClock.now)
        return visible.top >= top
    }

    mutating func isSeen(_ top: UInt64, _ now: UInt64) -> Bool {
        visible = (top, now)
        return true
    }

    func times(of top: UInt64) -> (durable: UInt64, visible: UInt64)? {
        min(durable.top, visible.top) >= top ? (durable.at, visible.at) : nil
    }
}

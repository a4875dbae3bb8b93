internal import EventStore

/// The last fifty events of a user, with their payloads, from a store whose views are fresh.
enum HistoryBenchmark {
    private static let page = 50

    static func run(_ folder: String, queries: Int) throws {
        let reader = try ViewReader(StoreFiles(folder))
        guard try reader.progress() == reader.log.top() else { throw BenchmarkError("the views are not fresh") }
        var query = TimelineQuery()
        query.limit = .last(page)
        var latencies: [UInt64] = []
        var rows = 0
        var bytes = 0
        func ask(_ random: inout SplitMix) throws {
            let user = Records.userName(random.below(Records.activeUsers))
            let elapsed = try nanoseconds {
                try reader.history(user: user, query) { entry in
                    rows += 1
                    bytes += entry.stored.event.payload?.count ?? 0
                    return true
                }
            }
            latencies.append(elapsed)
        }
        // Once more before the clock starts: caches are warm for everyone.
        var random = SplitMix(state: 6)
        for _ in 0..<queries { try ask(&random) }
        (random, rows, latencies) = (SplitMix(state: 5), 0, [])
        let stretch = Stretch()
        for _ in 0..<queries { try ask(&random) }
        try stretch.end(events: queries)
        guard bytes > 0 else { throw BenchmarkError("the histories are empty") }
        report("rows", Double(rows) / Double(queries))
        report(latencies: latencies)
    }
}

/// Every event of a log in order, decoded into Swift values.
enum ReplayBenchmark {
    static func run(_ folder: String) throws {
        let files = StoreFiles(folder)
        let top = try LogReader(files).top()
        var (rows, bytes) = (0, 0)
        let stretch = Stretch()
        try LogReplay(files, through: top).forEach { stored in
            rows += 1
            bytes += stored.event.payload?.count ?? 0
            return true
        }
        try stretch.end(events: rows)
        guard bytes > 0 else { throw BenchmarkError("the log is empty") }
        report("rows", Double(rows))
    }
}

internal import EventStore

/// The last fifty events of a user, with their payloads, from a store whose views are fresh.
enum HistoryBenchmark {
    private static let queries = 2_000
    private static let page = 50

    static func run(_ folder: String) throws {
        let reader = try ViewReader(StoreFiles(folder))
        guard try reader.progress() == reader.log.top() else { throw BenchmarkError("the views are not fresh") }
        var query = TimelineQuery()
        query.limit = .last(page)
        var random = SplitMix(state: 5)
        var latencies: [UInt64] = []
        var rows = 0
        var bytes = 0
        for _ in 0..<queries {
            let user = Records.userName(random.below(Records.activeUsers))
            latencies.append(
                try nanoseconds {
                    try reader.history(user: user, query) { entry in
                        rows += 1
                        bytes += entry.stored.event.payload?.count ?? 0
                        return true
                    }
                })
        }
        guard bytes > 0 else { throw BenchmarkError("the histories are empty") }
        report("5. last \(page) events of a user", latencies: latencies)
        report("5. rows of each answer (mean)", Double(rows) / Double(queries))
    }
}

internal import EventStore
internal import Synchronization

/// Durable commits into a store that has some events already.
enum AppendBenchmark {
    /// `batch` events in a commit, one caller that waits for each. The clock stops when readers of every view see the last
    /// event; `searchable_rate` counts until searches find all, and `settled_rate` until no row waits in a tail any more.
    static func batches(_ place: Place, batch: Int, withViews: Bool) throws {
        let store = try BenchmarkStore(place.folder, withViews: withViews)
        var latencies: [UInt64] = []
        var parts: [[EventDraft]] = []
        for part in stride(from: 0, to: place.count, by: batch) {
            parts.append(
                try Records.read(place.data, from: place.from + part, count: min(batch, place.count - part)))
        }
        let stretch = Stretch()
        for part in parts { latencies.append(try nanoseconds { try store.append(part) }) }
        report("log_rate", stretch.rate(events: place.count))
        try store.waitForViews()
        try stretch.end(events: place.count)
        try store.waitForSearch()
        if withViews { report("searchable_rate", stretch.rate(events: place.count)) }
        store.close()
        if withViews {
            try settle(place.folder)
            report("settled_rate", stretch.rate(events: place.count))
        }
        report(latencies: latencies)
    }

    /// Brings the views to rest, as the daemon does when nothing happens: their tails are merged.
    private static func settle(_ folder: String) throws {
        try Projector.catchUp(StoreFiles(folder))
    }

    /// Fills a store with as many events as one may want: records are read as they are needed.
    static func fill(_ place: Place) throws {
        let store = try BenchmarkStore(place.folder, withViews: true)
        let batch = EventStore.maximumBatch
        for part in stride(from: 0, to: place.count, by: batch) {
            try store.append(
                try Records.read(place.data, from: place.from + part, count: min(batch, place.count - part)))
            // As the daemon refuses appends when the views are too far behind, so this waits.
            if part / batch % 64 == 63 { try store.waitForViews() }
        }
        try rest(store, in: place.folder)
    }

    /// Has the views of a copied store made anew: they are not the files that its node left. Else that would be a part of what is measured.
    static func settleCopy(_ folder: String) throws {
        try rest(BenchmarkStore(folder, withViews: true), in: folder)
    }

    /// Closes the store when all its views have what the log has, and brings them to rest.
    private static func rest(_ store: BenchmarkStore, in folder: String) throws {
        try store.waitForViews()
        try store.waitForSearch()
        store.close()
        try settle(folder)
    }

    /// One event in a commit of its own, as far as each client can tell. One client is a thread that blocks; several are
    /// tasks.
    static func clients(_ place: Place, clients: Int, withViews: Bool) async throws {
        let store = try BenchmarkStore(place.folder, withViews: withViews)
        defer { store.close() }
        let drafts = try Records.read(place.data, from: place.from, count: place.count)
        let stretch = Stretch()
        var latencies: [UInt64] = []
        if clients == 1 {
            latencies.reserveCapacity(drafts.count)
            for draft in drafts { latencies.append(try nanoseconds { try store.append([draft]) }) }
        } else {
            // Each takes the next one when its last is acknowledged, so that ids, which have the time in front, come in the order of
            // time, as those of clients that live do.
            let supply = Supply(drafts)
            latencies = try await withThrowingTaskGroup(of: [UInt64].self) { group in
                for _ in 0..<clients { group.addTask { try await Self.send(supply, to: store) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
        }
        try stretch.end(events: drafts.count)
        try store.waitForViews()
        report(latencies: latencies)
    }

    private static func send(_ supply: Supply, to store: BenchmarkStore) async throws -> [UInt64] {
        var latencies: [UInt64] = []
        while let draft = supply.next() {
            let start = MonotonicClock.now
            try await store.append(draft)
            latencies.append(MonotonicClock.now - start)
        }
        return latencies
    }
}

/// What the clients take their records from.
private final class Supply: Sendable {
    private let drafts: [EventDraft]
    private let taken = Atomic(0)

    init(_ drafts: [EventDraft]) { self.drafts = drafts }

    func next() -> EventDraft? {
        let index = taken.wrappingAdd(1, ordering: .relaxed).oldValue
        return index < drafts.count ? drafts[index] : nil
    }
}

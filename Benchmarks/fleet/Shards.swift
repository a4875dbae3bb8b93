internal import EventStore
internal import Glibc
internal import Synchronization

/// Clients that wait for each of their events, over one store or several: commits of different stores cannot share a sync.
enum Shards {
    static func run(_ folder: String, stores: Int, clients: Int, events: Int) async throws {
        var open: [EventStore] = []
        for index in 0..<stores {
            let place = "\(folder)/\(index)"
            if !StoreFiles(place).exists { try EventStore.create(in: place, name: "n", cluster: "c-\(index)") }
            open.append(try EventStore(opening: place))
        }
        let all = open
        let taken = Counter()
        let before = syncs(all)
        let begin = MonotonicClock.now
        let cpu = cpuTime()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients {
                group.addTask {
                    var random = SplitMix(state: UInt64(client))
                    while taken.next() < events { try await send(all[Int(random.below(UInt64(all.count)))], &random) }
                }
            }
            try await group.waitForAll()
        }
        let seconds = Double(MonotonicClock.now - begin) / 1_000_000_000
        let made = Double(max(1, syncs(all) - before))
        report("events_a_second", Double(events) / seconds)
        report("syncs_a_second", made / seconds)
        report("events_a_sync", Double(events) / made)
        report("cpu_us_an_event", Double(cpuTime() - cpu) / 1_000 / Double(events))
        for store in all { store.close() }
    }

    private static func send(_ store: EventStore, _ random: inout SplitMix) async throws {
        let payload = #"{"text":"\#(String(repeating: "어제부터 두통이 심해요 ", count: 8))"}"#
        let draft = EventDraft(
            type: "message.posted", conversation: "c-\(random.below(10_000))", user: "u-\(random.below(1_000))",
            payload: Array(payload.utf8))
        guard case .appended = try await store.append([draft], atomicity: .each).first else {
            throw FleetError("an event was not appended")
        }
    }

    private static func syncs(_ stores: [EventStore]) -> UInt64 {
        stores.reduce(0) { $0 + $1.syncTimes.counts.reduce(0, +) }
    }

    static func cpuTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

private final class Counter: Sendable {
    private let taken = Atomic(0)

    func next() -> Int { taken.wrappingAdd(1, ordering: .relaxed).oldValue }
}

internal import EventStore
internal import Glibc

/// What open stores take of a process that does nothing with them.
enum OpenStores {
    static func run(_ folder: String, count: Int) throws {
        for index in 0..<count where !StoreFiles("\(folder)/\(index)").exists {
            try EventStore.create(in: "\(folder)/\(index)", name: "n", cluster: "c-\(index)")
            // As one that was used: some events, and views.
            let store = try EventStore(opening: "\(folder)/\(index)")
            let reader = try EventReader(store)
            for start in stride(from: 0, to: 1_000, by: 100) {
                _ = try store.appendBlocking((start..<start + 100).map(draft), atomicity: .each)
            }
            _ = try reader.history(of: "u-1", limit: 1)
            store.close()
        }
        report("before_pss_kib", try memory())
        let before = MonotonicClock.now
        var open: [(EventStore, EventReader)] = []
        for index in 0..<count {
            let store = try EventStore(opening: "\(folder)/\(index)")
            open.append((store, try EventReader(store)))
        }
        report("open_ms", Double(MonotonicClock.now - before) / 1_000_000)
        sleep(3)
        try tell("idle")
        // Each is written to and read once: what it takes from then on.
        for (store, reader) in open {
            _ = try store.appendBlocking([draft(1)], atomicity: .each)
            _ = try reader.history(of: "u-1", limit: 10)
        }
        sleep(3)
        try tell("used")
        let cpu = Shards.cpuTime()
        sleep(10)
        report("idle_cpu_ms_a_second", Double(Shards.cpuTime() - cpu) / 1_000_000 / 10)
        for (store, _) in open { store.close() }
    }

    private static func draft(_ number: Int) -> EventDraft {
        EventDraft(
            type: "message.posted", conversation: "c-\(number % 50)", user: "u-\(number % 20)",
            payload: Array(#"{"text":"어제부터 두통이 심해요 \#(number)"}"#.utf8))
    }

    private static func tell(_ name: String) throws {
        report("\(name)_pss_kib", try memory())
        report("\(name)_threads", try entries("/proc/self/task"))
        report("\(name)_descriptors", try entries("/proc/self/fd") - 1)
    }

    /// The process' share of what it has in memory, KiB.
    private static func memory() throws -> Double {
        let text = String(decoding: try SmallFile.read("/proc/self/smaps_rollup") ?? [], as: UTF8.self)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Pss:") }),
            let value = line.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        else { throw FleetError("no smaps_rollup") }
        return value
    }

    private static func entries(_ folder: String) throws -> Double {
        guard let handle = opendir(folder) else { throw FleetError("cannot read \(folder)") }
        defer { closedir(handle) }
        var count = -2
        while readdir(handle) != nil { count += 1 }
        return Double(count)
    }
}

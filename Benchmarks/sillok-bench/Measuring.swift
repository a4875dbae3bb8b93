internal import EventStore
internal import Glibc

/// Prints `metric TAB side TAB value`, which ``ResultTable`` reads. floor.c prints the same.
func report(_ metric: String, _ value: Double) {
    print("\(metric)\tsillok\t\(value)")
}

/// Prints the median and the 99th percentile of latencies in nanoseconds, as microseconds.
func report(_ metric: String, latencies: [UInt64]) {
    let sorted = latencies.sorted()
    func percentile(_ percent: Int) -> Double { Double(sorted[(sorted.count - 1) * percent / 100]) / 1_000 }
    report("\(metric), p50 (µs)", percentile(50))
    report("\(metric), p99 (µs)", percentile(99))
}

/// Nanoseconds that `body` takes.
func nanoseconds(_ body: () throws -> Void) rethrows -> UInt64 {
    let start = MonotonicClock.now
    try body()
    return MonotonicClock.now - start
}

func perSecond(_ count: Int, _ nanoseconds: UInt64) -> Double {
    Double(count) * 1_000_000_000 / Double(nanoseconds)
}

/// CPU time of all threads of this process, in nanoseconds.
func cpuTime() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Prints the rate, and what each event took of the CPUs.
func report(_ name: String, events: Int, elapsed: UInt64, cpu: UInt64) {
    report("\(name) (events/s)", perSecond(events, elapsed))
    report("\(name), CPU (µs/event)", Double(cpu) / 1_000 / Double(events))
}

/// Bytes that this process made the kernel write to disk so far (`write_bytes` of proc(5)).
func writtenBytes() throws -> UInt64 {
    let name = "write_bytes: "
    let text = String(decoding: try SmallFile.read("/proc/self/io") ?? [], as: UTF8.self)
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
        let bytes = UInt64(line.dropFirst(name.count))
    else { throw BenchmarkError("/proc/self/io says nothing of \(name)") }
    return bytes
}

/// A new store.
func makeStore(_ folder: String, name: String = "bench") throws -> EventStore {
    try EventStore.create(in: folder, name: name)
    return try EventStore(opening: folder)
}

extension EventStore {
    /// Appends all drafts, `batch` in one commit, and fails if one is not stored.
    func fill(_ drafts: ArraySlice<EventDraft>, batch: Int) throws {
        var start = drafts.startIndex
        while start < drafts.endIndex {
            let end = min(start + batch, drafts.endIndex)
            let outcomes = try appendBlocking(Array(drafts[start..<end]), atomicity: .each)
            guard outcomes.allSatisfy({ if case .appended = $0 { true } else { false } }) else {
                throw BenchmarkError("an event was not appended")
            }
            start = end
        }
    }
}

internal import EventStore
internal import Glibc

/// Prints `metric TAB value`, which Benchmarks/compare reads. common/bench.h prints the same.
func report(_ metric: String, _ value: Double) {
    print("\(metric)\t\(value)")
}

/// Prints median, 99th percentile and maximum of latencies in nanoseconds, as microseconds.
func report(_ prefix: String = "", latencies: [UInt64]) {
    let sorted = latencies.sorted()
    func percentile(_ percent: Int) -> Double { Double(sorted[(sorted.count - 1) * percent / 100]) / 1_000 }
    for (name, percent) in [("p50_us", 50), ("p99_us", 99), ("max_us", 100)] {
        report(prefix + name, percentile(percent))
    }
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

/// A measured stretch of this process.
struct Stretch {
    private let start = MonotonicClock.now
    private let cpu = cpuTime()
    private let written = (try? writtenBytes()) ?? 0

    /// Prints the rate, and what each event took of the CPUs and the disk.
    func end(events: Int) throws {
        let elapsed = MonotonicClock.now - start
        report("rate", perSecond(events, elapsed))
        report("cpu_us", Double(cpuTime() - cpu) / 1_000 / Double(events))
        report("written", Double(try writtenBytes() - written) / Double(events))
    }

    /// Events per second up to now.
    func rate(events: Int) -> Double { perSecond(events, MonotonicClock.now - start) }
}

/// Bytes that this process handed to the kernel to be written so far (`wchar` of proc(5)). `write_bytes` beside it counts a whole
/// folio of the page cache for each page of it, five times what the disk gets.
func writtenBytes() throws -> UInt64 {
    let name = "wchar: "
    let text = String(decoding: try SmallFile.read("/proc/self/io") ?? [], as: UTF8.self)
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
        let bytes = UInt64(line.dropFirst(name.count))
    else { throw BenchmarkError("/proc/self/io says nothing of \(name)") }
    return bytes
}

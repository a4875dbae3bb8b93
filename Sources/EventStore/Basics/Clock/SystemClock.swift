internal import Glibc

/// A clock that says Unix milliseconds; tests have clocks of their own.
package typealias WallTime = @Sendable () -> Int64

/// Nanoseconds that never go back (`CLOCK_MONOTONIC`).
package enum MonotonicClock {
    package static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// The wall clock, Unix milliseconds.
package enum WallClock {
    package static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// Blocks the calling thread. Never for Swift's cooperative pool.
package func sleepMilliseconds(_ milliseconds: Int) {
    usleep(useconds_t(clamping: milliseconds * 1_000))
}

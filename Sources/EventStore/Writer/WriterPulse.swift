/// How the writer of a log gets on, for those who watch it. To ask costs a lock and wakes no thread.
package struct WriterPulse: Sendable, Equatable {
    /// Whether nothing waits for it and no thread writes.
    package let isIdle: Bool
    /// When it was done with something last, nanoseconds of the monotonic clock.
    package let last: UInt64

    package init(isIdle: Bool, last: UInt64) {
        self.isIdle = isIdle
        self.last = last
    }
}

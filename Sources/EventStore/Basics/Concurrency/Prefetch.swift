internal import CLinux

/// Asks the processor for `count` bytes at `address` and does not wait for them: for what will be looked up in no order that
/// it can foresee, in memory that its caches do not hold.
@inline(__always)
func prefetch(_ address: UnsafeRawPointer, _ count: Int = 1) { sillok_prefetch(address, count) }

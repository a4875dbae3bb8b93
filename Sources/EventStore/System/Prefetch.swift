internal import CLinux

/// Asks the processor for the memory at `address` and does not wait for it: for what is looked up in tables that its cache
/// does not hold, some time before it is needed.
@inline(__always)
func prefetch(_ address: UnsafeRawPointer) { sillok_prefetch(address, 1) }

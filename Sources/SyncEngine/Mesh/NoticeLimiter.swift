/// Keeps strangers from filling the log: of notices of one kind a few are told, then one every few seconds with how many
/// were left out.
struct NoticeLimiter: Sendable {
    /// Told at once before it begins to count.
    private static let burst = 5
    /// Monotonic milliseconds between two notices after that.
    private static let pause: UInt64 = 10_000

    private var told = 0
    private var last = UInt64(0)
    private var omitted = 0

    /// The text to log at `now` (monotonic milliseconds); `nil` if it is to be left out.
    mutating func text(_ text: String, now: UInt64) -> String? {
        if now - min(last, now) >= Self.pause { told = 0 }
        guard told < Self.burst else {
            omitted += 1
            return nil
        }
        told += 1
        last = now
        defer { omitted = 0 }
        return omitted == 0 ? text : "\(text) (\(omitted) more like this were not logged)"
    }
}

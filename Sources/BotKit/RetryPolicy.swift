/// When a request that failed is made again.
package struct RetryPolicy: Equatable, Sendable {
    /// Requests in all, the first one included.
    package var attempts = 5
    /// The longest pause before the second request, in milliseconds; it doubles with each further one.
    package var first: UInt64 = 1_000
    /// The longest pause of all.
    package var longest: UInt64 = 60_000

    /// The longest pause that an endpoint may ask for.
    package static let longestAsked: UInt64 = 600_000

    package init() {}

    /// The pause before the next request, in milliseconds; `nil`: there is none.
    ///
    /// The endpoint's wish counts first, up to ``longestAsked``. Without one it is a random part of the longest pause of this attempt, so
    /// that workers that were refused together do not come back together.
    ///
    /// - Parameters:
    ///   - attempt: How many requests there were, from 1.
    ///   - chance: A random number.
    package func pause(after attempt: Int, _ fault: ModelFault, chance: UInt64) -> UInt64? {
        guard attempt < attempts, fault.isTransient else { return nil }
        if let asked = fault.retryAfter, asked > 0 { return min(UInt64(asked) * 1_000, Self.longestAsked) }
        let doublings = UInt64(min(max(attempt - 1, 0), 32))
        let most = min(first.multipliedReportingOverflow(by: 1 << doublings).partialValue, longest)
        return most == 0 ? 0 : chance % (most + 1)
    }
}

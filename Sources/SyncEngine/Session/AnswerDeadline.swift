/// Until when a peer may take to answer a question, monotonic milliseconds. The answer stands behind what the peer was sending already:
/// a large event takes long on a slow line, and while its bytes come the peer has longer.
struct AnswerDeadline: Hashable, Sendable {
    /// When nothing else comes.
    private static let patience: UInt64 = 10_000
    /// Nothing comes any more when nothing came for so long.
    private static let quiet: UInt64 = 3_000
    /// Whatever comes.
    private static let longest: UInt64 = 60_000

    /// When to look at it again.
    private(set) var due: UInt64
    private let latest: UInt64

    init(asked now: UInt64) {
        due = now + Self.patience
        latest = now + Self.longest
    }

    /// Whether the peer has taken too long.
    ///
    /// - Parameter heard: When the last bytes came.
    mutating func isOver(at now: UInt64, heard: UInt64) -> Bool {
        guard now >= due else { return false }
        due = max(due, min(heard + Self.quiet, latest))
        return now >= due
    }
}

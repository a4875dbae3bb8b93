/// Gives plausible, stable times to a set that has none: a minute of its own to each conversation or
/// profile, seven seconds to each turn.
struct InventedClock {
    private var next: Timestamp

    init(start: Timestamp) {
        next = start
    }

    /// The start of the next conversation.
    mutating func nextStart() -> Timestamp {
        defer { next = next.adding(seconds: 60) }
        return next
    }

    /// When turn `number`, counted from 1, of a conversation begun at `start` was said.
    static func time(ofTurn number: Int, from start: Timestamp) -> Timestamp {
        start.adding(seconds: 7 * number)
    }
}

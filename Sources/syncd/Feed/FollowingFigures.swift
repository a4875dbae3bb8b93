internal import EventStore
internal import Subscriptions

/// Who follows the log, in numbers.
struct FollowerFigures: Sendable {
    /// By face, each of them always there.
    var followers: [FeedRequest.Face.Name: Int] = [:]
    /// Those who have not taken what was written for them.
    var slow = 0
    /// From a commit until an event of it was written for one who waited for it.
    var delays = DurationHistogram()
}

/// Subscriptions that this node delivers, in numbers.
struct SubscriptionFigures: Sendable {
    /// One of them; of those behind ``mostNamed`` the sum, and the oldest age.
    struct One: Sendable {
        /// `nil`: of the others.
        var name: String?
        var tally = DeliveryTally()
        /// Events that were not looked at, from the first that is wanted.
        var behind: UInt64 = 0
        /// Events that were looked at and are not done.
        var open = 0
        var inFlight = 0
        var parked = 0
        /// For how long the first event that is not done has waited, milliseconds.
        var oldest: Int64 = 0
        /// How many of them look at no more events before some are done.
        var stalled = 0
        /// Conversations that have more open events than the window takes of one.
        var conversationsBehind = 0
        var workers = 0

        mutating func add(_ other: One) {
            tally.add(other.tally)
            behind += other.behind
            open += other.open
            inFlight += other.inFlight
            parked += other.parked
            oldest = max(oldest, other.oldest)
            stalled += other.stalled
            conversationsBehind += other.conversationsBehind
            workers += other.workers
        }
    }

    /// Most that have a label of their own: those that were made first.
    static let mostNamed = 100

    private(set) var all: [One] = []
    private var others: One?

    /// Adds the next one, in the order in which they were made.
    mutating func add(_ one: One) {
        if all.count < Self.mostNamed { return all.append(one) }
        var sum = others ?? One()
        sum.add(one)
        others = sum
    }

    var series: [One] { all + (others.map { [$0] } ?? []) }
}

/// Asks a thread for its figures, and does not wait for it for longer than a scrape may take.
///
/// ## Concurrency model
/// One monitor: the thread puts its figures there, the thread of the probes waits for them.
final class FigureDesk<Figures: Sendable>: Sendable {
    private struct State {
        var figures: Figures
        var asked: UInt64 = 0
        var answered: UInt64 = 0
    }

    private static var patience: Int { 1_000 }
    private let state: Monitor<State>

    init(_ figures: Figures) { state = Monitor(State(figures: figures)) }

    /// The figures as they are now; as they were, if the thread is busy.
    ///
    /// - Parameter ask: Has the thread run what it is given, then or later.
    func figures(_ ask: (@escaping @Sendable (Figures) -> Void) -> Void) -> Figures {
        let number = state.withLock { state in
            state.asked += 1
            return state.asked
        }
        ask { [state] figures in
            state.wakeAll { state in
                state.figures = figures
                state.answered = max(state.answered, number)
            }
        }
        let found = state.wait(milliseconds: Self.patience) { $0.answered >= number ? $0.figures : nil }
        return found ?? state.withLock { $0.figures }
    }
}

/// When the last commits were made known, by how far the log was durable then.
struct CommitTimes: Sendable {
    static let most = 1_024
    private var recent: [(top: UInt64, at: UInt64)] = []

    /// Adds later ones, monotonic nanoseconds.
    mutating func add(_ commits: [(top: UInt64, at: UInt64)]) {
        recent += commits
        if recent.count > 2 * Self.most { recent.removeFirst(recent.count - Self.most) }
    }

    /// When the event at `position` was committed; `nil` if that is not known any more.
    func time(of position: UInt64) -> UInt64? {
        var (low, high) = (0, recent.count)
        while low < high {
            let middle = (low + high) / 2
            if recent[middle].top < position { low = middle + 1 } else { high = middle }
        }
        return low < recent.count ? recent[low].at : nil
    }
}

package import EventStore

/// What came of deliveries, counted since the process began.
package struct DeliveryTally: Sendable, Equatable {
    /// How a delivery ended.
    package enum Outcome: String, CaseIterable, Sendable {
        /// The worker has said in time that the work is done.
        case acked
        /// It said so when the delivery had ended.
        case late
        /// The worker gave it back.
        case released
        /// The worker said nothing in time.
        case expired
        /// The worker's connection ended.
        case left
        /// The event was set aside.
        case parked

        /// Why it is handed out again, or set aside.
        var reason: String {
            switch self {
            case .expired: "not answered in time"
            case .left: "the worker's connection ended"
            case .acked, .late, .released, .parked: "released"
            }
        }
    }

    package private(set) var outcomes: [Outcome: UInt64] = [:]
    /// From handing out to the ack, of those that were acked in time.
    package private(set) var settling = DurationHistogram()

    package init() {}

    mutating func note(_ outcome: Outcome) { outcomes[outcome, default: 0] += 1 }

    mutating func noteAck(after milliseconds: UInt64) {
        note(.acked)
        settling.note(milliseconds * 1_000_000)
    }

    /// Puts another one to it.
    package mutating func add(_ other: DeliveryTally) {
        outcomes.merge(other.outcomes, uniquingKeysWith: +)
        settling.add(other.settling)
    }
}

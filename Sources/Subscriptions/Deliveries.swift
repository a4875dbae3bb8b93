package import EventStore

extension SubscriptionMachine {
    /// A delivery.
    package struct Given: Hashable, Sendable {
        package let dot: Dot
        /// In the log of this node.
        package let position: UInt64
        package let attempt: Int
        /// Of the run.
        package let number: UInt64
    }

    /// An event that is to be set aside: an event says so before it counts as done.
    package struct Parking: Hashable, Sendable {
        package let dot: Dot
        package let attempts: Int
        package let reason: String
        package let error: String?
    }

    /// Whether hardly any more events may be looked at. One that is done makes room for one: a full window with one free place is no end
    /// of it.
    package var isStalled: Bool { openCount >= bounds.capacity - bounds.capacity / 16 }

    /// What came of an ack.
    package enum Ack: Hashable, Sendable {
        case done
        /// It was not open here: it was done before, is not looked at yet, or is set aside.
        case notOpen
        /// It is done; another delivery of it was out.
        case late
        /// Too many were acked that this node has not looked at.
        case refused
    }
}

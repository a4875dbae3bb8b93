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

    /// What an ack is about to take away: how often the event was handed out, if it is open here.
    package struct Open: Hashable, Sendable {
        let attempts: Int
        let isRetried: Bool
    }
}

// Acks that could not be put away.
extension SubscriptionMachine {
    /// How the event is open; `nil` if it is not.
    package func open(_ dot: Dot) -> Open? {
        if let entry = entries[dot] { return Open(attempts: entry.attempts, isRetried: entry.isRetried) }
        return pending[dot].map { Open(attempts: $0.attempts, isRetried: false) }
    }

    /// The ack of this event does not count: who sent it was refused. The event comes again once the time of a delivery is over, in a line of
    /// its own: the next one of its key may be out.
    ///
    /// - Parameters:
    ///   - open: How it was open before the ack; `nil` if it was not.
    ///   - event: What this log has of it.
    package mutating func refused(
        _ dot: Dot, _ open: Open?, _ event: (header: EventHeader, position: UInt64)?, now: UInt64
    ) {
        guard entries[dot] == nil else { return }
        // It was not looked at, and is not so far.
        if early.remove(dot) != nil { return revision += 1 }
        guard let (header, position) = event else { return }
        revision += 1
        let (key, isRetried) = (definition.key(of: header), open?.isRetried ?? false)
        insert(
            dot, isRetried ? key : Self.aside(key), ConversationMark(of: header), position,
            attempts: min(open?.attempts ?? 0, definition.attempts - 1), isRetried: isRetried,
            notBefore: now + definition.ackWait)
    }
}

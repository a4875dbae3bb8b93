internal import EventStore

/// Whether a node hands out snapshots of its log, and whether it wants one.
package struct SnapshotPolicy: Hashable, Sendable {
    /// Whether empty peers may have one.
    package var offers: Bool
    /// This node's log is empty, and a peer with at least so many more events is asked for one; 0: it is not.
    package var after: UInt64
    /// Bytes of rows on their way to this node.
    package var window: UInt64

    package init(offers: Bool = false, after: UInt64 = 0, window: UInt64 = 8 << 20) {
        self.offers = offers
        self.after = after
        self.window = window
    }
}

/// What to read of a snapshot.
package struct SnapshotRead: Hashable, Sendable {
    package let offer: SnapshotOffer
    /// The rows up to here were read; ``SnapshotOffer/through`` when all were: then the proof is next.
    package let after: UInt64
    /// How many parts of the proof were read.
    package let parts: Int
    /// Longest body.
    package let bytes: Int
    /// Whether the peer reads zstd, and the piece is to be made smaller with it.
    package var compress: Bool
}

/// A part of a snapshot, ready to be sent.
package struct SnapshotPart: Hashable, Sendable {
    package let frame: Frame
    /// Position of its last row.
    package let last: UInt64
    /// Whether nothing follows.
    package let isEnd: Bool

    package init(frame: Frame, last: UInt64, isEnd: Bool) {
        self.frame = frame
        self.last = last
        self.isEnd = isEnd
    }
}

/// What was done with a part of a snapshot.
package enum SnapshotStored: Hashable, Sendable {
    /// The rows up to this position of the sender are right and kept.
    case rows(last: UInt64)
    /// A part of the proof was taken note of.
    case proof
    /// The whole log is proved and durable; it takes the old one's place when the store is opened again.
    case complete
}

/// How far a snapshot is.
package struct SnapshotStatus: Hashable, Sendable {
    package enum Phase: String, Hashable, Sendable {
        case sending, receiving, proving, complete
    }

    package let phase: Phase
    /// Rows sent or kept.
    package let done: UInt64
    /// Rows in all.
    package let total: UInt64
    package let bytes: UInt64
}

/// Where a session stands with a snapshot. At most one is offered in a session.
package struct SnapshotExchange: Sendable {
    package enum Role: Sendable {
        /// Events flow as ever. Next: `describing` at a node that offers, `opening` at one that wants.
        case none
        /// The store is asked what can be offered.
        case describing(RequestID)
        /// Next: `sending`, or `over` when the peer refuses.
        case offered(SnapshotOffer)
        case sending(Sending)
        /// The shell is asked whether it takes the offer.
        case opening(RequestID, SnapshotOffer)
        case receiving(Receiving)
        /// The log is there; this node is about to open its store again, and what still comes is passed over.
        case complete(SnapshotOffer)
        /// Refused or finished: events flow as ever.
        case over
    }

    package struct Sending: Sendable {
        package let offer: SnapshotOffer
        var after: UInt64
        var parts = 0
        var reading: RequestID?
        var isEnded = false
        var bytes = UInt64(0)
    }

    package struct Receiving: Sendable {
        package let offer: SnapshotOffer
        /// Parts being checked, and the bytes each takes of the window.
        var storing: [RequestID: Int] = [:]
        var waiting = 0
        var owed = 0
        var last: UInt64
        var isProving = false
        var bytes = UInt64(0)
        /// When the last part came, monotonic milliseconds.
        var heard: UInt64
    }

    package internal(set) var role = Role.none

    /// Whether events for the peer must wait.
    var holdsEvents: Bool {
        switch role {
        case .describing, .offered, .sending: true
        case .none, .opening, .receiving, .complete, .over: false
        }
    }

    /// A part of a part came: a long one over a slow line is no stall.
    mutating func heard(at now: UInt64) {
        guard case .receiving(var receiving) = role else { return }
        receiving.heard = max(receiving.heard, now)
        role = .receiving(receiving)
    }

    package var status: SnapshotStatus? {
        switch role {
        case .sending(let sending):
            SnapshotStatus(
                phase: .sending, done: sending.after, total: sending.offer.through, bytes: sending.bytes)
        case .receiving(let receiving):
            SnapshotStatus(
                phase: receiving.isProving ? .proving : .receiving, done: receiving.last,
                total: receiving.offer.through, bytes: receiving.bytes)
        case .complete(let offer):
            SnapshotStatus(phase: .complete, done: offer.through, total: offer.through, bytes: 0)
        case .none, .describing, .offered, .opening, .over: nil
        }
    }
}

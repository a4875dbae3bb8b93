package import EventStore

/// When something happens: both clocks are arguments, the session has none.
package struct Moment: Hashable, Sendable {
    /// Milliseconds that never go back.
    package let monotonic: UInt64
    /// Unix milliseconds; nothing is decided by it.
    package let wall: Int64

    package init(monotonic: UInt64, wall: Int64) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

/// Connects an effect with the input that answers it.
package struct RequestID: Hashable, Comparable, Sendable {
    package let number: UInt64
    package static func < (a: RequestID, b: RequestID) -> Bool { a.number < b.number }
}

/// What the session tells its shell to do. Plain values: a trace of them can be kept and compared.
package enum SessionEffect: Hashable, Sendable {
    /// Hand the frame to the link; control frames overtake data frames.
    case send(Frame, Lane)
    /// Accept bodies up to this many bytes from now on.
    case allowBodies(Int)
    /// Read events for the peer; answered by ``SyncSession/eventsRead(_:_:now:effects:)``.
    case read(RequestID, ReadRequest)
    /// Check and store the events in this frame; answered by ``SyncSession/eventsStored(_:_:now:effects:)``.
    case store(RequestID, Frame)
    /// Look into the histories in the log; answered by ``SyncSession/inspected(_:_:now:effects:)``.
    case inspect(RequestID, Inspection)
    /// Something about identities and histories that the node must act on.
    case report(IdentityReport)
    /// A node has told something that all are to know; nothing of it is checked yet.
    case shared(SharedState)
    /// Say what snapshot can be offered; answered by ``SyncSession/snapshotDescribed(_:_:now:effects:)``.
    case describeSnapshot(RequestID)
    /// Read a part of the snapshot; answered by ``SyncSession/snapshotRead(_:_:now:effects:)``.
    case readSnapshot(RequestID, SnapshotRead)
    /// Get ready for a snapshot, or refuse it; answered by ``SyncSession/snapshotOpened(_:_:now:effects:)``.
    case openSnapshot(RequestID, SnapshotOffer)
    /// Check and keep a part of the snapshot; answered by ``SyncSession/snapshotStored(_:_:now:effects:)``.
    case storeSnapshot(RequestID, Frame)
    /// The snapshot is refused: throw away what there is of it.
    case dropSnapshot(SessionFailure)
    /// The session is over. Close the link when what was sent has left.
    case close(SessionEnd)
}

/// Which queue a frame waits in.
package enum Lane: Hashable, Sendable {
    case control
    case data
}

/// What to read for a peer.
package struct ReadRequest: Hashable, Sendable {
    package enum Start: Hashable, Sendable {
        /// Where the first event stands that the peer lacks.
        case firstMissing
        /// Everything up to this position was read before.
        case after(UInt64)
    }

    package let start: Start
    /// What the peer has, or has been sent.
    package let known: VersionVector
    /// What the peer has, or will have from sound batches alone (``OutgoingSelection``).
    package var sound = VersionVector()
    /// The origins the peer takes from this node; `nil`: all.
    package var wanted: Set<OriginID>?
    /// Whether what is new is to go before what is old.
    package var isAhead = false
    /// Most bytes of events, before compression.
    package let bytes: Int
    /// Whether the peer reads zstd.
    package let compress: Bool
    /// The position up to which the session has been told of the log. What is behind it must not leave before: a peer
    /// could speak of events of this node's own origin that the session does not know of, which would look like amnesia.
    package var through = UInt64.max

    /// Which events.
    package var kind: OutgoingSelection.Kind {
        if isAhead { .ahead(wanted) } else if let wanted { .origins(wanted) } else { .everything }
    }
}

/// What was read: at most one frame.
package struct OutgoingFrame: Hashable, Sendable {
    /// An Events frame; `nil` if there was nothing to send.
    package let frame: Frame?
    /// How many events are in it.
    package let events: Int
    /// Last dot of each origin in it.
    package let advanced: [Dot]
    /// Everything up to here has been read.
    package let through: UInt64
    /// Whether there is nothing more until the log advances.
    package let isAtTop: Bool
    /// ``OutgoingSelection/isSound``.
    package var isSound = true
}

/// What a session has learned that concerns other sessions, for those who choose from whom to take what.
package struct SessionNews: Sendable {
    /// The peer has said what it has: all that is in `announced`.
    package var hasOpened = false
    /// The peer has begun to state everything anew: what it stated before counts no more.
    package var hasRestated = false
    /// What the peer has made durable.
    package var announced: [Dot] = []
    /// Whether events came.
    package var hasDelivered = false
    /// What events of this peer have been waiting for.
    package var needs: [Dot] = []
    /// Of these origins events were dropped, which came before what they depend on and must come again.
    package var dropped: [OriginID] = []
    /// Whether events came without their payloads.
    package var hasErased = false
    /// These have got theirs.
    package var healed: [Dot] = []
    package var isEmpty: Bool {
        !hasOpened && !hasRestated && announced.isEmpty && !hasDelivered && needs.isEmpty && dropped.isEmpty
            && !hasErased && healed.isEmpty
    }
}

/// What was stored of a frame, durably.
package struct StoredFrame: Hashable, Sendable {
    /// How many events were new.
    package let events: Int
    /// How far each origin in the frame is durable here.
    package let progress: [OriginProgress]
    /// The last dot of each origin in the frame: so much the peer has.
    package let carried: [Dot]

    /// What it told about histories.
    package let reports: [IdentityReport]
    /// Whether some came without their payloads.
    package let hasErased: Bool

    package init(
        events: Int, progress: [OriginProgress], carried: [Dot]? = nil, reports: [IdentityReport] = [],
        hasErased: Bool = false
    ) {
        self.reports = reports
        self.hasErased = hasErased
        self.events = events
        self.progress = progress
        self.carried = carried ?? progress.map { Dot(origin: $0.origin, seq: $0.seq) }
    }
}

/// Why a session ended.
package enum SessionEnd: Hashable, Sendable {
    /// This node ended it, and told the peer.
    case failed(SessionFailure)
    /// The peer ended it.
    case refused(code: UInt32, text: String, retryAfter: UInt32)
    /// The link broke.
    case linkLost(String)
}

/// An error with its code of the protocol.
package struct SessionFailure: Error, Hashable, Sendable {
    package let code: SessionErrorCode
    package let text: String
    /// The event that must be here first; then the same may succeed.
    package let needs: Dot?
    /// Whose events were not stored.
    package let origins: [OriginID]
    /// The last event of this node's own origin that its key has signed, if the node lacks it.
    package let lost: Dot?

    package init(
        _ code: SessionErrorCode, _ text: String, needs: Dot? = nil, origins: [OriginID] = [], lost: Dot? = nil
    ) {
        self.origins = origins
        self.lost = lost
        self.code = code
        self.text = text
        self.needs = needs
    }

    package init(_ error: WireError) { self.init(error.code, error.description) }

    package init(_ error: IngestError, origins: [OriginID] = []) {
        let code: SessionErrorCode =
            switch error {
            case .header(.limits(.headerTooLarge)): .eventTooLarge
            case .header, .originStart: .badFrame
            case .gap, .stampOrder: .badChain
            case .causalGap: .causalGap
            case .notCovered, .badProof, .badTime: .badProof
            case .badSignature: .badSignature
            case .amnesia: .amnesia
            case .store(.diskFull): .storeFull
            case .store: .storeError
            }
        let needs: Dot? =
            switch error {
            case .gap(let dot, _) where dot.seq > 1: Dot(origin: dot.origin, seq: dot.seq - 1)
            case .causalGap(_, let needs): needs
            default: nil
            }
        var lost: Dot?
        if case .amnesia(let dot, let known) = error { lost = Dot(origin: dot.origin, seq: known) }
        self.init(code, error.description, needs: needs, origins: origins, lost: lost)
    }
}

extension SessionEnd: CustomStringConvertible {
    package var description: String {
        switch self {
        case .failed(let failure): "\(failure.code.name): \(failure.text)"
        case .refused(let code, let text, _):
            "the peer refused: \(SessionErrorCode(rawValue: code)?.name ?? "code \(code)")"
                + (text.isEmpty ? "" : ": \(text)")
        case .linkLost(let reason): reason
        }
    }

    /// What to do about it.
    package var errorClass: SessionErrorCode.Class {
        switch self {
        case .failed(let failure): failure.code.errorClass
        case .refused(let code, _, _): SessionErrorCode(rawValue: code)?.errorClass ?? .retry
        case .linkLost: .retry
        }
    }
}

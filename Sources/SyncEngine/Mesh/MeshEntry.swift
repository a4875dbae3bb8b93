internal import EventStore

extension Mesh {
    /// A link that carries a session.
    struct Link: Sendable {
        let id: LinkID
        /// Whether this node dialled.
        let isOutgoing: Bool
        /// Monotonic milliseconds.
        let openedAt: UInt64
        /// The peer's process, as it said; `nil` before its Hello.
        var run: UInt64?
        /// Another one takes its place: that it ends is no news.
        var isReplaced = false
    }

    /// A node that is let in, and how it stands with it.
    struct Entry: Sendable {
        var peer: Peer
        var link: Link?
        /// A second link, until it is known which of the two stays.
        var candidate: Link?
        /// Whether the older of the two lives, asked for at these monotonic milliseconds.
        var probe: (old: LinkID, new: LinkID, asked: UInt64)?
        /// The store this node was seen with last.
        var incarnation: UInt64?
        /// Refused until then, because two processes have its key: monotonic milliseconds.
        var heldUntil = UInt64(0)
        /// Whether a caller wants to know what comes of an attempt to join.
        var isJoining = false
        /// How often the peer was too busy to look at the invitation.
        var knocks = 0
        /// Whether a call, its handshake or an invitation is under way.
        var isCalling = false
        /// When it is dialled again.
        var dueAt: UInt64?
        var backoff = Backoff()
        var calls = CallRate()
        var lastError: String?
        /// A peer that comes and goes all the time does not fill the log.
        var notices = NoticeLimiter()
        /// Since when it is gone, as the log says, which does not say yet that it is back: monotonic milliseconds.
        var missedSince: UInt64?
        /// What the peer has said to have; it outlives the link.
        var memory: PeerMemory?
        /// Whether what it has can be lost when the power fails, as it said last.
        var isVolatile = false
        /// What it has said to have and the plan of sources has not been told yet.
        var unannounced: ArraySlice<Dot> = []
        /// How often it has claimed something of this node's own origin that it could not show.
        var unproven = 0
        /// After so often the exchange ends, until an operator resumes it.
        var isSuspended: Bool { unproven >= Mesh.mostUnproven }

        init(peer: Peer) { self.peer = peer }
    }
}

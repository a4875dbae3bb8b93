package import EventStore

/// Where a node that is not known shows its invitation. The daemon keeps the invitations and the peers.
package struct JoinDesk: Sendable {
    /// Whether any invitation is open: else nothing that an unknown node sends is read.
    package let isOpen: @Sendable () -> Bool
    /// Uses up the invitation that is proven and adds the node durably; `nil` if there is none. May block.
    package let admit: @Sendable (JoinAttempt) -> Peer?
    /// This node was let in at that one: the token is of no more use.
    package let joined: @Sendable (NodeID) -> Void

    package init(
        isOpen: @escaping @Sendable () -> Bool, admit: @escaping @Sendable (JoinAttempt) -> Peer?,
        joined: @escaping @Sendable (NodeID) -> Void
    ) {
        self.isOpen = isOpen
        self.admit = admit
        self.joined = joined
    }

    /// No node is invited.
    package static let closed = JoinDesk(isOpen: { false }, admit: { _ in nil }, joined: { _ in })
}

/// What a node that wants to be let in has shown.
package struct JoinAttempt: Hashable, Sendable {
    package let node: NodeID
    /// What it calls itself.
    package let name: String
    package let transcript: [UInt8]
    package let proof: [UInt8]

    /// Whether it has shown that it knows `token`.
    package func proves(_ token: [UInt8]) -> Bool { MessageCode.isValid(proof, for: transcript, key: token) }
}

/// A sign of life.
package struct PingResult: Hashable, Sendable {
    /// There and back.
    package let roundTrip: Duration
    /// Their wall clock minus ours, milliseconds.
    package let clockOffset: Int64?
}

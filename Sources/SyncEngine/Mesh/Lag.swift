package import EventStore

/// What a peer is known to hold: what it has acknowledged as durable, nothing else.
package struct PeerStanding: Sendable {
    package let peer: Peer
    package let isConnected: Bool
    /// Of the origins of this log. `nil`: it has not said anything since this node was started.
    package let durable: VersionVector?
    /// What it makes this node do and keep; `nil` without a connection.
    package let account: LinkAccount?
}

/// What one origin lacks at a peer.
package struct OriginLag: Hashable, Sendable {
    package let origin: OriginID
    package let events: UInt64
    /// Of their payloads.
    package let bytes: UInt64
    /// When the oldest of them was recorded at its origin, Unix milliseconds.
    package let oldest: Int64
}

/// What of this node's log is not known to be durable at a peer. Zero events exactly when its acknowledged vector covers
/// this node's.
package struct PeerLag: Sendable {
    /// The origins that lack something, most events first.
    package let origins: [OriginLag]

    package var events: UInt64 { origins.saturatedSum(of: \.events) }
    package var bytes: UInt64 { origins.saturatedSum(of: \.bytes) }
    package var oldest: Int64? { origins.map(\.oldest).min() }
}

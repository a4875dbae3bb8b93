package import EventStore

/// How a node stands with its peers.
public struct NodeStatus: Sendable {
    /// The peers that are let in, by name.
    public let peers: [PeerStatus]
    package let pending: [PendingPeer]
    /// What the operator should know about who is who.
    package let notices: [NodeNotice]
    /// The port of the peers' listener; 0 if there is none.
    public let listeningPort: UInt16
    /// How many events are here without their payloads, which nothing has erased, as far as was looked.
    package let missingPayloads: Int
}

/// How a node stands with one peer.
public struct PeerStatus: Sendable {
    /// Whether they are connected.
    public enum Phase: Hashable, Sendable {
        /// Events flow.
        case connected
        /// A call or a handshake is under way.
        case connecting
        /// No connection; `retryIn` milliseconds until the next call, if we are the one who calls.
        case disconnected(retryIn: UInt64?)
        /// The operator has interrupted the exchange.
        case paused
    }

    /// Which one.
    public let peer: Peer
    /// Whether they are connected.
    public let phase: Phase
    /// What ended the last connection or call, if that was an error: a sentence for people.
    public let lastError: String?
    /// How the peer calls itself.
    package let theirName: String?
    /// Events of this node that are not known to be durable there.
    public let lacks: UInt64
    /// Events it has and this node lacks, as far as it has said.
    public let owes: UInt64
    /// Milliseconds there and back; `nil` until it was measured.
    public let roundTrip: UInt64?
    /// Its wall clock minus ours, milliseconds.
    package let clockOffset: Int64?
    package let eventsSent: UInt64
    package let eventsReceived: UInt64
    package let bytesSent: UInt64
    package let bytesReceived: UInt64
    /// A snapshot under way, one way or the other.
    package let snapshot: SnapshotStatus?
    /// Milliseconds since anything was heard, on this connection or the one before; `nil` where there was none since the start.
    package let silentFor: UInt64?
    /// Origins of which the peer has another history: they are not exchanged.
    package let held: [OriginID]
    /// What it makes this node do and keep; `nil` without a connection.
    package let account: LinkAccount?
    /// Whether nothing is read from it for now, because there is enough to do.
    package let isHeldBack: Bool
}

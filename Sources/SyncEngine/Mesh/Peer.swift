public import EventStore

/// A node that is let in.
public struct Peer: Hashable, Sendable {
    /// What people call it here.
    public var name: String
    /// Its pinned id, which its own store has as `identity.node`. A node with another key is not let in.
    public var node: NodeID
    /// `host:port` to dial it at, an IPv6 address in brackets; `nil` if it dials this node.
    public var address: String?
    /// Whether nothing is to be exchanged with it for now.
    public var isPaused: Bool
    /// The token of the invitation with which this node still has to be let in there; `nil` once it is.
    package var token: [UInt8]?

    /// A node that is let in, and dialled if it has an address.
    public init(name: String, node: NodeID, address: String?, isPaused: Bool = false) {
        self.init(name: name, node: node, address: address, isPaused: isPaused, token: nil)
    }

    package init(name: String, node: NodeID, address: String?, isPaused: Bool = false, token: [UInt8]?) {
        self.name = name
        self.node = node
        self.address = address
        self.isPaused = isPaused
        self.token = token
    }
}

/// A node that knocked and is not let in.
package struct PendingPeer: Hashable, Sendable {
    package let node: NodeID
    /// Where it dialled from.
    package let address: String
    /// Unix milliseconds of its last call.
    package var lastSeen: Int64
    package var calls: Int
}

/// `host:port`, with an IPv6 address in brackets.
package struct HostPort: Hashable, Sendable {
    package let host: String
    package let port: UInt16

    /// Reads `host:port` or `[address]:port`; `nil` for anything else.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.host = String(host)
        self.port = port
    }
}

/// When to call again: exponential with full jitter, so that nodes that lost each other together do not come back
/// together. Starts anew only after a connection that held for a while.
package struct Backoff: Sendable {
    static let first = Duration.milliseconds(500)
    static let longest = Duration.seconds(60)
    /// A connection that held for so long was healthy.
    package static let healthyMilliseconds: UInt64 = 60_000

    private var failures = 0

    package init() {}

    package mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
        let ceiling = min(Self.first * (1 << min(failures, 10)), Self.longest)
        failures += 1
        return ceiling * Double.random(in: 0.1...1, using: &random)
    }

    package mutating func reset() { failures = 0 }
}

extension [Peer] {
    /// The peer of another node that has this name already.
    package func other(named name: String, than node: NodeID) -> Peer? {
        first { $0.name == name && $0.node != node }
    }

    /// Adds a peer, or gives a known node this name. What is not said of a known one stays as it is: its address and, unless
    /// it is joined anew, that it is paused. False if another peer has the name.
    package mutating func add(_ peer: Peer) -> Bool {
        guard other(named: peer.name, than: peer.node) == nil else { return false }
        var entry = peer
        if let index = firstIndex(where: { $0.node == peer.node }) {
            entry.address = peer.address ?? self[index].address
            entry.isPaused = peer.isPaused || peer.token == nil && self[index].isPaused
            self[index] = entry
        } else {
            append(entry)
        }
        return true
    }
}

/// Who a store belongs to. Made once, when the store is made.
public struct StoreIdentity: Hashable, Sendable {
    /// The node: SHA-256 of its public key.
    public let node: NodeID
    /// What people call it.
    public let name: String
    /// Nodes of different clusters never exchange events.
    public let cluster: String
    /// The origin this node writes to.
    public internal(set) var origin: OriginID
    /// Random, new for every store: what a peer remembers of a node is valid only for the same incarnation.
    package let incarnation: UInt64

    package init(node: NodeID, name: String, cluster: String, origin: OriginID, incarnation: UInt64) {
        self.node = node
        self.name = name
        self.cluster = cluster
        self.origin = origin
        self.incarnation = incarnation
    }
}

extension StoreIdentity {
    /// Reads who the store belongs to.
    package init(_ reader: LogReader) throws(StoreError) {
        guard let ref = try reader.meta("origin").flatMap({ Int64($0) }),
            let own = try reader.origins().first(where: { $0.ref == ref }),
            let name = try reader.meta("name"), let cluster = try reader.meta("cluster")
        else { throw .corrupt("table meta does not say whose store this is") }
        self.init(
            node: own.node, name: name, cluster: cluster, origin: own.id, incarnation: try reader.incarnation())
    }
}

extension LogReader {
    /// The store's incarnation.
    package func incarnation() throws(StoreError) -> UInt64 {
        guard let number = try meta("incarnation").flatMap({ UInt64($0, radix: 16) }) else {
            throw .corrupt("meta.incarnation is no number")
        }
        return number
    }
}

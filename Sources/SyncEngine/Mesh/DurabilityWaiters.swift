internal import EventStore

/// Where the events of a vector are durable.
package struct Holders: Hashable, Sendable {
    /// Names of the nodes that hold all of them, this one first.
    package let nodes: [String]
    /// Whether these are as many as were asked for.
    package let isReached: Bool
}

/// A node on which events may be durable.
struct Holder {
    let node: NodeID
    let name: String
    /// How far an origin is durable there.
    let seq: (OriginID) -> UInt64
}

/// Those who wait until events are durable on so many nodes.
struct DurabilityWaiters: Sendable {
    struct Waiter: Sendable {
        let vector: VersionVector
        let nodes: Int
        /// When its time is over, monotonic milliseconds: then it is answered, whatever there is to say.
        let until: UInt64
        /// How many entries of the vector each node was seen to hold: what a node has said to be durable it seldom takes
        /// back, so each look goes on from there.
        fileprivate var reached: [NodeID: Int] = [:]

        init(_ vector: VersionVector, nodes: Int, until: UInt64) {
            self.vector = vector
            self.nodes = nodes
            self.until = until
        }
    }

    /// More are refused.
    static let capacity = 256

    private var waiters: [UInt64: Waiter] = [:]
    private var next: UInt64 = 1

    var isEmpty: Bool { waiters.isEmpty }

    /// Takes one in; `nil` if there are too many.
    mutating func add(_ waiter: Waiter) -> UInt64? {
        guard waiters.count < Self.capacity else { return nil }
        defer { next += 1 }
        waiters[next] = waiter
        return next
    }

    /// Takes out all that have what they wait for, or whose time is over, with what there is to say.
    mutating func check(_ holders: [Holder], now: UInt64) -> [(id: UInt64, Holders)] {
        waiters.keys.sorted().compactMap { id in answer(id, holders, now).map { (id, $0) } }
    }

    private mutating func answer(_ id: UInt64, _ holders: [Holder], _ now: UInt64) -> Holders? {
        guard let waiter = waiters[id] else { return nil }
        let isLast = now >= waiter.until
        var holding = holders.filter { holds($0, id) }
        guard holding.count >= waiter.nodes || isLast else { return nil }
        // Once more from the start: one may have lost what it had.
        waiters[id]?.reached = [:]
        holding = holding.filter { holds($0, id) }
        let isReached = holding.count >= waiter.nodes
        guard isReached || isLast else { return nil }
        waiters[id] = nil
        return Holders(nodes: holding.map(\.name), isReached: isReached)
    }

    private mutating func holds(_ holder: Holder, _ id: UInt64) -> Bool {
        guard let waiter = waiters[id] else { return false }
        let entries = waiter.vector.entries
        var index = waiter.reached[holder.node] ?? 0
        while index < entries.count, holder.seq(entries[index].origin) >= entries[index].seq { index += 1 }
        waiters[id]?.reached[holder.node] = index
        return index == entries.count
    }
}

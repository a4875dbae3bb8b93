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

/// Those who wait until events are durable on so many nodes. However long the vectors are, a look at all of them is short: of
/// each only some entries are compared, and the next look goes on from there.
package struct DurabilityWaiters {
    struct Waiter {
        let vector: VersionVector
        let nodes: Int
        let completion: @Sendable (Holders) -> Void
        /// How many entries of the vector each node was seen to hold: what a node has said to be durable it seldom takes
        /// back, so each look goes on from there.
        fileprivate var reached: [NodeID: Int] = [:]
        /// Whether its time is over: it is answered, whatever there is to say.
        fileprivate var isLast = false
        /// Whether all of it is looked at once more: one may have lost what it had.
        fileprivate var isAgain = false

        init(vector: VersionVector, nodes: Int, completion: @escaping @Sendable (Holders) -> Void) {
            self.vector = vector
            self.nodes = nodes
            self.completion = completion
        }

        /// Those that hold all of the vector; `nil` if there is more to compare than `room`.
        fileprivate mutating func holding(_ holders: [Holder], _ room: inout Int) -> [Holder]? {
            let entries = vector.entries
            var holding: [Holder] = []
            for holder in holders {
                var index = reached[holder.node] ?? 0
                while index < entries.count, room > 0, holder.seq(entries[index].origin) >= entries[index].seq {
                    index += 1
                    room -= 1
                }
                reached[holder.node] = index
                if index == entries.count { holding.append(holder) } else if room == 0 { return nil }
            }
            return holding
        }
    }

    /// More are refused.
    static let capacity = 256
    /// Most origins in the vector of one.
    package static let mostOrigins = 16_384
    /// Most entries of one vector that are compared in one look.
    static let slice = 2_048

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

    /// Answers all that have what they wait for. True if that is not known of all of them yet: look again soon.
    mutating func check(_ holders: [Holder]) -> Bool {
        var hasMore = false
        for id in waiters.keys.sorted() where look(id, holders) { hasMore = true }
        return hasMore
    }

    /// Its time is over. True if it is not answered yet: look again soon.
    mutating func expire(_ id: UInt64, _ holders: [Holder]) -> Bool {
        waiters[id]?.isLast = true
        return look(id, holders)
    }

    /// Looks at a part of one. True if there is more.
    private mutating func look(_ id: UInt64, _ holders: [Holder]) -> Bool {
        guard var waiter = waiters[id] else { return false }
        var room = Self.slice
        while true {
            guard let holding = waiter.holding(holders, &room) else {
                waiters[id] = waiter
                return true
            }
            let isReached = holding.count >= waiter.nodes
            guard isReached || waiter.isLast else {
                waiter.isAgain = false
                waiters[id] = waiter
                return false
            }
            if waiter.isAgain || holding.isEmpty {
                waiters[id] = nil
                waiter.completion(Holders(nodes: holding.map(\.name), isReached: isReached))
                return false
            }
            (waiter.isAgain, waiter.reached) = (true, [:])
        }
    }
}

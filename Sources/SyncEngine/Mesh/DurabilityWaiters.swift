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
package struct DurabilityWaiters: Sendable {
    struct Waiter: Sendable {
        let vector: VersionVector
        let nodes: Int
        /// When its time is over, monotonic milliseconds: then it is answered, whatever there is to say.
        fileprivate(set) var until: UInt64
        /// How many entries of the vector each node was seen to hold: what a node has said to be durable it seldom takes
        /// back, so each look goes on from there.
        fileprivate var reached: [NodeID: Int] = [:]
        /// Whether all of it is looked at once more: one may have lost what it had.
        fileprivate var isAgain = false

        init(_ vector: VersionVector, nodes: Int, until: UInt64) {
            self.vector = vector
            self.nodes = nodes
            self.until = until
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

    /// Its time is over, whatever the clock says at the next look.
    mutating func expire(_ id: UInt64) { waiters[id]?.until = 0 }

    /// What a look has found.
    struct Look {
        /// Those that have what they wait for, or whose time is over, with what there is to say. They are taken out.
        var answers: [(id: UInt64, holders: Holders)] = []
        /// Whether that is not known of all of them yet: look again soon.
        var hasMore = false
    }

    /// Looks at a part of each.
    mutating func check(_ holders: [Holder], now: UInt64) -> Look {
        var look = Look()
        for id in waiters.keys.sorted() {
            guard var waiter = waiters.removeValue(forKey: id) else { continue }
            switch Self.look(at: &waiter, holders, isLast: now >= waiter.until) {
            case .answered(let holders): look.answers.append((id, holders))
            case .waits: waiters[id] = waiter
            case .goesOn:
                waiters[id] = waiter
                look.hasMore = true
            }
        }
        return look
    }

    private enum Step {
        case answered(Holders)
        /// Not enough nodes hold it.
        case waits
        /// There is more to compare.
        case goesOn
    }

    private static func look(at waiter: inout Waiter, _ holders: [Holder], isLast: Bool) -> Step {
        var room = slice
        while true {
            guard let holding = waiter.holding(holders, &room) else { return .goesOn }
            let isReached = holding.count >= waiter.nodes
            guard isReached || isLast else {
                waiter.isAgain = false
                return .waits
            }
            if waiter.isAgain || holding.isEmpty {
                return .answered(Holders(nodes: holding.map(\.name), isReached: isReached))
            }
            (waiter.isAgain, waiter.reached) = (true, [:])
        }
    }
}

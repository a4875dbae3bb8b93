internal import EventStore

/// Where the events of a vector are durable.
package struct Holders: Hashable, Sendable {
    /// Names of the nodes that hold all of them, this one first.
    package let nodes: [String]
    /// Whether these are as many as were asked for.
    package let isReached: Bool
}

/// Those who wait until events are durable on so many nodes.
struct DurabilityWaiters {
    struct Waiter {
        let vector: VersionVector
        let nodes: Int
        let completion: @Sendable (Holders) -> Void
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

    /// Answers all that have what they wait for.
    mutating func check(_ standings: [(name: String, durable: VersionVector)]) {
        for id in waiters.keys.sorted() { answer(id, standings, isLast: false) }
    }

    /// Its time is over: it is answered, whatever there is to say.
    mutating func expire(_ id: UInt64, _ standings: [(name: String, durable: VersionVector)]) {
        answer(id, standings, isLast: true)
    }

    private mutating func answer(
        _ id: UInt64, _ standings: [(name: String, durable: VersionVector)], isLast: Bool
    ) {
        guard let waiter = waiters[id] else { return }
        let holding = standings.filter { $0.durable.covers(waiter.vector) }.map(\.name)
        let isReached = holding.count >= waiter.nodes
        guard isReached || isLast else { return }
        waiters[id] = nil
        waiter.completion(Holders(nodes: holding, isReached: isReached))
    }
}

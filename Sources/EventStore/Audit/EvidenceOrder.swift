/// In which order the events of some origins stand in an evidence file: the same wherever the same events are, and each
/// event after what it depends on (docs/reference/FORMATS.md §8). A pure value.
///
/// The smallest origin that may go on goes on until it ends or must wait for another. An origin must wait while its next
/// event depends on one of the file that is not written yet.
struct EvidenceOrder {
    /// Who waits for an event of an origin.
    private struct Waiter {
        let seq: UInt64
        let origin: Int
    }

    /// Who waits for events of one origin, and which of them is written first.
    private struct Waiting {
        var soonest = UInt64.max
        var list: [Waiter] = []

        mutating func add(_ waiter: Waiter) {
            soonest = min(soonest, waiter.seq)
            list.append(waiter)
        }
    }

    private let origins: [OriginID]
    private let sizes: [UInt64]
    private let indexes: [OriginID: Int]
    private var written: [UInt64]
    /// Those that may be able to go on, the smallest last.
    private var ready: [Int]
    private var waiting: [Int: Waiting] = [:]

    /// - Parameter origins: Each with how many of its events are written, ascending.
    init(_ origins: [(id: OriginID, size: UInt64)]) {
        self.origins = origins.map(\.id)
        sizes = origins.map(\.size)
        indexes = Dictionary(uniqueKeysWithValues: origins.enumerated().map { ($1.id, $0) })
        written = [UInt64](repeating: 0, count: origins.count)
        ready = origins.indices.filter { origins[$0].size > 0 }.reversed()
    }

    /// The event after which the next run follows; `nil` when all is written, or none may go on.
    var next: Dot? { ready.last.map { Dot(origin: origins[$0], seq: written[$0]) } }

    /// Whether every event is written.
    var isComplete: Bool { written == sizes }

    /// Decides about the event that follows ``next``. If it must wait, another origin's is next.
    mutating func take(_ dependencies: [Dot]) -> Bool {
        guard let index = ready.last else { return false }
        for needs in dependencies {
            // An event beyond what is here belongs to another history of its origin.
            guard let other = indexes[needs.origin], needs.seq > written[other], needs.seq <= sizes[other] else {
                continue
            }
            ready.removeLast()
            waiting[other, default: Waiting()].add(Waiter(seq: needs.seq, origin: index))
            return false
        }
        written[index] += 1
        if written[index] == sizes[index] { ready.removeLast() }
        wake(index)
        return true
    }

    /// Those that waited may go on, but not before the one whose turn it is.
    private mutating func wake(_ index: Int) {
        guard let all = waiting[index], all.soonest <= written[index] else { return }
        var rest = Waiting()
        for waiter in all.list where waiter.seq > written[index] { rest.add(waiter) }
        waiting[index] = rest.list.isEmpty ? nil : rest
        let isRunning = ready.last == index
        if isRunning { ready.removeLast() }
        for waiter in all.list where waiter.seq <= written[index] {
            var low = 0
            var high = ready.count
            while low < high {
                let middle = (low + high) / 2
                if ready[middle] > waiter.origin { low = middle + 1 } else { high = middle }
            }
            ready.insert(waiter.origin, at: low)
        }
        if isRunning { ready.append(index) }
    }
}

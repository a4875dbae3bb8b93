/// Which events of a log, walked in position order, go to a peer in one batch. A pure value.
///
/// A peer that takes everything gets all it lacks, in position order, which is causal order. One that takes some origins
/// only, or what is new before what is old, gets an event when it has, or is being sent, everything the event depends on:
/// what it takes from others may come later. An origin that has to wait holds back its own later events alone.
package struct OutgoingSelection: Sendable {
    /// What the peer has, or has been sent.
    private let known: VersionVector
    /// The origins it takes from this node; `nil`: all.
    private let wanted: Set<OriginID>?
    /// Whether events are taken out of their order.
    private let checksDependencies: Bool
    /// Last seq of each origin in the batch.
    private var taken: [OriginID: UInt64] = [:]
    private var waiting: Set<OriginID> = []
    /// The position of the first event that had to wait.
    package private(set) var firstWaiting: UInt64?

    /// Nothing is taken yet.
    package init(known: VersionVector, wanted: Set<OriginID>? = nil, isAhead: Bool = false) {
        self.known = known
        self.wanted = wanted
        checksDependencies = isAhead || wanted != nil
    }

    /// The last dot of each origin in the batch, ascending.
    package var advanced: [Dot] { taken.map { Dot(origin: $0.key, seq: $0.value) }.sorted() }

    /// Whether the batch has events of `origin`.
    package func includes(_ origin: OriginID) -> Bool { taken[origin] != nil }

    /// Whether the event goes into the batch, as far as the peer is concerned. ``take(_:)`` puts it there.
    package mutating func admits(_ dot: Dot, dependencies: [Dot], at position: UInt64) -> Bool {
        let last = last(dot.origin)
        guard dot.seq > last, wanted?.contains(dot.origin) ?? true else { return false }
        guard checksDependencies else { return true }
        if waiting.contains(dot.origin) { return false }
        if dot.seq == last + 1, dependencies.allSatisfy({ $0.seq <= self.last($0.origin) }) { return true }
        waiting.insert(dot.origin)
        firstWaiting = min(firstWaiting ?? position, position)
        return false
    }

    /// The event is in the batch.
    package mutating func take(_ dot: Dot) { taken[dot.origin] = dot.seq }

    private func last(_ origin: OriginID) -> UInt64 { taken[origin] ?? known[origin] }
}

/// Which events of a log, walked in position order, go to a peer in one batch. A pure value.
///
/// A peer that takes everything gets all it lacks, in position order, which is causal order. A peer that takes some origins
/// only gets what else they depend on from others, and holds a batch until that is there. So that two batches never wait
/// for each other, a batch is one of two kinds. A *sound* one depends on nothing but what the peer has stored, itself, and
/// sound batches before it. Any other has events of one origin, and only the first depends on more. What is sent ahead of
/// its turn is always sound.
package struct OutgoingSelection: Sendable {
    /// Which events there are.
    package enum Kind: Sendable {
        /// All.
        case everything
        /// Of these origins.
        case origins(Set<OriginID>)
        /// What is new, before what is old.
        case ahead(Set<OriginID>?)
    }

    /// What becomes of an event.
    package enum Answer: Hashable, Sendable {
        case taken
        case passedOver
        /// The batch ends before it.
        case nextBatch
    }

    /// What the peer has, or has been sent.
    private let known: VersionVector
    private let kind: Kind
    /// What the peer has, or will have from sound batches alone.
    private let sound: VersionVector
    /// Last seq of each origin in the batch, but for that of `run`.
    private var taken: [OriginID: UInt64] = [:]
    /// The event that was taken last: mostly the next is of the same origin, and nothing has to be looked up.
    private var run: Dot?
    /// Of a batch that is not sound: its origin, and what its first event depends on.
    private var bet: (origin: OriginID, assumed: VersionVector)?
    /// Origins of which an event was passed over, so that no later one can go.
    private var halted: Set<OriginID> = []

    /// Nothing is taken yet.
    package init(known: VersionVector, sound: VersionVector = VersionVector(), kind: Kind = .everything) {
        self.known = known
        self.sound = sound
        self.kind = kind
    }

    /// The last dot of each origin in the batch, ascending.
    package var advanced: [Dot] {
        var all = taken
        if let run { all[run.origin] = run.seq }
        return all.map { Dot(origin: $0.key, seq: $0.value) }.sorted()
    }

    /// Whether the batch depends on nothing from elsewhere.
    package var isSound: Bool { bet == nil }

    /// Whether the batch has events of `origin`.
    package func includes(_ origin: OriginID) -> Bool { lastTaken(origin) != nil }

    /// What becomes of the event, as far as the peer is concerned. What is taken is put into the batch with ``take(_:_:)``.
    package mutating func answer(_ dot: Dot, dependencies: [Dot]) -> Answer {
        let last = last(dot.origin)
        guard dot.seq > last else { return .passedOver }
        switch kind {
        case .everything: return .taken
        case .origins(let wanted):
            guard run?.origin == dot.origin || wanted.contains(dot.origin) else { return .passedOver }
            if let bet { return dot.origin == bet.origin && isReady(dot, dependencies) ? .taken : .nextBatch }
            return run == nil || isReady(dot, dependencies) ? .taken : .nextBatch
        case .ahead(let wanted):
            guard wanted?.contains(dot.origin) ?? true, !halted.contains(dot.origin) else { return .passedOver }
            if dot.seq == last + 1, isReady(dot, dependencies) { return .taken }
            halted.insert(dot.origin)
            return .passedOver
        }
    }

    /// The event is in the batch.
    package mutating func take(_ dot: Dot, _ dependencies: [Dot]) {
        if run == nil, case .origins = kind, !isReady(dot, dependencies) {
            bet = (dot.origin, VersionVector(dependencies))
        }
        if let run, run.origin != dot.origin { taken[run.origin] = run.seq }
        run = dot
    }

    private func isReady(_ dot: Dot, _ dependencies: [Dot]) -> Bool {
        let isNext = includes(dot.origin) || dot.seq == 1 || sound[dot.origin] >= dot.seq - 1
        return isNext
            && dependencies.allSatisfy { needs in
                needs.seq <= lastTaken(needs.origin) ?? 0 || sound.contains(needs)
                    || bet?.assumed.contains(needs) ?? false
            }
    }

    private func last(_ origin: OriginID) -> UInt64 { lastTaken(origin) ?? known[origin] }

    private func lastTaken(_ origin: OriginID) -> UInt64? {
        if let run, run.origin == origin { run.seq } else { taken[origin] }
    }
}

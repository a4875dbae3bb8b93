package import EventStore

/// What a peer has said to be durable at it, in the order of its numbers. Kept in memory from one connection to the next, it
/// lets the peer state only what changed. It may be lost, or be wrong: then everything is stated anew.
package struct PeerMemory: Sendable {
    /// Of the peer's store. What is remembered means nothing to another one.
    package let incarnation: UInt64
    /// ``StateDelta/through`` of the last statement. 0: it cannot be gone on from.
    package private(set) var through: UInt64 = 0
    /// In the order of their numbers.
    package private(set) var entries: [VectorEntry] = []
    private var numbers: [OriginID: UInt32] = [:]

    /// Nothing is known of the store of this incarnation.
    package init(incarnation: UInt64) { self.incarnation = incarnation }

    /// Why a statement does not go on from what is remembered.
    package enum Misfit: Error, Hashable, Sendable {
        /// It goes on from another state, or leads to another.
        case otherState
        /// It contradicts itself or passes a limit.
        case malformed(String)
    }

    /// How far the peer has `origin`.
    package subscript(origin: OriginID) -> VectorEntry? { numbers[origin].map { entries[Int($0) - 1] } }

    /// The peer's number for `origin`.
    package func number(of origin: OriginID) -> UInt32? { numbers[origin] }

    /// What is worth keeping when the connection is gone: all, or if that is much more than the log has origins, only what
    /// the peer has of those; then it cannot go on from there. A peer may state as many origins as it likes that no node has,
    /// and that never come (INV-9).
    package func kept(of log: LocalVector) -> PeerMemory {
        guard entries.count > log.entries.count + Self.mostUnknown else { return self }
        var kept = PeerMemory(incarnation: incarnation)
        for local in log.entries {
            guard let entry = self[local.progress.origin] else { continue }
            kept.entries.append(entry)
            kept.numbers[entry.origin] = UInt32(kept.entries.count)
        }
        return kept
    }

    /// Origins that are not in the log and are remembered all the same.
    static let mostUnknown = 10_000

    /// What the peer has of the origins of `log`.
    package func vector(of log: LocalVector) -> VersionVector {
        VersionVector(
            log.entries.compactMap { local in
                self[local.progress.origin].map { Dot(origin: $0.origin, seq: $0.seq) }
            })
    }

    /// What the peer has and `log` lacks, in events.
    package func count(missingFrom log: LocalVector) -> UInt64 {
        entries.saturatedSum(of: { $0.seq - min($0.seq, log[$0.origin]?.seq ?? 0) })
    }

    /// What the peer has.
    package var vector: VersionVector { VersionVector(entries.map { Dot(origin: $0.origin, seq: $0.seq) }) }

    /// For the Hello; `nil` if there is nothing to go on from.
    package var remembered: Remembered? {
        guard through > 0, let count = UInt32(exactly: entries.count) else { return nil }
        return Remembered(incarnation: incarnation, through: through, origins: count)
    }

    /// Takes in a statement, or the next part of one. Returns what it says, in its order.
    ///
    /// - Parameter isFirst: Whether it is the first part: a whole statement then begins anew.
    package mutating func apply(_ statement: StateDelta, isFirst: Bool) throws(Misfit) -> [VectorEntry] {
        if statement.isWhole {
            if isFirst { self = PeerMemory(incarnation: incarnation) }
        } else if isFirst, statement.since != through {
            throw .otherState
        }
        // Until the last part is here this is no state that can be gone on from.
        through = 0
        var changed: [VectorEntry] = []
        changed.reserveCapacity(statement.entries.count)
        for entry in statement.entries { changed.append(try apply(entry, isWhole: statement.isWhole)) }
        guard !statement.hasMore else { return changed }
        if let digest = statement.digest, digest != StateDelta.digest(of: entries) {
            throw statement.isWhole ? .malformed("its digest is another") : .otherState
        }
        through = statement.through
        return changed
    }

    private mutating func apply(_ entry: StateEntry, isWhole: Bool) throws(Misfit) -> VectorEntry {
        switch entry.name {
        case .new(let origin):
            guard entries.count < WireLimits.origins else { throw .malformed("over \(WireLimits.origins) origins") }
            guard numbers[origin] == nil else {
                // A log that a power cut has set back may have met other origins since, in another order.
                throw isWhole ? .malformed("origin \(origin) is named twice") : .otherState
            }
            entries.append(VectorEntry(origin: origin, seq: entry.seq, root: entry.root))
            numbers[origin] = UInt32(entries.count)
            return entries[entries.count - 1]
        case .number(let number):
            guard number <= entries.count else { throw .otherState }
            let index = Int(number) - 1
            entries[index] = VectorEntry(origin: entries[index].origin, seq: entry.seq, root: entry.root)
            return entries[index]
        }
    }
}

extension LocalVector {
    /// Most entries of one part: on a slow link the other side sees that something comes, and a Ping comes between.
    static let partSize = 400

    /// What the peer is to be told first: what changed since what it remembers, if that is a state of this log; else all.
    package func opening(for remembered: Remembered?, incarnation: UInt64) -> [StateDelta] {
        if let remembered, remembered.incarnation == incarnation,
            let numbers = changes(since: remembered.through, known: Int(remembered.origins))
        {
            return parts(numbers, known: Int(remembered.origins), since: remembered.through)
        }
        return whole()
    }

    /// Everything.
    package func whole() -> [StateDelta] { parts(Array(1..<(entries.count + 1)), known: 0, since: nil) }

    /// A difference within a connection, to a peer that knows the first `known` origins and the state `since`.
    package func difference(_ numbers: [Int], known: Int, since: UInt64) -> [StateDelta] {
        parts(numbers, known: known, since: since, hasDigest: false)
    }

    private func parts(_ numbers: [Int], known: Int, since: UInt64?, hasDigest: Bool = true) -> [StateDelta] {
        var parts: [StateDelta] = []
        var rest = numbers[...]
        repeat {
            let some = rest.prefix(Self.partSize)
            rest = rest.dropFirst(Self.partSize)
            let stated = some.map { number in
                let progress = entries[number - 1].progress
                return StateEntry(
                    number > known ? .new(progress.origin) : .number(UInt32(number)), seq: progress.seq,
                    root: progress.rootPrefix)
            }
            parts.append(
                StateDelta(
                    entries: stated, isWhole: since == nil, since: since ?? 0, through: top,
                    digest: hasDigest && rest.isEmpty ? digest : nil, hasMore: !rest.isEmpty))
        } while !rest.isEmpty
        return parts
    }
}

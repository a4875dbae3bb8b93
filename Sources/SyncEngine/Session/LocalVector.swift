package import EventStore

/// How far this node's log has each origin, and when that last changed. Origins have numbers, from 1, in the order in which
/// the log met them. That order and the positions are durable, so what a peer remembers by number and position holds
/// after a restart too.
package struct LocalVector: Sendable {
    /// One origin.
    package struct Entry: Sendable {
        package var progress: OriginProgress
        /// The log's position when it last changed, or a later one.
        package var changed: UInt64
    }

    /// In the order of their numbers.
    package private(set) var entries: [Entry] = []
    private var indexes: [OriginID: Int] = [:]
    /// The position up to which all changes are in here. 0: not known.
    package private(set) var top: UInt64 = 0

    /// Nothing.
    package init() {}

    /// A log that stands at these, of which it is not known when they changed.
    package init(_ progress: [OriginProgress]) {
        for entry in progress { raise(entry, changed: 0) }
    }

    /// A log that stands at `notice`, which names all origins in the order in which the log met them.
    ///
    /// - Parameter positions: Of each origin's last event, or a later one. An origin not named here counts as just changed.
    package init(_ notice: CommitNotice, positions: [OriginID: UInt64]) {
        for entry in notice.advanced { raise(entry, changed: min(positions[entry.origin] ?? notice.top, notice.top)) }
        top = notice.top
    }

    package subscript(origin: OriginID) -> OriginProgress? { indexes[origin].map { entries[$0].progress } }

    /// The number of `origin`.
    package func number(of origin: OriginID) -> Int? { indexes[origin].map { $0 + 1 } }

    /// The origins with how far each is.
    package var vector: VersionVector {
        VersionVector(entries.map { Dot(origin: $0.progress.origin, seq: $0.progress.seq) })
    }

    /// Takes in a commit. Returns the numbers of the origins that advanced by it.
    package mutating func advance(_ notice: CommitNotice) -> [Int] {
        let numbers = notice.advanced.compactMap { raise($0, changed: notice.top) }
        top = max(top, notice.top)
        return numbers
    }

    /// The numbers of origins that have changed after `position`, of which the first `known` are known there: those behind
    /// them are new. `nil` if this log was never there.
    package func changes(since position: UInt64, known: Int) -> [Int]? {
        guard position > 0, position <= top, known <= entries.count else { return nil }
        return entries.indices.filter { $0 >= known || entries[$0].changed > position }.map { $0 + 1 }
    }

    /// ``StateDelta/digest(of:)`` of all entries.
    package var digest: Digest { StateDelta.digest(of: entries.lazy.map { VectorEntry($0.progress) }) }

    @discardableResult
    private mutating func raise(_ progress: OriginProgress, changed: UInt64) -> Int? {
        guard let index = indexes[progress.origin] else {
            indexes[progress.origin] = entries.count
            entries.append(Entry(progress: progress, changed: changed))
            return entries.count
        }
        guard progress.seq > entries[index].progress.seq else { return nil }
        entries[index] = Entry(progress: progress, changed: changed)
        return index + 1
    }
}

extension VectorEntry {
    init(_ progress: OriginProgress) {
        self.init(origin: progress.origin, seq: progress.seq, root: progress.rootPrefix)
    }
}

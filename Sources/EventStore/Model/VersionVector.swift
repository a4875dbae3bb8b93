/// How two sets of events, or two events, stand to each other.
package enum CausalOrder: Hashable, Sendable {
    /// The same.
    case equal
    /// The left one is part of the right one's past.
    case before
    /// The right one is part of the left one's past.
    case after
    /// Neither knew of the other.
    case concurrent
}

/// Origin → highest contiguous seq applied (Parker et al., "Detection of Mutual Inconsistency in Distributed
/// Systems", 1983). A sorted array: deterministic to walk, compact, merged in one pass. Origins not named stand at 0.
package struct VersionVector: Hashable, Sendable {
    /// One dot for each origin with at least one event, ascending by origin.
    package private(set) var entries: [Dot]

    /// Nothing applied.
    package init() { entries = [] }

    /// The vector with these entries; of two for one origin the higher counts.
    package init(_ dots: some Sequence<Dot>) {
        entries = []
        for dot in dots.sorted() where dot.seq > 0 {
            if entries.last?.origin == dot.origin { entries[entries.count - 1] = dot } else { entries.append(dot) }
        }
    }

    /// The highest seq of `origin`; 0 if there is none.
    package subscript(origin: OriginID) -> UInt64 {
        let index = lowerBound(origin)
        return index < entries.count && entries[index].origin == origin ? entries[index].seq : 0
    }

    /// Whether the event is part of what the vector stands for.
    package func contains(_ dot: Dot) -> Bool { self[dot.origin] >= dot.seq }

    /// Raises the entry of `dot.origin` to `dot.seq` if it is lower.
    package mutating func advance(to dot: Dot) {
        guard dot.seq > 0 else { return }
        let index = lowerBound(dot.origin)
        guard index < entries.count, entries[index].origin == dot.origin else {
            entries.insert(dot, at: index)
            return
        }
        if entries[index].seq < dot.seq { entries[index] = dot }
    }

    /// Puts the entries of these origins back to those of `other`.
    package mutating func reset(_ origins: [OriginID], to other: VersionVector) {
        let chosen = Set(origins)
        entries.removeAll { chosen.contains($0.origin) }
        for origin in chosen { advance(to: Dot(origin: origin, seq: other[origin])) }
    }

    /// The least vector that is not below either (point-wise maximum).
    package func merged(with other: VersionVector) -> VersionVector {
        var result = VersionVector()
        result.entries.reserveCapacity(max(entries.count, other.entries.count))
        walk(other) { origin, mine, theirs in
            result.entries.append(Dot(origin: origin, seq: max(mine, theirs)))
        }
        return result
    }

    /// How this vector stands to `other`.
    package func order(_ other: VersionVector) -> CausalOrder {
        var less = false
        var greater = false
        walk(other) { _, mine, theirs in
            if mine < theirs { less = true }
            if mine > theirs { greater = true }
        }
        return switch (less, greater) {
        case (false, false): .equal
        case (true, false): .before
        case (false, true): .after
        case (true, true): .concurrent
        }
    }

    /// The events this vector has and `other` lacks, counted. What is not a number of 64 bits counts as the greatest.
    package func count(missingFrom other: VersionVector) -> UInt64 {
        var total = UInt64(0)
        walk(other) { _, mine, theirs in total = total.addingSaturated(mine > theirs ? mine - theirs : 0) }
        return total
    }

    private func walk(_ other: VersionVector, _ body: (OriginID, UInt64, UInt64) -> Void) {
        var left = entries[...]
        var right = other.entries[...]
        while true {
            switch (left.first, right.first) {
            case (nil, nil): return
            case (let mine?, nil):
                left.removeFirst()
                body(mine.origin, mine.seq, 0)
            case (nil, let theirs?):
                right.removeFirst()
                body(theirs.origin, 0, theirs.seq)
            case (let mine?, let theirs?):
                if mine.origin <= theirs.origin { left.removeFirst() }
                if theirs.origin <= mine.origin { right.removeFirst() }
                let origin = min(mine.origin, theirs.origin)
                body(origin, mine.origin == origin ? mine.seq : 0, theirs.origin == origin ? theirs.seq : 0)
            }
        }
    }

    private func lowerBound(_ origin: OriginID) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].origin < origin { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

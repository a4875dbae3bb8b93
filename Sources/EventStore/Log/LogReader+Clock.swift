extension LogReader {
    /// What the origin of `dot` had applied when it appended that event, with the event itself: its vector clock, so its causal past.
    /// Sums up the dependencies of the origin's events up to there (docs/reference/FORMATS.md §2); the cost grows with their number.
    package func clock(of dot: Dot) throws(StoreError) -> VersionVector {
        var clock = VersionVector([dot])
        try mapped { () throws(DatabaseError) in
            guard let ref = try names.originRef(dot.origin, on: connection) else { return }
            let select = try connection.statement(
                "SELECT position, dependencies FROM event WHERE origin = ? AND seq <= ? AND dependencies IS NOT NULL")
            defer { select.reset() }
            try select.bind(1, ref)
            try select.bind(2, dot.seq)
            while try select.step() {
                let needs = try EventRow.dependencies(
                    select.bytes(1), at: select.uint64(0), names: &names, on: connection)
                for needed in needs { clock.advance(to: needed) }
            }
        }
        return clock
    }

    /// Rows of an origin that are looked at for ``recentPast(of:)``.
    private static let recentRows: Int64 = 1_000

    /// Part of the clock of `dot`, with the event itself: what its origin has named of others in its last events. The cost has a bound.
    func recentPast(of dot: Dot) throws(StoreError) -> VersionVector {
        var past = VersionVector([dot])
        try mapped { () throws(DatabaseError) in
            guard let ref = try names.originRef(dot.origin, on: connection) else { return }
            let select = try connection.statement(
                "SELECT position, dependencies FROM event WHERE origin = ? AND seq BETWEEN ? AND ? ORDER BY seq DESC")
            defer { select.reset() }
            try select.bind(1, ref)
            try select.bind(2, dot.seq - min(dot.seq, UInt64(Self.recentRows)))
            try select.bind(3, dot.seq)
            while try select.step() {
                guard !select.isNull(1) else { continue }
                let needs = try EventRow.dependencies(
                    select.bytes(1), at: select.uint64(0), names: &names, on: connection)
                for needed in needs { past.advance(to: needed) }
            }
        }
        return past
    }

    /// Where an event stands in this log; `nil` if it is not here.
    package func position(of dot: Dot) throws(StoreError) -> UInt64? {
        try mapped { () throws(DatabaseError) in
            guard let ref = try names.originRef(dot.origin, on: connection) else { return nil }
            return try position(ref, dot.seq)
        }
    }

    /// What the log holds of each origin up to `position`.
    package func vector(at position: UInt64) throws(StoreError) -> VersionVector {
        let origins = try origins()
        return try mapped { () throws(DatabaseError) in
            var vector = VersionVector()
            for origin in origins where origin.size > 0 {
                // Of one origin the events stand in their order.
                var (low, high) = (UInt64(0), origin.size)
                if let last = try self.position(origin.ref, high), last <= position { low = high }
                while low < high {
                    let middle = low + (high - low + 1) / 2
                    let isBefore = try self.position(origin.ref, middle).map { $0 <= position } ?? false
                    if isBefore { low = middle } else { high = middle - 1 }
                }
                vector.advance(to: Dot(origin: origin.id, seq: low))
            }
            return vector
        }
    }

    private func position(_ ref: Int64, _ seq: UInt64) throws(DatabaseError) -> UInt64? {
        try connection.integer(
            "SELECT position FROM event WHERE origin = ? AND seq = ?", .integer(ref), .unsigned(seq)
        ).map { UInt64(bitPattern: $0) }
    }
}

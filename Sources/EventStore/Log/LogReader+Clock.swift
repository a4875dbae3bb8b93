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
}

/// Asks the index: which positions have an entry with these words.
struct SearchIndex {
    private static let table = SearchView.index
    private static let some = """
        SELECT rowid FROM \(table) WHERE \(table) MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC
        """
    private static let ranking = """
        SELECT rowid, \(SearchRank.name)(\(table), ?2) FROM \(table) WHERE \(table) MATCH ?1 AND rowid < ?4
        ORDER BY rowid DESC LIMIT ?3
        """
    private static let counting = "SELECT count(*) FROM \(table) WHERE \(table) MATCH ?1"

    /// In FTS5's words.
    let expression: String
    let connection: Connection

    /// Calls `body` with the positions among `positions`, the last one first, until it returns false.
    func positions(
        in positions: ClosedRange<UInt64>, _ body: (UInt64) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) {
        let select = try connection.statement(Self.some)
        defer { select.reset() }
        try select.bind(1, .text(expression))
        try select.bind(2, positions.lowerBound)
        try select.bind(3, positions.upperBound)
        while try select.step() {
            guard try body(select.uint64(0)) else { return }
        }
    }

    /// Calls `body` with the last `most` positions before `end` and how well each fits; more is better.
    ///
    /// - Parameter tags: How many of the expression's phrases are tags.
    func ranks(
        tags: Int, before end: UInt64, most: Int, _ body: (UInt64, Double) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let select = try connection.statement(Self.ranking)
        defer { select.reset() }
        try select.bind(1, .text(expression))
        try select.bind(2, Int64(tags))
        try select.bind(3, Int64(most))
        try select.bind(4, end)
        while try select.step() { try body(select.uint64(0), select.double(1)) }
    }

    /// How many entries there are.
    func count() throws(DatabaseError) -> UInt64 {
        UInt64(clamping: try connection.integer(Self.counting, .text(expression)) ?? 0)
    }
}

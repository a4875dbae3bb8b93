extension ComparedRows {
    /// The words of the search, each with how often it stands in the index and what its places come to. The index itself is laid out by
    /// how it was written, and there are as many places as there are words in all texts. A word that queries do not find in as many
    /// entries stands there less than no times: they look words up in a table of FTS5 (`search_idx`) that the walk along all words does
    /// not read.
    static func words(_ connection: Connection) throws(DatabaseError) -> ComparedRows {
        let select = try instances(connection)
        var isAtEnd = try !select.step()
        return ComparedRows { () throws(DatabaseError) in
            if isAtEnd {
                select.reset()
                return nil
            }
            let word = select.cell(0)
            var (count, sum) = (Int64(0), UInt64(0))
            var (entries, last) = (Int64(0), UInt64?.none)
            repeat {
                count += 1
                if select.uint64(1) != last { entries += 1 }
                last = select.uint64(1)
                sum = (sum ^ select.uint64(1)) &* 0x9e37_79b9_7f4a_7c15
                sum = (sum ^ sum >> 29 ^ select.uint64(2)) &* 0xbf58_476d_1ce4_e5b9
                isAtEnd = try !select.step()
            } while !isAtEnd && select.cell(0) == word
            let found = try found(word, connection) ?? entries
            let times = found == entries ? count : -found - 1
            return ComparedRow(key: [word], values: [.integer(times), .integer(Int64(bitPattern: sum))])
        }
    }

    /// In how many entries a query finds a word; `nil` where none can name it.
    private static func found(_ word: Cell, _ connection: Connection) throws(DatabaseError) -> Int64? {
        guard case .text(let bytes) = word, let expression = SearchWords.expression(of: bytes) else { return nil }
        return Int64(clamping: try SearchIndex(expression: expression, connection: connection).count())
    }

    /// Every word at every place: the word, the position of the event, and which of its tokens. In order of the three.
    static func instances(_ connection: Connection) throws(DatabaseError) -> Statement {
        // The table that shows them is temporary, and reads what the index has.
        let isReading = try connection.integer("PRAGMA query_only") == 1
        if isReading { try connection.execute("PRAGMA query_only = OFF") }
        defer { if isReading { try? connection.execute("PRAGMA query_only = ON") } }
        try connection.execute(
            """
            CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_instance
            USING fts5vocab(main, '\(SearchView.index)', 'instance')
            """)
        let select = try connection.statement("SELECT term, doc, offset FROM temp.search_instance")
        select.reset()
        return select
    }

    /// How many words each entry has, as FTS5 keeps it beside them.
    static func lengths(_ connection: Connection) throws(DatabaseError) -> ComparedRows {
        try query("SELECT id, sz FROM search_docsize ORDER BY id", connection, key: 1, values: 1)
    }

    /// How FTS5 goes about its work, and how many entries and words it counts. What else stands in its tables is how the words are laid out, or
    /// is named by no segment and never read.
    static func settings(_ connection: Connection) throws(DatabaseError) -> ComparedRows {
        try query(
            "SELECT k, v FROM search_config UNION ALL SELECT 'totals', block FROM search_data WHERE id = 1 ORDER BY 1",
            connection, key: 1, values: 1)
    }
}

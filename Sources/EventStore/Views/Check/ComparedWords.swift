extension ComparedRows {
    /// The words of the search, each with how often it stands in the index and what its places come to: the index itself is laid out by
    /// how it was written, and there are as many places as there are words in all texts.
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
            repeat {
                count += 1
                sum = (sum ^ select.uint64(1)) &* 0x9e37_79b9_7f4a_7c15
                sum = (sum ^ sum >> 29 ^ select.uint64(2)) &* 0xbf58_476d_1ce4_e5b9
                isAtEnd = try !select.step()
            } while !isAtEnd && select.cell(0) == word
            return ComparedRow(key: [word], values: [.integer(count), .integer(Int64(bitPattern: sum))])
        }
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
}

internal import CSQLite

/// The tokenizer of the search index, for SQLite's FTS5: ``SearchTokens`` of a text, and before them its *tags*.
///
/// Tags are words of the store's own, such as whose text it is, so that a query for them reads what has them alone. They stand before the text
/// between two bytes that begin no token of a text: nothing that people write can be taken for one.
enum SearchTokenizer {
    /// As `CREATE VIRTUAL TABLE` names it.
    static let name = "sillok"
    static let tagsBegin: UInt8 = 1
    private static let tagsEnd: UInt8 = 2

    /// A text with its tags, as the index takes it and its queries name it. Tags are letters and digits.
    static func indexed(_ text: some Collection<UInt8>, tags: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count + 8 * tags.count + 2)
        for tag in tags {
            bytes.append(tagsBegin)
            bytes += tag.utf8
        }
        bytes.append(tagsEnd)
        bytes += text
        return bytes
    }

    /// Makes the tokenizer and the rank known to a connection. Before that, no statement may name a table that is made with it.
    static func register(on connection: Connection) throws(DatabaseError) {
        guard let api = try api(of: connection), let create = api.pointee.xCreateTokenizer else {
            throw connection.error("SQLite has no FTS5")
        }
        var methods = fts5_tokenizer(
            xCreate: { _, _, _, out in
                // It has no state of its own; FTS5 takes NULL for a failure.
                out?.pointee = OpaquePointer(bitPattern: 1)
                return SQLITE_OK
            },
            xDelete: { _ in },
            xTokenize: { _, context, _, text, bytes, take in
                guard let text, let take, bytes > 0 else { return SQLITE_OK }
                let raw = UnsafeRawBufferPointer(start: text, count: Int(bytes))
                return SearchTokenizer.tokenize(raw) { token, range in
                    token.withMemoryRebound(to: CChar.self) { token in
                        take(
                            context, 0, token.baseAddress, Int32(token.count), Int32(range.lowerBound),
                            Int32(range.upperBound))
                    }
                }
            })
        let code = create(api, name, nil, &methods, nil)
        guard code == SQLITE_OK, SearchRank.register(api) == SQLITE_OK else {
            throw connection.error("registering the tokenizer of the search")
        }
    }

    /// Calls `take` with each tag and token until it gives another code than `SQLITE_OK`, which is returned.
    private static func tokenize(
        _ bytes: UnsafeRawBufferPointer, _ take: (UnsafeBufferPointer<UInt8>, Range<Int>) -> Int32
    ) -> Int32 {
        var code = SQLITE_OK
        var start = 0
        while start < bytes.count, bytes[start] == tagsBegin {
            let end = bytes[(start + 1)...].firstIndex { $0 <= tagsEnd } ?? bytes.count
            let tag = UnsafeRawBufferPointer(rebasing: bytes[start..<end]).assumingMemoryBound(to: UInt8.self)
            code = take(tag, start..<end)
            guard code == SQLITE_OK else { return code }
            start = end
        }
        let text = UnsafeRawBufferPointer(rebasing: bytes[start...])
        SearchTokens.each(in: text) { token, range in
            code = take(token, range.lowerBound + start..<range.upperBound + start)
            return code == SQLITE_OK
        }
        return code
    }

    /// FTS5's own functions, which a connection gives only through a pointer that is bound to a statement.
    private static func api(of connection: Connection) throws(DatabaseError) -> UnsafeMutablePointer<fts5_api>? {
        let sql = "SELECT fts5(?1)"
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection.handle, sql, -1, &statement, nil) == SQLITE_OK else {
            throw connection.error(sql)
        }
        defer { sqlite3_finalize(statement) }
        var api: UnsafeMutablePointer<fts5_api>?
        withUnsafeMutablePointer(to: &api) { place in
            sqlite3_bind_pointer(statement, 1, place, "fts5_api_ptr", nil)
            sqlite3_step(statement)
        }
        return api
    }
}

internal import CSQLite

/// How well a text fits the words that are looked for, as a function of the index's queries: what share of the text they are. It depends on
/// the text and the words alone, so that all nodes rank alike and a text keeps its rank when others come.
enum SearchRank {
    /// As a query names it. Its second argument is how many phrases of the query are tags, which come first and count nothing.
    static let name = "sillok_rank"
    /// As in BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, §3.4.3), with a usual length for the average one and
    /// without the rarity of words: both would change with every text that comes.
    private static let saturation = 1.2
    private static let share = 0.75
    private static let usualLength = 32.0

    /// Makes the function known, through the functions of FTS5.
    static func register(_ api: UnsafeMutablePointer<fts5_api>) -> Int32 {
        guard let create = api.pointee.xCreateFunction else { return SQLITE_ERROR }
        return create(
            api, name, nil,
            { extensions, context, result, count, values in
                guard let extensions, count == 1, let values else { return sqlite3_result_null(result) }
                let tags = sqlite3_value_int(values[0])
                switch SearchRank.score(extensions.pointee, context, tags: tags) {
                case .some(let score): sqlite3_result_double(result, score)
                case .none: sqlite3_result_error_code(result, SQLITE_CORRUPT)
                }
            }, nil)
    }

    private static func score(_ fts: Fts5ExtensionApi, _ context: OpaquePointer?, tags: Int32) -> Double? {
        var (found, size): (Int32, Int32) = (0, 0)
        guard fts.xInstCount(context, &found) == SQLITE_OK, fts.xColumnSize(context, -1, &size) == SQLITE_OK else {
            return nil
        }
        let phrases = Int(fts.xPhraseCount(context))
        let weight = saturation * (1 - share + share * Double(size) / usualLength)
        return withUnsafeTemporaryAllocation(of: Double.self, capacity: max(phrases, 1)) { times in
            times.initialize(repeating: 0)
            for index in 0..<found {
                var (phrase, column, offset): (Int32, Int32, Int32) = (0, 0, 0)
                guard fts.xInst(context, index, &phrase, &column, &offset) == SQLITE_OK, phrase >= 0, phrase < phrases
                else { return nil }
                if phrase >= tags { times[Int(phrase)] += 1 }
            }
            return times.reduce(0) { $0 + $1 / ($1 + weight) }
        }
    }
}

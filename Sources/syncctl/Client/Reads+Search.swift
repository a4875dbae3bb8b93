internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// What a search has to say beside what it found.
struct SearchEnd {
    /// Whether that was all.
    var isWhole = true
    /// Events that it did not look at, for they are not indexed yet.
    var unindexed: UInt64 = 0

    /// Takes the last line of a daemon's page; the next one is wanted.
    fileprivate mutating func take(_ end: JSONObject) -> Bool {
        unindexed = end.integer("unindexed").map { UInt64(clamping: $0) } ?? 0
        return true
    }
}

// Where a search is asked: of a daemon or of files.
extension Reads {
    /// Calls `body` with the lines of what `query` finds, the newest first, at most `limit`.
    ///
    /// - Parameter words: As they were written.
    func search(
        _ query: SearchQuery, _ words: String, limit: Int, _ body: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> SearchEnd {
        // One more tells whether there are more.
        let wanted = limit == .max ? limit : limit + 1
        var count = 0
        var end = SearchEnd()
        func take(_ line: JSONObject) throws(CommandFailure) {
            count += 1
            if count <= limit { try body(line) }
        }
        if let pages, try pages.lines(.search, query.parameters(words), limit: wanted, ended: { end.take($0) }, take)
        {
            end.isWhole = count <= limit
            return end
        }
        let views = try views(isIndexed: true)
        let lines = try stored { try EventLines(views.log) }
        var bound: DisplayKey?
        repeat {
            let page = try stored { try views.search(query, limit: min(wanted - count, 500), before: bound) }
            for hit in page.hits { try take(try stored { try lines.line(hit) }.object) }
            (bound, end.unindexed) = (page.next, page.unindexed)
        } while bound != nil && count < wanted
        end.isWhole = count <= limit
        return end
    }

    /// Calls `body` with the lines of what fits best of what `query` finds, at most `limit`, which is no more than a page. It is whole
    /// if that was all, and all was ranked.
    func ranked(
        _ query: SearchQuery, _ words: String, limit: Int, _ body: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> SearchEnd {
        var end = SearchEnd()
        func take(_ line: JSONObject) -> Bool {
            end.isWhole = line.bool("more") == false
            return end.take(line)
        }
        let parameters = query.parameters(words) + [("order", "rank")]
        if let pages,
            try pages.lines(.search, parameters, limit: limit, ended: take, body)
        {
            return end
        }
        let views = try views(isIndexed: true)
        let lines = try stored { try EventLines(views.log) }
        let found = try stored { try views.ranked(query, limit: limit) }
        for hit in found.page.hits { try body(try stored { try lines.line(hit) }.object) }
        return SearchEnd(isWhole: found.isWhole, unindexed: found.page.unindexed)
    }

    /// How many texts the index has with the words.
    func searchCount(
        _ query: SearchQuery, _ words: String
    ) throws(CommandFailure) -> (texts: UInt64, end: SearchEnd) {
        var (count, end) = (UInt64?.none, SearchEnd())
        let parameters = query.parameters(words) + [("count", "1")]
        if let pages,
            try pages.lines(
                .search, parameters, limit: 1, ended: { end.take($0) },
                { line throws(CommandFailure) in count = line.integer("texts").map { UInt64(clamping: $0) } })
        {
            guard let count else { throw DaemonClient.misunderstood("no count") }
            return (count, end)
        }
        let views = try views(isIndexed: true)
        return try stored {
            end.unindexed = try views.unindexed()
            return (try views.searchCount(query), end)
        }
    }
}

extension SearchQuery {
    fileprivate func parameters(_ words: String) -> [(name: String, value: String)] {
        var all = [("q", words)]
        if let since { all.append(("since", Timestamp.text(since))) }
        if let until { all.append(("until", Timestamp.text(until))) }
        all += types.map { ("type", $0) }
        all += authors.map { ("author", $0) }
        all += conversations.map { ("conversation", $0) }
        all += users.map { ("user", $0) }
        return all + languages.map { ("language", $0) }
    }
}

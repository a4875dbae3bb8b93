internal import CommandLineKit
internal import EventStore
internal import SillokAPI

// Where a search is asked: of a daemon or of files.
extension Reads {
    /// Calls `body` with the lines of what `query` finds, the newest first, at most `limit`. Returns whether that was all.
    ///
    /// - Parameter words: As they were written.
    func search(
        _ query: SearchQuery, _ words: String, limit: Int, _ body: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> Bool {
        // One more tells whether there are more.
        let wanted = limit == .max ? limit : limit + 1
        var count = 0
        func take(_ line: JSONObject) throws(CommandFailure) {
            count += 1
            if count <= limit { try body(line) }
        }
        if let pages, try pages.lines(.search, query.parameters(words), limit: wanted, take) {
            return count <= limit
        }
        let views = try views()
        let lines = try stored { try EventLines(views.log) }
        var bound: DisplayKey?
        repeat {
            let page = try stored { try views.search(query, limit: min(wanted - count, 500), before: bound) }
            for hit in page.hits { try take(try stored { try lines.line(hit) }.object) }
            bound = page.next
        } while bound != nil && count < wanted
        return count <= limit
    }

    /// Calls `body` with the lines of what fits best of what `query` finds, at most `limit`, which is no more than a page. Returns whether
    /// that was all, and all was ranked.
    func ranked(
        _ query: SearchQuery, _ words: String, limit: Int, _ body: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> Bool {
        var isWhole = true
        let parameters = query.parameters(words) + [("order", "rank")]
        if let pages,
            try pages.lines(.search, parameters, limit: limit, ended: { isWhole = $0.bool("more") == false }, body)
        {
            return isWhole
        }
        let views = try views()
        let lines = try stored { try EventLines(views.log) }
        let found = try stored { try views.ranked(query, limit: limit) }
        for hit in found.page.hits { try body(try stored { try lines.line(hit) }.object) }
        return found.isWhole
    }

    /// How many texts the index has with the words.
    func searchCount(_ query: SearchQuery, _ words: String) throws(CommandFailure) -> UInt64 {
        var count: UInt64?
        let parameters = query.parameters(words) + [("count", "1")]
        if let pages,
            try pages.lines(
                .search, parameters, limit: 1,
                { line throws(CommandFailure) in count = line.integer("texts").map { UInt64(clamping: $0) } })
        {
            guard let count else { throw DaemonClient.misunderstood("no count") }
            return count
        }
        let views = try views()
        return try stored { try views.searchCount(query) }
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

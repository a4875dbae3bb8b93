// Of what the search finds, what fits best.
extension ViewReader {
    /// Entries of the index that are ranked, the last ones that came: a rank of each takes about a microsecond.
    private static let mostRanked = 500_000
    /// Texts that are read to see whether they stand and are seen: first so many, then four times as many, and then no more.
    private static let (firstRead, lastRead) = (64, 4_096)

    /// The texts that fit the words best, of those that are shown now: at most `limit`, those that fit alike by time, the newest first. There
    /// is no page behind it. `isWhole` is false where there were more, or too many to rank them all.
    package func ranked(
        _ query: SearchQuery, limit: Int, isSeen: ((EventHeader) throws(StoreError) -> Bool)? = nil
    ) throws(StoreError) -> (page: SearchPage, isWhole: Bool) {
        try searching(isSeen == nil) { () throws(StoreError) in
            var page = SearchPage()
            (page.position, page.unindexed) = (try progress(), try unindexed())
            guard let tags = try tags(query) else { return (page, true) }
            let limit = min(max(limit, 1), Self.mostHits)
            let matcher = SearchMatcher(query.words)
            var (best, ranked) = (RankedPlaces(limit: max(Self.firstRead, limit + 1)), 0)
            while true {
                try log.inOneTransaction { () throws(StoreError) in
                    ranked = try reading { connection throws(DatabaseError) in
                        try rank(query, tags, &best, connection)
                    }
                }
                var rest = best.places.map(\.position)[...]
                while !rest.isEmpty, page.hits.count <= limit {
                    let (events, dealtWith) = try log.events(at: Array(rest), bytes: Self.hitBytes)
                    guard dealtWith > 0 else { throw .corrupt("the index names event \(rest.first ?? 0)") }
                    rest = rest.dropFirst(dealtWith)
                    page.hits += try hits(seen(events, isSeen), query, matcher, isSeen)
                }
                guard best.isFull, page.hits.count <= limit, best.limit < Self.lastRead else { break }
                best = RankedPlaces(limit: min(4 * best.limit, Self.lastRead), behind: best.places.last)
            }
            let isWhole = page.hits.count <= limit && !best.isFull && ranked < Self.mostRanked
            page.hits.removeLast(max(0, page.hits.count - limit))
            return (page, isWhole)
        }
    }

    /// Ranks what the index has. Returns how many entries that were.
    private func rank(
        _ query: SearchQuery, _ tags: [[SearchTag]], _ best: inout RankedPlaces, _ connection: Connection
    ) throws(DatabaseError) -> Int {
        let index = SearchIndex(expression: query.words.expression(tags: tags), connection: connection)
        let (since, until) = (query.since ?? .min, query.until ?? .max)
        var (found, count) = (best, 0)
        try index.ranks(tags: tags.reduce(0) { $0 + $1.count }, most: Self.mostRanked) {
            position, score throws(DatabaseError) in
            count += 1
            guard found.mayTake(score) else { return }
            let key = try log.displayKey(at: position)
            guard key.time >= since, key.time < until || query.until == nil else { return }
            found.take(RankedPlaces.Place(score: score, key: key, position: position))
        }
        best = found
        return count
    }
}

/// The best of many entries, in order.
private struct RankedPlaces {
    struct Place: Comparable {
        let score: Double
        let key: DisplayKey
        let position: UInt64

        /// The better one, of equals the newer one, comes first.
        static func < (a: Place, b: Place) -> Bool { a.score == b.score ? a.key > b.key : a.score > b.score }
        static func == (a: Place, b: Place) -> Bool { a.position == b.position }
    }

    let limit: Int
    /// Only what comes behind it.
    private let first: Place?
    private(set) var places: [Place] = []

    init(limit: Int, behind first: Place? = nil) { (self.limit, self.first) = (limit, first) }

    var isFull: Bool { places.count == limit }

    /// Whether an entry of this score can be among them.
    func mayTake(_ score: Double) -> Bool {
        if let first, score > first.score { return false }
        guard isFull, let last = places.last else { return true }
        return score >= last.score
    }

    mutating func take(_ place: Place) {
        if let first, !(first < place) { return }
        if isFull, let last = places.last {
            guard place < last else { return }
            places.removeLast()
        }
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle] < place { low = middle + 1 } else { high = middle }
        }
        places.insert(place, at: low)
    }
}

// Of what the search finds, what fits best.
extension ViewReader {
    /// Entries of the index that are ranked, the last ones that came: a rank of each takes about a microsecond.
    private static let mostRanked = 500_000
    /// Of those who do not see all, so many at a time: which of them are seen is asked outside of the transaction that reads them.
    private static let rankedAtOnce = 20_000
    /// Texts that are read to see whether they stand: first so many, then four times as many, and then no more.
    private static let (firstRead, lastRead) = (64, 4_096)
    /// Rooms of users in which texts of others are ranked, the last ones: each is a word more to look for.
    private static let mostRankedRooms = 500

    /// The texts that fit the words best, of those that are shown now: at most `limit`, those that fit alike by time, the newest first. There
    /// is no page behind it. `isWhole` is false where there were more, or too many to rank them all.
    ///
    /// - Parameter users: Only their texts, and those of their rooms, are ranked; empty: all. What others say to each other, which is not
    ///   seen, is not asked about one by one then.
    package func ranked(
        _ query: SearchQuery, limit: Int, roomsOf users: [String] = [],
        isSeen: ((EventHeader) throws(StoreError) -> Bool)? = nil
    ) throws(StoreError) -> (page: SearchPage, isWhole: Bool) {
        try searching(isSeen == nil) { () throws(StoreError) in
            var page = SearchPage()
            (page.position, page.unindexed) = (try progress(), try unindexed())
            guard var tags = try tags(query) else { return (page, true) }
            var hasAllRooms = true
            if !users.isEmpty {
                let own = try ownTags(users)
                guard !own.tags.isEmpty else { return (page, true) }
                tags.append(own.tags)
                hasAllRooms = own.isAll
            }
            let limit = min(max(limit, 1), Self.mostHits)
            let matcher = SearchMatcher(query.words)
            var (best, ranked) = (RankedPlaces(limit: max(Self.firstRead, limit + 1)), 0)
            var known = Verdicts()
            while true {
                ranked = try rank(query, tags, &best, isSeen)
                var rest = best.places.map(\.position)[...]
                while !rest.isEmpty, page.hits.count <= limit {
                    let (events, dealtWith) = try log.events(at: Array(rest), bytes: Self.hitBytes)
                    guard dealtWith > 0 else { throw .corrupt("the index names event \(rest.first ?? 0)") }
                    rest = rest.dropFirst(dealtWith)
                    page.hits += try hits(events, query, matcher, isSeen, &known)
                }
                guard best.isFull, page.hits.count <= limit, best.limit < Self.lastRead else { break }
                best = RankedPlaces(limit: min(4 * best.limit, Self.lastRead), behind: best.places.last)
            }
            let isWhole = page.hits.count <= limit && !best.isFull && ranked < Self.mostRanked && hasAllRooms
            page.hits.removeLast(max(0, page.hits.count - limit))
            return (page, isWhole)
        }
    }

    /// Ranks what the index has, and keeps what is seen. Returns how many entries it looked at.
    private func rank(
        _ query: SearchQuery, _ tags: [[SearchTag]], _ best: inout RankedPlaces,
        _ isSeen: ((EventHeader) throws(StoreError) -> Bool)?
    ) throws(StoreError) -> Int {
        let expression = query.words.expression(tags: tags)
        let atOnce = isSeen == nil ? Self.mostRanked : Self.rankedAtOnce
        var (count, end, isEnd) = (0, UInt64(Int64.max), false)
        while count < Self.mostRanked, !isEnd {
            var (found, waiting, left) = (best, [(position: UInt64, score: Double)](), atOnce)
            try log.inOneTransaction { () throws(StoreError) in
                try reading { connection throws(DatabaseError) in
                    let index = SearchIndex(expression: expression, connection: connection)
                    try index.ranks(tags: tags.reduce(0) { $0 + $1.count }, before: end, most: atOnce) {
                        position, score throws(DatabaseError) in
                        (end, left) = (position, left - 1)
                        guard found.mayTake(score) else { return }
                        if isSeen != nil { return waiting.append((position, score)) }
                        let key = try log.displayKey(at: position)
                        if query.covers(key.time) {
                            found.take(RankedPlaces.Place(score: score, key: key, position: position))
                        }
                    }
                }
            }
            best = found
            if let isSeen {
                for (position, score) in waiting where best.mayTake(score) {
                    guard let header = try log.header(at: position), query.covers(header.displayKey.time),
                        try isSeen(header)
                    else { continue }
                    best.take(RankedPlaces.Place(score: score, key: header.displayKey, position: position))
                }
            }
            (count, isEnd) = (count + atOnce - left, left > 0)
        }
        return count
    }

    /// The tags of what users have written, and of their rooms: all, or the last ones.
    private func ownTags(_ users: [String]) throws(StoreError) -> (tags: [SearchTag], isAll: Bool) {
        var (tags, isAll) = ([SearchTag](), true)
        for user in users {
            let own = try ownRows(user)
            var rooms = try reading { connection throws(DatabaseError) in
                try Occupant.apart(user, limit: Self.mostRankedRooms + 1, connection)
                    + Occupant.inOrder(
                        user, from: .max, after: nil, limit: Self.mostRankedRooms + 1, connection)
                    + (own.map { own throws(DatabaseError) in try plainRooms(user, own, connection) } ?? [])
            }
            rooms.sort { $0.hour > $1.hour }
            if rooms.count > Self.mostRankedRooms { isAll = false }
            if let own { tags += [.user(own.ref), .author(own.ref)] }
            tags += rooms.prefix(Self.mostRankedRooms).map { .conversation($0.conversation) }
        }
        return (tags, isAll)
    }
}

extension SearchQuery {
    fileprivate func covers(_ time: Int64) -> Bool {
        time >= since ?? .min && (until.map { time < $0 } ?? true)
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

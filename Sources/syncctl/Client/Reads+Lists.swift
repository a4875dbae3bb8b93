internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// What users have in lists of their own, from the daemon or from the store's files.
extension Reads {
    /// Calls `body` with the lines of a user's conversations, the latest message first, at most `limit`.
    func rooms(
        of user: String, _ query: RoomQuery, _ filter: RoomFilter, in language: Language, limit: Int,
        _ body: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        let parameters = filter.parameters + [("language", language.rawValue)]
        if let pages, try pages.lines(.rooms(user: user), parameters, limit: limit, body) { return }
        let views = try views()
        var left = limit
        var place: RoomPlace?
        repeat {
            let page = try stored { try views.rooms(of: user, query, limit: min(left, 500), after: place) }
            for room in page.rooms { try body(JSONLine(room, in: language).object) }
            left -= page.rooms.count
            place = page.next
        } while place != nil && left > 0
    }

    /// Calls `body` with the lines of a user's contacts, by id, at most `limit`.
    func contacts(
        of user: String, limit: Int, _ body: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        if let pages, try pages.lines(.contacts(user: user), [], limit: limit, body) { return }
        let views = try views()
        var left = limit
        var last: String?
        while left > 0 {
            let page = try stored { try views.contacts(of: user, after: last, limit: min(left, 500)) }
            if page.isEmpty { return }
            for contact in page { try body(JSONLine(contact).object) }
            left -= page.count
            last = page.last?.contact
        }
    }

    /// Calls `body` with the lines of what a user looked for, at most `limit`.
    func searches(
        of user: String, scope: String?, match: String?, order: RecentSearchOrder, limit: Int,
        _ body: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var parameters: [(name: String, value: String)] = [("sort", order.rawValue)]
        if let scope { parameters.append(("scope", scope)) }
        if let match { parameters.append(("match", match)) }
        if let pages, try pages.lines(.searches(user: user), parameters, limit: limit, body) { return }
        let views = try views()
        let found = try stored { try views.recentSearches(of: user, scope: scope, match: match, order: order) }
        for search in found.prefix(limit) { try body(JSONLine(search).object) }
    }

    /// Calls `body` with the last messages of a user's conversations that they saw, in display order: at most `limit`.
    func received(
        by user: String, _ query: TimelineQuery, limit: Int, _ body: (TimelineRow) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        if let pages {
            var newest: [JSONObject] = []
            let take = { (line: JSONObject) throws(CommandFailure) in newest.append(line) }
            let parameters = query.receivedParameters
            if try pages.lines(.history(user: user), parameters, limit: limit, take) {
                for line in newest.reversed() { try body(.line(line)) }
                return
            }
        }
        let views = try views()
        let lines = try stored { try EventLines(views.log) }
        var newest: [TimelineEntry] = []
        var bound: DisplayKey?
        repeat {
            let page = try stored {
                try views.received(by: user, query, limit: min(limit - newest.count, 500), before: bound) {
                    conversation throws(StoreError) in try Membership.seen(by: user, in: conversation, views)
                }
            }
            newest += page.entries
            bound = page.next
        } while bound != nil && newest.count < limit
        for entry in newest.reversed() { try body(.entry(entry, lines)) }
    }
}

/// Which of a list of conversations are wanted, as options say it.
struct RoomFilter {
    let category: String?
    let match: String?
    var isAll = false
    /// With the words with which they began.
    var withFirst = false

    /// All but those that are hidden.
    init() { (category, match) = (nil, nil) }

    /// What an option of that name says, where the command has it.
    init(_ session: Session) throws(CommandFailure) {
        category = session.has("category") ? session.arguments.value("category") : nil
        match = session.arguments.value("match")
        if session.has("hidden") { isAll = session.arguments.flag("hidden") }
        if session.has("beginning") { withFirst = session.arguments.flag("beginning") }
        _ = try words
    }

    private var words: TitleWords? {
        get throws(CommandFailure) { try match.map { text throws(CommandFailure) in try Self.words(text) } }
    }

    var query: RoomQuery {
        get throws(CommandFailure) {
            var query = RoomQuery()
            (query.isAll, query.category, query.match) = (isAll, category, try words)
            query.withFirst = withFirst
            return query
        }
    }

    var parameters: [(name: String, value: String)] {
        var all: [(name: String, value: String)] = []
        if let category { all.append(("category", category)) }
        if let match { all.append(("match", match)) }
        if isAll { all.append(("all", "1")) }
        if withFirst { all.append(("first", "1")) }
        return all
    }

    /// Words by which names and titles are found; says so where there are none.
    static func words(_ text: String) throws(CommandFailure) -> TitleWords {
        guard let words = TitleWords(text) else {
            throw usageFailure("--match '\(text)': no letter and no digit", hint: "the beginning of a name or a word")
        }
        return words
    }
}

extension TimelineQuery {
    fileprivate var receivedParameters: [(name: String, value: String)] {
        var all = [("received", "1")]
        if let since { all.append(("since", Timestamp.text(since))) }
        if let until { all.append(("until", Timestamp.text(until))) }
        return all + authors.map { ("author", $0) }
    }
}

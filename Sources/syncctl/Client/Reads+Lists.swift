internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// What users have in lists of their own, from the daemon or from the store's files.
extension Reads {
    /// Calls `body` with the lines of a user's conversations, the latest message first, at most `limit`. Says how far it has looked.
    func rooms(
        of user: String, _ query: RoomQuery, _ filter: RoomFilter, in language: Language, limit: Int,
        _ body: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> ListLook {
        let parameters = filter.parameters + [("language", language.rawValue)]
        var look = ListLook(filter, limit: limit, page: ListLook.rooms)
        let ended = { look.goesOn(behind: $0) }
        let route = ReadRoute.rooms(user: user)
        if let pages, try pages.lines(route, parameters, limit: limit, ended: ended, body) { return look }
        let views = try views()
        var left = limit
        var place: RoomPlace?
        var goesOn = true
        repeat {
            let page = try stored {
                try views.rooms(of: user, query, limit: min(left, 500), after: place) {
                    conversation throws(StoreError) in try Membership.seen(by: user, in: conversation, views)
                }
            }
            for room in page.rooms { try body(JSONLine(room, in: language).object) }
            left -= page.rooms.count
            place = page.next
            if page.cut == .rows { goesOn = look.goesOn() }
        } while place != nil && left > 0 && goesOn
        return look
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

/// How far a list is looked through for what a filter wants: of very many, few may match. `--all` looks at all of them.
struct ListLook {
    /// What a page looks at, whether or not it is wanted: a daemon's as well.
    static let (conversations, rooms) = (1_000, 2_000)
    private static let mostPages = 100

    /// How many are looked at.
    let most: Int
    private var left: Int?
    /// Whether more might match behind what was looked at.
    private(set) var isCut = false

    init(_ filter: RoomFilter, limit: Int, page: Int) {
        most = page * Self.mostPages
        left = filter.isNarrow && limit < .max ? Self.mostPages : nil
    }

    /// Whether it goes on behind a page that has ended for what it had looked at.
    mutating func goesOn() -> Bool {
        guard let pages = left else { return true }
        (left, isCut) = (pages - 1, pages <= 1)
        return !isCut
    }

    mutating func goesOn(behind end: JSONObject) -> Bool {
        end.string("cut") == PageCut.rows.rawValue ? goesOn() : true
    }

    /// Says how a list has ended, and tells that it was cut.
    func end(_ count: Int, _ session: Session) -> ExitCode {
        if isCut {
            session.remark(.lookedAtMany, String(most))
            return .degraded
        }
        if count == 0 { session.say(.noConversations) }
        return count == 0 ? .nothingFound : .success
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

    /// Whether few may match of what is looked at.
    var isNarrow: Bool { category != nil || match != nil }

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

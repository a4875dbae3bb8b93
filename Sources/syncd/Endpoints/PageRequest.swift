internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// Which part of an answer is asked for: the parameters of a ``ReadRoute``.
struct PageRequest: Sendable {
    private static let usual = 50

    let route: ReadRoute
    private let scope: UInt64
    let limit: Int
    private let cursor: PageCursor?
    let isNewestFirst: Bool
    /// Of a timeline.
    let query: TimelineQuery
    /// Of what led to an event.
    let causes: CauseLimits
    let question: String?
    /// Of a survey: counts by group.
    let surveyGroups: SurveyQuery?
    /// What is searched for.
    let words: SearchQuery?
    /// How the names begin that are looked for.
    let match: String
    /// Which conversations are wanted.
    let rooms: RoomQuery
    /// Of a history: messages of all in the user's conversations.
    let isReceived: Bool
    /// Of those who take part: only whose ids come after it.
    let after: String?
    let searchScope: String?
    let searchOrder: RecentSearchOrder
    /// Of what stands for messages that have no text.
    let language: Language
    /// Of a search: what fits best comes first.
    let isRanked: Bool
    /// Of a search: only how many texts there are.
    let isCount: Bool
    /// Of when the answer is, as far as that is asked for.
    let moment: PointInTime
    /// Of attachments: whose, and only those that stand so.
    let attachmentOwner: AttachmentOwner
    let attachmentState: AttachmentState?
    /// How long an answer without lines may wait for some, milliseconds.
    let wait: Int
    /// What the answer must have.
    let atLeast: VersionVector

    init(_ route: ReadRoute, _ request: HTTPRequest) throws(BadParameter) {
        self.route = route
        scope = PageCursor.scope(route, request.query.map { (name: $0.name, value: $0.value) })
        limit = request.number("limit") ?? Self.usual
        cursor = try Self.cursor(request, route, scope)
        isNewestFirst = request.queryItem("order") != "oldest"
        question = request.queryItem("question")
        match = request.queryItem("match") ?? ""
        let words = try request.queryItem("match").map { text throws(BadParameter) in
            guard let words = TitleWords(text) else {
                throw BadParameter(
                    message: "match: no letter and no digit", hint: "the beginning of a name or a word")
            }
            return words
        }
        var rooms = RoomQuery()
        rooms.isAll = request.queryItem("all") == "1"
        rooms.withFirst = request.queryItem("first") == "1"
        (rooms.category, rooms.match) = (request.queryItem("category"), words)
        self.rooms = rooms
        isReceived = request.queryItem("received") == "1"
        if isReceived { try Self.requireReceivable(request) }
        after = request.queryItem("after")
        guard after != "" else { throw BadParameter(message: "after: the id of who takes part, or not given") }
        searchScope = request.queryItem("scope")
        searchOrder = request.queryItem("sort").flatMap(RecentSearchOrder.init) ?? .date
        language = request.queryItem("language").flatMap(Language.init) ?? .korean
        isRanked = request.queryItem("order") == "rank"
        isCount = request.queryItem("count") == "1"
        causes = CauseLimits(
            rows: request.number("limit") ?? CauseLimits.usual.rows,
            depth: request.number("depth") ?? CauseLimits.usual.depth)
        wait = request.number("wait_ms") ?? 0
        (attachmentOwner, attachmentState) = try Self.attachments(route, request)
        atLeast = try Self.vector(request)
        var query = TimelineQuery()
        query.since = request.queryItem("since").flatMap(Timestamp.milliseconds)
        query.until = request.queryItem("until").flatMap(Timestamp.milliseconds)
        query.types = request.queryItems("type")
        if let pattern = TypePattern.first(in: query.types) {
            throw BadParameter(
                message: "type: '\(pattern)' is a pattern, and no type",
                hint: "each type by its name; subscriptions and GET /v1/changes take patterns")
        }
        let role = request.queryItem("role").flatMap(DialogueRole.init(rawValue:))
        query.types = role?.types(among: query.types) ?? query.types
        query.authors = request.queryItems("author")
        query.conversations = request.queryItems("conversation")
        self.words = route == .search ? try Self.words(request, query) : nil
        var moment = PointInTime()
        moment.asOf = request.queryItem("as_of").flatMap(Timestamp.milliseconds)
        moment.knownAt = request.queryItem("known_at").flatMap { UInt64($0) }
        if moment.knownAt == nil {
            moment.knownTime = request.queryItem("known_at").flatMap(Timestamp.milliseconds)
        }
        self.moment = moment
        surveyGroups = try Self.surveyGroups(request, query, moment)
        (query.asOf, query.knownTime) = (moment.asOf, moment.knownTime)
        query.knownAt = [moment.knownAt, cursor?.end.position].compactMap { $0 }.min()
        self.query = query
    }

    /// Behind it the page begins; `nil`: at the beginning.
    var place: PagePlace? { cursor?.place }

    /// Behind it the next events of the log begin.
    var position: UInt64 { place == .log ? cursor?.end.position ?? 0 : 0 }

    /// The cursor of the next page.
    ///
    /// - Parameter end: Where the log ended when this page was made; of the log itself where the page ended.
    func next(_ place: PagePlace, _ end: LogPlace) -> String {
        PageCursor(scope: scope, end: place == .log ? end : cursor?.end ?? end, place: place).text
    }

    /// Whether it goes on in this log: a log that is another one, or was cut, has other events at the same positions.
    func goesOn(in log: LogReader) throws(StoreError) -> Bool {
        guard let cursor else { return true }
        return try log.has(cursor.end)
    }

    /// Refuses what does not go with `received`.
    private static func requireReceivable(_ request: HTTPRequest) throws(BadParameter) {
        for name in ["type", "role", "conversation"] where !request.queryItems(name).isEmpty {
            throw BadParameter(
                message: "\(name): not with received, which has the messages of all the user's conversations",
                hint: "since, until and author go with it")
        }
        for name in ["as_of", "known_at"] where request.queryItem(name) != nil {
            throw BadParameter(
                message: "\(name): not with received: who was in which conversation is told as of now",
                hint: "until tells what was said before a time")
        }
        if request.queryItem("order") == "oldest" {
            throw BadParameter(message: "order: what was received is told the newest first")
        }
    }

    private static func words(
        _ request: HTTPRequest, _ query: TimelineQuery
    ) throws(BadParameter) -> SearchQuery {
        let said: SearchWords
        do throws(SearchWords.Refusal) {
            said = try SearchWords(request.queryItem("q") ?? "")
        } catch {
            throw BadParameter(message: "q: \(error.description)", hint: error.hint)
        }
        var words = SearchQuery(said)
        (words.since, words.until) = (query.since, query.until)
        (words.types, words.authors, words.conversations) = (query.types, query.authors, query.conversations)
        words.users = request.queryItems("user")
        words.languages = request.queryItems("language")
        if request.queryItem("count") == "1", !words.isCountable {
            throw BadParameter(
                message: "count: goes by what the index has: beside q only user and conversation",
                hint: "without count, page by page")
        }
        return words
    }

    private static func attachments(
        _ route: ReadRoute, _ request: HTTPRequest
    ) throws(BadParameter) -> (AttachmentOwner, AttachmentState?) {
        guard route == .attachments else { return (.all, nil) }
        let state = request.queryItem("state").flatMap { text in AttachmentState.allCases.first { $0.text == text } }
        let (user, conversation) = (request.queryItem("user"), request.queryItem("conversation"))
        guard [user != nil, conversation != nil, state != nil].filter({ $0 }).count <= 1 else {
            throw BadParameter(message: "user, conversation and state do not go together", hint: "one of them")
        }
        return (user.map { .user($0) } ?? conversation.map { .conversation($0) } ?? .all, state)
    }

    private static func surveyGroups(
        _ request: HTTPRequest, _ query: TimelineQuery, _ moment: PointInTime
    ) throws(BadParameter) -> SurveyQuery? {
        guard let grouping = request.queryItem("by").flatMap(SurveyGrouping.init) else {
            for name in ["choice", "offset"] where request.queryItem(name) != nil {
                throw BadParameter(message: "\(name): goes with by")
            }
            return nil
        }
        guard moment.isNow else {
            throw BadParameter(message: "by: of now alone", hint: "until tells what was answered before a time")
        }
        var groups = SurveyQuery(by: grouping)
        (groups.question, groups.choice) = (request.queryItem("question"), request.queryItem("choice"))
        (groups.since, groups.until) = (query.since, query.until)
        if let text = request.queryItem("offset") {
            guard let seconds = TimeFormat.seconds(offset: text) else {
                throw BadParameter(message: "offset: not as +09:00")
            }
            groups.offset = Int64(seconds) * 1_000
        }
        return groups
    }

    private static func vector(_ request: HTTPRequest) throws(BadParameter) -> VersionVector {
        guard let text = request.queryItem("at_least") else { return VersionVector() }
        guard let vector = VersionVector(text: text), !vector.entries.isEmpty else {
            throw BadParameter(
                message: "at_least: no vector",
                hint: "<origin>/<seq>, as an append answers, with blanks between several")
        }
        return vector
    }

    private static let noCursor = BadParameter(
        message: "cursor: none of this request",
        hint:
            "the text of 'next' from the page before, with the same path and parameters but for limit, wait_ms and at_least"
    )

    private static func cursor(
        _ request: HTTPRequest, _ route: ReadRoute, _ scope: UInt64
    ) throws(BadParameter) -> PageCursor? {
        guard let text = request.queryItem("cursor") else { return nil }
        guard let cursor = PageCursor(text: text), cursor.scope == scope, route.hasPlace(cursor.place) else {
            throw noCursor
        }
        return cursor
    }
}

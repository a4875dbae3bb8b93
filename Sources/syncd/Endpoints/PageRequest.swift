internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// Which part of an answer is asked for: the parameters of a ``ReadRoute``.
struct PageRequest: Sendable {
    static let most = 500
    private static let usual = 50
    /// Longest wait of one request, milliseconds.
    private static let longestWait: UInt64 = 25_000

    let route: ReadRoute
    private let scope: UInt64
    let limit: Int
    private let cursor: PageCursor?
    let isNewestFirst: Bool
    /// Of a timeline.
    let query: TimelineQuery
    let question: String?
    /// How long an answer without lines may wait for some, milliseconds.
    let wait: Int

    init(_ route: ReadRoute, _ request: HTTPRequest) throws(BadParameter) {
        self.route = route
        try request.requireParameters(route.parameters, repeatable: ReadRoute.repeatable)
        scope = PageCursor.scope(route, request.query.map { (name: $0.name, value: $0.value) })
        limit = try request.number("limit", in: 1...UInt64(Self.most)).map { Int($0) } ?? Self.usual
        cursor = try Self.cursor(request, route, scope)
        isNewestFirst = try Self.isNewestFirst(request)
        question = request.queryItem("question")
        wait = try request.number("wait_ms", in: 0...Self.longestWait).map { Int($0) } ?? 0
        var query = TimelineQuery()
        query.since = try Self.time(request, "since")
        query.until = try Self.time(request, "until")
        query.types = request.queryItems("type") + (try Self.role(request)?.types ?? [])
        query.authors = request.queryItems("author")
        query.conversations = request.queryItems("conversation")
        let known = try request.number("known_at", in: 0...UInt64(Int64.max))
        query.knownAt = [known, cursor?.end.position].compactMap { $0 }.min()
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

    private static let noCursor = BadParameter(
        message: "cursor: none of this request",
        hint: "the text of 'next' from the page before, with the same path and parameters but for limit and wait_ms")

    private static func role(_ request: HTTPRequest) throws(BadParameter) -> DialogueRole? {
        guard let text = request.queryItem("role") else { return nil }
        guard let role = DialogueRole(rawValue: text) else {
            let names = DialogueRole.allCases.map(\.rawValue).joined(separator: ", ")
            throw BadParameter(message: "role: '\(text)' is none", hint: names)
        }
        return role
    }

    private static func cursor(
        _ request: HTTPRequest, _ route: ReadRoute, _ scope: UInt64
    ) throws(BadParameter) -> PageCursor? {
        guard let text = request.queryItem("cursor") else { return nil }
        guard let cursor = PageCursor(text: text), cursor.scope == scope, route.hasPlace(cursor.place) else {
            throw noCursor
        }
        return cursor
    }

    private static func isNewestFirst(_ request: HTTPRequest) throws(BadParameter) -> Bool {
        switch request.queryItem("order") {
        case nil, "newest": return true
        case "oldest": return false
        default: throw BadParameter(message: "order: newest or oldest")
        }
    }

    private static func time(_ request: HTTPRequest, _ name: String) throws(BadParameter) -> Int64? {
        guard let text = request.queryItem(name) else { return nil }
        guard let time = Timestamp.milliseconds(text) else {
            throw BadParameter(message: "\(name): no time of RFC 3339", hint: "as 2026-08-01T09:00:00+09:00")
        }
        return time
    }
}

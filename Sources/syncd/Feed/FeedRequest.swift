internal import Access
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// What `GET /v1/changes` asks for.
struct FeedRequest: Sendable {
    /// How the events are given.
    enum Face: Hashable, Sendable {
        /// One page of JSON with at most `limit` events; an empty one waits so many milliseconds for some.
        case page(limit: Int, wait: Int)
        /// NDJSON without end.
        case lines
        /// Server-sent events without end (WHATWG HTML §9.2).
        case eventStream

        /// As figures name it.
        enum Name: String, CaseIterable, Sendable {
            case page, ndjson, sse
        }

        var name: Name {
            switch self {
            case .page: .page
            case .lines: .ndjson
            case .eventStream: .sse
            }
        }
    }

    let face: Face
    let start: FeedStart
    let filter: EventFilter
    /// Only what this node has appended.
    let isLocal: Bool
    /// Also what matters only now.
    let isLive: Bool
    let caller: Caller
    /// Why a caller reads whose reads are recorded.
    let reason: String?
    /// Of the access log: the path, and to what the feed is narrowed.
    let subject: String

    /// What it wants, at the node that appends to `own`.
    func filter(at own: OriginID) -> EventFilter {
        var filter = filter
        if isLocal { filter.origins.insert(own) }
        return filter
    }

    private static let usualEvents = 50
    /// Most of the last events that it may begin with.
    private static let mostLast = 1_000
    /// Most values of one condition.
    private static let mostValues = 1_000

    init(_ request: HTTPRequest, _ caller: Caller) throws(BadParameter) {
        (self.caller, reason) = (caller, AccessLog.reason(request))
        face = try Self.face(request)
        // A browser that connects again says so.
        let header = request.header("Last-Event-ID")
        start = try Self.start(header ?? request.queryItem("after"), header == nil ? "after" : "Last-Event-ID")
        (filter, isLocal) = try Self.filter(request)
        subject = AccessLog.subject(request)
        isLive = request.queryItem("live") == "1"
        if isLive, case .page = face { throw BadParameter(message: "live: only a stream has live items") }
    }

    private static let repeatable: Set<String> = ["type", "user", "author", "conversation", "origin"]

    private static func face(_ request: HTTPRequest) throws(BadParameter) -> Face {
        let accept = request.header("Accept")?.lowercased() ?? ""
        let isStream = accept.contains("text/event-stream") || accept.contains("application/x-ndjson")
        for name in ["limit", "wait_ms"] where isStream && request.queryItem(name) != nil {
            throw BadParameter(message: "\(name): a stream has none", hint: "Accept: application/json")
        }
        if accept.contains("text/event-stream") { return .eventStream }
        if isStream { return .lines }
        return .page(limit: request.number("limit") ?? usualEvents, wait: request.number("wait_ms") ?? 0)
    }

    /// - Parameter name: What says it.
    private static func start(_ text: String?, _ name: String) throws(BadParameter) -> FeedStart {
        switch text {
        case nil, "now": return .now
        case "first": return .first
        case let text?:
            if let cursor = FeedCursor(text: text) { return .cursor(cursor) }
            if text.contains("/"), let vector = VersionVector(text: text) { return .vector(vector) }
            if let time = Timestamp.milliseconds(text) { return .time(time) }
            if text.hasPrefix("last:"), let count = Int(text.dropFirst("last:".count)), (0...mostLast).contains(count)
            {
                return .last(count)
            }
            throw BadParameter(
                message: "\(name): none of the places to begin at",
                hint:
                    "now, first, the cursor of an event, <origin>/<seq> of each origin with blanks between, a time (RFC 3339), "
                    + "or last:N with N up to \(mostLast)")
        }
    }

    private static func filter(_ request: HTTPRequest) throws(BadParameter) -> (EventFilter, isLocal: Bool) {
        var filter = EventFilter()
        filter.types = request.queryItems("type")
        if let type = TypePattern.misspelt(in: filter.types) {
            throw BadParameter(message: "type: '\(type)' is no pattern", hint: TypePattern.hint)
        }
        filter.users = TextSet(request.queryItems("user"))
        filter.authors = TextSet(request.queryItems("author"))
        filter.conversations = TextSet(request.queryItems("conversation"))
        var isLocal = false
        for text in request.queryItems("origin") {
            if text == "local" {
                isLocal = true
            } else if let origin = OriginID(text: text) {
                filter.origins.insert(origin)
            } else {
                throw BadParameter(message: "origin: '\(text)' is none", hint: "local, or the id of an origin")
            }
        }
        if let empty = request.query.first(where: { repeatable.contains($0.name) && $0.value.isEmpty }) {
            throw BadParameter(message: "\(empty.name): empty", hint: "leave it out for all")
        }
        guard request.query.count <= mostValues else {
            throw BadParameter(message: "more than \(mostValues) conditions")
        }
        return (filter, isLocal)
    }
}

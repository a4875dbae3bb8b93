internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// A row of a timeline.
enum TimelineRow {
    /// The daemon's line.
    case line(JSONObject)
    /// An event of the log, with what became of it; and what makes lines of such.
    case entry(TimelineEntry, EventLines)
}

/// Where a command reads what views answer: from the daemon that has the store open; where none has it open, or it cannot
/// answer now, from the store's files. Both give the same lines.
final class Reads {
    private let session: Session
    /// `nil`: of a node that was named.
    private let location: StoreLocation?
    let pages: DaemonPages?
    private var opened: ViewReader?

    init(_ session: Session) throws(CommandFailure) {
        self.session = session
        if let named = try DaemonClient.named(by: session) {
            (location, pages) = (nil, DaemonPages(client: named))
            return
        }
        let location = try StoreLocation.find(for: session)
        self.location = location
        // Another owner, such as an import, has no API.
        pages = (try? DaemonClient.running(location.files)).flatMap { $0 }.map(DaemonPages.init)
    }

    /// Whether a node was named: it has no files here.
    var isElsewhere: Bool { location == nil }

    /// The same place for what is read otherwise than by these functions.
    var place: NodeOrFiles {
        get throws(CommandFailure) {
            if let pages { return .daemon(pages.client) }
            return .files(try files())
        }
    }

    /// The files of the store here; where there is none, says so.
    private func files() throws(CommandFailure) -> StoreFiles {
        if let location { return location.files }
        return try StoreLocation.find(for: session).files
    }

    /// The store's log.
    func log() throws(CommandFailure) -> LogReader {
        let files = try files()
        return try stored { try LogReader(files) }
    }

    /// - Parameter isIndexed: Whether searches are to find all in them.
    func views(isIndexed: Bool = false) throws(CommandFailure) -> ViewReader {
        if let opened, !isIndexed { return opened }
        let views = try FreshViews.open(session, files(), isIndexed: isIndexed)
        opened = views
        return views
    }

    /// Calls `body` with what `query` finds of an owner's events, in display order.
    func timeline(
        _ owner: TimelineOwner, _ query: TimelineQuery, _ body: (TimelineRow) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        if let pages, try pages.timeline(owner, query, { line throws(CommandFailure) in try body(.line(line)) }) {
            return
        }
        let views = try views()
        let lines = try stored { try EventLines(views.log) }
        var failure: CommandFailure?
        func take(_ entry: TimelineEntry) -> Bool {
            do throws(CommandFailure) { try body(.entry(entry, lines)) } catch { failure = error }
            return failure == nil
        }
        _ = try stored {
            switch owner {
            case .user(let user): try views.history(user: user, query, take)
            case .conversation(let id): try views.conversation(id, query, take)
            }
        }
        if let failure { throw failure }
    }

    /// The event of this id; of several the same one counts on every node. `nil` if there is none.
    func event(_ id: EventID) throws(CommandFailure) -> StoredEvent? {
        if let pages {
            var found: StoredEvent?
            let take = { (line: JSONObject) throws(CommandFailure) in found = StoredEvent(native: line) }
            if try pages.lines(.event(id.description), [], limit: 1, take) { return found }
        }
        let log = try log()
        return try stored { try log.countingEvent(id: id) }
    }

    /// What led to the event of this id and what followed, a line each; none if there is no such event.
    func why(_ id: EventID, _ limits: CauseLimits) throws(CommandFailure) -> [JSONObject] {
        let parameters = [("limit", String(limits.rows)), ("depth", String(limits.depth))]
        return try all(.why(id.description), parameters) { views throws(StoreError) in
            guard let event = try views.log.countingEvent(id: id) else { return [] }
            return try CauseLines.lines(try views.causes(of: event, limits), EventLines(views.log))
        }
    }

    /// Those of who takes part in a conversation that are read with it.
    static let mostParticipants = 100

    /// The conversation's line, and the first of who takes part; `nil` if there is no such conversation.
    func conversation(
        _ id: String, at moment: PointInTime = PointInTime()
    ) throws(CommandFailure) -> (summary: JSONObject, participants: [JSONObject])? {
        let most = Self.mostParticipants
        let lines = try all(.conversation(id), moment.parameters, limit: most) { views throws(StoreError) in
            guard let summary = try views.conversationSummary(id, at: moment) else { return [] }
            guard moment.isNow else {
                let people = try views.participants(of: id, at: moment)
                return [JSONLine(summary, people: UInt64(people.count))] + people.prefix(most).map { JSONLine($0) }
            }
            return [JSONLine(summary, people: try views.people(of: id))]
                + (try views.participants(of: id, limit: most)).map { JSONLine($0) }
        }
        return lines.first.map { ($0, Array(lines.dropFirst())) }
    }

    /// A line for each field of a profile.
    func profile(of user: String, at moment: PointInTime = PointInTime()) throws(CommandFailure) -> [JSONObject] {
        try all(.profile(user: user), moment.parameters) { views throws(StoreError) in
            try views.profile(user: user, at: moment).map { JSONLine($0) }
        }
    }

    /// Calls `body` with the lines of users whose names begin so, by name, at most `limit`.
    func users(
        _ match: String?, limit: Int, _ body: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        let parameters = match.map { [(name: "match", value: $0)] } ?? []
        if let pages, try pages.lines(.users, parameters, limit: limit, body) { return }
        let views = try views()
        var left = limit
        var last: UserName?
        while left > 0 {
            let page = try stored { try views.users(match ?? "", limit: min(left, 500), after: last?.place) }
            guard !page.isEmpty else { break }
            for user in page { try body(JSONLine(user).object) }
            left -= page.count
            last = page.last
        }
    }

    /// A line for each survey.
    func surveys(at moment: PointInTime = PointInTime()) throws(CommandFailure) -> [JSONObject] {
        try all(.surveys, moment.parameters) { views throws(StoreError) in
            try views.surveys(at: moment).map { JSONLine(survey: $0.survey, answers: $0.answers) }
        }
    }

    /// A line for each answer that was given.
    func survey(
        _ name: String, question: String?, at moment: PointInTime = PointInTime()
    ) throws(CommandFailure) -> [JSONObject] {
        let parameters = moment.parameters + (question.map { [("question", $0)] } ?? [])
        return try all(.survey(name), parameters) { views throws(StoreError) in
            var lines: [JSONLine] = []
            try views.survey(name, question: question, at: moment) { count in
                lines.append(JSONLine(count))
                return true
            }
            return lines
        }
    }

    /// A line for each answer that was given, by group.
    ///
    /// - Parameter offset: Of the clocks by which days begin, as `+09:00`.
    func survey(_ name: String, _ query: SurveyQuery, offset: String) throws(CommandFailure) -> [JSONObject] {
        let (since, until) = (query.since.map(Timestamp.text), query.until.map(Timestamp.text))
        let parameters: [(name: String, value: String?)] = [
            ("by", query.grouping.rawValue), ("question", query.question), ("choice", query.choice),
            ("since", since), ("until", until), ("offset", offset),
        ]
        return try all(.survey(name), parameters.compactMap { name, value in value.map { (name, $0) } }) {
            views throws(StoreError) in try views.survey(name, query).map { JSONLine($0) }
        }
    }

    private func all(
        _ route: ReadRoute, _ parameters: [(name: String, value: String)] = [], limit: Int = .max,
        orElse fromFiles: (ViewReader) throws(StoreError) -> [JSONLine]
    ) throws(CommandFailure) -> [JSONObject] {
        var lines: [JSONObject] = []
        let take = { (line: JSONObject) throws(CommandFailure) in lines.append(line) }
        if let pages, try pages.lines(route, parameters, limit: limit, take) { return lines }
        let views = try views()
        return try stored { try fromFiles(views) }.map(\.object)
    }

    /// Calls `body` with the lines of conversations, the latest active first, at most `limit`. Says how far it has looked.
    @discardableResult
    func conversations(
        limit: Int, filter: RoomFilter = RoomFilter(), at moment: PointInTime = PointInTime(),
        _ body: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> ListLook {
        let parameters = moment.parameters + filter.parameters
        var look = ListLook(filter, limit: limit, page: ListLook.conversations)
        let ended = { look.goesOn(behind: $0) }
        if let pages, try pages.lines(.conversations, parameters, limit: limit, ended: ended, body) { return look }
        let query = try filter.query
        let views = try views()
        var left = limit
        var last: ConversationSummary?
        while left > 0 {
            // The tail of the views is read for each page.
            let most = filter.isNarrow ? ListLook.conversations : min(left, 5_000)
            let page = try stored { try views.conversations(limit: most, before: last?.place, at: moment) }
            guard !page.isEmpty else { break }
            for summary in page {
                // Those that were active at the same moment stay together.
                if left <= 0, filter.isNarrow, summary.place != last?.place { return look }
                last = summary
                guard query.wants(summary) else { continue }
                try body(JSONLine(summary).object)
                left -= 1
            }
            if page.count >= most, left > 0, !look.goesOn() { break }
        }
        return look
    }
}

extension JSONLine {
    var object: JSONObject { JSONObject(validated: Array(utf8)) }
}

extension JSONObject {
    /// The time that a member tells, Unix milliseconds.
    func moment(_ name: String) -> Int64 { string(name).flatMap(Timestamp.milliseconds) ?? 0 }
}

extension DaemonPages {
    /// What `query` finds, in display order.
    fileprivate func timeline(
        _ owner: TimelineOwner, _ query: TimelineQuery, _ body: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> Bool {
        let route: ReadRoute =
            switch owner {
            case .user(let user): .history(user: user)
            case .conversation(let id): .rows(conversation: id)
            }
        switch query.limit {
        case .all: return try lines(route, query.parameters(order: "oldest"), limit: .max, body)
        case .first(let count): return try lines(route, query.parameters(order: "oldest"), limit: count, body)
        case .last(let count):
            var newest: [JSONObject] = []
            let take = { (line: JSONObject) throws(CommandFailure) in newest.append(line) }
            guard try lines(route, query.parameters(order: "newest"), limit: count, take) else { return false }
            for line in newest.reversed() { try body(line) }
            return true
        }
    }
}

extension TimelineQuery {
    fileprivate func parameters(order: String) -> [(name: String, value: String)] {
        var all = [("order", order)]
        if let since { all.append(("since", Timestamp.text(since))) }
        if let until { all.append(("until", Timestamp.text(until))) }
        all += types.map { ("type", $0) }
        all += authors.map { ("author", $0) }
        all += conversations.map { ("conversation", $0) }
        var moment = PointInTime()
        (moment.asOf, moment.knownAt, moment.knownTime) = (asOf, knownAt, knownTime)
        return all + moment.parameters
    }
}

extension PointInTime {
    fileprivate var parameters: [(name: String, value: String)] {
        var all: [(name: String, value: String)] = []
        if let asOf { all.append(("as_of", Timestamp.text(asOf))) }
        if let knownAt { all.append(("known_at", String(knownAt))) }
        if let knownTime { all.append(("known_at", Timestamp.text(knownTime))) }
        return all
    }
}

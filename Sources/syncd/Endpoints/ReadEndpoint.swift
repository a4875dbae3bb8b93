internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `GET` of what is stored: events, histories, conversations, profiles, surveys. An answer sees all that was in the log when it was
/// asked for, is NDJSON, and is one page: its last line says where the next one begins.
struct ReadEndpoint {
    private let request: PageRequest
    private let views: ViewReader
    private let lines: EventLines
    /// Where the log ends.
    private let end: LogPlace
    /// Up to where it is durable.
    private let durable: UInt64

    /// What a page has but for its last line.
    private struct Page {
        var body: [UInt8] = []
        var count = 0
        /// Where the next page begins.
        var next: PagePlace?
        var hasMore = false
        /// Of the log: where the page ended.
        var end: LogPlace?

        mutating func add(_ line: JSONLine) {
            line.write(to: &body)
            count += 1
        }
    }

    /// Answers from a thread of the pool.
    static func answer(_ exchange: HTTPExchange, _ route: ReadRoute, _ pool: ReadPool, _ reader: ReadPool.Reader) {
        do throws(BadParameter) {
            answer(exchange, try PageRequest(route, exchange.request), pool, reader)
        } catch {
            exchange.refuse(.parameter, error.message, hint: error.hint)
        }
    }

    private static func answer(
        _ exchange: HTTPExchange, _ request: PageRequest, _ pool: ReadPool, _ reader: ReadPool.Reader,
        mayWait: Bool = true
    ) {
        if mayWait, wait(exchange, request, pool) { return }
        do throws(StoreError) {
            let durable = pool.feed.durable
            let answer: Answer = try reader.fresh { views, lines throws(StoreError) in
                guard try request.goesOn(in: views.log) else { return .lost }
                let end = try views.log.place(at: views.log.top())
                let endpoint = ReadEndpoint(request: request, views: views, lines: lines, end: end, durable: durable)
                return try endpoint.body().map(Answer.page) ?? .nothing
            }
            switch answer {
            case .page(let body): exchange.reply(status: 200, contentType: "application/x-ndjson", body: body)
            case .nothing: exchange.refuse(.notFound, "there is no \(exchange.request.path)")
            case .lost:
                exchange.refuse(
                    .cursor, "cursor: a place in another log, or in what this log has lost",
                    hint: "without a cursor, from the beginning")
            }
        } catch {
            exchange.refuse(error)
        }
    }

    /// Whether the answer has to wait for events: it comes when there are some, or the time is up.
    private static func wait(_ exchange: HTTPExchange, _ request: PageRequest, _ pool: ReadPool) -> Bool {
        // A place beyond the end is of another log: that is said at once.
        guard request.wait > 0, request.position <= pool.feed.durable else { return false }
        let number = pool.feed.wait(beyond: request.position, milliseconds: request.wait) {
            let isTaken = pool.submit { reader in answer(exchange, request, pool, reader, mayWait: false) }
            if !isTaken { exchange.refuse(.busy, "too many queries are waiting") }
        }
        guard let number else { return false }
        exchange.watchClient { pool.feed.cancel(number) }
        return true
    }

    private enum Answer {
        case page([UInt8])
        /// What is asked for is not there.
        case nothing
        /// The cursor is of no use in this log.
        case lost
    }

    /// `nil` if the one thing that is asked for is not there.
    private func body() throws(StoreError) -> [UInt8]? {
        guard var page = try page() else { return nil }
        var end = JSONLine(type: "end")
        end.add("count", page.count)
        end.add("position", self.end.position)
        end.add("more", page.hasMore)
        if let next = page.next { end.add("next", request.next(next, page.end ?? self.end)) }
        end.write(to: &page.body)
        return page.body
    }

    private func page() throws(StoreError) -> Page? {
        switch request.route {
        case .events: try events()
        case .event(let id): try event(id)
        case .conversations: try conversations()
        case .conversation(let id): try conversation(id)
        case .rows(let conversation): try timeline(.conversation(conversation))
        case .history(let user): try timeline(.user(user))
        case .profile(let user): try profile(user)
        case .surveys: try surveys()
        case .survey(let name): try survey(name)
        }
    }

    private func timeline(_ owner: TimelineOwner) throws(StoreError) -> Page {
        var bound: DisplayKey?
        if case .entry(let key) = request.place { bound = key }
        let found =
            request.isNewestFirst
            ? try views.newest(request.limit, of: owner, request.query, before: bound)
            : try views.oldest(request.limit, of: owner, request.query, after: bound)
        var page = Page()
        for entry in found.entries {
            var line = try lines.wrapped(entry.stored)
            line.addHistory(of: entry)
            page.add(line)
        }
        page.hasMore = found.next != nil
        page.next = found.next.map(PagePlace.entry)
        return page
    }

    /// The log: there is always a next page, for what is appended later.
    private func events() throws(StoreError) -> Page {
        var after = request.position
        var page = Page()
        for event in try views.log.page(after: after, through: durable, limit: request.limit) {
            page.body += try lines.line(event)
            page.count += 1
            after = event.position
        }
        page.hasMore = after < durable
        page.next = .log
        page.end = try views.log.place(at: after)
        return page
    }

    private func event(_ id: String) throws(StoreError) -> Page? {
        guard let bits = UUIDBits(text: id), let event = try views.log.countingEvent(id: EventID(bits)) else {
            return nil
        }
        return Page(body: try lines.line(event), count: 1)
    }

    private func conversations() throws(StoreError) -> Page {
        var place: ConversationPlace?
        if case .conversation(let found) = request.place { place = found }
        var page = Page()
        let found = try views.conversations(limit: request.limit, before: place)
        for summary in found { page.add(JSONLine(summary)) }
        page.hasMore = found.count >= request.limit
        if page.hasMore { page.next = (found.last?.place).map(PagePlace.conversation) }
        return page
    }

    /// The conversation, then who takes part, by name.
    private func conversation(_ id: String) throws(StoreError) -> Page? {
        guard let summary = try views.conversationSummary(id) else { return nil }
        var page = Page()
        if request.place == nil { page.add(JSONLine(summary)) }
        return try named(views.participants(of: id), \.user, in: page) { JSONLine($0) }
    }

    private func profile(_ user: String) throws(StoreError) -> Page {
        try named(views.profile(user: user), \.name) { JSONLine($0) }
    }

    private func surveys() throws(StoreError) -> Page {
        try named(views.surveys(), \.survey) { JSONLine(survey: $0.survey, answers: $0.answers) }
    }

    private func survey(_ name: String) throws(StoreError) -> Page {
        var last: SurveyCount?
        if case .names(let names) = request.place {
            last = SurveyCount(survey: name, question: names[0], value: names[1], count: 0)
        }
        var page = Page()
        try views.survey(name, question: request.question, after: last) { count in
            guard page.count < request.limit else {
                page.hasMore = true
                return false
            }
            page.add(JSONLine(count))
            page.next = .names([count.question, count.value])
            return true
        }
        if !page.hasMore { page.next = nil }
        return page
    }

    /// A page of a list that is sorted by the bytes of names.
    private func named<Element>(
        _ all: [Element], _ name: (Element) -> String, in begun: Page = Page(), _ line: (Element) -> JSONLine
    ) -> Page {
        var rest = all[...]
        if case .names(let last) = request.place {
            rest = rest.drop { !last[0].utf8.lexicographicallyPrecedes(name($0).utf8) }
        }
        var page = begun
        for element in rest.prefix(request.limit) {
            page.add(line(element))
            page.next = .names([name(element)])
        }
        page.hasMore = rest.count > request.limit
        if !page.hasMore { page.next = nil }
        return page
    }
}

/// Answers queries, on threads of their own: none waits behind an append, and a heavy one holds up only one of them.
///
/// ## Concurrency model
/// Each thread has a reader of its own, kept open. Queries wait in one queue; a connection asks one at a time, so that its clients
/// take turns. What is still queued when the pool stops loses its client.
final class ReadPool: Sendable {
    typealias Query = @Sendable (Reader) -> Void

    /// What a thread of the pool reads with.
    final class Reader {
        private let reader: EventReader
        private var lines: EventLines?

        init(_ reader: EventReader) { self.reader = reader }

        /// Runs `body` on views that show all that is in the log now, with what writes their events.
        func fresh<Value>(
            _ body: (ViewReader, EventLines) throws(StoreError) -> Value
        ) throws(StoreError) -> Value {
            try reader.fresh { views throws(StoreError) in try body(views, try lines(of: views.log)) }
        }

        /// The origins of a log and their nodes are read once, and again when another one comes.
        private func lines(of log: LogReader) throws(StoreError) -> EventLines {
            if let lines, lines.isOf(log) { return lines }
            let made = try EventLines(log)
            lines = made
            return made
        }
    }

    private struct Line {
        var queries: [Query] = []
        var isStopping = false
    }

    private static let threads = 2
    /// Most queries that wait; further ones are refused.
    private static let most = 1_024

    /// For those that follow the log.
    let feed: CommitFeed
    private let waiting: Monitor<Line>
    private let threads: [WorkerThread]

    init(_ feed: CommitFeed, _ make: @escaping @Sendable () -> EventReader) {
        self.feed = feed
        let waiting = Monitor(Line())
        self.waiting = waiting
        threads = (0..<Self.threads).map { number in
            WorkerThread(name: "api-read-\(number)") {
                let reader = Reader(make())
                while let query = waiting.wait(for: Self.next) { query(reader) }
            }
        }
    }

    /// What a thread does next; nothing more when the pool stops.
    private static func next(_ waiting: inout Line) -> Waiting<Query?> {
        if waiting.isStopping { return .done(nil) }
        return waiting.queries.isEmpty ? .forever : .done(waiting.queries.removeFirst())
    }

    /// False if too many wait.
    func submit(_ query: @escaping Query) -> Bool {
        var isTaken = false
        waiting.update { waiting in
            isTaken = !waiting.isStopping && waiting.queries.count < Self.most
            if isTaken { waiting.queries.append(query) }
            return isTaken
        }
        return isTaken
    }

    func stop() {
        waiting.wakeAll { waiting in
            waiting.isStopping = true
            waiting.queries = []
        }
        for thread in threads { thread.join() }
    }
}

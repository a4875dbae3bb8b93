internal import Access
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
    /// Where the log ends; of a timeline's page, where the views of it do.
    private var end: LogPlace
    /// Up to where it is durable.
    private let durable: UInt64
    private var sight: Sight

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
    static func answer(_ admitted: AdmittedRequest, _ pool: ReadPool, _ reader: ReadPool.Reader, _ log: AccessLog) {
        let exchange = admitted.exchange
        guard let route = ReadRoute(version1: exchange.request.segments) else {
            return exchange.refuse(.notFound, "there is no \(exchange.request.path)")
        }
        do throws(BadParameter) {
            let request = try PageRequest(route, exchange.request)
            guard !admitted.caller.isRecorded || record(admitted, request, reader, log) else { return }
            answer(admitted, request, pool, reader)
        } catch {
            exchange.refuse(.parameter, error.message, hint: error.hint)
        }
    }

    /// Records who is about to read; false if that cannot be, and the request was refused.
    private static func record(
        _ admitted: AdmittedRequest, _ page: PageRequest, _ reader: ReadPool.Reader, _ log: AccessLog
    ) -> Bool {
        let (exchange, request) = (admitted.exchange, admitted.request)
        guard let reason = AccessLog.reason(request) else {
            exchange.refuse(
                .reason, "an auditor says why: the header Sillok-Reason, 1 to 1,024 bytes of UTF-8",
                hint: "Sillok-Reason: complaint 4711")
            return false
        }
        do throws(StoreError) {
            let users: [String] =
                switch ReadRoute(version1: request.segments) {
                case .history(let user), .profile(let user), .readers(let user): [user]
                case .rows(let conversation), .conversation(let conversation):
                    try reader.fresh { views, _ throws(StoreError) in
                        try views.participants(of: conversation).prefix(100).map(\.user)
                    }
                case .why(let id):
                    try reader.fresh { views, _ throws(StoreError) in
                        try CauseLines.users(ofCausesOf: id, page.causes, views)
                    }
                default: []
                }
            guard case .found(let route, _) = RouteTable.match(request.method, request.segments) else { return false }
            try log.record(admitted.caller, route: route.label, subject: request.path, users: users, reason: reason)
            return true
        } catch {
            exchange.refuse(error)
            return false
        }
    }

    private static func answer(
        _ admitted: AdmittedRequest, _ request: PageRequest, _ pool: ReadPool, _ reader: ReadPool.Reader,
        mayWait: Bool = true, until deadline: UInt64? = nil
    ) {
        let exchange = admitted.exchange
        do throws(StoreError) {
            let deadline = deadline ?? MonotonicClock.now + patience
            if !request.atLeast.entries.isEmpty, try awaits(admitted, request, pool, reader, until: deadline) {
                return
            }
            if mayWait, wait(admitted, request, pool) { return }
            let durable = pool.feed.durable
            let answer: Answer = try reader.fresh { views, lines throws(StoreError) in
                guard try request.goesOn(in: views.log) else { return .lost }
                let end = try views.log.place(at: views.log.top())
                var endpoint = ReadEndpoint(
                    request: request, views: views, lines: lines, end: end, durable: durable,
                    sight: Sight(admitted.caller))
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

    /// So long an answer waits for what it must have, nanoseconds.
    private static let patience: UInt64 = 2_000_000_000

    /// Whether what the answer must have is not here yet: it comes when that is, or is refused when the time is up.
    private static func awaits(
        _ admitted: AdmittedRequest, _ request: PageRequest, _ pool: ReadPool, _ reader: ReadPool.Reader,
        until deadline: UInt64
    ) throws(StoreError) -> Bool {
        let exchange = admitted.exchange
        while true {
            let durable = pool.feed.durable
            let known = try reader.fresh { views, _ throws(StoreError) in try views.log.vector() }
            guard let lacking = request.atLeast.entries.first(where: { !known.contains($0) }) else { return false }
            let now = MonotonicClock.now
            guard now < deadline else {
                exchange.refuse(.busy, "at_least: event \(lacking) has not come to this node yet")
                return true
            }
            let number = pool.feed.wait(beyond: durable, milliseconds: Int((deadline - now) / 1_000_000) + 1) {
                let isTaken = pool.submit { reader in answer(admitted, request, pool, reader, until: deadline) }
                if !isTaken { exchange.refuse(.busy, "too many queries are waiting") }
            }
            if let number {
                exchange.watchClient { pool.feed.cancel(number) }
                return true
            }
            // More has come meanwhile, or there is no place to wait.
            guard pool.feed.durable > durable else {
                exchange.refuse(.busy, "too many queries are waiting")
                return true
            }
        }
    }

    /// Whether the answer has to wait for events: it comes when there are some, or the time is up.
    private static func wait(_ admitted: AdmittedRequest, _ request: PageRequest, _ pool: ReadPool) -> Bool {
        let exchange = admitted.exchange
        // A place beyond the end is of another log: that is said at once.
        guard request.wait > 0, request.position <= pool.feed.durable else { return false }
        let number = pool.feed.wait(beyond: request.position, milliseconds: request.wait) {
            let isTaken = pool.submit { reader in answer(admitted, request, pool, reader, mayWait: false) }
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
    private mutating func body() throws(StoreError) -> [UInt8]? {
        guard var page = try page() else { return nil }
        var end = JSONLine(type: "end")
        end.add("count", page.count)
        end.add("position", self.end.position)
        end.add("more", page.hasMore)
        if let time = request.moment.knownTime {
            let known = try views.log.known(at: time)
            end.add("known_at", known.position)
            if !known.isExact { end.add("approximate", true) }
        }
        if let next = page.next { end.add("next", request.next(next, page.end ?? self.end)) }
        end.write(to: &page.body)
        return page.body
    }

    private mutating func page() throws(StoreError) -> Page? {
        switch request.route {
        case .events: return try events()
        case .event(let id): return try event(id)
        case .why(let id): return try why(id)
        case .conversations: return try conversations()
        case .conversation(let id): return try conversation(id)
        case .rows(let conversation):
            guard try sight.knows(conversation, views) else { return nil }
            return try timeline(.conversation(conversation))
        case .history(let user): return isOpen(user) ? try timeline(.user(user)) : nil
        case .profile(let user): return isOpen(user) ? try profile(user) : nil
        case .surveys: return try surveys()
        case .survey(let name): return try survey(name)
        case .access: return try access(of: nil)
        case .readers(let user):
            return isOpen(user) || sight.caller.isAny(of: [.admin]) ? try access(of: user) : nil
        }
    }

    /// Whether the caller sees what belongs to this user.
    private func isOpen(_ user: String) -> Bool { sight.isWhole || sight.caller.isSelf(user) }

    private mutating func timeline(_ owner: TimelineOwner) throws(StoreError) -> Page {
        var bound: DisplayKey?
        if case .entry(let key) = request.place { bound = key }
        let found =
            request.isNewestFirst
            ? try views.newest(request.limit, of: owner, request.query, before: bound)
            : try views.oldest(request.limit, of: owner, request.query, after: bound)
        var page = Page()
        for entry in found.entries {
            guard try sight.sees(entry.stored.event.header, views) else { continue }
            let entry = try sight.seen(entry, request.query, views)
            var line = try lines.wrapped(entry.stored)
            line.addHistory(of: entry)
            page.add(line)
        }
        page.hasMore = found.next != nil
        page.next = found.next.map(PagePlace.entry)
        if let position = found.position, position != end.position { end = try views.log.place(at: position) }
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

    private mutating func event(_ id: String) throws(StoreError) -> Page? {
        try found(id).map { event throws(StoreError) in Page(body: try lines.line(event), count: 1) }
    }

    /// The event of an id, if the caller sees it.
    private mutating func found(_ id: String) throws(StoreError) -> StoredEvent? {
        guard let id = EventID(text: id) else { return nil }
        var sight = sight
        defer { self.sight = sight }
        return try views.event(id) { header throws(StoreError) in try sight.sees(header, views) }
    }

    /// What led to an event and what followed, as far as the caller sees it.
    private mutating func why(_ id: String) throws(StoreError) -> Page? {
        guard let event = try found(id) else { return nil }
        var sight = sight
        defer { self.sight = sight }
        let tree = try views.causes(of: event, request.causes, isWhole: sight.isWhole) { header throws(StoreError) in
            try sight.sees(header, views)
        }
        var page = Page()
        for line in try CauseLines.lines(tree, lines) { page.add(line) }
        page.hasMore = !tree.isWhole
        return page
    }

    private func conversations() throws(StoreError) -> Page {
        var place: ConversationPlace?
        if case .conversation(let found) = request.place { place = found }
        var page = Page()
        let found = try views.conversations(limit: request.limit, before: place, at: request.moment)
        for summary in found { page.add(JSONLine(summary)) }
        page.hasMore = found.count >= request.limit
        if page.hasMore { page.next = (found.last?.place).map(PagePlace.conversation) }
        return page
    }

    /// The conversation, then who takes part, by name.
    private mutating func conversation(_ id: String) throws(StoreError) -> Page? {
        guard try sight.isIn(id, views), let summary = try views.conversationSummary(id, at: request.moment)
        else { return nil }
        var page = Page()
        if request.place == nil { page.add(JSONLine(summary)) }
        return try named(views.participants(of: id, at: request.moment), \.user, in: page) { JSONLine($0) }
    }

    /// Reads that were recorded, the newest first: of all nodes, or those that concern a user. They are few beside what is read.
    private func access(of user: String?) throws(StoreError) -> Page {
        var bound: DisplayKey?
        if case .entry(let key) = request.place { bound = key }
        var query = TimelineQuery()
        query.types = [AccessGrant.read, AccessGrant.given]
        var found: [TimelineEntry] = []
        var hasMore = false
        let own = Dictionary(grouping: try views.log.origins(), by: \.node).mapValues { Set($0.map(\.id)) }
        for (node, origins) in own {
            let page = try views.newest(request.limit, of: .user("node/\(node)"), query, before: bound)
            found += page.entries.filter { origins.contains($0.stored.event.header.dot.origin) }
            hasMore = hasMore || page.next != nil
        }
        found.sort { $0.key > $1.key }
        var page = Page()
        for entry in found.prefix(request.limit) {
            page.next = .entry(entry.key)
            guard let payload = entry.stored.event.payload else { continue }
            let object = JSONObject(validated: payload)
            let isWanted = user.map { user in
                object.strings("users")?.contains { $0.hasSameBytes(as: user) } ?? false
            }
            guard isWanted ?? true else { continue }
            page.add(JSONLine(read: object, entry.stored.event.header))
        }
        page.hasMore = hasMore || found.count > request.limit
        if !page.hasMore { page.next = nil }
        return page
    }

    private func profile(_ user: String) throws(StoreError) -> Page {
        try named(views.profile(user: user, at: request.moment), \.name) { JSONLine($0) }
    }

    private func surveys() throws(StoreError) -> Page {
        try named(views.surveys(at: request.moment), \.survey) { JSONLine(survey: $0.survey, answers: $0.answers) }
    }

    private func survey(_ name: String) throws(StoreError) -> Page {
        var last: SurveyCount?
        if case .names(let names) = request.place {
            last = SurveyCount(survey: name, question: names[0], value: names[1], count: 0)
        }
        var page = Page()
        try views.survey(name, question: request.question, after: last, at: request.moment) { count in
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

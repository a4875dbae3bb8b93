internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `GET` of what is stored: events, histories, conversations, profiles, surveys. An answer sees all that was in the log when it was
/// asked for, is NDJSON, and is one page: its last line says where the next one begins.
struct ReadEndpoint {
    let request: PageRequest
    let store: EventStore
    let views: ViewReader
    let lines: EventLines
    /// Where the log ends; of a timeline's page, where the views of it do.
    var end: LogPlace
    /// Up to where it is durable.
    private let durable: UInt64
    var sight: Sight

    /// What a page has but for its last line.
    struct Page {
        var body: [UInt8] = []
        var count = 0
        /// Where the next page begins.
        var next: PagePlace?
        var hasMore = false
        /// Of the log: where the page ended.
        var end: LogPlace?
        /// Why it has fewer lines than were asked for, where there may be more.
        var cut: PageCut?
        /// Events that a search did not look at, for they are not indexed yet.
        var unindexed: UInt64 = 0
        /// Of one event: how many others were recorded as it, with another payload.
        var twins = 0
        /// Of a recorded caller's page: whose words it has.
        var people: Set<ByteText> = []

        /// Bytes after which a page ends that has a line (INV-9).
        private static let most = 1 << 20

        mutating func add(_ line: JSONLine) {
            line.write(to: &body)
            count += 1
        }

        var isFull: Bool { count > 0 && body.count >= Self.most }
    }

    /// Answers from a thread of the pool.
    static func answer(
        _ admitted: AdmittedRequest, _ pool: ReadPool, _ reader: ReadPool.Reader, _ log: AccessLog
    ) {
        let exchange = admitted.exchange
        guard let route = ReadRoute(version1: exchange.request.segments) else {
            return exchange.refuse(.notFound, "there is no \(exchange.request.path)")
        }
        do throws(BadParameter) {
            let request = try PageRequest(route, exchange.request)
            if request.isCount, !admitted.caller.readsAll {
                return exchange.refuse(
                    .role, "count: who does not read all cannot count all", hint: "without count, page by page")
            }
            guard !admitted.caller.isRecorded || AccessLog.reason(exchange.request) != nil else {
                return exchange.refuse(
                    .reason, "an auditor says why: the header Sillok-Reason, 1 to 1,024 bytes of UTF-8",
                    hint: "Sillok-Reason: complaint 4711")
            }
            answer(admitted, request, pool, reader, log)
        } catch {
            exchange.refuse(.parameter, error.message, hint: error.hint)
        }
    }

    private static func answer(
        _ admitted: AdmittedRequest, _ request: PageRequest, _ pool: ReadPool, _ reader: ReadPool.Reader,
        _ log: AccessLog, mayWait: Bool = true, until deadline: UInt64? = nil
    ) {
        let exchange = admitted.exchange
        do throws(StoreError) {
            let deadline = deadline ?? MonotonicClock.now + patience
            if !request.atLeast.entries.isEmpty, try awaits(admitted, request, pool, reader, log, until: deadline) {
                return
            }
            if mayWait, wait(admitted, request, pool, reader.term, log) { return }
            let durable = pool.feed.durable
            var cut: PageCut?
            var people: [String] = []
            let isSearch = request.words != nil
            let answer: Answer = try reader.fresh(isIndexed: isSearch) { views, lines throws(StoreError) in
                if admitted.caller.isRecorded { people = try concerned(exchange.request, views) }
                guard try request.goesOn(in: views.log) else { return .lost }
                let end = try views.log.place(at: views.log.top())
                if let position = request.moment.knownAt, position > end.position { return .beyond(end.position) }
                if request.route.isProof {
                    let proof = ProofEndpoint(
                        store: pool.store, request: request, views: views, sight: Sight(admitted.caller))
                    guard let found = try proof.answer(to: exchange.request) else { return .nothing }
                    people += found.headers.flatMap { [$0.user, $0.author] }
                    return .proof(found)
                }
                var endpoint = ReadEndpoint(
                    request: request, store: pool.store, views: views, lines: lines, end: end, durable: durable,
                    sight: Sight(admitted.caller))
                guard let page = try endpoint.page() else { return .nothing }
                cut = page.cut
                people += page.people.map(\.text)
                return .page(try endpoint.body(page))
            }
            // Before the first byte of it leaves (INV-17).
            if admitted.caller.isRecorded { try record(admitted, of: people, log) }
            if let cut { pool.note(cut) }
            switch answer {
            case .page(let body): exchange.reply(status: 200, contentType: "application/x-ndjson", body: body)
            case .proof(let proof):
                let link = proof.next.map { HTTPField("Link", "<\($0)>; rel=\"next\"") }
                exchange.reply(
                    status: 200, contentType: "application/x-ndjson", headers: [link].compactMap(\.self),
                    body: proof.body)
            case .beyond(let end):
                exchange.refuse(
                    .position, "known_at: the log ends at position \(end)", hint: "a position up to \(end)")
            case .nothing where request.route == .attachments:
                exchange.refuse(
                    .notFound, "there are no attachments that the token's holder may list so",
                    hint: "user=ID of one's own, or conversation=ID of one that one is in")
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
        _ log: AccessLog, until deadline: UInt64
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
            let number = pool.feed.wait(
                beyond: durable, milliseconds: Int((deadline - now) / 1_000_000) + 1
            ) { [term = reader.term] in
                pool.submit(term, admitted) { reader in
                    answer(admitted, request, pool, reader, log, until: deadline)
                }
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
    private static func wait(
        _ admitted: AdmittedRequest, _ request: PageRequest, _ pool: ReadPool, _ term: AnswerTerm,
        _ log: AccessLog
    ) -> Bool {
        let exchange = admitted.exchange
        // A place beyond the end is of another log: that is said at once.
        guard request.wait > 0, request.position <= pool.feed.durable else { return false }
        let number = pool.feed.wait(beyond: request.position, milliseconds: request.wait) {
            pool.submit(term, admitted) { reader in answer(admitted, request, pool, reader, log, mayWait: false) }
        }
        guard let number else { return false }
        exchange.watchClient { pool.feed.cancel(number) }
        return true
    }

    private enum Answer {
        case page([UInt8])
        case proof(ProofEndpoint.Answer)
        /// What is asked for is not there.
        case nothing
        /// What this node knew at a position is asked for that its log, which ends here, has not come to.
        case beyond(UInt64)
        /// The cursor is of no use in this log.
        case lost
    }

    /// A page with its last line.
    private func body(_ page: Page) throws(StoreError) -> [UInt8] {
        var end = JSONLine(type: "end")
        end.add("count", page.count)
        end.add("position", self.end.position)
        end.add("more", page.hasMore)
        // Where the log stood then counts and times what it appended, and so what the caller does not see.
        if let time = request.moment.knownTime, sight.isWhole {
            let known = try views.log.known(at: time)
            end.add("known_at", known.position)
            if !known.isExact { end.add("approximate", true) }
        }
        if let next = page.next { end.add("next", request.next(next, page.end ?? self.end)) }
        if let cut = page.cut { end.add("cut", cut.rawValue) }
        if page.twins > 0 { end.add("twins", page.twins) }
        if page.unindexed > 0 { end.add("unindexed", page.unindexed) }
        var body = page.body
        end.write(to: &body)
        return body
    }

    /// `nil` if the one thing that is asked for is not there.
    private mutating func page() throws(StoreError) -> Page? {
        switch request.route {
        case .events: return try events()
        case .event(let id): return try event(id)
        case .proof, .proofs: return nil
        case .why(let id): return try why(id)
        case .conversations: return try conversations()
        case .conversation(let id): return try conversation(id)
        case .rows(let conversation):
            guard try sight.knows(conversation, views) else { return nil }
            return try timeline(.conversation(conversation))
        case .history(let user):
            return isOpen(user) && sight.mayKnow(historyOf: user) ? try timeline(.user(user)) : nil
        case .profile(let user): return isOpen(user) ? try profile(user) : nil
        case .surveys: return try surveys()
        case .survey(let name): return try survey(name)
        case .access: return try access(of: nil)
        case .readers(let user):
            return sight.caller.isSelf(user) || sight.caller.isAny(of: [.auditor, .admin])
                ? try access(of: user) : nil
        case .search: return try search()
        case .users: return try users()
        case .participants(let conversation): return try participants(conversation)
        case .rooms(let user): return sight.mayKnow(roomsOf: user) ? try rooms(user) : nil
        case .contacts(let user): return sight.mayKnow(keptBy: user) ? try contacts(user) : nil
        case .searches(let user): return sight.mayKnow(keptBy: user) ? try searches(user) : nil
        case .attachments: return try attachments()
        }
    }

    /// Notes whose words a page has, for the record of who reads them.
    func note(_ people: [String], in page: inout Page) {
        if sight.caller.isRecorded { page.people.formUnion(people.map(ByteText.init)) }
    }

    func note(_ header: EventHeader, in page: inout Page) { note([header.user, header.author], in: &page) }

    func note(_ entry: TimelineEntry, in page: inout Page) {
        note(entry.stored.event.header, in: &page)
        if let history = entry.history {
            note(
                (history.amendments + [history.edit, history.retraction].compactMap(\.self)).map(\.author), in: &page)
        }
    }

    /// Whether the caller sees what belongs to this user.
    func isOpen(_ user: String) -> Bool { sight.isWhole || sight.caller.isSelf(user) }

    /// The log: there is always a next page, for what is appended later.
    private func events() throws(StoreError) -> Page {
        var after = request.position
        var looked = 0
        var page = Page()
        for event in try views.log.page(after: after, through: durable, limit: request.limit, views.term) {
            after = event.position
            looked += 1
            guard sight.mayKnow(event.event.header) else { continue }
            page.body += try lines.line(event)
            page.count += 1
        }
        page.hasMore = after < durable
        if page.hasMore, looked < request.limit { page.cut = views.term?.isDue == true ? .time : .bytes }
        page.next = .log
        page.end = try views.log.place(at: after)
        return page
    }

    private mutating func event(_ id: String) throws(StoreError) -> Page? {
        try found(id).map { event throws(StoreError) in
            var page = Page(body: try lines.line(event), count: 1, twins: try views.log.twins(of: event).others)
            note(event.event.header, in: &page)
            return page
        }
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
        let views = views
        defer { self.sight = sight }
        func sees(_ header: EventHeader) throws(StoreError) -> Bool { try sight.sees(header, views) }
        let tree = try views.causes(
            of: event, request.causes, isWhole: sight.isWhole, isSeen: sight.isWhole ? nil : sees)
        var page = Page()
        for line in try CauseLines.lines(tree, lines) { page.add(line) }
        for node in tree.nodes { if case .event(let entry, _) = node.state { note(entry, in: &page) } }
        page.hasMore = !tree.isWhole
        return page
    }

    private mutating func search() throws(StoreError) -> Page? {
        guard let words = request.words else { return nil }
        var page = Page()
        if request.isCount {
            page.add(JSONLine(texts: try views.searchCount(words)))
            page.unindexed = try views.unindexed()
            return page
        }
        var bound: DisplayKey?
        if case .entry(let key) = request.place { bound = key }
        var sight = self.sight
        let views = views
        defer { self.sight = sight }
        func finds(_ header: EventHeader) throws(StoreError) -> Bool { try sight.finds(header, views) }
        let isSeen = sight.isWhole ? nil : finds
        let found: SearchPage
        if request.isRanked {
            let (ranked, isWhole) = try views.ranked(
                words, limit: request.limit, roomsOf: sight.rankedUsers, isSeen: isSeen)
            (found, page.hasMore) = (ranked, !isWhole)
        } else {
            found = try views.search(words, limit: request.limit, before: bound, isSeen: isSeen)
            page.hasMore = found.next != nil
            if page.hasMore, found.hits.count < request.limit { page.cut = found.isLong ? .bytes : .rows }
        }
        for hit in found.hits {
            page.add(try lines.line(hit))
            note(hit.stored.event.header, in: &page)
        }
        page.unindexed = found.unindexed
        page.next = found.next.map(PagePlace.entry)
        if found.position != end.position { end = try views.log.place(at: found.position) }
        return page
    }

    private func users() throws(StoreError) -> Page {
        var last: UserPlace?
        if case .names(let names) = request.place { last = UserPlace(folded: names[0], user: names[1]) }
        var page = Page()
        let found = try views.users(request.match, limit: request.limit, after: last)
        for user in found {
            // For users it is a list of others.
            if sight.isWhole || !sight.caller.isUser(user.user) { page.add(JSONLine(user)) }
            page.next = .names(user.place.names)
        }
        page.hasMore = found.count >= request.limit
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
        if let groups = request.surveyGroups { return try survey(name, groups) }
        var last: SurveyCount?
        if case .names(let names) = request.place {
            last = SurveyCount(survey: name, question: names[0], value: names[1], count: 0)
        }
        var page = Page()
        try views.survey(name, question: request.question, after: last, at: request.moment) { count in
            guard page.count < request.limit, !page.isFull else {
                page.hasMore = true
                if page.count < request.limit { page.cut = .bytes }
                return false
            }
            page.add(JSONLine(count))
            page.next = .names([count.question, count.value])
            return true
        }
        if !page.hasMore { page.next = nil }
        return page
    }

    private func survey(_ name: String, _ groups: SurveyQuery) throws(StoreError) -> Page {
        var rest = try views.survey(name, groups)[...]
        if case .names(let last) = request.place, last.count == 3 {
            let place = last.map { Array($0.utf8) }
            rest = rest.drop { count in
                !place.lexicographicallyPrecedes(count.names.map { Array($0.utf8) }) {
                    $0.lexicographicallyPrecedes($1)
                }
            }
        }
        var page = Page()
        while page.count < request.limit, !page.isFull, let count = rest.popFirst() {
            page.add(JSONLine(count))
            page.next = .names(count.names)
        }
        page.hasMore = !rest.isEmpty
        if page.hasMore, page.count < request.limit { page.cut = .bytes }
        if !page.hasMore { page.next = nil }
        return page
    }

    /// A page of a list that is sorted by the bytes of names.
    func named<Element>(
        _ all: [Element], _ name: (Element) -> String, in begun: Page = Page(), _ line: (Element) -> JSONLine
    ) -> Page {
        var rest = all[...]
        if case .names(let last) = request.place {
            rest = rest.drop { !last[0].utf8.lexicographicallyPrecedes(name($0).utf8) }
        }
        var page = begun
        var left = request.limit
        while left > 0, !page.isFull, let element = rest.popFirst() {
            page.add(line(element))
            page.next = .names([name(element)])
            left -= 1
        }
        page.hasMore = !rest.isEmpty
        if page.hasMore, left > 0 { page.cut = .bytes }
        if !page.hasMore { page.next = nil }
        return page
    }
}

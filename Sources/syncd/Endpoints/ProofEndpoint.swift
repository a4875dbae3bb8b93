internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `GET` of what proves events (FORMATS.md §10): one event, or a page of a conversation's. The answer is what `syncctl … --proof` writes; as its
/// form has no place for more, the next page is named in the header `Link` (RFC 8288).
struct ProofEndpoint {
    /// A page, whose events are in it, and the path of the next one.
    struct Answer {
        let body: [UInt8]
        let headers: [EventHeader]
        let next: String?
    }

    let store: EventStore
    let request: PageRequest
    let views: ViewReader
    let sight: Sight

    /// `nil` if there is no such event.
    func answer(to path: HTTPRequest) throws(StoreError) -> Answer? {
        switch request.route {
        case .proof(let id): return try event(id)
        case .proofs(let conversation): return try page(of: conversation, path)
        default: return nil
        }
    }

    /// One event, and those with the same id.
    private func event(_ text: String) throws(StoreError) -> Answer? {
        guard let bits = UUIDBits(text: text) else { return nil }
        let id = EventID(bits)
        let events = try views.log.events(id: id).filter { sight.mayKnow($0.event.header) }
        guard !events.isEmpty else { return nil }
        let body = try body(.event(id), events.map(\.position), isFiltered: false)
        return Answer(body: body, headers: events.map(\.event.header), next: nil)
    }

    /// The same events as of the page of rows with these parameters, and their twins.
    private func page(of conversation: String, _ http: HTTPRequest) throws(StoreError) -> Answer {
        try ViewsMark.requireProven(store.files)
        var bound: DisplayKey?
        if case .entry(let key) = request.place { bound = key }
        var query = request.query
        query.withTwins = true
        let owner = TimelineOwner.conversation(conversation)
        let found =
            request.isNewestFirst
            ? try views.newest(request.limit, of: owner, query, before: bound)
            : try views.oldest(request.limit, of: owner, query, after: bound)
        let isAll = request.query == TimelineQuery() && found.next == nil && bound == nil
        let body = try body(
            .conversation(conversation), found.entries.map(\.stored.position), isFiltered: !isAll)
        let headers = found.entries.map(\.stored.event.header)
        guard let next = found.next else { return Answer(body: body, headers: headers, next: nil) }
        let end = try views.log.place(at: views.log.top())
        let others = http.query.filter { $0.name != "cursor" }.map { (name: $0.name, value: $0.value) }
        let cursor = (name: "cursor", value: request.next(.entry(next), end))
        return Answer(body: body, headers: headers, next: request.route.path(with: others + [cursor]))
    }

    private func body(
        _ scope: AnswerScope, _ positions: [UInt64], isFiltered: Bool
    ) throws(StoreError) -> [UInt8] {
        let export = try AnswerExport(
            store.files, scope, at: positions, isFiltered: isFiltered, key: store.key, ownHead: store.head(),
            time: store.wall())
        var body: [UInt8] = []
        while let piece = try export.next() { body += piece }
        return body
    }
}

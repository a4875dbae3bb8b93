internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

extension ReadEndpoint {
    /// Records who is about to read; false if that cannot be, and the request was refused.
    static func record(
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
                case .history(let user), .profile(let user), .readers(let user), .rooms(let user),
                    .contacts(let user), .searches(let user):
                    [user]
                case .rows(let conversation), .proofs(let conversation), .conversation(let conversation),
                    .participants(let conversation):
                    try reader.fresh { views, _ throws(StoreError) in
                        try views.participants(of: conversation, limit: 100).map(\.user)
                    }
                case .search, .attachments: request.queryItems("user")
                case .why(let id):
                    try reader.fresh { views, _ throws(StoreError) in
                        try CauseLines.users(ofCausesOf: id, page.causes, views)
                    }
                default: []
                }
            guard case .found(let route, _) = RouteTable.match(request.method, request.segments) else { return false }
            // What was looked for is what was read.
            let words = ["q", "match"].compactMap { name in request.queryItem(name).map { "\(name)=\($0)" } }
            let subject = request.path + (words.first.map { "?\($0)" } ?? "")
            try log.record(admitted.caller, route: route.label, subject: subject, users: users, reason: reason)
            return true
        } catch {
            exchange.refuse(error)
            return false
        }
    }

    /// Reads that were recorded, the newest first: of all nodes, or those that concern a user. They are few beside what is read.
    func access(of user: String?) throws(StoreError) -> Page {
        var bound: DisplayKey?
        if case .entry(let key) = request.place { bound = key }
        var query = TimelineQuery()
        query.types = [AccessGrant.read, AccessGrant.given]
        var found: [TimelineEntry] = []
        // Of each node all is known up to where its page ended: what lies behind the first of these ends is of a later page.
        var end: DisplayKey?
        var page = Page()
        let own = Dictionary(grouping: try views.log.origins(), by: \.node).mapValues { Set($0.map(\.id)) }
        for (node, origins) in own {
            let part = try views.newest(request.limit, of: .user("node/\(node)"), query, before: bound)
            found += part.entries.filter { origins.contains($0.stored.event.header.dot.origin) }
            if let next = part.next { end = end.map { max($0, next) } ?? next }
            page.cut = page.cut ?? part.cut
        }
        if let end { found.removeAll { $0.key < end } }
        found.sort { $0.key > $1.key }
        if found.count > request.limit {
            found.removeSubrange(request.limit...)
            (end, page.cut) = (found.last?.key, nil)
        }
        for entry in found {
            guard let payload = entry.stored.event.payload else { continue }
            let object = JSONObject(validated: payload)
            let isWanted = user.map { user in
                object.strings("users")?.contains { $0.hasSameBytes(as: user) } ?? false
            }
            guard isWanted ?? true else { continue }
            page.add(JSONLine(read: object, entry.stored.event.header))
        }
        (page.hasMore, page.next) = (end != nil, end.map(PagePlace.entry))
        return page
    }
}

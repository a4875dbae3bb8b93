internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

extension ReadEndpoint {
    /// Records who is about to read what was made ready for them.
    static func record(_ admitted: AdmittedRequest, of users: [String], _ log: AccessLog) throws(StoreError) {
        let request = admitted.request
        guard let reason = AccessLog.reason(request),
            case .found(let route, _) = RouteTable.match(request.method, request.segments)
        else { return }
        try log.record(
            admitted.caller, route: route.label, subject: AccessLog.subject(request), users: users, reason: reason)
    }

    /// Whom a read concerns by what is asked for; whose words an answer has its page says.
    static func concerned(_ request: HTTPRequest, _ views: ViewReader) throws(StoreError) -> [String] {
        switch ReadRoute(version1: request.segments) {
        case .history(let user), .profile(let user), .readers(let user), .rooms(let user), .contacts(let user),
            .searches(let user):
            return [user]
        case .rows(let conversation), .proofs(let conversation), .conversation(let conversation),
            .participants(let conversation):
            return try AccessLog.concerned([], [conversation], views)
        case .search, .attachments:
            return try AccessLog.concerned(request.queryItems("user"), request.queryItems("conversation"), views)
        default: return []
        }
    }

    /// Reads that are looked at for a page of those that concern a user.
    private static let mostReads = 500

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
        let limit = user == nil ? request.limit : Self.mostReads
        let own = Dictionary(grouping: try views.log.origins(), by: \.node).mapValues { Set($0.map(\.id)) }
        for (node, origins) in own {
            let part = try views.newest(limit, of: .user("node/\(node)"), query, before: bound)
            found += part.entries.filter { origins.contains($0.stored.event.header.dot.origin) }
            if let next = part.next { end = end.map { max($0, next) } ?? next }
            page.cut = page.cut ?? part.cut
        }
        if let end { found.removeAll { $0.key < end } }
        if let user { found.removeAll { !$0.isRead(of: user) } }
        found.sort { $0.key > $1.key }
        if found.count > request.limit {
            found.removeSubrange(request.limit...)
            (end, page.cut) = (found.last?.key, nil)
        }
        // Whom else a read concerned, and what was looked for, is theirs.
        let reader = sight.caller.isAny(of: [.auditor, .admin]) ? nil : user
        for entry in found {
            let event = entry.stored.event
            page.add(JSONLine(read: event.payload.map { JSONObject(validated: $0) }, event.header, to: reader))
        }
        if let place = end, found.count < request.limit {
            page.cut = page.cut ?? .rows
            end = place.veiled(from: found.last?.key ?? bound, isBackward: true)
        }
        (page.hasMore, page.next) = (end != nil, end.map(PagePlace.entry))
        return page
    }
}

extension TimelineEntry {
    /// Whether it is a read that concerns a user, or may: one that has lost its payload does not tell.
    fileprivate func isRead(of user: String) -> Bool {
        guard let payload = stored.event.payload else { return true }
        let users = JSONObject(validated: payload).strings("users") ?? []
        return users.contains { $0.hasSameBytes(as: user) }
    }
}

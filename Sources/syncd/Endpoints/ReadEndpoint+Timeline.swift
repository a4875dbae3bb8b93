internal import Access
internal import EventStore
internal import SillokAPI

/// Histories and conversations: the rows that the caller sees.
extension ReadEndpoint {
    mutating func timeline(_ owner: TimelineOwner) throws(StoreError) -> Page {
        var bound: DisplayKey?
        if case .entry(let key) = request.place { bound = key }
        if case .user(let user) = owner, request.isReceived { return try received(by: user, before: bound) }
        func entries(_ limit: Int, _ bound: DisplayKey?) throws(StoreError) -> TimelinePage {
            request.isNewestFirst
                ? try views.newest(limit, of: owner, request.query, before: bound)
                : try views.oldest(limit, of: owner, request.query, after: bound)
        }
        var page = Page()
        try add(entries(request.limit, bound), to: &page)
        // What the caller does not see is passed over: an empty page would tell that something is there, and its cursor when it was said.
        while !sight.isWhole, case .entry(let last)? = page.next, page.cut == nil, !page.isFull {
            if page.count < request.limit {
                try add(entries(request.limit - page.count, last), to: &page)
                continue
            }
            var ahead = try entries(1, last)
            while let next = ahead.next, ahead.cut == nil, try !sees(ahead) { ahead = try entries(1, next) }
            if ahead.cut == nil, try !sees(ahead) { (page.hasMore, page.next) = (false, nil) }
            return page
        }
        if page.isFull, page.hasMore, page.count < request.limit { page.cut = .bytes }
        return page
    }

    private mutating func sees(_ found: TimelinePage) throws(StoreError) -> Bool {
        guard let entry = found.entries.first else { return false }
        return try sight.sees(entry.stored.event.header, views)
    }

    /// The lines of entries that the caller sees.
    mutating func page(of found: TimelinePage) throws(StoreError) -> Page {
        var page = Page()
        try add(found, to: &page)
        return page
    }

    private mutating func add(_ found: TimelinePage, to page: inout Page) throws(StoreError) {
        for entry in found.entries {
            guard try sight.sees(entry.stored.event.header, views) else { continue }
            let entry = try sight.seen(entry, request.query, views)
            var line = try lines.wrapped(entry.stored)
            line.addHistory(of: entry)
            page.add(line)
        }
        page.hasMore = found.next != nil
        (page.next, page.cut) = (found.next.map(PagePlace.entry), found.cut)
        if let position = found.position, position != end.position { end = try views.log.place(at: position) }
    }
}

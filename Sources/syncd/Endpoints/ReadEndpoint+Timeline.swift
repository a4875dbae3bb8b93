internal import Access
internal import EventStore
internal import SillokAPI

/// Histories and conversations: the rows that the caller sees.
extension ReadEndpoint {
    mutating func timeline(_ owner: TimelineOwner) throws(StoreError) -> Page {
        var bound: DisplayKey?
        if case .entry(let key) = request.place { bound = key }
        if case .user(let user) = owner, request.isReceived { return try received(by: user, before: bound) }
        // What the caller does not see is passed over where it is read: a page that it had a part in would tell that it is there, and when it
        // was said.
        let viewer = try sight.viewer(of: owner, views)
        let found =
            request.isNewestFirst
            ? try views.newest(request.limit, of: owner, request.query, before: bound, for: viewer)
            : try views.oldest(request.limit, of: owner, request.query, after: bound, for: viewer)
        return try page(of: found)
    }

    /// The lines of entries that the caller sees.
    mutating func page(of found: TimelinePage) throws(StoreError) -> Page {
        var page = Page()
        var seen: [TimelineEntry] = []
        for entry in found.entries where try sight.sees(entry.stored.event.header, views) { seen.append(entry) }
        try views.log.inOneTransaction { () throws(StoreError) in
            for entry in seen {
                var line = try lines.wrapped(entry.stored)
                line.addHistory(of: entry)
                note(entry, in: &page)
                page.add(line)
            }
        }
        page.hasMore = found.next != nil
        (page.next, page.cut) = (found.next.map(PagePlace.entry), found.cut)
        if let position = found.position, position != end.position { end = try views.log.place(at: position) }
        return page
    }
}

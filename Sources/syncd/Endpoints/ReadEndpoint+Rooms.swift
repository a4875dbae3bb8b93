internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// Conversations, who takes part in them, and what users have in their own lists.
extension ReadEndpoint {
    func conversations() throws(StoreError) -> Page {
        var place: ConversationPlace?
        if case .conversation(let found) = request.place { place = found }
        var page = Page()
        let isFiltered = request.rooms.category != nil || request.rooms.match != nil
        // Few may match: more are looked at than are told.
        let most = isFiltered ? Self.mostLooked : request.limit
        let found = try views.conversations(limit: most, before: place, at: request.moment)
        var last: ConversationPlace?
        for summary in found {
            // Those that were active at the same moment stay together: the place behind them is that moment.
            if page.isFull || isFiltered && page.count >= request.limit, summary.place != last {
                page.cut = page.isFull ? .bytes : nil
                page.hasMore = true
                break
            }
            if request.rooms.wants(summary) { page.add(JSONLine(summary)) }
            last = summary.place
        }
        if !page.hasMore, found.count >= most {
            page.hasMore = true
            if isFiltered { page.cut = .rows }
        }
        if page.hasMore { page.next = last.map(PagePlace.conversation) }
        return page
    }

    /// Conversations that are looked at for a page of some of them.
    private static let mostLooked = 1_000

    /// The conversation, then who takes part, by name.
    mutating func conversation(_ id: String) throws(StoreError) -> Page? {
        guard try sight.isIn(id, views), let summary = try views.conversationSummary(id, at: request.moment)
        else { return nil }
        var page = Page()
        if !request.moment.isNow {
            let all = try views.participants(of: id, at: request.moment)
            if request.place == nil { page.add(JSONLine(summary, people: UInt64(all.count))) }
            return named(all, \.user, in: page) { JSONLine($0) }
        }
        if request.place == nil { page.add(JSONLine(summary, people: try views.people(of: id))) }
        return try participants(of: id, in: page)
    }

    mutating func participants(_ id: String) throws(StoreError) -> Page? {
        guard try sight.isIn(id, views), try views.conversationSummary(id) != nil else { return nil }
        return try participants(of: id, in: Page())
    }

    private func participants(of id: String, in begun: Page) throws(StoreError) -> Page {
        var last = request.after
        if case .names(let names) = request.place { last = names[0] }
        let found = try views.participants(of: id, after: last, limit: request.limit + 1)
        return filled(begun, with: found) { (JSONLine($0), $0.user) }
    }

    /// A page of a list that goes by name: `found` has one more, where there are more.
    private func filled<Item>(
        _ begun: Page, with found: [Item], _ line: (Item) -> (line: JSONLine, name: String)
    ) -> Page {
        var page = begun
        for item in found.prefix(request.limit) {
            if page.isFull {
                page.cut = .bytes
                break
            }
            let (line, name) = line(item)
            page.add(line)
            note([name], in: &page)
            page.next = .names([name])
        }
        page.hasMore = page.cut != nil || found.count > request.limit
        if !page.hasMore { page.next = nil }
        return page
    }

    mutating func rooms(_ user: String) throws(StoreError) -> Page {
        var place: RoomPlace?
        if case .names(let names) = request.place { place = RoomPlace(names: names) }
        let views = views
        let found = try views.rooms(of: user, request.rooms, limit: request.limit, after: place) {
            conversation throws(StoreError) in try Membership.seen(by: user, in: conversation, views)
        }
        var page = Page()
        for room in found.rooms {
            if page.isFull {
                page.cut = .bytes
                break
            }
            page.next = .names(room.place.names)
            var room = room
            if !sight.isWhole {
                guard try sight.isIn(room.summary.conversation, views) else { continue }
                if let last = room.last, try !sight.sees(last.header, views) { room.last = nil }
                if let first = room.first, try !sight.sees(first.header, views) { room.first = nil }
            }
            page.add(JSONLine(room, in: request.language))
            note(room.others.map(\.user), in: &page)
            for message in [room.first, room.last] { if let message { note(message.header, in: &page) } }
        }
        page.hasMore = page.cut != nil || found.next != nil
        if page.cut == nil {
            page.next = found.next.map { .names($0.names) }
            page.cut = found.cut
        }
        return page
    }

    /// What a user has seen: their own messages, and those of others in their conversations.
    mutating func received(by user: String, before bound: DisplayKey?) throws(StoreError) -> Page {
        let views = views
        var found = try views.received(by: user, request.query, limit: request.limit, before: bound) {
            conversation throws(StoreError) in try Membership.seen(by: user, in: conversation, views)
        }
        for index in found.entries.indices {
            found.entries[index] = try sight.seen(found.entries[index], request.query, views)
        }
        return try page(of: found)
    }

    func contacts(_ user: String) throws(StoreError) -> Page {
        var last: String?
        if case .names(let names) = request.place { last = names[0] }
        let found = try views.contacts(of: user, after: last, limit: request.limit + 1)
        return filled(Page(), with: found) { (JSONLine($0), $0.contact) }
    }

    func searches(_ user: String) throws(StoreError) -> Page {
        let order = request.searchOrder
        var rest = try views.recentSearches(
            of: user, scope: request.searchScope, match: request.match.isEmpty ? nil : request.match, order: order)[
                ...]
        if case .names(let names) = request.place, names.count == 3 {
            rest = rest.drop { !$0.isBehind(names, in: order) }
        }
        var page = Page()
        while page.count < request.limit, !page.isFull, let search = rest.popFirst() {
            page.add(JSONLine(search))
            page.next = .names(search.names)
        }
        page.hasMore = !rest.isEmpty
        if page.hasMore, page.count < request.limit { page.cut = .bytes }
        if !page.hasMore { page.next = nil }
        return page
    }
}

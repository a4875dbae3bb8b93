internal import CommandLineKit
internal import EventStore
internal import SillokAPI

extension ReadEndpoint {
    /// What events name; `nil` where the caller does not see all and asks for more than what is theirs.
    mutating func attachments() throws(StoreError) -> Page? {
        let store = try self.store.attachmentsIfAny()
        var page = Page()
        if let state = request.attachmentState {
            guard sight.isWhole else { return nil }
            var last: AttachmentStanding?
            if case .names(let names) = request.place { last = AttachmentStanding(names: names) }
            if last == nil { try store?.noteLost() }
            let found = try store?.standing(state, limit: request.limit + 1, after: last) ?? []
            for (want, place) in found.prefix(request.limit) {
                let named = try views.attachments(naming: want.digest, limit: 1).first
                page.add(named.map { JSONLine($0, state) } ?? JSONLine(want, state))
                if let named { note([named.user, named.author], in: &page) }
                page.next = .names(place.names)
            }
            page.hasMore = found.count > request.limit
            if !page.hasMore { page.next = nil }
            return page
        }
        switch request.attachmentOwner {
        case .user(let user): guard isOpen(user) else { return nil }
        case .conversation(let id): guard try sight.isIn(id, views) else { return nil }
        case .all: guard sight.isWhole else { return nil }
        }
        var bound: AttachmentPlace?
        if case .attachment(let place) = request.place { bound = place }
        let found = try views.attachments(of: request.attachmentOwner, limit: request.limit, before: bound)
        for named in found {
            page.add(JSONLine(named, try store?.standing(of: named.item.digest)?.state))
            note([named.user, named.author], in: &page)
            page.next = .attachment(named.place)
        }
        page.hasMore = found.count >= request.limit
        if !page.hasMore { page.next = nil }
        return page
    }
}

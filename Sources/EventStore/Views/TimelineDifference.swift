/// What of a page was another thing at a later moment.
package struct TimelineChange: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// It was not there.
        case added
        /// Another text stands.
        case edited
        /// It was taken back, or is no longer.
        case retracted
        /// An edit or retraction that does not count stands beside it.
        case beside
        /// The same event of another node counts in its place.
        case twin
        /// What it said has been erased meanwhile.
        case erased
    }

    package let kinds: [Kind]
    /// What stood there; `nil`: nothing. What was erased since is not told any more.
    package let before: TimelineEntry?
    package let after: TimelineEntry
}

/// A field of a profile, as it was said at two moments.
package struct ProfileChange: Sendable {
    package let before: ProfileField?
    package let after: ProfileField?
}

extension ViewReader {
    /// Calls `body` with what of a page was different at `later` from what it was at `earlier`, in display order, until it returns false.
    /// Both pages are walked side by side, so that memory does not grow with them.
    ///
    /// - Precondition: `earlier` is not after `later`, in what was known and in what had happened.
    package func differences(
        of owner: TimelineOwner, from earlier: PointInTime, to later: PointInTime,
        _ body: (TimelineChange) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var (old, new) = (PageWalk(self, owner, earlier), PageWalk(self, owner, later))
        let erasures = ErasedBetween(
            before: try erasures(by: old.query), after: try erasures(by: new.query), nodes: try log.nodes())
        var (before, after) = (try old.next(), try new.next())
        while let entry = after {
            // What is not on the later page has a twin there.
            while let gone = before, gone.key < entry.key { before = try old.next() }
            var change: TimelineChange?
            if let same = before, same.key == entry.key {
                let kinds = same.changes(to: entry) + (erasures.covers(entry) ? [.erased] : [])
                if !kinds.isEmpty { change = TimelineChange(kinds: kinds, before: same, after: entry) }
                before = try old.next()
            } else if let twin = try twin(of: entry, at: old.query) {
                let kinds = [.twin] + twin.changes(to: entry) + (erasures.covers(entry) ? [.erased] : [])
                change = TimelineChange(kinds: kinds, before: twin, after: entry)
            } else {
                change = TimelineChange(kinds: [.added], before: nil, after: entry)
            }
            if let change, try !body(change) { return }
            after = try new.next()
        }
    }

    /// Fields of a profile that were said otherwise at `later` than at `earlier`, by name.
    package func profileDifferences(
        of user: String, from earlier: PointInTime, to later: PointInTime
    ) throws(StoreError) -> [ProfileChange] {
        let (old, new) = (try profile(user: user, at: earlier), try profile(user: user, at: later))
        let names = Set((old + new).map { ByteText($0.name) }).sorted()
        return names.compactMap { name in
            let before = old.first { ByteText($0.name) == name }
            let after = new.first { ByteText($0.name) == name }
            let isSame = before?.writes == after?.writes
            return isSame ? nil : ProfileChange(before: before, after: after)
        }
    }

    /// The event that counted where `entry` counts now.
    private func twin(of entry: TimelineEntry, at query: TimelineQuery) throws(StoreError) -> TimelineEntry? {
        guard let knownAt = query.knownAt, entry.stored.position > knownAt else { return nil }
        let header = entry.stored.event.header
        for other in try log.events(id: header.id) where other.position <= knownAt {
            let twin = other.event.header
            guard twin.type == header.type, twin.user.hasSameBytes(as: header.user),
                twin.author.hasSameBytes(as: header.author), twin.conversation.hasSameBytes(as: header.conversation),
                try log.counted(other.position, at: knownAt)
            else { continue }
            return try self.entry(other, query)
        }
        return nil
    }

    /// The erasures that had been recorded by a moment.
    private func erasures(by query: TimelineQuery) throws(StoreError) -> Erasures {
        var erasures = Erasures(keeper: try log.keeper())
        for stored in try log.erasures() {
            let isKnown = query.knownAt.map { stored.position <= $0 } ?? true
            let hasHappened = query.asOf.map { stored.event.header.displayKey.time <= $0 } ?? true
            if isKnown, hasHappened { erasures.take(stored.event, of: stored.node) }
        }
        return erasures
    }
}

/// What was erased between two moments.
private struct ErasedBetween {
    let before: Erasures
    let after: Erasures
    let nodes: [OriginID: NodeID]

    func covers(_ entry: TimelineEntry) -> Bool {
        let header = entry.stored.event.header
        guard entry.stored.event.isErased, let node = nodes[header.dot.origin] else { return false }
        let place = Erasures.Place(
            dot: header.dot, node: node, hlc: header.hlc, type: header.type, user: header.user, author: header.author,
            conversation: header.conversation)
        return after.covers(place) && !before.covers(place)
    }
}

/// Entries of a page one after the other.
private struct PageWalk {
    private let views: ViewReader
    private let owner: TimelineOwner
    let query: TimelineQuery
    private var page: ArraySlice<TimelineEntry> = []
    private var place: DisplayKey?
    private var isAtEnd = false

    init(_ views: ViewReader, _ owner: TimelineOwner, _ moment: PointInTime) {
        (self.views, self.owner) = (views, owner)
        var query = TimelineQuery()
        (query.asOf, query.knownAt) = (moment.asOf, moment.knownAt)
        self.query = query
    }

    mutating func next() throws(StoreError) -> TimelineEntry? {
        while page.isEmpty, !isAtEnd {
            let found = try views.oldest(.max, of: owner, query, after: place)
            page = found.entries[...]
            place = found.next
            isAtEnd = found.next == nil
        }
        return page.popFirst()
    }
}

extension TimelineEntry {
    /// What became of the message until it was `later`.
    fileprivate func changes(to later: TimelineEntry) -> [TimelineChange.Kind] {
        var kinds: [TimelineChange.Kind] = []
        if history?.edit?.id != later.history?.edit?.id { kinds.append(.edited) }
        if history?.retraction?.id != later.history?.retraction?.id { kinds.append(.retracted) }
        if kinds.isEmpty, history?.count ?? 0 != later.history?.count ?? 0 { kinds.append(.beside) }
        return kinds
    }
}

extension ProfileField {
    fileprivate var writes: [Dot] { [winner.dot] + concurrent.map(\.dot) }
}

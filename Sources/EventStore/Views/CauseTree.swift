/// What led to an event and what followed from it: causes up to the first of them, then the event, then what came of it, depth first and in
/// display order.
package struct CauseTree: Sendable {
    package let nodes: [CauseNode]
    /// Whether nothing was left out.
    package var isWhole: Bool { nodes.allSatisfy { $0.cut == nil } }
}

/// How an event follows from another.
package struct CauseLink: Hashable, Sendable {
    package enum Relation: String, Sendable, CaseIterable {
        /// Its header names the other as its cause.
        case cause
        /// It edits or retracts it.
        case amends
        /// It is a bot's reply, and the other is how that bot was set up then.
        case configuration
    }

    package let id: EventID
    package let relation: Relation
}

/// An event of a ``CauseTree``.
package struct CauseNode: Sendable {
    package enum State: Sendable {
        case event(TimelineEntry, quarantined: [QuarantinedEvent])
        /// It is named, and has not come to this node.
        case pending
        /// It is named; whether it is here is not for the one who asks.
        case hidden
    }

    /// Why the tree does not go on here, though there is more.
    package enum Cut: String, Sendable, CaseIterable {
        case depth, rows
    }

    package let id: EventID
    /// 0: the event that was asked for; below it what led to it, above it what followed.
    package let depth: Int
    /// What it follows from. The first of them is its parent in the tree.
    package let causes: [CauseLink]
    package let state: State
    package internal(set) var cut: Cut?
}

/// How much of a tree is told.
package struct CauseLimits: Sendable {
    package static let rows = 1...500
    package static let depths = 0...500
    package static let usual = CauseLimits(rows: 200, depth: 50)

    package let rows: Int
    package let depth: Int

    package init(rows: Int, depth: Int) {
        self.rows = min(max(rows, Self.rows.lowerBound), Self.rows.upperBound)
        self.depth = min(max(depth, Self.depths.lowerBound), Self.depths.upperBound)
    }

    /// Bytes of payloads after which no more is told (INV-9).
    static let bytes = 4 << 20
}

extension ViewReader {
    /// What led to `event` and what followed from it.
    ///
    /// - Parameters:
    ///   - limits: How much of it.
    ///   - isWhole: Whether the one who asks sees everything: then it is said what is not here.
    ///   - isSeen: Whether they see an event; `nil`: all of them, and no header is read to tell.
    package func causes(
        of event: StoredEvent, _ limits: CauseLimits = .usual, isWhole: Bool = true,
        isSeen: ((EventHeader) throws(StoreError) -> Bool)? = nil
    ) throws(StoreError) -> CauseTree {
        try CauseWalk(views: self, limits: limits, isWhole: isWhole, isSeen: isSeen).tree(of: event)
    }

    /// The event of this id that counts; of several that have only the id in common the first that is seen.
    package func event(
        _ id: EventID, isSeen: (EventHeader) throws(StoreError) -> Bool
    ) throws(StoreError) -> StoredEvent? {
        // Others may have given one of theirs the same id: those that are no twins all count.
        for event in try log.countingEvents(id: id) where try isSeen(event.event.header) { return event }
        return nil
    }
}

/// Gathers a tree, level by level. Every event comes once, so that causes that lead back to themselves end.
private final class CauseWalk {
    private let views: ViewReader
    private let limits: CauseLimits
    private let isWhole: Bool
    private let isSeen: ((EventHeader) throws(StoreError) -> Bool)?
    /// Positions of events that are in it.
    private var positions: Set<UInt64> = []
    /// Ids of what is named and not here.
    private var missing: Set<EventID> = []
    private var rows = 0
    private var bytes = 0

    init(
        views: ViewReader, limits: CauseLimits, isWhole: Bool,
        isSeen: ((EventHeader) throws(StoreError) -> Bool)?
    ) {
        (self.views, self.limits, self.isWhole, self.isSeen) = (views, limits, isWhole, isSeen)
    }

    func tree(of event: StoredEvent) throws(StoreError) -> CauseTree {
        let links = try causes(of: event)
        let root = try node(event, depth: 0, links)
        let ancestors = try ancestors(of: root)
        return CauseTree(nodes: ancestors + (try followers(of: root.cutting(isCut))))
    }

    // MARK: What led to it

    /// Whether causes of the event itself are left out.
    private var isCut: CauseNode.Cut?

    private func ancestors(of root: CauseNode) throws(StoreError) -> [CauseNode] {
        var levels: [[CauseNode]] = [[root]]
        // What followed has its share, however long the way to the first cause is.
        let most = (limits.rows + 1) / 2
        while let last = levels.last, !last.isEmpty {
            var (next, cuts): ([CauseNode], [Int: CauseNode.Cut]) = ([], [:])
            for (index, node) in last.enumerated() {
                for link in node.causes {
                    guard levels.count <= limits.depth else {
                        cuts[index] = .depth
                        break
                    }
                    guard rows < most, bytes < CauseLimits.bytes else {
                        cuts[index] = .rows
                        break
                    }
                    if let found = try resolve(link, depth: -levels.count) { next.append(found) }
                }
            }
            for (index, cut) in cuts { levels[levels.count - 1][index].cut = cut }
            levels.append(next.sorted(by: CauseNode.precedes))
        }
        isCut = levels[0][0].cut
        return levels.dropFirst().reversed().flatMap { $0 }
    }

    /// The event that a link names; `nil` if it is in the tree.
    private func resolve(_ link: CauseLink, depth: Int) throws(StoreError) -> CauseNode? {
        if let event = try views.event(link.id, isSeen: sees) {
            return positions.contains(event.position) ? nil : try node(event, depth: depth, try causes(of: event))
        }
        guard missing.insert(link.id).inserted else { return nil }
        rows += 1
        return CauseNode(id: link.id, depth: depth, causes: [], state: isWhole ? .pending : .hidden)
    }

    /// What an event says it follows from.
    private func causes(of stored: StoredEvent) throws(StoreError) -> [CauseLink] {
        let header = stored.event.header
        guard !header.isOpaque else { return [] }
        var links = header.cause.map { [CauseLink(id: $0, relation: .cause)] } ?? []
        if let target = stored.event.amended {
            links.removeAll { $0.id == target }
            links.insert(CauseLink(id: target, relation: .amends), at: 0)
        }
        if let id = try configuration(of: header), !links.contains(where: { $0.id == id }) {
            links.append(CauseLink(id: id, relation: .configuration))
        }
        return links
    }

    /// How the bot was set up when it replied: the last `bot.configured` before in its own history.
    private func configuration(of header: EventHeader) throws(StoreError) -> EventID? {
        guard header.type == EventType.botReplied.rawValue else { return nil }
        var query = TimelineQuery()
        query.types = [Self.configured]
        for owner in ["bot/\(header.author)", header.author] {
            let page = try views.newest(1, of: .user(owner), query, before: header.displayKey)
            if let found = page.entries.first?.stored.event.header { return try sees(found) ? found.id : nil }
        }
        return nil
    }

    private static let configured = "bot.configured"

    private func sees(_ header: EventHeader) throws(StoreError) -> Bool { try isSeen?(header) ?? true }

    // MARK: What followed

    private func followers(of root: CauseNode) throws(StoreError) -> [CauseNode] {
        var nodes = [root]
        var children: [Int: [Int]] = [:]
        var next = 0
        while next < nodes.count {
            let node = nodes[next]
            let room = nodes[next].depth < limits.depth && bytes < CauseLimits.bytes ? limits.rows - rows : 0
            let found = try followers(of: node.id, limit: room)
            for (event, link) in found.events {
                var links = try causes(of: event)
                links.removeAll { $0.id == link.id }
                let child = try self.node(event, depth: node.depth + 1, [link] + links)
                children[next, default: []].append(nodes.count)
                nodes.append(child)
            }
            if found.hasMore {
                nodes[next].cut = nodes[next].cut ?? (node.depth < limits.depth ? .rows : .depth)
            }
            next += 1
        }
        var order: [Int] = []
        var stack = [0]
        while let index = stack.popLast() {
            order.append(index)
            stack += (children[index] ?? []).reversed()
        }
        return order.map { nodes[$0] }
    }

    /// The first events that name `id` as their cause, and the newest of what changes it, in display order: one is not to keep the other away,
    /// so the changes have half of the room where it is scarce.
    private func followers(
        of id: EventID, limit: Int
    ) throws(StoreError) -> (events: [(StoredEvent, CauseLink)], hasMore: Bool) {
        // Some of them may be in the tree.
        let most = max(limit, 0) + 1 + positions.count
        let (effects, changes) = try views.reading { connection throws(DatabaseError) in
            (
                try CausesView.first(most, of: id, connection),
                try MessagesView.newest(most, about: id, connection)
            )
        }
        var read = bytes
        let first = try events(at: effects, limit: limit - min(changes.count, limit / 2), &read)
        let newest = try events(at: changes, limit: limit - first.events.count, &read)
        let events = (first.events + newest.events).sorted { $0.event.header.displayKey < $1.event.header.displayKey }
        let told = events.map { event in
            (event, CauseLink(id: id, relation: event.event.amended == id ? .amends : .cause))
        }
        return (told, first.hasMore || newest.hasMore)
    }

    /// Those of these that are seen and not in the tree, in their order, and whether there are more.
    private func events(
        at positions: [UInt64], limit: Int, _ read: inout Int
    ) throws(StoreError) -> (events: [StoredEvent], hasMore: Bool) {
        var events: [StoredEvent] = []
        for position in positions where !self.positions.contains(position) {
            guard let event = try views.log.event(at: position) else {
                throw .corrupt("the views name event \(position), which the log does not have")
            }
            guard try sees(event.event.header) else { continue }
            guard events.count < limit, read < CauseLimits.bytes else { return (events, true) }
            read += event.event.payload?.count ?? 0
            events.append(event)
        }
        return (events, false)
    }

    private func node(
        _ event: StoredEvent, depth: Int, _ causes: [CauseLink]
    ) throws(StoreError) -> CauseNode {
        positions.insert(event.position)
        rows += 1
        let entry = try views.entry(event, TimelineQuery(), isSeen: isSeen)
        bytes += event.event.payload?.count ?? 0
        bytes += entry.history?.amendments.reduce(0) { $0 + ($1.text?.utf8.count ?? 0) } ?? 0
        return CauseNode(
            id: event.event.header.id, depth: depth, causes: causes,
            state: .event(entry, quarantined: try views.refusals(of: event.position)))
    }
}

extension CauseNode {
    private var key: DisplayKey? { if case .event(let entry, _) = state { entry.key } else { nil } }

    /// What is not here comes first, by id.
    fileprivate static func precedes(_ a: CauseNode, _ b: CauseNode) -> Bool {
        switch (a.key, b.key) {
        case (let a?, let b?): a < b
        case (nil, nil): a.id < b.id
        case (let key, _): key == nil
        }
    }

    fileprivate func cutting(_ cut: Cut?) -> CauseNode {
        var node = self
        node.cut = cut
        return node
    }
}

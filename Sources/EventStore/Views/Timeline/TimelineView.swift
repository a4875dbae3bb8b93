/// Events of a conversation in display order, and who said them. Twins that do not count are there, too, but hidden: an audit asks for
/// them. `time` is the display time; ties of (time, hlc), which only different origins
/// can make, are settled at reading by the dot.
final class TimelineView: View {
    static let name = "timeline"
    static let version: Int64 = 2
    static let tables = SortedTable.timeline.tables
    static let schema = SortedTable.timeline.schema
    static let takesAll = true

    private let rows: LSMTree
    private let listener: (ViewStore) -> any CompactionListener
    var tree: LSMTree? { rows }
    var digest = DigestSum()

    /// - Parameter listener: Hears which rows stand in the run, for what is summed up of them.
    init(_ tails: ViewMemtables, listener: @escaping (ViewStore) -> any CompactionListener) {
        rows = LSMTree(.timeline, tail: tails.timeline, generation: tails.generation)
        self.listener = listener
    }

    func load(_ store: ViewStore) { rows.listener = listener(store) }

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        guard let conversation = event.conversation else { return nil }
        let isCounted = event.obstacle == nil && ConversationForm.refusal(event) == nil
        let tags = RowTags(
            event, isMessage: event.isMessage, isCounted: isCounted, author: event.author, context: 0)
        try rows.apply(conversation, event, change, tags, store)
        digest.take(event, change, store)
        return nil
    }

    func flush(_ store: ViewStore) throws(DatabaseError) { try rows.flush(store.connection) }
}

/// Every event of a user, in display order, twins hidden as in ``TimelineView``.
final class HistoryView: View {
    static let name = "history"
    static let version: Int64 = 3
    static let tables = SortedTable.history.tables
    static let schema = SortedTable.history.schema
    static let takesAll = true

    private let rows: LSMTree
    private let listener: (ViewStore) -> any CompactionListener
    var tree: LSMTree? { rows }
    var digest = DigestSum()

    /// - Parameter listener: Hears which rows stand in the run, for what is summed up of them.
    init(_ tails: ViewMemtables, listener: @escaping (ViewStore) -> any CompactionListener) {
        rows = LSMTree(.history, tail: tails.history, generation: tails.generation)
        self.listener = listener
    }

    func load(_ store: ViewStore) { rows.listener = listener(store) }

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        let author = event.author == event.user ? 0 : event.author
        let tags = RowTags(
            event, isMessage: event.isMessage && event.payload != nil, isCounted: event.obstacle == nil,
            author: author,
            context: event.conversation ?? 0)
        try rows.apply(event.user, event, change, tags, store)
        digest.take(event, change, store)
        return nil
    }

    func flush(_ store: ViewStore) throws(DatabaseError) { try rows.flush(store.connection) }
}

extension LSMTree {
    fileprivate func apply(
        _ owner: Int64, _ event: ProjectedEvent, _ change: ViewChange, _ tags: RowTags, _ store: ViewStore
    ) throws(DatabaseError) {
        let row = SortedRow(
            owner: owner, time: event.key.time, hlc: event.key.hlc.ordered, position: event.position, tags: tags,
            isHidden: change == .shadow)
        switch change {
        case .insert, .shadow: insert(row)
        case .remove: try hide(row, store.connection)
        }
    }
}

extension DigestSum {
    /// The events that count.
    fileprivate mutating func take(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) {
        switch change {
        case .insert: add(store.summand(event))
        case .shadow: break
        case .remove: remove(store.summand(event))
        }
    }
}

/// Events of a conversation in display order, and who said them. `time` is the display time; ties of (time, hlc), which only different origins
/// can make, are settled at reading by the dot.
final class TimelineView: View {
    static let name = "timeline"
    static let version: Int64 = 1
    static let tables = SortedTable.timeline.tables
    static let schema = SortedTable.timeline.schema
    static let takesAll = true

    private let rows: LSMTree
    var tree: LSMTree? { rows }

    /// - Parameter listener: Hears which rows stand in the run, for what is summed up of them.
    init(_ tails: ViewMemtables, listener: any CompactionListener.Type) {
        rows = LSMTree(.timeline, tail: tails.timeline, generation: tails.generation, listener: listener)
    }

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        guard let conversation = event.conversation else { return nil }
        try rows.apply(conversation, event, change, tag: Self.speaker(event), store)
        return nil
    }

    private static func speaker(_ event: ProjectedEvent) -> Int64 {
        if event.obstacle != nil || ConversationForm.refusal(event) != nil { return SortedRow.uncounted }
        return event.isMessage ? event.author : 0
    }

    func flush(_ store: ViewStore) throws(DatabaseError) { try rows.flush(store.connection) }

    func digest(_ store: ViewStore, into digest: inout DigestSum) throws(DatabaseError) {
        try SortedTable.timeline.digest(store, into: &digest)
    }
}

/// Every event of a user, in display order.
final class HistoryView: View {
    static let name = "history"
    static let version: Int64 = 1
    static let tables = SortedTable.history.tables
    static let schema = SortedTable.history.schema
    static let takesAll = true

    private let rows: LSMTree
    var tree: LSMTree? { rows }

    init(_ tails: ViewMemtables) {
        rows = LSMTree(.history, tail: tails.history, generation: tails.generation)
    }

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        try rows.apply(event.user, event, change, store)
        return nil
    }

    func flush(_ store: ViewStore) throws(DatabaseError) { try rows.flush(store.connection) }

    func digest(_ store: ViewStore, into digest: inout DigestSum) throws(DatabaseError) {
        try SortedTable.history.digest(store, into: &digest)
    }
}

extension LSMTree {
    fileprivate func apply(
        _ owner: Int64, _ event: ProjectedEvent, _ change: ViewChange, tag: Int64 = 0, _ store: ViewStore
    ) throws(DatabaseError) {
        let row = SortedRow(
            owner: owner, time: event.key.time, hlc: event.key.hlc.ordered, position: event.position, tag: tag
        )
        switch change {
        case .insert: insert(row)
        case .shadow: break
        case .remove: try remove(row, store.connection)
        }
    }
}

extension SortedTable {
    fileprivate func digest(_ store: ViewStore, into digest: inout DigestSum) throws(DatabaseError) {
        let log = store.source.log
        try all(store.connection) { row throws(DatabaseError) in
            digest.add(
                try store.text(row.owner), String(row.time), HybridTime(ordered: row.hlc).description,
                try log.dot(at: row.position).description)
        }
    }
}

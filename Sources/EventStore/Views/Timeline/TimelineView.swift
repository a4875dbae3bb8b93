/// Events of a conversation in display order, and who said them. `time` is the display time; ties of (time, hlc), which only different origins
/// can make, are settled at reading by the dot.
final class TimelineView: View {
    static let name = "timeline"
    static let takesAll = true
    static let tables = SortedTable.timeline.schema

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        guard let conversation = event.conversation else { return nil }
        try store.timeline.apply(conversation, event, change, speaker: Self.speaker(event), store)
        return nil
    }

    private static func speaker(_ event: ProjectedEvent) -> Int64 {
        if event.obstacle != nil || ConversationsView.refusal(event) != nil { return SortedRow.uncounted }
        return event.isMessage ? event.author : 0
    }

    func flush(_ store: ViewStore) throws(DatabaseError) { try store.timeline.flush(store.connection) }

    func digest(_ store: ViewStore, into digest: inout DigestSum) throws(DatabaseError) {
        try SortedTable.timeline.digest(store, into: &digest)
    }
}

/// Every event of a user, in display order.
final class HistoryView: View {
    static let name = "history"
    static let takesAll = true
    static let tables = SortedTable.history.schema

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        try store.history.apply(event.user, event, change, store)
        return nil
    }

    func flush(_ store: ViewStore) throws(DatabaseError) { try store.history.flush(store.connection) }

    func digest(_ store: ViewStore, into digest: inout DigestSum) throws(DatabaseError) {
        try SortedTable.history.digest(store, into: &digest)
    }
}

extension LSMTree {
    fileprivate func apply(
        _ owner: Int64, _ event: ProjectedEvent, _ change: ViewChange, speaker: Int64 = 0, _ store: ViewStore
    ) throws(DatabaseError) {
        let row = SortedRow(
            owner: owner, time: event.key.time, hlc: event.key.hlc.ordered, position: event.position, speaker: speaker
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

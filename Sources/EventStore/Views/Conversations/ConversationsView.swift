/// One row for each conversation: its title, how much was said, when first and last.
///
/// What is summed up follows from the timeline, and is written behind with it (D1). A conversation's row has the sum of its rows in the
/// run, and changes with those, once for each generation that is merged. Readers add the rows that still are in the tail. Titles,
/// categories and who started it are written with the step.
final class ConversationsView: View {
    static let name = "conversations"
    static let version: Int64 = 1
    static let tables = ["conversation"]
    static let schema = ConversationRow.tables
    /// The sums are those of the timeline's run.
    static var foundation: (any View.Type)? { TimelineView.self }

    var digest = DigestSum()
    /// What a batch says of conversations.
    private var touched: [Int64: ConversationRow] = [:]

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        guard let type = event.type, type == .conversationStarted || type == .conversationRenamed else { return nil }
        guard let conversation = event.conversation else { return Self.refusal(placing: type) }
        if let refusal = ConversationForm.refusal(event) { return refusal }
        guard change != .remove, let payload = event.payload else { return nil }
        var row = touched[conversation] ?? ConversationRow(conversation)
        let stamp = Stamp(event.key)
        row.title.take(payload.string("title").map { Register(value: $0, stamp: stamp) })
        if type == .conversationStarted {
            row.category.take(payload.string("category").map { Register(value: $0, stamp: stamp) })
            let opening = Opening(starter: event.author, moderators: payload.raw("moderators").map(Self.text))
            row.opening.takeEarlier(Register(value: opening, stamp: Stamp(recorded: event.key)))
        }
        touched[conversation] = row
        return nil
    }

    /// Why what is said of a conversation is not of the form that is read; `nil` if it is, or is of those who take part.
    static func refusal(_ type: EventType, _ payload: JSONObject, isPlaced: Bool) -> String? {
        guard type == .conversationStarted || type == .conversationRenamed else { return nil }
        return isPlaced ? ConversationForm.refusal(type, payload) : refusal(placing: type)
    }

    private static func refusal(placing type: EventType) -> String { "\(type.rawValue) without a conversation" }

    /// What the events of a batch say of a conversation.
    func said(of conversation: Int64) -> ConversationRow { touched[conversation] ?? ConversationRow(conversation) }

    private static func text(_ json: ArraySlice<UInt8>) -> String { String(decoding: json, as: UTF8.self) }

    func flush(_ store: ViewStore) throws(DatabaseError) {
        for conversation in touched.keys.sorted() {
            guard let said = touched[conversation] else { continue }
            var row = try ConversationRow.load(conversation, store.connection)
            if row.isNamed { digest.remove(try fields(row, store)) }
            row.title.take(said.title)
            row.category.take(said.category)
            row.opening.takeEarlier(said.opening)
            try row.save(store.connection)
            if row.isNamed { digest.add(try fields(row, store)) }
        }
        touched = [:]
    }

    /// What events say of a conversation; how many they are follows from the timeline.
    private func fields(_ row: ConversationRow, _ store: ViewStore) throws(DatabaseError) -> [DigestSum.Field] {
        let starter = try row.opening.map { opening throws(DatabaseError) in try store.text(opening.value.starter) }
        return [
            .text(try store.text(row.conversation)), .text(row.title?.value ?? ""), .dot(row.title?.stamp.key.dot),
            .text(row.category?.value ?? ""), .dot(row.category?.stamp.key.dot), .text(starter ?? ""),
            .text(row.opening?.value.moderators ?? ""), .dot(row.opening?.stamp.key.dot),
        ]
    }

    /// The timeline stands as it did: what its run comes to is summed up again.
    func begin(_ store: ViewStore) throws(DatabaseError) {
        var (conversation, sum) = (Int64(0), ConversationSum())
        try SortedTable.timeline.run(store.connection) { row throws(DatabaseError) in
            if row.owner != conversation {
                try ConversationRow.add(sum, to: conversation, store.connection)
                (conversation, sum) = (row.owner, ConversationSum())
            }
            sum.add(row)
        }
        try ConversationRow.add(sum, to: conversation, store.connection)
    }
}

extension Optional {
    /// The later of two writes counts.
    fileprivate mutating func take<Value>(_ write: Register<Value>?) where Wrapped == Register<Value> {
        guard let write else { return }
        if map({ $0.stamp < write.stamp }) ?? true { self = write }
    }

    /// The earlier of two writes counts.
    fileprivate mutating func takeEarlier<Value>(_ write: Register<Value>?) where Wrapped == Register<Value> {
        guard let write else { return }
        if map({ write.stamp < $0.stamp }) ?? true { self = write }
    }
}

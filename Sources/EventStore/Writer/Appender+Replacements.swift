/// Events that come from other nodes may state stamps of long ago, for a node may have been away for long. What they change of what was shown
/// here is told (docs/reference/THREATS.md).
extension Appender {
    /// Whether a received event says how a conversation began whose name is here already. Asked before it is stored.
    func opensLate(_ header: EventHeader) throws(DatabaseError) -> Bool {
        guard header.type == "conversation.started", let conversation = header.conversation,
            !DirectConversation.isID(conversation)
        else { return false }
        return try reader.ref(conversation, on: connection) != nil
    }

    /// Notes what the event that was stored last does to what was here.
    ///
    /// - Parameter first: Of the events with its id the one that came first.
    func noteReplacement(_ event: Event, twinOf first: UInt64?, opensLate: Bool) throws(DatabaseError) {
        guard replacements.count < Replacement.most else { return }
        let header = event.header
        func note(_ kind: Replacement.Kind) {
            replacements.append(Replacement(kind: kind, id: header.id, dot: header.dot, position: state.position))
        }
        if let first, try takesPlace(event, among: first) { note(.content) }
        // What says the same as another does not change who moderates.
        if first == nil, opensLate { note(.opening) }
    }

    private func takesPlace(_ event: Event, among first: UInt64) throws(DatabaseError) -> Bool {
        let group = "(position = ?1 OR twin = ?1)"
        // Where two nodes import the same, half of what comes is not earlier.
        let isEarlier = try connection.integer(
            "SELECT 1 FROM event WHERE \(group) AND hlc >= ?2 AND position < ?3 LIMIT 1", .unsigned(first),
            .unsigned(event.header.hlc.rawValue), .unsigned(state.position))
        guard isEarlier != nil, let payload = event.payload else { return false }
        let earlier = try connection.all(
            "SELECT \(EventRow.columns) FROM event WHERE \(group) AND position < ?2",
            [.unsigned(first), .unsigned(state.position)]
        ) { row throws(DatabaseError) in try EventRow.read(row, names: &reader, on: connection).event }
        let counted = earlier.filter { $0.header.isTwin(of: event.header) }.min {
            $0.header.isRecorded(before: $1.header)
        }
        guard let counted, let old = counted.payload, event.header.isRecorded(before: counted.header) else {
            return false
        }
        return old != payload
    }

    /// What the last commit has noted, once.
    func takeReplacements() -> [Replacement] {
        defer { replacements = [] }
        return replacements
    }
}

extension EventHeader {
    /// Whether both say of one thing what happened (docs/reference/VIEWS.md, "Twins").
    func isTwin(of other: EventHeader) -> Bool {
        id == other.id && type.hasSameBytes(as: other.type) && user.hasSameBytes(as: other.user)
            && author.hasSameBytes(as: other.author) && conversation.hasSameBytes(as: other.conversation)
    }

    fileprivate func isRecorded(before other: EventHeader) -> Bool { (hlc, dot) < (other.hlc, other.dot) }
}

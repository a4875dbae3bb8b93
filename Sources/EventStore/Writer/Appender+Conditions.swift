/// What a request depends on beside its own events, looked at in the writer's transaction: no other append comes between.
extension Appender {
    func violated(_ condition: AppendCondition?) throws(DatabaseError) -> AppendRejection? {
        guard let condition else { return nil }
        var actual = condition.found
        if let ref = try reader.ref(condition.expected.conversation, on: connection) {
            let since = try connection.integer(
                "SELECT count(*) FROM event WHERE position > ? AND conversation = ?",
                .unsigned(condition.position), .integer(ref))
            actual = actual.addingSaturated(UInt64(clamping: since ?? 0))
        }
        let expected = condition.expected.version
        return actual == expected ? nil : .conversationMoved(expected: expected, actual: actual)
    }

    /// What becomes of a request whose condition does not hold: what is here already is here (INV-8), and nothing is added.
    func answer(
        _ request: AppendRequest, rejecting rejection: AppendRejection
    ) throws(DatabaseError) -> [AppendOutcome] {
        let found = try request.drafts.map { (prepared) throws(DatabaseError) -> AppendOutcome? in
            try already(prepared)
        }
        let isHere = request.atomicity == .each || !found.contains(nil)
        return found.map { isHere ? $0 ?? .rejected(rejection) : .rejected(rejection) }
    }

    /// What a draft has come to that was stored before, with the same content; `nil` if it was not.
    private func already(_ prepared: PreparedDraft) throws(DatabaseError) -> AppendOutcome? {
        guard let id = prepared.draft.id, let stored = try stored(id), prepared.draft.matches(stored.event) else {
            return nil
        }
        return .already(AppendReceipt(of: stored))
    }

    /// The drafts that begin a conversation which has events already, ascending, where the request may begin new ones alone. What is here
    /// already is none of them (INV-8): a request whose answer was lost has begun the conversation itself.
    func late(_ request: AppendRequest) throws(DatabaseError) -> [Int] {
        guard let newOnly = request.newOnly else { return [] }
        var late: [Int] = []
        for (index, prepared) in request.drafts.enumerated() where prepared.draft.type == "conversation.started" {
            guard let conversation = prepared.draft.conversation, try hasEvents(conversation, newOnly),
                try already(prepared) == nil
            else { continue }
            late.append(index)
        }
        return late
    }

    private func hasEvents(_ conversation: String, _ newOnly: NewConversations) throws(DatabaseError) -> Bool {
        if newOnly.begun.contains(conversation) { return true }
        guard let ref = try reader.ref(conversation, on: connection) else { return false }
        return try connection.integer(
            "SELECT 1 FROM event WHERE position > ? AND conversation = ? LIMIT 1", .unsigned(newOnly.position),
            .integer(ref)) != nil
    }

    /// What becomes of a request of which some drafts come too late, the first at `first`.
    func append(
        _ request: AppendRequest, but late: [Int], _ first: Int
    ) throws(DatabaseError) -> [AppendOutcome] {
        var outcomes: [AppendOutcome] = []
        let refused = Set(late)
        for (index, prepared) in request.drafts.enumerated() {
            if refused.contains(index), request.atomicity == .each || index == first {
                outcomes.append(.rejected(.begun(conversation: prepared.draft.conversation ?? "")))
            } else if request.atomicity == .whole {
                outcomes.append(.rejected(.batchRejected(index: first)))
            } else {
                outcomes.append(try append(prepared))
            }
        }
        return outcomes
    }
}

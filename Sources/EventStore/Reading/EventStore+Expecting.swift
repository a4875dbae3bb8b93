// Appends that depend on what the appender has seen of a conversation (D6).
extension EventStore {
    /// As ``append(_:atomicity:)``, if the conversation is at the version that the appender expects. Else what is not stored already is
    /// rejected, with ``AppendRejection/conversationMoved(expected:actual:)``: read it again, and decide again.
    ///
    /// - Parameters:
    ///   - drafts: As of ``append(_:atomicity:)``. They need not be of that conversation.
    ///   - atomicity: Whether one rejected draft rejects them all.
    ///   - expected: Which conversation, and how many events it has on this node. Another append does not come between.
    /// - Throws: As ``append(_:atomicity:)``, and what a query of views throws (``EventReader/summary(of:)``): its version stands there.
    public func append(
        _ drafts: [EventDraft], atomicity: Atomicity = .whole, expecting expected: ExpectedVersion
    ) async throws(StoreError) -> [AppendOutcome] {
        try await BlockingQueue(name: "sillok-append").value { () -> Result<[AppendOutcome], StoreError> in
            do throws(StoreError) {
                return .success(try self.appendBlocking(drafts, atomicity: atomicity, expecting: expected))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// As ``append(_:atomicity:expecting:)``; blocks the calling thread. Never for Swift's cooperative pool.
    ///
    /// - Throws: As ``append(_:atomicity:expecting:)``.
    public func appendBlocking(
        _ drafts: [EventDraft], atomicity: Atomicity = .whole, expecting expected: ExpectedVersion
    ) throws(StoreError) -> [AppendOutcome] {
        let found = try EventReader(self).conversationVersion(expected.conversation)
        let condition = AppendCondition(expected, found: found.version, at: found.at)
        return try blocking { completion in
            append([AppendCall(drafts: drafts, atomicity: atomicity, condition: condition, completion: completion)])
        }
    }
}

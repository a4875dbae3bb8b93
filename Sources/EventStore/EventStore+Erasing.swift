internal import Glibc

// Erasures are recorded here, and applied in every file of the store (D14, D27).
extension EventStore {
    /// Goes on with erasures that were under way when the store was closed, and begins with each that comes.
    func followErasures() throws(StoreError) {
        writer.onErasure.withLock {
            $0 = { [weak self] in try? self?.eraser().look() }
        }
        let reader = try LogReader(files)
        let isDue = try reader.lastErasure(of: identity.node) > reader.erasedThrough()
        if isDue || access(files.laterErasures, F_OK) == 0 { try eraser().look() }
    }

    private func eraser() throws(StoreError) -> Eraser {
        try follower { () throws(StoreError) in
            Eraser(
                files, writer, identity.node,
                record: { [weak self] drafts throws(StoreError) in
                    guard let self else { throw .closed }
                    _ = try recordBlocking(drafts)
                },
                leaving: { [weak self] wants throws(StoreError) in
                    guard !wants.isEmpty else { return }
                    guard let self else { throw .closed }
                    try attachments().leaving(wants)
                })
        }
    }

    /// From now on this node confirms what other nodes erase, and erases it too: by an event of its own for each, which covers all that is in
    /// its log.
    package func confirmErasures() throws(StoreError) { try eraser().confirmAll() }

    /// Records erasures in one commit. What they cover goes soon after, on a thread of its own. Blocks.
    ///
    /// - Parameters:
    ///   - author: Who appends them, by name.
    ///   - actor: Which credential was checked.
    ///   - top: Up to where the log was looked through for their plan.
    /// - Returns: `nil`, with nothing recorded, where the same has been erased since, or is being erased.
    package func eraseBlocking(
        _ erasures: [Erasure], author: String, actor: EventActor? = nil, planned top: UInt64
    ) throws(StoreError) -> [AppendOutcome]? {
        try erasing.withLock { _ throws(StoreError) in
            guard try !isErased(erasures.first, since: top) else { return nil }
            return try eraseBlocking(erasures, author: author, actor: actor)
        }
    }

    private func isErased(_ erasure: Erasure?, since top: UInt64) throws(StoreError) -> Bool {
        let log = try LogReader(files)
        let seen = min(top, try log.erasedThrough())
        return try log.erasures().contains { one in
            guard one.node == identity.node, one.position > seen, let other = one.erasure, other.confirms == nil
            else { return false }
            return other.subject == erasure?.subject && (other.subject != nil || other.events == erasure?.events)
        }
    }

    /// As ``eraseBlocking(_:author:actor:planned:)``, whatever has been erased.
    package func eraseBlocking(
        _ erasures: [Erasure], author: String, actor: EventActor? = nil
    ) throws(StoreError) -> [AppendOutcome] {
        let drafts = erasures.map { erasure in
            var draft = erasure.draft(user: author, author: author)
            draft.actor = actor
            return draft
        }
        let outcomes = try recordBlocking(drafts)
        try eraser().look()
        return outcomes
    }

    /// Waits until what was recorded is applied in every file but the views, or until `goesOn` says no. Blocks.
    package func finishErasures(_ goesOn: () -> Bool = { true }) throws(StoreError) {
        try eraser().finish(goesOn)
    }
}

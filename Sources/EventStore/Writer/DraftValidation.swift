/// One caller's append.
package struct AppendCall: Sendable {
    package let drafts: [EventDraft]
    package let atomicity: Atomicity
    package let condition: AppendCondition?
    /// What it may begin; `nil`: any conversation, at any time.
    package let newOnly: NewConversations?
    /// Runs once. Must be short.
    package let completion: @Sendable (Result<[AppendOutcome], StoreError>) -> Void

    package init(
        drafts: [EventDraft], atomicity: Atomicity, condition: AppendCondition? = nil,
        newOnly: NewConversations? = nil,
        completion: @escaping @Sendable (Result<[AppendOutcome], StoreError>) -> Void
    ) {
        self.drafts = drafts
        self.atomicity = atomicity
        (self.condition, self.newOnly) = (condition, newOnly)
        self.completion = completion
    }
}

/// Drafts checked and hashed on the caller's thread, many of them beside it, and how the writer's answers map back to them.
package struct DraftValidation: Sendable {
    private(set) var accepted: [PreparedDraft] = []
    /// The others, ascending by their index among the caller's drafts.
    private var rejected: [(index: Int, rejection: AppendRejection)] = []
    private let atomicity: Atomicity

    /// - Parameters:
    ///   - isOfNode: Whether the node appends for itself: then the types may be reserved ones.
    ///   - salts: Where the salts come from of what is checked on the calling thread; other threads draw their own.
    ///   - sha: What hashes there.
    init(
        _ drafts: [EventDraft], _ atomicity: Atomicity, isOfNode: Bool = false,
        _ salts: Lock<RandomSource> = Lock(RandomSource()), _ sha: SHA256 = SHA256()
    ) {
        self.atomicity = atomicity
        let first = drafts.prefix(Self.piece)
        let others = stride(from: first.endIndex, to: drafts.endIndex, by: Self.piece).map { start in
            let piece = drafts[start..<min(drafts.endIndex, start + Self.piece)]
            return Deferred { Part(piece, isOfNode, Lock(RandomSource()), SHA256()) }
        }
        // This thread begins at one end, others at the other.
        for part in others.reversed() { part.offer() }
        take(Part(first, isOfNode, salts, sha))
        for part in others { take(part.output()) }
        guard atomicity == .whole, let culprit = rejected.first?.index else { return }
        accepted = []
        var reasons = Dictionary(uniqueKeysWithValues: rejected.map { ($0.index, $0.rejection) })
        rejected = drafts.indices.map { ($0, reasons.removeValue(forKey: $0) ?? .batchRejected(index: culprit)) }
    }

    /// So many drafts are worth the waking of another thread.
    private static let piece = 256

    /// What comes of some of the drafts.
    private struct Part: Sendable {
        var accepted: [PreparedDraft] = []
        var rejected: [(index: Int, rejection: AppendRejection)] = []

        init(_ drafts: ArraySlice<EventDraft>, _ isOfNode: Bool, _ salts: Lock<RandomSource>, _ sha: SHA256) {
            accepted.reserveCapacity(drafts.count)
            for index in drafts.indices {
                let draft = drafts[index]
                do throws(InvalidEvent) {
                    try draft.validate(isOfNode: isOfNode)
                    let salt = salts.withLock { $0.uuidBits() }
                    let digest = sha.payloadDigest(salt: salt, payload: draft.payload)
                    accepted.append(PreparedDraft(draft: draft, salt: salt, payloadDigest: digest))
                } catch {
                    rejected.append((index, .invalid(error)))
                }
            }
        }
    }

    private mutating func take(_ part: Part) {
        if accepted.isEmpty { accepted = part.accepted } else { accepted += part.accepted }
        rejected += part.rejected
    }

    /// What the writer is asked; `nil` when no draft is left.
    func request(_ condition: AppendCondition? = nil, _ newOnly: NewConversations? = nil) -> AppendRequest? {
        guard !accepted.isEmpty else { return nil }
        return AppendRequest(drafts: accepted, condition: condition, newOnly: newOnly, atomicity: atomicity)
    }

    /// An outcome for each draft, of those of the accepted.
    func outcomes(_ stored: [AppendOutcome]) -> [AppendOutcome] {
        if rejected.isEmpty { return stored }
        var outcomes: [AppendOutcome] = []
        var (others, rest) = (rejected[...], stored[...])
        while outcomes.count < accepted.count + rejected.count {
            if others.first?.index == outcomes.count {
                outcomes.append(.rejected(others.removeFirst().rejection))
            } else {
                outcomes.append(rest.removeFirst())
            }
        }
        return outcomes
    }
}

extension EventDraft {
    /// Throws why it cannot be appended, whatever the log has.
    ///
    /// - Parameter isOfNode: Whether the node appends for itself: then the type may be a reserved one.
    package func validate(isOfNode: Bool = false) throws(InvalidEvent) {
        try validateHeader()
        if !isOfNode, ReservedType.contains(type) { throw .reserved(type: type) }
        if !grammar.isChecked { try JSONScanner.validateObject(payload) }
        if let reason = AttachmentNaming.refusal(type: type, payload) { throw .attachment(reason: reason) }
    }
}

extension Appender {
    /// Most origins an event names as dependencies, so that its header stays within ``Limits/header``.
    static let maximumDependencies = 2_000

    /// Appends the first event of an origin that is the node's own now, and a head of it.
    func appendStart(_ start: OriginStart, signedWith key: SigningKey) throws(DatabaseError) {
        let salt = ids.random.uuidBits()
        let draft = start.draft
        let prepared = PreparedDraft(
            draft: draft, salt: salt, payloadDigest: sha.payloadDigest(salt: salt, payload: draft.payload))
        _ = try append(AppendRequest(drafts: [prepared], atomicity: .whole))
        try storeOwnHead(signedWith: key)
    }

    /// Gives up the present origin for a new one, inside the writer's open transaction.
    ///
    /// The first event of the new origin depends on everything that is here. It does not name the old origin where what stands under
    /// its last seq here is something else elsewhere, or where no head covers that: no node could take it over, nor what depends on it.
    func startOrigin(
        _ change: OriginChange, known: UInt64, end: OriginEnd, evidence: String?, key: SigningKey, name: String
    ) throws(DatabaseError) -> OriginID {
        guard let old = state.own else {
            throw .misuse("a new origin is asked for, and the store has none yet")
        }
        try seal(with: key.sealer)
        if end.isSigned { try storeOwnHead(signedWith: key) }
        let previous = state.origins[old]
        let head = try merkle.head(of: previous.id, ref: previous.ref, atLeast: previous.size)
        let start = OriginStart(
            key: key.publicKey, name: name,
            succession: OriginSuccession(
                change, previous: previous.id, had: previous.size, known: known, evidence: evidence))
        let index = try addOrigin(.random(from: &ids.random), start)
        try Schema.setMeta("origin", .integer(state.origins[index].ref), on: connection)
        dependOnEverything(but: end.isNamed && head != nil ? [index] : [old, index])
        setOwn(index)
        if change == .clock { resetClock() }
        try appendStart(start, signedWith: key)
        return state.origins[index].id
    }
}

/// Payloads that are to go in one commit.
struct ErasureSlice: Sendable {
    /// Where their events stand; few enough that no append waits long.
    let positions: [UInt64]
    /// How far the log has been looked through then.
    var progress: ErasureIndex.Progress
    /// Whether these are the last ones: then the views are told.
    let isLast: Bool
}

// What this node's erasures let go, goes: from rows that are here, and of what comes before it is stored (INV-11). So goes what comes of
// another node's own that that node has erased: an archive, on which no daemon confirms, does not take it back.
extension Appender {
    /// Reads what was erased: by this node of all that is here, by another of what that has recorded itself (D27).
    func loadErasures() throws(DatabaseError) {
        erasures = Erasures(keeper: try connection.keeper())
        for position in try ErasureIndex.positions(on: connection) {
            let select = try connection.statement("SELECT \(EventRow.columns) FROM event WHERE position = ?")
            defer { select.reset() }
            try select.bind(1, position)
            guard try select.step() else { continue }
            let event = try EventRow.read(select, names: &reader, on: connection).event
            take(event)
        }
    }

    private func take(_ event: Event) {
        guard let index = state.indexes[event.header.dot.origin] else { return }
        erasures.take(event, of: state.origins[index].key.nodeID)
    }

    /// Takes note of an erasure event of the open transaction.
    func noteErasure(_ event: Event, at position: UInt64) {
        newErasures.append(position)
        take(event)
    }

    /// Puts those of the open transaction into the index, and seals it where it has changed.
    func indexErasures(_ sealer: Sealer) throws(DatabaseError) {
        guard !newErasures.isEmpty || isErasureIndexChanged else { return }
        for position in newErasures { try ErasureIndex.note(position, on: connection) }
        // Those before it are known since the log was opened.
        try ErasureIndex.write(on: connection, sealer)
        if !newErasures.isEmpty { hasNewErasures = true }
        (newErasures, isErasureIndexChanged) = ([], false)
    }

    /// Looks through the log for erasures once more: what table `meta` says of them is not what was left there.
    func reviseErasures(_ sealer: Sealer) throws(DatabaseError) {
        try ErasureIndex.remake(on: connection, sealer)
        try loadErasures()
    }

    /// What is stored of a received event.
    func kept(of event: Event, _ index: Int) -> EventBody {
        guard !erasures.isEmpty, !event.isErased else { return event.body }
        let header = event.header
        let place = Erasures.Place(
            dot: header.dot, node: state.origins[index].key.nodeID, hlc: header.hlc, type: header.type,
            user: header.user, author: header.author, conversation: header.conversation)
        return erasures.covers(place) ? .erased(payloadDigest: sha.payloadDigest(event.body)) : event.body
    }

    /// Takes away the payloads of the slice that are covered, and notes how far that is. Returns what it noted.
    func erase(_ slice: ErasureSlice) throws(DatabaseError) -> ErasureIndex.Progress {
        var progress = slice.progress
        for position in slice.positions {
            guard let digest = try coveredDigest(at: position) else { continue }
            // The views of any kind: the words of messages stand in the search.
            progress.isOfViews = true
            let update = try connection.statement(
                "UPDATE event SET salt = NULL, payload = NULL, digest = ? WHERE position = ?")
            try update.bind(1, blob: digest.bytes)
            try update.bind(2, position)
            try update.run()
        }
        if slice.isLast, progress.isOfViews {
            // Views were made with them: they are made anew, without.
            try LogUpgrade.noteReread(on: connection)
            isHealed = true
            progress.isOfViews = false
        }
        try Schema.setMeta(ErasureIndex.erasing, .text(progress.text), on: connection)
        isErasureIndexChanged = true
        return progress
    }

    /// The digest of the body that goes; `nil` if nothing has to. Where erasure has left one, a hand has put back what may be another body.
    private func coveredDigest(at position: UInt64) throws(DatabaseError) -> Digest? {
        let select = try connection.statement(
            """
            SELECT \(ErasedRow.columns), payload, salt, digest FROM event JOIN origin ON ref = event.origin
            WHERE position = ?
            """)
        defer { select.reset() }
        try select.bind(1, position)
        guard try select.step(), try ErasedRow(select).isCovered(by: erasures, &reader, connection) else {
            return nil
        }
        if let left = select.digest(11) { return left }
        guard select.isNull(11), let salt = select.uuid(10) else { return nil }
        let bytes = select.bytes(9)
        return sha.payloadDigest(
            select.isBlob(9) ? .unreadable(salt: salt, bytes: bytes) : .present(salt: salt, payload: bytes))
    }
}

/// Events that have the words of an erased one once more, and that no erasure covers. They are a twin of it, recorded by a node that had
/// not heard of the erasure, and an edit, a retraction or a transcript of it. They come late, or stand in the log of a node that learns
/// of the erasure. An id alone makes no twin: anyone may give the id of another's event to one of their own, and have that erased.
extension LogReader {
    /// Looks through the next `rows` positions after `cursor`.
    ///
    /// - Parameter erasures: Those of the log's keeper.
    /// - Returns: The events, and how far that looked.
    func wordsOfErased(
        _ erasures: Erasures, after cursor: UInt64, through top: UInt64, rows: Int
    ) throws(StoreError) -> (dots: Set<Dot>, cursor: UInt64) {
        let end = min(top, cursor + UInt64(rows))
        let transcribed = try ref(AmendmentRule.transcribed)
        let types = [try ref(AmendmentRule.edited), try ref(AmendmentRule.retracted), transcribed].compactMap(\.self)
        let amending = "type IN (\(types.map(String.init).joined(separator: ",")))"
        var dots: Set<Dot> = []
        try mapped { () throws(DatabaseError) in
            let select = try connection.statement(
                """
                SELECT \(ErasedRow.columns), twin, cause, CASE WHEN \(amending) THEN payload END
                FROM event LEFT JOIN origin ON ref = event.origin
                WHERE position > ? AND position <= ? AND (twin NOT NULL OR \(amending)) ORDER BY position
                """)
            defer { select.reset() }
            try select.bind(1, cursor)
            try select.bind(2, end)
            while try select.step() {
                if let first = select.int64IfAny(9) {
                    let twins = try places(at: first)
                    let gone = twins.filter { $0.isErased && erasures.covers($0.place) }
                    for twin in twins where !twin.isErased && !ReservedType.contains(twin.place.type) {
                        if gone.contains(where: { $0.place.isTwin(of: twin.place) }) { dots.insert(twin.place.dot) }
                    }
                }
                // An edit that has twins is about its message all the same.
                let row = ErasedRow(select)
                guard let message = AmendmentRule.named(select, row.type == transcribed, payload: 11, cause: 10),
                    let place = try row.place(&names, connection)
                else { continue }
                let isAbout = try speaks(place, of: message) { $0.isErased && erasures.covers(place, of: $0.place) }
                if isAbout { dots.insert(place.dot) }
            }
        }
        return (dots, end)
    }

    /// One of the events with one id.
    struct Sharer {
        let position: UInt64
        let place: Erasures.Place
        let isErased: Bool
    }

    /// Whether what the event at `place` says of the id `message` is said of an event that goes. Where an event of another has that id and
    /// stays, it is about the one of its own author. A retraction stays then: it may be what takes that other event back. So does one by another
    /// author in another conversation, which never counts (VIEWS.md): its message may not be here yet.
    func speaks(
        _ place: Erasures.Place, of message: UUIDBits, goes: (Sharer) -> Bool
    ) throws(DatabaseError) -> Bool {
        guard let first = try position(of: message) else { return false }
        let all = try places(at: first)
        let gone = all.filter(goes).map(\.place)
        let isOther = all.contains { one in
            !one.isErased && !goes(one) && !gone.contains { $0.isTwin(of: one.place) }
        }
        let isRetraction = place.type == AmendmentRule.retracted
        if isOther { return !isRetraction && gone.contains(where: place.isOfAuthor(of:)) }
        return gone.contains { !isRetraction || place.isNear($0) }
    }

    /// The event that counts of those with one id, and its twins.
    private func places(at first: Int64) throws(DatabaseError) -> [Sharer] {
        try connection.all(
            """
            SELECT \(ErasedRow.columns), digest IS NOT NULL FROM event LEFT JOIN origin ON ref = event.origin
            WHERE position = ?1 OR twin = ?1
            """, [.integer(first)]
        ) { row throws(DatabaseError) in
            let found = ErasedRow(row)
            return try found.place(&names, connection).map {
                Sharer(position: found.position, place: $0, isErased: row.int64(9) == 1)
            }
        }.compactMap(\.self)
    }

    private func position(of id: UUIDBits) throws(DatabaseError) -> Int64? {
        try connection.first("SELECT position FROM event WHERE id = ? AND twin IS NULL", [.blob(id.bytes)]) {
            $0.int64(0)
        }
    }
}

extension Erasures.Place {
    /// Whether both are one event, recorded twice (VIEWS.md, twins), if they have one id.
    fileprivate func isTwin(of other: Erasures.Place) -> Bool {
        type.hasSameBytes(as: other.type) && user.hasSameBytes(as: other.user) && isOfAuthor(of: other)
    }

    /// Whether this may be about the other: nothing says that they stand in two conversations, or both have one author.
    fileprivate func isNear(_ other: Erasures.Place) -> Bool {
        conversation == nil || conversation.hasSameBytes(as: other.conversation)
            || author.hasSameBytes(as: other.author)
    }

    /// Whether both have one author in one conversation.
    fileprivate func isOfAuthor(of other: Erasures.Place) -> Bool {
        author.hasSameBytes(as: other.author) && conversation.hasSameBytes(as: other.conversation)
    }
}

extension AmendmentRule {
    /// Of a row that amends or transcribes an event the id of that; `nil` of one without payload. What no view can read has words all the same: then
    /// it is the cause.
    static func named(_ row: Statement, _ isTranscript: Bool, payload: Int, cause: Int) -> UUIDBits? {
        guard !row.isNull(payload) else { return nil }
        let object = row.isBlob(payload) ? nil : JSONObject(validated: row.bytes(payload))
        let named = object?[isTranscript ? "inReplyTo" : "message"]?.string.flatMap { EventID(text: $0) }
        return named?.bits ?? row.uuid(cause)
    }
}

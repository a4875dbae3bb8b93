extension Appender {
    /// Gives events back the payloads they have lost; nothing but the bytes that were hashed when they were recorded (INV-4). Returns
    /// whose were missing.
    func heal(_ payloads: [CarriedPayload]) throws(DatabaseError) -> [Dot] {
        var healed: [Dot] = []
        for carried in payloads where try heal(carried) { healed.append(carried.dot) }
        guard !healed.isEmpty else { return [] }
        // Views were made without them.
        try LogUpgrade.noteReread(on: connection)
        isHealed = true
        return healed
    }

    private func heal(_ carried: CarriedPayload) throws(DatabaseError) -> Bool {
        guard let index = state.indexes[carried.dot.origin] else { return false }
        let digest = sha.payloadDigest(salt: carried.salt, payload: carried.payload)
        let found = try connection.first(
            "SELECT \(ErasedRow.columns), digest FROM event JOIN origin ON ref = event.origin "
                + "WHERE event.origin = ? AND seq = ?",
            [.integer(state.origins[index].ref), .unsigned(carried.dot.seq)]
        ) { row in row.digest(9) == digest ? ErasedRow(row) : nil }
        // What was asked for before an erasure may come after it.
        guard let found, try !found.isCovered(by: erasures, &reader, connection) else { return false }
        let position = found.position
        let update = try connection.statement(
            "UPDATE event SET salt = ?, payload = ?, digest = NULL WHERE position = ?")
        try update.bind(1, carried.salt)
        switch EventBody.present(salt: carried.salt, payload: carried.payload).judged {
        case .present(_, let text): try update.bind(2, text: text)
        case .unreadable(_, let bytes): try update.bind(2, blob: bytes)
        case .erased: return false
        }
        try update.bind(3, position)
        try update.run()
        return true
    }
}

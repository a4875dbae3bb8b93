extension LogReader {
    /// Bytes of the payloads of an origin's events after `first` up to `last`, as far as they are there.
    package func payloadBytes(of origin: OriginID, after first: UInt64, through last: UInt64) throws(StoreError)
        -> UInt64
    {
        guard first < last else { return 0 }
        return try mapped { () throws(DatabaseError) in
            guard let ref = try names.originRef(origin, on: connection) else { return 0 }
            let sum = try connection.integer(
                "SELECT sum(length(CAST(payload AS BLOB))) FROM event WHERE origin = ? AND seq > ? AND seq <= ?",
                .integer(ref), .unsigned(first), .unsigned(last))
            return UInt64(bitPattern: sum ?? 0)
        }
    }

    /// When an event was recorded at its origin, Unix milliseconds.
    package func recorded(_ dot: Dot) throws(StoreError) -> Int64? { try stamp(of: dot)?.milliseconds }

    /// When an event was recorded; `nil` if it is not here.
    func stamp(of dot: Dot) throws(StoreError) -> HybridTime? {
        try mapped { () throws(DatabaseError) in
            guard let ref = try names.originRef(dot.origin, on: connection) else { return nil }
            let hlc = try connection.integer(
                "SELECT hlc FROM event WHERE origin = ? AND seq = ?", .integer(ref),
                .unsigned(dot.seq))
            return hlc.map { HybridTime(rawValue: UInt64(bitPattern: $0)) }
        }
    }
}

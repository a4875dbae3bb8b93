/// Between which times the texts of neighbouring positions lie. Entries of the index are in order of position, and answers in order of time: with
/// this a search for the newest reads only where newer ones can be.
struct SearchZones {
    static let table = "search_zone"
    static let schema = """
        CREATE TABLE search_zone(zone INTEGER PRIMARY KEY, newest INTEGER NOT NULL, oldest INTEGER NOT NULL);
        CREATE INDEX search_zone_newest ON search_zone(newest);
        """
    /// Positions of a zone, as a power of two.
    private static let bits: UInt64 = 10

    private var changed: [UInt64: ClosedRange<Int64>] = [:]

    static func zone(of position: UInt64) -> UInt64 { position >> bits }

    mutating func add(_ position: UInt64, time: Int64) {
        let zone = Self.zone(of: position)
        let range = changed[zone] ?? time...time
        changed[zone] = min(range.lowerBound, time)...max(range.upperBound, time)
    }

    /// Writes what was added.
    mutating func flush(_ connection: Connection) throws(DatabaseError) {
        for zone in changed.keys.sorted() {
            guard let range = changed[zone] else { continue }
            try connection.run(
                """
                INSERT INTO search_zone VALUES(?, ?, ?) ON CONFLICT DO UPDATE SET
                  newest = max(newest, excluded.newest), oldest = min(oldest, excluded.oldest)
                """, .unsigned(zone), .integer(range.upperBound), .integer(range.lowerBound))
        }
        changed = [:]
    }

    /// One zone as it is stored.
    struct Zone: Comparable {
        let number: UInt64
        let newest: Int64

        /// The first and the last position of it.
        var positions: ClosedRange<UInt64> {
            let first = number << SearchZones.bits
            return first...first + (1 << SearchZones.bits) - 1
        }

        static func < (a: Zone, b: Zone) -> Bool { (a.newest, a.number) < (b.newest, b.number) }
    }

    /// The next `limit` zones with texts of these times, the one with the newest text first.
    ///
    /// - Parameter last: Only those behind it.
    static func next(
        _ limit: Int, since: Int64, through: Int64, after last: Zone?, _ connection: Connection
    ) throws(DatabaseError) -> [Zone] {
        let beyond = last == nil ? "" : "AND (newest, zone) < (?4, ?5)"
        let select = try connection.statement(
            """
            SELECT zone, newest FROM search_zone WHERE newest >= ?1 AND oldest <= ?2 \(beyond)
            ORDER BY newest DESC, zone DESC LIMIT ?3
            """)
        defer { select.reset() }
        try select.bind(1, since)
        try select.bind(2, through)
        try select.bind(3, Int64(limit))
        if let last {
            try select.bind(4, last.newest)
            try select.bind(5, last.number)
        }
        var zones: [Zone] = []
        while try select.step() { zones.append(Zone(number: select.uint64(0), newest: select.int64(1))) }
        return zones
    }
}

// Origins with stamps too far ahead are flagged in table `meta`, key `skew <origin>`: their events are kept, and move no
// clock but their own (D7).

extension LogState {
    mutating func loadSkews(from connection: Connection) throws(DatabaseError) {
        for (origin, skew) in try ClockSkew.flagged(in: connection) {
            if let index = indexes[origin] { skews[index] = skew }
        }
    }
}

extension ClockSkew {
    /// The origin that a key of table `meta` flags.
    static func origin(of key: String) -> OriginID? {
        OriginID(text: key.dropFirst(5)).flatMap { key.hasSameBytes(as: "skew \($0)") ? $0 : nil }
    }

    /// Whether the value of such a key has the form of FORMATS.md §3.
    static func isSound(_ value: String) -> Bool {
        guard let skew = ClockSkew(text: value), skew.text.hasSameBytes(as: value) else { return false }
        return [skew.ahead, skew.at].allSatisfy { (0..<1_000_000_000_000_000).contains($0) }
    }

    fileprivate static func flagged(in connection: Connection) throws(DatabaseError) -> [OriginID: ClockSkew] {
        var flagged: [OriginID: ClockSkew] = [:]
        try connection.rows("SELECT key, value FROM meta WHERE key >= 'skew ' AND key < 'skew!'") { row in
            guard let origin = origin(of: row.text(0)) else { return }
            flagged[origin] = ClockSkew(text: row.text(1))
        }
        return flagged
    }
}

extension LogReader {
    /// The origins whose stamps were too far ahead when they came, by how much.
    package func flaggedOrigins() throws(StoreError) -> [FlaggedOrigin] {
        let skews = try mapped { () throws(DatabaseError) in try ClockSkew.flagged(in: connection) }
        guard !skews.isEmpty else { return [] }
        var flagged: [FlaggedOrigin] = []
        for origin in try origins() {
            guard let skew = skews[origin.id] else { continue }
            let last = try event(Dot(origin: origin.id, seq: origin.size))?.event.header.hlc
            let next = try origins(of: origin.node).first { $0.succession?.previous == origin.id }
            flagged.append(
                FlaggedOrigin(
                    origin: origin.id, node: origin.node, skew: skew, size: origin.size,
                    last: last ?? HybridTime(rawValue: 0), next: next?.id))
        }
        return flagged.sorted { ($1.skew.ahead, $0.origin) < ($0.skew.ahead, $1.origin) }
    }
}

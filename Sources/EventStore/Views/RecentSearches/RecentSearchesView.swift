/// What users looked for, to be offered again. A search is remembered or forgotten by the last event in display order that speaks of it:
/// of it alone, of the same words wherever they were looked for, or of all.
final class RecentSearchesView: View {
    static let name = "recent_searches"
    static let version: Int64 = 1
    static let tables = ["recent_search", "forgotten_search"]
    static let schema = """
        CREATE TABLE recent_search(
          user INTEGER, query TEXT, scope TEXT, stamp BLOB NOT NULL, PRIMARY KEY(user, query, scope)
        ) WITHOUT ROWID;
        CREATE INDEX recent_search_stamp ON recent_search(user, stamp);
        CREATE TABLE forgotten_search(
          user INTEGER, query TEXT, scope TEXT, stamp BLOB NOT NULL, PRIMARY KEY(user, query, scope)
        ) WITHOUT ROWID;
        """

    /// Which searches are meant. An empty query or scope stands for all.
    private struct Key: Hashable, Comparable {
        let user: Int64
        let query: ByteText
        let scope: ByteText
        static func < (a: Key, b: Key) -> Bool { (a.user, a.query, a.scope) < (b.user, b.query, b.scope) }
    }

    /// Where people look.
    static let scopes = ["messages", "users"]
    /// Bytes of a query.
    private static let longest = 1_024

    var digest = DigestSum()
    private var remembered: [Key: Stamp] = [:]
    private var forgotten: [Key: Stamp] = [:]

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        guard event.type == .searchRemembered || event.type == .searchForgotten, change.amount >= 0,
            let payload = event.payload
        else { return nil }
        if let refusal = Self.refusal(payload, isForgotten: event.type == .searchForgotten) { return refusal }
        let (query, scope) = (payload.string("query") ?? "", payload.string("scope") ?? "")
        let stamp = Stamp(event.key)
        if event.type == .searchRemembered {
            let key = Key(
                user: event.user, query: ByteText(query), scope: ByteText(scope.isEmpty ? Self.scopes[0] : scope))
            remembered[key] = max(remembered[key] ?? stamp, stamp)
        } else {
            let key = Key(user: event.user, query: ByteText(query), scope: ByteText(scope))
            forgotten[key] = max(forgotten[key] ?? stamp, stamp)
        }
        return nil
    }

    /// Why a payload is not of the form that is read; `nil` if it is.
    static func refusal(_ payload: JSONObject, isForgotten: Bool) -> String? {
        if let scope = payload["scope"] {
            guard let text = scope.string, scopes.contains(where: text.hasSameBytes) else {
                return "scope is none of those there are"
            }
        }
        if isForgotten, payload.bool("all") == true {
            return payload["query"] == nil ? nil : "query and all do not go together"
        }
        guard let query = payload.string("query"), !query.isEmpty else { return "query is missing or not text" }
        return query.utf8.count <= longest ? nil : "query has over 1,024 bytes"
    }

    func flush(_ store: ViewStore) throws(DatabaseError) {
        try write(remembered, "recent_search", "1", store)
        try write(forgotten, "forgotten_search", "0", store)
        (remembered, forgotten) = ([:], [:])
    }

    private func write(
        _ writes: [Key: Stamp], _ table: String, _ kind: String, _ store: ViewStore
    ) throws(DatabaseError) {
        for (key, stamp) in writes.sorted(by: { $0.key < $1.key }) {
            let row: [Binding] = [.integer(key.user), .text(key.query.text), .text(key.scope.text)]
            let before =
                try store.connection.first(
                    "SELECT stamp FROM \(table) WHERE user = ? AND query = ? AND scope = ?", row
                ) { $0.stamp(0) } ?? nil
            if let before, before >= stamp { continue }
            let user = try store.text(key.user)
            func fields(_ stamp: Stamp) -> [DigestSum.Field] {
                [.text(user), .text(key.query.text), .text(key.scope.text), .text(kind), .dot(stamp.key.dot)]
            }
            if let before { digest.remove(fields(before)) }
            digest.add(fields(stamp))
            try store.connection.run(
                "INSERT OR REPLACE INTO \(table) VALUES(?, ?, ?, ?)", row + [.blob(stamp.bytes)])
        }
    }

    /// A user's searches that are remembered, the newest first: at most `limit`.
    static func newest(
        of user: Int64, scope: String?, limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> [RecentSearch] {
        let select = try connection.statement(
            """
            SELECT query, scope, stamp FROM recent_search AS row
            WHERE user = ?1 AND (?2 IS NULL OR scope = ?2) AND NOT EXISTS(
              SELECT 1 FROM forgotten_search AS gone
              WHERE gone.user = ?1 AND gone.query IN (row.query, '') AND gone.scope IN (row.scope, '')
                AND gone.stamp > row.stamp)
            ORDER BY stamp DESC LIMIT ?3
            """)
        defer { select.reset() }
        try select.bind(1, user)
        try select.bind(2, scope.map { .text($0) } ?? .null)
        try select.bind(3, Int64(limit))
        var found: [RecentSearch] = []
        while try select.step() {
            guard let stamp = select.stamp(2) else { continue }
            found.append(RecentSearch(query: select.text(0), scope: select.text(1), stamp: stamp))
        }
        return found
    }
}

/// Something that a user looked for.
package struct RecentSearch: Hashable, Sendable {
    package let query: String
    /// `messages` or `users`.
    package let scope: String
    let stamp: Stamp

    /// When they did last, Unix milliseconds.
    package var time: Int64 { stamp.key.time }
    /// Where it stands among all of the user.
    package var key: DisplayKey { stamp.key }

    /// As a cursor holds it.
    package var names: [String] { [hexText(stamp.bytes), query, scope] }

    /// Whether it stands behind another, whose ``names`` are given, in a list that is sorted so.
    package func isBehind(_ names: [String], in order: RecentSearchOrder) -> Bool {
        switch order {
        case .date: ByteText(hexText(stamp.bytes)) < ByteText(names[0])
        case .query:
            (ByteText(names[1]), ByteText(names[2])) < (ByteText(query), ByteText(scope))
        }
    }

    /// Most that are listed of a user: the newest.
    package static let most = 1_000
}

/// How a list of recent searches is sorted.
package enum RecentSearchOrder: String, CaseIterable, Sendable {
    /// The newest first.
    case date
    /// By their bytes.
    case query
}

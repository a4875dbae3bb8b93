/// Whom users keep as contacts. A contact stands if one of the writes that no other knows of adds them. A contact that is added on one
/// node and removed on another, neither knowing of the other, stays (add wins; an observed-remove set: Shapiro et al., "A comprehensive
/// study of Convergent and Commutative Replicated Data Types", 2011, §3.3.5).
final class ContactsView: View {
    static let name = "contacts"
    static let version: Int64 = 1
    static let tables = ["contact", clocks]
    static let schema =
        """
        CREATE TABLE contact(
          user INTEGER, contact TEXT, stamp BLOB, added INTEGER NOT NULL, name TEXT, phone TEXT, source TEXT,
          PRIMARY KEY(user, contact, stamp)
        ) WITHOUT ROWID;
        """ + OriginClocks.schema(of: clocks)
    static let isWatching = true

    static let clocks = "contact_clock"

    /// One write that no other knows of.
    struct Write: CausalWrite {
        let stamp: Stamp
        let isAdded: Bool
        let name: String?
        let phone: String?
        let source: String?
        var isMaximal = true
    }

    private struct Key: Hashable, Comparable {
        let user: Int64
        let contact: ByteText
        static func < (a: Key, b: Key) -> Bool { (a.user, a.contact) < (b.user, b.contact) }
    }

    var digest = DigestSum()
    /// The writes of a contact, as they are stored and as a batch makes them.
    private var touched: [Key: (stored: [Write], now: [Write])] = [:]
    private var clocks: OriginClocks?

    func load(_ store: ViewStore) throws(DatabaseError) {
        clocks = try OriginClocks(store.connection, table: Self.clocks)
    }

    func watch(_ event: ProjectedEvent, _ store: ViewStore) throws(DatabaseError) { clocks?.apply(event) }

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        guard event.type == .contactAdded || event.type == .contactRemoved, change.amount >= 0,
            let payload = event.payload
        else { return nil }
        let isAdded = event.type == .contactAdded
        if let refusal = Self.refusal(payload, isAdded: isAdded) { return refusal }
        let key = Key(user: event.user, contact: ByteText(payload.string("contact") ?? ""))
        let known =
            try touched[key].orLoad { () throws(DatabaseError) in
                let stored = try Self.load(key.user, key.contact.text, store.connection)
                return (stored, stored)
            } ?? ([], [])
        let write = Write(
            stamp: Stamp(event.key), isAdded: isAdded, name: isAdded ? payload.string("name") : nil,
            phone: isAdded ? payload.string("phoneNumber") : nil, source: isAdded ? payload.string("source") : nil)
        let writes = CausalWrites.adding(write, to: known.now) { clocks?.happenedBefore($0, event.key.dot) ?? false }
        touched[key] = (known.stored, writes.filter(\.isMaximal))
        return nil
    }

    /// What is kept of a contact.
    static let members = ["name", "phoneNumber", "source"]

    /// Why a payload is not of the form that is read; `nil` if it is.
    static func refusal(_ payload: JSONObject, isAdded: Bool) -> String? {
        guard let contact = payload.string("contact"), !contact.isEmpty else {
            return "contact is missing or not text"
        }
        guard isAdded else { return nil }
        for name in members {
            if let value = payload[name], !value.isNull, value.string == nil { return "\(name) is not text" }
        }
        return nil
    }

    func flush(_ store: ViewStore) throws(DatabaseError) {
        for (key, writes) in touched.sorted(by: { $0.key < $1.key }) {
            let (stored, now) = (Set(writes.stored.map(\.stamp)), Set(writes.now.map(\.stamp)))
            for write in writes.stored where !now.contains(write.stamp) {
                digest.remove(try fields(key, write, store))
                try store.connection.run(
                    "DELETE FROM contact WHERE user = ? AND contact = ? AND stamp = ?", .integer(key.user),
                    .text(key.contact.text), .blob(write.stamp.bytes))
            }
            for write in writes.now where !stored.contains(write.stamp) {
                digest.add(try fields(key, write, store))
                try store.connection.run(
                    "INSERT INTO contact VALUES(?,?,?,?,?,?,?)", .integer(key.user), .text(key.contact.text),
                    .blob(write.stamp.bytes), .integer(write.isAdded ? 1 : 0), .optional(write.name),
                    .optional(write.phone), .optional(write.source))
            }
        }
        try clocks?.save(store.connection)
        touched = [:]
    }

    private func fields(_ key: Key, _ write: Write, _ store: ViewStore) throws(DatabaseError) -> [DigestSum.Field] {
        [
            .text(try store.text(key.user)), .text(key.contact.text), .dot(write.stamp.key.dot),
            .text(write.isAdded ? "1" : "0"), .text(write.name ?? ""), .text(write.phone ?? ""),
            .text(write.source ?? ""),
        ]
    }

    private static let columns = "contact, stamp, added, name, phone, source"

    private static func write(_ row: Statement) -> (contact: String, write: Write)? {
        func text(_ column: Int) -> String? { row.isNull(column) ? nil : row.text(column) }
        return row.stamp(1).map { stamp in
            (
                row.text(0),
                Write(stamp: stamp, isAdded: row.int64(2) != 0, name: text(3), phone: text(4), source: text(5))
            )
        }
    }

    private static func load(
        _ user: Int64, _ contact: String, _ connection: Connection
    ) throws(DatabaseError) -> [Write] {
        try connection.all(
            "SELECT \(columns) FROM contact WHERE user = ? AND contact = ? ORDER BY stamp",
            [.integer(user), .text(contact)], write
        ).compactMap { $0?.write }
    }

    /// The next contacts that stand, by the bytes of their ids: at most `limit`, after `last`. Of several writes that add one the last is told.
    static func contacts(
        of user: Int64, after last: String?, limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> [(contact: String, write: Write)] {
        let select = try connection.statement(
            """
            SELECT \(columns) FROM contact AS row WHERE user = ?1 AND contact \(last == nil ? ">=" : ">") ?2 AND added = 1
              AND stamp = (SELECT max(stamp) FROM contact WHERE user = ?1 AND contact = row.contact AND added = 1)
            ORDER BY contact LIMIT ?3
            """)
        defer { select.reset() }
        try select.bind(1, user)
        try select.bind(2, .text(last ?? ""))
        try select.bind(3, Int64(limit))
        var found: [(contact: String, write: Write)] = []
        while try select.step() { if let row = write(select) { found.append(row) } }
        return found
    }
}

/// One of a user's contacts.
package struct UserContact: Hashable, Sendable {
    package let contact: String
    /// What the user calls them; `nil` if that was not said.
    package let name: String?
    /// The name that they have themselves now.
    package let profileName: String?
    package let phoneNumber: String?
    package let source: String?
    /// When they were added, Unix milliseconds.
    package let time: Int64
}

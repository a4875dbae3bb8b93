/// A user under the name that they have now.
package struct UserName: Hashable, Sendable {
    package let user: String
    package let name: String
    /// Where it stands in the list.
    package let place: UserPlace
}

/// A place in the list of users by name.
package struct UserPlace: Hashable, Sendable {
    let folded: String
    let user: String

    package init(folded: String, user: String) { (self.folded, self.user) = (folded, user) }

    /// As a cursor holds it.
    package var names: [String] { [folded, user] }
}

/// Users by name: the one that stands in `profile`, as the search sees it, so that 김, in whatever normal form, finds 김하나,
/// and "kim" finds Kim. Users of equal names stand by their ids.
enum UserNames {
    static let table = "user_name"
    static let schema = """
        CREATE TABLE user_name(folded TEXT, user TEXT, PRIMARY KEY(folded, user)) WITHOUT ROWID;
        """
    /// The field of a profile.
    static let field = "name"
    /// Bytes of a name that are looked at: who wants more reads the profile.
    private static let most = 256

    /// The tokens of a name, one behind the other.
    static func folded(_ name: String) -> String {
        var bytes: [UInt8] = []
        SearchTokens.each(in: name) { token, _ in
            guard bytes.count + token.count <= most else { return false }
            bytes += token
            return true
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Of a field as it is written; `nil` if that is no text.
    static func folded(json value: String) -> String? { text(json: value).map { folded($0) } }

    static func text(json value: String) -> String? {
        let bytes = Array(value.utf8)
        return JSONValue(bytes: bytes, range: 0..<bytes.count).text
    }

    /// How many users have a name: the entries of an index are counted.
    static func count(_ connection: Connection) throws(DatabaseError) -> UInt64 {
        UInt64(try connection.integer("SELECT count(*) FROM user_name") ?? 0)
    }

    /// A user has another name than before, or none.
    static func change(
        _ user: String, from old: String?, to new: String?, _ connection: Connection
    ) throws(DatabaseError) {
        if old == new { return }
        if let old {
            try connection.run(
                "DELETE FROM user_name WHERE folded = ? AND user = ?", .text(old), .text(user))
        }
        if let new { try connection.run("INSERT INTO user_name VALUES(?, ?)", .text(new), .text(user)) }
    }

    /// The places of the next `limit` users whose folded names begin with `prefix`.
    static func places(
        _ prefix: String, limit: Int, after place: UserPlace?, _ connection: Connection
    ) throws(DatabaseError) -> [UserPlace] {
        let first = place ?? UserPlace(folded: prefix, user: "")
        let select = try connection.statement(
            "SELECT folded, user FROM user_name WHERE (folded, user) > (?, ?) ORDER BY folded, user LIMIT ?")
        defer { select.reset() }
        try select.bind(1, .text(first.folded))
        try select.bind(2, .text(first.user))
        try select.bind(3, Int64(limit))
        var places: [UserPlace] = []
        while try select.step() {
            let folded = select.text(0)
            guard folded.utf8.starts(with: prefix.utf8) else { break }
            places.append(UserPlace(folded: folded, user: select.text(1)))
        }
        return places
    }
}

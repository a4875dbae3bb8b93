/// What users keep for themselves: contacts, and what they looked for.
extension ViewReader {
    /// A user's contacts by the bytes of their ids: at most `limit`, after `last`.
    package func contacts(
        of user: String, after last: String? = nil, limit: Int
    ) throws(StoreError) -> [UserContact] {
        guard let ref = try log.ref(user) else { return [] }
        return try reading { connection throws(DatabaseError) in
            let rows = try ContactsView.contacts(of: ref, after: last, limit: limit, connection)
            return try rows.map { row throws(DatabaseError) in
                let ref = try log.names.ref(row.contact, on: log.connection)
                let writes = try ref.map { ref throws(DatabaseError) in
                    try ProfilesView.load(ref, UserNames.field, connection)
                }
                return UserContact(
                    contact: row.contact, name: row.write.name,
                    profileName: writes?.last.flatMap { UserNames.text(json: $0.value) },
                    phoneNumber: row.write.phone, source: row.write.source, time: row.write.stamp.key.time)
            }
        }
    }

    /// What a user looked for last and has not forgotten: of the newest ``RecentSearch/most`` those that begin as `match`.
    package func recentSearches(
        of user: String, scope: String? = nil, match: String? = nil, order: RecentSearchOrder = .date
    ) throws(StoreError) -> [RecentSearch] {
        guard let ref = try log.ref(user) else { return [] }
        var found = try reading { connection throws(DatabaseError) in
            try RecentSearchesView.newest(of: ref, scope: scope, limit: RecentSearch.most, connection)
        }
        if let match {
            let prefix = UserNames.folded(match)
            found.removeAll { !UserNames.folded($0.query).utf8.starts(with: prefix.utf8) }
        }
        if order == .query {
            found.sort { (ByteText($0.query), ByteText($0.scope)) < (ByteText($1.query), ByteText($1.scope)) }
        }
        return found
    }
}

// Users by name.
extension ViewReader {
    /// The next users whose names begin with `match`, by name; without letters or digits in it: all who have a name.
    package func users(_ match: String, limit: Int, after place: UserPlace? = nil) throws(StoreError) -> [UserName] {
        let prefix = UserNames.folded(match)
        return try inOneReading { () throws(StoreError) in
            let places = try reading { connection throws(DatabaseError) in
                try UserNames.places(prefix, limit: limit, after: place, connection)
            }
            var users: [UserName] = []
            for place in places {
                guard let ref = try log.ref(place.user) else { continue }
                let writes = try reading { connection throws(DatabaseError) in
                    try ProfilesView.load(ref, UserNames.field, connection)
                }
                let name = writes.last.flatMap { UserNames.text(json: $0.value) } ?? ""
                users.append(UserName(user: place.user, name: name, place: place))
            }
            return users
        }
    }
}

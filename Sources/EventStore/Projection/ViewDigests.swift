/// Digests of all views.
enum ViewDigests {
    /// Of the views at `path`, in one read transaction.
    static func read(_ files: StoreFiles, path: String) throws(StoreError) -> [ViewDigest] {
        let source = try ProjectionSource(files)
        let connection = try openForReading(path)
        return try mapped { () throws(DatabaseError) in
            try connection.transaction("BEGIN") { () throws(DatabaseError) in
                try read(
                    ViewStore(connection: connection, source: source), ViewDatabase.makeViews(ViewMemtables()))
            }
        }
    }

    static func read(_ store: ViewStore, _ views: [any View]) throws(DatabaseError) -> [ViewDigest] {
        var digests: [ViewDigest] = []
        for view in views {
            var sum = DigestSum()
            try view.digest(store, into: &sum)
            digests.append(sum.digest(of: type(of: view).name))
        }
        var sum = DigestSum()
        let log = store.source.log
        try store.connection.rows("SELECT position, view FROM quarantine") { row throws(DatabaseError) in
            let dot = try log.dot(at: row.uint64(0))
            sum.add(dot.description, row.text(1))
        }
        digests.append(sum.digest(of: "quarantine"))
        return digests
    }
}

internal import Glibc

/// The file `views.db`: how it is made, recognised and replaced.
enum ViewDatabase {
    /// "SilV".
    static let applicationID: Int64 = 0x5369_6c56
    /// Raised with every change to a view's tables or meaning: older files are rebuilt.
    static let version: Int64 = 10

    static func makeViews() -> [any View] {
        [
            TimelineView(), HistoryView(), ConversationsView(), ParticipantsView(), ProfilesView(), SurveysView(),
            MessagesView(),
        ]
    }

    private static let tables = """
        CREATE TABLE progress(position INTEGER NOT NULL, incarnation TEXT NOT NULL);
        CREATE TABLE quarantine(position INTEGER, view TEXT, reason TEXT NOT NULL, PRIMARY KEY(position, view))
          WITHOUT ROWID;
        """

    /// Opens the views at `path` for reading; busy if they are missing or not those of this release and this log: then
    /// the owner of the store is about to build them.
    static func openReader(
        at path: String, incarnation: String, _ pattern: ReadPattern
    ) throws(StoreError) -> Connection {
        guard access(path, F_OK) == 0 else { throw .busy("the views are not built yet") }
        guard progress(at: path, incarnation: incarnation, top: UInt64(Int64.max)) != nil else {
            throw .busy("the views must be built anew")
        }
        return try openForReading(path, pattern)
    }

    /// Takes views away. A reader that has them open goes on with them.
    static func remove(_ path: String) { SmallFile.removeDatabase(path) }

    /// Makes empty views at `path` for the log of this incarnation.
    static func create(at path: String, incarnation: String) throws(DatabaseError) {
        remove(path)
        let connection = try Connection(path: path, mode: .write)
        // Pages that merged tails leave are given back when nothing happens; this must be said before there are tables.
        try connection.execute(
            "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
        try connection.transaction { () throws(DatabaseError) in
            try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version);")
            try connection.execute(tables)
            try connection.execute(OriginClocks.tables)
            for view in makeViews() { try connection.execute(type(of: view).tables) }
            let insert = try connection.statement("INSERT INTO progress VALUES(0, ?)")
            try insert.bind(1, text: Array(incarnation.utf8))
            try insert.run()
        }
    }

    /// The position the views at `path` have applied; `nil` if they are missing, damaged, of another release, of another
    /// log, or ahead of it: then they must be rebuilt.
    static func progress(at path: String, incarnation: String, top: UInt64) -> UInt64? {
        guard access(path, F_OK) == 0, let connection = try? openForReading(path) else { return nil }
        let position = try? connection.integer(
            "SELECT position FROM progress WHERE incarnation = ?", .text(incarnation))
        guard let found = position ?? nil, found >= 0, UInt64(found) <= top,
            (try? connection.integer("PRAGMA application_id")) == applicationID,
            (try? connection.integer("PRAGMA user_version")) == version
        else { return nil }
        return UInt64(found)
    }

    /// How many rows say how far the views at `path` are, if that is not one: this release leaves none so, and nothing can be read
    /// from them. `nil` if all is well, or if they are not views of this release.
    static func oddProgress(at path: String) -> Int64? {
        guard let connection = try? openForReading(path),
            (try? connection.integer("PRAGMA application_id")) == applicationID,
            (try? connection.integer("PRAGMA user_version")) == version
        else { return nil }
        let rows = (try? connection.integer("SELECT count(*) FROM progress")) ?? 0
        return rows == 1 ? nil : rows
    }

    /// A trigger or a view that the file at `path` defines: no release makes any, and views with one are built anew.
    static func storedCode(at path: String) -> String? {
        guard access(path, F_OK) == 0, let connection = try? openForReading(path),
            let select = try? connection.statement(
                "SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name LIMIT 1"),
            (try? select.step()) == true
        else { return nil }
        defer { select.reset() }
        return "\(path) defines the \(select.text(0)) \(select.text(1))"
    }

    /// Takes away views that are not to be believed, finished or not.
    static func remove(_ files: StoreFiles) {
        for path in [files.views, files.newViews] { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
    }

    /// How many events are quarantined, each counted once however many views refuse it.
    static func quarantined(_ connection: Connection) throws(DatabaseError) -> UInt64 {
        UInt64(clamping: try connection.integer("SELECT count(DISTINCT position) FROM quarantine") ?? 0)
    }

    /// Replaces the views at `path` by complete ones at `new`. Readers keep the old file until they look again. The
    /// old name goes first: no reader may open the old file while its WAL is taken away, or find the new one beside the WAL
    /// of the old.
    static func swap(_ new: String, into path: String) throws(StoreError) {
        remove(path)
        try SmallFile.syncFolder(of: path)
        guard rename(new, path) == 0 else { throw .system(path) }
        try SmallFile.syncFolder(of: path)
    }
}

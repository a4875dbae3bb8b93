internal import Glibc

/// The file `views.db`: how it is made, recognised and replaced. The tables of a view are its own; here are those that all share.
enum ViewDatabase {
    /// "SilV".
    static let applicationID: Int64 = 0x5369_6c56
    /// Of the tables that all views share. Files of another one are rebuilt.
    static let version: Int64 = 14

    /// A view stands after the one that it is built anew with.
    static var types: [any View.Type] {
        [
            TimelineView.self, HistoryView.self, ConversationsView.self, ParticipantsView.self, ProfilesView.self,
            SurveysView.self, MessagesView.self, SearchView.self,
            CausesView.self,
            RoomsView.self, ContactsView.self, RecentSearchesView.self,
            AttachmentsView.self,
        ]
    }

    static func makeViews(_ tails: ViewMemtables) -> [any View] {
        [
            TimelineView(tails, listener: TimelineSums.init), HistoryView(tails, listener: RoomSums.init),
            ConversationsView(),
            ParticipantsView(), ProfilesView(), SurveysView(), MessagesView(), SearchView(),
            CausesView(),
            RoomsView(), ContactsView(), RecentSearchesView(),
            AttachmentsView(),
        ]
    }

    private static let tables = """
        CREATE TABLE progress(position INTEGER NOT NULL, incarnation TEXT NOT NULL, leaf INTEGER);
        CREATE TABLE quarantine(position INTEGER, view TEXT, reason TEXT NOT NULL, PRIMARY KEY(position, view))
          WITHOUT ROWID;
        """
    /// `position` is NULL where a view stands with all others; else it has come so far: because it is being built anew, or because it
    /// is deferred (``View/isDeferred``).
    private static let viewTable =
        "CREATE TABLE view(name TEXT PRIMARY KEY, version INTEGER NOT NULL, position INTEGER) WITHOUT ROWID;"

    /// What a file says of its views.
    struct Standing {
        /// The position that all views have applied which are not behind.
        let position: UInt64
        /// The version of each, and how far it is if it does not stand with the others.
        let views: [String: (version: Int64, behind: UInt64?)]

        /// Whether all views are those of a release and stand together.
        func isWhole(_ versions: ViewVersions) -> Bool {
            types.allSatisfy { type in
                views[type.name].map {
                    ($0.behind == nil || type.isDeferred) && $0.version == versions.version(of: type)
                } ?? false
            }
        }
    }

    /// Opens the views at `path` for reading; busy if they are missing or not those of this release and this log: then
    /// the owner of the store is about to build them.
    static func openReader(
        at path: String, of log: LogReader, _ versions: ViewVersions
    ) throws(StoreError) -> Connection {
        guard access(path, F_OK) == 0 else { throw .busy("the views are not built yet") }
        let standing = try standing(at: path, of: log, through: UInt64(Int64.max))
        guard standing?.isWhole(versions) == true else { throw .busy("the views must be built anew") }
        return try connect(path)
    }

    /// Opens views for questions.
    static func connect(_ path: String) throws(StoreError) -> Connection {
        let connection = try openForReading(path)
        try mapped { () throws(DatabaseError) in try SearchTokenizer.register(on: connection) }
        return connection
    }

    /// What each view, and the quarantine, come to, as of the open transaction.
    static func digests(_ connection: Connection) throws(DatabaseError) -> [ViewDigest] {
        let names = types.map { $0.name } + [QuarantinedEvent.digest]
        return try names.map { name throws(DatabaseError) in try DigestSum(of: name, connection).told(of: name) }
    }

    /// Takes views away. A reader that has them open goes on with them.
    static func remove(_ path: String) { databaseOpening.withLock { _ in SmallFile.removeDatabase(path) } }

    /// Makes empty views at `path` for the log of this incarnation.
    static func create(
        at path: String, incarnation: String, _ versions: ViewVersions
    ) throws(DatabaseError) {
        remove(path)
        let connection = try Connection(path: path, mode: .write)
        try SearchTokenizer.register(on: connection)
        // Pages that merged tails leave are given back when nothing happens; this must be said before there are tables.
        try connection.execute(
            "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
        try connection.transaction { () throws(DatabaseError) in
            try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version);")
            try connection.execute(tables + viewTable + DigestSum.table)
            for type in types {
                try connection.execute(type.schema)
                try note(type, versions, behind: type.isDeferred ? 0 : nil, connection)
            }
            try connection.run("INSERT INTO progress VALUES(0, ?, NULL)", .text(incarnation))
        }
    }

    /// What the views at `path` say of themselves; `nil` if they are missing, damaged, of another release, of another log, of an event
    /// that this log has lost, or ahead of `top`: then all of them must be rebuilt. Throws where the file cannot be read: nothing can
    /// be said of them then.
    static func standing(at path: String, of log: LogReader, through top: UInt64) throws(StoreError) -> Standing? {
        guard access(path, F_OK) == 0 else { return nil }
        do throws(StoreError) {
            let incarnation = try log.viewMark()
            let connection = try openForReading(path)
            return try mapped { () throws(DatabaseError) in
                guard try connection.integer("PRAGMA application_id") == applicationID,
                    try connection.integer("PRAGMA user_version") == version,
                    let found = try progress(connection, incarnation), found.position <= top
                else { return nil }
                // A position alone may be that of another event: of the one that came after a log was cut.
                if let leaf = try log.leaf(at: found.position), leaf != found.leaf { return nil }
                return Standing(position: found.position, views: try views(connection))
            }
        } catch .corrupt {
            return nil
        } catch {
            throw error
        }
    }

    private static func progress(
        _ connection: Connection, _ incarnation: String
    ) throws(DatabaseError) -> (position: UInt64, leaf: Int64?)? {
        let select = try connection.statement("SELECT position, leaf FROM progress WHERE incarnation = ?")
        defer { select.reset() }
        try select.bind(1, text: Array(incarnation.utf8))
        guard try select.step(), select.int64(0) >= 0 else { return nil }
        return (select.uint64(0), select.int64IfAny(1))
    }

    /// All views that stand together have applied the log up to this event.
    static func advance(to position: UInt64, of log: LogReader, _ connection: Connection) throws(DatabaseError) {
        let leaf = try log.leaf(at: position).map { Binding.integer($0) }
        try connection.run(
            "UPDATE progress SET position = ?, leaf = ?", .integer(Int64(bitPattern: position)), leaf ?? .null)
    }

    private static func views(
        _ connection: Connection
    ) throws(DatabaseError) -> [String: (version: Int64, behind: UInt64?)] {
        var views: [String: (version: Int64, behind: UInt64?)] = [:]
        try connection.rows("SELECT name, version, position FROM view") { row in
            views[row.text(0)] = (row.int64(1), row.int64IfAny(2).map(UInt64.init(bitPattern:)))
        }
        return views
    }

    /// The position that the views of an open file have applied.
    static func position(_ connection: Connection) throws(DatabaseError) -> UInt64 {
        UInt64(bitPattern: try connection.integer("SELECT position FROM progress") ?? 0)
    }

    /// The views that are being built anew, and how far they are.
    static func behind(_ connection: Connection) throws(DatabaseError) -> [String: UInt64] {
        try views(connection).filter { !isDeferred($0.key) }.compactMapValues(\.behind)
    }

    /// Whether the view of this name has a position of its own.
    static func isDeferred(_ name: String) -> Bool { types.contains { $0.isDeferred && $0.name == name } }

    /// The position that deferred views have applied, too.
    static func deferred(_ connection: Connection) throws(DatabaseError) -> UInt64 {
        let (position, views) = (try position(connection), try views(connection))
        // Releases that deferred none left them with the others.
        return types.filter { $0.isDeferred }.map { min(views[$0.name]?.behind ?? position, position) }.min()
            ?? position
    }

    /// A view stands with all others, or has come so far.
    static func note(
        _ type: any View.Type, behind position: UInt64?, _ connection: Connection
    ) throws(DatabaseError) {
        try connection.run(
            "UPDATE view SET position = ? WHERE name = ?",
            position.map { .unsigned($0) } ?? .null, .text(type.name))
    }

    /// A deferred view that another release left where all others stood has a position of its own from now on.
    static func place(
        _ type: any View.Type, at position: UInt64, _ connection: Connection
    ) throws(DatabaseError) {
        try connection.run(
            "UPDATE view SET position = ? WHERE name = ? AND position IS NULL", .unsigned(position), .text(type.name))
    }

    private static func note(
        _ type: any View.Type, _ versions: ViewVersions, behind position: UInt64?, _ connection: Connection
    ) throws(DatabaseError) {
        try connection.run(
            "INSERT OR REPLACE INTO view VALUES(?, ?, ?)", .text(type.name), .integer(versions.version(of: type)),
            position.map { .unsigned($0) } ?? .null)
    }

    /// The version of the views at `path`, if they are of another release.
    static func strangeVersion(at path: String) -> Int64? {
        guard access(path, F_OK) == 0, let connection = try? openForReading(path),
            (try? connection.integer("PRAGMA application_id")) == applicationID,
            let found = try? connection.integer("PRAGMA user_version"), found != version
        else { return nil }
        return found
    }

    /// Takes away the tables of views that are not of this release, or of another version, and makes new ones, in one transaction: those
    /// views have then to be brought to where the others stand. Returns their names.
    static func renew(
        _ views: [any View], _ store: ViewStore, _ versions: ViewVersions
    ) throws(DatabaseError) -> [String] {
        let connection = store.connection
        let found = try Self.views(connection)
        var stale: Set<String> = []
        for type in types {
            let isStale = found[type.name]?.version != versions.version(of: type)
            if isStale || (type.foundation.map { stale.contains($0.name) } ?? false) { stale.insert(type.name) }
        }
        let unknown = Set(found.keys).subtracting(types.map { $0.name })
        guard !stale.isEmpty || !unknown.isEmpty else { return [] }
        try connection.transaction { () throws(DatabaseError) in
            for name in unknown.sorted() { try connection.run("DELETE FROM view WHERE name = ?", .text(name)) }
            try drop(ownedBy: stale, store)
            let renewed = views.filter { stale.contains(type(of: $0).name) }
            for view in renewed {
                try connection.execute(type(of: view).schema)
                try note(type(of: view), versions, behind: 0, connection)
            }
            for view in renewed { try view.begin(store) }
        }
        return types.map { $0.name }.filter(stale.contains)
    }

    /// Drops the tables of stale views, those that no view of this release has, and what those views have refused.
    private static func drop(ownedBy stale: Set<String>, _ store: ViewStore) throws(DatabaseError) {
        let connection = store.connection
        let shared = ["progress", "quarantine", "view", "digest"]
        let kept = Set(types.filter { !stale.contains($0.name) }.flatMap { $0.tables } + shared)
        let dropped = try connection.all(
            // A table of FTS5 takes those with it in which it keeps its data, and they may not be dropped before.
            """
            SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            ORDER BY rootpage > 0
            """
        ) { $0.text(0) }
        for name in dropped where !kept.contains(name) {
            let quoted = name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
            try connection.execute("DROP TABLE IF EXISTS \"\(quoted)\"")
        }
        for name in stale.sorted() {
            try connection.run("DELETE FROM quarantine WHERE view = ?", .text(name))
            try connection.run("DELETE FROM digest WHERE view = ?", .text(name))
        }
        try connection.run("DELETE FROM digest WHERE view = ?", .text(QuarantinedEvent.digest))
        var quarantine = DigestSum()
        try connection.rows("SELECT position, view FROM quarantine") { row throws(DatabaseError) in
            quarantine.add([.dot(try store.source.log.dot(at: row.uint64(0))), .text(row.text(1))])
        }
        try quarantine.save(as: QuarantinedEvent.digest, connection)
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
        guard access(path, F_OK) == 0, let connection = try? openForReading(path) else { return nil }
        let select = "SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name LIMIT 1"
        return try? connection.first(select) { "\(path) defines the \($0.text(0)) \($0.text(1))" }
    }

    /// Takes away views that are not to be believed, finished or not.
    static func remove(_ files: StoreFiles) {
        for path in [files.views, files.newViews] { remove(path) }
    }

    /// Takes away views that were to replace others, and that a killed process has left: no one goes on with them, and they may hold what was
    /// erased since.
    static func removeUnfinished(_ files: StoreFiles) {
        for path in [files.newViews, files.doneViews] { remove(path) }
    }

    /// The next `limit` quarantined events after `position`, by position, with an entry for each view that refuses one; as of the open
    /// transaction.
    static func quarantine(
        after position: UInt64, limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> [QuarantinedEvent] {
        try connection.all(
            """
            SELECT position, view, reason FROM quarantine
            WHERE position IN (SELECT DISTINCT position FROM quarantine WHERE position > ? ORDER BY 1 LIMIT ?)
            ORDER BY position, view
            """, [.unsigned(position), .integer(Int64(limit))]
        ) { QuarantinedEvent(position: $0.uint64(0), view: $0.text(1), reason: $0.text(2)) }
    }

    /// The views that refuse the event at a position.
    static func refusals(
        of position: UInt64, _ connection: Connection
    ) throws(DatabaseError) -> [QuarantinedEvent] {
        try connection.all(
            "SELECT view, reason FROM quarantine WHERE position = ? ORDER BY view", [.unsigned(position)]
        ) {
            QuarantinedEvent(position: position, view: $0.text(0), reason: $0.text(1))
        }
    }

    /// How many events are quarantined, each counted once however many views refuse it.
    static func quarantined(_ connection: Connection) throws(DatabaseError) -> UInt64 {
        UInt64(clamping: try connection.integer("SELECT count(DISTINCT position) FROM quarantine") ?? 0)
    }

    /// Replaces the views at `path` by complete ones at `new`. Readers keep the old file until they look again. The
    /// old name goes first: no reader may open the old file while its WAL is taken away, or find the new one beside the WAL
    /// of the old.
    static func swap(_ new: String, into path: String) throws(StoreError) {
        try databaseOpening.withLock { _ throws(StoreError) in
            SmallFile.removeDatabase(path)
            try SmallFile.syncFolder(of: path)
            guard rename(new, path) == 0 else { throw .system(path) }
        }
        try SmallFile.syncFolder(of: path)
    }
}

/// The layout of `log.db`, documented in docs/reference/FORMATS.md. Readable with any SQLite.
enum Schema {
    /// "Sill", in the database header.
    static let applicationID: Int64 = 0x5369_6c6c
    /// Raised with every change that an older release could not read. Stores of version 1 have no seals, those of version 2 no
    /// actors; they can be read, and are upgraded when they are opened for writing (``FormatUpgrade``).
    static let version = Int64(Limits.logFormat)
    static let versions: ClosedRange<Int64> = 1...version

    /// The columns that logs have since a version after `first`, up to `last`.
    static func columns(after first: Int64, upTo last: Int64 = version) -> String {
        let added: [(since: Int64, column: String)] = [(2, "seal BLOB"), (3, "actor INTEGER")]
        return added.filter { first < $0.since && $0.since <= last }
            .map { "ALTER TABLE event ADD COLUMN \($0.column);" }.joined()
    }

    /// The header columns come before the payload, so that a scan which needs no payload does not read its pages.
    static let tables = """
        CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
        CREATE TABLE name(ref INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
        CREATE TABLE origin(ref INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, node BLOB NOT NULL, key BLOB NOT NULL);
        CREATE TABLE event(
          position INTEGER PRIMARY KEY,
          user INTEGER NOT NULL,
          conversation INTEGER,
          time INTEGER,
          hlc INTEGER NOT NULL,
          origin INTEGER NOT NULL,
          seq INTEGER NOT NULL,
          type INTEGER NOT NULL,
          author INTEGER,
          id BLOB NOT NULL,
          cause BLOB,
          dependencies BLOB,
          version INTEGER,
          unknown BLOB,
          twin INTEGER,
          leaf INTEGER NOT NULL,
          salt BLOB,
          digest BLOB,
          payload TEXT
        );
        CREATE UNIQUE INDEX event_dot ON event(origin, seq);
        CREATE UNIQUE INDEX event_id ON event(id) WHERE twin IS NULL;
        CREATE INDEX event_twin ON event(twin) WHERE twin IS NOT NULL;
        CREATE TABLE node(
          origin INTEGER, level INTEGER, number INTEGER, hash BLOB NOT NULL,
          PRIMARY KEY(origin, level, number)
        ) WITHOUT ROWID;
        CREATE TABLE head(
          origin INTEGER, size INTEGER, root BLOB NOT NULL, hlc INTEGER NOT NULL, signature BLOB NOT NULL,
          PRIMARY KEY(origin, size)
        ) WITHOUT ROWID;
        """ + added

    /// Tables that stores of earlier releases get when they are opened for writing.
    static let added = reach + Arrivals.table + MerkleTile.table

    /// Only what serves peers reads it.
    static let reach = """
        CREATE TABLE IF NOT EXISTS reach(
          origin INTEGER PRIMARY KEY, size INTEGER NOT NULL, head INTEGER NOT NULL, root BLOB NOT NULL,
          hlc INTEGER NOT NULL, signature BLOB NOT NULL, proof BLOB NOT NULL
        );
        """

    /// How the log is written. Commits are synced by ``LogWriter``; NORMAL syncs around the WAL's new beginnings. The cache
    /// is small: what is written stands at the ends of the table and its indexes. What is deleted is overwritten with zeros (INV-11).
    static let pragmas = """
        PRAGMA secure_delete = ON;
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = NORMAL;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA cache_size = -8192;
        PRAGMA foreign_keys = OFF;
        """

    static func create(on connection: Connection) throws(DatabaseError) {
        try connection.transaction { () throws(DatabaseError) in
            try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version);")
            try connection.execute(tables + columns(after: 1))
        }
    }

    /// Puts a value into table `meta`, in place of the one that has that key.
    static func setMeta(_ key: String, _ value: Binding, on connection: Connection) throws(DatabaseError) {
        try connection.run("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", .text(key), value)
    }

    /// Adds an origin to table `origin`.
    static func insertOrigin(
        _ id: OriginID, _ key: VerifyingKey, ref: Int64, on connection: Connection
    ) throws(DatabaseError) {
        try connection.run(
            "INSERT INTO origin(ref, id, node, key) VALUES(?,?,?,?)", .integer(ref), .blob(id.bytes),
            .blob(key.nodeID.bytes), .blob(key.rawBytes))
    }

    /// The version of a log.
    static func version(of connection: Connection) throws(DatabaseError) -> Int64 {
        try connection.integer("PRAGMA user_version") ?? 0
    }

    /// Whether the log has seals: version 1 had none.
    static func hasSeals(_ connection: Connection) throws(DatabaseError) -> Bool { try version(of: connection) >= 2 }

    /// Lets a log without actors, or seals, be read as if it had the columns, by a view of this connection alone. Once another connection
    /// upgrades the log, the columns themselves are what the view has under those names.
    static func readAsCurrent(_ connection: Connection) throws(DatabaseError) {
        let version = try version(of: connection)
        guard (1...2).contains(version) else { return }
        let lacking = version == 1 ? "NULL AS seal, NULL AS actor" : "NULL AS actor"
        try connection.execute(
            """
            PRAGMA query_only = OFF; CREATE TEMP VIEW event AS SELECT *, \(lacking) FROM main.event;
            PRAGMA query_only = ON;
            """)
    }

    /// Refuses files of others and of later releases.
    static func check(_ connection: Connection) throws(StoreError) {
        let (application, found) = try mapped { () throws(DatabaseError) in
            (
                try connection.integer("PRAGMA application_id") ?? 0, try version(of: connection)
            )
        }
        guard application == applicationID, found > 0 else {
            throw .corrupt("\(connection.path) is no log of events: it is empty, or another file")
        }
        guard versions.contains(found) else {
            throw .unknownFormat(path: connection.path, version: Int(found))
        }
    }
}

/// What an acknowledged append survives.
public enum Durability: String, Sendable, CaseIterable {
    /// Process crashes and power cuts: every commit waits for the disk.
    case full
    /// Process crashes; a power cut may take the last commits back.
    case normal
}

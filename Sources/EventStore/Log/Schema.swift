/// The layout of `log.db`, documented in docs/reference/FORMATS.md. Readable with any SQLite.
enum Schema {
    /// "Sill", in the database header.
    static let applicationID: Int64 = 0x5369_6c6c
    /// Raised with every change that an older release could not read. Stores of version 1 have no seals; they can be read, and are
    /// upgraded when they are opened for writing (``SealUpgrade``).
    static let version = Limits.logFormat
    static let versions: ClosedRange<Int64> = 1...2

    /// A log's column that version 1 did not have.
    static let seal = "ALTER TABLE event ADD COLUMN seal BLOB;"

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
        """ + reach

    /// Stores of earlier releases get this table when they are opened for writing; only what serves peers reads it.
    static let reach = """
        CREATE TABLE IF NOT EXISTS reach(
          origin INTEGER PRIMARY KEY, size INTEGER NOT NULL, head INTEGER NOT NULL, root BLOB NOT NULL,
          hlc INTEGER NOT NULL, signature BLOB NOT NULL, proof BLOB NOT NULL
        );
        """

    /// How the log is written. Commits are synced by ``LogWriter``; NORMAL syncs around the WAL's new beginnings. The cache
    /// is small: what is written stands at the ends of the table and its indexes.
    static let pragmas = """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = NORMAL;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA cache_size = -8192;
        PRAGMA foreign_keys = OFF;
        """

    /// - Parameter hasSeals: Not as version 1 was, which is made only to be compared with.
    static func create(on connection: Connection, hasSeals: Bool = true) throws(DatabaseError) {
        try connection.transaction { () throws(DatabaseError) in
            try connection.execute(
                "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(hasSeals ? version : 1);")
            try connection.execute(tables)
            if hasSeals { try connection.execute(seal) }
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

    /// Whether the log has seals: version 1 had none.
    static func hasSeals(_ connection: Connection) throws(DatabaseError) -> Bool {
        try connection.integer("PRAGMA user_version") ?? 0 >= 2
    }

    /// Refuses files of others and of later releases.
    static func check(_ connection: Connection) throws(StoreError) {
        let (application, found) = try mapped { () throws(DatabaseError) in
            (
                try connection.integer("PRAGMA application_id") ?? 0,
                try connection.integer("PRAGMA user_version") ?? 0
            )
        }
        guard application == applicationID, versions.contains(found) else {
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

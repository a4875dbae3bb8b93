internal import CSQLite
internal import Glibc

/// One SQLite connection. Not Sendable: it belongs to one thread at a time.
final class Connection {
    /// Bytes of a page, as SQLite makes them unless told otherwise.
    static let pageSize = 4_096

    enum Mode {
        /// Reads and writes; makes the file if there is none.
        case write
        /// Reads; never checkpoints the WAL.
        case read
        /// Reads a file that no process writes, on a medium that may be read-only.
        case immutable
    }

    /// How long to wait for the locks of others, milliseconds.
    static let patience: Int32 = 5_000

    let path: String
    let handle: OpaquePointer
    /// Where the disk has no room for the WAL's own index.
    var privateIndex: PrivateIndex?
    private var statements = StatementTable()
    /// Pages in the WAL after the last commit, or copying, of this connection, once ``countWALPages(_:)`` has run.
    private(set) var walPages = 0
    /// How long the answer may take that is being read; `nil`: as long as it takes. The first one has it looked at (``watchTerm()``).
    var term: AnswerTerm? {
        didSet {
            guard !isTermWatched, term != nil else { return }
            isTermWatched = true
            watchTerm()
        }
    }
    private var isTermWatched = false
    private var walObserver: ((Int) -> Void)?

    /// Once for each process, before the first connection: no global counters behind every small allocation (Debian's
    /// library has no lookaside), and no 85 KB of cache for each of the dozen connections of a daemon that does nothing. No
    /// connection has a mutex: only then may a value of a column be asked more than once.
    /// Gives the name of the way to files that all connections take (``JournalBlindness``).
    private static let configured: String? = {
        _ = sillok_sqlite_config_multithread()
        _ = sillok_sqlite_config_memstatus(0)
        _ = sillok_sqlite_config_no_bulk_cache()
        KeptOwners.register()
        IndexRoom.register()
        PrivateIndex.register()
        return JournalBlindness.register()
    }()

    init(path: String, mode: Mode) throws(DatabaseError) {
        let files = Self.configured
        self.path = path
        for suffix in ["", "-wal"] where path != ":memory:" {
            do throws(StoreError) { try DatabaseFile.require(path + suffix) } catch { throw .file(error) }
        }
        if mode == .write, path != ":memory:" { Self.makePrivate(path) }
        var handle: OpaquePointer?
        let flags: Int32 =
            switch mode {
            case .write: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .read, .immutable: SQLITE_OPEN_READONLY
            }
        let name = "file:\(Self.uriPath(path))" + (mode == .immutable ? "?immutable=1" : "")
        let code = sqlite3_open_v2(name, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, files)
        guard code == SQLITE_OK, let handle else {
            let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)
            throw DatabaseError(extendedCode: code, message: message, context: path, path: path)
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Self.patience)
        _ = sillok_sqlite_no_checkpoint_on_close(handle, mode == .write ? 0 : 1)
        _ = sillok_sqlite_defensive(handle, 1)
        // A file from elsewhere: its schema may call nothing that does more than compute, and cells of impossible size are damage.
        _ = sillok_sqlite_untrusted_schema(handle)
        sillok_sqlite_no_stored_code(handle)
        sqlite3_exec(handle, "PRAGMA cell_size_check = ON", nil, nil, nil)
    }

    /// Whether the WAL stays, from now on, when this connection closes: after a failure what was copied of it is not to be believed.
    func keepWAL(_ isKept: Bool = true) { _ = sillok_sqlite_no_checkpoint_on_close(handle, isKept ? 1 : 0) }

    deinit {
        statements = StatementTable()
        sqlite3_close_v2(handle)
    }

    /// Writes the frames of each commit to the WAL in one piece (``WALFrameBuffer``). To run once, when there is one.
    ///
    /// - Parameter written: Runs within each commit, when its frames are written; perhaps not within the first one.
    func gatherWALWrites(written: @escaping WALFrameBuffer.Written = { _, _ in }) {
        WALFrameBuffer.begin(handle, written: written)
    }

    /// Makes the file if there is none, for its owner only: SQLite would let others read it, and gives the WAL the same mode.
    private static func makePrivate(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    private static func uriPath(_ path: String) -> String {
        var out = ""
        for character in path.unicodeScalars {
            switch character {
            case "%", "?", "#": out += "%" + hexText(String(character).utf8)
            default: out.unicodeScalars.append(character)
            }
        }
        return out
    }

    /// Runs statements that give no rows.
    func execute(_ sql: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(sql) }
    }

    /// A statement prepared once and kept; it comes back reset.
    func statement(_ sql: String) throws(DatabaseError) -> Statement {
        if let known = statements.find(sql) {
            known.reset()
            return known
        }
        let made = try Statement(sql, on: self, handle)
        statements.insert(sql, made)
        return made
    }

    /// The first column of the first row as an integer; `nil` if there is no row or it is NULL.
    func integer(_ sql: String, _ bindings: Binding...) throws(DatabaseError) -> Int64? {
        let statement = try statement(sql, bindings)
        defer { statement.reset() }
        return try statement.step() ? statement.int64IfAny(0) : nil
    }

    /// Bytes of a WAL of so many pages of 4,096.
    static func walBytes(pages: Int) -> Int { 32 + pages * (24 + 4_096) }

    /// Keeps ``walPages`` up to date. Replaces SQLite's own automatic checkpoints.
    ///
    /// - Parameter body: Runs after each commit that has written, with ``walPages``.
    func countWALPages(_ body: ((Int) -> Void)? = nil) {
        walObserver = body
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            handle,
            { context, _, _, pages in
                if let context {
                    Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().committed(Int(pages))
                }
                return SQLITE_OK
            }, context)
    }

    private func committed(_ pages: Int) {
        walPages = pages
        walObserver?(pages)
    }

    /// Gives back what the page cache holds.
    func releaseMemory() { sqlite3_db_release_memory(handle) }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// How many rows the last INSERT, UPDATE or DELETE changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// The `rowid` of the last row that an INSERT of this connection put into an ordinary table.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Copies WAL pages that no reader needs into the database; `truncate` waits for readers, `patience` milliseconds at most, and
    /// empties the WAL. Returns pages in the WAL and pages copied.
    @discardableResult
    func checkpoint(
        truncate: Bool = false, patience: Int32 = Connection.patience
    ) throws(DatabaseError) -> (wal: Int, copied: Int) {
        sqlite3_busy_timeout(handle, patience)
        defer { sqlite3_busy_timeout(handle, Self.patience) }
        var wal: Int32 = 0
        var copied: Int32 = 0
        let mode = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, &wal, &copied)
        guard code == SQLITE_OK || code == SQLITE_BUSY else { throw error("wal_checkpoint") }
        walPages = max(0, Int(wal))
        return (Int(wal), Int(copied))
    }

    /// Waits until no one reads what stands in the WAL, all of which is copied, `patience` milliseconds at most. Whether that is so: then the
    /// next commit begins it anew, for who begins to read meanwhile reads the database.
    func awaitReaders(patience: Int32) -> Bool {
        sqlite3_busy_timeout(handle, patience)
        defer { sqlite3_busy_timeout(handle, Self.patience) }
        return sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_RESTART, nil, nil) == SQLITE_OK
    }

    /// Commits the version of the schema as it is: a page is written though its content is the same. Begins a WAL anew that no one needs.
    func rewriteVersion() throws(DatabaseError) {
        let version = try integer("PRAGMA user_version") ?? 0
        try execute("PRAGMA user_version = \(version)")
    }

    /// From now on the database is synced also while a WAL is copied back into it, some pages at a time (``CheckpointPacing``).
    ///
    /// - Parameter synced: Told of each such sync.
    func paceCopying(synced: @escaping () -> Void = {}) { CheckpointPacing.begin(handle, synced: synced) }

    /// SQLite's open file of the database.
    var databaseFile: UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK ? file : nil
    }

    /// Waits until the disk has what was copied into the database. SQLite does so itself only when all of the WAL is copied.
    /// What the disk refuses here it refuses once: nothing that was copied may be believed after that.
    func syncDatabase() throws(DatabaseError) {
        guard let file = databaseFile, let sync = file.pointee.pMethods?.pointee.xSync else { return }
        let code = sync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY)
        guard code == SQLITE_OK else {
            throw DatabaseError(extendedCode: code, message: "the sync failed", context: path, path: path)
        }
    }

    /// Runs `body` in one transaction, which is rolled back if it throws.
    func transaction<Result>(
        _ kind: String = "BEGIN IMMEDIATE", _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        try statement(kind).run()
        do {
            let result = try body()
            try statement("COMMIT").run()
            return result
        } catch {
            rollback()
            throw error
        }
    }

    /// Ends an open transaction without its changes; does nothing if SQLite already did.
    func rollback() {
        statements.forEach { $0.reset() }
        if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    /// Takes an index out of the schema, without its pages, and returns its statement. For files under construction; the
    /// connection must be closed after it.
    func hideSchema(of index: String) throws(DatabaseError) -> String {
        _ = sillok_sqlite_defensive(handle, 0)
        let select = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?"
        guard let sql = try first(select, [.text(index)], { $0.text(0) }) else {
            throw .damaged(.file(path), "no index \(index)")
        }
        try execute("PRAGMA writable_schema = ON")
        try run("DELETE FROM sqlite_schema WHERE type = 'index' AND name = ?", .text(index))
        return sql
    }

    /// Puts an index whose pages are there into the schema.
    func restoreSchema(of index: String, on table: String, root: UInt32, sql: String) throws(DatabaseError) {
        _ = sillok_sqlite_defensive(handle, 0)
        try execute("PRAGMA writable_schema = ON")
        try run(
            "INSERT INTO sqlite_schema VALUES('index', ?, ?, ?, ?)", .text(index), .text(table),
            .integer(Int64(root)),
            .text(sql))
    }

    /// What went wrong last on this connection, while `sql` ran.
    func error(_ sql: String) -> DatabaseError {
        DatabaseError(
            extendedCode: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)),
            context: sql, path: path)
    }
}

/// The statements of a connection by their text. There are a few dozen: to compare lengths one after the other takes less
/// time than to hash a text of some hundred bytes.
private struct StatementTable {
    private var entries: [(length: Int, sql: String, statement: Statement)] = []

    func find(_ sql: String) -> Statement? {
        let length = sql.utf8.count
        let index = entries.indices.first { entries[$0].length == length && entries[$0].sql.hasSameBytes(as: sql) }
        return index.map { entries[$0].statement }
    }

    mutating func insert(_ sql: String, _ statement: Statement) {
        entries.append((sql.utf8.count, sql, statement))
    }

    func forEach(_ body: (Statement) -> Void) {
        for entry in entries { body(entry.statement) }
    }
}

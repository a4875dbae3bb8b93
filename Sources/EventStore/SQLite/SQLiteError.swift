internal import CSQLite

/// What SQLite refused, and the statement it was. A damaged file is no such error but ``LogDamage``.
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The extended result code (sqlite.org/rescode.html).
    package let extendedCode: Int32
    /// SQLite's own words.
    package let message: String
    /// The statement or the file.
    package let context: String

    private var code: Int32 { extendedCode & 0xff }
    /// Whether a UNIQUE, CHECK or NOT NULL rule refused the row.
    var isConstraint: Bool { code == SQLITE_CONSTRAINT }
    /// Whether only the statement was refused: what is stored is as it was.
    var isOfStatement: Bool {
        switch code {
        case SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_RANGE, SQLITE_INTERRUPT, SQLITE_SCHEMA: true
        default: false
        }
    }
    /// Whether a read, a write or a sync failed.
    var isFailedIO: Bool { code == SQLITE_IOERR && extendedCode != SQLITE_IOERR | 12 << 8 /* _NOMEM */ && !isFull }
    /// Whether the disk, or the quota, is full; also where the index of a WAL, `log.db-shm`, finds no room.
    var isFull: Bool { code == SQLITE_FULL || extendedCode == SQLITE_IOERR | 19 << 8 /* _SHMSIZE */ }
    /// Whether another connection holds the lock.
    var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
    /// Whether the file cannot be opened, or not so that something can be made beside it.
    var isCannotOpen: Bool { code == SQLITE_CANTOPEN || code == SQLITE_READONLY }
    /// Whether what ran was to end (``Connection/watchTerm()``).
    var isInterrupted: Bool { code == SQLITE_INTERRUPT }
    /// Whether SQLite was used as it must not be.
    var isMisuse: Bool { code == SQLITE_MISUSE }

    /// Message, code and statement on one line.
    package var description: String { "\(message) (SQLite \(extendedCode)): \(context)" }
}

extension DatabaseError {
    /// What SQLite says with `extendedCode` of the database at `path`.
    ///
    /// Every statement is one of ours, so where SQLite finds no sense in one (SQLITE_ERROR), a table or a column that it names is not there.
    init(extendedCode: Int32, message: String, context: String, path: String) {
        switch extendedCode & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR: self = .damage(LogDamage(.file(path), message))
        default: self = .sqlite(SQLiteError(extendedCode: extendedCode, message: message, context: context))
        }
    }
}

internal import CSQLite

/// What SQLite refused, and the statement it was.
public struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The extended result code (sqlite.org/rescode.html).
    public let extendedCode: Int32
    /// SQLite's own words.
    public let message: String
    /// The statement or the file.
    public let context: String

    /// The primary result code.
    public var code: Int32 { extendedCode & 0xff }
    /// Whether a UNIQUE, CHECK or NOT NULL rule refused the row.
    public var isConstraint: Bool { code == SQLITE_CONSTRAINT }
    /// Whether only the statement was refused: what is stored is as it was.
    public var isOfStatement: Bool {
        switch code {
        case SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_RANGE, SQLITE_INTERRUPT,
            SQLITE_SCHEMA:
            true
        default: false
        }
    }
    /// Whether a read, a write or a sync failed.
    public var isFailedIO: Bool { code == SQLITE_IOERR && extendedCode != SQLITE_IOERR | 12 << 8 /* _NOMEM */ }
    /// Whether the disk, or the quota, is full.
    public var isFull: Bool { code == SQLITE_FULL }
    /// Whether another connection holds the lock.
    public var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
    /// Whether the file cannot be opened.
    public var isCannotOpen: Bool { code == SQLITE_CANTOPEN }
    /// Whether the file is no database, or a damaged one.
    public var isCorrupt: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

    /// Message, code and statement on one line.
    public var description: String { "\(message) (SQLite \(extendedCode)): \(context)" }
}

extension StoreError {
    init(_ error: SQLiteError) {
        self =
            if error.isFull {
                .diskFull(error.description)
            } else if error.isBusy {
                .busy(error.description)
            } else if error.isCorrupt {
                .corrupt(error.description)
            } else {
                .io(error.description)
            }
    }
}

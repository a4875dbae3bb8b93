/// What a failed write leaves behind. Decided here alone: the writer ends a store by it, and never by a code of SQLite.
enum Aftermath: Hashable, Sendable {
    /// Only what was asked for is refused; what is stored is as it was, and the next request may succeed.
    case statement
    /// What the page cache says can no longer be trusted: nothing more is acknowledged until the store is opened again (D23).
    case store
}

extension DatabaseError {
    /// After a transaction that was rolled back. Where rows are damaged, the state is read from the file again, and that may end the store.
    var afterCommit: Aftermath {
        switch self {
        case .sqlite(let error): error.isOfStatement || error.isFull || error.isBusy ? .statement : .store
        case .damage, .misuse, .cancelled: .statement
        case .file: .store
        }
    }

    /// After the WAL was to be copied into the database. A full disk, the lock of another or a lack of memory change nothing: the same
    /// pages are copied another time.
    var afterCopying: Aftermath {
        switch self {
        case .sqlite(let error): error.isFailedIO ? .store : .statement
        case .damage, .file: .store
        case .misuse, .cancelled: .statement
        }
    }
}

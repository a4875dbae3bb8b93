/// Why a database of the store could not be read or written.
///
/// A function that reads rows can end in any of these ways, so they are one type, and SQLite's refusal is one of its cases. What is said
/// outside of this folder never has a code of SQLite: that is for ``SQLiteError`` alone.
package enum DatabaseError: Error, Hashable, Sendable {
    /// SQLite refused, or the disk under it. Nothing is said of what is stored.
    case sqlite(SQLiteError)
    /// What stands in the file is not what any writer puts there.
    case damage(LogDamage)
    /// A file beside the database could not be read or written.
    case file(StoreError)
    /// The caller asked for what cannot be: a fault of ours. The store is as it was.
    case misuse(String)
    /// The caller wanted no more of it.
    case cancelled

    /// Whether a UNIQUE, CHECK or NOT NULL rule refused the row.
    var isConstraint: Bool { sqlite?.isConstraint ?? false }
    /// Whether the file cannot be opened as it was asked for: perhaps because nothing may be made beside it.
    var isCannotOpen: Bool { sqlite?.isCannotOpen ?? false }
    /// Whether the disk, or the quota, is full.
    var isFull: Bool { sqlite?.isFull ?? false }

    static func damaged(_ place: LogDamage.Place, _ what: String) -> DatabaseError { .damage(LogDamage(place, what)) }

    private var sqlite: SQLiteError? { if case .sqlite(let error) = self { error } else { nil } }
}

/// Something in a database of the store, in the log or in views made of it, that no writer puts there.
package struct LogDamage: Error, Hashable, Sendable {
    /// Where it is.
    package enum Place: Hashable, Sendable {
        /// In the row of the event at this position, or in place of it.
        case event(UInt64)
        /// In a row of this table.
        case table(String)
        /// In the pages or the definitions of the file at this path.
        case file(String)
    }

    package let place: Place
    /// What is wrong, for people.
    package let what: String

    init(_ place: Place, _ what: String) { (self.place, self.what) = (place, what) }
}

extension LogDamage: CustomStringConvertible {
    package var description: String {
        switch place {
        case .event(let position): "event \(Int64(bitPattern: position)): \(what)"
        case .table(let name): "table \(name): \(what)"
        case .file(let path): "\(path): \(what)"
        }
    }
}

extension DatabaseError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .sqlite(let error): error.description
        case .damage(let damage): damage.description
        case .file(let error): error.description
        case .misuse(let what): what
        case .cancelled: "cancelled"
        }
    }
}

extension StoreError {
    init(_ error: DatabaseError) {
        self =
            switch error {
            case .sqlite(let error) where error.isFull: .diskFull(error.description)
            case .sqlite(let error) where error.isBusy: .busy(error.description)
            // What the writer knows of the log, and what stands there, contradict each other.
            case .sqlite(let error) where error.isConstraint: .corrupt(error.description)
            case .sqlite(let error) where error.isInterrupted: .tooWide("it took longer than an answer may")
            case .sqlite(let error) where error.isMisuse || error.isOfStatement: .fault(error.description)
            case .sqlite(let error): .io(error.description)
            case .damage(let damage): .corrupt(damage.description)
            case .file(let error): error
            case .misuse(let what): .fault(what)
            case .cancelled: .closed
            }
    }
}

package import EventStore

/// Why a backup could not be made, read or restored. A store, or a repository, is as it was before.
package enum BackupError: Error, Hashable, Sendable {
    /// The store, or a file of the repository, could not be read or written.
    case store(StoreError)
    /// There is no repository at this path.
    case noRepository(path: String)
    /// The folder has other things in it.
    case notEmpty(path: String)
    /// There is no such backup.
    case noBackup(String)
    /// The backup ends before a position up to which it was to be restored.
    case beyond(position: UInt64, last: UInt64)
    /// A file of a backup is not as it was written, or is not there.
    case damaged(file: String, reason: String)
    /// A file of a repository has payloads that its node has erased since.
    case erased(file: String, rows: Int)
    /// A file that cannot be opened: another key, or a changed file. With `nil` a key is needed, and none was given.
    case key(file: String, isGiven: Bool)
    /// A file of a repository that is not encrypted, and a key is given.
    case plain(file: String)
    /// The key file has no key in it.
    case keyFile(path: String)
    /// Another process writes the repository.
    case busy(path: String)
    /// An erasure is under way in the store.
    case erasing
    /// No signed head covers anything of the log yet.
    case unsigned
    /// The log has rows that are not what was signed.
    case log(SnapshotError)
    /// The log has payloads behind a position that erasures let go which are applied: a hand has put them back.
    case putBack(rows: Int, after: UInt64)
    /// An event of the log has lost its payload, and no erasure says so.
    case lost(Dot)
    /// A command that was to take or give the backup has failed.
    case command(String, status: Int32)
    /// It was stopped by the user.
    case interrupted

    /// Which file of the repository it is about.
    var file: String? {
        switch self {
        case .damaged(let file, _), .key(let file, _), .erased(let file, _): file
        default: nil
        }
    }

    /// A stable name for machines.
    package var code: String {
        switch self {
        case .store(let error): error.code
        case .noRepository: "E_NO_REPOSITORY"
        case .notEmpty: "E_REPOSITORY"
        case .noBackup: "E_NO_BACKUP"
        case .beyond: "E_POSITION"
        case .damaged: "E_BACKUP_DAMAGED"
        case .erased: "E_BACKUP_ERASED"
        case .key, .plain: "E_BACKUP_KEY"
        case .keyFile: "E_BACKUP_KEY_FILE"
        case .busy: "E_BACKUP_BUSY"
        case .erasing: "E_BACKUP_ERASING"
        case .unsigned: "E_BACKUP_UNSIGNED"
        case .log, .putBack, .lost: "E_BACKUP_LOG"
        case .command: "E_BACKUP_COMMAND"
        case .interrupted: "E_INTERRUPTED"
        }
    }
}

extension BackupError: CustomStringConvertible {
    /// One sentence for people.
    package var description: String {
        switch self {
        case .store(let error): error.description
        case .noRepository(let path): "no backup repository at \(path)"
        case .notEmpty(let path): "\(path) is no backup repository, and not empty"
        case .noBackup(let what): what
        case .beyond(let position, let last): "--to \(position): the backup ends at position \(last)"
        case .damaged(let file, let reason): "\(file): \(reason)"
        case .erased(let file, let rows):
            "\(file) has what \(rows == 1 ? "an event" : "\(rows) events") said before being erased: an older copy was put back, or it is of "
                + "another history. 'backup create' of its node takes that out; what it names as another history, take away"
        case .key(let file, true): "\(file) does not open: it was made with another key, or changed"
        case .key(let file, false): "\(file) is encrypted, and no key is given"
        case .plain(let file): "\(file) is not encrypted, and a key is given: a repository has one key, or none"
        case .keyFile(let path): "\(path) has no key: 64 hexadecimal digits are one"
        case .busy(let path): "another process writes \(path)"
        case .erasing: "an erasure is under way in the store: a backup would keep what goes"
        case .unsigned: "no signed head covers anything of the log yet"
        case .log(let error): "the log is not what was signed: \(error)"
        case .putBack(let rows, let after):
            "the log has what \(rows == 1 ? "an event" : "\(rows) events") behind position \(after) said before being erased: a hand has put "
                + "it back. A start of syncd takes it away again"
        case .lost(let dot):
            "the payload of event \(dot) is gone, and no erasure says so: a hand has taken it away, or the erasure has not come yet"
        case .command(let command, let status): "'\(command)' has failed (status \(status))"
        case .interrupted: "stopped"
        }
    }
}

extension BackupError {
    /// What building a log has met.
    init(_ error: SnapshotError) {
        if case .store(let error) = error { self = .store(error) } else { self = .log(error) }
    }
}

/// Runs something that reads the log: one that cannot be read is not backed up.
func logged<Result>(_ body: () throws(StoreError) -> Result) throws(BackupError) -> Result {
    do { return try body() } catch {
        if case .corrupt = error { throw .log(.store(error)) }
        throw .store(error)
    }
}

/// Runs something of the store; its errors become those of a backup.
func mapped<Result>(_ body: () throws(StoreError) -> Result) throws(BackupError) -> Result {
    do { return try body() } catch { throw .store(error) }
}

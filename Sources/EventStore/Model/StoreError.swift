internal import Glibc

/// What can go wrong with a store as a whole.
public enum StoreError: Error, Hashable, Sendable {
    /// There is no store at `path`.
    case notFound(path: String)
    /// There already is a store at `path`.
    case exists(path: String)
    /// Another process owns the store; `owner` is what it wrote into the lock file.
    case locked(path: String, owner: String)
    /// The log at `path` has a format, `version`, that this release does not know: a later one made it. What is no log
    /// at all is ``corrupt(_:)``.
    case unknownFormat(path: String, version: Int)
    /// The log at `path` is of an earlier release, which did not end in order.
    case notSettled(path: String)
    /// There is a log, and no key to sign with at `path`: a copy that can be read, not appended to.
    case noKey(path: String)
    /// The files contradict each other or are damaged, or the log is another file.
    case corrupt(String)
    /// A file beside the log is not what it should be; the log is not concerned, and `verify` has nothing to say of it.
    case badFile(String, wayOut: String)
    /// The disk or the quota is full; nothing of the request was stored. Once there is room the same call succeeds.
    case diskFull(String)
    /// This user may not read or write `path`.
    case forbidden(path: String)
    /// Files that others could have put there, or could replace; the text says what to do.
    case unsafe(String)
    /// The file system of `path` cannot be written to.
    case readOnly(path: String)
    /// Reading or writing failed; nothing of the request was acknowledged.
    case io(String)
    /// The store's files were taken away, or others put in their place, while it was open: nothing is stored any more, and what was
    /// acknowledged since the WAL was last copied may be lost. Close a store before you restore, move or remove it; its readers, too, before
    /// you open what is there then.
    case lost(String)
    /// What was handed in cannot be used; the text says what can.
    case parameter(String)
    /// A queue is full, or the views are too far behind; try again.
    case busy(String)
    /// To answer, more would have to be read than an answer may; another question costs less.
    case tooWide(String)
    /// A kept position is one of another log, or of what this log has lost: another event stands there, or none.
    case lostPlace(UInt64)
    /// More than ``Limits/batch`` drafts at once.
    case batchTooLarge(count: Int)
    /// The store is closed. Nothing succeeds on it any more; open it again.
    case closed
    /// A fault of this software: it asked the store for what cannot be. Nothing of the request was stored.
    case fault(String)

    /// A stable name for machines.
    public var code: String {
        switch self {
        case .notFound: "E_NO_STORE"
        case .exists: "E_STORE_EXISTS"
        case .locked: "E_LOCKED"
        case .unknownFormat: "E_FORMAT"
        case .notSettled: "E_UPGRADE"
        case .noKey: "E_NO_KEY"
        case .corrupt: "E_CORRUPT"
        case .badFile: "E_STORE_FILE"
        case .diskFull: "E_DISK"
        case .forbidden: "E_PERMISSION"
        case .unsafe: "E_UNSAFE"
        case .readOnly: "E_READ_ONLY"
        case .io, .lost: "E_IO"
        case .parameter: "E_PARAMETER"
        case .busy: "E_BUSY"
        case .tooWide: "E_SCOPE"
        case .lostPlace: "E_CURSOR"
        case .batchTooLarge: "E_BATCH_SIZE"
        case .closed: "E_CLOSED"
        case .fault: "E_INTERNAL"
        }
    }

    /// Whether the same call may succeed later without any repair of the store (``SillokError/isRetriable``).
    public var isRetriable: Bool {
        switch self {
        case .busy, .diskFull, .locked: true
        default: false
        }
    }

    /// The node's key cannot be read as one.
    static func noEd25519(_ path: String) -> StoreError {
        .badFile(
            "\(path) is no Ed25519 key",
            wayOut: "put the node's own key there: a backup has it (operating/backup.md); reading needs none")
    }

    /// What a system call on `path` has just left in `errno`.
    package static func system(_ path: String) -> StoreError {
        let code = errno
        let reason = "\(path): \(String(cString: strerror(code)))"
        return switch code {
        case ENOSPC, EDQUOT: .diskFull(reason)
        case ELOOP: .unsafe("\(path) is a symbolic link")
        case EISDIR, ENOTDIR, EEXIST, ENAMETOOLONG:
            .badFile(
                reason,
                wayOut:
                    "where you named it, name another path; in a store's folder the node did not make it so: move it out and start again"
            )
        case EROFS: .readOnly(path: path)
        case EACCES, EPERM: .forbidden(path: path)
        default: .io(reason)
        }
    }

    /// A sync of `path` has failed, and `errno` says why. Also when that is a lack of room: what was written is not to be believed.
    static func failedSync(_ path: String) -> StoreError {
        .io("the sync of \(path) failed: \(String(cString: strerror(errno)))")
    }
}

extension StoreError {
    /// What to try; `nil` where the message says all there is.
    public var hint: String? {
        switch self {
        case .notFound(let path): "the right path, if it should be there; syncctl init --store \(path) makes one"
        case .noKey:
            "to start it, put the node.key of its node beside log.db (a backup has it: operating/backup.md); reading, "
                + "verify and export need none"
        case .exists: "another folder; a store is never overwritten"
        case .locked: "again when that has ended, or another folder"
        case .corrupt: "syncctl verify names the damage; a peer or a backup has a good copy"
        case .badFile(_, let wayOut): wayOut
        case .unknownFormat: "a newer release"
        case .diskFull: "again when there is room; what was reported as appended is safe"
        case .busy: "again in a moment"
        case .notSettled: "the release that wrote it, once; then this one"
        case .forbidden: "the same command as the user that runs syncd"
        case .readOnly: "the kernel's log says why it is; reading needs no more than that"
        case .unsafe: "do what the message says, and then the same again"
        case .tooWide:
            "a moment nearer to now, one conversation, or one question; else history or export with the same moment"
        case .lostPlace: "without the kept place: events keep their ids, by which what was dealt with is known"
        case .fault: "please report it"
        case .lost:
            "close the store and all of its readers; then what is there now can be opened. Do so before a store is restored, "
                + "moved or removed"
        case .io, .parameter, .batchTooLarge, .closed: nil
        }
    }
}

extension StoreError: CustomStringConvertible {
    /// One sentence for people.
    public var description: String {
        switch self {
        case .notFound(let path): "no store at \(path)"
        case .exists(let path): "there already is a store at \(path)"
        case .locked(let path, let owner): "the store at \(path) is in use by \(owner)"
        case .unknownFormat(let path, let version):
            "\(path) has format \(version); this release knows format \(Limits.logFormat)"
        case .notSettled(let path):
            "\(path) was written by an earlier release and was not stopped in order: not all of it is signed; start and stop "
                + "it once with that release"
        case .noKey(let path): "a copy without node.key: it can be read, and not appended to; there is no \(path)"
        case .corrupt(let what): "the store is damaged: \(what)"
        case .badFile(let what, _): what
        case .diskFull(let what): "the disk is full: \(what)"
        case .forbidden(let path): "cannot read or write \(path): permission denied"
        case .unsafe(let what): "not safe: \(what)"
        case .readOnly(let path): "the file system of \(path) is read-only"
        case .io(let what): "cannot read or write: \(what)"
        case .lost(let what):
            "\(what): nothing more is stored, and what was acknowledged since the WAL was last copied may be lost"
        case .parameter(let what): what
        case .busy(let what): "busy: \(what)"
        case .tooWide(let what): what
        case .lostPlace(let position):
            "position \(position) is a place in another log, or in what this log has lost: begin anew at 0"
        case .batchTooLarge(let count): "\(count) events at once; at most \(Limits.batch) are taken"
        case .closed: "the store is closed"
        case .fault(let what): "a fault of this software: \(what)"
        }
    }
}

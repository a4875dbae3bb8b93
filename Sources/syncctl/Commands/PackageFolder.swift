internal import CommandLineKit
internal import EventStore
internal import Glibc

/// A folder that is made under another name, and gets its own when all of it is on the disk: none that looks finished is half.
final class PackageFolder {
    /// Where it is made.
    let part: String
    /// Whether an interrupted run had left something there. It is gone.
    let hadRest: Bool
    private let folder: String
    /// Held while it is made, so that no second run takes away what this one writes.
    private let lock: Int32
    private var isDone = false

    private static let suffix = ".unfinished"
    private static let mark = "UNFINISHED"
    private static let folders = ["conversations", "proofs", "attachments"]
    /// What a package has at last: one that was killed while it got its name has this, and no mark.
    private static let last = "SHA256SUMS"

    /// - Parameter path: Its name: of a folder that is empty, or not there.
    init(_ path: String) throws(CommandFailure) {
        let trimmed = String(path.reversed().drop { $0 == "/" }.reversed())
        folder = trimmed.isEmpty ? path : trimmed
        part = folder + Self.suffix
        var entry = stat()
        if lstat(folder, &entry) == 0 {
            guard entry.st_mode & S_IFMT == S_IFDIR, try Self.names(in: folder).isEmpty else {
                throw Self.refusal(
                    "\(folder) is not empty", hint: "name a folder that is not there yet, or an empty one")
            }
        }
        let isThere = mkdir(part, 0o700) != 0
        guard !isThere || errno == EEXIST else {
            throw CommandFailure.system("cannot make \(part)", errno: errno, exitCode: .cannotCreate)
        }
        let names = isThere ? try Self.names(in: part) : []
        guard names.isEmpty || names.contains(Self.mark) || names.contains(Self.last) else {
            throw Self.refusal("\(part) is there already, and no unfinished package", hint: "take it away")
        }
        lock = open("\(part)/\(Self.mark)", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard lock >= 0 else {
            throw CommandFailure.system("cannot write \(part)", errno: errno, exitCode: .cannotCreate)
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandFailure(
                code: "E_STORE_FILE", "another run is making \(folder)", hint: "again when it is done",
                exitCode: .tryAgain)
        }
        hadRest = !names.isEmpty
        if hadRest { Self.empty(part) }
    }

    deinit {
        if !isDone {
            Self.empty(part)
            unlink("\(part)/\(Self.mark)")
            rmdir(part)
        }
        close(lock)
    }

    /// Gives it its name.
    func finish() throws(CommandFailure) {
        for name in Self.folders where access("\(part)/\(name)", F_OK) == 0 {
            try stored { try SmallFile.syncFolder(of: "\(part)/\(name)/") }
        }
        guard unlink("\(part)/\(Self.mark)") == 0 else {
            throw CommandFailure.system("cannot write \(part)", errno: errno)
        }
        try stored { try SmallFile.syncFolder(of: "\(part)/") }
        guard rename(part, folder) == 0 else {
            throw CommandFailure.system("cannot make \(folder)", errno: errno, exitCode: .cannotCreate)
        }
        isDone = true
        try stored { try SmallFile.syncFolder(of: folder) }
    }

    private static func names(in path: String) throws(CommandFailure) -> [String] {
        try stored { try SmallFile.names(in: path) }.filter { $0 != "." && $0 != ".." }
    }

    /// Takes all away that a package has, but the mark.
    private static func empty(_ path: String) {
        for folder in folders.map({ "\(path)/\($0)" }) + [path] {
            for name in (try? SmallFile.names(in: folder)) ?? [] where name != "." && name != ".." && name != mark {
                unlink("\(folder)/\(name)")
            }
            if folder != path { rmdir(folder) }
        }
    }

    private static func refusal(_ what: String, hint: String) -> CommandFailure {
        CommandFailure(code: "E_STORE_FILE", what, hint: hint, exitCode: .cannotCreate)
    }
}

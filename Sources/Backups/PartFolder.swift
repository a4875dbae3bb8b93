internal import EventStore
internal import Glibc

/// The folder of a store that gets its name when all of it is on the disk. What a run that ended early has left, the next one takes away.
final class PartFolder {
    /// The store while it is made.
    let files: StoreFiles
    private let folder: String
    /// A file that says what the folder is, held while it is made, so that no second run takes away what this one writes.
    private let mark: String
    private let lock: Int32

    /// - Parameters:
    ///   - path: Its name; not there yet.
    ///   - suffix: What stands behind the name until then: a dot and a word.
    init(_ path: String, suffix: String) throws(BackupError) {
        folder = StoreFiles(path).folder
        files = StoreFiles(folder + suffix)
        mark = String(suffix.dropFirst())
        try Self.refuse(folder)
        let isThere = mkdir(files.folder, 0o700) != 0
        guard !isThere || errno == EEXIST else { throw .store(.system(files.folder)) }
        let part = files.folder
        let names = isThere ? try mapped { () throws(StoreError) in try SmallFile.names(in: part) } : []
        guard names.allSatisfy({ $0 == "." || $0 == ".." }) || names.contains(mark) else {
            throw .store(.badFile("\(part) is there already", wayOut: "take it away"))
        }
        lock = open("\(part)/\(mark)", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw .store(.system(part)) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { throw .busy(path: part) }
        StoreFolder.empty(part, but: mark)
    }

    deinit { if lock >= 0 { close(lock) } }

    /// Nothing is written over what is there.
    static func refuse(_ folder: String) throws(BackupError) {
        var entry = stat()
        guard lstat(folder, &entry) != 0 else {
            throw .store(.badFile("\(folder) is there already", wayOut: "name a folder that is not there yet"))
        }
    }

    /// Gives it its name.
    func finish() throws(BackupError) {
        try mapped { () throws(StoreError) in
            try SmallFile.syncFolder(of: files.log)
            guard rename(files.folder, folder) == 0 else { throw .system(folder) }
            try SmallFile.syncFolder(of: folder)
            // Last: until then what is left of an interrupted run is known for that.
            unlink("\(folder)/\(mark)")
        }
    }

    /// Takes it away: it is not to be finished.
    func remove() { StoreFolder.remove(files.folder) }
}

/// A store's folder that is worth nothing.
enum StoreFolder {
    /// Takes it away with all that a store has. What is of others stays, and the folder with it.
    static func remove(_ path: String) {
        empty(path)
        rmdir(path)
    }

    /// Takes away all that a store has, but one file.
    static func empty(_ path: String, but kept: String? = nil) {
        let files = StoreFiles(path)
        let attachments = (try? SmallFile.names(in: files.attachments)) ?? []
        let folders = attachments.filter { !$0.hasPrefix(".") }.map { "\(files.attachments)/\($0)" }
        for folder in folders + [files.attachments, files.evidence, path + "/snapshot", path] {
            for name in (try? SmallFile.names(in: folder)) ?? []
            where name != "." && name != ".." && (folder != path || name != kept) {
                unlink("\(folder)/\(name)")
            }
            if folder != path { rmdir(folder) }
        }
    }
}

internal import Glibc

/// Where a snapshot lies while it is received: a folder in the store's. All of it can be thrown away at any time.
struct SnapshotFolder: Sendable {
    let files: StoreFiles

    var folder: String { files.folder + "/snapshot" }
    /// The log under construction.
    var log: String { folder + "/log.part" }
    /// Names, origins, Merkle nodes and heads, until the log is complete.
    var scratch: String { folder + "/scratch.part" }
    var ids: String { folder + "/ids.part" }
    var dots: String { folder + "/dots.part" }
    var twins: String { folder + "/twins.part" }
    /// Pieces as they were received and found right.
    var spool: String { folder + "/spool" }

    func make() throws(StoreError) {
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw .system(folder)
        }
    }

    /// Takes away what an unfinished construction left; the spool stays.
    func removeParts() {
        for path in [log, scratch] { SmallFile.removeDatabase(path) }
        for path in [ids, dots, twins] { unlink(path) }
    }

    func removeAll() {
        removeParts()
        unlink(spool)
        rmdir(folder)
    }

    /// Bytes free on the disk for this process.
    var freeBytes: UInt64 {
        var status = statvfs()
        guard statvfs(files.folder, &status) == 0 else { return 0 }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }
}

extension StoreFiles {
    /// A complete log that takes the place of ``log`` when the store is opened.
    var readyLog: String { folder + "/log.ready" }
}

internal import Glibc

/// Puts a complete log that was received as a snapshot where this node's own small one stood. Done when a store is
/// opened, under its lock, before any other process opens the files: at every moment there is one whole log under the name.
enum SnapshotInstall {
    /// Installs the log that waits, if there is one. One that no longer fits the store is thrown away. Returns the inode of
    /// the log that was installed.
    static func run(_ files: StoreFiles) throws(StoreError) -> UInt64? {
        guard access(files.readyLog, F_OK) == 0 else { return nil }
        guard try fits(files), let (old, new) = inodes(files) else {
            unlink(files.readyLog)
            return nil
        }
        // The log remembers its file, to know a copy of it (``Surroundings``). It goes on in another one.
        try mapped { () throws(DatabaseError) in
            let connection = try Connection(path: files.readyLog, mode: .write)
            try connection.run(
                "UPDATE meta SET value = ? WHERE key = 'file' AND value = ?", .text(String(new)), .text(String(old)))
            try keepSeal(from: files.log, to: connection)
        }
        // What the WAL of the old log holds is in the new one; beside that it would be taken for its own.
        try mapped { () throws(DatabaseError) in
            let old = try Connection(path: files.log, mode: .write)
            // A connection that has read nothing knows no WAL, and copies none.
            _ = try old.integer("PRAGMA user_version")
            let left = try old.checkpoint(truncate: true)
            // Less than 0: the log was never opened for writing, and has no WAL.
            guard left.wal <= 0 else {
                throw .file(.busy("another process reads \(files.log), which is to be replaced"))
            }
        }
        for suffix in ["-wal", "-shm"] { unlink(files.log + suffix) }
        // The new log must never be found beside the WAL of the old one.
        try SmallFile.syncFolder(of: files.log)
        // For whom the old one was, and for no one else.
        var entry = stat()
        if stat(files.log, &entry) == 0 { chmod(files.readyLog, entry.st_mode & 0o777) }
        guard rename(files.readyLog, files.log) == 0 else {
            throw .system(files.log)
        }
        try SmallFile.syncFolder(of: files.log)
        SnapshotFolder(files: files).removeAll()
        return new
    }

    /// The rows of this node's own events were made anew, without the seal of the last one.
    private static func keepSeal(from path: String, to ready: Connection) throws(DatabaseError) {
        let last = "origin = (SELECT value FROM meta WHERE key = 'origin') ORDER BY seq DESC LIMIT 1"
        let old = try Connection(path: path, mode: .read)
        guard try Schema.hasSeals(old) else { return }
        try old.rows("SELECT seq, seal FROM event WHERE \(last)") { row throws(DatabaseError) in
            guard row.isBlob(1) else { return }
            try ready.run(
                "UPDATE event SET seal = ?1 WHERE seq = ?2 AND position = (SELECT position FROM event WHERE \(last))",
                .blob(row.bytes(1)), .integer(row.int64(0)))
        }
    }

    private static func inodes(_ files: StoreFiles) -> (old: UInt64, new: UInt64)? {
        var (old, new) = (stat(), stat())
        guard stat(files.log, &old) == 0, stat(files.readyLog, &new) == 0 else { return nil }
        return (UInt64(old.st_ino), UInt64(new.st_ino))
    }

    /// Whether the waiting log is this store's, begins with this node's own events, and has all of them. One that is no log does not fit.
    static func fits(_ files: StoreFiles) throws(StoreError) -> Bool {
        let old = try LogReader(files)
        let identity = try StoreIdentity(old)
        do throws(StoreError) {
            let new = try LogReader(path: files.readyLog)
            guard try StoreIdentity(new) == identity else { return false }
            return try new.fits(over: old)
        } catch {
            switch error {
            case .corrupt, .badFile, .unknownFormat, .notFound: return false
            default: throw error
            }
        }
    }
}

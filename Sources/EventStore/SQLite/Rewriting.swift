internal import CSQLite
internal import Glibc

extension Connection {
    /// How many pages of the WAL count as copied into the database, for all who have it open. 0 where no other process had it
    /// open: the count is in the memory that they share.
    func backfilledPages() -> Int {
        sharedIndex.map { Int($0.load(fromByteOffset: 96, as: UInt32.self)) } ?? 0
    }

    /// How far into the WAL those see who hold the five locks of readers.
    func readMarks() -> [UInt32] {
        sharedIndex.map { index in (0..<5).map { index.load(fromByteOffset: 100 + 4 * $0, as: UInt32.self) } } ?? []
    }

    /// The start of what all connections to the database share (https://sqlite.org/walformat.html#the_wal_index_file_format).
    private var sharedIndex: UnsafeMutableRawPointer? {
        guard let file = databaseFile, let map = file.pointee.pMethods?.pointee.xShmMap else { return nil }
        var region: UnsafeMutableRawPointer?
        return map(file, 0, 32_768, 0, &region) == SQLITE_OK ? region : nil
    }

    /// Writes pages of the database again, as they are, through SQLite's own open file: to close another one would give back its
    /// locks. No process may copy the WAL meanwhile, so the lock for that is held.
    ///
    /// - Parameter pages: Their numbers, from 1. What lies beyond the end is left out.
    func rewrite(pages: some Sequence<UInt32>, pageSize: Int) throws(DatabaseError) {
        guard let file = databaseFile, let methods = file.pointee.pMethods?.pointee, let read = methods.xRead,
            let write = methods.xWrite, let lock = methods.xShmLock
        else { return }
        let checkpointLock: Int32 = 1
        var tries = 0
        while true {
            let code = lock(file, checkpointLock, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE)
            if code == SQLITE_OK { break }
            tries += 1
            guard code == SQLITE_BUSY, tries < 200 else {
                throw DatabaseError(
                    extendedCode: code, message: "another process copies the WAL", context: path, path: path)
            }
            usleep(10_000)
        }
        defer { _ = lock(file, checkpointLock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE) }
        var size: Int64 = 0
        _ = methods.xFileSize?(file, &size)
        var bytes = [UInt8](repeating: 0, count: pageSize)
        for page in pages {
            let offset = Int64(page - 1) * Int64(pageSize)
            guard offset + Int64(pageSize) <= size else { continue }
            var code = read(file, &bytes, Int32(pageSize), offset)
            if code == SQLITE_OK { code = write(file, bytes, Int32(pageSize), offset) }
            guard code == SQLITE_OK else {
                throw DatabaseError(
                    extendedCode: code, message: "cannot write page \(page) anew", context: path, path: path)
            }
        }
        try syncDatabase()
    }
}

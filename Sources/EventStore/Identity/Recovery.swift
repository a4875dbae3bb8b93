internal import Glibc

/// Makes the disk have what the page cache says, before a store's log is read for the first time (D23).
///
/// A process may have ended before its WAL was synced, or after that had failed. What it wrote is readable in either case, and a
/// sync alone has nothing to write in the second. So the WAL's commits are written again where they stand, and synced; then the
/// whole WAL is copied into the database. Whatever happens in between, one of both is whole on the disk.
///
/// For the holder of the store's lock. Others may read the log meanwhile.
enum Recovery {
    /// How long to wait for those who read what stands in the WAL, milliseconds. It stays, whole, if they go on.
    private static let patience: Int32 = 500

    /// Returns that the disk had failed when the store was open last, if it had.
    static func run(_ files: StoreFiles) throws(StoreError) -> DiskFailure? {
        let failure = DiskFailure(files)
        do throws(StoreError) {
            try recover(files, isSuspect: failure != nil)
        } catch {
            if case .io = error { DiskFailure(reason: error.description, at: WallClock.now).keep(files) }
            throw error
        }
        if failure != nil {
            // A rebuild costs less than to find out what of them the disk has.
            for path in [files.views, files.newViews] { SmallFile.removeDatabase(path) }
            try DiskFailure.forget(files)
        }
        return failure
    }

    private static func recover(_ files: StoreFiles, isSuspect: Bool) throws(StoreError) {
        let frames = try rewriteWAL(files.log + "-wal")
        guard frames != nil || isSuspect else { return }
        try mapped { () throws(DatabaseError) in
            let connection = try Connection(path: files.log, mode: .write)
            try connection.execute("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 0;")
            let pageSize = Int(try connection.integer("PRAGMA page_size") ?? 4_096)
            let pages = try connection.integer("PRAGMA page_count") ?? 0
            if let frames {
                // Pages that are copied already would not be copied again.
                if isSuspect || connection.backfilledPages() > 0 {
                    try connection.rewrite(pages: frames.pages.sorted(), pageSize: pageSize)
                }
            } else {
                // Another program has copied the WAL: which pages it named is lost.
                try connection.rewrite(pages: 1...UInt32(clamping: max(pages, 1)), pageSize: pageSize)
            }
            // The next start should find the WAL, empty: one that is missing looks as if it had been taken away.
            connection.keepWAL()
            let left = try connection.checkpoint(truncate: true, patience: patience)
            if left.copied < left.wal { try connection.syncDatabase() }
        }
    }

    /// Writes what is committed in the WAL again, as it is; `nil` if nothing is.
    private static func rewriteWAL(_ path: String) throws(StoreError) -> WALInspection? {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .system(path)
        }
        defer { close(descriptor) }
        let wal = try WALInspection(descriptor, path)
        guard wal.end > 0 else { return nil }
        try rewrite(descriptor, count: wal.end, path)
        try SmallFile.syncFolder(of: path)
        return wal
    }

    /// Bytes that are read and written at a time.
    private static let piece = 1 << 20

    /// Writes the first `count` bytes of a file again, as they are, and waits for the disk.
    private static func rewrite(_ descriptor: Int32, count: Int, _ path: String) throws(StoreError) {
        var bytes = [UInt8](repeating: 0, count: min(piece, count))
        var offset = 0
        while offset < count {
            let found = pread(descriptor, &bytes, min(bytes.count, count - offset), offset)
            guard found > 0 else {
                if found < 0, errno == EINTR { continue }
                throw found == 0 ? .io("\(path) has become shorter") : .system(path)
            }
            let written = pwrite(descriptor, bytes, found, offset)
            guard written > 0 else {
                if written < 0, errno == EINTR { continue }
                throw .system(path)
            }
            offset += written
        }
        guard fdatasync(descriptor) == 0 else { throw .failedSync(path) }
    }
}

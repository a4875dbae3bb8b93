internal import CSQLite

/// Makes a connection that copies a WAL back sync what it has copied now and then, not only at the end. A sync of the WAL waits for all
/// that the disk is given before it: pages that come in one piece of some megabytes hold up a commit meanwhile for milliseconds.
///
/// The methods of the database's open file are replaced by a copy with another (https://sqlite.org/c3ref/io_methods.html). It ends
/// when SQLite closes the file.
enum CheckpointPacing {
    private typealias Methods = UnsafePointer<sqlite3_io_methods>

    private struct Paced {
        /// First: SQLite takes the address of the whole for that of its methods.
        var methods: sqlite3_io_methods
        let original: Methods
        /// Pages since the last sync.
        var count = 0
        /// Told of each sync.
        let synced: () -> Void
    }

    /// How many pages are synced at a time.
    private static let most = 64

    /// From now on, for the connection `handle`.
    static func begin(_ handle: OpaquePointer, synced: @escaping () -> Void) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let original = file.pointee.pMethods
        else { return }
        let paced = UnsafeMutablePointer<Paced>.allocate(capacity: 1)
        paced.initialize(to: Paced(methods: original.pointee, original: original, synced: synced))
        paced.pointee.methods.xWrite = { file, page, length, place in
            guard let file, let paced = CheckpointPacing.paced(file) else { return SQLITE_IOERR }
            let original = paced.pointee.original
            let code = original.pointee.xWrite(file, page, length, place)
            paced.pointee.count += 1
            guard code == SQLITE_OK, paced.pointee.count >= CheckpointPacing.most else { return code }
            paced.pointee.count = 0
            let outcome = original.pointee.xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY)
            if outcome == SQLITE_OK { paced.pointee.synced() }
            return outcome
        }
        paced.pointee.methods.xClose = { file in
            guard let file, let paced = CheckpointPacing.paced(file) else { return SQLITE_IOERR }
            let original = paced.pointee.original
            file.pointee.pMethods = original
            paced.deinitialize(count: 1)
            paced.deallocate()
            return original.pointee.xClose(file)
        }
        file.pointee.pMethods = UnsafeRawPointer(paced).assumingMemoryBound(to: sqlite3_io_methods.self)
    }

    private static func paced(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<Paced>? {
        UnsafeMutableRawPointer(mutating: file.pointee.pMethods)?.assumingMemoryBound(to: Paced.self)
    }
}

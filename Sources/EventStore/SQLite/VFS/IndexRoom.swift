internal import CSQLite
internal import Glibc

/// Room for the index of a WAL, `-shm`, before SQLite writes to it.
///
/// SQLite makes it longer by writing one byte for each 4,096, and maps it into memory. Where the blocks of the file system are smaller, the
/// rest is holes: who touches one while the disk is full is ended by the kernel, with SIGBUS.
enum IndexRoom {
    private static let page: off_t = 4_096
    /// Bytes of a part of the index.
    private static let part: Int32 = 32_768

    /// Tells SQLite. To run once in a process.
    static func register() {
        guard let usual = sqlite3_vfs_find(nil), usual.pointee.iVersion >= 3, let set = usual.pointee.xSetSystemCall,
            let get = usual.pointee.xGetSystemCall
        else { return }
        let write: @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int = { file, bytes, count, place in
            if count == 1, place % IndexRoom.page == IndexRoom.page - 1 {
                let code = posix_fallocate(file, place - IndexRoom.page + 1, IndexRoom.page)
                // A file system that cannot do so is written to as it is.
                if code == ENOSPC || code == EDQUOT {
                    errno = code
                    return -1
                }
            }
            return pwrite(file, bytes, count, place)
        }
        for name in ["pwrite", "pwrite64"] where get(usual, name) != nil {
            _ = set(usual, name, unsafeBitCast(write, to: sqlite3_syscall_ptr.self))
        }
    }

    /// Makes the index of a database so long that it has the part of this number. The caller holds the lock of those who write.
    static func extend(_ database: UnsafeMutablePointer<sqlite3_file>?, to part: Int32) -> Int32 {
        guard let database, let map = database.pointee.pMethods?.pointee.xShmMap else { return SQLITE_OK }
        var place: UnsafeMutableRawPointer?
        return map(database, part, Self.part, 1, &place)
    }
}

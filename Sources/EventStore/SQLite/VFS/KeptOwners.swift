internal import CSQLite
internal import Glibc

/// Files whose owner is right already are left alone.
///
/// As root SQLite gives each WAL that it opens the owner of its database. Where it has that owner, the call would change nothing but the
/// time at which anything of the file was changed last, which tells whether another process has written (``ViewsMark``).
enum KeptOwners {
    /// Tells SQLite. To run once in a process.
    static func register() {
        guard let usual = sqlite3_vfs_find(nil), usual.pointee.iVersion >= 3, let set = usual.pointee.xSetSystemCall
        else { return }
        let give: @convention(c) (Int32, uid_t, gid_t) -> Int32 = { file, user, group in
            var entry = stat()
            if fstat(file, &entry) == 0, entry.st_uid == user, entry.st_gid == group { return 0 }
            return fchown(file, user, group)
        }
        _ = set(usual, "fchown", unsafeBitCast(give, to: sqlite3_syscall_ptr.self))
    }
}

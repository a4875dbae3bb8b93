internal import CSQLite
internal import Glibc

/// SQLite's own way to files, but that it sees no rollback journal beside the databases of a store.
///
/// These are in WAL mode, so SQLite leaves no journal there that anything depends on. The log is made whole under another name, and the
/// one transaction with a journal, which takes it into WAL mode, changes a few bytes of one sector. But SQLite looks for one before each
/// first read. What another hand has put there it would play back, or refuse to read at all.
enum JournalBlindness {
    private static let hidden = ["/log.db-journal", "/views.db-journal", "/views.new-journal"]

    /// Registers it with SQLite and gives its name; `nil` for SQLite's own way, should that fail. To run once in a process.
    static func register() -> String? {
        guard let usual = sqlite3_vfs_find(nil) else { return nil }
        let name = "sillok"
        // SQLite keeps both as long as the process lives.
        let copy = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        copy.initialize(to: usual.pointee)
        copy.pointee.zName = UnsafePointer(strdup(name))
        copy.pointee.pNext = nil
        copy.pointee.xAccess = { _, path, flags, answer in
            guard let usual = sqlite3_vfs_find(nil), let look = usual.pointee.xAccess else {
                return SQLITE_IOERR
            }
            if flags == SQLITE_ACCESS_EXISTS, let path, let answer, JournalBlindness.isHidden(path) {
                answer.pointee = 0
                return SQLITE_OK
            }
            return look(usual, path, flags, answer)
        }
        return sqlite3_vfs_register(copy, 0) == SQLITE_OK ? name : nil
    }

    private static func isHidden(_ path: UnsafePointer<CChar>) -> Bool {
        let length = strlen(path)
        return hidden.contains { ending in
            length >= ending.utf8.count && strcmp(path + (length - ending.utf8.count), ending) == 0
        }
    }
}

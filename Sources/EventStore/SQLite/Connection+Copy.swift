internal import CLinux
internal import CSQLite
internal import Glibc

extension Connection {
    /// Copies the database to a new file, as it is in the transaction that is open here: what others write meanwhile is not in the copy,
    /// and does not make the copying begin anew (<https://www.sqlite.org/c3ref/backup_finish.html>).
    ///
    /// - Parameters:
    ///   - isDurable: Whether it is on the disk when this returns.
    ///   - progress: Runs with the pages copied and all pages.
    func copy(
        to path: String, isDurable: Bool = true, _ progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws(DatabaseError) {
        let target = try Connection(path: path, mode: .write)
        if !isDurable { try target.execute("PRAGMA synchronous = OFF") }
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw target.error("backup")
        }
        // What others sync on the same disk waits for all that it was given before: no more than a step's pages.
        let descriptor = isDurable ? open(path, O_RDONLY | O_CLOEXEC) : -1
        defer { if descriptor >= 0 { close(descriptor) } }
        var code = SQLITE_OK
        while code == SQLITE_OK, term?.isCancelled != true {
            code = sqlite3_backup_step(backup, 256)
            // SYNC_FILE_RANGE_WAIT_BEFORE | WRITE | WAIT_AFTER; makes nothing durable, and it does not matter if it fails.
            if descriptor >= 0 { _ = sync_file_range(descriptor, 0, 0, 7) }
            let total = Int(sqlite3_backup_pagecount(backup))
            progress(total - Int(sqlite3_backup_remaining(backup)), total)
        }
        // What the last step said is said again here.
        let isFinished = sqlite3_backup_finish(backup) == SQLITE_OK
        if term?.isCancelled == true { throw .cancelled }
        guard isFinished, code == SQLITE_DONE else { throw target.error("backup") }
    }
}

internal import CSQLite

extension Connection {
    /// Copies the database to a new file, as it is in the transaction that is open here: what others write meanwhile is not in the copy,
    /// and does not make the copying begin anew (<https://www.sqlite.org/c3ref/backup_finish.html>).
    ///
    /// - Parameter progress: Runs with the pages copied and all pages.
    func copy(to path: String, _ progress: (_ done: Int, _ total: Int) -> Void) throws(DatabaseError) {
        let target = try Connection(path: path, mode: .write)
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw target.error("backup")
        }
        var code = SQLITE_OK
        while code == SQLITE_OK {
            code = sqlite3_backup_step(backup, 1_024)
            let total = Int(sqlite3_backup_pagecount(backup))
            progress(total - Int(sqlite3_backup_remaining(backup)), total)
        }
        // What the last step said is said again here.
        guard sqlite3_backup_finish(backup) == SQLITE_OK, code == SQLITE_DONE else { throw target.error("backup") }
    }
}

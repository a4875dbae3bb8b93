internal import Glibc

extension StoreFiles {
    /// Takes the rights of others from what is in the folder. A file that came from elsewhere, as a backup does, has the mode that it
    /// was made with there, and SQLite gives that of a database to what it makes beside it. Where the folder is open to a group, as it
    /// is made for an auditor, so may be what is in it.
    ///
    /// For the holder of the lock. What belongs to another user stays as it is, and `doctor` names it.
    func closeToOthers() {
        var entry = stat()
        // The key is for no group either.
        if lstat(key, &entry) == 0, entry.st_mode & S_IFMT == S_IFREG, entry.st_mode & 0o077 != 0 {
            chmod(key, entry.st_mode & 0o7700)
        }
        guard stat(folder, &entry) == 0 else { return }
        let taken: mode_t = entry.st_mode & 0o050 == 0 ? 0o077 : 0o027
        let databases = [log, views, newViews].flatMap { [$0, $0 + "-wal", $0 + "-shm"] }
        for path in databases + [mark, viewsMark, peers, invitations, laterErasures] {
            // A link leads to what may not be ours.
            guard lstat(path, &entry) == 0, entry.st_mode & S_IFMT == S_IFREG, entry.st_mode & taken != 0 else {
                continue
            }
            chmod(path, entry.st_mode & 0o7777 & ~taken)
        }
    }
}

internal import Glibc

/// Rollback journals beside the databases of a store. The node makes none that lasts, and reads none (``JournalBlindness``); but another
/// program that opens the database would play it back.
///
/// For the holder of the lock, before the databases are opened for writing.
enum StrayJournals {
    /// Takes those of the views away, which can be built anew, and keeps the log's in `evidence`. Returns where that is, if there was
    /// one.
    static func clear(_ files: StoreFiles, at: Int64) throws(StoreError) -> String? {
        for path in [files.views, files.newViews] where unlink(path + "-journal") != 0 && errno != ENOENT {
            _ = try putAside(path + "-journal", files, at)
        }
        return try putAside(files.log + "-journal", files, at)
    }

    /// Takes those away that are kept: they may hold what was erased.
    static func forget(_ files: StoreFiles) throws(StoreError) {
        for name in try SmallFile.names(in: files.evidence) where name.contains("-journal.") {
            let path = files.evidence + "/" + name
            guard unlink(path) == 0 || errno == ENOENT else { throw .system(path) }
        }
    }

    private static func putAside(_ path: String, _ files: StoreFiles, _ at: Int64) throws(StoreError) -> String? {
        var entry = stat()
        guard lstat(path, &entry) == 0 else { return nil }
        guard mkdir(files.evidence, 0o700) == 0 || errno == EEXIST else { throw .system(files.evidence) }
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        var other = "\(files.evidence)/\(name).\(at)"
        // Two within a millisecond: the second must not take the first one's place.
        while lstat(other, &entry) == 0 { other += "+" }
        guard rename(path, other) == 0 else { throw .system(path) }
        return other
    }
}

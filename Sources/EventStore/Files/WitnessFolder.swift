internal import Glibc

extension StoreFiles {
    /// Why a witness in `folder` would be worth little to this store, in the second half of a sentence; `nil` if nothing says so.
    package func weakness(ofWitness folder: String) -> String? {
        if let place = Self.realPath(folder), let own = realFolder, (place + "/").hasPrefix(own + "/") {
            return "is a part of the store: what sets the store back sets it back, too"
        }
        var entry = stat()
        guard stat(folder, &entry) == 0 else { return nil }
        if entry.st_mode & 0o022 != 0 { return "can be written to by others, who can set it back or take it away" }
        // Who looks may be root, or an auditor: what counts is whose the store is.
        var store = stat()
        let owner = stat(self.folder, &store) == 0 ? store.st_uid : geteuid()
        if entry.st_uid != owner, entry.st_uid != 0 {
            return "belongs to another user, who can set it back or take it away"
        }
        return nil
    }

    /// Where the store lies, without links; `nil` if that cannot be told.
    var realFolder: String? { Self.realPath(folder) }

    private static func realPath(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}

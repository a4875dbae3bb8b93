internal import Glibc

/// What may stand under the name of a database or its WAL.
enum DatabaseFile {
    /// Refuses what is there and is no file: a pipe would keep a process that opens it waiting for ever.
    static func require(_ path: String) throws(StoreError) {
        var entry = stat()
        guard stat(path, &entry) == 0, entry.st_mode & S_IFMT != S_IFREG else { return }
        throw .unsafe("\(path) is no file: look at what stands there, and take it away")
    }
}

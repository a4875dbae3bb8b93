internal import Glibc

/// A folder that is removed when it is not needed any more. On disk: views are as large as a third of the log.
final class TemporaryPlace {
    let path: String
    /// The files that go with it.
    private let databases: [String]

    /// Makes one in `TMPDIR`, or else in `/var/tmp`.
    init(_ purpose: String, _ databases: [String] = ["views.db"]) throws(StoreError) {
        self.databases = databases
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        var template = Array("\(folder)/sillok-\(purpose)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .io("\(folder): \(String(cString: strerror(errno)))") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether there is room for a copy of a file, and for a quarter of that besides.
    func hasRoom(forCopyOf file: String) -> Bool {
        var (entry, status) = (stat(), statvfs())
        guard stat(file, &entry) == 0, statvfs(path, &status) == 0 else { return false }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) / 5 * 4 > UInt64(entry.st_size)
    }

    deinit {
        for name in databases { SmallFile.removeDatabase("\(path)/\(name)") }
        rmdir(path)
    }
}

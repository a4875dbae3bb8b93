internal import Glibc

/// A folder that is removed when it is not needed any more. On disk: views are as large as a third of the log.
final class TemporaryPlace {
    let path: String

    /// Makes one in `TMPDIR`, or else in `/var/tmp`.
    init(_ purpose: String) throws(StoreError) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        var template = Array("\(folder)/sillok-\(purpose)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .io("\(folder): \(String(cString: strerror(errno)))") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        SmallFile.removeDatabase(path + "/views.db")
        rmdir(path)
    }
}

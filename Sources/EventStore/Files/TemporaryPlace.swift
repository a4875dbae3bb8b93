internal import Glibc

/// A folder for copies and for views that are built on trial. On disk: views are as large as a third of the log. What a killed process has
/// left there, with payloads in it, the next one takes away.
final class TemporaryPlace {
    /// What needs one.
    enum Purpose: String, CaseIterable {
        case views, log

        fileprivate var prefix: String { "sillok-\(rawValue)-" }
    }

    private let folder: HeldFolder
    var path: String { folder.path }

    private static var parent: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp" }
    private static let prefixes = Purpose.allCases.map(\.prefix)

    /// Makes one in `TMPDIR`, or else in `/var/tmp`.
    init(_ purpose: Purpose) throws(StoreError) {
        folder = try HeldFolder(
            in: Self.parent, prefix: purpose.prefix, clearing: Self.prefixes, empty: Self.empty)
    }

    /// Takes away what killed processes have left: it may have payloads in it that were erased since.
    static func clear() { HeldFolder.clear(parent, prefixes, empty: empty) }

    private static func empty(_ path: String) {
        for name in ["views.db", "found.db", "log.db"] { SmallFile.removeDatabase("\(path)/\(name)") }
    }

    /// Whether there is room for a copy of a file, and for a quarter of that besides.
    func hasRoom(forCopyOf file: String) -> Bool {
        var (entry, status) = (stat(), statvfs())
        guard stat(file, &entry) == 0, statvfs(path, &status) == 0 else { return false }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) / 5 * 4 > UInt64(entry.st_size)
    }
}

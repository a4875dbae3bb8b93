internal import Glibc

/// A folder for what one process needs for a while. It is held while it is used: what a killed process has left, and no erasure would
/// reach, the next one takes away.
package final class HeldFolder {
    package let path: String
    private let lock: Int32
    private let empty: (String) -> Void

    /// Takes away the folders in `parent` whose names begin so, and that no one holds.
    ///
    /// - Parameter empty: Takes away all that such a folder may have in it.
    package static func clear(_ parent: String, _ prefixes: [String], empty: (String) -> Void) {
        for name in (try? SmallFile.names(in: parent)) ?? [] where prefixes.contains(where: name.hasPrefix) {
            let left = "\(parent)/\(name)"
            guard let lock = held(left, LOCK_EX | LOCK_NB) else { continue }
            empty(left)
            rmdir(left)
            close(lock)
        }
    }

    /// Makes one in `parent`, with a name that begins with `prefix`, and clears the folder before (``clear(_:_:empty:)``).
    package init(
        in parent: String, prefix: String, clearing prefixes: [String], empty: @escaping (String) -> Void
    ) throws(StoreError) {
        Self.clear(parent, prefixes, empty: empty)
        while true {
            var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw .system(parent) }
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // Another process may have taken it for one of no one before it was opened, or before it was held.
            guard let lock = Self.held(path, LOCK_EX) else {
                if access(path, F_OK) != 0 { continue }
                throw .system(path)
            }
            if access(path, F_OK) == 0 {
                (self.path, self.lock, self.empty) = (path, lock, empty)
                return
            }
            close(lock)
        }
    }

    deinit {
        empty(path)
        rmdir(path)
        close(lock)
    }

    /// Opens a folder of this user's and holds it; `nil` where that cannot be.
    private static func held(_ path: String, _ how: Int32) -> Int32? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var entry = stat()
        // Another's may be made so that what is taken away from it lies elsewhere.
        guard fstat(descriptor, &entry) == 0, entry.st_uid == geteuid(), flock(descriptor, how) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}

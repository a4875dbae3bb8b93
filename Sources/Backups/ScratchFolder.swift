internal import EventStore
internal import Glibc

/// Where a drill restores to. It is held while it is used: what a killed drill has left, and no erasure would reach, the next one takes away.
final class ScratchFolder {
    let files: StoreFiles
    private let path: String
    private let lock: Int32
    private static let prefix = "sillok-drill-"
    private static let store = "/store"

    /// Makes one in `parent`.
    init(in parent: String) throws(BackupError) {
        for name in (try? SmallFile.names(in: parent)) ?? [] where name.hasPrefix(Self.prefix) {
            Self.clear("\(parent)/\(name)")
        }
        while true {
            var template = Array("\(parent)/\(Self.prefix)XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw .store(.system(parent)) }
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard let lock = Self.held(path, LOCK_EX) else { throw .store(.system(path)) }
            // Another drill may have taken it for one of no one before it was held.
            if access(path, F_OK) == 0 {
                (self.path, self.lock, files) = (path, lock, StoreFiles(path + Self.store))
                return
            }
            close(lock)
        }
    }

    deinit {
        Self.empty(path)
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

    private static func clear(_ path: String) {
        guard let lock = held(path, LOCK_EX | LOCK_NB) else { return }
        empty(path)
        close(lock)
    }

    private static func empty(_ path: String) {
        StoreFolder.remove(path + store)
        StoreFolder.remove(path + store + BackupRestore.suffix)
        rmdir(path)
    }
}

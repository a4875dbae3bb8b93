internal import Glibc

/// The files that a store has open for writing: whether their names still lead to them. What is written to a file that has lost its
/// name is gone when it is closed.
package struct HeldFiles: Sendable {
    private struct Held: Sendable {
        let path: String
        let device: UInt64
        let inode: UInt64
    }

    private let files: [Held]

    /// Of the log and its lock, as they are now: all that are there.
    init(_ store: StoreFiles) {
        self.init([store.log, store.log + "-wal", store.log + "-shm", store.lock])
    }

    package init(_ paths: [String]) { files = paths.compactMap(Self.found) }

    /// What has become of one that is not where it was, in a sentence; `nil` if all are.
    package var loss: String? {
        for file in files {
            guard let now = Self.found(file.path) else {
                // What cannot be looked at now may be there.
                guard errno == ENOENT || errno == ENOTDIR else { continue }
                return "\(file.path) was taken away while it was open"
            }
            guard now.device == file.device, now.inode == file.inode else {
                return "\(file.path) was replaced by another file while it was open"
            }
        }
        return nil
    }

    private static func found(_ path: String) -> Held? {
        var entry = stat()
        guard stat(path, &entry) == 0 else { return nil }
        return Held(path: path, device: UInt64(entry.st_dev), inode: UInt64(entry.st_ino))
    }
}

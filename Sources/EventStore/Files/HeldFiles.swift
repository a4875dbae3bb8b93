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

    /// Refuses a store whose WAL was taken away and is still open in this process: who opens the log now would go by that one's index.
    static func requireNoGoneWAL(_ store: StoreFiles) throws(StoreError) {
        let descriptors = "/proc/self/fd"
        guard let files = store.realFolder.map({ StoreFiles($0) }),
            let names = (try? SmallFile.names(in: descriptors))?.compactMap({ target("\(descriptors)/\($0)") })
        else { return }
        func isOpen(_ ending: String) -> Bool { names.contains { $0.hasSameBytes(as: files.log + ending) } }
        // A store that was closed may hold on to a WAL that is gone, but to no index.
        guard isOpen("-shm"), isOpen("-wal (deleted)"), !isOpen("-wal") else { return }
        throw .lost("\(files.log)-wal was taken away while it was open, and a reader in this process has it still")
    }

    private static func target(_ link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        return count > 0 ? String(validating: bytes[..<count].lazy.map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    private static func found(_ path: String) -> Held? {
        var entry = stat()
        guard stat(path, &entry) == 0 else { return nil }
        return Held(path: path, device: UInt64(entry.st_dev), inode: UInt64(entry.st_ino))
    }
}

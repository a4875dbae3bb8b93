internal import EventStore
internal import Glibc

/// A copy of a database and its log, in a folder that goes away with it. What a killed process has left, the next one takes away.
final class StoreCopy {
    private let folder: HeldFolder
    /// Where the database lies.
    let path: String
    private static let prefix = "sillok-import-"
    private static let name = "/copy"

    /// - Parameter parts: What stands under the name of the database, and under that with an ending.
    init(_ parts: [(ending: String, bytes: ByteReader)]) throws(ImportError) {
        let place = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        do throws(StoreError) {
            folder = try HeldFolder(in: place, prefix: Self.prefix, clearing: [Self.prefix]) { path in
                for ending in ["", "-wal", "-shm"] { unlink(path + Self.name + ending) }
            }
        } catch {
            throw ImportError(.unreadable, place, error.description)
        }
        path = folder.path + Self.name
        for (ending, bytes) in parts { try Self.write(bytes, to: path + ending) }
    }

    private static func write(_ bytes: ByteReader, to target: String) throws(ImportError) {
        let out = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard out >= 0 else { throw ImportError(.unreadable, target, String(cString: strerror(errno))) }
        defer { close(out) }
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        var total: UInt64 = 0
        while true {
            let count = try bytes.fill(&chunk)
            if count == 0 { return }
            let written = chunk.withUnsafeBytes { Glibc.write(out, $0.baseAddress, count) }
            guard written == count else { throw ImportError(.unreadable, target, String(cString: strerror(errno))) }
            total += UInt64(count)
            // A small archive may unpack to what fills the disk: a quarter of the copy is left to others.
            var status = statvfs()
            guard fstatvfs(out, &status) == 0, UInt64(status.f_bavail) * UInt64(status.f_frsize) > total / 4 else {
                throw ImportError(.unreadable, bytes.name, "there is no room for a copy of it at \(target)")
            }
        }
    }
}

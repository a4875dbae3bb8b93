internal import EventStore
internal import Glibc

/// How much of the disk is free, looked up a few times a second however often it is asked for.
///
/// ## Concurrency model
/// One lock around what was found last.
final class DiskGauge: Sendable {
    private static let interval: UInt64 = 200_000_000

    private let folder: String
    private let found = Lock<(free: UInt64?, until: UInt64)>((nil, 0))

    init(_ folder: String) { self.folder = folder }

    /// Free bytes for ordinary users (statvfs(3)); `nil` if the system does not say.
    var free: UInt64? {
        let now = MonotonicClock.now
        return found.withLock { found in
            if now >= found.until { found = (look(), now + Self.interval) }
            return found.free
        }
    }

    /// The length of a file; `nil` if there is none.
    static func size(of path: String) -> Int64? {
        var status = stat()
        return lstat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    private func look() -> UInt64? {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }
}

internal import Glibc

/// Who has a store open for writing, as far as can be told from outside.
package enum StoreHolder: Hashable, Sendable {
    case nobody
    /// What it wrote into the lock file.
    case owner(String)
    /// The lock file may not be read by this user, and the kernel's list of locks does not name it.
    case unknown

    /// Looks at the lock file; where that may not be read, at /proc/locks. A lock that is not listed there may still be held by
    /// a process of another container.
    package init(_ files: StoreFiles) {
        if let owner = StoreLock.owner(files) {
            self = .owner(owner)
        } else if access(files.lock, R_OK) != 0, errno == EACCES || errno == EPERM {
            self = Self.listed(files.lock).map { .owner("a process with pid \($0)") } ?? .unknown
        } else {
            self = .nobody
        }
    }

    /// The process that /proc/locks (proc(5)) names for the file: `1: FLOCK ADVISORY WRITE 4711 08:01:1234 0 EOF`, with device
    /// and inode behind the process.
    private static func listed(_ path: String) -> Int? {
        var entry = stat()
        guard stat(path, &entry) == 0, let bytes = try? SmallFile.read("/proc/locks") else { return nil }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE", let pid = Int(words[4]), pid > 0 else {
                continue
            }
            let place = words[5].split(separator: ":")
            guard place.count == 3, let major = UInt64(place[0], radix: 16), let minor = UInt64(place[1], radix: 16),
                UInt64(place[2]) == UInt64(entry.st_ino), device(major, minor) == UInt64(entry.st_dev)
            else { continue }
            return pid
        }
        return nil
    }

    /// As glibc's makedev(3), which is a macro.
    private static func device(_ major: UInt64, _ minor: UInt64) -> UInt64 {
        (major & 0xffff_f000) << 32 | (major & 0xfff) << 8 | (minor & 0xffff_ff00) << 12 | minor & 0xff
    }
}

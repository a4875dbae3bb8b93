internal import Glibc

/// Who reads an old state of a database, and so keeps its WAL from beginning anew; and who keeps others from writing.
///
/// A reader holds a lock on one byte of the `-shm` file, 123 to 127, which stands for how far into the WAL it sees
/// (https://sqlite.org/walformat.html#wal_locks). The kernel lists all locks with the processes that hold them.
enum WALReaders {
    /// The reader that has been at it for longest, for people; `nil` if none reads.
    ///
    /// - Parameters:
    ///   - path: The database.
    ///   - marks: How far into the WAL the readers of each of the five bytes see; the least is the oldest.
    static func oldest(of path: String, marks: [UInt32] = [], locks: String = "/proc/locks") -> String? {
        var found: [(mark: UInt32, process: Int32)] = []
        for (process, bytes) in processes(of: path, locks: locks, kind: "READ") {
            for byte in 123...127 where bytes.contains(byte) {
                found.append((byte - 123 < marks.count ? marks[byte - 123] : 0, process))
            }
        }
        guard let oldest = found.min(by: { ($0.mark, $0.process) < ($1.mark, $1.process) }) else { return nil }
        return describe(oldest.process)
    }

    /// Who holds the lock of those who write, byte 120, for people; `nil` if none does.
    static func writer(of path: String, locks: String = "/proc/locks") -> String? {
        processes(of: path, locks: locks, kind: "WRITE").first { $0.bytes.contains(120) }.map { describe($0.process) }
    }

    /// The processes that have a lock on the database's `-shm` file.
    private static func processes(
        of path: String, locks: String, kind: String
    ) -> [(process: Int32, bytes: ClosedRange<Int>)] {
        var entry = stat()
        guard stat(path + "-shm", &entry) == 0, let text = try? SmallFile.read(locks, .stream) else { return [] }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
            // 7: POSIX  ADVISORY  READ 4711 08:01:131 124 124
            let words = line.split(separator: " ")
            guard words.count >= 8, words[1] == "POSIX", words[3] == kind, let process = Int32(words[4]),
                words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == UInt64(entry.st_ino),
                let first = Int(words[6]), let last = Int(words[7]), first <= last
            else { return nil }
            return (process, first...last)
        }
    }

    private static func describe(_ process: Int32) -> String {
        // The kernel numbers processes as this one sees them; one that it does not see has none.
        guard process > 0 else { return "a process of another container" }
        if process == getpid() { return "this process itself" }
        let name = (try? SmallFile.read("/proc/\(process)/comm", .stream)).flatMap { bytes in
            bytes.map { String(decoding: $0.prefix { $0 != 0x0a }, as: UTF8.self) }
        }
        return "pid \(process)" + (name.map { " (\($0))" } ?? "")
    }
}

internal import Glibc

/// What stands in a WAL file (https://sqlite.org/fileformat2.html#the_write_ahead_log), read without SQLite: how far it is valid,
/// and what lies behind that.
///
/// SQLite takes the first frame that is not right for the end, which it is after a crash. Where a bit has changed it is
/// not: frames of the same generation, with the salts of the header, follow.
struct WALInspection: Hashable, Sendable {
    static let header = 32
    static let frameHeader = 24

    /// The first frame that is not valid, where it looks like one of this generation.
    struct Bad: Hashable, Sendable {
        /// From 0.
        let number: Int
        /// Whether it says that a commit ends with it.
        let isCommit: Bool
    }

    /// Bytes of the file.
    private(set) var size = 0
    /// Bytes of a page; 0 if it has no header.
    private(set) var pageSize = 0
    /// Where the last valid frame that ends a commit ends, bytes; 0 if nothing is committed.
    private(set) var end = 0
    /// The pages that frames up to there name.
    private(set) var pages: Set<UInt32> = []
    /// Those that valid frames behind it name.
    private var unfinished: Set<UInt32> = []
    /// Valid frames from the start on.
    private(set) var frames = 0
    /// Those of them that end a commit.
    private(set) var commits = 0
    /// Whether the file's own header is damaged.
    private(set) var isHeaderBad = false
    private(set) var bad: Bad?
    /// Frames of this generation behind the bad one, and those of them that end a commit.
    private(set) var framesBehind = 0
    private(set) var commitsBehind = 0

    /// Commits that were written and that SQLite will not see.
    var lostCommits: Int { commitsBehind + (bad?.isCommit == true ? 1 : 0) }

    /// Reads the file; `nil` if there is none.
    init?(path: String) throws(StoreError) {
        try DatabaseFile.require(path)
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw .system(path)
        }
        defer { close(file) }
        try self.init(file, path)
    }

    /// Reads the file behind the descriptor.
    init(_ file: Int32, _ path: String) throws(StoreError) {
        var entry = stat()
        guard fstat(file, &entry) == 0 else { throw .system(path) }
        size = Int(entry.st_size)
        var head = [UInt8](repeating: 0, count: Self.header)
        guard try Self.read(file, &head, at: 0, path) == head.count, head.contains(where: { $0 != 0 }) else { return }
        var scan = Scan(head)
        isHeaderBad = !scan.isHeaderRight
        pageSize = scan.pageSize
        let length = Self.frameHeader + pageSize
        var block = [UInt8](repeating: 0, count: length * max(1, (1 << 20) / length))
        var offset = Self.header
        while true {
            let count = try Self.read(file, &block, at: offset, path) / length
            guard count > 0 else { return }
            for index in 0..<count {
                block.withUnsafeBytes { bytes in
                    take(scan.look(UnsafeRawBufferPointer(rebasing: bytes[index * length..<(index + 1) * length])))
                }
            }
            offset += count * length
        }
    }

    /// A frame by itself: whether the chain of checksums reaches it, and whether its salts are those of this generation.
    private struct Look {
        let page: UInt32
        let isValid: Bool
        let isOurs: Bool
        let isCommit: Bool
    }

    private mutating func take(_ look: Look) {
        if look.isValid {
            frames += 1
            unfinished.insert(look.page)
            if look.isCommit { endCommit() }
        } else if look.isOurs {
            if !isPastEnd {
                bad = Bad(number: frames, isCommit: look.isCommit)
            } else {
                framesBehind += 1
                if look.isCommit { commitsBehind += 1 }
            }
        }
        if !look.isValid { isPastEnd = true }
    }

    private mutating func endCommit() {
        commits += 1
        end = Self.header + frames * (Self.frameHeader + pageSize)
        pages.formUnion(unfinished)
        unfinished.removeAll(keepingCapacity: true)
    }

    private var isPastEnd = false

    /// Reads as much of the file as is there; a file that ends within a frame ends before it.
    private static func read(
        _ file: Int32, _ bytes: inout [UInt8], at offset: Int, _ path: String
    ) throws(StoreError) -> Int {
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                pread(file, buffer.baseAddress.map { $0 + count }, buffer.count - count, off_t(offset + count))
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .system(path) }
            if got == 0 { break }
            count += got
        }
        return count
    }

    /// Follows the chain of checksums.
    private struct Scan {
        private let isBigEndian: Bool
        private var salts: (UInt32, UInt32)
        private var sums: (UInt32, UInt32) = (0, 0)
        private var isChained: Bool
        let isHeaderRight: Bool
        let pageSize: Int

        init(_ head: [UInt8]) {
            let words = head.withUnsafeBytes { bytes in
                (0..<8).map { UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self)) }
            }
            isBigEndian = words[0] & 1 == 1
            let named = Int(words[2])
            let isPageSize = (512...65_536).contains(named) && named.nonzeroBitCount == 1
            // Of a damaged header: the logs of this program have no other.
            pageSize = isPageSize ? named : 4_096
            salts = (words[4], words[5])
            let isBig = isBigEndian
            sums = head.withUnsafeBytes { bytes in
                var sums: (UInt32, UInt32) = (0, 0)
                Self.add(UnsafeRawBufferPointer(rebasing: bytes[0..<24]), &sums, isBig)
                return sums
            }
            isHeaderRight =
                words[0] & ~1 == 0x377f_0682 && words[1] == 3_007_000 && isPageSize && sums == (words[6], words[7])
            isChained = isHeaderRight
        }

        mutating func look(_ frame: UnsafeRawBufferPointer) -> Look {
            func word(_ index: Int) -> UInt32 {
                UInt32(bigEndian: frame.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
            }
            let (page, isCommit) = (word(0), word(1) != 0)
            let own = (word(2), word(3))
            // One salt may be what has changed. Of an earlier generation both are others.
            let isOurs = own != (0, 0) && (own.0 == salts.0 || own.1 == salts.1)
            guard isChained, own == salts, page != 0 else {
                isChained = false
                return Look(page: page, isValid: false, isOurs: isOurs, isCommit: isCommit)
            }
            var sums = sums
            Self.add(UnsafeRawBufferPointer(rebasing: frame[0..<8]), &sums, isBigEndian)
            Self.add(UnsafeRawBufferPointer(rebasing: frame[WALInspection.frameHeader...]), &sums, isBigEndian)
            isChained = sums == (word(4), word(5))
            if isChained { self.sums = sums }
            return Look(page: page, isValid: isChained, isOurs: isOurs, isCommit: isCommit)
        }

        private static func add(
            _ bytes: UnsafeRawBufferPointer, _ sums: inout (UInt32, UInt32), _ isBigEndian: Bool
        ) {
            var (first, second) = sums
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                let one = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let two = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                first &+= (isBigEndian ? UInt32(bigEndian: one) : UInt32(littleEndian: one)) &+ second
                second &+= (isBigEndian ? UInt32(bigEndian: two) : UInt32(littleEndian: two)) &+ first
            }
            sums = (first, second)
        }
    }
}

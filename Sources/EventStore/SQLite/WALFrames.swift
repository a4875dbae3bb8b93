internal import Glibc

/// What SQLite would take from a WAL: its frames up to the last one that commits
/// (https://sqlite.org/fileformat2.html#walformat).
struct WALFrames {
    /// Bytes of a page.
    let pageSize: Int
    /// Where the last frame that commits ends, bytes.
    private(set) var end = 0
    /// The pages that frames up to there name.
    private(set) var pages: Set<UInt32> = []

    private static let headerSize = 32
    private static let frameHeaderSize = 24

    /// Reads the WAL behind `descriptor`; `nil` if nothing is committed in it.
    init?(_ descriptor: Int32) {
        var header = [UInt8](repeating: 0, count: Self.headerSize)
        guard pread(descriptor, &header, header.count, 0) == header.count else { return nil }
        let magic = Self.word(header, 0)
        guard magic & ~1 == 0x377f_0682, Self.word(header, 4) == 3_007_000 else { return nil }
        pageSize = Int(Self.word(header, 8))
        guard (512...65_536).contains(pageSize), pageSize & (pageSize - 1) == 0 else { return nil }
        var sum = Checksum(isBigEndian: magic & 1 == 1)
        header.withUnsafeBytes { sum.add($0, 0..<24) }
        guard sum.first == Self.word(header, 24), sum.second == Self.word(header, 28) else { return nil }

        let size = Self.frameHeaderSize + pageSize
        var frame = [UInt8](repeating: 0, count: size)
        var offset = Self.headerSize
        var unfinished: Set<UInt32> = []
        while pread(descriptor, &frame, size, offset) == size {
            let page = Self.word(frame, 0)
            guard page != 0, frame[8..<16].elementsEqual(header[16..<24]) else { break }
            frame.withUnsafeBytes { bytes in
                sum.add(bytes, 0..<8)
                sum.add(bytes, Self.frameHeaderSize..<size)
            }
            guard sum.first == Self.word(frame, 16), sum.second == Self.word(frame, 20) else { break }
            offset += size
            unfinished.insert(page)
            guard Self.word(frame, 4) != 0 else { continue }
            pages.formUnion(unfinished)
            unfinished.removeAll()
            end = offset
        }
        if end == 0 { return nil }
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The running checksum of a WAL, over pairs of 32-bit words.
    private struct Checksum {
        let isBigEndian: Bool
        var first: UInt32 = 0
        var second: UInt32 = 0

        mutating func add(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
            var (one, two) = (first, second)
            var offset = range.lowerBound
            while offset < range.upperBound {
                let left = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let right = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                one &+= (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ two
                two &+= (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ one
                offset += 8
            }
            (first, second) = (one, two)
        }
    }
}

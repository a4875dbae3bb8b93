/// What stands in the pages of a database beside its rows: between the cells of a page, and in pages that are free. SQLite overwrites a cell
/// that it deletes (`secure_delete`), but not what it leaves when it moves cells from one page to another: there copies stay of rows whose
/// payload is erased later (INV-11).
///
/// Works on the file, past SQLite's pages: what is overwritten belongs to nothing. To be changed only by the one that writes the database,
/// while the WAL is empty. sqlite.org/fileformat2.html has the parts.
struct SlackPages {
    private static let leafOfTable: UInt8 = 0x0d
    /// From here on the number of the next page, which an overflow page begins with, may look like the kind of a page.
    private static let most = Int64(0x0d) << 24
    /// Bytes that are read at a time.
    private static let piece = 1 << 20

    private let connection: Connection
    private let size: Int
    private let count: Int64
    /// Pages that belong to no table, and those that list them.
    private let free: Set<Int64>
    private let trunks: Set<Int64>

    /// Reads what the file says of itself.
    init(_ connection: Connection) throws(DatabaseError) {
        self.connection = connection
        let header = try Self.bytes(100, at: 0, connection)
        let stated = header.withUnsafeBytes { $0.half(16) }
        size = stated == 1 ? 65_536 : max(stated, 512)
        count = try connection.fileSize() / Int64(size)
        var (free, trunks): (Set<Int64>, Set<Int64>) = ([], [])
        var next = Int64(header.withUnsafeBytes { $0.word(32) })
        while next > 0, next <= count, trunks.insert(next).inserted {
            let page = try Self.bytes(size, at: (next - 1) * Int64(size), connection)
            page.withUnsafeBytes { page in
                for index in 0..<min(page.word(4), page.count / 4 - 2) {
                    free.insert(Int64(page.word(8 + 4 * index)))
                }
                next = Int64(page.word(0))
            }
        }
        (self.free, self.trunks) = (free, trunks)
    }

    private static func bytes(
        _ count: Int, at offset: Int64, _ connection: Connection
    ) throws(DatabaseError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try read(&bytes, count, at: offset, connection)
        return bytes
    }

    private static func read(
        _ bytes: inout [UInt8], _ count: Int, at offset: Int64, _ connection: Connection
    ) throws(DatabaseError) {
        let failure = bytes.withUnsafeMutableBytes { buffer -> DatabaseError? in
            do throws(DatabaseError) {
                try connection.readFile(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    /// The pages that have something in their slack. Reads the file.
    ///
    /// - Parameter goesOn: Asked now and then; if not, it ends with what was found.
    func find(_ goesOn: () -> Bool) throws(DatabaseError) -> [Int64] {
        var found: [Int64] = []
        let pages = max(Self.piece / size, 1)
        var buffer = [UInt8](repeating: 0, count: pages * size)
        var first: Int64 = 1
        while first <= count, goesOn() {
            let taken = Int(min(Int64(pages), count - first + 1))
            try Self.read(&buffer, taken * size, at: (first - 1) * Int64(size), connection)
            buffer.withUnsafeBytes { bytes in
                for index in 0..<taken {
                    let page = UnsafeRawBufferPointer(rebasing: bytes[index * size..<(index + 1) * size])
                    if !slack(first + Int64(index), page).isEmpty { found.append(first + Int64(index)) }
                }
            }
            first += Int64(taken)
        }
        return found
    }

    /// Overwrites the slack of these pages, durably.
    func clear(_ pages: [Int64]) throws(DatabaseError) {
        let zeros = [UInt8](repeating: 0, count: size)
        for page in pages where page > 0 && page <= count {
            let offset = (page - 1) * Int64(size)
            let bytes = try Self.bytes(size, at: offset, connection)
            for range in bytes.withUnsafeBytes({ slack(page, $0) }) {
                try connection.writeFile(zeros[..<range.count], at: offset + Int64(range.lowerBound))
            }
        }
        try connection.syncDatabase()
    }

    /// Where the page has bytes that are not zero and belong to nothing.
    private func slack(_ page: Int64, _ bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        if free.contains(page) {
            ranges = [0..<size]
        } else if trunks.contains(page) {
            ranges = [min(size, 8 + 4 * bytes.word(4))..<size]
        } else if count < Self.most, page > 1, bytes[0] == Self.leafOfTable {
            ranges = gaps(bytes)
        }
        return ranges.filter { range in bytes[range].contains { $0 != 0 } }
    }

    /// Between the list of a leaf's cells and the first cell, and in the blocks between cells; none where that is not sound.
    private func gaps(_ bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        let start = 8 + 2 * bytes.half(3)
        let end = bytes.half(5) == 0 ? 65_536 : bytes.half(5)
        guard start <= end, end <= size else { return [] }
        var ranges = [start..<end]
        var block = bytes.half(1)
        while block != 0 {
            guard block >= end, block + 4 <= size else { return [] }
            let (next, length) = (bytes.half(block), bytes.half(block + 2))
            guard length >= 4, block + length <= size, next == 0 || next > block else { return [] }
            ranges.append(block + 4..<block + length)
            block = next
        }
        return ranges
    }
}

extension LogReader {
    /// The pages of the file that have bytes which belong to nothing.
    func slackPages(_ goesOn: () -> Bool = { true }) throws(StoreError) -> [Int64] {
        try mapped { () throws(DatabaseError) in try SlackPages(connection).find(goesOn) }
    }
}

extension UnsafeRawBufferPointer {
    /// Two bytes, the most significant first.
    fileprivate func half(_ offset: Int) -> Int { Int(self[offset]) << 8 | Int(self[offset + 1]) }
    /// Four.
    fileprivate func word(_ offset: Int) -> Int { half(offset) << 16 | half(offset + 2) }
}

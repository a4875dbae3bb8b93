/// Numbers of SQLite's file format (sqlite.org/fileformat2.html): varints, serial types, and one b-tree page being filled.
enum PageFormat {
    static let leafTable: UInt8 = 0x0d
    static let interiorTable: UInt8 = 0x05
    static let leafIndex: UInt8 = 0x0a
    static let interiorIndex: UInt8 = 0x02

    /// The page that a cell of an interior page names.
    static func child(_ cell: [UInt8]) -> UInt32 { cell[..<4].reduce(0) { $0 << 8 | UInt32($1) } }

    /// Bytes of `value` as SQLite's varint: seven bits a byte, most significant first, eight in the ninth byte.
    @inline(__always)
    static func varintSize(_ value: UInt64) -> Int {
        if value < 0x80 { return 1 }
        if value < 0x4000 { return 2 }
        if value < 0x20_0000 { return 3 }
        let bits = 64 - value.leadingZeroBitCount
        return bits > 56 ? 9 : (bits + 6) / 7
    }

    /// Writes a varint and returns where it ends.
    @inline(__always)
    static func putVarint(_ value: UInt64, _ out: UnsafeMutableRawPointer, _ index: Int) -> Int {
        if value < 0x80 {
            out.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: index, as: UInt8.self)
            return index + 1
        }
        let count = varintSize(value)
        var rest = value
        var at = index + count - 1
        if count == 9 {
            out.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: at, as: UInt8.self)
            rest >>= 8
            at -= 1
        }
        var more: UInt8 = count == 9 ? 0x80 : 0
        while at >= index {
            out.storeBytes(of: UInt8(truncatingIfNeeded: rest) & 0x7f | more, toByteOffset: at, as: UInt8.self)
            rest >>= 7
            more = 0x80
            at -= 1
        }
        return index + count
    }

    /// The serial type of an integer and how many bytes it takes in a record.
    @inline(__always)
    static func integer(_ value: Int64) -> (type: UInt8, bytes: Int) {
        if value == 0 { return (8, 0) }
        if value == 1 { return (9, 0) }
        if value == Int64(Int8(truncatingIfNeeded: value)) { return (1, 1) }
        if value == Int64(Int16(truncatingIfNeeded: value)) { return (2, 2) }
        if value >= -0x80_0000, value < 0x80_0000 { return (3, 3) }
        if value == Int64(Int32(truncatingIfNeeded: value)) { return (4, 4) }
        if value >= -0x8000_0000_0000, value < 0x8000_0000_0000 { return (5, 6) }
        return (6, 8)
    }

    /// Writes the last `bytes` bytes of an integer, most significant first, and returns where they end.
    @inline(__always)
    static func putInteger(_ value: Int64, bytes: Int, _ out: UnsafeMutableRawPointer, _ index: Int) -> Int {
        var shift = bytes * 8
        var at = index
        while shift > 0 {
            shift -= 8
            out.storeBytes(of: UInt8(truncatingIfNeeded: value >> Int64(shift)), toByteOffset: at, as: UInt8.self)
            at += 1
        }
        return at
    }
}

/// A b-tree page while it is being filled: cells from the end of the page down, their offsets from the front up.
struct TreePage {
    private(set) var bytes = [UInt8](repeating: 0, count: PageFile.pageSize)
    private(set) var cells = 0
    private let headerSize: Int
    private var content = PageFile.pageSize
    private var starts: [UInt16] = []

    init(isLeaf: Bool) { headerSize = isLeaf ? 8 : 12 }

    func fits(_ count: Int) -> Bool { content - (headerSize + 2 * cells) >= count + 2 }

    mutating func push(_ cell: UnsafeRawBufferPointer) {
        content -= cell.count
        bytes.withUnsafeMutableBytes { page in
            UnsafeMutableRawBufferPointer(rebasing: page[content..<content + cell.count]).copyMemory(from: cell)
        }
        starts.append(UInt16(truncatingIfNeeded: content))
        cells += 1
    }

    /// Takes the last cell off again.
    mutating func pop() -> [UInt8] {
        starts.removeLast()
        let end = starts.last.map(Int.init) ?? PageFile.pageSize
        defer {
            content = end
            cells -= 1
        }
        return Array(bytes[content..<end])
    }

    /// Writes the page's header, puts the page at the end of `file` or, if it is a tree's topmost one, where the tree hangs, and empties
    /// it. Its number.
    mutating func close(
        type: UInt8, rightmost: UInt32? = nil, in file: PageFile, root: UInt32? = nil
    ) throws(DatabaseError) -> UInt32 {
        bytes[0] = type
        put16(0, at: 1)
        put16(cells, at: 3)
        put16(content, at: 5)
        bytes[7] = 0
        if let rightmost { bytes.putBigEndian(rightmost, at: 8) }
        for (index, start) in starts.enumerated() { put16(Int(start), at: headerSize + 2 * index) }
        // What an earlier page or a cell that was taken off left between the two.
        for index in headerSize + 2 * cells..<content { bytes[index] = 0 }
        let number: UInt32
        if let root {
            try file.setRoot(root, bytes)
            number = root
        } else {
            number = try file.append(bytes)
        }
        starts.removeAll(keepingCapacity: true)
        cells = 0
        content = PageFile.pageSize
        return number
    }

    private mutating func put16(_ value: Int, at index: Int) {
        bytes[index] = UInt8(truncatingIfNeeded: value >> 8)
        bytes[index + 1] = UInt8(truncatingIfNeeded: value)
    }
}

internal import EventStore

/// The table of a ZIP archive (PKWARE APPNOTE 6.3.10, with ZIP64), and its entries by name. Nothing is unpacked to disk.
///
/// Refused are entries that overlap, have a name that leads out of the archive, are encrypted or packed in another way than deflate,
/// and tables that name more than a million of them.
final class ZipArchive {
    struct Entry {
        let name: String
        let method: Int
        let sum: UInt32
        let packed: Int
        let size: Int
        let offset: Int
    }

    private static let mostEntries = 1_000_000
    /// Most bytes that all entries together unpack to.
    private static let mostBytes = 1 << 40

    private let file: OpenFile
    private let path: String
    let entries: [ByteText: Entry]

    init(_ file: OpenFile, path: String) throws(ImportError) {
        self.file = file
        self.path = path
        let (offset, count, size) = try Self.directory(file, path)
        guard count <= Self.mostEntries, size <= 512 << 20 else {
            throw ImportError(.malformed, path, "the archive has more than \(Self.mostEntries) entries")
        }
        var rest = LittleEndian(try file.bytes(offset..<offset + size, path), path)
        var entries: [ByteText: Entry] = [:]
        var total = 0
        for _ in 0..<count {
            guard let entry = try Self.entry(&rest) else { continue }
            guard entries.updateValue(entry, forKey: ByteText(entry.name)) == nil else {
                throw ImportError(.malformed, path, "two entries have the name \(entry.name)")
            }
            total += entry.size
            guard total <= Self.mostBytes else {
                throw ImportError(.malformed, path, "the archive unpacks to more than \(Self.mostBytes) bytes")
            }
        }
        var end = 0
        for entry in entries.values.sorted(by: { $0.offset < $1.offset }) {
            guard entry.offset >= end else {
                throw ImportError(.malformed, path, "entry \(entry.name) overlaps another one")
            }
            end = entry.offset + 30 + entry.packed
        }
        guard end <= offset else { throw ImportError(.malformed, path, "the archive's entries reach into its table") }
        self.entries = entries
    }

    func reader(_ entry: Entry) throws(ImportError) -> ByteReader {
        let name = path + "/" + entry.name
        var header = LittleEndian(try file.bytes(entry.offset..<entry.offset + 30, name), name)
        guard try header.number(4) == 0x0403_4b50 else {
            throw ImportError(.malformed, name, "no entry stands there")
        }
        try header.skip(22)
        let start = entry.offset + 30 + (try header.number(2)) + (try header.number(2))
        guard start + entry.packed <= file.size else { throw ImportError(.malformed, name, "it ends too early") }
        let packed = FileReader(file, range: start..<start + entry.packed, name: name)
        return try EntryReader(
            packed, isDeflated: entry.method == 8, size: entry.size, sum: entry.sum, name: name)
    }

    /// Where the table stands: its offset, how many entries it has, and its bytes.
    private static func directory(_ file: OpenFile, _ path: String) throws(ImportError) -> (Int, Int, Int) {
        let start = max(0, file.size - 22 - 0xffff)
        let tail = try file.bytes(start..<file.size, path)
        var place = tail.count - 22
        while place >= 0, !tail[place...].starts(with: [0x50, 0x4b, 5, 6]) { place -= 1 }
        guard place >= 0 else {
            throw ImportError(.malformed, path, "the archive has no table at its end: it was cut off")
        }
        var end = LittleEndian(Array(tail[place...]), path)
        try end.skip(10)
        var count = try end.number(2)
        var size = try end.number(4)
        var offset = try end.number(4)
        if count == 0xffff || size == 0xffff_ffff || offset == 0xffff_ffff, place >= 20,
            tail[(place - 20)...].starts(with: [0x50, 0x4b, 6, 7])
        {
            var locator = LittleEndian(Array(tail[(place - 20)...]), path)
            try locator.skip(8)
            let at = try locator.number(8)
            guard at <= file.size - 56 else { throw ImportError(.malformed, path, "the archive's table is damaged") }
            var large = LittleEndian(try file.bytes(at..<at + 56, path), path)
            guard try large.number(4) == 0x0606_4b50 else {
                throw ImportError(.malformed, path, "the archive's table is damaged")
            }
            try large.skip(28)
            count = try large.number(8)
            size = try large.number(8)
            offset = try large.number(8)
        }
        guard offset <= file.size, size <= file.size - offset, count <= size / 46 else {
            throw ImportError(.malformed, path, "the archive's table is damaged")
        }
        return (offset, count, size)
    }

    private static func entry(_ rest: inout LittleEndian) throws(ImportError) -> Entry? {
        guard try rest.number(4) == 0x0201_4b50 else {
            throw ImportError(.malformed, rest.name, "the archive's table is damaged")
        }
        try rest.skip(4)
        let flags = try rest.number(2)
        let method = try rest.number(2)
        try rest.skip(4)
        let sum = UInt32(truncatingIfNeeded: try rest.number(4))
        var packed = try rest.number(4)
        var size = try rest.number(4)
        let (nameLength, extraLength, commentLength) = (try rest.number(2), try rest.number(2), try rest.number(2))
        try rest.skip(4)
        let mode = try rest.number(4) >> 16
        var offset = try rest.number(4)
        let rawName = try rest.bytes(nameLength)
        var extra = LittleEndian(try rest.bytes(extraLength), rest.name)
        try rest.skip(commentLength)
        while extra.count >= 4 {
            let (kind, length) = (try extra.number(2), try extra.number(2))
            guard length <= extra.count else { break }
            var field = LittleEndian(try extra.bytes(length), rest.name)
            guard kind == 1 else { continue }
            if size == 0xffff_ffff { size = try field.number(8) }
            if packed == 0xffff_ffff { packed = try field.number(8) }
            if offset == 0xffff_ffff { offset = try field.number(8) }
        }
        guard let name = String(validating: rawName, as: UTF8.self) else {
            let shown = String(decoding: rawName.prefix(80), as: UTF8.self)
            throw ImportError(
                .malformed, rest.name, "the name '\(shown)' of an entry is not UTF-8; unpack it and import the folder"
            )
        }
        guard isSafe(name) else {
            throw ImportError(
                .malformed, rest.name, "the name '\(name.prefix(80))' of an entry leads out of the archive")
        }
        if name.hasSuffix("/") { return nil }
        guard mode & 0xf000 != 0xa000 else {
            throw ImportError(.malformed, rest.name, "entry \(name) is a symbolic link; those are not followed")
        }
        guard flags & 1 == 0 else { throw ImportError(.malformed, rest.name, "entry \(name) is encrypted") }
        guard method == 0 || method == 8 else {
            throw ImportError(
                .malformed, rest.name,
                "entry \(name) is packed in a way (\(method)) that is not read; pack it with deflate")
        }
        // Deflate makes at most 1,032 bytes of one.
        guard size / 1_040 <= packed else {
            throw ImportError(.malformed, rest.name, "entry \(name) unpacks to more than it can")
        }
        return Entry(name: name, method: method, sum: sum, packed: packed, size: size, offset: offset)
    }

    private static func isSafe(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.first != UInt8(ascii: "/")
            && !name.utf8.contains { $0 < 0x20 || $0 == UInt8(ascii: "\\") }
            && !name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropLast().contains {
                $0.isEmpty || $0.elementsEqual("..".utf8) || $0.elementsEqual(".".utf8)
            }
            && !name.utf8.reversed().starts(with: "../".utf8) && name != ".."
    }
}

/// Numbers of a file, least significant byte first.
private struct LittleEndian {
    private var rest: ArraySlice<UInt8>
    let name: String

    init(_ bytes: [UInt8], _ name: String) {
        rest = bytes[...]
        self.name = name
    }

    var count: Int { rest.count }

    mutating func bytes(_ count: Int) throws(ImportError) -> [UInt8] {
        guard count <= rest.count else { throw ImportError(.malformed, name, "the archive's table is damaged") }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func skip(_ count: Int) throws(ImportError) { _ = try bytes(count) }

    /// A number that a file can have as a size.
    mutating func number(_ count: Int) throws(ImportError) -> Int {
        let value = try bytes(count).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard value < 1 << 48 else { throw ImportError(.malformed, name, "the archive's table is damaged") }
        return Int(value)
    }
}

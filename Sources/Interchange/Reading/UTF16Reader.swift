/// Text in UTF-16, behind its mark, as UTF-8.
final class UTF16Reader: ByteReader {
    private let reader: ByteReader
    private let isBigEndian: Bool
    /// Half a unit, or half a pair.
    private var rest: [UInt8] = []
    private var out: ArraySlice<UInt8> = []
    private var isAtEnd = false
    /// The line that was reached, from 1.
    private var line = 1

    init(_ reader: ByteReader, isBigEndian: Bool) {
        (self.reader, self.isBigEndian) = (reader, isBigEndian)
        super.init(reader.name)
    }

    override func read(into room: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
        while out.isEmpty, !isAtEnd { try fill() }
        let count = min(out.count, room.count)
        room.copyBytes(from: out.prefix(count))
        out = out.dropFirst(count)
        return count
    }

    private func fill() throws(ImportError) {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        let added = try reader.fill(&chunk)
        isAtEnd = added == 0
        rest += chunk.prefix(added)
        var units = stride(from: 0, to: rest.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(rest[index]), UInt16(rest[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        if !isAtEnd, let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
        rest.removeFirst(units.count * 2)
        guard !isAtEnd || rest.isEmpty, let text = String(validating: units, as: UTF16.self) else {
            count(units[..<(units.indices.first { Self.isHalf(units, $0) } ?? units.endIndex)])
            throw ImportError(.malformed, name, at: "line \(line)", "it begins as UTF-16 does, and is none")
        }
        count(units[...])
        out = Array(text.utf8)[...]
    }

    private func count(_ units: ArraySlice<UInt16>) { line += units.reduce(0) { $0 + ($1 == 0x0a ? 1 : 0) } }

    /// Whether a unit is half of a pair whose other half is not beside it.
    private static func isHalf(_ units: [UInt16], _ index: Int) -> Bool {
        if UTF16.isLeadSurrogate(units[index]) {
            return index + 1 == units.count || !UTF16.isTrailSurrogate(units[index + 1])
        }
        return UTF16.isTrailSurrogate(units[index]) && (index == 0 || !UTF16.isLeadSurrogate(units[index - 1]))
    }
}

/// Takes decisions from the bytes of an input, one after another. At the end everything is zero.
struct Script {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func below(_ limit: Int) -> Int { Int(byte()) % limit }

    mutating func bool() -> Bool { byte() & 1 == 1 }

    /// Small numbers, or the extremes where arithmetic breaks.
    mutating func number() -> UInt64 {
        let byte = byte()
        return switch byte {
        case 0..<0xe0: UInt64(byte)
        case 0xe0..<0xf0: 1 << UInt64(4 * (byte & 15) + 3)
        case 0xf0..<0xfc: (0..<8).reduce(0) { value, _ in value << 8 | UInt64(self.byte()) }
        case 0xfc: UInt64(Int64.max)
        case 0xfd: UInt64(bitPattern: Int64.min)
        case 0xfe: .max - 1
        default: .max
        }
    }

    /// Up to 255 bytes of the input, as many as its next byte says.
    mutating func bytes() -> [UInt8] {
        let taken = rest.prefix(Int(byte()))
        rest = rest.dropFirst(taken.count)
        return Array(taken)
    }

    /// All that is left.
    mutating func remainder() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}

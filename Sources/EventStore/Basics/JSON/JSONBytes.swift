/// Bytes that JSON text stands in. Every access is checked.
package protocol JSONBytes: RandomAccessCollection where Element == UInt8, Index == Int {
    /// The eight bytes from `offset` on, the first of them lowest.
    func eightBytes(at offset: Int) -> UInt64
}

extension JSONBytes {
    /// At most eight bytes, `count` of them if it is less, the first lowest.
    @inline(__always)
    func word(at offset: Int, count: Int) -> UInt64 {
        if count >= 8 { return eightBytes(at: offset) }
        if offset + 8 <= self.count { return eightBytes(at: offset) & ~(.max << UInt64(count * 8)) }
        var word = UInt64(0)
        for index in 0..<count { word |= UInt64(self[offset + index]) << UInt64(index * 8) }
        return word
    }
}

extension [UInt8]: JSONBytes {
    @inline(__always)
    package func eightBytes(at offset: Int) -> UInt64 {
        UInt64(littleEndian: span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}

/// Bytes somewhere in memory, which must stay there meanwhile.
struct ByteView: JSONBytes {
    private let start: UnsafeRawPointer?
    let count: Int

    init(_ bytes: UnsafeRawBufferPointer) {
        start = bytes.baseAddress
        count = bytes.count
    }

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    @inline(__always)
    private func place(_ index: Int, _ size: Int) -> UnsafeRawPointer {
        guard let start, index >= 0, size <= count, index <= count - size else {
            preconditionFailure("beyond the bytes")
        }
        return start + index
    }

    @inline(__always)
    subscript(index: Int) -> UInt8 { place(index, 1).load(as: UInt8.self) }

    @inline(__always)
    func eightBytes(at offset: Int) -> UInt64 {
        UInt64(littleEndian: place(offset, 8).loadUnaligned(as: UInt64.self))
    }
}

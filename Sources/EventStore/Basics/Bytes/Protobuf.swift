extension [UInt8] {
    /// LEB128, least significant group first, as Protocol Buffers have it.
    mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

/// Small numbers of either sign as small unsigned ones (Protocol Buffers, "Signed Integers").
func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }

func unzigzag(_ value: UInt64) -> Int64 { Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }

extension UnsafeRawBufferPointer {
    /// The LEB128 number at `offset`, which moves behind it; `nil` if it does not end.
    func varint(at offset: inout Int) -> UInt64? {
        var value = UInt64(0)
        var shift = UInt64(0)
        while offset < count, shift < 64 {
            let byte = self[offset]
            offset += 1
            value |= UInt64(byte & 127) << shift
            if byte < 128 { return value }
            shift += 7
        }
        return nil
    }
}

/// Writes Protocol Buffers wire format (protobuf.dev, "Encoding"), fields in the order of the calls. Zero and
/// empty values are left out, as proto3 does.
package struct ProtobufWriter {
    package var bytes: [UInt8] = []

    package init() {}

    package mutating func varint(_ value: UInt64) { bytes.appendVarint(value) }

    package mutating func uint(_ field: UInt64, _ value: UInt64) {
        guard value != 0 else { return }
        varint(field << 3)
        varint(value)
    }

    /// Zigzag; written even when zero: for `optional sint64`.
    package mutating func presentSint(_ field: UInt64, _ value: Int64) {
        varint(field << 3)
        varint(zigzag(value))
    }

    package mutating func fixed64(_ field: UInt64, _ value: UInt64) {
        guard value != 0 else { return }
        varint(field << 3 | 1)
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func data(_ field: UInt64, _ value: [UInt8]) {
        data(field, value[...])
    }

    package mutating func data(_ field: UInt64, _ value: ArraySlice<UInt8>) {
        guard !value.isEmpty else { return }
        varint(field << 3 | 2)
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// Written even when empty: for elements of a repeated field.
    package mutating func presentData(_ field: UInt64, _ value: [UInt8]) {
        varint(field << 3 | 2)
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    package mutating func text(_ field: UInt64, _ value: String) {
        guard !value.isEmpty else { return }
        varint(field << 3 | 2)
        let utf8 = value.utf8
        varint(UInt64(utf8.count))
        bytes.append(contentsOf: utf8)
    }

    /// A nested message.
    package mutating func message(_ field: UInt64, _ write: (inout ProtobufWriter) -> Void) {
        var inner = ProtobufWriter()
        write(&inner)
        presentData(field, inner.bytes)
    }
}

/// Why bytes are not the message they should be.
package enum ProtobufError: Error, Hashable {
    case truncated
    case overlongVarint
    case wrongWireType(field: UInt64)
    case wrongLength(field: UInt64)
    case notUTF8(field: UInt64)
    case fieldOrder(field: UInt64)
    case missing(field: UInt64)
    /// A number over its bound.
    case outOfRange(field: UInt64)
}

/// Reads Protocol Buffers wire format from a range of an array. Lengths are checked against what is there before
/// anything is allocated.
package struct ProtobufReader {
    package let bytes: [UInt8]
    package private(set) var index: Int
    package let end: Int

    package init(_ bytes: [UInt8]) {
        self.init(bytes, 0..<bytes.count)
    }

    package init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        index = range.lowerBound
        end = range.upperBound
    }

    package enum Value {
        case varint(UInt64)
        case fixed64(UInt64)
        case bytes(Range<Int>)
        case fixed32(UInt32)
    }

    /// The next field and its value; `nil` at the end.
    package mutating func next() throws(ProtobufError) -> (field: UInt64, value: Value)? {
        guard index < end else { return nil }
        let key = try varint()
        let field = key >> 3
        guard field != 0 else { throw .wrongWireType(field: 0) }
        switch key & 7 {
        case 0: return (field, .varint(try varint()))
        case 1: return (field, .fixed64(UInt64(littleEndian: try load(as: UInt64.self))))
        case 2:
            let count = try varint()
            guard count <= UInt64(end - index) else { throw .truncated }
            let start = index
            index += Int(count)
            return (field, .bytes(start..<index))
        case 5: return (field, .fixed32(UInt32(littleEndian: try load(as: UInt32.self))))
        default: throw .wrongWireType(field: field)
        }
    }

    private mutating func load<T: FixedWidthInteger>(as type: T.Type) throws(ProtobufError) -> T {
        let count = MemoryLayout<T>.size
        guard end - index >= count else { throw .truncated }
        let start = index
        index += count
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: T.self) }
    }

    package mutating func varint() throws(ProtobufError) -> UInt64 {
        var value = UInt64(0)
        var shift = UInt64(0)
        while index < end {
            let byte = bytes[index]
            index += 1
            if shift == 63, byte > 1 { throw .overlongVarint }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 {
                if byte == 0, shift > 0 { throw .overlongVarint }
                return value
            }
            shift += 7
            if shift > 63 { throw .overlongVarint }
        }
        throw .truncated
    }
}

extension ProtobufReader.Value {
    package func uint(_ field: UInt64) throws(ProtobufError) -> UInt64 {
        guard case .varint(let value) = self else { throw .wrongWireType(field: field) }
        return value
    }

    package func sint(_ field: UInt64) throws(ProtobufError) -> Int64 {
        let value = try uint(field)
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    package func fixed64(_ field: UInt64) throws(ProtobufError) -> UInt64 {
        guard case .fixed64(let value) = self else { throw .wrongWireType(field: field) }
        return value
    }

    package func range(_ field: UInt64) throws(ProtobufError) -> Range<Int> {
        guard case .bytes(let range) = self else { throw .wrongWireType(field: field) }
        return range
    }
}

extension ProtobufReader {
    package func data(_ value: Value, _ field: UInt64) throws(ProtobufError) -> [UInt8] {
        Array(bytes[try value.range(field)])
    }

    package func text(_ value: Value, _ field: UInt64) throws(ProtobufError) -> String {
        guard let text = String(validating: bytes[try value.range(field)], as: UTF8.self) else {
            throw .notUTF8(field: field)
        }
        return text
    }

    package func message(_ value: Value, _ field: UInt64) throws(ProtobufError) -> ProtobufReader {
        ProtobufReader(bytes, try value.range(field))
    }
}

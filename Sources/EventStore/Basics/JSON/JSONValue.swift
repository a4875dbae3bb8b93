/// One JSON value read in place. Each getter answers `nil` when the value is of another kind.
package struct JSONValue {
    package let bytes: [UInt8]
    /// Where the value stands, without blanks around it.
    package let range: Range<Int>

    /// The value at `range` of bytes that a scanner has passed before.
    package init(bytes: [UInt8], range: Range<Int>) { (self.bytes, self.range) = (bytes, range) }

    package enum Kind: Hashable {
        case object, array, string, number, bool, null
    }

    package var kind: Kind? {
        switch first {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
        case UInt8(ascii: "n"): .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): .number
        default: nil
        }
    }

    private var first: UInt8 { range.isEmpty ? 0 : bytes[range.lowerBound] }

    /// The value byte for byte.
    package var raw: ArraySlice<UInt8> { bytes[range] }

    /// The decoded text of a string.
    package var string: String? { stringRange.map { JSONText.string($0, of: bytes) } }

    /// As ``string``; `nil` also where half of a surrogate pair stands in it, which no text has.
    package var text: String? {
        guard let range = stringRange, !JSONText.hasLoneSurrogate(range, of: bytes) else { return nil }
        return JSONText.string(range, of: bytes)
    }

    var stringRange: JSONStringRange? {
        guard kind == .string, range.count >= 2 else { return nil }
        let inside = range.lowerBound + 1..<range.upperBound - 1
        return JSONStringRange(range: inside, isEscaped: bytes[inside].contains(UInt8(ascii: "\\")))
    }

    /// A number as it is written: JSON sets no limit to its size or precision.
    package var numberText: String? { kind == .number ? String(decoding: raw, as: UTF8.self) : nil }

    /// A number written without fraction and exponent that fits 64 bits.
    package var integer: Int64? {
        guard kind == .number else { return nil }
        let isNegative = first == UInt8(ascii: "-")
        var value = Int64(0)
        for byte in isNegative ? raw.dropFirst() : raw {
            guard isDigit(byte) else { return nil }
            let digit = Int64(byte - UInt8(ascii: "0"))
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (next, overflow2) =
                isNegative ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
            if overflow || overflow2 { return nil }
            value = next
        }
        return value
    }

    /// A number as the nearest `Double`; infinite when it is too large.
    package var double: Double? { numberText.flatMap { Double($0) } }

    package var bool: Bool? {
        switch first {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    package var isNull: Bool { kind == .null }

    package var object: JSONObject? { kind == .object ? JSONObject(bytes: bytes, range: range) : nil }

    /// The elements of an array.
    package var elements: [JSONValue]? {
        guard kind == .array else { return nil }
        var scanner = JSONScanner(bytes, range)
        var out: [JSONValue] = []
        do throws(JSONError) {
            scanner.index += 1
            scanner.skipBlanks()
            while scanner.index < scanner.end, scanner.peek() != UInt8(ascii: "]") {
                out.append(JSONValue(bytes: bytes, range: try scanner.value()))
                scanner.skipBlanks()
                if scanner.peek() == UInt8(ascii: ",") { scanner.index += 1 }
                scanner.skipBlanks()
            }
        } catch {}
        return out
    }
}

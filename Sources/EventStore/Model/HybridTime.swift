/// A hybrid logical time: 48 bits of Unix milliseconds, then a 16-bit counter (Kulkarni et al.,
/// "Logical Physical Clocks", 2014). Ordered as the 64-bit integer is.
public struct HybridTime: Hashable, Comparable, Sendable {
    /// Milliseconds in the upper 48 bits, the counter in the lower 16.
    public let rawValue: UInt64

    /// The time with this 64-bit form.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The time of `milliseconds` since 1970 (below 2^48) and `counter`.
    public init(milliseconds: Int64, counter: UInt16) {
        rawValue = UInt64(clamping: milliseconds) << 16 | UInt64(counter)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var milliseconds: Int64 { Int64(rawValue >> 16) }
    /// Orders stamps of the same millisecond.
    public var counter: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

    /// Order of the 64-bit forms.
    public static func < (a: HybridTime, b: HybridTime) -> Bool { a.rawValue < b.rawValue }
}

extension HybridTime: CustomStringConvertible {
    /// Twelve and four hexadecimal digits: `0198e2c1f3a0-0003`.
    public var description: String { dashedHexText(rawValue, count: 16, dashes: 1 << 12) }

    /// Appends what `description` says, 17 bytes.
    package func appendText(to out: inout [UInt8]) {
        let low = hexDigits(UInt32(truncatingIfNeeded: rawValue))
        out.appendBigEndian(hexDigits(UInt32(rawValue >> 32)))
        out.appendBigEndian(UInt32(low >> 32))
        out.append(UInt8(ascii: "-"))
        out.appendBigEndian(UInt32(truncatingIfNeeded: low))
    }

    /// Reads what `description` prints.
    public init?(text: some StringProtocol) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, parts[0].utf8.count == 12, parts[1].utf8.count == 4,
            let value = UInt64(parts.joined(), radix: 16)
        else { return nil }
        rawValue = value
        // Neither capitals nor a sign: each time has one text.
        guard description.hasSameBytes(as: String(text)) else { return nil }
    }
}

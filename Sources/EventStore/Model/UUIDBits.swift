/// The 128 bits of a UUID (RFC 9562), ordered as its 16 bytes are.
public struct UUIDBits: Hashable, Comparable, Sendable {
    /// Bytes 0 to 7, most significant first.
    public let high: UInt64
    /// Bytes 8 to 15, most significant first.
    public let low: UInt64

    /// The UUID made of two halves, each most significant byte first.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The UUID in `bytes`; `nil` unless there are exactly 16.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var halves = (UInt64(0), UInt64(0))
        for (index, byte) in bytes.enumerated() {
            if index < 8 { halves.0 = halves.0 << 8 | UInt64(byte) } else { halves.1 = halves.1 << 8 | UInt64(byte) }
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// The 8-4-4-4-12 text form in either case; `nil` for anything else.
    public init?(text: some StringProtocol) {
        self.init(utf8: text.utf8)
    }

    /// The 8-4-4-4-12 text form as UTF-8 bytes; `nil` for anything else.
    package init?(utf8: some Collection<UInt8>) {
        guard utf8.count == 36 else { return nil }
        // Collections from other modules are not specialised for: byte by byte they would cost microseconds.
        let parsed =
            utf8.withContiguousStorageIfAvailable(Self.parse) ?? Array(utf8).withUnsafeBufferPointer(Self.parse)
        guard let parsed else { return nil }
        self = parsed
    }

    private static func parse(_ utf8: UnsafeBufferPointer<UInt8>) -> UUIDBits? {
        var halves = (UInt64(0), UInt64(0))
        var digits = 0
        for (index, byte) in utf8.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = hexDigit(byte) else { return nil }
            if digits < 16 { halves.0 = halves.0 << 4 | digit } else { halves.1 = halves.1 << 4 | digit }
            digits += 1
        }
        return UUIDBits(high: halves.0, low: halves.1)
    }

    /// The 16 bytes in network order.
    public var bytes: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(16)
        append(to: &out)
        return out
    }

    package func append(to out: inout [UInt8]) {
        out.appendBigEndian(high)
        out.appendBigEndian(low)
    }

    /// Appends the lowercase 8-4-4-4-12 text form, 36 bytes.
    package func appendText(to out: inout [UInt8]) {
        let (a, b) = (hexDigits(UInt32(high >> 32)), hexDigits(UInt32(truncatingIfNeeded: high)))
        let (c, d) = (hexDigits(UInt32(low >> 32)), hexDigits(UInt32(truncatingIfNeeded: low)))
        let dash = UInt64(UInt8(ascii: "-"))
        out.appendBigEndian(a)
        out.appendBigEndian(dash << 56 | (b >> 32) << 24 | dash << 16 | b >> 16 & 0xffff)
        out.appendBigEndian(b << 48 | dash << 40 | (c >> 32) << 8 | dash)
        out.appendBigEndian(c << 32 | d >> 32)
        out.appendBigEndian(UInt32(truncatingIfNeeded: d))
    }

    /// Byte order, so that time-ordered UUIDs sort by time.
    public static func < (a: UUIDBits, b: UUIDBits) -> Bool {
        a.high != b.high ? a.high < b.high : a.low < b.low
    }
}

extension UUIDBits: CustomStringConvertible {
    /// The lowercase 8-4-4-4-12 text form.
    public var description: String {
        dashedHexText(high, low, count: 32, dashes: 1 << 8 | 1 << 12 | 1 << 16 | 1 << 20)
    }
}

/// An identifier that is a UUID underneath; each conforming type is a name of its own.
public protocol UUIDIdentifier: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The UUID.
    var bits: UUIDBits { get }
    /// The identifier with these bits.
    init(_ bits: UUIDBits)
}

extension UUIDIdentifier {
    /// The identifier in 8-4-4-4-12 text; `nil` for anything else.
    public init?(text: some StringProtocol) {
        guard let bits = UUIDBits(text: text) else { return nil }
        self.init(bits)
    }
    /// The identifier in 16 bytes; `nil` for any other count.
    public init?(bytes: some Collection<UInt8>) {
        guard let bits = UUIDBits(bytes: bytes) else { return nil }
        self.init(bits)
    }
    /// Byte order.
    public static func < (a: Self, b: Self) -> Bool { a.bits < b.bits }
    /// The lowercase 8-4-4-4-12 text form.
    public var description: String { bits.description }
    /// The 16 bytes in network order.
    public var bytes: [UInt8] { bits.bytes }
}

/// Names one event for its appender: the idempotency key. A UUIDv7 unless the client made another.
public struct EventID: UUIDIdentifier {
    /// The UUID.
    public let bits: UUIDBits
    /// The identifier with these bits.
    public init(_ bits: UUIDBits) { self.bits = bits }
}

/// Names one writer's own sequence of events.
public struct OriginID: UUIDIdentifier {
    /// The UUID.
    public let bits: UUIDBits
    /// The identifier with these bits.
    public init(_ bits: UUIDBits) { self.bits = bits }
}

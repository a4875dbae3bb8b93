extension VersionVector {
    /// `<origin>/<seq>` of every origin, ascending, with blanks between.
    package var text: String { entries.map(\.description).joined(separator: " ") }

    /// Reads ``text``; commas, tabs and line ends separate too. `nil` for anything else.
    package init?(text: String) { self.init(utf8: Array(text.utf8)) }

    /// Reads ``text`` as UTF-8. Byte by byte: as characters an entry would cost microseconds.
    package init?(utf8 bytes: [UInt8]) {
        guard let dots = bytes.withUnsafeBufferPointer(Self.dots) else { return nil }
        self.init(dots)
    }

    private static func dots(_ bytes: UnsafeBufferPointer<UInt8>) -> [Dot]? {
        var dots: [Dot] = []
        var index = 0
        while index < bytes.count {
            if isSeparator(bytes[index]) {
                index += 1
                continue
            }
            let slash = index + 36
            guard slash + 1 < bytes.count, bytes[slash] == UInt8(ascii: "/"),
                let origin = UUIDBits(utf8: UnsafeBufferPointer(rebasing: bytes[index..<slash]))
            else { return nil }
            index = slash + 1
            var seq: UInt64 = 0
            while index < bytes.count, !isSeparator(bytes[index]) {
                let digit = bytes[index] &- UInt8(ascii: "0")
                guard digit < 10, seq <= Limits.number else { return nil }
                seq = seq * 10 + UInt64(digit)
                index += 1
            }
            guard seq > 0, seq <= Limits.number else { return nil }
            dots.append(Dot(origin: OriginID(origin), seq: seq))
        }
        return dots
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: ","), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): true
        default: false
        }
    }

    /// Whether everything `other` stands for is in this.
    package func covers(_ other: VersionVector) -> Bool { other.count(missingFrom: self) == 0 }
}

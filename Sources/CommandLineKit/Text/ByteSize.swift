/// Sizes as people write them: `512B`, `64KiB`, `2GiB`, `5GB`.
package enum ByteSize {
    /// Why a text is no size.
    package enum Failure: Error, Equatable, Sendable {
        /// It is not a whole number and a unit.
        case malformed
        /// It is a number alone.
        case missingUnit
        /// It does not fit 64 bits.
        case tooLarge
    }

    /// Binary units are powers of 1024, decimal ones of 1000 (IEC 80000-13); upper and lower case are the same.
    private static let units: [(name: String, bytes: UInt64)] = [
        ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
        ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
    ]

    /// The bytes a text means: a whole number and a unit.
    package static func bytes(_ text: String) throws(Failure) -> UInt64 {
        let digits = text.prefix { $0.isASCIIDigit }
        var unit = text.dropFirst(digits.count)
        unit.dropBlanks()
        if digits.isEmpty { throw .malformed }
        if unit.isEmpty { throw .missingUnit }
        guard let scale = units.first(where: { $0.name.lowercased() == unit.lowercased() })?.bytes else {
            throw .malformed
        }
        guard let number = UInt64(digits) else { throw .tooLarge }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: scale)
        if overflow { throw .tooLarge }
        return bytes
    }

    /// A size that ``bytes(_:)`` reads back exactly, in the largest binary unit that divides it: `2GiB`, `1025B`.
    package static func exactText(_ bytes: UInt64) -> String {
        let unit = units.prefix(5).last { bytes >= $0.bytes && bytes % $0.bytes == 0 } ?? units[0]
        return "\(bytes / unit.bytes)\(unit.name)"
    }
}

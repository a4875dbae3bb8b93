/// Lengths of time as people write them: `90m`, `1h30m`, `2 hours`, `2시간`.
package enum TimeSpan {
    /// Why a text is no span.
    package enum Failure: Error, Equatable, Sendable {
        /// It is not made of numbers and units.
        case malformed
        /// It is a number alone.
        case missingUnit
        /// The unit has no fixed length: months and years.
        case unevenUnit(String)
        /// It is longer than any date could be away.
        case tooLong
    }

    /// The milliseconds of a span: one or more whole numbers, each with a unit. Blanks between them do not matter.
    package static func milliseconds(_ text: String) throws(Failure) -> Int64 {
        var rest = text.lowercased()[...]
        var total: Int64 = 0
        rest.dropBlanks()
        if rest.isEmpty { throw .malformed }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCIIDigit }
            if digits.isEmpty { throw .malformed }
            rest.removeFirst(digits.count)
            rest.dropBlanks()
            let unit = rest.prefix { $0.isLetter }
            rest.removeFirst(unit.count)
            rest.dropBlanks()
            if unit.isEmpty { throw rest.isEmpty ? .missingUnit : .malformed }
            guard let length = try length(of: String(unit)) else { throw .malformed }
            guard let number = Int64(digits) else { throw .tooLong }
            let (product, overflow) = number.multipliedReportingOverflow(by: length)
            let (sum, carry) = total.addingReportingOverflow(product)
            if overflow || carry || sum > longest { throw .tooLong }
            total = sum
        }
        return total
    }

    /// A span for people, with its two largest units: `3s`, `4m 10s`, `12d 4h`. Below a second: `250ms`.
    package static func text(_ milliseconds: Int64) -> String {
        let amount = milliseconds.magnitude
        let sign = milliseconds < 0 ? "-" : ""
        if amount < 1_000 { return "\(sign)\(amount)ms" }
        let seconds = amount / 1_000
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
        let parts: [(UInt64, String)] = [(days, "d"), (hours, "h"), (minutes, "m"), (seconds % 60, "s")]
        let shown = parts.drop { $0.0 == 0 }.prefix(2).filter { $0.0 > 0 }
        return sign + shown.map { "\($0.0)\($0.1)" }.joined(separator: " ")
    }

    /// Ten thousand years, more than the years 1 to 9999 span.
    private static let longest: Int64 = 10_000 * 366 * 86_400_000

    private static func length(of unit: String) throws(Failure) -> Int64? {
        switch unit {
        case "ms", "msec", "밀리초": return 1
        case "s", "sec", "secs", "second", "seconds", "초": return 1_000
        case "m", "min", "mins", "minute", "minutes", "분": return 60_000
        case "h", "hr", "hrs", "hour", "hours", "시간": return 3_600_000
        case "d", "day", "days", "일": return 86_400_000
        case "w", "week", "weeks", "주", "주일": return 7 * 86_400_000
        case "mo", "month", "months", "y", "yr", "year", "years", "개월", "달", "월", "년": throw .unevenUnit(unit)
        default: return nil
        }
    }
}

extension Character {
    /// Whether this is one of `0` to `9`; other scripts' digits are not meant.
    var isASCIIDigit: Bool { ("0"..."9").contains(self) && isASCII }
}

extension Substring {
    mutating func dropBlanks() {
        self = drop { $0 == " " || $0 == "\t" }
    }
}

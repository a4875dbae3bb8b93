/// Moments as Unix milliseconds and as RFC 3339 text. Days are counted in the proleptic Gregorian calendar with the
/// arithmetic of H. Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013).
public enum Timestamp {
    /// 0001-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z.
    public static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// `2026-08-01T02:02:15.120Z`: always three digits of fraction, always UTC. Moments outside of ``range`` are shown
    /// as its nearest end.
    public static func text(_ milliseconds: Int64) -> String {
        var out: [UInt8] = []
        out.reserveCapacity(24)
        append(milliseconds, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    package static func append(_ milliseconds: Int64, to out: inout [UInt8]) {
        let moment = min(max(milliseconds, range.lowerBound), range.upperBound)
        let (days, rest) = flooredDivision(moment, by: millisecondsPerDay)
        let (year, month, day) = civilDate(day: days)
        func digits(_ value: Int64, _ count: Int, then separator: Unicode.Scalar) {
            var divisor: Int64 = count == 4 ? 1000 : count == 3 ? 100 : 10
            while divisor > 0 {
                out.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
                divisor /= 10
            }
            out.append(UInt8(ascii: separator))
        }
        digits(year, 4, then: "-")
        digits(month, 2, then: "-")
        digits(day, 2, then: "T")
        digits(rest / 3_600_000, 2, then: ":")
        digits(rest / 60_000 % 60, 2, then: ":")
        digits(rest / 1000 % 60, 2, then: ".")
        digits(rest % 1000, 3, then: "Z")
    }

    /// Unix milliseconds of RFC 3339 `text`; `nil` for anything else and for moments outside of ``range``.
    ///
    /// `T` may be `t` or a space, `Z` may be `z` or an offset, and a fraction of any length is cut to milliseconds.
    /// A leap second (second 60 at 23:59 UTC) counts as the last millisecond before it.
    public static func milliseconds(_ text: String) -> Int64? {
        milliseconds(utf8: Array(text.utf8)[...])
    }

    package static func milliseconds(utf8 text: ArraySlice<UInt8>) -> Int64? {
        var reader = TimestampReader(rest: text)
        guard let year = reader.number(digits: 4), year >= 1, reader.skip("-"),
            let month = reader.number(digits: 2), (1...12).contains(month), reader.skip("-"),
            let day = reader.number(digits: 2), day >= 1, day <= daysInMonth(month, of: year),
            reader.skip("T") || reader.skip("t") || reader.skip(" "),
            let hour = reader.number(digits: 2), hour <= 23, reader.skip(":"),
            let minute = reader.number(digits: 2), minute <= 59, reader.skip(":"),
            let second = reader.number(digits: 2), second <= 60,
            let fraction = reader.fraction(), let offset = reader.offset(), reader.rest.isEmpty
        else { return nil }
        let minutes = dayNumber(year: year, month: month, day: day) * 1440 + hour * 60 + minute - offset
        if second == 60, flooredDivision(minutes, by: 1440).remainder != 1439 { return nil }
        let moment = minutes * 60_000 + (second == 60 ? 59_999 : second * 1000 + fraction)
        return range.contains(moment) ? moment : nil
    }

    private static let millisecondsPerDay: Int64 = 86_400_000

    private static func flooredDivision(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func daysInMonth(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01. Years are counted from March, so that the leap day comes last; `year` is 1 or more.
    private static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = marchYear / 400
        let yearOfEra = marchYear % 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civilDate(day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = flooredDivision(day + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

/// Reads the parts of a timestamp from the front.
private struct TimestampReader {
    var rest: ArraySlice<UInt8>

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func number(digits: Int) -> Int64? {
        guard rest.count >= digits else { return nil }
        var value = Int64(0)
        for byte in rest.prefix(digits) {
            guard isDigit(byte) else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        rest.removeFirst(digits)
        return value
    }

    /// Milliseconds; zero when there is no fraction, `nil` for a point without digits.
    mutating func fraction() -> Int64? {
        guard skip(".") else { return 0 }
        let digits = rest.prefix(while: isDigit)
        if digits.isEmpty { return nil }
        rest.removeFirst(digits.count)
        var value = Int64(0)
        for place in 0..<3 {
            let digit = place < digits.count ? Int64(digits[digits.startIndex + place] - UInt8(ascii: "0")) : 0
            value = value * 10 + digit
        }
        return value
    }

    /// Minutes east of Greenwich.
    mutating func offset() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let sign: Int64 = rest.first == UInt8(ascii: "-") ? -1 : 1
        guard skip("+") || skip("-"), let hours = number(digits: 2), hours <= 23, skip(":"),
            let minutes = number(digits: 2), minutes <= 59
        else { return nil }
        return sign * (hours * 60 + minutes)
    }
}

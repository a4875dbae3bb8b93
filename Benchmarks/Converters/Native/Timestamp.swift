/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Milliseconds since the epoch, leap seconds not counted.
    public var milliseconds: Int64

    /// Makes a time from milliseconds since the epoch.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Midnight UTC of a day of the Gregorian calendar; nil when there is no such day.
    ///
    /// Days are counted in 400-year eras of 146,097 days, with years that start in March so that the leap
    /// day is the last (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    public init?(year: Int, month: Int, day: Int) {
        guard (1...12).contains(month), (1...Self.days(inMonth: month, of: year)).contains(day) else { return nil }
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        milliseconds = Int64(era * 146_097 + dayOfEra - 719_468) * 86_400_000
    }

    /// Midnight UTC of a day known to exist.
    static func day(_ year: Int, _ month: Int, _ day: Int) -> Timestamp {
        guard let time = Timestamp(year: year, month: month, day: day) else {
            preconditionFailure("no such day: \(year)-\(month)-\(day)")
        }
        return time
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The same time `count` seconds later.
    public func adding(seconds count: Int) -> Timestamp {
        Timestamp(milliseconds: milliseconds + Int64(count) * 1000)
    }

    /// Orders by time.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// RFC 3339 with milliseconds and `Z`, for years 0000 to 9999.
    public var description: String {
        let day = Int(milliseconds.floorDivided(by: 86_400_000))
        let ofDay = Int(milliseconds - Int64(day) * 86_400_000)
        let era = (day + 719_468).floorDivided(by: 146_097)
        let dayOfEra = day + 719_468 - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, 2))"
        let (hours, minutes, seconds) = (ofDay / 3_600_000, ofDay / 60_000 % 60, ofDay / 1000 % 60)
        return "\(date)T\(padded(hours, 2)):\(padded(minutes, 2)):\(padded(seconds, 2)).\(padded(ofDay % 1000, 3))Z"
    }

    private func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

extension BinaryInteger {
    fileprivate func floorDivided(by divisor: Self) -> Self {
        let quotient = self / divisor
        return quotient * divisor > self ? quotient - 1 : quotient
    }
}

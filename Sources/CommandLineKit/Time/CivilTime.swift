/// A date and time of day in the proleptic Gregorian calendar, without a zone.
package struct CivilTime: Sendable, Equatable {
    /// The year; 0 is the year before 1.
    package var year: Int
    /// 1 to 12.
    package var month: Int
    /// 1 to 31.
    package var day: Int
    /// Milliseconds since midnight.
    package var millisecondOfDay: Int64

    static let dayLength: Int64 = 86_400_000

    /// A date and a time of day that are already known to exist.
    package init(year: Int, month: Int, day: Int, millisecondOfDay: Int64 = 0) {
        self.year = year
        self.month = month
        self.day = day
        self.millisecondOfDay = millisecondOfDay
    }

    /// What a clock shows `milliseconds` after 1970-01-01 00:00. Every value has an answer.
    ///
    /// Days are counted in 400-year eras that begin on March 1st, so that the leap day is the last of its year.
    /// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
    package init(milliseconds: Int64) {
        let days = milliseconds.flooringDivision(by: Self.dayLength)
        let shifted = days + 719_468
        let era = shifted.flooringDivision(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = Int(yearOfEra + era * 400 + (month <= 2 ? 1 : 0))
        millisecondOfDay = milliseconds &- days &* Self.dayLength
    }

    /// The milliseconds from 1970-01-01 00:00 on the same clock, for years -9999 to 9999. Same source,
    /// `days_from_civil`.
    package var milliseconds: Int64 {
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let era = shiftedYear.flooringDivision(by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (era * 146_097 + dayOfEra - 719_468) * Self.dayLength + millisecondOfDay
    }

    /// Whether the calendar has this year (1 to 9999), month and day.
    package var exists: Bool {
        guard (1...9_999).contains(year), (1...12).contains(month), day >= 1 else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return day <= lengths[month - 1]
    }
}

extension Int64 {
    /// The quotient rounded down, so that days before 1970 count like all others.
    func flooringDivision(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}

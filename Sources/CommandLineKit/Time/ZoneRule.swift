/// The yearly rule of a zone in the form of POSIX `TZ` (The Open Group Base Specifications, chapter 8.3), as it stands in
/// the footer of zone files: `KST-9`, `EST5EDT,M3.2.0,M11.1.0`.
///
/// Day rules by day number (`J60`, `60`) are not read; no zone of tzdata uses them.
struct ZoneRule: Sendable {
    private let standard: Int
    private let summer: Summer?

    private struct Summer {
        let offset: Int
        let start: Change
        let end: Change
    }

    /// The `week`-th `weekday` (0 is Sunday, week 5 the last) of a month, `seconds` after midnight.
    private struct Change {
        let month, week, weekday, seconds: Int
    }

    init?(_ text: String) {
        var rest = text[...]
        guard Self.skipName(&rest), let standard = Self.time(&rest) else { return nil }
        self.standard = -standard
        if rest.isEmpty {
            summer = nil
            return
        }
        guard Self.skipName(&rest) else { return nil }
        let offset = rest.first == "," ? self.standard + 3_600 : Self.time(&rest).map { -$0 }
        guard let offset, let start = Self.change(&rest), let end = Self.change(&rest), rest.isEmpty else {
            return nil
        }
        summer = Summer(offset: offset, start: start, end: end)
    }

    /// Seconds east of UTC at `seconds` since 1970.
    func offset(at seconds: Int64) -> Int {
        guard let summer else { return standard }
        let year = CivilTime(milliseconds: (seconds + Int64(standard)).clampedToMilliseconds).year
        let start = Self.seconds(of: summer.start, year: year) - Int64(standard)
        let end = Self.seconds(of: summer.end, year: year) - Int64(summer.offset)
        let isSummer = start < end ? start <= seconds && seconds < end : !(end <= seconds && seconds < start)
        return isSummer ? summer.offset : standard
    }

    /// The local clock's seconds since 1970 at which a change happens in `year`.
    private static func seconds(of change: Change, year: Int) -> Int64 {
        let firstDay = CivilTime(year: year, month: change.month, day: 1).milliseconds / CivilTime.dayLength
        let nextMonth = change.month == 12 ? (year + 1, 1) : (year, change.month + 1)
        let end = CivilTime(year: nextMonth.0, month: nextMonth.1, day: 1).milliseconds / CivilTime.dayLength
        // 1970-01-01 was a Thursday (4).
        let weekday = Int((firstDay % 7 + 11) % 7)
        var day = firstDay + Int64((change.weekday - weekday + 7) % 7 + (change.week - 1) * 7)
        if day >= end { day -= 7 }
        return day * 86_400 + Int64(change.seconds)
    }

    /// `EST` or `<+03>`.
    private static func skipName(_ rest: inout Substring) -> Bool {
        if rest.first == "<" {
            guard let end = rest.firstIndex(of: ">") else { return false }
            rest = rest[rest.index(after: end)...]
            return true
        }
        let name = rest.prefix { $0.isLetter }
        rest = rest.dropFirst(name.count)
        return name.count >= 3
    }

    /// `5`, `-9`, `4:30` or `-1:00:00` in seconds.
    private static func time(_ rest: inout Substring) -> Int? {
        var sign = 1
        if rest.first == "-" || rest.first == "+" { sign = rest.removeFirst() == "-" ? -1 : 1 }
        var total = 0
        var unit = 3_600
        repeat {
            guard let number = number(&rest) else { return nil }
            total += number * unit
            unit /= 60
        } while unit > 0 && skip(":", &rest)
        return sign * total
    }

    /// `,M3.2.0` or `,M3.2.0/2`.
    private static func change(_ rest: inout Substring) -> Change? {
        guard skip(",", &rest), skip("M", &rest), let month = number(&rest), skip(".", &rest),
            let week = number(&rest), skip(".", &rest), let weekday = number(&rest),
            (1...12).contains(month), (1...5).contains(week), (0...6).contains(weekday)
        else { return nil }
        guard skip("/", &rest) else { return Change(month: month, week: week, weekday: weekday, seconds: 7_200) }
        guard let seconds = time(&rest) else { return nil }
        return Change(month: month, week: week, weekday: weekday, seconds: seconds)
    }

    private static func number(_ rest: inout Substring) -> Int? {
        let digits = rest.prefix { $0.isASCIIDigit }
        rest = rest.dropFirst(digits.count)
        return digits.count <= 3 ? Int(digits) : nil
    }

    private static func skip(_ character: Character, _ rest: inout Substring) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }
}

extension Int64 {
    /// Seconds as milliseconds, kept within the years a calendar is needed for.
    fileprivate var clampedToMilliseconds: Int64 {
        Swift.min(Swift.max(self, -400_000_000_000), 400_000_000_000) * 1_000
    }
}

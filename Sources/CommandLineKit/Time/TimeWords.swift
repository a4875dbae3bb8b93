/// A day as people name it. Which one it is depends on the zone, and for most of them on today.
enum NamedDay: Equatable {
    /// So many days from today.
    case fromToday(Int64)
    /// A date of the calendar.
    case date(CivilTime)
    /// A month and a day: the latest that has begun.
    case monthDay(month: Int, day: Int)
    /// A day of the week, 0 is Monday: the latest that has begun.
    case weekday(Int)
    /// A day of the week, 0 is Monday: the latest before today.
    case lastWeekday(Int)
    /// The Monday of a week, counted from this one, and so many days more. Weeks begin on Monday (ISO 8601).
    case week(Int64, day: Int64)
    /// The first day of a month, counted from this one.
    case month(Int)
    /// The first day of a year, counted from this one.
    case year(Int)
    /// A day of a month, which is counted from this one.
    case dayOfMonth(Int, day: Int)
    /// A day of a year, which is counted from this one.
    case monthOfYear(Int, month: Int, day: Int)

    /// The date, where `today` is today; `nil` if there is none.
    func civil(today: CivilTime) -> CivilTime? {
        func moved(_ days: Int64) -> CivilTime {
            CivilTime(milliseconds: midnight.milliseconds + days * CivilTime.dayLength)
        }
        var midnight = today
        midnight.millisecondOfDay = 0
        switch self {
        case .fromToday(let days): return moved(days)
        case .date(let date): return date.exists ? date : nil
        case .monthDay(let month, let day):
            // February 29th was in one of the last eight years.
            let years = [0, 1, 2, 3, 4, 5, 6, 7, 8].map { today.year - $0 }
            return years.lazy.map { CivilTime(year: $0, month: month, day: day) }.first {
                $0.exists && $0.milliseconds <= midnight.milliseconds
            }
        case .weekday(let day): return moved(-((today.weekday - Int64(day) + 7) % 7))
        case .lastWeekday(let day): return moved(-((today.weekday - Int64(day) + 6) % 7 + 1))
        case .week(let weeks, let day): return moved(weeks * 7 - today.weekday + day)
        case .month(let offset): return NamedDay.dayOfMonth(offset, day: 1).civil(today: today)
        case .year(let offset): return CivilTime(year: today.year + offset, month: 1, day: 1)
        case .dayOfMonth(let offset, let day):
            let months = today.year * 12 + today.month - 1 + offset
            let date = CivilTime(year: months / 12, month: months % 12 + 1, day: day)
            return date.exists ? date : nil
        case .monthOfYear(let offset, let month, let day):
            let date = CivilTime(year: today.year + offset, month: month, day: day)
            return date.exists ? date : nil
        }
    }
}

extension CivilTime {
    /// 0 is Monday. 1970-01-01 was a Thursday.
    var weekday: Int64 {
        let days = milliseconds.flooringDivision(by: Self.dayLength)
        return ((days + 3) % 7 + 7) % 7
    }
}

/// A part of the day and which hours of it are spoken of: `오후 3시` is 15:00.
private struct DayPart {
    let word: String
    /// Its hours, from its first on; twelve stands for none.
    let hours: [Int64]
    let isAfternoon: Bool

    init(word: String, hours: some Sequence<Int64>, isAfternoon: Bool) {
        (self.word, self.hours, self.isAfternoon) = (word, Array(hours), isAfternoon)
    }

    private static let night = "밤"

    static let all = [
        DayPart(word: "오전", hours: 0...12, isAfternoon: false), DayPart(word: "오후", hours: 0...12, isAfternoon: true),
        DayPart(word: "새벽", hours: 0...6, isAfternoon: false), DayPart(word: "아침", hours: 5...11, isAfternoon: false),
        DayPart(word: "낮", hours: [12, 1, 2, 3, 4, 5], isAfternoon: true),
        DayPart(word: "저녁", hours: 5...11, isAfternoon: true), DayPart(word: night, hours: 6...12, isAfternoon: true),
    ]

    /// Its first moment.
    var start: Int64 { ((hours.first ?? 0) % 12 + (isAfternoon ? 12 : 0)) * 3_600_000 }

    func milliseconds(_ time: Int64) -> Int64? {
        let hour = time / 3_600_000
        guard hours.contains(hour) else { return nil }
        // The midnight that ends the day.
        if word == Self.night, hour == 12 { return time + hour * 3_600_000 }
        return time - hour * 3_600_000 + (hour % 12 + (isAfternoon ? 12 : 0)) * 3_600_000
    }
}

extension TimeScanner {
    private static let days: [(words: String, day: NamedDay)] = [
        ("today", .fromToday(0)), ("오늘", .fromToday(0)), ("yesterday", .fromToday(-1)), ("어제", .fromToday(-1)),
        ("그제", .fromToday(-2)), ("그저께", .fromToday(-2)), ("엊그제", .fromToday(-2)), ("엊그저께", .fromToday(-2)),
        ("그끄저께", .fromToday(-3)), ("tomorrow", .fromToday(1)), ("내일", .fromToday(1)), ("모레", .fromToday(2)),
        ("this month", .month(0)), ("이번 달", .month(0)), ("이번달", .month(0)), ("last month", .month(-1)),
        ("지난달", .month(-1)), ("지난 달", .month(-1)), ("this year", .year(0)), ("올해", .year(0)),
        ("last year", .year(-1)), ("재작년", .year(-2)),
        ("작년", .year(-1)), ("지난해", .year(-1)),
    ]
    private static let weeks: [(words: String, offset: Int64)] = [
        ("this week", 0), ("이번 주", 0), ("이번주", 0), ("last week", -1), ("지난주", -1), ("지난 주", -1),
    ]
    private static let weekends: [(words: String, offset: Int64)] = [
        ("this weekend", 0), ("이번 주말", 0), ("주말", 0), ("last weekend", -1), ("지난 주말", -1), ("지난주 주말", -1),
    ]
    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]
    private static let weekdays: [[String]] = [
        ["monday", "mon", "월요일"], ["tuesday", "tue", "화요일"], ["wednesday", "wed", "수요일"], ["thursday", "thu", "목요일"],
        ["friday", "fri", "금요일"], ["saturday", "sat", "토요일"], ["sunday", "sun", "일요일"],
    ]

    /// `yesterday`, `그저께`, `last week`, `지난주 월요일`, `friday`, `8월 1일`, `2026년 8월`, `2026. 8. 1.`; `nil` if it is none.
    mutating func dayWords() throws(TimeSyntaxError) -> NamedDay? {
        if takePrefix("어젯밤") || takePhrase("last night") {
            put("밤")
            return .fromToday(-1)
        }
        // `어제오후3시`: those who type on a telephone save the blank.
        for (words, day) in Self.days where takePhrase(words) || takePrefix(words, beforePartOfDay: true) {
            return try dated(day)
        }
        for (words, offset) in Self.weekends where takePhrase(words) { return .week(offset, day: 5) }
        for (words, offset) in Self.weeks where takePhrase(words) {
            return .week(offset, day: Int64(weekday() ?? 0))
        }
        if let day = weekday() { return .weekday(day) }
        let start = self
        if takeWord("last") || takeWord("지난") {
            if let day = weekday() { return .lastWeekday(day) }
            self = start
        }
        return try koreanDate() ?? dottedDate() ?? englishDate()
    }

    /// The number of what is left, if that is `29일` and no more.
    var bareDay: String? {
        guard rest.last == "일" else { return nil }
        let digits = rest.dropLast()
        return (1...2).contains(digits.count) && digits.allSatisfy(\.isASCII) && digits.allSatisfy(\.isNumber)
            ? String(digits) : nil
    }

    /// A day of the month that was named, as in `지난달 15일`; a month of the year, and a day, as in `작년 8월`; else the day itself.
    private mutating func dated(_ day: NamedDay) throws(TimeSyntaxError) -> NamedDay {
        switch day {
        case .month(let offset):
            guard let number = number(upTo: 2, before: "일") else { return day }
            return .dayOfMonth(offset, day: number)
        case .year(let offset):
            guard let month = number(upTo: 2, before: "월") else { return day }
            return .monthOfYear(offset, month: month, day: number(upTo: 2, before: "일") ?? 1)
        default: return day
        }
    }

    /// Takes `word` where a part of the day or an hour follows at once.
    private mutating func takePrefix(_ word: String, beforePartOfDay: Bool) -> Bool {
        let start = self
        guard takePrefix(word) else { return false }
        if rest.first?.isASCIIDigit == true || DayPart.all.contains(where: { rest.starts(with: $0.word) }) {
            return true
        }
        self = start
        return false
    }

    /// `Aug 1`, `August 1, 2026`, `1 Aug`, and the first day of `August`.
    private mutating func englishDate() -> NamedDay? {
        let start = self
        var day = takeNumber(upTo: 2)
        dropBlanks()
        guard let month = monthName() else { return back(to: start) }
        if day == nil { day = part(upTo: 2, least: 1) }
        let year = part(upTo: 4, least: 4)
        if let year { return .date(CivilTime(year: year, month: month, day: day ?? 1)) }
        return .monthDay(month: month, day: day ?? 1)
    }

    /// The number of a month by its English name or the first three letters of it.
    private mutating func monthName() -> Int? {
        for (index, name) in Self.months.enumerated() where takeWord(name) || takeWord(String(name.prefix(3))) {
            return index + 1
        }
        return nil
    }

    /// A number that stands alone, or before a comma, and the blanks behind it.
    private mutating func part(upTo count: Int, least: Int) -> Int? {
        let start = self
        let number = digits() ?? ""
        let ends = take(",") || isAtEnd || rest.first == " " || rest.first == "\t"
        guard (least...count).contains(number.count), ends else { return back(to: start) }
        dropBlanks()
        return Int(number)
    }

    private mutating func weekday() -> Int? {
        for (index, names) in Self.weekdays.enumerated() {
            for name in names where takeWord(name) { return index }
        }
        return nil
    }

    /// `2026년 8월 1일`, `8월 1일`, and the first day of `2026년`, `2026년 8월` or `8월`.
    private mutating func koreanDate() throws(TimeSyntaxError) -> NamedDay? {
        let start = self
        var year: Int?
        let number = number(upTo: 4, before: "년")
        let month = self.number(upTo: 2, before: "월")
        if let number {
            // `1년` is a span of uneven length, `26년 8월` a month of this century.
            guard number > 999 || month != nil && number > 9 && number < 100 else { return back(to: start) }
            year = number > 999 ? number : 2_000 + number
        }
        let day = month == nil ? nil : self.number(upTo: 2, before: "일")
        switch (year, month) {
        case (nil, nil): return back(to: start)
        case (let year?, _): return .date(CivilTime(year: year, month: month ?? 1, day: day ?? 1))
        case (nil, let month?): return .monthDay(month: month, day: day ?? 1)
        }
    }

    /// `2026. 8. 1.`, as Korean programs write dates, `2026.8.1` and `2026/8/1`.
    private mutating func dottedDate() -> NamedDay? {
        let start = self
        for mark in [Character("."), "/"] {
            if let year = number(upTo: 4, before: mark), year > 999, let month = number(upTo: 2, before: mark),
                let day = takeNumber(upTo: 2)
            {
                if mark == "." { _ = take(mark) }
                dropBlanks()
                return .date(CivilTime(year: year, month: month, day: day))
            }
            self = start
        }
        return nil
    }

    /// A time of day in digits or words as milliseconds since midnight, and the blanks behind it: `15:20`, `3pm`, `3:20 pm`,
    /// `오후 3시 20분`, `15시`, `세 시 반`, `정오`; behind a day also a part of it alone, as `저녁`. `nil` if it is none.
    mutating func clock(ofDay: Bool = false) throws(TimeSyntaxError) -> Int64? {
        let hour: Int64 = 3_600_000
        for (word, time) in [("noon", 12 * hour), ("정오", 12 * hour), ("midnight", 0), ("자정", 0)] as [(String, Int64)]
        where takeWord(word) {
            return time
        }
        if let part = DayPart.all.first(where: { takePrefix($0.word) }) {
            dropBlanks()
            var shown = try spokenTime()
            if shown == nil { shown = try timeOfDay() }
            if shown == nil, ofDay, isAtEnd { return part.start }
            guard let shown else { throw .unknownForm }
            guard let time = part.milliseconds(shown) else { throw .noSuchTime }
            return time
        }
        if let time = try spokenTime() { return time }
        let start = self
        let time: Int64
        if let clock = try timeOfDay() {
            time = clock
        } else if let number = takeNumber(upTo: 2) {
            dropBlanks()
            guard ["am", "pm"].contains(where: { startsWithWord($0) }) else { return back(to: start) }
            time = Int64(number) * hour
        } else {
            return nil
        }
        let isMorning = takeWord("am")
        guard isMorning || takeWord("pm") else { return time }
        guard (1...12).contains(time / hour) else { throw .noSuchTime }
        return time % (12 * hour) + (isMorning ? 0 : 12 * hour)
    }

    /// `3시`, `세 시`, `15시 20분 30초`, `3시 반`. `3시간` is none.
    private mutating func spokenTime() throws(TimeSyntaxError) -> Int64? {
        let start = self
        guard let hour = number(upTo: 2, before: "시") ?? saidHour(), rest.first != "간" else { return back(to: start) }
        if takePrefix("반") {
            dropBlanks()
            guard hour < 24 else { throw .noSuchTime }
            return Int64(hour) * 3_600_000 + 1_800_000
        }
        let minute = number(upTo: 2, before: "분") ?? 0
        let second = number(upTo: 2, before: "초") ?? 0
        guard hour < 24, minute < 60, second <= 60 else { throw .noSuchTime }
        return (Int64(hour) * 3_600 + Int64(minute) * 60 + Int64(second)) * 1_000
    }

    /// `세 시`, `열두시`, and the blanks behind it.
    private mutating func saidHour() -> Int? {
        let start = self
        guard let index = TimeSpan.numbers.lastIndex(where: { rest.starts(with: $0) }) else { return nil }
        _ = takePrefix(TimeSpan.numbers[index])
        dropBlanks()
        guard take("시") else { return back(to: start) }
        dropBlanks()
        return index + 1
    }

    // MARK: Parts

    /// The number in front of `mark`, if it has at most so many digits. Takes the mark and the blanks behind it.
    private mutating func number(upTo count: Int, before mark: Character) -> Int? {
        let start = self
        guard let number = takeNumber(upTo: count) else { return nil }
        dropBlanks()
        guard take(mark) else { return back(to: start) }
        dropBlanks()
        return number
    }

    private mutating func takeNumber(upTo count: Int) -> Int? {
        let start = self
        guard let digits = digits(), digits.count <= count else { return back(to: start) }
        return Int(digits)
    }

    /// Takes words that are separated by blanks, or nothing.
    private mutating func takePhrase(_ words: String) -> Bool {
        let start = self
        for word in words.split(separator: " ") where !takeWord(String(word)) {
            self = start
            return false
        }
        return true
    }

    private mutating func back<Result>(to start: TimeScanner) -> Result? {
        self = start
        return nil
    }
}

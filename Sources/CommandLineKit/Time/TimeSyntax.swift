/// Why a text names no point in time.
package enum TimeSyntaxError: Error, Sendable, Equatable {
    /// It has none of the accepted forms.
    case unknownForm
    /// Months and years have no fixed length; the unit that was given.
    case unevenSpan(unit: String)
    /// A number without a unit.
    case missingUnit
    /// `29일` alone is the 29th for some and 29 days for others; the number.
    case openDay(String)
    /// The calendar has no such day, or the clock no such time.
    case noSuchTime
    /// It lies outside the years 1 to 9999.
    case outOfRange
    /// There is no zone of this name here.
    case unknownZone(String)

    /// What is wrong, and what would be right.
    package var message: String { message(.english) }

    /// The same in this language.
    package func message(_ language: Language) -> String {
        let values: [String] =
            switch self {
            case .unevenSpan(let unit): [unit]
            case .unknownZone(let name): [name]
            case .openDay(let number): [number]
            default: [Self.forms(language)]
            }
        return phrase.text(language, values)
    }

    private var phrase: Phrase {
        switch self {
        case .unknownForm: Phrase("not a time. {0}", "시각으로 읽을 수 없습니다. {0}")
        case .unevenSpan:
            Phrase(
                "'{0}' has no fixed length: give days or weeks (30d, 52w) or a date",
                "길이가 일정하지 않은 단위입니다: {0}. 일이나 주(30일 전, 52주 전) 또는 날짜로 쓰십시오")
        case .missingUnit:
            Phrase(
                "a number needs a unit (2h, 7d), or @ before it for seconds since 1970",
                "숫자에는 단위가 필요합니다(2h, 7일 전). 1970년부터 센 초는 앞에 @을 붙입니다")
        case .openDay:
            Phrase(
                "'{0}일' can be a day of a month or a span: write '지난달 {0}일' or '8월 {0}일', or '{0}일 전' for {0} days ago",
                "'{0}일'만으로는 날짜인지 기간인지 알 수 없습니다: '지난달 {0}일'이나 '8월 {0}일', 또는 '{0}일 전'으로 쓰십시오")
        case .noSuchTime: Phrase("there is no such day or time of day", "그런 날짜나 시각은 없습니다")
        case .outOfRange: Phrase("only the years 1 to 9999 can be given", "1년부터 9999년까지만 쓸 수 있습니다")
        case .unknownZone:
            Phrase(
                "unknown time zone '{0}'; a name is like Asia/Seoul, an offset like +09:00",
                "알 수 없는 시간대입니다: '{0}'. 이름은 Asia/Seoul, 시차는 +09:00처럼 씁니다")
        }
    }

    /// The accepted forms, for people.
    package static let forms = forms(.english)

    /// The same with an introduction in this language.
    package static func forms(_ language: Language) -> String {
        Phrase("Accepted: {0}", "쓸 수 있는 형식: {0}").text(language, [list])
    }

    private static let list = """
        2h, 1h30m, 2h ago, 2 months ago, 2시간 전, 이틀 전, 한 달 전, 반년 전, 방금, now, today, yesterday 14:00, monday 3pm, \
        last monday, last week, last month, 오늘, 어제 오후 3시, 어젯밤, 낮 12시, 그저께, 지난달 15일, 작년 8월, 월요일, 지난 월요일, 지난주, 지난주 금요일, 지난달, \
        09:00, 오후 세 시 반, 2026-08-01, '2026-08-01 09:00', 'Aug 1 2026', 8월 1일, '2026년 8월 1일 오후 3시 20분', '2026. 8. 1.', 2026-08-01T09:00:00+09:00, '2026-08-01 09:00 Asia/Seoul', @1785542400
        """

    /// What the forms leave open, for people.
    package static let rules = """
        A span alone means ago; months and years ago are the same day of another month, or its last one. A day alone means its \
        first moment; a day of the week, a date without its year, or a time of day without its day is the latest that has begun \
        (--until 18:00 after --since 09:00: the first one behind that). A part of a day, as 어젯밤, begins with its first hour. Weeks begin on Monday. A time that clocks jump over is read as if they had not jumped yet, a time they \
        show twice is the first one.
        """
}

/// Reads points in time in all the forms people type and this program prints.
package struct TimeSyntax: Sendable {
    private let now: Int64
    private let zone: Zone
    private let zones: ZoneDirectory
    private let start: Int64

    /// - Parameters:
    ///   - now: the present, in milliseconds since 1970.
    ///   - zone: the zone of times without one.
    ///   - start: a time of day without its day is not before this moment, where it can be.
    ///   - zones: where zones are found by name.
    package init(now: Int64, zone: Zone, zones: ZoneDirectory = .system, start: Int64 = .min) {
        // Clocks of tests and broken machines show more than the calendar has.
        self.now = min(max(now, Self.years.lowerBound), Self.years.upperBound)
        self.zone = zone
        self.zones = zones
        self.start = start
    }

    /// The moment a text names, in milliseconds since 1970. A bare span means ago.
    package func parse(_ text: String) throws(TimeSyntaxError) -> Int64 {
        var scanner = TimeScanner(text)
        if scanner.isAtEnd { throw .unknownForm }
        let milliseconds: Int64
        if scanner.take("@") {
            milliseconds = try epoch(&scanner)
        } else if scanner.takeWord("now") || scanner.takeWord("지금") {
            milliseconds = now
        } else if scanner.takeWord("방금") {
            _ = scanner.takeWord("전")
            milliseconds = now - Self.moment
        } else if let day = try scanner.dayWords() {
            milliseconds = try absolute(
                TimeScanner.Clock(day: day, time: try scanner.clock(ofDay: true) ?? 0), &scanner)
        } else if let clock = try scanner.dateOrTime() {
            milliseconds = try absolute(clock, &scanner)
        } else {
            if let day = scanner.bareDay { throw .openDay(day) }
            milliseconds = try span(scanner.rest)
            return try checked(milliseconds)
        }
        if !scanner.isAtEnd { throw .unknownForm }
        return try checked(milliseconds)
    }

    /// How long ago `방금` is.
    private static let moment: Int64 = 60_000

    /// The years 1 to 9999.
    private static let years =
        CivilTime(year: 1, month: 1, day: 1).milliseconds...CivilTime(year: 9_999, month: 12, day: 31).milliseconds
        + CivilTime.dayLength - 1

    private func checked(_ milliseconds: Int64) throws(TimeSyntaxError) -> Int64 {
        guard Self.years.contains(milliseconds) else { throw .outOfRange }
        return milliseconds
    }

    /// `@1785542400.5`: seconds since 1970.
    private func epoch(_ scanner: inout TimeScanner) throws(TimeSyntaxError) -> Int64 {
        let isNegative = scanner.take("-")
        guard let digits = scanner.digits() else { throw .unknownForm }
        guard let seconds = Int64(digits), seconds < 1_000_000_000_000 else { throw .outOfRange }
        let milliseconds = seconds * 1_000 + (try scanner.fraction() ?? 0)
        return isNegative ? -milliseconds : milliseconds
    }

    private func absolute(
        _ clock: TimeScanner.Clock, _ scanner: inout TimeScanner
    ) throws(TimeSyntaxError) -> Int64 {
        var zone = zone
        if let offset = try scanner.offset() {
            zone = .fixed(seconds: offset)
        } else if let name = scanner.zoneName() {
            guard let found = zones.zone(named: name) else { throw .unknownZone(name) }
            zone = found
        }
        func instant(_ day: NamedDay) throws(TimeSyntaxError) -> Int64 {
            guard var civil = day.civil(today: zone.civil(at: now)) else { throw .noSuchTime }
            civil.millisecondOfDay = clock.time
            return zone.instant(of: civil)
        }
        if let day = clock.day { return try instant(day) }
        let (ahead, last) = (try instant(.fromToday(0)), try instant(.fromToday(-1)))
        return ahead > now && last >= start ? last : ahead
    }

    /// The same day and time of day so many months away; the last day of a month that has no such.
    private func moved(by months: Int64) throws(TimeSyntaxError) -> Int64 {
        var civil = zone.civil(at: now)
        let month = Int64(civil.year * 12 + civil.month - 1) + months
        (civil.year, civil.month) = (Int(month.flooringDivision(by: 12)), Int((month % 12 + 12) % 12) + 1)
        guard (1...9_999).contains(civil.year) else { throw .outOfRange }
        while !civil.exists { civil.day -= 1 }
        return zone.instant(of: civil)
    }

    /// `2h`, `2h ago`, `2시간 전`, `한 달 전`, `-2h`, `+5m`.
    private func span(_ text: Substring) throws(TimeSyntaxError) -> Int64 {
        var body = text
        var direction: Int64 = -1
        if let sign = body.first, sign == "-" || sign == "+" {
            body.removeFirst()
            direction = sign == "+" ? 1 : -1
        } else if body.lowercased().hasSuffix("ago") {
            body.removeLast(3)
        } else if body.hasSuffix("전") {
            body.removeLast()
        }
        if let months = TimeSpan.months(String(body)) {
            return try moved(by: direction * months)
        }
        do {
            return now + direction * (try TimeSpan.milliseconds(String(body)))
        } catch {
            switch error {
            case .malformed: throw .unknownForm
            case .missingUnit: throw .missingUnit
            case .unevenUnit(let unit): throw .unevenSpan(unit: unit)
            case .tooLong: throw .outOfRange
            }
        }
    }
}

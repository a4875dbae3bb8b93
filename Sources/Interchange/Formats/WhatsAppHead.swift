internal import CommandLineKit

/// The front of a line of a WhatsApp chat: `[13/06/18, 21:25:15]`, `3/6/18, 1:55 p.m. -`, `2025년 10월 13일 오전 9:05 -`.
struct WhatsAppHead {
    /// How the front is written; the same in all of a file.
    struct Style: Hashable {
        let isBracketed: Bool
        let separator: Character
        let end: Character
    }

    let style: Style
    /// The numbers of the date as they stand, and how many digits each has.
    let numbers: [(value: Int, digits: Int)]
    let milliseconds: Int64
    let hasSeconds: Bool
    let rest: Substring

    init?(_ line: String) {
        guard let first = line.unicodeScalars.first,
            ("0"..."9").contains(first) || first == "[" || ClockText.isBlank(first)
        else { return nil }
        var clock = ClockText(line[...])
        clock.skipBlanks()
        let isBracketed = clock.take("[")
        guard let one = clock.number(1...4), let separator = Self.separator(&clock), let two = clock.number(1...4)
        else { return nil }
        guard separator == Self.separator(&clock) || separator == "년", let three = clock.number(1...4) else {
            return nil
        }
        if separator == "년" { _ = clock.take("일") }
        _ = clock.take(".")
        _ = clock.take(",")
        clock.skipBlanks()
        if clock.take("klo") || clock.take("um") { clock.skipBlanks() }
        guard let time = clock.timeOfDay() else { return nil }
        var end: Character = " "
        if isBracketed {
            guard clock.take("]") else { return nil }
            end = "]"
        } else if clock.take(" - ") || clock.take(" – ") {
            end = "-"
        } else if clock.take(":") {
            end = ":"
        } else if !clock.take(" ") {
            return nil
        }
        clock.skipBlanks()
        style = Style(isBracketed: isBracketed, separator: separator, end: end)
        numbers = [one, two, three]
        (milliseconds, hasSeconds) = time
        rest = clock.text
    }

    /// Whether it is as tools write it that read Signal's database: `[2019-12-24, 12:23]`. WhatsApp has seconds between brackets.
    var isOfSignal: Bool {
        style.isBracketed && style.separator == "-" && numbers[0].digits == 4 && !hasSeconds
    }

    private static func separator(_ clock: inout ClockText) -> Character? {
        defer { clock.skipBlanks() }
        for separator in ["/", "-", "."] as [StaticString] where clock.take(separator) {
            return separator.description.first
        }
        return clock.take("년") || clock.take("월") ? "년" : nil
    }
}

/// Which number of a date is which, and who writes.
struct WhatsAppForm {
    enum Order: CaseIterable {
        case dayMonthYear, monthDayYear, yearMonthDay, yearDayMonth, monthYearDay, dayYearMonth

        var first: DateOrder {
            switch self {
            case .dayMonthYear, .yearDayMonth, .dayYearMonth: .dayFirst
            case .monthDayYear, .yearMonthDay, .monthYearDay: .monthFirst
            }
        }

        /// Which of the three numbers is the year, from 0.
        var year: Int {
            switch self {
            case .dayMonthYear, .monthDayYear: 2
            case .yearMonthDay, .yearDayMonth: 0
            case .monthYearDay, .dayYearMonth: 1
            }
        }
    }

    let style: WhatsAppHead.Style?
    let order: Order
    let isAmbiguous: Bool
    let names: Set<String>

    func moment(_ head: WhatsAppHead) -> CivilTime? { Self.moment(head, order) }

    static func moment(_ head: WhatsAppHead, _ order: Order) -> CivilTime? {
        let (year, month, day) =
            switch order {
            case .dayMonthYear: (2, 1, 0)
            case .monthDayYear: (2, 0, 1)
            case .yearMonthDay: (0, 1, 2)
            case .yearDayMonth: (0, 2, 1)
            case .monthYearDay: (1, 0, 2)
            case .dayYearMonth: (1, 2, 0)
            }
        let numbers = head.numbers
        guard numbers[year].digits == 4 || numbers[year].digits == 2, numbers[month].digits <= 2,
            numbers[day].digits <= 2
        else {
            return nil
        }
        let whole = numbers[year].digits == 4 ? numbers[year].value : 2000 + numbers[year].value
        let date = CivilTime(
            year: whole, month: numbers[month].value, day: numbers[day].value, millisecondOfDay: head.milliseconds)
        return date.exists ? date : nil
    }

    /// Who says what. A name that is known from other lines may have its colon without a blank.
    ///
    /// Where the text begins with a mark that joins the blank before it, releases before took the blank for a part of it. The message has
    /// its name from that (`named`): so it is recognised.
    func message(_ rest: Substring) -> (name: String, text: String, named: String)? {
        if let colon = rest.firstBytes(of: ": "), colon.lowerBound != rest.startIndex {
            let text = String(rest[colon.upperBound...])
            let first = String(String.UnicodeScalarView(text.unicodeScalars.prefix(1)))
            let isJoined = first.utf8.count > 1 && (" " + first).count == 1
            return (String(rest[..<colon.lowerBound]), text, isJoined ? " " + text : text)
        }
        guard let colon = rest.firstBytes(of: ":") else { return nil }
        let name = String(rest[..<colon.lowerBound])
        guard names.contains(name) || colon.upperBound == rest.endIndex else { return nil }
        let text = String(rest[colon.upperBound...])
        return (name, text, text)
    }
}

/// What is learnt of all lines before the first is taken.
struct WhatsAppSurvey {
    private(set) var count = 0
    private var style: WhatsAppHead.Style?
    private var possible = WhatsAppForm.Order.allCases
    private var last: [Int64] = []
    private var backward: [Int] = []
    private var names: Set<String> = []
    private static let mostNames = 100_000

    mutating func add(_ head: WhatsAppHead) {
        if count == 0 {
            style = head.style
            last = possible.map { _ in .min }
            backward = possible.map { _ in 0 }
        }
        guard head.style == style else { return }
        count += 1
        // A line of a message may begin with a date, too: only what leaves some order possible counts.
        let moments = possible.map { WhatsAppForm.moment(head, $0)?.milliseconds }
        guard moments.contains(where: { $0 != nil }) else { return }
        for index in possible.indices.reversed() {
            guard let moment = moments[index] else {
                possible.remove(at: index)
                last.remove(at: index)
                backward.remove(at: index)
                continue
            }
            if moment < last[index] { backward[index] += 1 }
            last[index] = moment
        }
        if let colon = head.rest.firstBytes(of: ": "), names.count < Self.mostNames {
            names.insert(String(head.rest[..<colon.lowerBound]))
        }
    }

    /// - Parameters:
    ///   - wanted: Which of day and month comes first, as the one who imports says; `nil`: he does not. Where the year stands the file says.
    ///   - usual: Which comes first where all else leaves it open.
    /// - Returns: `nil` where no date of the file can be read as wanted.
    func form(_ wanted: DateOrder?, where usual: DateOrder) -> WhatsAppForm? {
        func best(_ isWanted: (WhatsAppForm.Order) -> Bool = { _ in true }) -> [WhatsAppForm.Order] {
            let readings = zip(possible, backward).filter { isWanted($0.0) }
            let least = readings.map(\.1).min()
            return readings.filter { $0.1 == least }.map(\.0)
        }
        var found = best()
        if let wanted {
            let years = Set(found.map(\.year))
            found = best { $0.first == wanted && years.contains($0.year) }
        }
        guard let first = found.first else { return nil }
        let isAmbiguous = found.contains(.dayMonthYear) && found.contains(.monthDayYear)
        let order = isAmbiguous && usual == .monthFirst ? .monthDayYear : first
        return WhatsAppForm(style: style, order: order, isAmbiguous: isAmbiguous, names: names)
    }
}

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
    func message(_ rest: Substring) -> (name: String, text: String)? {
        if let colon = rest.firstRange(of: ": "), colon.lowerBound != rest.startIndex {
            return (String(rest[..<colon.lowerBound]), String(rest[colon.upperBound...]))
        }
        guard let colon = rest.firstIndex(of: ":") else { return nil }
        let name = String(rest[..<colon])
        guard names.contains(name) || rest.index(after: colon) == rest.endIndex else { return nil }
        return (name, String(rest[rest.index(after: colon)...]))
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
        if let colon = head.rest.firstRange(of: ": "), names.count < Self.mostNames {
            names.insert(String(head.rest[..<colon.lowerBound]))
        }
    }

    var form: WhatsAppForm {
        let least = backward.min() ?? 0
        let best = zip(possible, backward).filter { $0.1 == least }.map(\.0)
        return WhatsAppForm(
            style: style, order: best.first ?? .dayMonthYear,
            isAmbiguous: best.contains(.dayMonthYear) && best.contains(.monthDayYear), names: names)
    }
}

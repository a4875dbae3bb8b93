/// Lengths of time as people write them: `90m`, `1h30m`, `2 hours`, `2시간`, `한 시간 반`, `이틀`.
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

    /// The milliseconds of a span: one or more whole numbers, each with a unit. Blanks between them do not matter. Korean numbers
    /// and days may be words.
    package static func milliseconds(_ text: String) throws(Failure) -> Int64 {
        var rest = text.lowercased()[...]
        var total: Int64 = 0
        rest.dropBlanks()
        if rest.isEmpty { throw .malformed }
        while !rest.isEmpty {
            if let (word, length) = words.first(where: { rest.starts(with: $0.word) }) {
                rest.removeFirst(word.count)
                rest.dropBlanks()
                total += length + (word.hasSuffix("시간") ? takeHalf(&rest) : 0)
                if total > longest { throw .tooLong }
                continue
            }
            let digits = rest.prefix { $0.isASCIIDigit }
            if digits.isEmpty { throw .malformed }
            rest.removeFirst(digits.count)
            rest.dropBlanks()
            var unit = rest.prefix { $0.isLetter }
            if unit.starts(with: "시간반") { unit.removeLast() }
            rest.removeFirst(unit.count)
            rest.dropBlanks()
            if unit.isEmpty { throw rest.isEmpty ? .missingUnit : .malformed }
            guard let length = try length(of: String(unit)) else { throw .malformed }
            guard let number = Int64(digits) else { throw .tooLong }
            let (product, overflow) = number.multipliedReportingOverflow(by: length)
            let (sum, carry) = total.addingReportingOverflow(product)
            if overflow || carry || sum > longest { throw .tooLong }
            total = sum + (unit == "시간" ? takeHalf(&rest) : 0)
        }
        return total
    }

    /// The months of `2 months`, `1y`, `한 달`, `3개월` or `일 년`: one number and one unit, as far as any date could be away.
    package static func months(_ text: String) -> Int64? {
        var rest = text.lowercased()[...]
        rest.dropBlanks()
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        if ["반년", "반 년", "half a year"].contains(where: { rest == $0 }) { return 6 }
        var number: Int64?
        let digits = rest.prefix { $0.isASCIIDigit }
        if digits.isEmpty {
            let said: [(String, Int64)] =
                [("일", 1), ("석", 3), ("넉", 4)] + numbers.enumerated().map { ($1, Int64($0 + 1)) }
            // The longer of two that begin alike is the last.
            guard let (word, value) = said.last(where: { rest.starts(with: $0.0) }) else { return nil }
            rest.removeFirst(word.count)
            number = value
        } else {
            rest.removeFirst(digits.count)
            number = Int64(digits)
        }
        rest.dropBlanks()
        guard let number, number <= 120_000 else { return nil }
        switch rest {
        case "mo", "month", "months", "개월", "달": return number
        case "y", "yr", "year", "years", "년": return number * 12
        default: return nil
        }
    }

    /// The `반` behind hours: half of one more.
    private static func takeHalf(_ rest: inout Substring) -> Int64 {
        guard rest.first == "반" else { return 0 }
        rest.removeFirst()
        rest.dropBlanks()
        return 1_800_000
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

    /// Native Korean numbers as they stand before what they count; of two that begin alike the longer comes later.
    static let numbers = ["한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열", "열한", "열두"]

    /// Words of days and hours, as they are said; the longer of two that begin alike first.
    private static let words: [(word: String, length: Int64)] = {
        let days = [
            ("하루", 1), ("이틀", 2), ("사흘", 3), ("나흘", 4), ("닷새", 5), ("엿새", 6), ("열흘", 10), ("보름", 15), ("일주일", 7),
        ]
        var all = days.map { ($0.0, Int64($0.1) * 86_400_000) }
        for (index, hour) in numbers.enumerated() {
            let length = Int64(index + 1) * 3_600_000
            for text in ["\(hour) 시간", "\(hour)시간"] { all.append((text, length)) }
        }
        return all.sorted { $0.0.count > $1.0.count }.map { (word: $0.0, length: $0.1) }
    }()

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

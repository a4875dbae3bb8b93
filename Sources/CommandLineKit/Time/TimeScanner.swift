/// Reads the parts of a time from left to right. Blanks at both ends do not count.
struct TimeScanner {
    /// A day and a time of day.
    struct Clock {
        /// `nil`: the latest on which the time of day has begun.
        var day: NamedDay?
        var time: Int64
    }

    private(set) var rest: Substring

    init(_ text: String) {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        // Korean and Japanese keyboards type digits of full width, too.
        let narrow = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    ("\u{FF10}"..."\u{FF19}").contains(scalar)
                        ? Unicode.Scalar(UInt8(scalar.value - 0xFF10) + UInt8(ascii: "0")) : scalar
                }))
        var body = narrow.drop(while: isBlank)
        while let last = body.last, isBlank(last) { body.removeLast() }
        rest = body
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ character: Character) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    /// Takes `word` in any case if it ends there, and the blanks behind it.
    mutating func takeWord(_ word: String) -> Bool {
        let end = rest.firstIndex { $0 == " " || $0 == "\t" } ?? rest.endIndex
        guard rest[..<end].lowercased() == word else { return false }
        rest = rest[end...]
        rest.dropBlanks()
        return true
    }

    /// Takes `word` where the rest begins with it, whatever follows. Composed and decomposed Hangul are the same here.
    mutating func takePrefix(_ word: String) -> Bool {
        guard rest.starts(with: word) else { return false }
        rest.removeFirst(word.count)
        return true
    }

    /// Puts words before the rest: what a word stands for that means several.
    mutating func put(_ words: String) { rest = Substring(words + rest) }

    /// Whether ``takeWord(_:)`` would take `word`.
    func startsWithWord(_ word: String) -> Bool {
        var copy = self
        return copy.takeWord(word)
    }

    mutating func dropBlanks() { rest.dropBlanks() }

    mutating func digits() -> Substring? {
        let digits = rest.prefix { $0.isASCIIDigit }
        rest.removeFirst(digits.count)
        return digits.isEmpty ? nil : digits
    }

    /// The milliseconds of `.5` or `.123456`; finer digits are dropped. `nil` if there is no point.
    mutating func fraction() throws(TimeSyntaxError) -> Int64? {
        guard take(".") else { return nil }
        guard let digits = digits() else { throw .unknownForm }
        return Int64((digits + "00").prefix(3))
    }

    /// `2026-08-01`, `2026-08-01 09:00`, `2026-08-01 오전 9시`, `2026-08-01T09:00:00.123` or `09:00`; `nil` if it looks like none
    /// of them.
    mutating func dateOrTime() throws(TimeSyntaxError) -> Clock? {
        guard isDate else {
            return try clock().map { Clock(day: nil, time: $0) }
        }
        guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2) else {
            throw .unknownForm
        }
        let date = CivilTime(year: year, month: month, day: day)
        if !date.exists { throw .noSuchTime }
        if take("T") || take("t") {
            guard let time = try timeOfDay() else { throw .unknownForm }
            return Clock(day: .date(date), time: time)
        }
        rest.dropBlanks()
        return Clock(day: .date(date), time: try clock() ?? 0)
    }

    /// `09:00`, `09:00:00` or `09:00:00.123` as milliseconds since midnight, and the blanks behind it; `nil` if no
    /// digits and a colon follow. A leap second (`:60`) is the first of the next minute, as POSIX counts.
    mutating func timeOfDay() throws(TimeSyntaxError) -> Int64? {
        let digits = rest.prefix { $0.isASCIIDigit }
        guard (1...2).contains(digits.count), rest.dropFirst(digits.count).first == ":" else { return nil }
        guard let hour = self.digits().flatMap({ Int64($0) }), take(":"), let minute = number(2) else {
            throw .unknownForm
        }
        var second = 0
        var fraction: Int64 = 0
        if take(":") {
            guard let value = number(2) else { throw .unknownForm }
            second = value
            fraction = try self.fraction() ?? 0
        }
        guard hour < 24, minute < 60, second <= 60 else { throw .noSuchTime }
        rest.dropBlanks()
        return (hour * 3_600 + Int64(minute) * 60 + Int64(second)) * 1_000 + fraction
    }

    /// `Z`, `UTC`, `+09:00` or `+0900` in seconds, if it ends the text.
    mutating func offset() throws(TimeSyntaxError) -> Int? {
        if takeWord("z") || takeWord("utc") { return 0 }
        guard let sign = rest.first, sign == "+" || sign == "-" else { return nil }
        rest.removeFirst()
        guard let hours = number(2) else { throw .unknownForm }
        _ = take(":")
        guard let minutes = number(2) else { throw .unknownForm }
        guard hours < 24, minutes < 60 else { throw .noSuchTime }
        return (hours * 3_600 + minutes * 60) * (sign == "-" ? -1 : 1)
    }

    /// The rest, if it is a word that could name a zone.
    mutating func zoneName() -> String? {
        guard let first = rest.first, first.isLetter, first.isASCII else { return nil }
        defer { rest = rest[rest.endIndex...] }
        return String(rest)
    }

    private var isDate: Bool {
        let digits = rest.prefix { $0.isASCIIDigit }
        return digits.count == 4 && rest.dropFirst(4).first == "-"
    }

    /// A number of exactly so many digits.
    private mutating func number(_ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        rest.removeFirst(count)
        return Int(digits)
    }
}

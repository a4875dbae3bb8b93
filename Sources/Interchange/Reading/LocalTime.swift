internal import CommandLineKit

/// Reads what people's clocks show, from the front of a text.
struct ClockText {
    private(set) var rest: Substring.UnicodeScalarView

    init(_ text: Substring) { rest = text.unicodeScalars }

    var text: Substring { Substring(rest) }
    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ text: StaticString) -> Bool {
        let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        let utf8 = Substring(rest).utf8
        guard utf8.starts(with: bytes) else { return false }
        rest = rest[utf8.index(rest.startIndex, offsetBy: bytes.count)...]
        return true
    }

    /// A number of so many digits.
    mutating func number(_ digits: ClosedRange<Int>) -> (value: Int, digits: Int)? {
        var (value, count) = (0, 0)
        var left = rest
        while count < digits.upperBound, let first = left.first, ("0"..."9").contains(first) {
            value = value * 10 + Int(first.value - 0x30)
            left.removeFirst()
            count += 1
        }
        guard count >= digits.lowerBound else { return nil }
        if let first = left.first, ("0"..."9").contains(first) { return nil }
        rest = left
        return (value, count)
    }

    /// Blanks of any width, and marks of direction that show nothing.
    mutating func skipBlanks() {
        while let first = rest.first, Self.isBlank(first) { rest.removeFirst() }
    }

    static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20, 0x09, 0xa0, 0x202f, 0x2007, 0x2009, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069, 0xfeff: true
        default: false
        }
    }

    enum Half { case morning, afternoon }

    /// 오전, 오후, AM, PM, a.m., `p. m.`
    mutating func half() -> Half? {
        let before = rest
        if take("오전") { return .morning }
        if take("오후") { return .afternoon }
        guard let letter = rest.first, "aApP".unicodeScalars.contains(letter) else { return nil }
        rest.removeFirst()
        _ = take(".")
        skipBlanks()
        guard take("m") || take("M") else {
            rest = before
            return nil
        }
        _ = take(".")
        return letter == "a" || letter == "A" ? .morning : .afternoon
    }

    /// `9:05`, `21:05:07`, `오후 9:05`, `9.05.10 PM`: milliseconds since midnight, and whether seconds were written.
    mutating func timeOfDay() -> (milliseconds: Int64, hasSeconds: Bool)? {
        let before = rest
        guard let found = readTimeOfDay() else {
            rest = before
            return nil
        }
        return found
    }

    private mutating func readTimeOfDay() -> (milliseconds: Int64, hasSeconds: Bool)? {
        var half = half()
        skipBlanks()
        guard let hour = number(1...2), take(":") || take("."), let minute = number(2...2), minute.value < 60 else {
            return nil
        }
        var second: Int?
        var left = self
        if left.take(":") || left.take("."), let value = left.number(2...2), value.value < 60 {
            second = value.value
            self = left
        }
        if half == nil {
            var left = self
            left.skipBlanks()
            if let found = left.half() {
                half = found
                self = left
            }
        }
        var hours = hour.value
        if let half, hours <= 12 { hours = hours % 12 + (half == .afternoon ? 12 : 0) }
        guard hours < 24 else { return nil }
        return ((Int64(hours) * 60 + Int64(minute.value)) * 60_000 + Int64(second ?? 0) * 1_000, second != nil)
    }

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]

    /// The number of an English month, in full or by three letters.
    mutating func month() -> Int? {
        let word = String(String.UnicodeScalarView(rest.prefix { $0.properties.isAlphabetic })).lowercased()
        guard word.utf8.count >= 3, let index = Self.months.firstIndex(where: { $0.hasPrefix(word) }) else {
            return nil
        }
        rest.removeFirst(word.unicodeScalars.count)
        _ = take(".")
        return index + 1
    }
}

extension JSONValue {
    /// A number in the one form that all ways of writing it have in common, exact whatever its size: `7`, `7.0` and `70e-1` give `7`.
    /// `nil` if it is no number, or its exponent has more than nine digits.
    ///
    /// With all digits but leading and trailing zeros as an integer d and the number as d·10^e, it is written out, `-0.125` or `4200`,
    /// where the zeros that takes are at most 20; otherwise as `<d>e<e>`. Zero is `0`.
    package var plainNumber: String? {
        guard kind == .number else { return nil }
        var digits: [UInt8] = []
        var exponent = 0
        var isFraction = false
        var rest = raw[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest.removeFirst() }
        while let byte = rest.popFirst() {
            if isDigit(byte) {
                digits.append(byte)
                if isFraction { exponent -= 1 }
            } else if byte == UInt8(ascii: ".") {
                isFraction = true
            } else {
                guard let power = Self.power(rest) else { return nil }
                exponent += power
                break
            }
        }
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        let significant = digits.drop { $0 == UInt8(ascii: "0") }
        if significant.isEmpty { return "0" }
        return (isNegative ? "-" : "") + Self.text(String(decoding: significant, as: UTF8.self), exponent)
    }

    /// What stands behind the `e`.
    private static func power(_ text: ArraySlice<UInt8>) -> Int? {
        let digits = text.drop { !isDigit($0) }.drop { $0 == UInt8(ascii: "0") }
        guard digits.count <= 9 else { return nil }
        let value = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return text.first == UInt8(ascii: "-") ? -value : value
    }

    private static func text(_ digits: String, _ exponent: Int) -> String {
        func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
        let point = digits.utf8.count + exponent
        guard exponent <= 20, point >= -20 else { return "\(digits)e\(exponent)" }
        if exponent >= 0 { return digits + zeros(exponent) }
        if point <= 0 { return "0." + zeros(-point) + digits }
        return "\(digits.prefix(point)).\(digits.dropFirst(point))"
    }
}

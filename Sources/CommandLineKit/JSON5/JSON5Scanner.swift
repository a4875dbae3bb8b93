/// The words of JSON5: blanks and comments, names, strings and numbers, with the place of each.
struct JSON5Scanner {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private(set) var position = TextPosition(line: 1, column: 1)

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    /// The scalar to be read next, `nil` at the end.
    var next: Unicode.Scalar? { peek(0) }

    private func peek(_ distance: Int) -> Unicode.Scalar? {
        index + distance < scalars.count ? scalars[index + distance] : nil
    }

    mutating func advance() {
        guard let scalar = next else { return }
        index += 1
        if scalar.isLineEnd && !(scalar == "\r" && next == "\n") {
            position = TextPosition(line: position.line + 1, column: 1)
        } else {
            position.column += 1
        }
    }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        advance()
        return true
    }

    func error(_ message: String, at position: TextPosition) -> JSON5SyntaxError {
        JSON5SyntaxError(position: position, message: message)
    }

    func unexpected(_ expected: String) -> JSON5SyntaxError {
        guard let next else { return error("expected \(expected), but the text ends", at: position) }
        let shown =
            next.properties.isWhitespace || next.value < 0x20 || next.value >= 0x7F
            ? "U+" + String(next.value, radix: 16, uppercase: true) : "'\(next)'"
        return error("expected \(expected), not \(shown)", at: position)
    }

    /// Skips white space, line ends and comments.
    mutating func skipBlank() throws(JSON5SyntaxError) {
        while let scalar = next {
            if scalar.isBlank || scalar.isLineEnd {
                advance()
            } else if scalar == "/", peek(1) == "/" {
                while let inside = next, !inside.isLineEnd { advance() }
            } else if scalar == "/", peek(1) == "*" {
                try skipBlockComment()
            } else {
                return
            }
        }
    }

    private mutating func skipBlockComment() throws(JSON5SyntaxError) {
        let start = position
        advance()
        advance()
        while next != nil {
            if next == "*", peek(1) == "/" {
                advance()
                advance()
                return
            }
            advance()
        }
        throw error("this comment is never closed by */", at: start)
    }

    /// A name without quotes (ECMAScript 5.1 §7.6), `\u` escapes included.
    mutating func identifier() throws(JSON5SyntaxError) -> String {
        var name = String.UnicodeScalarView()
        while let scalar = next {
            if scalar == "\\" {
                let start = position
                advance()
                guard take("u") else { throw unexpected("'u' after '\\' in a name") }
                let escaped = try unicodeEscape(from: start)
                guard name.isEmpty ? escaped.startsIdentifier : escaped.continuesIdentifier else {
                    throw error("this character cannot stand in a name without quotes", at: start)
                }
                name.append(escaped)
            } else if scalar.continuesIdentifier {
                name.append(scalar)
                advance()
            } else {
                break
            }
        }
        return String(name)
    }

    /// A string in single or double quotes.
    mutating func string() throws(JSON5SyntaxError) -> String {
        let start = position
        let quote = next
        advance()
        var text = String.UnicodeScalarView()
        while let scalar = next {
            if scalar == quote {
                advance()
                return String(text)
            } else if scalar == "\\" {
                if let escaped = try escape() { text.append(escaped) }
            } else if scalar == "\n" || scalar == "\r" {
                throw error("this string is not closed on its line", at: start)
            } else {
                text.append(scalar)
                advance()
            }
        }
        throw error("this string is never closed", at: start)
    }

    /// What a backslash and what follows stand for; `nil` for a continued line.
    private mutating func escape() throws(JSON5SyntaxError) -> Unicode.Scalar? {
        let start = position
        advance()
        guard let letter = next else { throw unexpected("a character after '\\'") }
        advance()
        switch letter {
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "v": return "\u{B}"
        case "0":
            if next?.isDigit == true { throw error("octal escapes are not allowed; write \\x or \\u", at: start) }
            return "\0"
        case "x":
            guard let scalar = Unicode.Scalar(try hexadecimal(2, from: start)) else { return nil }
            return scalar
        case "u": return try unicodeEscape(from: start)
        case "\r":
            _ = take("\n")
            return nil
        case let scalar where scalar.isLineEnd: return nil
        case let scalar where scalar.isDigit: throw error("'\\\(scalar)' is no escape", at: start)
        default: return letter
        }
    }

    /// The four digits after `\u`, with the second escape of a surrogate pair.
    private mutating func unicodeEscape(from start: TextPosition) throws(JSON5SyntaxError) -> Unicode.Scalar {
        let high = try hexadecimal(4, from: start)
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard high < 0xDC00, take("\\"), take("u") else { throw error("half of a surrogate pair", at: start) }
        let low = try hexadecimal(4, from: start)
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw error("half of a surrogate pair", at: start) }
        return scalar
    }

    private mutating func hexadecimal(_ count: Int, from start: TextPosition) throws(JSON5SyntaxError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let digit = next?.hexadecimalValue else {
                throw error("this escape needs \(count) hexadecimal digits", at: start)
            }
            value = value << 4 | digit
            advance()
        }
        return value
    }

    /// A number: decimal with fraction and exponent, hexadecimal, `Infinity` or `NaN`, with an optional sign.
    mutating func number() throws(JSON5SyntaxError) -> Double {
        let start = position
        let isNegative = next == "-"
        if isNegative || next == "+" { advance() }
        let magnitude = try unsignedNumber(from: start)
        if let scalar = next, scalar.continuesIdentifier || scalar == "." {
            throw error("this is no number; a string needs quotes", at: start)
        }
        return isNegative ? -magnitude : magnitude
    }

    private mutating func unsignedNumber(from start: TextPosition) throws(JSON5SyntaxError) -> Double {
        if let scalar = next, scalar.startsIdentifier {
            switch try identifier() {
            case "Infinity": return .infinity
            case "NaN": return .nan
            default: throw error("this is no number; a string needs quotes", at: start)
            }
        }
        if next == "0", peek(1) == "x" || peek(1) == "X" {
            advance()
            advance()
            return try hexadecimalNumber(from: start)
        }
        if next == "0", peek(1)?.isDigit == true {
            throw error("a number does not begin with 0; an octal mode is a string: \"0660\"", at: start)
        }
        let whole = digits()
        var text = whole.isEmpty ? "0" : whole
        var fraction = ""
        if take(".") { fraction = digits() }
        if whole.isEmpty && fraction.isEmpty { throw unexpected("a digit") }
        if !fraction.isEmpty { text += "." + fraction }
        if next == "e" || next == "E" {
            advance()
            text += "e"
            if next == "-" || next == "+" {
                text += next == "-" ? "-" : "+"
                advance()
            }
            let exponent = digits()
            if exponent.isEmpty { throw unexpected("a digit in the exponent") }
            text += exponent
        }
        guard let value = Double(text) else { throw error("this is no number", at: start) }
        return value
    }

    private mutating func hexadecimalNumber(from start: TextPosition) throws(JSON5SyntaxError) -> Double {
        var value = 0.0
        var count = 0
        while let digit = next?.hexadecimalValue {
            value = value * 16 + Double(digit)
            count += 1
            advance()
        }
        if count == 0 { throw unexpected("a hexadecimal digit") }
        return value
    }

    private mutating func digits() -> String {
        var text = String.UnicodeScalarView()
        while let scalar = next, scalar.isDigit {
            text.append(scalar)
            advance()
        }
        return String(text)
    }
}

extension Unicode.Scalar {
    var isDigit: Bool { ("0"..."9").contains(self) }

    /// A line end of ECMAScript 5.1 §7.3.
    var isLineEnd: Bool { self == "\n" || self == "\r" || self == "\u{2028}" || self == "\u{2029}" }

    /// White space of JSON5 §8, line ends apart.
    var isBlank: Bool {
        switch self {
        case "\t", "\u{B}", "\u{C}", " ", "\u{A0}", "\u{FEFF}": true
        default: properties.generalCategory == .spaceSeparator
        }
    }

    var startsIdentifier: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber: true
        default: self == "$" || self == "_"
        }
    }

    var continuesIdentifier: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .decimalNumber, .connectorPunctuation: true
        default: startsIdentifier || self == "\u{200C}" || self == "\u{200D}"
        }
    }

    var hexadecimalValue: UInt32? {
        switch self {
        case "0"..."9": value - 0x30
        case "a"..."f": value - 0x61 + 10
        case "A"..."F": value - 0x41 + 10
        default: nil
        }
    }
}

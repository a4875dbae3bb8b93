/// Why bytes are not the JSON text they should be, and where that shows.
package struct JSONError: Error, Hashable, CustomStringConvertible {
    /// What is wrong, as the end of a sentence.
    package enum Reason: String, Hashable, Sendable {
        case empty = "empty text"
        case unexpectedEnd = "text ends too early"
        case byteOrderMark = "byte order mark is not allowed"
        case expectedObject = "not a JSON object"
        case expectedValue = "a value is expected"
        case expectedName = "a member name in quotes is expected"
        case expectedColon = "a colon is expected"
        case expectedCommaOrBrace = "a comma or } is expected"
        case expectedCommaOrBracket = "a comma or ] is expected"
        case invalidLiteral = "unknown word"
        case leadingZero = "number has a leading zero"
        case expectedDigit = "a digit is expected"
        case controlCharacter = "control character in a string is not escaped"
        case invalidEscape = "unknown escape in a string"
        case invalidUTF8 = "not UTF-8"
        case tooDeep = "nested too deep"
        case duplicateMember = "duplicate member"
        case trailingText = "text after the end of the value"
    }

    package let reason: Reason
    /// Byte offset in the text.
    package let offset: Int

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    package var description: String { "\(reason.rawValue) at byte \(offset)" }
}

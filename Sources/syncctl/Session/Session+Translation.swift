internal import CommandLineKit

extension Session {
    /// A sentence of another module, in the language of the answer.
    func translated(_ english: String) -> String {
        outputLanguage == .korean ? KoreanTexts.text(of: english) ?? english : english
    }

    /// Where a record of an export stands, in the language of the answer.
    func place(_ text: String) -> String {
        let number = text.dropFirst(5)
        return text.hasPrefix("line ") && UInt64(number) != nil ? shown(.placeLine, String(number)) : text
    }

    /// The text of an error that does not end the command: in Korean what its code means stands before it.
    func explained(_ message: String, code: String) -> String {
        guard outputLanguage == .korean, let meaning = KoreanErrors.meanings[code] else { return message }
        return "\(meaning) \(message)"
    }
}

/// In which language people are spoken to. Codes, JSON and the columns of CSV are in English in all of them.
package enum Language: String, Sendable, CaseIterable {
    /// English, which every text has.
    case english = "en"
    /// Korean.
    case korean = "ko"

    /// The language of a process: `SILLOK_LANG`, else the locale of messages as POSIX has it: the first of `LC_ALL`, `LC_MESSAGES` and
    /// `LANG` that is set and not empty.
    package init(environment: [String: String]) {
        let names = ["SILLOK_LANG", "LC_ALL", "LC_MESSAGES", "LANG"]
        let locale = names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let name = locale.lowercased().prefix { $0.isLetter }
        self = name == "ko" || name == "korean" ? .korean : .english
    }
}

/// A text in both languages. `{0}`, `{1}` stand for what is filled in.
package struct Phrase: Sendable, Equatable {
    /// The English text.
    package let english: String
    /// The Korean text.
    package let korean: String

    /// A text that says the same in both.
    package init(_ english: String, _ korean: String) {
        self.english = english
        self.korean = korean
    }

    /// The text in a language, with these values in their places. A value is not looked at again: it may have braces in it.
    package func text(_ language: Language, _ values: [String] = []) -> String {
        let template = language == .korean ? korean : english
        guard !values.isEmpty else { return template }
        var out = ""
        var rest = template[...]
        while let open = rest.firstIndex(of: "{") {
            out += rest[..<open]
            let digit = rest.index(after: open)
            let close = digit < rest.endIndex ? rest.index(after: digit) : digit
            guard close < rest.endIndex, rest[close] == "}", let number = rest[digit].wholeNumberValue,
                values.indices.contains(number)
            else {
                out.append(rest[open])
                rest = rest[digit...]
                continue
            }
            out += values[number]
            rest = rest[rest.index(after: close)...]
        }
        return out + rest
    }
}

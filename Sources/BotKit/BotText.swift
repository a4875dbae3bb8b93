internal import EventStore

/// A text in the languages that a bot speaks, by their codes (`en`, `ko`).
package struct BotText: Equatable, Sendable {
    package let byLanguage: [String: String]
    /// In the order in which they are written.
    package let languages: [String]

    package init(_ byLanguage: [String: String]) {
        (self.byLanguage, languages) = (byLanguage, byLanguage.keys.sorted())
    }

    /// - Parameter texts: Each language once.
    package init(inOrder texts: [(language: String, text: String)]) {
        byLanguage = Dictionary(texts.map { ($0.language, $0.text) }) { first, _ in first }
        languages = texts.map(\.language)
    }

    /// The text in a language; else in English, else in the first there is.
    package func text(_ language: String) -> String? {
        byLanguage[language] ?? byLanguage["en"] ?? byLanguage.min { $0.key < $1.key }?.value
    }
}

/// Which language a user is answered in.
package enum SpokenLanguage {
    /// What the profile says, if the bot speaks it; else Korean for what has Hangul in it, and the first other one for what has other
    /// letters; where there are none, the bot's first.
    ///
    /// - Parameter spoken: The languages of the bot, in its order.
    package static func of(_ text: String, profile: String?, spoken: [String]) -> String {
        if let profile, spoken.contains(profile) { return profile }
        let other = spoken.first { $0 != "ko" }
        if spoken.contains("ko"), isKorean(text) { return "ko" }
        if let other, text.unicodeScalars.contains(where: \.properties.isAlphabetic) { return other }
        return spoken.first ?? "en"
    }

    /// Whether a text tells that its writer reads Korean.
    static func isKorean(_ text: String) -> Bool { text.unicodeScalars.contains(where: isHangul) }

    private static func isHangul(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x11ff, 0x3130...0x318f, 0xa960...0xa97f, 0xac00...0xd7ff: true
        default: false
        }
    }
}

/// Texts as they are searched for words: in normalisation form C, without regard to case, scalar by scalar, and without what shows nothing.
///
/// A character of the standard library has all marks and joiners behind it in it: a word with one at its end would be another word.
struct FoldedText {
    let scalars: [Unicode.Scalar]

    init(_ text: some StringProtocol) {
        var found: [Unicode.Scalar] = []
        CanonicalForm.each(in: text.lowercased().unicodeScalars) { scalar in
            if !scalar.properties.isDefaultIgnorableCodePoint { found.append(scalar) }
        }
        scalars = found
    }

    private init(_ scalars: [Unicode.Scalar]) { self.scalars = scalars }

    func contains(_ word: FoldedText) -> Bool {
        guard let first = word.scalars.first, word.scalars.count <= scalars.count else { return false }
        for start in 0...(scalars.count - word.scalars.count) where scalars[start] == first {
            if scalars[start...].starts(with: word.scalars) { return true }
        }
        return false
    }

    func containsAny(of words: [String]) -> Bool { words.contains { contains(FoldedText($0)) } }

    /// Without blanks, and without the marks of a sentence's end around it: people space Korean as they like.
    var joined: FoldedText {
        let isEdge = { (scalar: Unicode.Scalar) in ".!?~。！？".unicodeScalars.contains(scalar) }
        var rest = scalars.filter { !$0.properties.isWhitespace }[...].drop(while: isEdge)
        while let last = rest.last, isEdge(last) { rest.removeLast() }
        return FoldedText(Array(rest))
    }
}

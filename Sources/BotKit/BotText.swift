/// A text in the languages that a bot speaks, by their codes (`en`, `ko`).
package struct BotText: Equatable, Sendable {
    package var byLanguage: [String: String]

    package init(_ byLanguage: [String: String]) { self.byLanguage = byLanguage }

    /// The text in a language; else in English, else in the first there is.
    package func text(_ language: String) -> String? {
        byLanguage[language] ?? byLanguage["en"] ?? byLanguage.min { $0.key < $1.key }?.value
    }
}

/// Which language a user is answered in.
package enum SpokenLanguage {
    /// What the profile says, if the bot speaks it; else Korean for what has Hangul in it; else the bot's first.
    package static func of(_ text: String, profile: String?, spoken: [String]) -> String {
        if let profile, spoken.contains(profile) { return profile }
        if spoken.contains("ko"), text.unicodeScalars.contains(where: isHangul) { return "ko" }
        return spoken.first { $0 != "ko" } ?? spoken.first ?? "en"
    }

    private static func isHangul(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x11ff, 0x3130...0x318f, 0xa960...0xa97f, 0xac00...0xd7ff: true
        default: false
        }
    }
}

/// Texts as they are searched for words: without regard to case, by characters, so that composed and decomposed Hangul are the same.
struct FoldedText {
    let characters: [Character]

    init(_ text: some StringProtocol) { characters = Array(text.lowercased()) }
    private init(_ characters: [Character]) { self.characters = characters }

    func contains(_ word: FoldedText) -> Bool {
        guard let first = word.characters.first, word.characters.count <= characters.count else { return false }
        for start in 0...(characters.count - word.characters.count) where characters[start] == first {
            if characters[start...].starts(with: word.characters) { return true }
        }
        return false
    }

    func containsAny(of words: [String]) -> Bool { words.contains { contains(FoldedText($0)) } }

    func last(_ count: Int) -> FoldedText { FoldedText(Array(characters.suffix(count))) }

    /// Without blanks, and the marks of a sentence's end, around it.
    var trimmed: FoldedText {
        let isEdge = { (character: Character) in character.isWhitespace || ".!?~。！？".contains(character) }
        var rest = characters[...].drop(while: isEdge)
        while let last = rest.last, isEdge(last) { rest.removeLast() }
        return FoldedText(Array(rest))
    }
}

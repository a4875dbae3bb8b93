internal import CommandLineKit

/// Sentences that other modules make, which speak English alone, and their Korean texts. They say why a record of an export was passed
/// over, what keeps something from being proven, why an event cannot be read, what to do about a finding or after an error.
///
/// What is filled in stands as `{0}`, `{1}` … in this order in the English text. A sentence that is not here is shown
/// as it came. `SpokenTests` finds a reason or a hint without a Korean text, and a text that no module says any longer.
enum KoreanTexts {
    private static let all =
        passedOver + readOtherwise + formats + notCovered + drills + actions + actionsOfDaemon + unread
        + circumstances

    private static let hints =
        hintsOfStores + hintsOfNodes + hintsOfCommands + hintsOfBackups + actions + actionsOfDaemon + hintsOfWords

    /// What to try after an error. `nil`: there is none, as of a hint that is a command line.
    static func hint(of english: String) -> String? {
        for phrase in hints {
            if let values = values(of: english, in: phrase.english) { return phrase.text(.korean, values) }
        }
        return nil
    }

    /// `nil`: there is none.
    static func text(of english: String) -> String? {
        for phrase in all {
            // A remark has a reason in it, which is a sentence of its own.
            guard let values = values(of: english, in: phrase.english) else { continue }
            return phrase.text(.korean, values.map { text(of: $0) ?? $0 })
        }
        return nil
    }

    /// What is filled in, where `text` is made of `template`.
    static func values(of text: String, in template: String) -> [String]? {
        var pieces: [Substring] = []
        var end = template[...]
        while let place = end.firstRange(of: "{\(pieces.count)}") {
            pieces.append(end[..<place.lowerBound])
            end = end[place.upperBound...]
        }
        guard let start = pieces.first else { return text == template ? [] : nil }
        guard text.hasPrefix(start) else { return nil }
        var rest = text.dropFirst(start.count)
        var values: [String] = []
        for piece in pieces.dropFirst() {
            guard let found = rest.firstRange(of: piece) else { return nil }
            values.append(String(rest[..<found.lowerBound]))
            rest = rest[found.upperBound...]
        }
        guard rest.hasSuffix(end) else { return nil }
        return values + [String(rest.dropLast(end.count))]
    }
}

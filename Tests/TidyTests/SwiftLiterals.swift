/// The string literals of a Swift text. What is interpolated stands as `{}`, and texts with a `+` between them are one.
struct SwiftLiterals {
    struct Literal {
        var text: String
        /// It is the first argument of one of the calls, one with the label, or a part of it: not an argument of a
        /// further call in there.
        let isSaid: Bool
    }

    private(set) var all: [Literal] = []
    private let characters: [Character]
    private let isCall: (String) -> Bool
    private let label: String?
    private var at = 0
    /// Where the last literal ended, and which it was.
    private var last: (end: Int, index: Int)?

    /// - Parameters:
    ///   - label: What is said stands behind it, in any call.
    ///   - isCall: Whether a name before a parenthesis, with what stands before its dots, is one of the calls.
    init(_ text: String, label: String? = nil, isCall: @escaping (String) -> Bool = { _ in false }) {
        (characters, self.label, self.isCall) = (Array(text), label, isCall)
        while at < characters.count { walk(isSaid: false, firstOnly: false) }
    }

    /// What people are told: the text itself, whatever makes it safe for a terminal.
    private static let transparent: Set<String> = ["", "Sanitizer.line", "Sanitizer.lines"]

    /// Up to behind the bracket that ends this level.
    private mutating func walk(isSaid outer: Bool, firstOnly: Bool, isCall inCall: Bool = false) {
        var (isSaid, firstOnly) = (outer, firstOnly)
        while at < characters.count {
            let character = characters[at]
            switch character {
            case "\"":
                literal(isSaid: isSaid)
                continue
            case "/" where at + 1 < characters.count && characters[at + 1] == "/":
                while at < characters.count, !characters[at].isNewline { at += 1 }
                continue
            case "," where firstOnly: isSaid = false
            case ":" where inCall && nameBefore(at) == label: (isSaid, firstOnly) = (true, true)
            case "(", "[", "{":
                let name = nameBefore(at)
                at += 1
                if character == "(", isCall(name) {
                    walk(isSaid: true, firstOnly: true, isCall: true)
                } else {
                    let isPart = character == "{" || Self.transparent.contains(name)
                    walk(isSaid: isSaid && isPart, firstOnly: false, isCall: character == "(")
                }
                continue
            case ")", "]", "}":
                at += 1
                return
            default: break
            }
            at += 1
        }
    }

    /// `session.output.line`, directly before a bracket.
    private func nameBefore(_ bracket: Int) -> String {
        var start = bracket
        while start > 0 {
            let character = characters[start - 1]
            guard character.isLetter || character.isNumber || "_.?".contains(character) else { break }
            start -= 1
        }
        return String(characters[start..<bracket])
    }

    private func stands(_ text: [Character], at place: Int) -> Bool {
        let end = place + text.count
        return end <= characters.count && characters[place] == text[0] && characters[place..<end].elementsEqual(text)
    }

    private mutating func literal(isSaid: Bool) {
        let joined = last.flatMap { last in
            let between = characters[last.end..<at].filter { !$0.isWhitespace }
            return between == ["+"] && all[last.index].isSaid == isSaid ? last.index : nil
        }
        var pounds = 0
        while at > pounds, characters[at - pounds - 1] == "#" { pounds += 1 }
        let quotes = stands(["\"", "\"", "\""], at: at) ? 3 : 1
        let marks = [Character](repeating: "#", count: pounds)
        let (end, escape) = ([Character](repeating: "\"", count: quotes) + marks, ["\\"] + marks)
        at += quotes
        var text = ""
        while at < characters.count, !stands(end, at: at) {
            guard stands(escape, at: at) else {
                text.append(characters[at])
                at += 1
                continue
            }
            at += escape.count
            guard at < characters.count else { break }
            let escaped = characters[at]
            at += 1
            if escaped == "(" {
                walk(isSaid: false, firstOnly: false)
                text += "{}"
            } else if escaped == "u" {
                while at < characters.count, characters[at - 1] != "}" { at += 1 }
            } else {
                // A tab parts words. A line end that is escaped is none.
                text += escaped.isNewline ? "" : "\"'\\".contains(escaped) ? String(escaped) : " "
            }
        }
        at = min(characters.count, at + end.count)
        if let joined { all[joined].text += text } else { all.append(Literal(text: text, isSaid: isSaid)) }
        last = (at, joined ?? all.count - 1)
    }
}

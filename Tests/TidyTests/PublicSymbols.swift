/// What a program sees that imports a library: the public declarations of Swift files laid out by `swift format`, so that a declaration
/// begins a line and its indentation says what it stands in.
struct PublicSymbols {
    struct Symbol: Hashable, Comparable {
        /// As the compiler names it: `Type.method(label:)`.
        let name: String
        /// The first sentence of its documentation; empty without any.
        let summary: String
        let isThrowing: Bool

        static func < (one: Symbol, other: Symbol) -> Bool { one.name < other.name }
    }

    private(set) var all: [Symbol] = []

    private static let types: Set = ["struct", "class", "enum", "actor", "protocol", "extension"]
    private static let members: Set = ["func", "var", "let", "typealias", "case", "init", "subscript"]

    /// What the declarations around a line are.
    private struct Scope {
        let indentation: Int
        let name: String
        /// Whether its cases are public.
        let isPublicEnum: Bool
    }

    init(_ files: [String]) {
        for file in files { read(file.split(separator: "\n", omittingEmptySubsequences: false)) }
        all = Set(all).sorted()
    }

    private mutating func read(_ lines: [Substring]) {
        var scopes: [Scope] = []
        var documentation: [Substring] = []
        for (number, line) in lines.enumerated() {
            let text = line.drop { $0 == " " }
            let indentation = line.count - text.count
            if text.hasPrefix("///") {
                documentation.append(text.dropFirst(3))
                continue
            }
            if text.hasPrefix("@") { continue }
            defer { documentation = [] }
            guard !text.isEmpty else { continue }
            scopes.removeAll { $0.indentation >= indentation }
            let words = text.split(separator: " ")
            let isPublic = words.contains("public")
            guard
                let at = words.firstIndex(where: {
                    Self.types.contains(Self.letters($0)) || Self.members.contains(Self.letters($0))
                }),
                words[..<at].allSatisfy(Self.isModifier)
            else { continue }
            let keyword = Self.letters(words[at])
            if Self.types.contains(keyword) {
                let name = String(Self.path(words.dropFirst(at + 1).first ?? ""))
                if isPublic, keyword != "extension" { add(scopes, name, documentation) }
                scopes.append(
                    Scope(indentation: indentation, name: name, isPublicEnum: isPublic && keyword == "enum"))
            } else if keyword == "case" {
                guard let scope = scopes.last, scope.isPublicEnum, scope.indentation + 4 == indentation else {
                    continue
                }
                let rest = text.dropFirst("case ".count)
                for name in Self.cases(rest) { add(scopes, name, documentation) }
            } else if isPublic {
                let signature = lines[number...].prefix(12).joined(separator: " ")
                add(
                    scopes, Self.member(keyword, signature), documentation,
                    isThrowing: Self.head(lines[number...], indentation).contains(" throws"))
            }
        }
    }

    private mutating func add(
        _ scopes: [Scope], _ name: String, _ documentation: [Substring], isThrowing: Bool = false
    ) {
        all.append(
            Symbol(
                name: (scopes.map(\.name) + [name]).joined(separator: "."), summary: Self.sentence(documentation),
                isThrowing: isThrowing))
    }

    /// A declaration without its body: one line, or all to the one that ends the parameters.
    private static func head(_ lines: ArraySlice<Substring>, _ indentation: Int) -> String {
        guard let first = lines.first, first.hasSuffix("(") else { return String(lines.first ?? "") }
        let end = String(repeating: " ", count: indentation) + ")"
        let last = lines.firstIndex { $0.hasPrefix(end) } ?? lines.startIndex
        return lines[...last].joined(separator: " ")
    }

    private static func letters(_ word: Substring) -> String { String(word.prefix { $0.isLetter }) }

    private static func isModifier(_ word: Substring) -> Bool {
        word.first?.isLetter == true && word.allSatisfy { $0.isLetter || $0 == "(" || $0 == ")" } || word.first == "@"
    }

    /// A type's name, with those it stands in.
    private static func path(_ word: Substring) -> Substring {
        word.prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
    }

    /// The names in `one, other(Int)`.
    private static func cases(_ text: Substring) -> [String] {
        var (depth, names, name) = (0, [String](), "")
        for character in text + "," {
            switch character {
            case "(": depth += 1
            case ")": depth -= 1
            case "," where depth == 0:
                names.append(name)
                name = ""
            case _ where depth == 0 && (character.isLetter || character.isNumber): name.append(character)
            case "=", "{": return names + (name.isEmpty ? [] : [name])
            default: break
            }
        }
        return names
    }

    /// A member's name, with the labels of its parameters.
    private static func member(_ keyword: String, _ signature: String) -> String {
        guard let at = signature.firstRange(of: keyword) else { return keyword }
        let rest = signature[at.upperBound...].drop { $0 == " " }
        if keyword == "func", let first = rest.first, !first.isLetter {
            return rest.prefix { $0 != " " && $0 != "(" } + "(_:_:)"
        }
        let called = keyword == "init" || keyword == "subscript"
        let name = called ? keyword : String(rest.prefix { !" (<:={".contains($0) })
        guard called || keyword == "func", let open = rest.firstIndex(of: "(") else { return name }
        var (depth, labels, label, isLabel) = (0, "", "", true)
        for character in rest[open...] {
            switch character {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case ",": if depth == 1 { (label, isLabel) = ("", true) }
            case ":":
                if depth == 1, isLabel {
                    labels += "\(label.split(separator: " ").first ?? ""):"
                    isLabel = false
                }
            default: if depth == 1, isLabel { label.append(character) }
            }
            if depth == 0 { break }
        }
        return "\(name)(\(labels))"
    }

    private static func sentence(_ documentation: [Substring]) -> String {
        let paragraph = documentation.prefix { !$0.allSatisfy { $0 == " " } }.joined()
        let text = paragraph.split(separator: " ").joined(separator: " ")
        guard let end = text.firstRange(of: /[.:](?= [A-Z`]|$)/) else { return text }
        return text[..<end.lowerBound] + "."
    }

    /// One line for each, no longer than 150 characters.
    var markdown: String {
        all.map { symbol in
            var (lines, line) = ([String](), "- `\(symbol.name)`:")
            for word in symbol.summary.split(separator: " ") {
                if line.count + word.count > 150 {
                    lines.append(line)
                    line = " "
                }
                line += " \(word)"
            }
            return (lines + [line]).joined(separator: "\n") + "\n"
        }.joined()
    }
}

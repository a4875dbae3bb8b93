/// What one Swift file declares at its top level and which names it uses. Comments and the plain parts of strings do not count;
/// what stands in an interpolation does.
struct SwiftNames {
    /// Types and functions that other files can name.
    private(set) var declared: Set<String> = []
    /// Types that stand within others, and members: where a file has one, the name says nothing about another file.
    private(set) var own: Set<String> = []
    /// Names that do not follow a dot.
    private(set) var used: Set<String> = []
    private(set) var imports: Set<String> = []
    /// Types whose extensions stand in the file.
    private(set) var extended: Set<String> = []
    /// Functions and members with a parenthesis behind their name.
    private(set) var calls: Set<String> = []

    private static let typeKeywords: Set<String> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
    private static let modifiers: Set<String> = ["public", "package", "internal", "final", "indirect", "nonisolated"]

    init(_ text: String) {
        var words = SwiftWords(text).words[...]
        var modifiers: [String] = []
        while let word = words.popFirst() {
            let name = words.first?.text ?? ""
            if word.isCall { calls.insert(word.text) }
            if word.text == "import" {
                imports.insert(name)
                words = words.dropFirst()
            } else if Self.typeKeywords.contains(word.text), name.first?.isUppercase == true {
                declare(name, word.depth, modifiers)
                words = words.dropFirst()
            } else if word.text == "associatedtype" {
                own.insert(name)
                words = words.dropFirst()
            } else if word.text == "func" {
                declare(name, word.depth, modifiers)
                words = words.dropFirst()
            } else if word.text == "extension" {
                extended.insert(name)
            } else if !word.followsDot, word.text.first?.isUppercase == true || word.isCall {
                used.insert(word.text)
            }
            if Self.modifiers.contains(word.text) || ["private", "fileprivate"].contains(word.text) {
                modifiers.append(word.text)
            } else {
                modifiers = []
            }
        }
    }

    private mutating func declare(_ name: String, _ depth: Int, _ modifiers: [String]) {
        let isPrivate = modifiers.contains("private") || modifiers.contains("fileprivate")
        if depth == 0, !isPrivate { declared.insert(name) } else { own.insert(name) }
    }
}

/// The words of a Swift text: identifiers and keywords, with what decides their meaning.
private struct SwiftWords {
    struct Word {
        let text: String
        /// How many braces are open.
        let depth: Int
        let followsDot: Bool
        let isCall: Bool
    }

    private(set) var words: [Word] = []
    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    init(_ text: String) {
        bytes = Array(text.utf8) + [0, 0, 0]
        code(until: 0)
    }

    private func starts(_ text: StaticString) -> Bool {
        guard index + text.utf8CodeUnitCount <= bytes.count else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { bytes[index + $0] == text.utf8Start[$0] }
    }

    /// Reads code up to a closing parenthesis that nothing in it has opened (`end`), or up to the end of the text.
    private mutating func code(until end: UInt8) {
        var open = 0
        while bytes[index] != 0 {
            let byte = bytes[index]
            if starts("//") {
                while bytes[index] != 0, bytes[index] != UInt8(ascii: "\n") { index += 1 }
            } else if starts("/*") {
                while bytes[index] != 0, !starts("*/") { index += 1 }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "#") && isRawString {
                string()
            } else if Self.isLetter(byte) {
                word()
            } else {
                switch byte {
                case UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "}"): depth -= 1
                case UInt8(ascii: "("): open += 1
                case UInt8(ascii: ")"):
                    if open == 0, end == byte { return }
                    open -= 1
                default: break
                }
                index += 1
            }
        }
    }

    private var isRawString: Bool {
        var at = index
        while bytes[at] == UInt8(ascii: "#") { at += 1 }
        return bytes[at] == UInt8(ascii: "\"")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
            || byte >= 0x80
    }

    private mutating func word() {
        let start = index
        while Self.isLetter(bytes[index]) || bytes[index] >= UInt8(ascii: "0") && bytes[index] <= UInt8(ascii: "9") {
            index += 1
        }
        words.append(
            Word(
                text: String(decoding: bytes[start..<index], as: UTF8.self), depth: depth,
                followsDot: start > 0 && bytes[start - 1] == UInt8(ascii: "."),
                isCall: bytes[index] == UInt8(ascii: "(")))
    }

    private mutating func string() {
        var marks = 0
        while bytes[index] == UInt8(ascii: "#") {
            marks += 1
            index += 1
        }
        let isLong = starts("\"\"\"")
        index += isLong ? 3 : 1
        while bytes[index] != 0 {
            if bytes[index] == UInt8(ascii: "\\"), hasMarks(marks, at: index + 1) {
                index += 1 + marks
                if bytes[index] == UInt8(ascii: "(") {
                    index += 1
                    code(until: UInt8(ascii: ")"))
                }
                index += 1
            } else if isLong ? starts("\"\"\"") : bytes[index] == UInt8(ascii: "\"") {
                let count = isLong ? 3 : 1
                index += count
                guard hasMarks(marks, at: index) else { continue }
                index += marks
                return
            } else {
                index += 1
            }
        }
    }

    private func hasMarks(_ count: Int, at start: Int) -> Bool {
        start + count <= bytes.count && bytes[start..<start + count].allSatisfy { $0 == UInt8(ascii: "#") }
    }
}

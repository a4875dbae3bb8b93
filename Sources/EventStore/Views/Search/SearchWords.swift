/// What is looked for: `두통 "심해요" -감기` are two phrases that a text must have, and one that it must not.
///
/// A word is a phrase of its own, for Korean text has no spaces where words end: it is found inside of others.
public struct SearchWords: Hashable, Sendable {
    /// Why words cannot be looked for.
    public enum Refusal: Error, Hashable, SillokError {
        /// There is nothing in them but spaces and signs.
        case empty
        /// All of them are words that a text must not have.
        case onlyExcluded
        /// More than ``SearchWords/mostPhrases``, or longer than ``SearchWords/mostBytes``.
        case tooMany
        /// A quotation mark opens a phrase and none closes it.
        case openQuote

        /// As of any parameter that is wrong.
        public var code: String { "E_PARAMETER" }
        /// Never: the same words are refused again.
        public var isRetriable: Bool { false }

        /// One sentence for people.
        public var description: String {
            switch self {
            case .empty: "no words"
            case .onlyExcluded: "only words that a text must not have"
            case .tooMany: "more than \(SearchWords.mostPhrases) words, or \(SearchWords.mostBytes) bytes"
            case .openQuote: "a quotation mark is not closed"
            }
        }

        /// The way out.
        package var hint: String {
            switch self {
            case .empty: "a word of letters or digits, or a phrase in quotation marks"
            case .onlyExcluded: "one word, too, that a text has"
            case .tooMany: "fewer of them"
            case .openQuote: "a phrase stands between two of them"
            }
        }
    }

    /// Most phrases of a query.
    public static let mostPhrases = 32
    /// Longest text of a query.
    public static let mostBytes = 2_000

    /// All of these, each at least one token.
    public let required: [String]
    /// And none of these.
    public let excluded: [String]

    /// Reads what someone looks for.
    public init(_ text: String) throws(Refusal) {
        guard text.utf8.count <= Self.mostBytes else { throw .tooMany }
        var (required, excluded): ([String], [String]) = ([], [])
        var rest = Array(text.unicodeScalars)[...]
        while let first = rest.first {
            if first.properties.isWhitespace {
                rest.removeFirst()
                continue
            }
            let isExcluded = first == "-"
            if isExcluded { rest.removeFirst() }
            let phrase = try Self.phrase(&rest)
            guard Self.hasTokens(phrase) else { continue }
            if isExcluded { excluded.append(phrase) } else { required.append(phrase) }
        }
        guard required.count + excluded.count <= Self.mostPhrases else { throw .tooMany }
        guard !required.isEmpty else { throw excluded.isEmpty ? .empty : .onlyExcluded }
        (self.required, self.excluded) = (required, excluded)
    }

    /// The text up to the next space, or within quotation marks.
    private static func phrase(_ rest: inout ArraySlice<Unicode.Scalar>) throws(Refusal) -> String {
        let quotes: [Unicode.Scalar: Unicode.Scalar] = ["\"": "\"", "\u{201c}": "\u{201d}"]
        var phrase = String.UnicodeScalarView()
        guard let first = rest.first, let closing = quotes[first] else {
            while let next = rest.first, !next.properties.isWhitespace { phrase.append(rest.removeFirst()) }
            return String(phrase)
        }
        rest.removeFirst()
        guard let end = rest.firstIndex(of: closing) else { throw .openQuote }
        phrase.append(contentsOf: rest[..<end])
        rest = rest[(end + 1)...]
        return String(phrase)
    }

    private static func hasTokens(_ text: String) -> Bool {
        var found = false
        SearchTokens.each(in: text) { _, _ in
            found = true
            return false
        }
        return found
    }

    /// As the index is asked, with what tags it must have: any one of each list.
    func expression(tags: [[SearchTag]]) -> String {
        var parts = tags.map { tags in
            "(" + tags.map { Self.quoted(SearchTokenizer.indexed([], tags: [$0.text])) }.joined(separator: " OR ")
                + ")"
        }
        parts += required.map(Self.phrase)
        let all = "(" + parts.joined(separator: " AND ") + ")"
        return excluded.isEmpty ? all : all + " NOT (" + excluded.map(Self.phrase).joined(separator: " OR ") + ")"
    }

    /// One token of the index, or tag; `nil` for what is no token when it stands alone, as what parts two others.
    static func expression(of token: [UInt8]) -> String? {
        if token.first == SearchTokenizer.tagsBegin {
            let tag = String(decoding: token.dropFirst(), as: UTF8.self)
            return quoted(SearchTokenizer.indexed([], tags: [tag]))
        }
        var tokens: [[UInt8]] = []
        token.withUnsafeBytes { bytes in
            SearchTokens.each(in: bytes) { token, _ in
                tokens.append(Array(token))
                return tokens.count < 2
            }
        }
        return tokens == [token] ? quoted(SearchTokenizer.indexed(token, tags: [])) : nil
    }

    private static func phrase(_ text: String) -> String { quoted(SearchTokenizer.indexed(text.utf8, tags: [])) }

    /// As FTS5 reads a phrase; its texts end at a zero byte.
    private static func quoted(_ bytes: [UInt8]) -> String {
        var out: [UInt8] = [UInt8(ascii: "\"")]
        for byte in bytes {
            if byte == UInt8(ascii: "\"") { out.append(byte) }
            out.append(byte == 0 ? 0x20 : byte)
        }
        out.append(UInt8(ascii: "\""))
        return String(decoding: out, as: UTF8.self)
    }
}

extension SearchTokens {
    /// Calls `body` with the tokens of a text.
    package static func each(in text: String, _ body: Body) {
        var text = text
        text.withUTF8 { each(in: UnsafeRawBufferPointer($0), body) }
    }
}

/// Finds words in texts, one after the other.
package struct SearchMatcher {
    /// The tokens that are looked for, each once.
    private var vocabulary: [[UInt8]] = []
    /// Phrases, as indexes into the vocabulary.
    private var required: [[Int]] = []
    private var excluded: [[Int]] = []
    private static let other = -1

    package init(_ words: SearchWords) {
        required = words.required.map { take($0) }
        excluded = words.excluded.map { take($0) }
    }

    private mutating func take(_ phrase: String) -> [Int] {
        var indexes: [Int] = []
        var known = vocabulary
        SearchTokens.each(in: phrase) { token, _ in
            if let index = known.firstIndex(where: { token.elementsEqual($0) }) {
                indexes.append(index)
            } else {
                indexes.append(known.count)
                known.append(Array(token))
            }
            return true
        }
        vocabulary = known
        return indexes
    }

    /// Where the words stand in a text, as ranges of its bytes in UTF-8, in order and without overlaps; `nil` if it has not all of
    /// them, or one that it must not have.
    package func ranges(in text: String) -> [Range<Int>]? {
        var tokens: [Int] = []
        var places: [Range<Int>] = []
        SearchTokens.each(in: text) { token, range in
            tokens.append(vocabulary.firstIndex { token.elementsEqual($0) } ?? Self.other)
            places.append(range)
            return true
        }
        for phrase in excluded where !Self.occurrences(of: phrase, in: tokens).isEmpty { return nil }
        var found: [Range<Int>] = []
        for phrase in required {
            let starts = Self.occurrences(of: phrase, in: tokens)
            if starts.isEmpty { return nil }
            found += starts.map { places[$0].lowerBound..<places[$0 + phrase.count - 1].upperBound }
        }
        return Self.merged(found)
    }

    private static func occurrences(of phrase: [Int], in tokens: [Int]) -> [Int] {
        guard phrase.count <= tokens.count else { return [] }
        return (0...(tokens.count - phrase.count)).filter { start in
            phrase.indices.allSatisfy { tokens[start + $0] == phrase[$0] }
        }
    }

    private static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var out: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = out.last, range.lowerBound < last.upperBound {
                out[out.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                out.append(range)
            }
        }
        return out
    }

    /// Ranges of a text's UTF-8 as ranges of its UTF-16. They begin and end between characters, and are in order.
    package static func utf16(_ ranges: [Range<Int>], of text: String) -> [Range<Int>] {
        var (offset, units) = (0, 0)
        var bounds: [Int: Int] = [:]
        let wanted = Set(ranges.flatMap { [$0.lowerBound, $0.upperBound] })
        for scalar in text.unicodeScalars {
            if wanted.contains(offset) { bounds[offset] = units }
            offset += UTF8.width(scalar)
            units += UTF16.width(scalar)
        }
        bounds[offset] = units
        return ranges.compactMap { range in
            guard let start = bounds[range.lowerBound], let end = bounds[range.upperBound] else { return nil }
            return start..<end
        }
    }
}

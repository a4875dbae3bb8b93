import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What the search finds equals what a walk over all texts finds, for real Korean texts (D15).
///
/// `SILLOK_SEARCH_TEXTS` and `SILLOK_SEARCH_WORDS` make it as large as one wants: 564806 and 10000 are all there is.
struct SearchExactTests {
    static let path = "../shared/data/ko_nsmc/nsmc_dev.jsonl.zst"
    static let naughtyPath = "../shared/data/conformance/naughty_strings/blns.json"

    private static func number(_ name: String, _ otherwise: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? otherwise
    }

    /// The first reviews of the set.
    private func texts(_ count: Int) throws -> [String] {
        let pipe = try #require(popen("zstd -dcq \(Self.path) | head -n \(count)", "r"))
        defer { pclose(pipe) }
        var texts: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        while case let bytes = getline(&line, &room, pipe), bytes > 0 {
            let json = Array(UnsafeRawBufferPointer(start: line, count: bytes))
            if let text = JSONObject(validated: json).string("review") { texts.append(text) }
        }
        return texts
    }

    private func filled(_ texts: [String]) throws -> (LogFixture, ViewReader) {
        let log = try LogFixture()
        var events: [Event] = []
        for (index, text) in texts.enumerated() {
            let payload = try JSONEncoder().encode(["text": text])
            events.append(
                event(
                    1, UInt64(index + 1), hlc: 1_000 + Int64(index), conversation: "c-\(index % 100)", user: "u",
                    String(decoding: payload, as: UTF8.self)))
        }
        try log.deliver(events)
        let projector = try Projector(log.files)
        try projector.catchUp()
        return (log, try ViewReader(log.files))
    }

    private func positions(_ reader: ViewReader, _ words: String) throws -> [UInt64] {
        let query = SearchQuery(try SearchWords(words))
        var all: [UInt64] = []
        var bound: DisplayKey?
        repeat {
            let page = try reader.search(query, limit: 500, before: bound)
            all += page.hits.map(\.stored.position)
            bound = page.next
        } while bound != nil
        return all.reversed()
    }

    @Test(
        "Random substrings of one to six syllables, also across a space, are found where they stand and nowhere else",
        .enabled(if: FileManager.default.fileExists(atPath: path), "the Korean reviews are not here"))
    func substrings() throws {
        let texts = try texts(Self.number("SILLOK_SEARCH_TEXTS", 1_000))
        let (log, reader) = try filled(texts)
        defer { withExtendedLifetime(log) {} }
        let normal = texts.map { Array($0.precomposedStringWithCanonicalMapping.utf8CString) }
        var random = SplitMix64(state: 15)
        var (asked, hits) = (0, 0)
        while asked < Self.number("SILLOK_SEARCH_WORDS", 200) {
            let scalars = Array(
                texts[Int.random(in: 0..<texts.count, using: &random)].precomposedStringWithCanonicalMapping
                    .unicodeScalars)
            let count = Int.random(in: 1...6, using: &random)
            guard scalars.count >= count else { continue }
            let start = Int.random(in: 0...(scalars.count - count), using: &random)
            var part = String.UnicodeScalarView()
            part.append(contentsOf: scalars[start..<start + count])
            let word = String(part)
            let isSpaced = scalars[start..<start + count].contains(" ")
            guard scalars[start..<start + count].allSatisfy({ CanonicalForm.isSyllable($0.value) || $0 == " " }),
                !word.hasPrefix(" "), !word.hasSuffix(" "), !word.contains("  ")
            else { continue }
            asked += 1
            let needle = Array(word.utf8CString)
            var expected: [UInt64] = []
            for (index, text) in normal.enumerated() where contains(text, needle) {
                expected.append(UInt64(index + 1))
            }
            var found = try positions(
                reader, "\"\(asked % 2 == 0 ? word : word.decomposedStringWithCanonicalMapping)\"")
            // Where the text has other signs than one space, the search finds it too: only those may be more.
            if isSpaced { found.removeAll { !expected.contains($0) && !contains(normal[Int($0) - 1], needle) } }
            #expect(found == expected, "\(word)")
            if !isSpaced { #expect(try reader.searchCount(SearchQuery(SearchWords(word))) == UInt64(expected.count)) }
            hits += expected.count
        }
        #expect(hits > asked)
    }

    @Test(
        "Words and numbers beside Hangul, emoji and other forms of letters are found, in either normal form"
    )
    func mixed() throws {
        let texts = [
            "갤럭시S24 배터리", "갤럭시 s24 배터리", "갤럭시S2 4", "iPhone15프로", "😀두통😀", "두통 👨‍👩‍👧", "ＡＢＣ전자", "ABC전자",
            "Ångström 값 3.5kg",
            "ㅋㅋㅋ 웃김", "ㅋㅋ", "東京타워", "とうきょうタワー", "ﬁn", "fin", "Straße", "STRASSE",
        ]
        let (log, reader) = try filled(texts)
        defer { withExtendedLifetime(log) {} }
        let expected: [(String, [UInt64])] = [
            ("S24", [1, 2]), ("갤럭시S24", [1]), ("\"갤럭시 s24\"", [2]), ("S2", [3]), ("24", [1, 2]), ("4", [3]),
            ("iphone", [4]), ("15프로", [4]), ("😀", [5]), ("통😀", [5]), ("두통", [5, 6]), ("ABC", [8]), ("전자", [7, 8]),
            ("ångström", [9]), ("3.5kg", [9]), ("ㅋㅋ", [10, 11]), ("ㅋㅋㅋ", [10]), ("京타", [12]), ("きょう", [13]),
            ("fin", [14, 15]), ("strasse", [16, 17]),
        ]
        for (words, positions) in expected {
            for form in [words.precomposedStringWithCanonicalMapping, words.decomposedStringWithCanonicalMapping] {
                #expect(try self.positions(reader, form) == positions, "\(words)")
            }
        }
    }

    /// Whether a text has a part, both with a zero behind them.
    private func contains(_ text: [CChar], _ part: [CChar]) -> Bool { strstr(text, part) != nil }

    @Test(
        "Every naughty string is found by itself, and kept apart from those with other tokens",
        .enabled(if: FileManager.default.fileExists(atPath: naughtyPath), "the naughty strings are not here"))
    func naughtyStrings() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: Self.naughtyPath))
        let strings = try #require(try JSONSerialization.jsonObject(with: data) as? [String])
        let (log, reader) = try filled(strings.map { $0.isEmpty ? " " : $0 })
        defer { withExtendedLifetime(log) {} }
        var asked = 0
        for (index, string) in strings.enumerated() {
            let quoted = "\"\(string.filter { $0 != "\"" && $0 != "\u{201c}" && $0 != "\u{201d}" })\""
            let words: SearchWords
            do throws(SearchWords.Refusal) { words = try SearchWords(quoted) } catch { continue }
            asked += 1
            let found = try positions(reader, quoted)
            let matcher = SearchMatcher(words)
            #expect(matcher.ranges(in: string) == nil || found.contains(UInt64(index + 1)), "\(string)")
            for (other, text) in strings.enumerated() where other % 10 == index % 10 {
                #expect(
                    (matcher.ranges(in: text) != nil) == found.contains(UInt64(other + 1)), "\(string) in \(text)")
            }
        }
        #expect(asked > 300)
    }
}

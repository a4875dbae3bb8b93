import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A text as the search sees it (docs/reference/VIEWS.md, "search").
struct SearchTokensTests {
    private func tokens(_ text: String) -> [String] {
        var all: [String] = []
        SearchTokens.each(in: text) { token, _ in
            all.append(String(decoding: token, as: UTF8.self))
            return true
        }
        return all
    }

    /// The normalisation form C by pieces, as the tokens are made from it.
    private func composed(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        var piece: [UInt32] = []
        func flush() {
            for value in CanonicalForm.compose(piece) { Unicode.Scalar(value).map { out.append($0) } }
            piece = []
        }
        for scalar in text.unicodeScalars {
            if CanonicalForm.beginsPiece(scalar.value) { flush() }
            piece.append(scalar.value)
        }
        flush()
        return String(out)
    }

    @Test(
        "Hangul, Han, Kana and symbols stand alone; letters and digits run; what parts words is one token",
        arguments: [
            ("어제부터 두통이", "어|제|부|터| |두|통|이"), ("GPT-4는 3월", "gpt| |4|는| |3|월"),
            ("abc123def", "abc|123|def"), ("  앞뒤  ", "앞|뒤"), ("가,, - 나", "가| |나"), ("日本語のテスト", "日|本|語|の|テ|ス|ト"),
            ("ㅋㅋㅋ", "ㅋ|ㅋ|ㅋ"), ("Größe ÉCOLE", "grösse| |école"), ("ΣΊΣΥΦΟΣ", "σίσυφοσ"), ("👍🏽좋아", "👍|🏽|좋|아"),
            ("👨‍👩‍👧", "👨|👩|👧"), ("❤️", "❤"), ("…!?", ""), ("", ""), ("1.5mg", "1| |5|mg"), ("樂", "樂"),
            ("ไทย", "ไ|ท|ย"), ("\u{0}가\u{1}나\u{2}", "가| |나"),
        ])
    func words(_ text: String, _ expected: String) {
        #expect(tokens(text).joined(separator: "|") == expected)
    }

    @Test("Every text and its other normal form have the same tokens, and each token the bytes that it stands for")
    func normalForms() throws {
        let texts = ["각하, 두통이 심해요!", "Ünïcödé é", "ガギグ がぎぐ", "क़ ख़", "ở ệ ṩ"]
        for text in texts {
            let decomposed = text.decomposedStringWithCanonicalMapping
            #expect(tokens(decomposed) == tokens(text), "\(text)")
            for form in [text, decomposed] {
                var copy: [UInt8] = []
                let bytes = Array(form.utf8)
                var last = 0
                SearchTokens.each(in: form) { token, range in
                    #expect(range.lowerBound >= last && range.upperBound <= bytes.count && !range.isEmpty)
                    last = range.upperBound
                    copy += bytes[range]
                    let piece = String(decoding: bytes[range], as: UTF8.self)
                    if token.count > 1 {
                        #expect(
                            String(decoding: token, as: UTF8.self) == piece.lowercased(), "\(form): \(piece)")
                    }
                    return true
                }
            }
        }
    }

    @Test("Composition agrees with Foundation: every character that decomposes, and marks in any order")
    func composition() {
        var wrong: [UInt32] = []
        for code in CanonicalForm.tables.decompositions.keys.sorted() {
            guard let scalar = Unicode.Scalar(code) else { continue }
            let text = String(scalar)
            for form in [text, text.decomposedStringWithCanonicalMapping] {
                let expected = form.precomposedStringWithCanonicalMapping
                if !composed(form).unicodeScalars.elementsEqual(expected.unicodeScalars) { wrong.append(code) }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(10).map { String($0, radix: 16) })")
        var random = SplitMix64(state: 18)
        let parts: [Unicode.Scalar] = [
            "a", "e", "가", "\u{1100}", "\u{1161}", "\u{11a8}", "\u{301}", "\u{323}", "\u{304}", "\u{308}", "か",
            "\u{3099}",
            "\u{9c7}", "\u{9be}", "\u{f90a}", "\u{212b}", "\u{344}", "\u{1e9b}", "\u{5b0}", "\u{fb1d}",
        ]
        var differing: [String] = []
        for _ in 0..<20_000 {
            var view = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...7, using: &random) {
                view.append(parts[Int.random(in: 0..<parts.count, using: &random)])
            }
            let text = String(view)
            let expected = text.decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping
            if !composed(text).unicodeScalars.elementsEqual(expected.unicodeScalars) { differing.append(text) }
        }
        #expect(
            differing.isEmpty, "\(differing.prefix(3).map { $0.unicodeScalars.map { String($0.value, radix: 16) } })")
    }

    @Test("Any bytes are read to their end: tokens lie within, in order, and marks without end are bounded (INV-9)")
    func anyBytes() {
        var random = SplitMix64(state: 3)
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            var last = 0
            var areRight = true
            bytes.withUnsafeBytes { raw in
                SearchTokens.each(in: raw) { token, range in
                    // A piece of several characters stands for all of its bytes in each of its tokens.
                    areRight =
                        areRight && !token.isEmpty && range.lowerBound >= last && range.upperBound <= bytes.count
                    last = range.lowerBound
                    return true
                }
            }
            #expect(areRight, "\(bytes)")
        }
        var longest = 0
        SearchTokens.each(in: "a" + String(repeating: "\u{301}", count: 100_000)) { token, _ in
            longest = max(longest, token.count)
            return true
        }
        #expect(longest > 1 && longest <= 600)
        #expect(tokens(String(repeating: "x", count: 200)).map(\.count) == [64, 64, 64, 8])
    }
}

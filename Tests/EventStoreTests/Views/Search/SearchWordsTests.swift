import Testing

@testable import EventStore

/// What is looked for, and where it stands.
struct SearchWordsTests {
    @Test("Words, phrases in either quotation marks, and words that must not be there")
    func parsing() throws {
        let words = try SearchWords(#"두통 "심해 요" -감기 -"목 아픔" “둘째 구”"#)
        #expect(words.required == ["두통", "심해 요", "둘째 구"])
        #expect(words.excluded == ["감기", "목 아픔"])
        // Signs alone look for nothing; a hyphen within a word parts it.
        #expect(try SearchWords("두통 !!! COVID-19").required == ["두통", "COVID-19"])
    }

    @Test("What cannot be looked for is refused by name")
    func refusals() {
        func refusal(_ text: String) -> SearchWords.Refusal? {
            do throws(SearchWords.Refusal) { _ = try SearchWords(text) } catch { return error }
            return nil
        }
        #expect(refusal("") == .empty && refusal(" ?! ") == .empty && refusal("-") == .empty)
        #expect(refusal("-감기") == .onlyExcluded)
        #expect(refusal(#""두통"#) == .openQuote)
        #expect(refusal(String(repeating: "가 ", count: 33)) == .tooMany)
        #expect(refusal(String(repeating: "가", count: 700)) == .tooMany)
    }

    @Test(
        "Ranges are those of the original text, in UTF-8 and in UTF-16",
        arguments: [
            ("편두통이 심해요", "두통", "두통"), ("😊 두통", "두통", "두통"), ("편지 두 통", "두통", nil), ("두 통", #""두 통""#, "두 통"),
            ("Hello WORLD", "world", "WORLD"), ("aaa", "aa", nil), ("ㅋㅋㅋㅋ", "ㅋㅋ", "ㅋㅋㅋㅋ"), ("a-b", #""a b""#, "a-b"),
            ("a-b", "a b", "a|b"),
            ("두통!!감기", "두통 감기", "두통|감기"), ("두통 감기", "두통 -감기", nil),
        ])
    func ranges(_ text: String, _ words: String, _ expected: String?) throws {
        let matcher = SearchMatcher(try SearchWords(words))
        for form in [text, text.decomposed] {
            let ranges = matcher.ranges(in: form)
            let bytes = Array(form.utf8)
            let found = ranges?.map { String(decoding: bytes[$0], as: UTF8.self) }.joined(separator: "|")
            #expect(found == expected, "\(form)")
            guard let ranges else { continue }
            let units = Array(form.utf16)
            let same = SearchMatcher.utf16(ranges, of: form).map { String(decoding: units[$0], as: UTF16.self) }
            #expect(same.joined(separator: "|") == expected)
        }
    }
}

extension String {
    /// Hangul syllables in their parts.
    fileprivate var decomposed: String {
        var out = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            guard CanonicalForm.isSyllable(scalar.value) else {
                out.append(scalar)
                continue
            }
            let index = scalar.value - 0xac00
            for part in [0x1100 + index / 588, 0x1161 + index % 588 / 28, 0x11a7 + index % 28] where part != 0x11a7 {
                Unicode.Scalar(part).map { out.append($0) }
            }
        }
        return String(out)
    }
}

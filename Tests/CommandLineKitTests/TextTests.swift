import CommandLineKit
import Foundation
import Testing

@testable import syncd

@Suite struct DisplayWidthTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("한글", 4), ("漢字", 4), ("かな", 4), ("ｆｕｌｌ", 8), ("ﾊﾝｶｸ", 4), ("é", 1), ("e\u{301}", 1),
        ("\u{1112}\u{1161}\u{11AB}", 2), ("\u{1161}", 0), ("\u{11AB}", 0), ("\u{D7B0}", 0),
        ("😀", 2), ("👨‍👩‍👧‍👦", 2), ("👩🏽‍🚀", 2), ("👍🏿", 2), ("☝🏽", 2), ("🇰🇷", 2), ("🇰🇷🇯🇵", 4), ("❤️", 2), ("❤", 1), ("1️⃣", 2),
        ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2), ("#", 1), ("①", 1), ("…", 1), ("│", 1), ("\u{302A}", 0), ("\u{200B}", 0), ("\u{FEFF}", 0),
        ("\u{1B}", 0), ("\r\n", 0), ("\u{AD}", 1), ("\u{20000}", 2), ("\u{3FFFD}", 2), ("\u{10FFFF}", 1), ("ก็", 1),
        ("가나 abc 🙂", 11),
    ])
    func widths(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width, "\(text.debugDescription)")
    }

    @Test func composedAndDecomposedHangulAreEqual() {
        let text = "어제부터 두통이 심해요 값 뷁"
        #expect(DisplayWidth.of(text) == DisplayWidth.of(text.decomposedStringWithCanonicalMapping))
        #expect(DisplayWidth.of(text) == 2 * text.filter { $0 != " " }.count + text.filter { $0 == " " }.count)
    }

    @Test func everySyllableIsTwoCells() {
        for value in UInt32(0xAC00)...0xD7A3 {
            if let scalar = Unicode.Scalar(value), DisplayWidth.of(scalar) != 2 {
                Issue.record("U+\(String(value, radix: 16))")
            }
        }
    }

    @Test func truncationNeverSplitsAndNeverExceeds() {
        #expect(DisplayWidth.truncate("어제부터 두통이", to: 9) == "어제부...")
        #expect(DisplayWidth.truncate("어제부터 두통이", to: 10) == "어제부...")
        #expect(DisplayWidth.truncate("어제부터", to: 8) == "어제부터")
        #expect(DisplayWidth.truncate("👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", to: 5) == "👨‍👩‍👧‍👦...")
        #expect(DisplayWidth.truncate("abcdef", to: 2) == "..")
        #expect(DisplayWidth.truncate("abcdef", to: 0) == "")
        #expect(DisplayWidth.truncate("abcdef", to: -3) == "")
        let text = "a한🙂e\u{301}🇰🇷\u{1112}\u{1161}\u{11AB}z"
        for width in 0...12 {
            #expect(DisplayWidth.of(DisplayWidth.truncate(text, to: width)) <= width)
        }
    }

    @Test func padding() {
        #expect(DisplayWidth.pad("한", to: 4) == "한  ")
        #expect(DisplayWidth.pad("한", to: 4, alignment: .right) == "  한")
        #expect(DisplayWidth.pad("한글한글", to: 4) == "한글한글")
    }
}

@Suite struct SanitizerTests {
    @Test(arguments: [
        ("plain ~", "plain ~"), ("어제부터 두통이", "어제부터 두통이"), ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\u{1B}[31mred\u{1B}[0m", "\\x1b[31mred\\x1b[0m"), ("\u{0}\u{7}\u{7F}", "\\x00\\x07\\x7f"),
        ("\u{80}\u{9B}1m\u{9F}", "\\x80\\x9b1m\\x9f"),
        ("\u{202E}evil\u{202C}", "\\u{202e}evil\\u{202c}"), ("\u{61C}\u{200E}\u{200F}", "\\u{61c}\\u{200e}\\u{200f}"),
        ("\u{2066}\u{2067}\u{2068}\u{2069}", "\\u{2066}\\u{2067}\\u{2068}\\u{2069}"),
        ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"), ("a\u{200B}b\u{FEFF}", "a\\u{200b}b\\u{feff}"),
        ("a\u{200D}b", "a\\u{200d}b"), ("\u{200D}", "\\u{200d}"), ("😀\u{200D}", "😀\\u{200d}"),
        ("1\u{200D}2", "1\\u{200d}2"),
        ("👨‍👩‍👧‍👦 👩🏽‍🚀 ❤️‍🔥 🏳️‍🌈", "👨‍👩‍👧‍👦 👩🏽‍🚀 ❤️‍🔥 🏳️‍🌈"), ("❤️ 1️⃣ 🇰🇷 👍🏿", "❤️ 1️⃣ 🇰🇷 👍🏿"),
        ("\u{E0001}\u{E0041}", "\\u{e0001}\\u{e0041}"), ("\u{F780}\u{10FFFD}", "\\u{f780}\\u{10fffd}"),
        ("a\u{FE0F}\u{FE0F}", "a\u{FE0F}\\u{fe0f}"),
        ("\u{FE0F}", "\\u{fe0f}"),
        ("soft\u{AD}hyphen", "soft\\xadhyphen"), ("\u{FFF9}", "\\u{fff9}"),
        ("e\u{301}\u{1112}\u{1161}", "e\u{301}\u{1112}\u{1161}"),
        ("back\\slash", "back\\slash"), ("\u{A0}x", "\u{A0}x"), ("\u{600}", "\u{600}"),
    ])
    func oneLine(text: String, shown: String) {
        #expect(Sanitizer.line(text) == shown)
        #expect(Sanitizer.line(shown) == shown, "what is safe stays as it is")
    }

    @Test func severalLinesKeepTheirBreaks() {
        #expect(Sanitizer.lines("a\n\tb\r\n\u{1B}c") == "a\n\tb\\r\n\\x1bc")
    }

    @Test("Fillers of Hangul, which show nothing, are told; a payload's worth of control characters takes no time")
    func fillersAndLength() {
        #expect(Sanitizer.line("\u{3164}가\u{FFA0}") == "\\u{3164}가\\u{ffa0}")
        let begin = ContinuousClock.now
        let shown = Sanitizer.line(String(repeating: "\0", count: 262_144))
        #expect(shown.utf8.count == 4 * 262_144)
        #expect(ContinuousClock.now - begin < .seconds(5))
    }

    @Test func plainCellsCanBeReadBack() {
        #expect(Sanitizer.plain("a\tb\nc\\n") == "a\\tb\\nc\\\\n")
        #expect(Sanitizer.plain("\\") == "\\\\")
        #expect(Sanitizer.plain("simple") == "simple")
    }

    static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        return value < 0x20 || (0x7F...0x9F).contains(value) || (0x202A...0x202E).contains(value)
            || (0x2066...0x2069).contains(value) || value == 0x61C || (0x200B...0x200C).contains(value)
            || (0x200E...0x200F).contains(value) || (0x2028...0x2029).contains(value)
            || (0xE0000...0xE007F).contains(value)
    }

    @Test func noncharactersAreShown() {
        for (value, shown) in [(0xFFFE, "\\u{fffe}"), (0xFDD0, "\\u{fdd0}")] as [(UInt32, String)] {
            #expect(Unicode.Scalar(value).map { Sanitizer.line(String($0)) } == shown)
        }
    }

    @Test func noScalarGetsThrough() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let shown = Sanitizer.line("a\(scalar)b")
            if shown.unicodeScalars.contains(where: Self.isDangerous) {
                Issue.record("U+\(String(value, radix: 16))")
            }
        }
    }

    static let naughtyPath = "../shared/data/conformance/naughty_strings/blns.json"

    @Test(.enabled(if: FileManager.default.fileExists(atPath: naughtyPath), "the naughty strings are not here"))
    func naughtyStrings() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: Self.naughtyPath))
        let strings = try JSONDecoder().decode([String].self, from: data)
        #expect(strings.count > 400)
        for string in strings {
            let shown = Sanitizer.line(string)
            #expect(!shown.unicodeScalars.contains(where: Self.isDangerous))
            #expect(DisplayWidth.of(DisplayWidth.truncate(shown, to: 20)) <= 20)
            #expect(Sanitizer.line(shown) == shown)

            var table = TextTable([.left("A"), .left("B")])
            table.add([.init(string), "x"])
            #expect(table.aligned(width: 80).count == 2, "\(string)")
            #expect(table.plain()[1].split(separator: "\t", omittingEmptySubsequences: false).count == 2)

            var line = JSONLine(type: "event")
            line.add("text", string)
            guard case .object(let members) = try JSON5Reader.read(line.text).content,
                case .string(let text) = try #require(members.last).value.content
            else {
                Issue.record("another shape")
                continue
            }
            #expect(Array(text.utf8) == Array(string.utf8))
            #expect(!line.utf8.contains(0x0A))
        }
    }
}

@Suite struct TextTableTests {
    private func history() -> TextTable {
        var table = TextTable([.left("TIME"), .right("SEQ"), .left("WHO"), .left("TEXT")])
        table.add(["11:02", "10412", "김하늘", "어제부터 두통이 심해요"])
        table.add(["11:03", "9", "medibot", "언제부터\n아프셨나요?"])
        table.add(["11:04"])
        return table
    }

    @Test func columnsAlignByDisplayWidth() {
        #expect(
            history().aligned(width: nil) == [
                "TIME     SEQ  WHO      TEXT",
                "11:02  10412  김하늘   어제부터 두통이 심해요",
                "11:03      9  medibot  언제부터\\n아프셨나요?",
                "11:04                  ",
            ])
    }

    @Test("Words that are not readable beside the other cells go below them, cut to the terminal")
    func narrowTerminals() {
        #expect(
            history().aligned(width: 34) == [
                "TIME     SEQ  WHO", "11:02  10412  김하늘", "    어제부터 두통이 심해요",
                "11:03      9  medibot", "    언제부터\\n아프셨나요?", "11:04",
            ])
        let narrow = history().aligned(width: 5)
        #expect(narrow[2] == "    어제부터 두통...")
        #expect(narrow.allSatisfy { DisplayWidth.of($0) <= 22 })
    }

    @Test("Beside a short last column the widest cells give way, and numbers are the last to")
    func wideCells() {
        var table = TextTable([.left("ANSWER"), .right("COUNT"), .left("")])
        table.add([.init(String(repeating: "매우 그렇다 ", count: 40)), "12", .init(String(repeating: "#", count: 20))])
        let lines = table.aligned(width: 60)
        #expect(lines.count == 2)
        #expect(lines[1].hasSuffix("...     12  ####################"), "\(lines[1])")
        #expect(DisplayWidth.of(lines[1]) <= 60)
    }

    @Test("A terminal of 80 columns shows what was said, however long the ids are")
    func longIDs() {
        let id = "60053743f8d54f45946883c2"
        var table = TextTable([
            .whole("TIME (+00:00)"), .right("POSITION"), .left("CONVERSATION"), .left("WHO"), .left("TYPE"),
            .left("TEXT"),
        ])
        table.add(["2026-02-01 11:11:56", "7897", .init(id), .init(id), "message.posted", "요즘 들을 만한 노래 있어?"])
        let lines = table.aligned(width: 80)
        #expect(lines.count == 3)
        #expect(lines[1].hasPrefix("2026-02-01 11:11:56      7897  60053743f8d5"), "\(lines[1])")
        #expect(lines[2] == "    요즘 들을 만한 노래 있어?")
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= 80 })
        #expect(table.aligned(width: nil)[1].hasSuffix("\(id)  \(id)  message.posted  요즘 들을 만한 노래 있어?"))
    }

    @Test("No id, author or emoji makes a line longer than the terminal", arguments: [60, 80])
    func hostileIDs(width: Int) {
        var table = TextTable([
            .whole("TIME (+00:00)"), .right("POSITION"), .whole("CONVERSATION"), .whole("WHO"), .left("TYPE"),
            .left("TEXT"),
        ])
        let long = String(repeating: "x", count: 200)
        table.add(["2026-02-01 11:11:56", "7897", .init(long), .init(long), "message.posted", "👨‍👩‍👧‍👦🇰🇷 좋아"])
        table.add(["2026-02-01 11:11:57", "7898", "6020d1c3bc1ef46f346152f9", "음악봇 🎵", "bot.replied", "🎵"])
        for line in table.aligned(width: width) {
            #expect(DisplayWidth.of(line) <= width, "\(line)")
        }
        #expect(table.aligned(width: nil).joined().contains(long), "elsewhere nothing is cut")
    }

    @Test func jamoEmojiAndHanziKeepTheNextColumnInPlace() {
        var table = TextTable([.left("NAME"), .left("X")])
        let names = ["\u{1112}\u{1161}\u{11AB}", "👨‍👩‍👧‍👦🇰🇷", "漢字かな", "e\u{301}", "a\u{202E}b"]
        for name in names { table.add([.init(name), "|"]) }
        let places = table.aligned(width: nil).dropFirst().map { line in
            DisplayWidth.of(line.prefix { $0 != "|" })
        }
        #expect(Set(places).count == 1)
    }

    @Test func colourDoesNotMoveColumns() {
        var table = TextTable([.left("STATE"), .right("N")])
        table.add([.init("ok", style: .green), "1"])
        #expect(
            table.aligned(width: 80, color: true) == [
                "\u{1B}[1mSTATE\u{1B}[0m  \u{1B}[1mN\u{1B}[0m", "\u{1B}[32mok\u{1B}[0m     1",
            ])
        #expect(table.aligned(width: 80, color: false) == ["STATE  N", "ok     1"])
    }

    @Test func plainIsNeverCut() {
        let lines = history().plain()
        #expect(lines[0] == "TIME\tSEQ\tWHO\tTEXT")
        #expect(lines[2] == "11:03\t9\tmedibot\t언제부터\\n아프셨나요?")
        #expect(lines[3] == "11:04\t\t\t")
    }

    @Test("Rows that go on a table have its headings above them already")
    func continued() {
        var table = TextTable([.left("WHO"), .left("TEXT")], isContinued: true)
        table.add(["b", "안녕"])
        #expect(table.plain() == ["b\t안녕"])
        #expect(table.aligned(width: nil) == ["b    안녕"])
        #expect(table.records() == ["", "WHO: b", "TEXT: 안녕"])
    }

    @Test func recordsForSpeech() {
        var table = TextTable([.left("WHO"), .left("TEXT")])
        #expect(table.isEmpty && table.records().isEmpty)
        table.add(["김하늘", "안녕"])
        table.add(["b", "\u{1B}x"])
        #expect(table.records() == ["WHO: 김하늘", "TEXT: 안녕", "", "WHO: b", "TEXT: \\x1bx"])
    }
}

@Suite struct JSONLineTests {
    @Test func keysKeepTheirOrder() {
        var line = JSONLine(type: "event")
        line.add("seq", 10_412)
        line.add("big", UInt64.max)
        line.add("low", Int64.min)
        line.add("text", "어제부터 \"두통\"이 😀 \\ /")
        line.add("none", nil as String?)
        line.add("yes", true)
        line.add("share", 0.5)
        line.add("nan", Double.nan)
        line.add("tags", ["a", "b"])
        line.addRaw("data", "{\"a\":\n1}")
        line.addObject("range") { $0.add("from", 1) }
        line.addArray("segments") { array in
            array.addObject { $0.add("t", "두통") }
            array.add(nil as String?)
            array.add(nil as String?)
        }
        #expect(
            line.text == """
                {"type":"event","v":1,"seq":10412,"big":18446744073709551615,"low":-9223372036854775808,\
                "text":"어제부터 \\"두통\\"이 😀 \\\\ /","none":null,"yes":true,"share":0.5,"nan":null,"tags":["a","b"],\
                "data":{"a": 1},"range":{"from":1},"segments":[{"t":"두통"},null,null]}
                """)
    }

    @Test func everyControlIsEscaped() throws {
        var line = JSONLine()
        let text = String(String.UnicodeScalarView((0...0x17F).compactMap { Unicode.Scalar($0 as UInt32) }))
        line.add("k\n", text)
        #expect(
            line.text.hasPrefix(
                "{\"k\\n\":\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e"))
        #expect(line.text.contains("~\\u007f\\u0080\\u0081"))
        #expect(line.text.contains("\\u009f\u{A0}¡"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        #expect(object["k\n"] == text)
    }

    @Test func emptyContainers() {
        #expect(JSONLine().text == "{}")
        var line = JSONLine()
        line.addArray("a") { _ in }
        line.addObject("o") { _ in }
        #expect(line.text == "{\"a\":[],\"o\":{}}")
    }
}

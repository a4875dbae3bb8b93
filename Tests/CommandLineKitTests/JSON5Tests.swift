import Foundation
import Testing

@testable import CommandLineKit

extension JSON5Value {
    /// The value without positions, as plain JSON-like text.
    fileprivate var plain: String {
        switch content {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): value.debugDescription
        case .array(let values): "[" + values.map(\.plain).joined(separator: ",") + "]"
        case .object(let members): "{" + members.map { "\($0.name):\($0.value.plain)" }.joined(separator: ",") + "}"
        }
    }
}

@Suite struct JSON5Tests {
    @Test(arguments: [
        ("null", "null"), (" true // x", "true"), ("/* a */ false", "false"), ("0", "0.0"), ("-1.5e3", "-1500.0"),
        ("+1", "1.0"),
        (".5", "0.5"), ("5.", "5.0"), ("0xFf", "255.0"), ("-0x10", "-16.0"), ("Infinity", "inf"),
        ("-Infinity", "-inf"),
        ("+Infinity", "inf"), ("NaN", "nan"), ("-0", "-0.0"), ("1E+2", "100.0"),
        ("'a\"b'", "\"a\\\"b\""), ("\"it's\"", "\"it\\'s\""), ("'한글 🙂'", "\"한글 🙂\""),
        (#"'\n\t\b\f\v\r\0\\\'\"\/\a'"#, "\"\\n\\t\\u{08}\\u{0C}\\u{0B}\\r\\0\\\\\\'\\\"/a\""),
        (#"'\x41\u0042\uD83D\uDE00'"#, "\"AB😀\""), ("'a\\\nb\\\r\nc'", "\"abc\""),
        ("[]", "[]"), ("[1,]", "[1.0]"), ("[1, [2], {},]", "[1.0,[2.0],{}]"), ("{}", "{}"),
        ("{a:1,'b c':2,\"d\":3,}", "{a:1.0,b c:2.0,d:3.0}"), ("{$_a1:1,이름:2,\\u0061b:3}", "{$_a1:1.0,이름:2.0,ab:3.0}"),
        ("{null:1,true:2}", "{null:1.0,true:2.0}"), ("\u{FEFF}1\u{A0}\u{2003}\u{2028}", "1.0"),
        ("{// c\na/**/:/*\n*/1}", "{a:1.0}"),
    ])
    func accepted(text: String, plain: String) throws {
        #expect(try JSON5Reader.read(text).plain == plain)
    }

    @Test(
        arguments: [
            ("", 1, 1, "expected a value, but the text ends"),
            ("\n  // only a comment", 2, 20, "expected a value, but the text ends"),
            ("{a:1 b:2}", 1, 6, "expected ',' or '}' after value, not 'b'"),
            ("{\n  a: 1,\n  b: 2\n  c: 3\n}", 4, 3, "expected ',' or '}' after value, not 'c'"),
            ("{a:1", 1, 5, "expected ',' or '}' after value, but the text ends"),
            ("{a 1}", 1, 4, "expected ':' after name, not '1'"), ("{a:}", 1, 4, "expected a value, not '}'"),
            ("{,}", 1, 2, "expected a name or '}', not ','"), ("{a:1,,}", 1, 6, "expected a name or '}', not ','"),
            ("{1:2}", 1, 2, "expected a name or '}', not '1'"),
            ("[1 2]", 1, 4, "expected ',' or ']' after array element, not '2'"),
            ("[,]", 1, 2, "expected a value, not ','"),
            ("[1,2", 1, 5, "expected ',' or ']' after array element, but the text ends"),
            ("{a:1,\r\n a:2}", 2, 2, "'a' stands twice, first at 1:2"),
            ("{'a':1,\\u0061:2}", 1, 8, "'a' stands twice, first at 1:2"),
            ("1 2", 1, 3, "expected the end of the text, not '2'"),
            ("{}}", 1, 3, "expected the end of the text, not '}'"),
            ("yes", 1, 1, "'yes' is no value; a string needs quotes"),
            ("{a:full}", 1, 4, "'full' is no value; a string needs quotes"),
            ("{a:2GiB}", 1, 4, "this is no number; a string needs quotes"),
            ("10.0.0.1", 1, 1, "this is no number; a string needs quotes"),
            ("-x", 1, 1, "this is no number; a string needs quotes"),
            ("+", 1, 2, "expected a digit, but the text ends"),
            (".", 1, 2, "expected a digit, but the text ends"),
            ("1e", 1, 3, "expected a digit in the exponent, but the text ends"),
            ("0x", 1, 3, "expected a hexadecimal digit, but the text ends"),
            ("{mode: 0660}", 1, 8, "a number does not begin with 0; an octal mode is a string: \"0660\""),
            ("'abc", 1, 1, "this string is never closed"), (" 'a\nb'", 1, 2, "this string is not closed on its line"),
            ("'\\x4'", 1, 2, "this escape needs 2 hexadecimal digits"),
            ("'ab\\u12g4'", 1, 4, "this escape needs 4 hexadecimal digits"),
            ("'\\uD83D'", 1, 2, "half of a surrogate pair"), ("'\\uDE00'", 1, 2, "half of a surrogate pair"),
            ("'\\uD83D\\u0041'", 1, 2, "half of a surrogate pair"), ("'\\1'", 1, 2, "'\\1' is no escape"),
            ("'\\01'", 1, 2, "octal escapes are not allowed; write \\x or \\u"),
            ("'\\", 1, 3, "expected a character after '\\', but the text ends"),
            ("{\\x:1}", 1, 3, "expected 'u' after '\\' in a name, not 'x'"),
            ("{\\u0031:1}", 1, 2, "this character cannot stand in a name without quotes"),
            ("[1 /* never", 1, 4, "this comment is never closed by */"), ("#", 1, 1, "expected a value, not '#'"),
            ("[\n한글,\u{1}]", 2, 1, "'한글' is no value; a string needs quotes"),
            ("\u{1}", 1, 1, "expected a value, not U+1"),
            ("['한글', ]]", 1, 9, "expected the end of the text, not ']'"), ("/", 1, 1, "expected a value, not '/'"),
        ] as [(String, Int, Int, String)])
    func refused(text: String, line: Int, column: Int, message: String) {
        #expect(
            throws: JSON5SyntaxError(position: TextPosition(line: line, column: column), message: message)
        ) {
            try JSON5Reader.read(text)
        }
    }

    @Test func everyValueHasItsPosition() throws {
        let value = try JSON5Reader.read("\n{ a: [1,\r\n  '한', {b: null}] }")
        guard case .object(let members) = value.content, case .array(let elements) = members[0].value.content,
            case .object(let inner) = elements[2].content
        else {
            Issue.record("another shape")
            return
        }
        #expect(value.position == TextPosition(line: 2, column: 1))
        #expect(members[0].position == TextPosition(line: 2, column: 3))
        #expect(members[0].value.position == TextPosition(line: 2, column: 6))
        #expect(
            elements.map(\.position) == [
                .init(line: 2, column: 7), .init(line: 3, column: 3), .init(line: 3, column: 8),
            ])
        #expect(inner[0].position == TextPosition(line: 3, column: 9))
        #expect(inner[0].value.position == TextPosition(line: 3, column: 12))
    }

    @Test func depthIsLimited() throws {
        let limit = JSON5Reader.depthLimit
        let fits = String(repeating: "[", count: limit) + String(repeating: "]", count: limit)
        _ = try JSON5Reader.read(fits)
        let error = #expect(throws: JSON5SyntaxError.self) {
            try JSON5Reader.read(String(repeating: "[", count: 1_000_000))
        }
        #expect(error?.position == TextPosition(line: 1, column: limit + 1))
        #expect(throws: JSON5SyntaxError.self) { try JSON5Reader.read(String(repeating: "{a:", count: 1_000_000)) }
    }

    @Test func jsonIsJSON5() throws {
        let text = #"{"a":[1,2.5e-3,"\u00e9\/",true,false,null],"b":{"c":""}}"#
        #expect(try JSON5Reader.read(text).plain == "{a:[1.0,0.0025,\"é/\",true,false,null],b:{c:\"\"}}")
    }

    @Test func randomTextNeverCrashes() {
        let pieces = [
            "{", "}", "[", "]", ":", ",", "'", "\"", "\\", "\\u", "12", "0x", "a", "//", "/*", "*/", "\n", "\r", " ",
            "null", "-", ".",
            "e", "한", "🙂", "\u{301}", "\u{2028}", "\u{0}", "D83D", "NaN",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...12)).map { _ in pieces.randomElement() ?? "" }.joined()
            do {
                _ = try JSON5Reader.read(text)
            } catch {
                #expect(error.position.line >= 1 && error.position.column >= 1)
            }
        }
    }
}

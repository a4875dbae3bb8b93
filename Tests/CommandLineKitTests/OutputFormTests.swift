import Foundation
import TestSupport
import Testing

@testable import CommandLineKit

/// CSV, languages, and the pager.
@Suite struct OutputFormTests {
    @Test(
        "A field is quoted where RFC 4180 asks for it, and no spreadsheet takes it for a formula",
        arguments: [
            ("plain", "plain"), ("", ""), ("a,b", "\"a,b\""), ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("두통\n약", "\"두통\n약\""),
            (" edge", "\" edge\""), ("=1+1", "'=1+1"), ("+82 10", "'+82 10"), ("-5", "'-5"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "\"'\t=1\""), ("\r=1", "\"'\r=1\""), ("\n=1", "\"'\n=1\""), ("＝1", "'＝1"), ("＠x", "'＠x"),
            ("'quoted'", "''quoted'"),
            ("=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""), ("a=b", "a=b"),
            ("bell\u{7}\u{1B}[2J\u{9B}", "bell\\x07\\x1b[2J\\x9b"), ("=\u{301}x", "'=\u{301}x"),
        ])
    func fields(text: String, expected: String) {
        #expect(CSVLine.record([.text(text)]) == expected + "\r\n")
        #expect(CSVLine.record([.none, .number("-5"), .text(text)]) == ",-5,\(expected)\r\n")
    }

    @Test("Combining marks, joiners and variation selectors open no field and no record, and hide no formula")
    func combining() {
        for mark in ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{20E3}", "\u{1F3FB}", "\u{11A8}"] {
            let texts = [
                "a\"\(mark),=1+1,b\"\(mark)", "a\"\(mark)\r\n=1+1,evil", "x,\(mark)y", "\"\(mark)", " \(mark)",
                "\r\n\(mark)",
            ]
            for text in texts {
                let record = CSVLine.record([.text(text), .number("1")])
                // Read as RFC 4180 says, by scalars: one field, then the number.
                var scalars = Array(record.unicodeScalars)[...]
                #expect(scalars.popFirst() == "\"")
                var read = String.UnicodeScalarView()
                while let next = scalars.popFirst() {
                    if next == "\"" {
                        guard scalars.first == "\"" else { break }
                        scalars.removeFirst()
                    }
                    read.append(next)
                }
                let given = String(read).unicodeScalars.drop { $0 == "'" }
                #expect(given.elementsEqual(text.unicodeScalars), "\(text.debugDescription)")
                #expect(String(String.UnicodeScalarView(scalars)) == ",1\r\n")
            }
            let formula = CSVLine.record([.text("=\(mark)1+1")])
            #expect(formula.unicodeScalars.first == "'")
        }
    }

    @Test("JSON in a field stays JSON: controls that it may hold have its escapes")
    func json() throws {
        let value = #"{"a\#u{85}b":"\#u{7F}\#u{9F}é\#u{A0}\\"}"#
        let record = CSVLine.record([CSVLine.json(Array(value.utf8))])
        #expect(record == #""{""a\u0085b"":""\u007f\u009fé\#u{A0}\\""}""# + "\r\n")
        let written = record.dropFirst().dropLast(2).replacing("\"\"", with: "\"")
        let (first, second) = try (
            JSONSerialization.jsonObject(with: Data(value.utf8)) as? [String: String],
            JSONSerialization.jsonObject(with: Data(written.utf8)) as? [String: String]
        )
        #expect(first == second && first != nil)
    }

    @Test("Values take their places once; braces in them and other braces stay")
    func phrases() {
        let phrase = Phrase("{0} to {1} {x} {", "{1} 전, {0}부터 {9}")
        #expect(phrase.text(.english, ["a{1}", "b"]) == "a{1} to b {x} {")
        #expect(phrase.text(.korean, ["a", "b"]) == "b 전, a부터 {9}")
        #expect(Phrase("no {0}", "").text(.english) == "no {0}")
    }

    @Test(
        "The language is SILLOK_LANG's, else that of the locale of messages as POSIX has it",
        arguments: [
            ([:], Language.english), (["LANG": "ko_KR.UTF-8"], .korean), (["LANG": "ko"], .korean),
            (["LANG": "ko_KR.UTF-8", "LC_ALL": "C"], .english), (["LANG": "ko_KR.UTF-8", "LC_ALL": ""], .korean),
            (["LANG": "en_US.UTF-8", "LC_MESSAGES": "ko_KR"], .korean),
            (["LC_ALL": "ko_KR", "SILLOK_LANG": "en"], .english),
            (["SILLOK_LANG": "ko"], .korean), (["LANG": "kok_IN"], .english), (["LANG": "nonsense"], .english),
        ])
    func languages(environment: [String: String], expected: Language) {
        #expect(Language(environment: environment) == expected)
    }

    @Test("Help is whole in both languages")
    func helpWording() {
        for wording in HelpWording.allCases {
            let phrase = wording.phrase
            #expect(!phrase.english.isEmpty && !phrase.korean.isEmpty)
            #expect(phrase.english.contains("{0}") == phrase.korean.contains("{0}"), "\(phrase)")
        }
    }

    @Test(
        "A pager is started when there is more than the screen has lines, and gets all of it",
        arguments: [(3, false), (9, false), (10, true), (5_000, true)])
    func pager(lines: Int, isPaged: Bool) throws {
        let folder = try TemporaryFolder.made()
        let direct = try folder.write(Data(), to: "direct")
        let paged = folder.file("paged")
        let descriptor = open(direct, O_WRONLY)
        defer { close(descriptor) }
        let output = Output(descriptor: descriptor, capacity: 64)
        let pager = try #require(Pager(environment: ["SILLOK_PAGER": "cat > '\(paged)'", "PATH": "/usr/bin:/bin"]))
        output.page(through: pager, rows: 10, columns: 20)
        let text = (0..<lines).map { "\($0) 가나다\n" }.joined()
        for line in text.split(separator: "\n") { try output.line(String(line)) }
        try output.flush()
        try output.finish()
        #expect(output.isPaged == isPaged)
        let found = try String(contentsOfFile: isPaged ? paged : direct, encoding: .utf8)
        #expect(found == text)
    }

    @Test("A pager that is not there is told of")
    func missingPager() throws {
        Terminal.ignoreBrokenPipes()  // as each program does at its start
        let output = Output(descriptor: -1)
        let pager = try #require(Pager(environment: ["PAGER": "no-such-pager 2>/dev/null", "PATH": "/usr/bin:/bin"]))
        output.page(through: pager, rows: 1, columns: 20)
        try output.line("text")
        try? output.finish()
        #expect(output.isPaged && output.lacksPager)
    }

    @Test("Lines that are wider than the screen count as several")
    func heights() {
        func height(_ text: String, _ columns: Int) -> Int {
            ScreenHeight.of(Array(text.utf8), columns: columns, atMost: 100)
        }
        #expect(height("", 10) == 0)
        #expect(height("a\n\nb\n", 10) == 3)
        #expect(height(String(repeating: "a", count: 21) + "\n", 10) == 3)
        #expect(height("가나다라마\n", 10) == 1)
        #expect(height("가나다라마바\n", 10) == 2)
        #expect(height("\u{1B}[1m가나다라마\u{1B}[0m\n", 10) == 1)
    }

    @Test("Empty and cat mean no pager; ours is asked before others'")
    func whichPager() {
        #expect(Pager(environment: ["PAGER": "more"]) != nil)
        #expect(Pager(environment: ["PATH": "/nowhere"]) == nil)
        for environment in [["PAGER": ""], ["PAGER": "cat"], ["SILLOK_PAGER": "", "PAGER": "less"]] {
            #expect(Pager(environment: environment) == nil)
        }
    }
}

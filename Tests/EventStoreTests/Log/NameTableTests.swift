import TestSupport
import Testing

@testable import EventStore

@Suite("Name table")
struct NameTableTests {
    @Test("finds what was put in, and nothing else, through every growth")
    func findsWhatIsThere() {
        var table = NameTable()
        for number in 0..<20_000 { table.insert("u-\(number)", Int64(number)) }
        for number in 0..<20_000 { #expect(table["u-\(number)"] == Int64(number)) }
        for number in 20_000..<21_000 { #expect(table["u-\(number)"] == nil) }
        #expect(table[""] == nil)
    }

    @Test("tells canonically equivalent names apart")
    func bytesDecide() {
        var table = NameTable()
        table.insert("\u{AC00}", 1)
        #expect(table["\u{1100}\u{1161}"] == nil)
        table.insert("\u{1100}\u{1161}", 2)
        #expect(table["\u{AC00}"] == 1)
        #expect(table["\u{1100}\u{1161}"] == 2)
        table.insert("", 3)
        #expect(table[""] == 3)
    }

    @Test("texts that share a beginning or an end of 8 bytes have places of their own")
    func similarTexts() {
        var table = NameTable()
        let texts = (0...40).flatMap { count in
            ["a", "\0", "가"].map {
                String(repeating: $0, count: count) + "|" + String(repeating: "x", count: 40 - count)
            }
        }
        for (number, text) in texts.enumerated() where table[text] == nil { table.insert(text, Int64(number)) }
        for text in texts { #expect(table[text].map { texts[Int($0)] } == text) }
    }

    @Test("is emptied rather than grown past its bound (INV-9)")
    func bounded() {
        var table = NameTable()
        let long = String(repeating: "n", count: 1_000)
        for number in 0..<40_000 { table.insert("\(number) \(long)", Int64(number)) }
        #expect(table["0 \(long)"] == nil)
        #expect(table["39999 \(long)"] == 39_999)
    }
}

/// Texts and their refs in the log's own table.
@Suite("Names of the log")
struct StringInternerTests {
    @Test("A writer that begins anew finds the old names and adds new ones, in whatever order they come")
    func restarts() throws {
        let folder = try TemporaryFolder.made()
        let connection = try Connection(path: folder.file("names.db"), mode: .write)
        try connection.execute(Schema.tables)
        var refs: [String: Int64] = [:]
        for start in 0..<4 {
            var writer = StringInterner()
            // Those of the last starts and new ones: one after the other, in runs, and again.
            for number in [0, 40, 1, 41, 2, 3, 4, 42, 43, 44, 5, 45, 0, 44] {
                let text = number < 40 ? "u-\(number)" : "u-\(start) \(number)"
                let ref = try writer.ref(text, on: connection)
                #expect(refs[text] ?? ref == ref)
                refs[text] = ref
            }
        }
        #expect(refs.count == 6 + 4 * 6)
        #expect(Set(refs.values).count == refs.count)
        for (text, ref) in refs {
            #expect(try connection.integer("SELECT ref FROM name WHERE text = ?", .text(text)) == ref)
        }
        #expect(try connection.integer("SELECT count(*) FROM name") == Int64(refs.count))
    }
}

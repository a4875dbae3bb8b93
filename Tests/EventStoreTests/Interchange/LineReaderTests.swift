import Foundation
import TestSupport
import Testing

@testable import EventStore

struct LineReaderTests {
    private struct Seen: Equatable {
        var number: Int
        var offset: Int
        var text: String?
        var tooLong: Int?
    }

    /// Every line of `bytes` read from a file.
    private func lines(_ bytes: [UInt8], chunk: Int = 4096) throws -> [Seen] {
        let file = URL(filePath: TemporaryFolder.unusedPath())
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        var reader = LineReader(descriptor: handle.fileDescriptor, chunk: chunk)
        var out: [Seen] = []
        while let line = try reader.next() {
            let text = line.bytes.map { String(decoding: $0, as: UTF8.self) }
            if case .tooLong(let count) = line.content {
                out.append(Seen(number: line.number, offset: line.offset, tooLong: count))
            } else {
                out.append(Seen(number: line.number, offset: line.offset, text: text))
            }
        }
        #expect(try reader.next() == nil)
        return out
    }

    private func lines(_ text: String) throws -> [Seen] { try lines(Array(text.utf8)) }

    @Test func endings() throws {
        #expect(try lines("") == [])
        #expect(try lines("\n\r\n\n") == [])
        #expect(try lines("a") == [Seen(number: 1, offset: 0, text: "a")])
        #expect(try lines("a\n") == [Seen(number: 1, offset: 0, text: "a")])
        #expect(
            try lines("a\r\n\n가\r\n\r\nb\r") == [
                Seen(number: 1, offset: 0, text: "a"), Seen(number: 3, offset: 4, text: "가"),
                Seen(number: 5, offset: 11, text: "b"),
            ])
        #expect(try lines("a\rb\n") == [Seen(number: 1, offset: 0, text: "a\rb")])
    }

    @Test("Lines of blanks, tabs and carriage returns say nothing, and count (FORMATS §4)")
    func blankLines() throws {
        #expect(try lines(" \n\t \t\r\n \r\r\n") == [])
        #expect(try lines("  \na\n \t") == [Seen(number: 2, offset: 3, text: "a")])
        #expect(try lines("\u{feff}  \n a \n") == [Seen(number: 2, offset: 6, text: " a ")])
        #expect(try lines("\u{b}\n\u{a0}").count == 2)
    }

    @Test func byteOrderMarkOnlyAtTheStart() throws {
        #expect(
            try lines("\u{feff}a\n\u{feff}b") == [
                Seen(number: 1, offset: 0, text: "a"), Seen(number: 2, offset: 5, text: "\u{feff}b"),
            ])
        #expect(try lines("\u{feff}\nb") == [Seen(number: 2, offset: 4, text: "b")])
    }

    @Test func longLinesArePassedOver() throws {
        let limit = LineReader.longestLine
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: limit)
        let text = long + Array("\r\nb\n".utf8) + long + Array("y\nc\n".utf8) + long + long + long
        for chunk in [4096, 1 << 20] {
            let seen = try lines(text, chunk: chunk)
            #expect(seen.map(\.number) == [1, 2, 3, 4, 5])
            #expect(seen.map(\.offset) == [0, limit + 2, limit + 4, 2 * limit + 6, 2 * limit + 8])
            #expect(seen.map(\.tooLong) == [nil, nil, limit + 1, nil, 3 * limit])
            #expect(seen[0].text?.utf8.count == limit)
            #expect(seen[1].text == "b" && seen[3].text == "c")
        }
    }

    @Test func linesAcrossChunks() throws {
        var random = SplitMix64(state: 4)
        var text = ""
        var expected: [Seen] = []
        for number in 1...3000 {
            let line = String(repeating: "한", count: Int.random(in: 0...90, using: &random))
            if !line.isEmpty { expected.append(Seen(number: number, offset: text.utf8.count, text: line)) }
            text += line + (Bool.random(using: &random) ? "\n" : "\r\n")
        }
        #expect(try lines(text) == expected)
    }

    @Test func shortReadsOfAPipe() throws {
        let pipe = Pipe()
        let writer = Thread {
            for byte in Array("가나\n다".utf8) {
                try? pipe.fileHandleForWriting.write(contentsOf: [byte])
            }
            try? pipe.fileHandleForWriting.close()
        }
        writer.start()
        var reader = LineReader(descriptor: pipe.fileHandleForReading.fileDescriptor)
        var texts: [String] = []
        while let line = try reader.next() { texts.append(String(decoding: try #require(line.bytes), as: UTF8.self)) }
        #expect(texts == ["가나", "다"])
    }

    @Test func readErrors() throws {
        var reader = LineReader(descriptor: -1)
        #expect(throws: LineReadError(errno: EBADF, offset: 0)) { try reader.next() }
        #expect(
            LineReadError(errno: EBADF, offset: 0).description == "read failed after 0 bytes: Bad file descriptor")
    }
}

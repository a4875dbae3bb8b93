internal import EventStore
internal import Glibc

/// The lines of a text of people, in bounded memory. Unlike native NDJSON it keeps blank lines: they are part of what was said.
package struct TextLines {
    /// Longest line of a text.
    package static let longest = 1 << 20

    /// What is wrong with other bytes, and the way out.
    package static let notUTF8 = "not UTF-8; where it is CP949 (EUC-KR): iconv -f cp949 -t utf-8 FILE > NEW"

    private let reader: ByteReader
    private let longest: Int
    private var buffer: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: 256 << 10)
    private var start = 0
    private var searched = 0
    private var isAtEnd = false
    /// Of the line that was handed out last, from 1.
    package private(set) var number = 0

    package init(_ reader: ByteReader, longest: Int = longest) {
        self.reader = reader
        self.longest = longest
    }

    /// The next line without its end; `nil` behind the last one.
    package mutating func next() throws(ImportError) -> [UInt8]? {
        while true {
            let from = max(start, searched)
            let found = buffer.withUnsafeBytes { raw -> Int? in
                guard from < raw.count, let base = raw.baseAddress,
                    let place = memchr(base + from, 0x0a, raw.count - from)
                else { return nil }
                return UnsafeRawPointer(place) - base
            }
            if let found { return try take(upTo: found, next: found + 1) }
            searched = buffer.count
            if buffer.count - start > longest + 4 { throw tooLong }
            if isAtEnd {
                guard start < buffer.count else { return nil }
                return try take(upTo: buffer.count, next: buffer.count)
            }
            try fill()
        }
    }

    /// The next line as text, which must be UTF-8.
    package mutating func text() throws(ImportError) -> String? {
        guard let line = try next() else { return nil }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw ImportError(.malformed, reader.name, at: "line \(number)", Self.notUTF8)
        }
        return text
    }

    private var tooLong: ImportError {
        ImportError(.malformed, reader.name, at: "line \(number + 1)", "it is longer than \(longest) bytes")
    }

    private mutating func take(upTo limit: Int, next: Int) throws(ImportError) -> [UInt8] {
        number += 1
        var line = buffer[start..<limit]
        if number == 1 {
            if line.starts(with: [0xef, 0xbb, 0xbf]) { line = line.dropFirst(3) }
        }
        if line.last == 0x0d { line = line.dropLast() }
        guard line.count <= longest else {
            number -= 1
            throw tooLong
        }
        (start, searched) = (next, next)
        return Array(line)
    }

    private mutating func fill() throws(ImportError) {
        if start > 0 {
            buffer.removeFirst(start)
            searched -= start
            start = 0
        }
        let added = try reader.fill(&chunk)
        buffer += chunk[..<added]
        isAtEnd = added == 0
    }
}

internal import Glibc

/// One line of a file, without its newline.
package struct Line: Sendable {
    /// What became of it.
    package enum Content: Sendable {
        /// The bytes at `range` of `bytes`, which hold its neighbours as well.
        case text(bytes: [UInt8], range: Range<Int>)
        /// More than ``LineReader/longestLine``: `count` bytes were passed over.
        case tooLong(count: Int)
    }

    /// From 1; blank lines count.
    package let number: Int
    /// Where it starts in the file, in bytes.
    package let offset: Int
    /// The line itself.
    package let content: Content

    /// The line's own bytes; `nil` when it was too long.
    package var bytes: ArraySlice<UInt8>? {
        if case .text(let bytes, let range) = content { bytes[range] } else { nil }
    }
}

/// Why a file cannot be read on.
package struct LineReadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Of read(2).
    package let errno: Int32
    /// How many bytes were read before.
    package let offset: Int

    /// One sentence for people.
    package var description: String { "read failed after \(offset) bytes: \(String(cString: strerror(errno)))" }
}

/// Reads a file descriptor line by line, in chunks, within bounded memory. The last line needs no newline; CR LF ends
/// a line as LF does; a UTF-8 byte order mark at the very start and lines without anything but blanks and tabs are passed
/// over. The descriptor stays the caller's to close.
package struct LineReader: Sendable {
    /// Longest line of native NDJSON in bytes, without its newline. Longer ones are reported and passed over; the rest goes
    /// on.
    package static let longestLine = 1 << 20

    private let descriptor: Int32
    private let chunk: Int
    private let longest: Int
    private let isExact: Bool
    private var buffer: [UInt8] = []
    /// The bytes of the buffer that are read and not yet handed out.
    private var start = 0, end = 0
    /// How far they have been searched for a newline.
    private var searched = 0
    private var isAtEnd = false
    /// Whether the last line was handed out, and had no newline.
    package private(set) var isUnended = false
    /// The file offset of `start`.
    private var offset = 0
    private var number = 0
    /// Bytes of a line that was dropped because it is too long.
    private var dropped = 0

    /// Reads `descriptor` from where it stands, `chunk` bytes at a time (4 KiB to 1 MiB). Lines have at most `longest` bytes.
    ///
    /// - Parameter isExact: Hands out each line as it stands: blank ones, carriage returns and a byte order mark, too.
    package init(descriptor: Int32, chunk: Int = 256 << 10, longest: Int = longestLine, isExact: Bool = false) {
        self.descriptor = descriptor
        self.longest = longest
        self.isExact = isExact
        self.chunk = min(max(chunk, 4 << 10), 1 << 20)
    }

    /// The next line, blank ones left out unless the reader is exact; `nil` at the end.
    package mutating func next() throws(LineReadError) -> Line? {
        while true {
            if let newline = findNewline() {
                if let line = take(upTo: newline, next: newline + 1) { return line }
            } else if isAtEnd {
                guard dropped > 0 || start < end else { return nil }
                isUnended = true
                if let line = take(upTo: end, next: end) { return line }
            } else {
                dropIfTooLong()
                try fill()
            }
        }
    }

    private mutating func findNewline() -> Int? {
        let from = max(start, searched)
        let count = end - from
        searched = end
        guard count > 0 else { return nil }
        let place = buffer.withUnsafeBytes { bytes -> Int? in
            guard let base = bytes.baseAddress, let found = memchr(base + from, 0x0a, count) else { return nil }
            return UnsafeRawPointer(found) - base
        }
        return place
    }

    /// Hands out the line before `limit`; nothing when it is blank.
    private mutating func take(upTo limit: Int, next: Int) -> Line? {
        let lineOffset = offset - dropped
        var range = start..<limit
        let count = dropped + range.count
        defer {
            offset += next - start
            start = next
            searched = next
            dropped = 0
        }
        number += 1
        if dropped > 0 { return Line(number: number, offset: lineOffset, content: .tooLong(count: count)) }
        if !isExact {
            if lineOffset == 0, buffer[range].starts(with: [0xef, 0xbb, 0xbf]) { range.removeFirst(3) }
            if buffer[range].last == 0x0d { range.removeLast() }
            if buffer[range].isBlank { return nil }
        }
        if range.count > longest {
            return Line(number: number, offset: lineOffset, content: .tooLong(count: range.count))
        }
        return Line(number: number, offset: lineOffset, content: .text(bytes: buffer, range: range))
    }

    /// Forgets the bytes of a line that can no longer become short enough (a byte order mark and a CR may still go).
    private mutating func dropIfTooLong() {
        guard dropped > 0 || end - start > longest + 4 else { return }
        dropped += end - start
        offset += end - start
        start = end
    }

    /// Moves the unfinished line to the front and reads on after it.
    private mutating func fill() throws(LineReadError) {
        if start > 0 {
            let moved = buffer[start..<end]
            buffer.replaceSubrange(0..<moved.count, with: Array(moved))
            (searched, end, start) = (searched - start, end - start, 0)
        }
        if buffer.count < end + chunk { buffer += [UInt8](repeating: 0, count: end + chunk - buffer.count) }
        let room = end..<(end + chunk)
        while true {
            let descriptor = descriptor
            let count = buffer.withUnsafeMutableBytes { bytes in
                let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[room])
                return read(descriptor, rest.baseAddress, rest.count)
            }
            if count < 0 {
                let code = errno
                if code == EINTR { continue }
                throw LineReadError(errno: code, offset: offset + end - start)
            }
            end += count
            isAtEnd = count == 0
            return
        }
    }
}

extension ArraySlice<UInt8> {
    /// Whether a line, without its newline, says nothing: blanks, tabs and carriage returns only.
    package var isBlank: Bool { allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d } }
}

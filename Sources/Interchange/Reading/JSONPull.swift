package import EventStore
internal import Glibc

/// JSON of any size, read a value at a time: objects and arrays are entered, and what is small enough is handed out whole. Memory is
/// bounded by the longest value that is asked for.
package final class JSONPull {
    /// Longest value that is handed out.
    package static let longestValue = 64 << 20
    private static let chunk = 256 << 10

    private enum Step {
        case member(String)
        case element(Int)
    }

    private let reader: ByteReader
    private let longest: Int
    private let repeats: ((String) -> Void)?
    private var buffer: [UInt8] = []
    /// What is read and not yet used of the buffer.
    private var start = 0, end = 0
    private var isAtEnd = false
    /// Line ends that the buffer has given up.
    private var gone = 0
    private var path: [Step] = []
    /// For each open container whether nothing of it was read yet.
    private var fresh: [Bool] = []

    /// - Parameter repeats: Told the place of each value in which an object has a member twice.
    package init(
        _ reader: ByteReader, longest: Int = longestValue, repeats: ((String) -> Void)? = nil
    ) throws(ImportError) {
        (self.reader, self.longest, self.repeats) = (reader, longest, repeats)
        while end < 3, !isAtEnd { try fill() }
        let head = buffer[..<end]
        if head.starts(with: [0xef, 0xbb, 0xbf]) { start = 3 }
        if head.starts(with: [0xff, 0xfe]) || head.starts(with: [0xfe, 0xff]) {
            throw ImportError(.malformed, reader.name, "it is UTF-16; save it as UTF-8")
        }
    }

    /// `$.chats.list[3]`: where the reader is.
    package var place: String {
        path.reduce("$") { text, step in
            switch step {
            case .member(let name): text + "." + String(name.prefix(80))
            case .element(let index): text + "[\(index)]"
            }
        }
    }

    package func failure(_ reason: String, at offset: Int? = nil) -> ImportError {
        let last = min(offset ?? start, end)
        let lines = gone + 1 + buffer[..<last].reduce(0) { $0 + ($1 == 0x0a ? 1 : 0) }
        return ImportError(.malformed, reader.name, at: "\(place), line \(lines)", reason)
    }

    /// The first byte of what comes next, blanks passed over; 0 at the end.
    package func peek() throws(ImportError) -> UInt8 {
        while true {
            while start < end {
                let byte = buffer[start]
                guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return byte }
                start += 1
            }
            if isAtEnd { return 0 }
            try fill()
        }
    }

    package func openObject() throws(ImportError) { try open("{", "an object is expected") }
    package func openArray() throws(ImportError) { try open("[", "a list is expected") }

    private func open(_ bracket: Unicode.Scalar, _ reason: String) throws(ImportError) {
        guard try peek() == UInt8(ascii: bracket) else { throw failure(reason) }
        guard fresh.count < JSONDepth.most else { throw failure("nested too deep") }
        start += 1
        fresh.append(true)
        path.append(bracket == "{" ? .member("") : .element(-1))
    }

    /// The name of the next member of the object that was entered last; `nil` behind the last one.
    package func nextName() throws(ImportError) -> String? {
        guard try !closes("}") else { return nil }
        guard try peek() == UInt8(ascii: "\"") else { throw failure("a member name in quotes is expected") }
        path[path.count - 1] = .member("")
        let name = try value().string ?? ""
        guard try peek() == UInt8(ascii: ":") else { throw failure("a colon is expected") }
        start += 1
        path[path.count - 1] = .member(name)
        return name
    }

    /// Whether the array that was entered last has another element, which comes next.
    package func nextElement() throws(ImportError) -> Bool {
        guard try !closes("]") else { return false }
        if case .element(let index)? = path.last { path[path.count - 1] = .element(index + 1) }
        return true
    }

    private func closes(_ bracket: Unicode.Scalar) throws(ImportError) -> Bool {
        let next = try peek()
        let isFirst = fresh[fresh.count - 1]
        fresh[fresh.count - 1] = false
        if next == UInt8(ascii: bracket) {
            start += 1
            fresh.removeLast()
            path.removeLast()
            return true
        }
        if isFirst { return false }
        guard next == UInt8(ascii: ",") else {
            throw failure(next == 0 ? "text ends too early" : "a comma or \(bracket) is expected")
        }
        start += 1
        return false
    }

    /// The next value, whatever it is, read and checked whole.
    package func value() throws(ImportError) -> JSONValue {
        guard try peek() != 0 || start < end else { throw failure("text ends too early") }
        let limit = try extent()
        let bytes = Array(buffer[start..<limit])
        var scanner = JSONScanner(bytes)
        do throws(JSONError) {
            let range = try scanner.value(nesting: JSONDepth.most - fresh.count)
            guard range.count == bytes.count else { throw JSONError(.trailingText, at: range.upperBound) }
        } catch {
            throw failure(error.reason.rawValue, at: start + error.offset)
        }
        start = limit
        let value = JSONValue(bytes: bytes, range: 0..<bytes.count)
        if let repeats, value.repeatsMember { repeats(place) }
        return value
    }

    /// Passes over the next value, of any size.
    package func skip() throws(ImportError) {
        switch try peek() {
        case UInt8(ascii: "{"):
            try openObject()
            while try nextName() != nil { try skip() }
        case UInt8(ascii: "["):
            try openArray()
            while try nextElement() { try skip() }
        default: _ = try value()
        }
    }

    /// Nothing but blanks may follow.
    package func finish() throws(ImportError) {
        guard try peek() == 0, start == end else { throw failure("text after the end of the value") }
    }

    private struct Extent {
        var depth = 0
        var isString = false
        var isEscape = false

        /// The end of the value that begins at `from`; `nil`: `index` is as far as there are bytes.
        mutating func end(_ raw: UnsafeRawBufferPointer, _ index: inout Int, isScalar: Bool) -> Int? {
            while index < raw.count {
                let byte = raw[index]
                if isString {
                    index += 1
                    if isEscape {
                        isEscape = false
                    } else if byte == UInt8(ascii: "\\") {
                        isEscape = true
                    } else if byte == UInt8(ascii: "\"") {
                        isString = false
                        if depth == 0 { return index }
                    }
                    continue
                }
                switch byte {
                case UInt8(ascii: "\""): isString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth <= 1 { return isScalar ? index : index + 1 }
                    depth -= 1
                case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x0a, 0x0d, 0x09:
                    if depth == 0 { return index }
                default: break
                }
                index += 1
            }
            return nil
        }
    }

    /// Where the value that begins at `start` ends. What stands between is not looked at.
    private func extent() throws(ImportError) -> Int {
        let first = buffer[start]
        let isScalar = first != UInt8(ascii: "{") && first != UInt8(ascii: "[")
        var state = Extent()
        var index = start
        while true {
            let found = buffer.withUnsafeBytes { raw in
                state.end(UnsafeRawBufferPointer(rebasing: raw[..<end]), &index, isScalar: isScalar)
            }
            if let found { return found == start ? start + 1 : found }
            if isAtEnd { return end }
            guard state.depth <= JSONDepth.most else { throw failure("nested too deep", at: index) }
            guard index - start <= longest else { throw failure("the value is longer than \(longest) bytes") }
            let before = start
            try fill()
            // What stands before the value may have been given up.
            index -= before - start
        }
    }

    private func fill() throws(ImportError) {
        if buffer.count - end < Self.chunk / 2 {
            if start > 0 { forget() }
            // A long value grows by halves, so that what is moved stays a small multiple of it.
            let room = max(Self.chunk, end / 2)
            if buffer.count < end + room {
                var larger = [UInt8](repeating: 0, count: end + room)
                larger.replaceSubrange(..<end, with: buffer[..<end])
                buffer = larger
            }
        }
        let added = try reader.fill(&buffer, from: end)
        end += added
        isAtEnd = added == 0
    }

    /// Moves what is not yet used to the front.
    private func forget() {
        gone += buffer.withUnsafeMutableBytes { raw in
            var lines = 0
            for index in 0..<start where raw[index] == 0x0a { lines += 1 }
            if let base = raw.baseAddress { memmove(base, base + start, end - start) }
            return lines
        }
        (start, end) = (0, end - start)
    }
}

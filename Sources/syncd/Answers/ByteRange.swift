internal import SyncEngine

/// Which bytes a request asks for (RFC 9110 §14).
enum ByteRange: Equatable {
    case whole
    case part(Range<UInt64>)
    /// There are none of those.
    case none

    /// Reads the headers of a request for `count` bytes with this tag. More than one range, and what cannot be read, is answered with all.
    init(_ request: HTTPRequest, of count: UInt64, tag: String) {
        if let condition = request.header("If-Range"), condition != tag {
            self = .whole
            return
        }
        self = request.header("Range").map { Self.read($0, count) } ?? .whole
    }

    private static func read(_ text: String, _ count: UInt64) -> ByteRange {
        let text = text.lowercased()
        guard text.hasPrefix("bytes="), !text.contains(",") else { return .whole }
        let parts = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return .whole }
        let (first, last) = (number(parts[0]), number(parts[1]))
        switch (parts[0].isEmpty, parts[1].isEmpty) {
        case (true, true): return .whole
        case (true, false):
            guard let last else { return .whole }
            return last == 0 || count == 0 ? .none : .part(count - min(last, count)..<count)
        case (false, let isOpen):
            guard let first, isOpen || last != nil else { return .whole }
            if let last, last < first { return .whole }
            guard first < count else { return .none }
            return .part(first..<(last.map { min($0, count - 1) + 1 } ?? count))
        }
    }

    /// A decimal number; the largest there is in place of one beyond it.
    private static func number(_ text: Substring) -> UInt64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return UInt64(text) ?? .max
    }
}

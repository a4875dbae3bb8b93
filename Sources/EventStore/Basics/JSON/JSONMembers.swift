/// One member of an object: where its name and its value stand.
package struct JSONMemberRange: Hashable {
    package let name: JSONStringRange
    package let value: Range<Int>
}

extension JSONTextScanner {
    /// Passes the brace that opens an object and the blanks after it. `nextName` follows.
    mutating func openObject() throws(JSONError) {
        guard peek() == UInt8(ascii: "{") else { throw failure(.expectedObject) }
        index += 1
        skipBlanks()
    }

    /// The next member's name, `nil` after the last one, when the closing brace has been passed. The value follows at
    /// the index and must be passed before the next call.
    @inline(__always)
    mutating func nextName(isFirst: Bool) throws(JSONError) -> JSONStringRange? {
        if !isFirst { skipBlanks() }
        if peek() == UInt8(ascii: "}") {
            index += 1
            return nil
        }
        if !isFirst {
            guard peek() == UInt8(ascii: ",") else { throw failure(.expectedCommaOrBrace) }
            index += 1
            skipBlanks()
        }
        return try name()
    }

    /// Passes an object, refusing a second member of the same name in it (not in the objects inside), and returns
    /// where it stands.
    mutating func distinctObject() throws(JSONError) -> Range<Int> {
        let start = index
        try openObject()
        var names = MemberNames()
        var isFirst = true
        while let name = try nextName(isFirst: isFirst) {
            guard names.insert(name, of: bytes) else {
                throw JSONError(.duplicateMember, at: name.range.lowerBound - 1)
            }
            isFirst = false
            _ = try value(nesting: JSONDepth.most - 1)
        }
        return start..<index
    }
}

extension JSONTextScanner {
    /// Passes a value that was passed before; whether an object in it has two members of one name.
    fileprivate mutating func repeatsMember() throws(JSONError) -> Bool {
        var repeats = false
        switch peek() {
        case UInt8(ascii: "{"):
            try openObject()
            var names = MemberNames()
            var isFirst = true
            while let name = try nextName(isFirst: isFirst) {
                if !names.insert(name, of: bytes) { repeats = true }
                if try repeatsMember() { repeats = true }
                isFirst = false
            }
        case UInt8(ascii: "["):
            index += 1
            skipBlanks()
            while peek() != UInt8(ascii: "]") {
                if try repeatsMember() { repeats = true }
                skipBlanks()
                if peek() == UInt8(ascii: ",") { index += 1 }
                skipBlanks()
            }
            index += 1
        default: _ = try value()
        }
        return repeats
    }
}

extension JSONValue {
    /// Whether an object in it has two members of one name, of which the first one counts.
    package var repeatsMember: Bool {
        var scanner = JSONScanner(bytes, range)
        return (try? scanner.repeatsMember()) ?? false
    }
}

/// The names of one object's members seen so far. The first 16 are kept as hashes in place; equal hashes are settled
/// by the caller's bytes. Objects with more members use a set, so that a hostile one cannot cost quadratic time.
private struct MemberNames {
    private var hashes = InlineArray<16, UInt64>(repeating: 0)
    private var ranges = InlineArray<16, JSONStringRange>(
        repeating: JSONStringRange(range: 0..<0, isEscaped: false))
    private var count = 0
    private var more: Set<[UInt8]> = []

    /// False when `name` is there already. Names are compared after their escapes are decoded, byte by byte.
    mutating func insert(_ name: JSONStringRange, of bytes: some JSONBytes) -> Bool {
        guard count < hashes.count else { return insertIntoSet(name, of: bytes) }
        let hash = Self.hash(name, of: bytes)
        for index in 0..<count where hashes[index] == hash {
            if JSONText.equal(ranges[index], name, of: bytes) { return false }
        }
        hashes[count] = hash
        ranges[count] = name
        count += 1
        return true
    }

    private mutating func insertIntoSet(_ name: JSONStringRange, of bytes: some JSONBytes) -> Bool {
        if more.isEmpty {
            for index in 0..<count { more.insert(JSONText.decoded(ranges[index], of: bytes)) }
        }
        return more.insert(JSONText.decoded(name, of: bytes)).inserted
    }

    /// FNV-1a (Fowler, Noll, Vo) over the decoded name, eight bytes at a time.
    private static func hash(_ name: JSONStringRange, of bytes: some JSONBytes) -> UInt64 {
        guard !name.isEscaped else {
            let decoded = JSONText.decoded(name, of: bytes)
            return hash(decoded, 0..<decoded.count)
        }
        return hash(bytes, name.range)
    }

    private static func hash(_ bytes: some JSONBytes, _ range: Range<Int>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
            hash = (hash ^ bytes.word(at: index, count: range.upperBound - index)) &* 0x0100_0000_01b3
            hash ^= hash >> 32
        }
        return hash
    }
}

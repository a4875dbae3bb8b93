/// A JSON object read in place: every question walks the bytes, nothing is built. Meant for payloads, which are short
/// and asked for a few members each.
///
/// Where a name occurs twice (only possible below the top level) the first one counts.
package struct JSONObject: Sequence {
    package let bytes: [UInt8]
    /// Where the object stands, from brace to brace.
    package let range: Range<Int>

    /// The object in `bytes` that have been validated before. Others lead to missing members, never to harm.
    package init(validated bytes: [UInt8]) {
        self.init(bytes: bytes, range: 0..<bytes.count)
    }

    init(bytes: [UInt8], range: Range<Int>) {
        self.bytes = bytes
        self.range = range
    }

    /// One member.
    package struct Member {
        let bytes: [UInt8]
        let place: JSONMemberRange
        /// The decoded name.
        package var name: String { JSONText.string(place.name, of: bytes) }
        package var value: JSONValue { JSONValue(bytes: bytes, range: place.value) }
    }

    /// The members in the order in which they stand.
    package struct Iterator: IteratorProtocol {
        private var scanner: JSONScanner
        private var isFirst = true
        private var isDone = false

        init(_ object: JSONObject) {
            scanner = JSONScanner(object.bytes, object.range)
            do throws(JSONError) {
                try scanner.start()
                try scanner.openObject()
            } catch {
                isDone = true
            }
        }

        package mutating func next() -> Member? {
            nextPlace().map { Member(bytes: scanner.bytes, place: $0) }
        }

        @inline(__always)
        mutating func nextPlace() -> JSONMemberRange? {
            guard !isDone else { return nil }
            do throws(JSONError) {
                if let name = try scanner.nextName(isFirst: isFirst) {
                    isFirst = false
                    return JSONMemberRange(name: name, value: try scanner.value())
                }
            } catch {}
            isDone = true
            return nil
        }
    }

    package func makeIterator() -> Iterator { Iterator(self) }

    /// The value of the member `name`.
    package subscript(_ name: String) -> JSONValue? {
        var members = makeIterator()
        while let place = members.nextPlace() {
            if JSONText.equal(place.name, name, of: bytes) { return JSONValue(bytes: bytes, range: place.value) }
        }
        return nil
    }

    /// The value at a path of names joined by dots: `usage.tokens`.
    package func value(path: String) -> JSONValue? {
        guard let dot = path.firstIndex(of: ".") else { return self[path] }
        return self[String(path[..<dot])]?.object?.value(path: String(path[path.index(after: dot)...]))
    }

    /// The member's text; `nil` when it is missing or not a string. The same holds for the others.
    package func string(_ name: String) -> String? { self[name]?.string }
    package func integer(_ name: String) -> Int64? { self[name]?.integer }
    package func bool(_ name: String) -> Bool? { self[name]?.bool }
    package func object(_ name: String) -> JSONObject? { self[name]?.object }
    package func elements(_ name: String) -> [JSONValue]? { self[name]?.elements }
    /// The strings of an array; elements of other kinds are passed over.
    package func strings(_ name: String) -> [String]? { self[name]?.elements?.compactMap(\.string) }
    /// The member's value byte for byte.
    package func raw(_ name: String) -> ArraySlice<UInt8>? { self[name]?.raw }
}

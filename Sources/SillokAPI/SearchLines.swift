package import CommandLineKit
package import EventStore

extension EventLines {
    /// A text that was found: `{"type":"hit",…}` (docs/reference/CLI-JSON.md).
    package func line(_ hit: SearchHit) throws(StoreError) -> JSONLine {
        var line = JSONLine(type: "hit")
        line.add("kind", hit.kind.rawValue)
        line.add("text", hit.text)
        let units = SearchMatcher.utf16(hit.ranges, of: hit.text)
        line.addArray("ranges") { array in
            for (bytes, units) in zip(hit.ranges, units) {
                array.addObject { range in
                    range.addRaw("utf8", "[\(bytes.lowerBound),\(bytes.upperBound)]")
                    range.addRaw("utf16", "[\(units.lowerBound),\(units.upperBound)]")
                }
            }
        }
        if let edit = hit.edit { line.add("edit", edit.description) }
        line.add("time", Timestamp.text(hit.key.time))
        line.addRaw("event", try native(hit.stored))
        return line
    }
}

extension JSONLine {
    /// `{"type":"hit_count",…}`.
    package init(texts count: UInt64) {
        self.init(type: "hit_count")
        add("texts", count)
    }
}

/// A text that was found, as its line tells it.
package struct FoundLine: Sendable {
    package let kind: String
    package let text: String
    /// Where the words stand in it, as bytes of UTF-8: in order, within the text, and between its characters.
    package let ranges: [Range<Int>]
    /// The event that shows it.
    package let stored: StoredEvent
    /// When the words were written, Unix milliseconds.
    package let time: Int64

    /// `nil` if the object is no such line.
    package init?(_ line: JSONObject) {
        guard let kind = line.string("kind"), let text = line.string("text"),
            let stored = line.object("event").flatMap(StoredEvent.init(native:)),
            let time = line.string("time").flatMap(Timestamp.milliseconds)
        else { return nil }
        (self.kind, self.text, self.stored, self.time) = (kind, text, stored, time)
        var last = 0
        let bytes = Array(text.utf8)
        ranges = (line.elements("ranges") ?? []).compactMap { element in
            let numbers = element.object?.elements("utf8")?.compactMap(\.integer).map { Int(clamping: $0) } ?? []
            guard numbers.count == 2, last <= numbers[0], numbers[0] < numbers[1], numbers[1] <= bytes.count,
                numbers.allSatisfy({ $0 == bytes.count || bytes[$0] & 0xc0 != 0x80 })
            else { return nil }
            last = numbers[1]
            return numbers[0]..<numbers[1]
        }
    }
}

/// Where a reader of the log has come to: what stands behind it is still to be read. It names the event there, so that a log that is
/// another one, or has lost that event, is noticed: positions are given out again.
package struct LogPlace: Hashable, Sendable {
    /// Of the store.
    package let incarnation: UInt64
    package let position: UInt64
    /// The event at that position; `nil` at the beginning.
    package let dot: Dot?

    package init(incarnation: UInt64, position: UInt64, dot: Dot?) {
        (self.incarnation, self.position, self.dot) = (incarnation, position, dot)
    }

    /// `<incarnation> <position>`, and `<origin>/<seq>` where there is an event.
    package var text: String {
        let place = "\(String(incarnation, radix: 16)) \(position)"
        return dot.map { "\(place) \($0)" } ?? place
    }

    /// `nil` if the text is no place.
    package init?(text: String) {
        let parts = text.split(whereSeparator: \.isWhitespace)
        guard (2...3).contains(parts.count), let incarnation = UInt64(parts[0], radix: 16),
            let position = UInt64(parts[1]), (position > 0) == (parts.count == 3)
        else { return nil }
        self.init(incarnation: incarnation, position: position, dot: nil)
        guard parts.count == 3 else { return }
        let names = parts[2].split(separator: "/")
        guard names.count == 2, let origin = OriginID(text: names[0]), let seq = UInt64(names[1]) else { return nil }
        self.init(incarnation: incarnation, position: position, dot: Dot(origin: origin, seq: seq))
    }
}

extension LogReader {
    /// The place behind the event at `position`; 0 is the beginning.
    package func place(at position: UInt64) throws(StoreError) -> LogPlace {
        LogPlace(
            incarnation: try incarnation(), position: position,
            dot: try position == 0 ? nil : mapped { () throws(DatabaseError) in try dot(at: position) })
    }

    /// Whether a reader that has come to `place` has read what stands before it here.
    package func has(_ place: LogPlace) throws(StoreError) -> Bool {
        guard try incarnation() == place.incarnation else { return false }
        guard place.position > 0, try place.position <= top() else { return place.position == 0 }
        return try self.place(at: place.position) == place
    }
}

/// Where a reader of the log has come to: what stands behind it is still to be read. It names the event there by its leaf, so that a
/// log that is another one, or has another event there, is noticed: positions and seqs are given out again.
package struct LogPlace: Hashable, Sendable {
    /// Of the store.
    package let incarnation: UInt64
    package let position: UInt64
    /// The first four bytes of the leaf of the event at that position; `nil` at the beginning.
    package let leaf: UInt32?

    package init(incarnation: UInt64, position: UInt64, leaf: UInt32?) {
        (self.incarnation, self.position, self.leaf) = (incarnation, position, leaf)
    }

    /// `<incarnation> <position>`, and `<leaf>` where there is an event.
    package var text: String {
        let place = "\(String(incarnation, radix: 16)) \(position)"
        return leaf.map { "\(place) \(String($0, radix: 16))" } ?? place
    }

    /// `nil` if the text is no place.
    package init?(text: String) {
        let parts = text.split(whereSeparator: \.isWhitespace)
        guard (2...3).contains(parts.count), let incarnation = UInt64(parts[0], radix: 16),
            let position = UInt64(parts[1]), (position > 0) == (parts.count == 3)
        else { return nil }
        let leaf = parts.count == 3 ? UInt32(parts[2], radix: 16) : nil
        guard (leaf != nil) == (position > 0) else { return nil }
        self.init(incarnation: incarnation, position: position, leaf: leaf)
    }
}

extension LogReader {
    /// The place behind the event at `position`; 0 is the beginning.
    package func place(at position: UInt64) throws(StoreError) -> LogPlace {
        LogPlace(
            incarnation: try incarnation(), position: position,
            leaf: try mapped { () throws(DatabaseError) in
                try leaf(at: position).map(UInt32.init(truncatingIfNeeded:))
            })
    }

    /// Whether a reader that has come to `place` has read what stands before it here.
    package func has(_ place: LogPlace) throws(StoreError) -> Bool {
        guard try incarnation() == place.incarnation else { return false }
        guard place.position > 0, try place.position <= top() else { return place.position == 0 }
        return try self.place(at: place.position) == place
    }

    /// Column `leaf` of the event at `position`: the first four bytes. `nil` if there is none.
    func leaf(at position: UInt64) throws(DatabaseError) -> Int64? {
        try connection.integer("SELECT leaf FROM event WHERE position = ?", .integer(Int64(bitPattern: position)))
    }
}

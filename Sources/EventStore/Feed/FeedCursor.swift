/// How far a follower of the log has come, so that it can go on at any node: exactly at the node that gave the cursor, and elsewhere
/// with all that is not in the causal past of the event it names.
package struct FeedCursor: Hashable, Sendable {
    private static let version: UInt8 = 1
    /// Version, incarnation, position, leaf, origin, seq.
    private static let byteCount = 1 + 8 + 8 + 4 + 16 + 8

    /// In the log of the node that gave it.
    package let place: LogPlace
    /// The event there; `nil` at the beginning.
    package let dot: Dot?

    package init(place: LogPlace, dot: Dot?) { (self.place, self.dot) = (place, dot) }

    /// Base64url without padding (RFC 4648 §5): 60 characters, opaque to clients.
    package var text: String {
        var bytes = [Self.version]
        bytes.appendBigEndian(place.incarnation)
        bytes.appendBigEndian(place.position)
        bytes.appendBigEndian(place.leaf ?? 0)
        (dot?.origin.bits ?? UUIDBits(high: 0, low: 0)).append(to: &bytes)
        bytes.appendBigEndian(dot?.seq ?? 0)
        return base64URLText(bytes)
    }

    /// `nil` if the text is no cursor.
    package init?(text: String) {
        guard let bytes = base64URLBytes(text), bytes.count == Self.byteCount, bytes[0] == Self.version else {
            return nil
        }
        func word(_ at: Int) -> UInt64 { bytes[at..<at + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        let (position, seq) = (word(9), word(37))
        guard position <= Limits.number, seq <= Limits.number, (position == 0) == (seq == 0) else { return nil }
        let leaf = bytes[17..<21].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        place = LogPlace(incarnation: word(1), position: position, leaf: position == 0 ? nil : leaf)
        dot = seq == 0 ? nil : Dot(origin: OriginID(UUIDBits(high: word(21), low: word(29))), seq: seq)
    }
}

extension LogReader {
    /// The cursor of one who has come as far as `position`; 0 is the beginning.
    package func cursor(at position: UInt64) throws(StoreError) -> FeedCursor {
        let place = try place(at: position)
        guard position > 0 else { return FeedCursor(place: place, dot: nil) }
        return FeedCursor(place: place, dot: try mapped { () throws(DatabaseError) in try dot(at: position) })
    }
}

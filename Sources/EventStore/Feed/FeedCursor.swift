/// How far a follower of the log has come, so that it can go on at any node. At the node that gave the cursor it goes on exactly there,
/// and elsewhere with all that is neither in the causal past of the event it names nor among what it names beside that.
package struct FeedCursor: Hashable, Sendable {
    /// That a follower has had all of an origin up to an event. The event is named by its leaf, too, as in ``LogPlace``.
    package struct Mark: Hashable, Sendable {
        package let dot: Dot
        package let leaf: UInt32

        package init(dot: Dot, leaf: UInt32) { (self.dot, self.leaf) = (dot, leaf) }
    }

    /// Of a follower who has had nothing from elsewhere, and of others.
    private static let (version, versionWithMarks): (UInt8, UInt8) = (1, 2)
    /// Version, incarnation, position, leaf, origin, seq.
    private static let byteCount = 1 + 8 + 8 + 4 + 16 + 8
    /// Origin, seq, leaf.
    private static let markByteCount = 16 + 8 + 4
    /// Of more origins some events come again. A cursor has at most 2,450 characters: it is part of URLs.
    package static let mostMarks = 64

    /// In the log of the node that gave it.
    package let place: LogPlace
    /// The event there; `nil` at the beginning.
    package let dot: Dot?
    /// What the follower has had from other nodes and may lack in the causal past of the event. Without it one who asks several nodes in
    /// turn would be given by each what the one before has given, and never get on.
    package let marks: [Mark]

    package init(place: LogPlace, dot: Dot?, marks: [Mark] = []) {
        (self.place, self.dot, self.marks) = (place, dot, marks)
    }

    /// Base64url without padding (RFC 4648 §5): 60 characters without marks; opaque to clients.
    package var text: String {
        var bytes = [marks.isEmpty ? Self.version : Self.versionWithMarks]
        bytes.appendBigEndian(place.incarnation)
        bytes.appendBigEndian(place.position)
        bytes.appendBigEndian(place.leaf ?? 0)
        (dot?.origin.bits ?? UUIDBits(high: 0, low: 0)).append(to: &bytes)
        bytes.appendBigEndian(dot?.seq ?? 0)
        for mark in marks {
            mark.dot.origin.bits.append(to: &bytes)
            bytes.appendBigEndian(mark.dot.seq)
            bytes.appendBigEndian(mark.leaf)
        }
        return base64URLText(bytes)
    }

    /// `nil` if the text is no cursor.
    package init?(text: String) {
        guard let bytes = base64URLBytes(text), bytes.count >= Self.byteCount else { return nil }
        let (count, rest) = (bytes.count - Self.byteCount).quotientAndRemainder(dividingBy: Self.markByteCount)
        guard rest == 0, count <= Self.mostMarks,
            bytes[0] == (count == 0 ? Self.version : Self.versionWithMarks)
        else { return nil }
        func word(_ at: Int) -> UInt64 { bytes[at..<at + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        func leaf(_ at: Int) -> UInt32 { bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        func origin(_ at: Int) -> OriginID { OriginID(UUIDBits(high: word(at), low: word(at + 8))) }
        let (position, seq) = (word(9), word(37))
        guard position <= Limits.number, seq <= Limits.number, (position == 0) == (seq == 0) else { return nil }
        place = LogPlace(incarnation: word(1), position: position, leaf: position == 0 ? nil : leaf(17))
        dot = seq == 0 ? nil : Dot(origin: origin(21), seq: seq)
        var marks: [Mark] = []
        for at in stride(from: Self.byteCount, to: bytes.count, by: Self.markByteCount) {
            let seq = word(at + 16)
            guard (1...Limits.number).contains(seq) else { return nil }
            marks.append(Mark(dot: Dot(origin: origin(at), seq: seq), leaf: leaf(at + 24)))
        }
        self.marks = marks
    }
}

extension LogReader {
    /// The cursor of one who has come as far as `position`, and has had nothing from elsewhere; 0 is the beginning.
    package func cursor(at position: UInt64) throws(StoreError) -> FeedCursor {
        let place = try place(at: position)
        guard position > 0 else { return FeedCursor(place: place, dot: nil) }
        return FeedCursor(place: place, dot: try mapped { () throws(DatabaseError) in try dot(at: position) })
    }

    /// The cursor of one who stands at `place`. With what they have had from elsewhere it names all that the log holds up to there, as
    /// far as the event at the place does not stand for it. So each page brings them on, at whatever node they ask for the next one.
    package func cursor(of place: FeedPlace) throws(StoreError) -> FeedCursor {
        let plain = try cursor(at: place.position)
        guard !place.known.entries.isEmpty else { return plain }
        let had = place.known.merged(with: try vector(at: place.position))
        let past = try plain.dot.map { dot throws(StoreError) in try recentPast(of: dot) } ?? VersionVector()
        let marks = try marks(VersionVector(had.entries.filter { !past.contains($0) }))
        return FeedCursor(place: plain.place, dot: plain.dot, marks: marks)
    }

    /// The last events of a vector's origins that are here, as a cursor names them; of too many those that came last.
    package func marks(_ known: VersionVector) throws(StoreError) -> [FeedCursor.Mark] {
        let here = try vector()
        var found: [(position: UInt64, mark: FeedCursor.Mark)] = []
        for entry in known.entries {
            let dot = Dot(origin: entry.origin, seq: min(entry.seq, here[entry.origin]))
            guard dot.seq > 0, let position = try position(of: dot) else { continue }
            found.append((position, FeedCursor.Mark(dot: dot, leaf: try place(at: position).leaf ?? 0)))
        }
        found.sort { $0.position > $1.position }
        return found.prefix(FeedCursor.mostMarks).map(\.mark)
    }
}

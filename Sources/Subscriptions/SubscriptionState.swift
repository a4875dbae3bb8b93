package import EventStore

/// What of a subscription is done, as it is kept in `subs.db`: everything that was looked at but the events that are open.
package struct SubscriptionState: Hashable, Sendable {
    /// An event that is not done, and how often it was handed out.
    package struct Open: Hashable, Sendable {
        package let dot: Dot
        package var attempts: Int
        /// Of its conversation; `nil` where that was not told.
        package var mark: ConversationMark?

        package init(_ dot: Dot, attempts: Int, mark: ConversationMark? = nil) {
            (self.dot, self.attempts, self.mark) = (dot, attempts, mark)
        }
    }

    /// All of these were looked at: wanted or not.
    package var looked = LookedAt()
    /// The vector of that.
    package var through: VersionVector {
        get { looked.through }
        set { looked.through = newValue }
    }
    package var open: [Open] = []
    /// Done before they were looked at: acks of an earlier state.
    package var early: [Dot] = []
    /// Parked ones that are handed out once more.
    package var retried: [Open] = []
    /// Events that say what was parked. What is done by them is done where they are.
    package var needs = VersionVector()

    package init() {}

    /// What is done by either: both sets only grow, so that nothing is lost whichever is older.
    package mutating func merge(_ other: SubscriptionState) {
        let (mine, theirs) = (self, other)
        looked.merge(theirs.looked)
        for entry in theirs.needs.entries { needs.advance(to: entry) }
        let early = Set(mine.early).union(theirs.early)
        open = Self.open(mine.open, theirs.open, mine.looked, theirs.looked).filter { !early.contains($0.dot) }
        retried = Self.open(mine.retried, theirs.retried, LookedAt(), LookedAt())
        self.early = looked.early(early).sorted()
    }

    /// Whether the event was looked at, or is done.
    func isHeeded(_ dot: Dot) -> Bool { through.contains(dot) || early.contains(dot) }

    /// Whether it says that this is done.
    package func isDone(_ dot: Dot, of mark: ConversationMark) -> Bool {
        early.contains(dot) || looked.contains(dot, of: mark) && !open.contains { $0.dot == dot }
    }

    /// Forgets what was looked at beyond `vector`, and that it is done: it comes again rather than never.
    mutating func clip(to vector: VersionVector) {
        looked.clip(to: vector)
        open.removeAll { !vector.contains($0.dot) }
    }

    /// What is open in both, or in one and not looked at by the other.
    private static func open(_ mine: [Open], _ theirs: [Open], _ looked: LookedAt, _ other: LookedAt) -> [Open] {
        var all = Dictionary(uniqueKeysWithValues: mine.map { ($0.dot, $0) })
        let known = Set(theirs.map(\.dot))
        for open in mine where other.contains(open.dot, of: open.mark) && !known.contains(open.dot) {
            all[open.dot] = nil
        }
        for open in theirs {
            if let same = all[open.dot] {
                all[open.dot]?.attempts = max(same.attempts, open.attempts)
                all[open.dot]?.mark = same.mark ?? open.mark
            } else if !looked.contains(open.dot, of: open.mark) {
                all[open.dot] = open
            }
        }
        return all.values.sorted { $0.dot < $1.dot }
    }

    /// Tells of each open event of which conversation it is, where that was not told and the log knows.
    mutating func complete(_ mark: (Dot) -> ConversationMark?) {
        for index in open.indices where open[index].mark == nil { open[index].mark = mark(open[index].dot) }
    }

    /// Without conversations that are behind, and with them. Earlier releases read the first alone.
    private static let (plain, uneven) = (UInt64(2), UInt64(3))

    /// Numbers of eight bytes, the most significant first: the version; then each of the lists `through`, `open`, `retried`, `early` and
    /// `needs`: its count and its elements. A dot is the 16 bytes of its origin and its seq; in `open` and `retried` the attempts follow.
    /// Where conversations are behind there are two lists more: the marks of `open`, 0 for one that is not known, and the places
    /// from which on they are behind: mark, origin, seq.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        let places = looked.places
        bytes.appendBigEndian(places.isEmpty ? Self.plain : Self.uneven)
        func append(_ dots: [Dot], _ attempts: [Int]? = nil) {
            bytes.appendBigEndian(UInt64(dots.count))
            for (index, dot) in dots.enumerated() {
                dot.origin.bits.append(to: &bytes)
                bytes.appendBigEndian(dot.seq)
                if let attempts { bytes.appendBigEndian(UInt64(attempts[index])) }
            }
        }
        append(through.entries)
        append(open.map(\.dot), open.map(\.attempts))
        append(retried.map(\.dot), retried.map(\.attempts))
        append(early)
        append(needs.entries)
        guard !places.isEmpty else { return bytes }
        bytes.appendBigEndian(UInt64(open.count))
        for one in open { bytes.appendBigEndian(one.mark?.bits ?? 0) }
        bytes.appendBigEndian(UInt64(places.count))
        for place in places {
            bytes.appendBigEndian(place.mark.bits)
            place.from.origin.bits.append(to: &bytes)
            bytes.appendBigEndian(place.from.seq)
        }
        return bytes
    }

    /// `nil` for anything else.
    package init?(bytes: [UInt8]) {
        var words = Words(bytes: bytes)
        guard let version = words.next(), [Self.plain, Self.uneven].contains(version),
            let through = words.dots(), var open = words.open(), let retried = words.open(),
            let early = words.dots(), let needs = words.dots()
        else { return nil }
        var places: [(mark: ConversationMark, from: Dot)] = []
        if version == Self.uneven {
            guard let marks = words.list(1, { $0.next() }), marks.count == open.count,
                let found = words.places(), !found.isEmpty
            else { return nil }
            for (index, bits) in marks.enumerated() where bits > 0 { open[index].mark = ConversationMark(bits: bits) }
            places = found
        }
        guard words.isAtEnd, zip(places, places.dropFirst()).allSatisfy({ ($0.mark, $0.from) < ($1.mark, $1.from) })
        else { return nil }
        // Other nodes send states, too: each dot stands once, in order.
        for dots in [through, open.map(\.dot), retried.map(\.dot), early, needs] {
            guard zip(dots, dots.dropFirst()).allSatisfy({ $0 < $1 }) else { return nil }
        }
        for dots in [through, needs] {
            guard zip(dots, dots.dropFirst()).allSatisfy({ $0.origin != $1.origin }) else { return nil }
        }
        (self.through, self.needs) = (VersionVector(through), VersionVector(needs))
        (self.open, self.retried, self.early) = (open, retried, early)
        guard looked.take(places) else { return nil }
    }

    private struct Words {
        let bytes: [UInt8]
        var index = 0
        var isAtEnd: Bool { index == bytes.count }

        mutating func next() -> UInt64? {
            guard bytes.count - index >= 8 else { return nil }
            defer { index += 8 }
            return bytes[index..<index + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }

        mutating func list<Element>(_ words: Int, _ element: (inout Words) -> Element?) -> [Element]? {
            guard let count = next(), count <= (bytes.count - index) / (8 * words) else { return nil }
            var all: [Element] = []
            for _ in 0..<count {
                guard let one = element(&self) else { return nil }
                all.append(one)
            }
            return all
        }

        private mutating func dot() -> Dot? {
            guard let high = next(), let low = next(), let seq = next(), (1...Limits.number).contains(seq) else {
                return nil
            }
            return Dot(origin: OriginID(UUIDBits(high: high, low: low)), seq: seq)
        }

        mutating func dots() -> [Dot]? { list(3) { $0.dot() } }

        mutating func places() -> [(mark: ConversationMark, from: Dot)]? {
            list(4) { words in
                guard let mark = words.next(), let from = words.dot() else { return nil }
                return (ConversationMark(bits: mark), from)
            }
        }

        mutating func open() -> [Open]? {
            list(4) { words in
                guard let dot = words.dot(), let attempts = words.next() else { return nil }
                return Open(dot, attempts: Int(clamping: attempts))
            }
        }
    }
}

package import EventStore

/// What of a subscription is done, as it is kept in `subs.db`: everything up to ``through`` but the events that are open.
package struct SubscriptionState: Hashable, Sendable {
    /// An event that is not done, and how often it was handed out.
    package struct Open: Hashable, Sendable {
        package let dot: Dot
        package var attempts: Int

        package init(_ dot: Dot, attempts: Int) { (self.dot, self.attempts) = (dot, attempts) }
    }

    /// All of these were looked at: wanted or not.
    package var through = VersionVector()
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
        for entry in theirs.through.entries { through.advance(to: entry) }
        for entry in theirs.needs.entries { needs.advance(to: entry) }
        let early = Set(mine.early).union(theirs.early)
        open = Self.open(mine.open, theirs.open, mine.through, theirs.through).filter { !early.contains($0.dot) }
        retried = Self.open(mine.retried, theirs.retried, VersionVector(), VersionVector())
        self.early = early.filter { !through.contains($0) }.sorted()
    }

    /// Whether it says that this is done.
    func isDone(_ dot: Dot) -> Bool {
        early.contains(dot) || through.contains(dot) && !open.contains { $0.dot == dot }
    }

    /// Forgets what was looked at beyond `vector`, and that it is done: it comes again rather than never.
    mutating func clip(to vector: VersionVector) {
        through = VersionVector(
            through.entries.compactMap { entry in
                let seq = min(entry.seq, vector[entry.origin])
                return seq > 0 ? Dot(origin: entry.origin, seq: seq) : nil
            })
        open.removeAll { !vector.contains($0.dot) }
    }

    /// What is open in both, or in one and not looked at by the other.
    private static func open(
        _ mine: [Open], _ theirs: [Open], _ through: VersionVector, _ other: VersionVector
    ) -> [Open] {
        var all = Dictionary(uniqueKeysWithValues: mine.map { ($0.dot, $0.attempts) })
        let known = Set(theirs.map(\.dot))
        for open in mine where other.contains(open.dot) && !known.contains(open.dot) { all[open.dot] = nil }
        for open in theirs {
            if let attempts = all[open.dot] {
                all[open.dot] = max(attempts, open.attempts)
            } else if !through.contains(open.dot) {
                all[open.dot] = open.attempts
            }
        }
        return all.map { Open($0.key, attempts: $0.value) }.sorted { $0.dot < $1.dot }
    }

    private static let version: UInt64 = 2

    /// Numbers of eight bytes, the most significant first: the version; then each of the lists `through`, `open`, `retried`, `early` and
    /// `needs`: its count and its elements. A dot is the 16 bytes of its origin and its seq; in `open` and `retried` the attempts follow.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendBigEndian(Self.version)
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
        return bytes
    }

    /// `nil` for anything else.
    package init?(bytes: [UInt8]) {
        var words = Words(bytes: bytes)
        guard words.next() == Self.version, let through = words.dots(), let open = words.open(),
            let retried = words.open(), let early = words.dots(), let needs = words.dots(), words.isAtEnd
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

        mutating func open() -> [Open]? {
            list(4) { words in
                guard let dot = words.dot(), let attempts = words.next() else { return nil }
                return Open(dot, attempts: Int(clamping: attempts))
            }
        }
    }
}

package import EventStore

/// Stands for a conversation: the first eight bytes of the SHA-256 of its key. Two with one mark are behind together, which no one can bring
/// about on purpose: it takes 2^64 tries to meet a given one.
package struct ConversationMark: Hashable, Comparable, Sendable {
    package let bits: UInt64

    package init(bits: UInt64) { self.bits = bits }

    package init(of header: EventHeader) { self.init(key: SubscriptionDefinition.conversationKey(of: header)) }

    init(key: ByteText) {
        bits = SHA256().digest(Array(key.text.utf8)).bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    package static func < (a: Self, b: Self) -> Bool { a.bits < b.bits }
}

/// Which events a subscription has looked at: a vector, and conversations that are behind it, each from some event of each origin on.
package struct LookedAt: Hashable, Sendable {
    /// Of all conversations but those that are behind.
    package var through = VersionVector()
    /// Of conversations that are behind: the seq, by origin, from which on nothing was looked at. None is beyond ``through``.
    package private(set) var behind: [ConversationMark: [OriginID: UInt64]] = [:]

    /// - Parameter mark: `nil` where it is not known: then only what is beyond doubt.
    package func contains(_ dot: Dot, of mark: ConversationMark?) -> Bool {
        guard through.contains(dot) else { return false }
        if behind.isEmpty { return true }
        guard let mark else { return !mayLack(dot) }
        return behind[mark]?[dot.origin].map { dot.seq < $0 } ?? true
    }

    /// Whether some conversation is behind this event of the vector.
    package func mayLack(_ dot: Dot) -> Bool {
        behind.values.contains { $0[dot.origin].map { $0 <= dot.seq } ?? false }
    }

    /// The event of the vector is left for later, with all of its conversation that follow.
    mutating func leave(_ dot: Dot, of mark: ConversationMark) {
        let from = behind[mark]?[dot.origin]
        behind[mark, default: [:]][dot.origin] = min(from ?? dot.seq, dot.seq)
    }

    /// One that was left was looked at.
    mutating func advance(to dot: Dot, of mark: ConversationMark) {
        // One that was open stands before the place: what follows it was looked at.
        guard let from = behind[mark]?[dot.origin], dot.seq >= from else { return }
        behind[mark]?[dot.origin] = dot.seq + 1
        trim()
    }

    /// All that was left of it was looked at.
    mutating func caughtUp(_ mark: ConversationMark) { behind[mark] = nil }

    /// What was looked at by either.
    mutating func merge(_ other: LookedAt) {
        func place(_ one: LookedAt, _ mark: ConversationMark, _ origin: OriginID) -> UInt64 {
            one.behind[mark]?[origin] ?? one.through[origin] + 1
        }
        var merged: [ConversationMark: [OriginID: UInt64]] = [:]
        for (mark, origins) in [behind, other.behind].joined() {
            for origin in origins.keys {
                merged[mark, default: [:]][origin] = max(place(self, mark, origin), place(other, mark, origin))
            }
        }
        behind = merged
        for entry in other.through.entries { through.advance(to: entry) }
        trim()
    }

    /// Forgets what lies beyond `vector`.
    mutating func clip(to vector: VersionVector) {
        through = VersionVector(
            through.entries.compactMap { entry in
                let seq = min(entry.seq, vector[entry.origin])
                return seq > 0 ? Dot(origin: entry.origin, seq: seq) : nil
            })
        trim()
    }

    /// What is behind in nothing is not behind.
    private mutating func trim() {
        for (mark, origins) in behind {
            let left = origins.filter { $0.value <= through[$0.key] }
            if left.count < origins.count { behind[mark] = left.isEmpty ? nil : left }
        }
    }

    /// Those of `dots`, each of them done, that one must know to be done: they are not looked at, or may not be.
    func early(_ dots: some Sequence<Dot>) -> [Dot] {
        dots.filter { !through.contains($0) || !behind.isEmpty && mayLack($0) }
    }

    /// As it is kept: by mark and origin.
    var places: [(mark: ConversationMark, from: Dot)] {
        behind.flatMap { mark, origins in origins.map { (mark, Dot(origin: $0.key, seq: $0.value)) } }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
    }

    /// Takes what was kept; false for what none is.
    mutating func take(_ places: [(mark: ConversationMark, from: Dot)]) -> Bool {
        for place in places {
            guard through.contains(place.from), behind[place.mark]?[place.from.origin] == nil else { return false }
            behind[place.mark, default: [:]][place.from.origin] = place.from.seq
        }
        return true
    }
}

/// A projection of the log into tables of `views.db`. Its state is a function of the *set* of events, whatever their
/// causal order of arrival (D8); it holds refs and positions of this node's log, its digest whole values.
///
/// One batch is `apply` for each event in position order, then `flush`. Between the two a view may gather what it will
/// write; `flush` writes in key order. A delta that is merged behind the log later on fits the same two steps.
protocol View: AnyObject {
    /// Its name in digests, quarantine and status.
    static var name: String { get }
    /// Raised with every change of its tables, or of what stands in them: this view alone is then built anew.
    static var version: Int64 { get }
    /// The names of its tables.
    static var tables: [String] { get }
    /// Makes them.
    static var schema: String { get }
    /// A view that this one is built anew with, for its rows say what that one's tables come to.
    static var foundation: (any View.Type)? { get }

    /// Whether it takes in every event, also those that this release cannot interpret: a type that it does not read, a header of a
    /// later format, a payload that is none. It then reads from them only what every format has, where they stand in time and in which conversation. From other
    /// views they are hidden (D13).
    static var takesAll: Bool { get }

    /// Whether it reads what messages say. Other views are given them only if they take in all.
    static var readsMessages: Bool { get }

    /// Whether ``watch(_:_:)`` wants to see events.
    static var isWatching: Bool { get }

    /// Whether it follows the others in time that those do not need, at a position of its own (0092): nothing that other views answer waits
    /// for it.
    static var isDeferred: Bool { get }

    /// Its rows that are written behind, if it has such.
    var tree: LSMTree? { get }

    /// Its tables were just made, beside those of other views that stand further on.
    func begin(_ store: ViewStore) throws(DatabaseError)

    /// Takes up what is on disk, before the first batch.
    func load(_ store: ViewStore) throws(DatabaseError)

    /// Sees every event before any view takes it in, whatever is in it.
    func watch(_ event: ProjectedEvent, _ store: ViewStore) throws(DatabaseError)

    /// Takes an event in, or takes it out again when its twin wins. Returns why it cannot be read, if so.
    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String?

    /// Writes what `apply` gathered.
    func flush(_ store: ViewStore) throws(DatabaseError)

    /// Does a little of what it has put off: some milliseconds. Returns false where nothing was left. Of deferred views alone.
    func tidy(_ store: ViewStore) throws(DatabaseError) -> Bool

    /// What it has taken in, summed up: changes with its rows, and is stored with them.
    var digest: DigestSum { get set }
}

extension View {
    static var takesAll: Bool { false }
    static var readsMessages: Bool { false }
    static var isWatching: Bool { false }
    static var isDeferred: Bool { false }
    static var foundation: (any View.Type)? { nil }
    var tree: LSMTree? { nil }

    func begin(_ store: ViewStore) throws(DatabaseError) {}
    func load(_ store: ViewStore) throws(DatabaseError) {}
    func watch(_ event: ProjectedEvent, _ store: ViewStore) throws(DatabaseError) {}
    func flush(_ store: ViewStore) throws(DatabaseError) {}
    func tidy(_ store: ViewStore) throws(DatabaseError) -> Bool { false }
}

/// What happens to an event in a view.
enum ViewChange {
    /// It is new.
    case insert
    /// It is new, but an event with the same id counts in its place: only last-writer registers take note.
    case shadow
    /// It counted until now; its twin takes its place.
    case remove

    /// What it adds to a count.
    var amount: Int64 {
        switch self {
        case .insert: 1
        case .shadow: 0
        case .remove: -1
        }
    }
}

/// `views.db` while it is written, with the log beside it.
final class ViewStore {
    let connection: Connection
    let source: ProjectionSource

    init(connection: Connection, source: ProjectionSource) {
        self.connection = connection
        self.source = source
    }

    private let sha = SHA256()
    private var lastSummand: (position: UInt64, words: SIMD4<UInt64>)?

    /// What an event adds to the digests of the views that list it, one after the other.
    func summand(_ event: ProjectedEvent) -> SIMD4<UInt64> {
        if let lastSummand, lastSummand.position == event.position { return lastSummand.words }
        let words = DigestSum.summand(event.key.dot, sha)
        lastSummand = (event.position, words)
        return words
    }

    /// The text behind a ref.
    func text(_ ref: Int64) throws(DatabaseError) -> String {
        try source.log.names.text(ref, on: source.log.connection)
    }

    /// The ref of a text, if the log knows it.
    func ref(_ text: String) throws(DatabaseError) -> Int64? {
        try source.log.names.ref(text, on: source.log.connection)
    }

}

/// When a register was written: a ``DisplayKey`` as 40 bytes that compare as the key does.
struct Stamp: Comparable, Hashable {
    let bytes: [UInt8]

    init(_ key: DisplayKey) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(40)
        bytes.appendBigEndian(UInt64(bitPattern: key.time) ^ 1 << 63)
        bytes.appendBigEndian(key.hlc.rawValue)
        key.dot.origin.bits.append(to: &bytes)
        bytes.appendBigEndian(key.dot.seq)
        self.bytes = bytes
    }

    /// When it was recorded, whatever time it states: as if it had happened then.
    init(recorded key: DisplayKey) {
        self.init(DisplayKey(time: key.hlc.milliseconds, hlc: key.hlc, dot: key.dot))
    }

    init?(_ bytes: [UInt8]) {
        guard bytes.count == 40 else { return nil }
        self.bytes = bytes
    }

    var key: DisplayKey {
        func word(_ offset: Int) -> UInt64 { bytes[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        return DisplayKey(
            time: Int64(bitPattern: word(0) ^ 1 << 63), hlc: HybridTime(rawValue: word(8)),
            dot: Dot(origin: OriginID(UUIDBits(high: word(16), low: word(24))), seq: word(32)))
    }

    static func < (a: Stamp, b: Stamp) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }
}

extension Optional {
    /// The value, or what `load` finds.
    func orLoad(_ load: () throws(DatabaseError) -> Wrapped?) throws(DatabaseError) -> Wrapped? {
        if let self { return self }
        return try load()
    }
}

extension HybridTime {
    /// A signed integer in the order of the stamps: SQLite has no unsigned ones, and a peer's clock may be anywhere.
    var ordered: Int64 { Int64(bitPattern: rawValue ^ 1 << 63) }

    init(ordered: Int64) { self.init(rawValue: UInt64(bitPattern: ordered) ^ 1 << 63) }
}

extension Statement {
    func stamp(_ column: Int) -> Stamp? { Stamp(bytes(column)) }
}

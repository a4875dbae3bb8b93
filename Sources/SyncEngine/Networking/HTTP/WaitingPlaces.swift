internal import EventStore

/// Who a request comes from, for places that are shared.
package struct HTTPCaller: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Speaks for one person or bot alone: needs few places.
        case narrow
        case usual
        /// Who may take the others' credentials away: may have the place of anyone who has more.
        case first
    }

    /// Requests with the same text are one caller's.
    package let name: String
    package let kind: Kind
    fileprivate var key: ByteText { ByteText(name) }

    package init(_ name: String, _ kind: Kind = .usual) { (self.name, self.kind) = (name, kind) }
}

/// Places for requests whose clients wait for what comes, as streams and long polls do: so shared that no caller takes them all.
///
/// As long as some are free each takes as many as it likes, one that speaks for one person alone a quarter at most. When none is free,
/// the caller with most gives its oldest to one who has fewer by two or more. So two that want all end with the same number, and do not
/// take from each other without end (max-min fairness: Bertsekas and Gallager, "Data Networks", 1992, §6.5).
struct WaitingPlaces {
    /// What comes of asking for a place. The number is that of the place.
    enum Outcome: Equatable {
        case taken(UInt64)
        /// The one that this place was of has to go.
        case takenFrom(UInt64, UInt64)
        /// None is for this caller.
        case refused
    }

    private let most: Int
    /// Of each caller, and of each place.
    private var places: [ByteText: Set<UInt64>] = [:]
    private var callers: [UInt64: ByteText] = [:]
    private var last: UInt64 = 0

    /// - Parameter most: How many there are.
    init(_ most: Int) { self.most = most }

    mutating func take(for caller: HTTPCaller) -> Outcome {
        let own = places[caller.key]?.count ?? 0
        if caller.kind == .narrow, own >= max(1, most / 4) { return .refused }
        guard callers.count >= most else { return .taken(give(caller)) }
        guard let rich = richest, rich.count > (caller.kind == .first ? own : own + 1) else { return .refused }
        giveBack(rich.oldest)
        return .takenFrom(give(caller), rich.oldest)
    }

    mutating func giveBack(_ place: UInt64) {
        guard let caller = callers.removeValue(forKey: place) else { return }
        places[caller]?.remove(place)
        if places[caller]?.isEmpty ?? false { places[caller] = nil }
    }

    private mutating func give(_ caller: HTTPCaller) -> UInt64 {
        last += 1
        callers[last] = caller.key
        places[caller.key, default: []].insert(last)
        return last
    }

    /// The caller with most, and the oldest of its places; of several callers with the same number the one with the oldest.
    private var richest: (count: Int, oldest: UInt64)? {
        let count = places.values.map(\.count).max() ?? 0
        let oldest = places.values.filter { $0.count == count }.compactMap { $0.min() }.min()
        return oldest.map { (count, $0) }
    }
}

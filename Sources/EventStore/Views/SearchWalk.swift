/// A walk over what the index has, the newest first. Entries stand in order of position; which positions can be among the newest, zones
/// tell (``SearchZones``): more are read at once than were read before, so a rare word costs few questions, and a frequent one few entries.
struct SearchWalk {
    /// An entry, and where it stands in display order.
    struct Place {
        let position: UInt64
        let key: DisplayKey
    }

    private let index: String
    private let since: Int64
    private let through: Int64
    /// Entries that are looked at before the walk may end for now.
    private let most: Int
    /// Where it goes on: with what comes before this.
    var before: DisplayKey?
    private var looked = 0
    /// Where it ended for now.
    private var cut: DisplayKey?

    /// Zones read at once: first one, then so many times as many as before. Each question of a rare word costs as much as its frequent
    /// syllables have entries there, and each begins anew.
    private static let (growth, mostZones) = (8, 4_096)

    init(_ query: SearchQuery, _ expression: String, _ most: Int, before: DisplayKey?) {
        index = expression
        since = query.since ?? .min
        through = query.until.map { $0 == .min ? $0 : $0 - 1 } ?? .max
        (self.most, self.before) = (most, before)
    }

    /// Whether the walk is over after a call of ``next(_:_:_:)``, and where to go on another time, if anywhere.
    mutating func end(_ isLast: Bool) -> (next: DisplayKey?, Void)? {
        if let cut { return (cut, ()) }
        if isLast { return (nil, ()) }
        return looked > most ? (before, ()) : nil
    }

    /// The next entries, newest first: fewer than `limit` at the end, or where the walk ends for now.
    mutating func next(
        _ limit: Int, _ log: LogReader, _ connection: Connection
    ) throws(DatabaseError) -> [Place] {
        let index = SearchIndex(expression: index, connection: connection)
        cut = nil
        let latest = min(through, before?.time ?? .max)
        var newest = Newest(limit: limit)
        var (last, zones, atOnce): (SearchZones.Zone?, [SearchZones.Zone], Int) = (nil, [], 1)
        repeat {
            zones = try SearchZones.next(atOnce, since: since, through: latest, after: last, connection)
            guard let first = zones.first, !newest.isBeyond(first.newest) else { break }
            if looked > most, let cut = place(before: first.newest) {
                self.cut = cut
                newest.keep(after: first.newest)
                break
            }
            for run in ZoneRun.all(zones) { try read(run, index, log, &newest) }
            last = zones.last
            atOnce = min(Self.growth * atOnce, Self.mostZones)
        } while !zones.isEmpty
        before = newest.places.last?.key ?? before
        return newest.places
    }

    /// Where to go on with texts of `time` and before, if that is any further than where this began.
    private func place(before time: Int64) -> DisplayKey? {
        guard time < .max else { return nil }
        let place = DisplayKey(
            time: time + 1, hlc: HybridTime(rawValue: 0),
            dot: Dot(origin: OriginID(UUIDBits(high: 0, low: 0)), seq: 0))
        return before.map { place < $0 } ?? true ? place : nil
    }

    private mutating func read(
        _ run: ZoneRun, _ index: SearchIndex, _ log: LogReader, _ newest: inout Newest
    ) throws(DatabaseError) {
        var (looked, found) = (looked, newest)
        try index.positions(in: run.positions) { position throws(DatabaseError) in
            if found.isBeyond(run.newest(upTo: position)) { return false }
            looked += 1
            let key = try log.displayKey(at: position)
            if key.time >= since, key.time <= through, before.map({ key < $0 }) ?? true {
                found.take(Place(position: position, key: key))
            }
            return true
        }
        (self.looked, newest) = (looked, found)
    }

    /// The newest of all that was taken, newest first.
    private struct Newest {
        let limit: Int
        private(set) var places: [Place] = []

        init(limit: Int) { self.limit = limit }

        /// Whether nothing of this time or before can be among them.
        func isBeyond(_ time: Int64) -> Bool {
            guard places.count == limit, let last = places.last else { return false }
            return last.key.time > time
        }

        mutating func take(_ place: Place) {
            if places.count == limit, let last = places.last {
                if place.key < last.key { return }
                places.removeLast()
            }
            var (low, high) = (0, places.count)
            while low < high {
                let middle = (low + high) / 2
                if place.key < places[middle].key { low = middle + 1 } else { high = middle }
            }
            places.insert(place, at: low)
        }

        mutating func keep(after time: Int64) { places.removeAll { $0.key.time <= time } }
    }
}

/// Zones that lie side by side.
private struct ZoneRun {
    private var first: UInt64
    /// Of each zone the newest time of it and of all before it in the run.
    private var newest: [Int64]

    /// The positions of its zones.
    var positions: ClosedRange<UInt64> {
        let last = SearchZones.Zone(number: first + UInt64(newest.count) - 1, newest: 0)
        return SearchZones.Zone(number: first, newest: 0).positions.lowerBound...last.positions.upperBound
    }

    /// The newest time of what stands at `position` or before it.
    func newest(upTo position: UInt64) -> Int64 { newest[Int(SearchZones.zone(of: position) - first)] }

    /// The zones as runs, the one with the last positions first.
    static func all(_ zones: [SearchZones.Zone]) -> [ZoneRun] {
        var runs: [ZoneRun] = []
        for zone in zones.sorted(by: { $0.number < $1.number }) {
            if let last = runs.last, last.first + UInt64(last.newest.count) == zone.number {
                runs[runs.count - 1].newest.append(max(last.newest[last.newest.count - 1], zone.newest))
            } else {
                runs.append(ZoneRun(first: zone.number, newest: [zone.newest]))
            }
        }
        return runs.reversed()
    }
}

extension LogReader {
    /// Where the event at `position`, which is there, stands in display order.
    func displayKey(at position: UInt64) throws(DatabaseError) -> DisplayKey {
        let select = try connection.statement("SELECT time, hlc, origin, seq FROM event WHERE position = ?")
        defer { select.reset() }
        try select.bind(1, position)
        guard try select.step() else { throw .damaged(.event(position), "there is none at this position") }
        let hlc = HybridTime(rawValue: select.uint64(1))
        return DisplayKey(
            time: min(select.int64IfAny(0) ?? .max, hlc.milliseconds), hlc: hlc,
            dot: Dot(origin: try names.origin(select.int64(2), on: connection), seq: select.uint64(3)))
    }
}

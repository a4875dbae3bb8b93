/// One who does not see all of a timeline: what is theirs, and what was recorded while they took part.
package struct TimelineViewer {
    /// The ids under which they write.
    let selves: [String]
    /// Whether they see what was recorded then; `nil`: always.
    let sees: ((HybridTime) -> Bool)?
    /// Whether they see an event, for what was done to messages.
    let isSeen: (EventHeader) throws(StoreError) -> Bool

    package init(
        _ selves: [String], sees: ((HybridTime) -> Bool)?,
        isSeen: @escaping (EventHeader) throws(StoreError) -> Bool
    ) {
        (self.selves, self.sees, self.isSeen) = (selves, sees, isSeen)
    }
}

/// Which rows a viewer sees, in terms of the log. No event is read for it: what is hidden costs no bytes.
struct RowSight {
    private let own: Set<Int64>
    private let sees: (HybridTime) -> Bool
    /// What a row has to say beside; `nil`: anything. Asked last, so that what is hidden costs the same whatever is asked for.
    private let condition: (@Sendable (SortedRow) -> Bool)?

    /// `nil` if the viewer sees all rows.
    init?(
        _ viewer: TimelineViewer, _ condition: (@Sendable (SortedRow) -> Bool)?, _ log: LogReader
    ) throws(StoreError) {
        guard let sees = viewer.sees else { return nil }
        var own: Set<Int64> = []
        for id in viewer.selves { if let ref = try log.ref(id) { own.insert(ref) } }
        (self.own, self.sees, self.condition) = (own, sees, condition)
    }

    func shows(_ row: SortedRow, _ log: LogReader) throws(StoreError) -> Bool {
        var isSeen = sees(HybridTime(ordered: row.hlc)) || own.contains(row.tags.author)
        if !isSeen, !own.isEmpty { isSeen = try own.contains(log.user(at: row.position)) }
        return isSeen && condition?(row) ?? true
    }
}

extension LogReader {
    /// The ref of the user in whose history the event at `position`, which is there, stands.
    fileprivate func user(at position: UInt64) throws(StoreError) -> Int64 {
        try mapped { () throws(DatabaseError) in
            let select = try connection.statement("SELECT user FROM event WHERE position = ?")
            defer { select.reset() }
            try select.bind(1, position)
            guard try select.step() else { throw .damaged(.event(position), "there is none at this position") }
            return select.int64(0)
        }
    }
}

extension DisplayKey {
    /// A place for this one that tells less of what is not shown: the nearest on its way back to `start` of times that are round by themselves,
    /// the roundest (some 70 minutes) that is not `start` itself. What lies between is looked at once more.
    package func veiled(from start: DisplayKey?, isBackward: Bool) -> DisplayKey {
        for shift in stride(from: 22, through: 0, by: -1) {
            let (time, isOver) = ((time >> shift) + (isBackward ? 1 : 0)).multipliedReportingOverflow(by: 1 << shift)
            guard !isOver else { continue }
            let place = DisplayKey(
                time: time, hlc: HybridTime(rawValue: 0),
                dot: .edge(isBackward: true))
            if start.map({ isBackward ? place < $0 : place > $0 }) ?? true { return place }
        }
        return self
    }

    /// Whether ``veiled(from:isBackward:)`` has another place for this one.
    func canBeVeiled(from start: DisplayKey?, isBackward: Bool) -> Bool {
        veiled(from: start, isBackward: isBackward) != self
    }

    /// Beyond all that is tied with a row.
    init(_ row: SortedRow, isBackward: Bool) {
        self.init(time: row.time, hlc: HybridTime(ordered: row.hlc), dot: .edge(isBackward: isBackward))
    }
}

extension Dot {
    /// Beyond all others; no event has it.
    static func edge(isBackward: Bool) -> Dot {
        isBackward
            ? Dot(origin: OriginID(UUIDBits(high: 0, low: 0)), seq: 0)
            : Dot(origin: OriginID(UUIDBits(high: .max, low: .max)), seq: Limits.number)
    }
}

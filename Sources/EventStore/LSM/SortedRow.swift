/// A row of a table of events in display order, one for each owner: a conversation or a user. Its key is all but the
/// speaker.
struct SortedRow: Comparable {
    /// The ref of the conversation or user.
    let owner: Int64
    /// Display time, Unix milliseconds.
    let time: Int64
    /// ``HybridTime/ordered``.
    let hlc: Int64
    /// Below 2^62, as every log's are.
    let position: UInt64
    /// The speaker's ref, in timelines, if it is a line of dialogue; 0 if not, and ``uncounted``.
    let speaker: Int64

    /// The speaker of an event that is listed in its conversation, but does not count there: it cannot be read.
    static let uncounted: Int64 = -1
    /// Whether it is one of the events that the conversation has.
    var isCounted: Bool { speaker != Self.uncounted }

    init(owner: Int64, time: Int64, hlc: Int64, position: UInt64, speaker: Int64 = 0) {
        (self.owner, self.time, self.hlc, self.position, self.speaker) = (owner, time, hlc, position, speaker)
    }

    /// Before every row: refs begin at 1.
    static let zero = SortedRow(owner: 0, time: 0, hlc: 0, position: 0)

    /// Before every row of an owner.
    static func first(of owner: Int64) -> SortedRow {
        SortedRow(owner: owner, time: .min, hlc: .min, position: 0)
    }

    /// After every row of an owner.
    static func last(of owner: Int64) -> SortedRow {
        SortedRow(owner: owner, time: .max, hlc: .max, position: UInt64(Int64.max))
    }

    static func < (a: SortedRow, b: SortedRow) -> Bool {
        (a.owner, a.time, a.hlc, a.position) < (b.owner, b.time, b.hlc, b.position)
    }

    static func == (a: SortedRow, b: SortedRow) -> Bool {
        (a.owner, a.time, a.hlc, a.position) == (b.owner, b.time, b.hlc, b.position)
    }

    /// Whether only their dots tell which of them comes first.
    func isTied(with other: SortedRow) -> Bool { time == other.time && hlc == other.hlc }
}

extension SortedRow {
    /// Rows in a piece of a tail, in order of position, each a varint for the owner, then as in an ``Block`` the
    /// differences to the row before, which is all zero before the first.
    static func pack(_ rows: ArraySlice<SortedRow>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: rows.count * 50) { buffer, count in
            var writer = VarintWriter(UnsafeMutableRawBufferPointer(buffer))
            var previous = zero
            for row in rows {
                writer.put(UInt64(bitPattern: row.owner))
                writer.put(zigzag(row.time &- previous.time))
                writer.put(zigzag(row.aheadOfTime &- previous.aheadOfTime))
                writer.put(row.position &- previous.position, speaker: row.speaker)
                previous = row
            }
            count = writer.count
        }
    }

    /// Calls `body` with the rows in `raw` whose owner is `owner`, or with all. Returns false where the bytes end too early.
    static func unpack(_ raw: UnsafeRawBufferPointer, owner: Int64? = nil, _ body: (SortedRow) -> Void) -> Bool {
        var (time, ahead, position) = (Int64(0), Int64(0), UInt64(0))
        var offset = 0
        while offset < raw.count {
            guard let found = raw.varint(at: &offset), let later = raw.varint(at: &offset),
                let aheadBy = raw.varint(at: &offset), let (further, speaker) = raw.distance(at: &offset)
            else { return false }
            time &+= unzigzag(later)
            ahead &+= unzigzag(aheadBy)
            position &+= further
            let row = SortedRow(
                owner: Int64(bitPattern: found), time: time, hlc: ahead &+ time << 16, position: position,
                speaker: speaker)
            if owner == nil || row.owner == owner { body(row) }
        }
        return true
    }
}

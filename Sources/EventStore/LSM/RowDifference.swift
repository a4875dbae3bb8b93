/// What a row says beside its key, as it stands next to another row: only what is not the same.
///
/// A varint of flags, 1 for a hidden row, 2, 4 and 8 for a kind, an author and a context that differ; then those, each a varint.
struct SaidByRow {
    let tags: RowTags
    let isHidden: Bool
    private let changes: UInt64

    private static let hidden: UInt64 = 1
    private static let kind: UInt64 = 2
    private static let author: UInt64 = 4
    private static let context: UInt64 = 8
    /// The longest one: a byte, and three varints of ten bytes.
    static let longest = 31

    /// - Parameter other: The tags of the row that it stands next to.
    @inline(__always)
    init(_ row: SortedRow, beside other: RowTags) {
        (tags, isHidden) = (row.tags, row.isHidden)
        var changes: UInt64 = row.isHidden ? Self.hidden : 0
        if row.tags.kind != other.kind { changes |= Self.kind }
        if row.tags.author != other.author { changes |= Self.author }
        if row.tags.context != other.context { changes |= Self.context }
        self.changes = changes
    }

    /// One that says the same as its neighbour.
    @inline(__always)
    init(as other: RowTags) { (tags, isHidden, changes) = (other, false, 0) }

    /// Reads what ``write(to:)`` wrote at `offset`, which moves behind it; `nil` where the bytes end too early, or for unknown flags.
    @inline(__always)
    init?(_ raw: UnsafeRawBufferPointer, at offset: inout Int, beside other: RowTags) {
        guard let changes = raw.varint(at: &offset), changes < 16 else { return nil }
        var tags = other
        if changes & Self.kind != 0 {
            guard let value = raw.varint(at: &offset) else { return nil }
            tags.kind = Int64(bitPattern: value)
        }
        if changes & Self.author != 0 {
            guard let value = raw.varint(at: &offset) else { return nil }
            tags.author = Int64(bitPattern: value)
        }
        if changes & Self.context != 0 {
            guard let value = raw.varint(at: &offset) else { return nil }
            tags.context = Int64(bitPattern: value)
        }
        (self.tags, self.changes) = (tags, changes)
        isHidden = changes & Self.hidden != 0
    }

    @inline(__always)
    var isNothing: Bool { changes == 0 }

    @inline(__always)
    func write(to out: inout some VarintSink) {
        out.appendVarint(changes)
        if changes & Self.kind != 0 { out.appendVarint(UInt64(bitPattern: tags.kind)) }
        if changes & Self.author != 0 { out.appendVarint(UInt64(bitPattern: tags.author)) }
        if changes & Self.context != 0 { out.appendVarint(UInt64(bitPattern: tags.context)) }
    }
}

/// How a row differs from the one before it: the one form in which rows stand beside each other, in a block of the run, in a piece of the
/// tail on disk and in a memtable.
///
/// Three varints (LEB128, least significant group first): the difference of `time`; of `hlc - time * 65536`; twice the
/// difference of `position`, with one added if a ``SaidByRow`` follows. Differences are modulo 2^64. One that can be negative is
/// zigzag-coded: which can, the order of the rows says.
struct RowDifference {
    /// In which order the rows stand.
    enum Order {
        /// By time: a position may be less than the one before it.
        case key
        /// By position: a time may be less than the one before it.
        case position
    }

    /// Which of the two rows is not known otherwise.
    enum Side { case earlier, later }

    /// The longest one with another varint before it: four of ten bytes.
    static let longest = 40 + SaidByRow.longest

    let time: Int64
    let ahead: Int64
    let position: UInt64
    /// Not a difference: what the one of the two rows says that is not known otherwise.
    let said: SaidByRow

    @inline(__always)
    init(from earlier: SortedRow, to later: SortedRow, telling side: Side) {
        time = later.time &- earlier.time
        ahead = later.aheadOfTime &- earlier.aheadOfTime
        position = later.position &- earlier.position
        said = side == .later ? SaidByRow(later, beside: earlier.tags) : SaidByRow(earlier, beside: later.tags)
    }

    /// Reads what ``write(_:to:)`` wrote at `offset`, which moves behind it; `nil` where the bytes end too early.
    ///
    /// - Parameter tags: Those of the row that is known.
    @inline(__always)
    init?(_ raw: UnsafeRawBufferPointer, at offset: inout Int, _ order: Order, beside tags: RowTags) {
        guard let time = raw.varint(at: &offset), let ahead = raw.varint(at: &offset),
            let coded = raw.varint(at: &offset)
        else { return nil }
        if coded & 1 == 1 {
            guard let said = SaidByRow(raw, at: &offset, beside: tags) else { return nil }
            self.said = said
        } else {
            said = SaidByRow(as: tags)
        }
        self.time = order == .key ? Int64(bitPattern: time) : unzigzag(time)
        self.ahead = unzigzag(ahead)
        position = order == .key ? UInt64(bitPattern: unzigzag(coded >> 1)) : coded >> 1
    }

    @inline(__always)
    func write(_ order: Order, to out: inout some VarintSink) {
        out.appendVarint(order == .key ? UInt64(bitPattern: time) : zigzag(time))
        out.appendVarint(zigzag(ahead))
        let distance = order == .key ? zigzag(Int64(bitPattern: position)) : position
        out.appendVarint(distance << 1 | (said.isNothing ? 0 : 1))
        if !said.isNothing { said.write(to: &out) }
    }
}

extension SortedRow {
    /// How far the hybrid time is ahead of the time, modulo 2^64: next to nothing unless something was recorded later than it says.
    var aheadOfTime: Int64 { hlc &- time << 16 }

    /// The row that follows this one by `difference`, of which that tells.
    @inline(__always)
    func following(_ difference: RowDifference) -> SortedRow {
        let time = time &+ difference.time
        return SortedRow(
            owner: owner, time: time, hlc: (aheadOfTime &+ difference.ahead) &+ time << 16,
            position: position &+ difference.position, tags: difference.said.tags,
            isHidden: difference.said.isHidden)
    }

    /// The row that this one follows by `difference`, which tells of that row.
    @inline(__always)
    func preceding(_ difference: RowDifference) -> SortedRow {
        let time = time &- difference.time
        return SortedRow(
            owner: owner, time: time, hlc: (aheadOfTime &- difference.ahead) &+ time << 16,
            position: position &- difference.position, tags: difference.said.tags,
            isHidden: difference.said.isHidden)
    }
}

/// How a row differs from the one before it: the one form in which rows stand beside each other, in a block of the run, in a piece of the
/// tail on disk and in a memtable.
///
/// Three varints or four (LEB128, least significant group first): the difference of `time`; of `hlc - time * 65536`; twice the
/// difference of `position`, with one added if a tag follows; the tag. Differences are modulo 2^64. One that can be negative is
/// zigzag-coded: which can, the order of the rows says.
struct RowDifference {
    /// In which order the rows stand.
    enum Order {
        /// By time: a position may be less than the one before it.
        case key
        /// By position: a time may be less than the one before it.
        case position
    }

    /// The longest one with another varint before it: five of ten bytes.
    static let longest = 50

    let time: Int64
    let ahead: Int64
    let position: UInt64
    /// Not a difference: the tag of one of the two rows, whichever is not known otherwise.
    let tag: Int64

    @inline(__always)
    init(from earlier: SortedRow, to later: SortedRow, tag: Int64) {
        time = later.time &- earlier.time
        ahead = later.aheadOfTime &- earlier.aheadOfTime
        position = later.position &- earlier.position
        self.tag = tag
    }

    /// Reads what ``write(_:to:)`` wrote at `offset`, which moves behind it; `nil` where the bytes end too early.
    @inline(__always)
    init?(_ raw: UnsafeRawBufferPointer, at offset: inout Int, _ order: Order) {
        guard let time = raw.varint(at: &offset), let ahead = raw.varint(at: &offset),
            let coded = raw.varint(at: &offset)
        else { return nil }
        var tag = UInt64(0)
        if coded & 1 == 1 {
            guard let found = raw.varint(at: &offset) else { return nil }
            tag = found
        }
        self.time = order == .key ? Int64(bitPattern: time) : unzigzag(time)
        self.ahead = unzigzag(ahead)
        position = order == .key ? UInt64(bitPattern: unzigzag(coded >> 1)) : coded >> 1
        self.tag = Int64(bitPattern: tag)
    }

    @inline(__always)
    func write(_ order: Order, to out: inout some VarintSink) {
        out.appendVarint(order == .key ? UInt64(bitPattern: time) : zigzag(time))
        out.appendVarint(zigzag(ahead))
        let distance = order == .key ? zigzag(Int64(bitPattern: position)) : position
        out.appendVarint(distance << 1 | (tag == 0 ? 0 : 1))
        if tag != 0 { out.appendVarint(UInt64(bitPattern: tag)) }
    }
}

extension SortedRow {
    /// How far the hybrid time is ahead of the time, modulo 2^64: next to nothing unless something was recorded later than it says.
    var aheadOfTime: Int64 { hlc &- time << 16 }

    /// The row that follows this one by `difference`, and has its tag.
    @inline(__always)
    func following(_ difference: RowDifference) -> SortedRow {
        let time = time &+ difference.time
        return SortedRow(
            owner: owner, time: time, hlc: (aheadOfTime &+ difference.ahead) &+ time << 16,
            position: position &+ difference.position, tag: difference.tag)
    }

    /// The row that this one follows by `difference`, which has its tag.
    @inline(__always)
    func preceding(_ difference: RowDifference) -> SortedRow {
        let time = time &- difference.time
        return SortedRow(
            owner: owner, time: time, hlc: (aheadOfTime &- difference.ahead) &+ time << 16,
            position: position &- difference.position, tag: difference.tag)
    }
}

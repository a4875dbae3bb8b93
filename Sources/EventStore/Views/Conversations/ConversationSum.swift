/// What rows of a timeline say of its conversation: how many events and messages, when first and last.
struct ConversationSum: Equatable {
    /// A place in display order but for the dot.
    struct Moment: Comparable, CustomStringConvertible {
        let time: Int64
        /// ``HybridTime/ordered``.
        let hlc: Int64

        static let first = Moment(time: .min, hlc: .min)
        static let last = Moment(time: .max, hlc: .max)

        var description: String { "\(time) \(HybridTime(ordered: hlc))" }

        static func < (a: Moment, b: Moment) -> Bool { (a.time, a.hlc) < (b.time, b.hlc) }
    }

    private(set) var events = Int64(0)
    private(set) var messages = Int64(0)
    private(set) var first = Moment.last
    private(set) var last = Moment.first

    /// Of no rows.
    init() {}

    init(events: Int64, messages: Int64, first: Moment, last: Moment) {
        (self.events, self.messages, self.first, self.last) = (events, messages, first, last)
    }

    init(_ rows: some Sequence<SortedRow>) {
        for row in rows { add(row) }
    }

    mutating func add(_ row: SortedRow) {
        guard row.isCounted else { return }
        events += 1
        if row.speaker != nil { messages += 1 }
        let moment = Moment(time: row.time, hlc: row.hlc)
        if moment < first { first = moment }
        if moment > last { last = moment }
    }

    static func + (a: ConversationSum, b: ConversationSum) -> ConversationSum {
        ConversationSum(
            events: a.events + b.events, messages: a.messages + b.messages, first: min(a.first, b.first),
            last: max(a.last, b.last))
    }

    /// What the rows that are not in the run add to each conversation, as of the open transaction.
    static func pending(_ connection: Connection) throws(DatabaseError) -> [Int64: ConversationSum] {
        var sums: [Int64: ConversationSum] = [:]
        try SortedTable.timeline.pending(connection) { row in sums[row.owner, default: ConversationSum()].add(row) }
        return sums
    }
}

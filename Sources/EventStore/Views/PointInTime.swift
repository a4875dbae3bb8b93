/// Of when an answer is. What is judged by it is judged as it was then, from the events that count then; who may see it is judged by today.
public struct PointInTime: Hashable, Sendable {
    /// Only what had happened by then, Unix milliseconds.
    public var asOf: Int64?
    /// Only events that were in the log by this position. One beyond the end of the log is taken, and leaves nothing
    /// out.
    public var knownAt: UInt64?
    /// Only events that were in the log by then, Unix milliseconds: the log keeps when events came.
    public var knownTime: Int64?

    /// A moment; without bounds it is now.
    public init(asOf: Int64? = nil, knownAt: UInt64? = nil, knownTime: Int64? = nil) {
        (self.asOf, self.knownAt, self.knownTime) = (asOf, knownAt, knownTime)
    }

    package var isNow: Bool { self == PointInTime() }
}

/// A moment as the log tells it, and what may still be read to answer of it: such an answer is made from events, and costs what they are.
struct PastMoment {
    let asOf: Int64
    let knownAt: UInt64
    /// Rows of timelines, answers of surveys, conversations that have changed since.
    private var rows = 200_000
    /// What it costs to tell how a conversation stood, in rows.
    static let rowsOfConversation = 16
    /// Events with their payloads.
    private var events = 20_000
    private var bytes = 64 << 20

    init(_ moment: PointInTime, _ log: LogReader) throws(StoreError) {
        asOf = moment.asOf ?? .max
        var known = moment.knownAt ?? UInt64(Int64.max)
        if let time = moment.knownTime { known = min(known, try log.known(at: time).position) }
        knownAt = min(known, UInt64(Int64.max))
    }

    /// Whether the log may have more now.
    var isBounded: Bool { knownAt < UInt64(Int64.max) }

    mutating func look(at rows: Int) throws(StoreError) {
        self.rows -= rows
        if self.rows < 0 { throw .tooWide("to tell what was then, more than 200,000 rows have to be looked at") }
    }

    mutating func read(events: Int = 1, bytes: Int = 0) throws(StoreError) {
        (self.events, self.bytes) = (self.events - events, self.bytes - bytes)
        if self.events < 0 || self.bytes < 0 {
            throw .tooWide("to tell what was then, more than 20,000 events or 64 MiB of them have to be read")
        }
    }
}

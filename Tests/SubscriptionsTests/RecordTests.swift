import EventStore
import Subscriptions
import Testing

/// What the log tells of subscriptions, whatever the clocks say (INV-14, INV-15).
struct RecordTests {
    private static let origin = OriginID(UUIDBits(high: 0, low: 7))
    private static let dot = Dot(origin: origin, seq: 3)
    private let home = NodeID(.zero)

    /// Events of the home, each a counter after the one before: its clock is ahead, and the milliseconds stand still.
    private func records(_ events: [(type: String, members: String)]) -> SubscriptionRecords {
        var records = SubscriptionRecords()
        records.update(
            events.enumerated().map { index, event in
                let header = EventHeader(
                    dot: Dot(origin: Self.origin, seq: UInt64(index + 10)),
                    hlc: HybridTime(milliseconds: 1_000, counter: UInt16(index)),
                    id: EventID(UUIDBits(high: 1, low: UInt64(index))), type: event.type, user: "node/\(home)")
                let subject = #""subscription":"\#(EventID(UUIDBits(high: 1, low: 0)))""#
                let text = index == 0 ? "{\(event.members)}" : "{\(subject),\(event.members)}"
                return (header, JSONObject(validated: Array(text.utf8)), home)
            })
        return records
    }

    @Test("What is parked again after it was tried again is parked, also within a millisecond")
    func again() {
        let parked = (
            SubscriptionRecord.parked,
            #""event":"\#(EventID(UUIDBits(high: 9, low: 9)))","dot":"\#(Self.dot)","attempts":1,"reason":"r""#
        )
        let retried = (SubscriptionRecord.retried, #""dots":["\#(Self.dot)"]"#)
        var events = [(type: SubscriptionRecord.created, members: #""name":"bot","start":"first""#)]
        for (event, isParked) in [(parked, true), (retried, false), (parked, true), (retried, false)] {
            events.append((type: event.0, members: event.1))
            let found = records(events)
            #expect((found.parked(EventID(UUIDBits(high: 1, low: 0)))[Self.dot] != nil) == isParked)
        }
    }

    @Test("A name is a part of a path that leads nowhere else")
    func names() {
        for name in ["b", "a.b", "...", ".a", "0-9_", String(repeating: "x", count: 64)] {
            #expect(SubscriptionRecord.isName(name), "\(name)")
        }
        for name in ["", ".", "..", "A", "a b", "a/b", "한", "a\u{0}", String(repeating: "x", count: 65)] {
            #expect(!SubscriptionRecord.isName(name), "\(name)")
        }
    }
}

import TestSupport
import Testing

@testable import EventStore

/// Many twins at once: imports of one file on two nodes (D6). They are applied in steps like any other event.
struct TwinStepTests {
    /// Every kind of event, `count` of each origin, the same ids; the second origin recorded `offset` ms later or earlier.
    private func imports(_ count: UInt64, offset: Int64) -> (first: [Event], second: [Event]) {
        func events(_ origin: UInt64, _ offset: Int64) -> [Event] {
            (1...count).map { seq in
                let message = EventID(UUIDBits(high: 0x1d, low: max(seq, 10) - 9))
                let (type, payload): (String, String) =
                    switch seq % 10 {
                    case 0: ("message.edited", #"{"message":"\#(message)","text":"고침"}"#)
                    case 1: ("survey.answered", #"{"survey":"s","question":"q","rating":\#(seq % 3)}"#)
                    case 2: ("profile.changed", #"{"fields":{"f":\#(seq)}}"#)
                    case 3: ("conversation.started", #"{"title":"t\#(seq)"}"#)
                    default: ("message.posted", #"{"text":"x"}"#)
                    }
                return event(
                    origin, seq, hlc: 100_000 + Int64(seq) + offset, id: seq, type: type,
                    time: Int64(1_000 + seq % 10),
                    conversation: "c-\(seq % 37)", user: "u-\(seq % 11)", payload)
            }
        }
        return (events(1, 0), events(2, offset))
    }

    @Test(
        "One step takes thousands of twins, and the views are those of each event on its own",
        arguments: [50_000, -50_000])
    func steps(offset: Int64) throws {
        let (first, second) = imports(UInt64(cases(1_100, of: 3_000)), offset: offset)
        var digests: [[ViewDigest]] = []
        // Both at once; the one when the other has been merged; one event at a time.
        for (isApart, batch) in [(false, 65_536), (true, 65_536), (true, 1_000), (false, 7)] {
            let log = try LogFixture()
            let projector = try Projector(log.files, tails: ViewMemtables(generation: 700))
            try log.deliver(first)
            if isApart {
                try projector.catchUp()
                while projector.pending > 0 { try projector.merge() }
            }
            try log.deliver(second)
            var steps = 0
            while projector.position < log.top {
                try projector.step(limit: batch)
                steps += 1
            }
            if batch > 60_000 { #expect(steps == 1) }
            digests.append(try projector.allDigests())
            try projector.catchUp()
            #expect(try projector.allDigests() == digests.last)
        }
        for found in digests { #expect(found == digests[0]) }
        // What counts are the events of the node that recorded them first.
        let log = try LogFixture()
        try log.deliver(offset > 0 ? first : second)
        let alone = try log.digests()
        for (mine, one) in zip(digests[0], alone)
        where ["timeline", "history", "surveys", "messages"].contains(one.view) {
            #expect(mine == one, "\(one.view)")
        }
    }
}

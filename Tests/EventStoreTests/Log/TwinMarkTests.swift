import TestSupport
import Testing

@testable import EventStore

/// One id at several origins: of these events one counts, the same on every node (D6, INV-6).
struct TwinMarkTests {
    /// Twins of three origins with equal and different hlcs, whose later copy counts here and whose first there.
    private let events = [
        event(1, 1, hlc: 10, id: 1), event(2, 1, hlc: 9, id: 1), event(3, 1, hlc: 9, id: 1),
        event(1, 2, hlc: 20, id: 2), event(2, 2, hlc: 20, id: 2),
        event(3, 2, hlc: 30), event(3, 3, hlc: 31, id: 3), event(1, 3, hlc: 40, id: 3),
    ]

    private let expected = [
        Dot(origin: origin(1), seq: 1): Dot(origin: origin(2), seq: 1),
        Dot(origin: origin(3), seq: 1): Dot(origin: origin(2), seq: 1),
        Dot(origin: origin(2), seq: 2): Dot(origin: origin(1), seq: 2),
        Dot(origin: origin(1), seq: 3): Dot(origin: origin(3), seq: 3),
    ]

    @Test("The smallest (hlc, origin) counts, in whatever order they came; both ways of asking agree")
    func whichCounts() throws {
        for order in [[0, 1, 2, 3, 4, 5, 6, 7], [7, 4, 2, 6, 1, 3, 5, 0], [2, 1, 0, 4, 3, 7, 6, 5]] {
            let fixture = try LogFixture()
            try fixture.deliver(order.map { events[$0] })
            let reader = try LogReader(fixture.files)
            let marks = try reader.twinMarks(through: 8)
            for position in UInt64(1)...8 {
                let stored = try #require(try reader.event(at: position))
                let counting = expected[stored.event.header.dot]
                #expect(marks[position] == counting, "position \(position) of \(order)")
                #expect(try reader.counting(inPlaceOf: stored) == counting, "position \(position) of \(order)")
            }
        }
    }

    @Test("Of several with one id the same is told, and each author's own is amended, whatever came first (INV-6)")
    func oneID() throws {
        let all = [
            event(1, 1, hlc: 10, id: 1, user: "kim"), event(2, 1, hlc: 5, id: 1, user: "lee"),
            event(3, 1, hlc: 12, id: 1, user: "kim"),
        ]
        for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0]] {
            let fixture = try LogFixture()
            try fixture.deliver(order.map { all[$0] })
            let reader = try LogReader(fixture.files)
            let id = all[0].header.id
            #expect(try reader.countingEvents(id: id).map(\.event.header.dot.origin) == [origin(2), origin(1)])
            #expect(try reader.countingEvent(id: id)?.event.header.user == "lee")
            for user in ["kim", "lee"] {
                let edit = EventDraft(
                    type: "message.edited", conversation: all[0].header.conversation, user: user,
                    payload: Array(#"{"message":"\#(id)","text":"x"}"#.utf8))
                #expect(try reader.message(amendedBy: edit)?.event.header.author == user, "\(order)")
                #expect(try reader.verdict(on: edit) == .settled(.counts), "\(order)")
            }
        }
    }

    @Test("Only the same said twice are twins: an id alone takes nothing away, in no order of arrival (INV-6)")
    func strangers() throws {
        // The same id, recorded before all others, with another type, user or conversation; the last is a twin of the first.
        let all = [
            event(1, 1, hlc: 10, id: 1), event(2, 1, hlc: 5, id: 1, type: "noise", user: "nobody"),
            event(2, 2, hlc: 6, id: 1, conversation: "d"), event(2, 3, hlc: 7, id: 1, user: "v"),
            event(3, 1, hlc: 12, id: 1),
        ]
        var digests: Set<[ViewDigest]> = []
        for order in [[0, 1, 2, 3, 4], [4, 1, 2, 3, 0], [1, 4, 2, 3, 0], [1, 2, 3, 0, 4]] {
            let fixture = try LogFixture()
            try fixture.deliver(order.map { all[$0] })
            let marks = try LogReader(fixture.files).twinMarks(through: 5)
            for (index, number) in order.enumerated() {
                let counting = number == 4 ? Dot(origin: origin(1), seq: 1) : nil
                #expect(marks[UInt64(index + 1)] == counting, "\(order)")
                let stored = try #require(try LogReader(fixture.files).event(at: UInt64(index + 1)))
                #expect(try LogReader(fixture.files).counting(inPlaceOf: stored) == counting, "\(order)")
            }
            let found = try fixture.digests(batch: 2)
            #expect(found.first { $0.view == "timeline" }?.rows == 4)
            digests.insert(found)
        }
        #expect(digests.count == 1)
    }

    @Test("Each of type, user, author and conversation alone tells two events with one id apart (INV-6)")
    func eachAlone() throws {
        let first = event(1, 1, hlc: 10, id: 1)
        let others = [
            event(2, 1, hlc: 5, id: 1, type: "noise"), event(2, 1, hlc: 5, id: 1, user: "v", author: "u"),
            event(2, 1, hlc: 5, id: 1, author: "v"), event(2, 1, hlc: 5, id: 1, conversation: "d"),
        ]
        for (index, other) in others.enumerated() {
            for order in [[first, other], [other, first]] {
                let fixture = try LogFixture()
                try fixture.deliver(order)
                let reader = try LogReader(fixture.files)
                let marks = try reader.twinMarks(through: 2)
                for position in UInt64(1)...2 {
                    let stored = try #require(try reader.event(at: position))
                    #expect(marks[position] == nil, "\(index)")
                    #expect(try reader.counting(inPlaceOf: stored) == nil, "\(index)")
                }
                #expect(try fixture.digests().first { $0.view == "timeline" }?.rows == 2, "\(index)")
            }
        }
    }

    @Test("What came after a position is not known at it")
    func knownAt() throws {
        let fixture = try LogFixture()
        try fixture.deliver(events)
        let reader = try LogReader(fixture.files)
        #expect(try reader.twinMarks(through: 1)[1] == nil)
        #expect(try reader.twinMarks(through: 2)[1] == expected[events[0].header.dot])
        #expect(try reader.twinMarks(through: 7)[8] == nil)
    }

    @Test("More twins than are read at a time are marked all, and groups are not cut")
    func many() throws {
        let fixture = try LogFixture()
        let count = UInt64(5_000)
        try fixture.deliver((1...count).map { event(1, $0, hlc: Int64(100 + $0), id: $0) })
        try fixture.deliver((1...count).map { event(2, $0, hlc: Int64(200 + $0), id: $0) })
        try fixture.deliver((1...count).map { event(3, $0, hlc: Int64(50 + $0), id: $0) })
        let marks = try LogReader(fixture.files).twinMarks(through: 3 * count)
        for seq in 1...count {
            let counting = Dot(origin: origin(3), seq: seq)
            #expect(marks[seq] == counting && marks[count + seq] == counting && marks[2 * count + seq] == nil)
        }
    }
}

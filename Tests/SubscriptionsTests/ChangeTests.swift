import EventStore
import Subscriptions
import Testing

/// Other members and another place, as docs/reference/FORMATS.md §5 has them (INV-14, INV-15; decision 0066).
struct ChangeTests {
    private static let home = NodeID(.zero)
    private static let stranger = NodeID(SHA256().digest([1]))
    private static let id = EventID(UUIDBits(high: 1, low: 0))
    private static let a = OriginID(UUIDBits(high: 0, low: 1)), b = OriginID(UUIDBits(high: 0, low: 2))

    private struct Written {
        let type: String
        let members: String
        var node = ChangeTests.home
    }

    private func vector(_ a: UInt64, _ b: UInt64) -> VersionVector {
        VersionVector([Dot(origin: Self.a, seq: a), Dot(origin: Self.b, seq: b)])
    }

    /// The first makes it; each has the id (1, its number) and the dot (a, its number + 1).
    private func records(_ events: [Written]) -> SubscriptionRecords {
        var records = SubscriptionRecords()
        records.update(
            events.enumerated().map { index, event in
                let header = EventHeader(
                    dot: Dot(origin: Self.a, seq: UInt64(index + 1)),
                    hlc: HybridTime(milliseconds: 1_000 + Int64(index), counter: 0),
                    id: EventID(UUIDBits(high: 1, low: UInt64(index))), type: event.type, user: "node/\(event.node)")
                let text = index == 0 ? "{\(event.members)}" : #"{"subscription":"\#(Self.id)",\#(event.members)}"#
                return (header, JSONObject(validated: Array(text.utf8)), event.node)
            })
        return records
    }

    private func header(_ origin: OriginID, _ seq: UInt64, _ type: String) -> EventHeader {
        EventHeader(
            dot: Dot(origin: origin, seq: seq), hlc: HybridTime(milliseconds: 5_000, counter: 0),
            id: EventID(UUIDBits(high: 7, low: seq)), type: type, user: "kim")
    }

    private let made = Written(
        type: SubscriptionRecord.created, members: #""name":"bot","start":"first","filter":{"type":["x"]}"#)

    private func change(_ type: String, through: VersionVector, node: NodeID = ChangeTests.home) -> Written {
        let members = #""name":"bot","through":"\#(through.text)","start":"first","filter":{"type":["\#(type)"]}"#
        return Written(type: SubscriptionRecord.changed, members: members, node: node)
    }

    private func seek(_ start: String, through: VersionVector, node: NodeID = ChangeTests.home) -> Written {
        let members = #""name":"bot","start":"\#(start)","through":"\#(through.text)""#
        return Written(type: SubscriptionRecord.sought, members: members, node: node)
    }

    @Test("Each event is judged by the last filter that did not have it in its past")
    func filters() throws {
        let found = records([made, change("y", through: vector(10, 5)), change("z", through: vector(20, 5))])
        let definition = try #require(found.all["bot"]?.definition)
        let wanted = ["x", "y", "z"].map { type in
            [(Self.a, 10), (Self.a, 11), (Self.a, 20), (Self.a, 21), (Self.b, 5), (Self.b, 6)].map {
                definition.wants(header($0.0, UInt64($0.1), type))
            }
        }
        #expect(
            wanted == [
                [true, false, false, false, true, false], [false, true, true, false, false, false],
                [false, false, false, true, false, true],
            ])
    }

    @Test("A done set whose maker did not know of a change counts as far as what the change had in its past")
    func doubted() throws {
        let record = try #require(records([made, change("y", through: vector(10, 5))]).all["bot"])
        var state = SubscriptionState()
        state.through = vector(30, 9)
        state.open = [
            .init(Dot(origin: Self.a, seq: 4), attempts: 1), .init(Dot(origin: Self.b, seq: 8), attempts: 2),
        ]
        state.early = [Dot(origin: Self.b, seq: 12)]
        let admitted = record.admit(state)
        #expect(admitted.through == vector(10, 5) && admitted.early == state.early)
        #expect(admitted.open == [.init(Dot(origin: Self.a, seq: 4), attempts: 1)])
        // Its maker knew: the change is the second event of origin a.
        state.needs.advance(to: Dot(origin: Self.a, seq: 2))
        #expect(record.admit(state) == state)
        // Admitted once it is known.
        #expect(record.admit(admitted) == admitted)
    }

    @Test("Who is no home changes nothing and sets no place; its later becoming home makes its word count")
    func homes() throws {
        let forged = [
            made, change("y", through: vector(1, 0), node: Self.stranger),
            seek("first", through: vector(1, 0), node: Self.stranger),
        ]
        let record = try #require(records(forged).all["bot"])
        #expect(record.definition.wants(header(Self.b, 3, "x")) && !record.definition.wants(header(Self.b, 3, "y")))
        #expect(record.place == Self.id)
        let moved = Written(type: SubscriptionRecord.moved, members: #""name":"bot","term":1"#, node: Self.stranger)
        let later = try #require(records(forged + [moved]).all["bot"])
        #expect(later.definition.wants(header(Self.b, 3, "y")) && later.place == EventID(UUIDBits(high: 1, low: 2)))
    }

    @Test(
        "What is done counts for its place alone; the latest place stands, and changes before it count for all events"
    )
    func places() throws {
        var state = SubscriptionState()
        state.through = vector(4, 4)
        func placed(_ place: EventID?) -> Written {
            let text = base64Text(state.bytes)
            let place = place.map { #""place":"\#($0)","# } ?? ""
            return Written(type: SubscriptionRecord.placed, members: #""name":"bot",\#(place)"state":"\#(text)""#)
        }
        let first = records([made, placed(nil)])
        #expect(first.placed(try #require(first.all["bot"])) == state)
        let events = [made, placed(nil), change("y", through: vector(9, 9)), seek("first", through: vector(50, 50))]
        let sought = records(events)
        let record = try #require(sought.all["bot"])
        #expect(record.place == EventID(UUIDBits(high: 1, low: 3)) && sought.placed(record) == nil)
        #expect(sought.subscription(placedBy: record.place) == Self.id)
        #expect(sought.subscription(placedBy: Self.id) == Self.id)
        #expect(record.definition.wants(header(Self.a, 1, "y")) && !record.definition.wants(header(Self.a, 1, "x")))
        let after = records(events + [placed(record.place)])
        #expect(after.placed(record) == state)
        // Of two nodes that both took themselves for the home the later word stands.
        let both = records(events + [seek("2026-01-01T00:00:00Z", through: vector(50, 50))])
        #expect(both.all["bot"]?.definition.start == .time(1_767_225_600_000))
    }

    @Test("With home local an event of another node waits for that node; what it tells to be done is done")
    func local() throws {
        var machine = SubscriptionMachine(SubscriptionDefinition(start: .first), SubscriptionState(), events: [:])
        machine.look(at: header(Self.a, 1, "x"), position: 1, isWanted: true, notBefore: 30_000)
        machine.look(at: header(Self.a, 2, "x"), position: 2, isWanted: true)
        #expect(machine.give(5, to: 1, now: 10).isEmpty, "of one user: in order")
        #expect(machine.nextDeadline == 30_000)
        var told = SubscriptionState()
        told.through = vector(1, 0)
        machine.learn(told, now: 20)
        let given = machine.give(5, to: 1, now: 20)
        #expect(given.map(\.dot) == [Dot(origin: Self.a, seq: 2)])
        machine.look(at: header(Self.b, 1, "x"), position: 3, isWanted: true, notBefore: 30_000)
        #expect(machine.ack(Dot(origin: Self.a, seq: 2), number: given[0].number, now: 40) == .done)
        #expect(machine.give(5, to: 1, now: 29_999).isEmpty)
        #expect(machine.give(5, to: 1, now: 30_000).map(\.dot) == [Dot(origin: Self.b, seq: 1)])
    }

    @Test("What another home did before it had looked so far is done at this one, which has (INV-14)")
    func toldEarly() {
        var machine = SubscriptionMachine(SubscriptionDefinition(start: .first), SubscriptionState(), events: [:])
        for seq in UInt64(1)...2 {
            machine.look(at: header(Self.a, seq, "x"), position: seq, isWanted: true)
        }
        var told = SubscriptionState()
        told.early = [Dot(origin: Self.a, seq: 1)]
        machine.learn(told, now: 10)
        #expect(machine.state.open.map(\.dot.seq) == [2])
    }

    @Test("What another home has told to be done is done, though it is looked at only later")
    func toldBefore() {
        var machine = SubscriptionMachine(SubscriptionDefinition(start: .first), SubscriptionState(), events: [:])
        var told = SubscriptionState()
        told.through = vector(3, 0)
        told.open = [SubscriptionState.Open(Dot(origin: Self.a, seq: 2), attempts: 1)]
        machine.learn(told, now: 10)
        for seq in UInt64(1)...4 {
            machine.look(at: header(Self.a, seq, "x"), position: seq, isWanted: true)
        }
        #expect(machine.state.open.map(\.dot.seq) == [2, 4])
        #expect(machine.state.through == vector(4, 0))
        let given = machine.give(5, to: 1, now: 10)
        #expect(given.map(\.dot.seq) == [2], "of one user: in order")
        #expect(machine.ack(given[0].dot, number: given[0].number, now: 20) == .done)
        #expect(machine.give(5, to: 1, now: 20).map(\.dot.seq) == [4])
    }

    @Test("A program that makes it when it is not there goes on after a change: it asks for it as it was made")
    func madeAgain() throws {
        let found = records([made, change("y", through: vector(1, 0))])
        let record = try #require(found.all["bot"])
        var asked = SubscriptionDefinition(start: .first)
        asked.filter.types = ["x"]
        #expect(record.isMade(as: asked))
        asked.filter.types = ["y"]
        #expect(record.isMade(as: asked))
        asked.filter.types = ["z"]
        #expect(!record.isMade(as: asked))
    }

    @Test("null takes the filter and the limit of lateness away, and the event that says so is read the same")
    func takenAway() throws {
        var definition = SubscriptionDefinition(start: .first)
        (definition.filter.types, definition.late) = (["x"], 5_000)
        let changed = try definition.changed(
            by: JSONObject(validated: Array(#"{"filter":null,"late_ms":null}"#.utf8)))
        #expect(changed == SubscriptionDefinition(start: .first))
        #expect(try SubscriptionDefinition(JSONObject(validated: Array("{\(changed.text)}".utf8))) == changed)
    }

    @Test(
        "Members that stay as they were made are refused, others replace those of before",
        arguments: ["start", "home"])
    func fixed(member: String) throws {
        let definition = SubscriptionDefinition(start: .first)
        #expect(throws: InvalidDefinition.self) {
            try definition.changed(by: JSONObject(validated: Array(#"{"\#(member)":"local"}"#.utf8)))
        }
        let changed = try definition.changed(
            by: JSONObject(validated: Array(#"{"attempts":2,"filter":{"user":["kim"]}}"#.utf8)))
        #expect(
            changed.attempts == 2 && changed.ackWait == definition.ackWait && changed.filter.users.sorted() == ["kim"]
        )
    }
}

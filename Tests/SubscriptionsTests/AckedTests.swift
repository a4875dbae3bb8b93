import EventStore
import TestSupport
import Testing

@testable import Subscriptions

/// What one home has set aside and another has acked is parked no more; what no worker has done stays parked (INV-14, INV-15).
struct AckedTests {
    private let a = NodeID(.zero)
    private let b = NodeID(SHA256().digest([5]))
    private let log: MemoryLog
    private let made: EventID
    private var messages: [StoredEvent] = []
    /// What homes write, each a second after the one before. The home b has an origin of its own.
    private var events: [(EventHeader, JSONObject, NodeID)] = []

    init() throws {
        let key = SigningKey.generate()
        let image = try MemoryLog.make(key: key, name: "n", cluster: "c", wall: 1_000, seed: 1)
        log = try MemoryLog(image, key: key, wall: 1_000, seed: 2)
        var definition = SubscriptionDefinition(start: .first)
        definition.filter.types = ["message.posted"]
        _ = try log.commit([.record([SubscriptionRecord.draft("bot", definition, at: a)])], wall: 1_000).get()
        let created = try #require(try log.reader.event(at: 2)?.event)
        made = created.header.id
        events = [(created.header, JSONObject(validated: try #require(created.payload)), a)]
        let drafts = ["message.posted", "message.posted", "note"].map {
            EventDraft(type: $0, user: "kim", payload: Array("{}".utf8))
        }
        _ = try log.commit([.append(drafts)], wall: 2_000).get()
        for position in 3...5 { messages.append(try #require(try log.reader.event(at: UInt64(position)))) }
        say(b, SubscriptionRecord.moved, #""term":1"#)
    }

    /// The dot of what it says.
    ///
    /// - Parameter ahead: How far its clock is ahead, milliseconds.
    @discardableResult
    private mutating func say(_ node: NodeID, _ type: String, _ members: String, ahead: Int64 = 0) -> Dot {
        let origin = OriginID(UUIDBits(high: 7, low: node == a ? 1 : 2))
        let dot = Dot(origin: origin, seq: UInt64(events.count))
        let header = EventHeader(
            dot: dot, hlc: HybridTime(milliseconds: Int64(events.count + 2) * 1_000 + ahead, counter: 0),
            id: EventID(UUIDBits(high: 1, low: UInt64(events.count))), type: type, user: "node/\(node)")
        let text = #"{"subscription":"\#(made)","name":"bot",\#(members)}"#
        events.append((header, JSONObject(validated: Array(text.utf8)), node))
        return dot
    }

    private mutating func park(_ message: StoredEvent, at node: NodeID, ahead: Int64 = 0) -> Dot {
        let header = message.event.header
        return say(
            node, SubscriptionRecord.parked,
            #""event":"\#(header.id)","dot":"\#(header.dot)","attempts":1,"reason":"r""#, ahead: ahead)
    }

    private mutating func retry(_ message: StoredEvent, at node: NodeID, done: Bool = false) -> Dot {
        let more = done ? #","done":true"# : ""
        return say(node, SubscriptionRecord.retried, #""dots":["\#(message.event.header.dot)"]\#(more)"#)
    }

    private func acked(_ states: SubscriptionState...) throws -> [Dot] {
        var records = SubscriptionRecords()
        records.update(events)
        return try records.acked(try #require(records.all["bot"]), states, in: log.reader)
    }

    /// All is done here, and these events of homes are known.
    private func state(_ known: Dot..., open: [StoredEvent] = []) -> SubscriptionState {
        var state = SubscriptionState()
        state.through = VersionVector([messages[2].event.header.dot])
        state.open = open.map { SubscriptionState.Open($0.event.header.dot, attempts: 1) }
        for dot in known { state.needs.advance(to: dot) }
        return state
    }

    @Test("Done without the event that set it aside is acked; done with it, open or not looked at is not")
    func parked() throws {
        var it = self
        let (one, dot) = (messages[0], messages[0].event.header.dot)
        #expect(try it.acked(it.state()).isEmpty, "nothing is parked")
        let proof = it.park(one, at: a)
        #expect(try it.acked(it.state()) == [dot])
        #expect(try it.acked(it.state(proof), it.state()) == [dot], "each home's word by itself")
        #expect(try it.acked(it.state(proof)).isEmpty && it.acked(it.state(open: [one])).isEmpty)
        #expect(try it.acked(SubscriptionState()).isEmpty && it.acked().isEmpty)
        var merged = it.state()
        merged.merge(it.state(proof))
        #expect(try it.acked(merged).isEmpty, "put together they tell nothing")
        // One that the subscription does not want is done everywhere, and not by a worker.
        _ = it.park(messages[2], at: a)
        #expect(try it.acked(it.state()) == [dot])
        // Told by either, it is parked no more.
        _ = it.retry(one, at: b, done: true)
        #expect(try it.acked(it.state()).isEmpty)
        var records = SubscriptionRecords()
        records.update(it.events)
        #expect(records.parked(made).keys.sorted() == [messages[2].event.header.dot])
    }

    @Test("Said once, also where the clock of who set it aside is years ahead; parked anew it is parked")
    func ahead() throws {
        var it = self
        let (one, dot) = (messages[0], messages[0].event.header.dot)
        let first = it.park(one, at: a, ahead: 1 << 40)
        let known = it.state()
        func records() -> SubscriptionRecords {
            var records = SubscriptionRecords()
            records.update(it.events)
            return records
        }
        #expect(try it.acked(known) == [dot] && records().proofs(of: [dot], made) == [first])
        let record = try #require(records().all["bot"])
        let draft = record.draft(retrying: [dot], parkedBy: records().proofs(of: [dot], made), done: true, at: b)
        let said = String(decoding: draft.payload.dropFirst().dropLast(), as: UTF8.self)
        it.say(b, SubscriptionRecord.retried, said)
        #expect(try it.acked(known).isEmpty, "or it would be said again, for ever")
        #expect(records().parked(made).isEmpty)
        let second = it.park(one, at: b)
        #expect(records().parked(made)[dot]?.proof == second)
    }

    @Test("Parked again after a retry: acked by who knows of the retry, and parked by who knows of the first alone")
    func again() throws {
        var it = self
        let (one, dot) = (messages[0], messages[0].event.header.dot)
        let first = it.park(one, at: a)
        let retry = it.retry(one, at: b)
        let second = it.park(one, at: a)
        var knowing = it.state(first)
        #expect(try it.acked(knowing).isEmpty, "it was set aside there, and never tried again")
        knowing.early = [retry]
        #expect(try it.acked(knowing) == [dot])
        knowing.retried = [SubscriptionState.Open(dot, attempts: 1)]
        #expect(try it.acked(knowing).isEmpty, "it is still to be done")
        knowing.retried = []
        knowing.needs.advance(to: second)
        #expect(try it.acked(knowing).isEmpty)
    }

    @Test("One of two with the same content that was set aside ends the other, which no worker has done")
    func twins() throws {
        var it = self
        let (one, two) = (messages[0], messages[1])
        let proof = it.park(one, at: a)
        // The second one is parked at b under the id of the first.
        let other = it.say(
            b, SubscriptionRecord.parked,
            #""event":"\#(one.event.header.id)","dot":"\#(two.event.header.dot)","attempts":1,"reason":"r""#)
        #expect(try it.acked(it.state(proof), it.state(other)).isEmpty)
        #expect(try it.acked(it.state()) == [one.event.header.dot, two.event.header.dot].sorted())
    }

    @Test("What was passed over by a new place, or parked before, is not acked")
    func sought() throws {
        var it = self
        let through = VersionVector([messages[2].event.header.dot])
        it.say(b, SubscriptionRecord.sought, #""start":"\#(through.text)","through":"\#(through.text)""#)
        _ = it.park(messages[0], at: a)
        #expect(try it.acked(it.state()).isEmpty)
    }

    @Test("A machine that takes from the log what is parked names the events that say so")
    func needs() throws {
        var it = self
        let proof = it.park(messages[0], at: a)
        var records = SubscriptionRecords()
        records.update(it.events)
        let record = try #require(records.all["bot"])
        let machine = try SubscriptionMachine(record, [], parked: records.parked(made), log.reader, as: a)
        #expect(machine.state.needs.contains(proof) && machine.isHeeded(messages[0].event.header.dot))
        #expect(try records.acked(record, [machine.state], in: log.reader).isEmpty)
    }
}

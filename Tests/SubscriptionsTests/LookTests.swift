import EventStore
import Subscriptions
import Testing

/// What a machine takes from the log when it looks at it again.
struct LookTests {
    private let node = NodeID(.zero)

    @Test("A retry that was stored counts at the next start, though nothing else of it was kept (INV-14)")
    func storedRetry() throws {
        let key = SigningKey.generate()
        let image = try MemoryLog.make(key: key, name: "n", cluster: "c", wall: 1_000, seed: 1)
        let log = try MemoryLog(image, key: key, wall: 1_000, seed: 2)
        var definition = SubscriptionDefinition(start: .first)
        definition.filter.types = ["message.posted"]
        _ = try log.commit([.record([SubscriptionRecord.draft("bot", definition, at: node)])], wall: 1_000).get()
        let created = try #require(try log.reader.event(at: 2)?.event)
        var records = SubscriptionRecords()
        records.update([(created.header, JSONObject(validated: try #require(created.payload)), node)])
        let record = try #require(records.all["bot"])
        _ = try log.commit(
            [.append([EventDraft(type: "message.posted", user: "kim", payload: Array("{}".utf8))])], wall: 2_000
        ).get()
        let message = try #require(try log.reader.event(at: 3)?.event.header.dot)

        var machine = try SubscriptionMachine(record, [], parked: [:], log.reader, as: node)
        _ = try machine.look(at: log.reader, after: try machine.start(in: log.reader), through: 3, as: node, now: 0)
        let given = try #require(machine.give(1, to: 1, now: 0).first)
        #expect(given.dot == message && machine.park(message, number: given.number, reason: "r", now: 0))
        #expect(machine.takeParkings().count == 1)
        machine.parked(message, by: message, now: 0)
        let kept = machine.state
        _ = try log.commit([.record([record.draft(retrying: [message], parkedBy: [], at: node)])], wall: 3_000).get()

        var next = try SubscriptionMachine(record, [kept], parked: [:], log.reader, as: node)
        let found = try next.look(at: log.reader, after: try next.start(in: log.reader), through: 4, as: node, now: 0)
        #expect(found.retries.count == 1)
        for retry in found.retries { try next.heed(retry, of: record, in: log.reader, now: 0) }
        #expect(next.give(1, to: 1, now: 0).map(\.dot) == [message])
    }
}

import EventStore
import TestSupport
import Testing

@testable import Subscriptions

/// An ack that could not be put away leaves nothing: what was refused does not count (INV-14).
struct RefusedAckTests {
    private func machine(_ conversations: [String]) -> SubscriptionMachine {
        var definition = SubscriptionDefinition(start: .first)
        definition.ackWait = 1_000
        var machine = SubscriptionMachine(definition, SubscriptionState(), events: [:])
        for (index, conversation) in conversations.enumerated() {
            let seq = UInt64(index + 1)
            machine.look(at: header(seq, conversation), position: seq, isWanted: true)
        }
        return machine
    }

    private func ack(_ given: SubscriptionMachine.Given, _ machine: inout SubscriptionMachine, now: UInt64) {
        let open = machine.open(given.dot)
        _ = machine.ack(given.dot, number: given.number, now: now)
        let seq = given.dot.seq
        machine.refused(given.dot, open, (header(seq, seq == 3 ? "d" : "c"), seq), now: now)
    }

    @Test("Its event comes again when the time of a delivery is over, beside the next one of its conversation")
    func comesAgain() throws {
        var machine = machine(["c", "c", "d"])
        let before = machine.state
        let first = try #require(machine.give(1, to: 1, now: 0).first)
        ack(first, &machine, now: 100)
        #expect(machine.state.looked == before.looked && machine.state.early == before.early)
        #expect(machine.state.open.map(\.dot) == before.open.map(\.dot) && machine.open == 3)
        let others = machine.give(9, to: 1, now: 1_099)
        #expect(others.map(\.dot.seq) == [3, 2])
        let again = try #require(machine.give(9, to: 1, now: 1_100).first)
        #expect(again.dot == first.dot && again.attempt == 2 && again.number != first.number)
        for one in others + [again] {
            let ack = machine.ack(one.dot, number: one.number, now: 1_101)
            #expect(ack == .done)
        }
        #expect(machine.open == 0 && machine.state.open.isEmpty && machine.nextDeadline ?? 0 <= 2_101)
    }

    @Test("The ack counts once it is repeated, and what is known after a crash has the event in its place (INV-16)")
    func repeated() throws {
        var machine = machine(["c", "c", "d"])
        let first = try #require(machine.give(1, to: 1, now: 0).first)
        ack(first, &machine, now: 100)
        let places = (UInt64(1)...3).map { seq in
            (Dot(origin: origin, seq: seq), (key: ByteText(seq == 3 ? "cd" : "cc"), position: seq))
        }
        var after = SubscriptionMachine(
            machine.definition, machine.state, events: Dictionary(uniqueKeysWithValues: places))
        for seq in UInt64(1)...3 {
            after.look(at: header(seq, seq == 3 ? "d" : "c"), position: seq, isWanted: true)
        }
        let given = after.give(9, to: 1, now: 0)
        #expect(given.map(\.dot.seq) == [1, 3])
        let repeated = machine.ack(first.dot, number: first.number, now: 200)
        #expect(repeated == .done && machine.open == 2)
        let rest = machine.give(9, to: 1, now: 5_000)
        #expect(rest.map(\.dot.seq) == [3, 2])
    }

    @Test("Nothing is left of one that was not looked at, is tried again or has had its last attempt")
    func others() throws {
        var machine = machine(["c"])
        // Not looked at.
        let unknown = header(2, "c")
        #expect(machine.open(unknown.dot) == nil && machine.ack(unknown.dot, number: 0, now: 0) == .notOpen)
        machine.refused(unknown.dot, nil, nil, now: 0)
        #expect(machine.state.early.isEmpty)
        machine.look(at: unknown, position: 2, isWanted: true)
        #expect(machine.open == 2)
        // Looked at between the ack and its refusal.
        let third = header(3, "d")
        _ = machine.ack(third.dot, number: 0, now: 0)
        machine.look(at: third, position: 3, isWanted: true)
        #expect(machine.open == 2)
        machine.refused(third.dot, nil, (third, 3), now: 0)
        #expect(machine.open == 3)
        // Tried again.
        let given = try #require(machine.give(1, to: 1, now: 0).first)
        machine.park(given.dot, number: given.number, reason: "no", now: 0)
        _ = machine.takeParkings()
        machine.parked(given.dot, by: Dot(origin: origin, seq: 9), now: 0)
        machine.retry(header(1, "c"), position: 1, now: 0)
        let open = machine.open(given.dot)
        _ = machine.ack(given.dot, number: 0, now: 0)
        machine.refused(given.dot, open, (header(1, "c"), 1), now: 0)
        #expect(machine.state.retried.map(\.dot) == [given.dot])
        // The last attempt is not the one too many.
        for now in UInt64(1)...40 {
            for one in machine.give(1, to: 1, now: now * 10_000) where one.dot.seq == 2 {
                ack(one, &machine, now: now * 10_000)
            }
        }
        #expect(machine.takeParkings().allSatisfy { $0.dot.seq != 2 } && machine.open(unknown.dot) != nil)
    }
}

private func header(_ seq: UInt64, _ conversation: String) -> EventHeader {
    EventHeader(
        dot: Dot(origin: origin, seq: seq), hlc: HybridTime(milliseconds: Int64(seq), counter: 0),
        id: EventID(UUIDBits(high: 1, low: seq)), type: "t", conversation: conversation, user: "u")
}
private let origin = OriginID(UUIDBits(high: 0, low: 7))

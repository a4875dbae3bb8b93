import EventStore
import TestSupport
import Testing

@testable import Subscriptions

/// The machine of one subscription, against a model, from seeds: what is handed out, in which order, and that nothing is lost (INV-14, INV-16).
struct MachineTests {
    /// A subscription at work: a log, workers, and what became of each event.
    private struct Scene {
        var random: SplitMix64
        var definition: SubscriptionDefinition
        var machine: SubscriptionMachine
        /// Of the last state that was put away, with the run it was of.
        var kept = SubscriptionState()
        var log: [EventHeader] = []
        var looked = 0
        var now: UInt64 = 1_000
        /// Deliveries that workers hold, of which the node may know nothing any more.
        var held: [(given: SubscriptionMachine.Given, worker: UInt64, run: Int)] = []
        var run = 0
        var acked: Set<Dot> = []
        /// Acked since the process began: none of these comes again.
        var done: Set<Dot> = []
        var parked: Set<Dot> = []
        var everParked: Set<Dot> = []
        var attempts: [Dot: Int] = [:]
        /// Small ones, so that conversations are behind, or those of a daemon.
        var bounds = SubscriptionMachine.Bounds()
        var wasBehind = false

        init(_ seed: UInt64) {
            random = SplitMix64(state: seed)
            definition = SubscriptionDefinition(start: .first)
            definition.filter.types = ["message.*"]
            definition.ackWait = 1_000
            definition.attempts = Int(random.next() % 4) + 2
            definition.backoff = [100, 500]
            if seed % 2 == 1 {
                bounds.capacity = Int(random.next() % 10) + 2
                bounds.share = Int(random.next() % 3) + 1
                bounds.behind = Int(random.next() % 6) + 1
            }
            machine = SubscriptionMachine(definition, kept, events: [:], bounds: bounds)
            for worker in UInt64(1)...3 where random.next() % 2 == 0 { machine.joined(worker) }
        }

        func conversation(_ dot: Dot) -> String? { log[Int(dot.seq) - 1].conversation }
        func isWanted(_ dot: Dot) -> Bool { definition.wants(log[Int(dot.seq) - 1]) }
        func isDone(_ dot: Dot) -> Bool { acked.contains(dot) || parked.contains(dot) }
        /// A parked one that is tried again stands in a line of its own.
        func isPassed(_ dot: Dot) -> Bool { isDone(dot) || everParked.contains(dot) }

        mutating func append() {
            let number = UInt64(log.count + 1)
            let type = random.next() % 4 == 0 ? "profile.changed" : "message.posted"
            log.append(header(number, "c\(random.next() % 5)", type: type))
        }

        mutating func look() {
            lookBack()
            for _ in 0..<3 where looked < log.count && machine.hasRoom {
                let header = log[looked]
                looked += 1
                machine.look(at: header, position: UInt64(looked), isWanted: definition.wants(header))
            }
        }

        private mutating func lookBack() {
            wasBehind = wasBehind || machine.countBehind > 0
            guard var pass = machine.backlogPass(through: UInt64(looked)) else { return }
            var end = pass.start
            while end < min(pass.start + 5, UInt64(looked)), !pass.marks.isEmpty {
                end += 1
                let header = log[Int(end) - 1]
                machine.lookBack(
                    at: header, position: end, isWanted: definition.wants(header), twinOf: nil, notBefore: 0, &pass)
            }
            machine.ended(pass, at: end, through: UInt64(looked))
        }

        /// The process dies: what was put away is what it knows.
        mutating func restart() {
            run += 1
            done = []
            var events: [Dot: (key: ByteText, position: UInt64)] = [:]
            for open in kept.open + kept.retried {
                events[open.dot] = (definition.key(of: log[Int(open.dot.seq) - 1]), open.dot.seq)
            }
            var state = kept
            // What is parked is known from the log.
            state.open.removeAll { parked.contains($0.dot) }
            state.retried.removeAll { parked.contains($0.dot) }
            state.early += state.looked.early(parked)
            machine = SubscriptionMachine(definition, state, events: events, bounds: bounds)
            machine.backlogEnd = UInt64(log.count)
            looked = min(Int(machine.seen[origin]), machine.firstOpen.map { Int($0) - 1 } ?? .max)
        }
    }

    @Test(
        "Each wanted event is handed out until it is acked or parked, whatever workers and the process do",
        arguments: 0..<cases(12, of: 40))
    func model(part: Int) {
        var behind = 0
        for seed in UInt64(part * 25)..<UInt64(part * 25 + 25) {
            var scene = Scene(seed)
            for _ in 0..<400 { step(&scene, seed, isCalm: false) }
            // Then all goes well: everything must get done.
            for _ in 0..<4_000
            where scene.machine.open > 0 || scene.looked < scene.log.count || scene.machine.countBehind > 0 {
                step(&scene, seed, isCalm: true)
            }
            if scene.wasBehind { behind += 1 }
            for header in scene.log where scene.definition.wants(header) {
                #expect(scene.isDone(header.dot), "seed \(seed): event \(header.dot.seq) is lost")
            }
            #expect(scene.machine.open == 0, "seed \(seed)")
            #expect(SubscriptionState(bytes: scene.machine.state.bytes) == scene.machine.state)
        }
        #expect(behind > 0, "no conversation was behind")
    }

    @Test(
        "A stream that has let a delivery run out gets nothing more until it is heard; one that waits gets the event")
    func stuck() throws {
        var definition = SubscriptionDefinition(start: .first)
        definition.ackWait = 1_000
        var machine = SubscriptionMachine(definition, SubscriptionState(), events: [:])
        for seq in UInt64(1)...3 {
            machine.look(at: header(seq, "c\(seq)", type: "t"), position: seq, isWanted: true)
        }
        machine.joined(1)
        machine.joined(2)
        let first = try #require(machine.give(1, to: 1, now: 0).first)
        #expect(machine.give(1, to: 1, now: 1_000).isEmpty)
        let again = try #require(machine.give(1, to: 2, now: 1_000).first)
        #expect(again.attempt == 1 && again.dot.seq == 2, "the others wait before it")
        let second = machine.give(2, to: 2, now: 1_000)
        #expect(second.map(\.dot.seq) == [3, 1] && second.last?.attempt == 2)
        // It was slow, and is not dead.
        #expect(machine.ack(first.dot, number: first.number, now: 1_001) == .late)
        machine.look(at: header(4, "c4", type: "t"), position: 4, isWanted: true)
        #expect(machine.give(1, to: 1, now: 1_001).map(\.dot.seq) == [4])
    }

    @Test("What is to come again after a pause takes no place in a worker's window, and holds its conversation alone")
    func paused() {
        var machine = SubscriptionMachine(SubscriptionDefinition(start: .first), SubscriptionState(), events: [:])
        for seq in UInt64(1)...400 {
            machine.look(at: header(seq, "c\(seq % 200)", type: "t"), position: seq, isWanted: true)
        }
        machine.joined(1)
        var given = machine.give(32, to: 1, now: 0)
        for _ in 0..<5 {
            for one in given {
                let isBack = machine.release(one.dot, number: one.number, delay: 60_000, error: nil, now: 0)
                #expect(isBack)
            }
            #expect(machine.inFlight(of: 1) == 0, "they are not out any more")
            given = machine.give(32, to: 1, now: 0)
            #expect(given.count == 32 && given.allSatisfy { $0.dot.seq <= 200 })
        }
        #expect(machine.open == 400)
    }

    @Test(
        "What a worker gives back untried was no attempt: it is neither given alone nor parked for that, and what is alone lets others go"
    )
    func untried() throws {
        var definition = SubscriptionDefinition(start: .first)
        definition.attempts = 3
        var machine = SubscriptionMachine(definition, SubscriptionState(), events: [:])
        for seq in UInt64(1)...2 {
            machine.look(at: header(seq, "c\(seq)", type: "t"), position: seq, isWanted: true)
        }
        machine.joined(1)
        for _ in 0..<20 {
            let given = machine.give(2, to: 1, now: 0)
            #expect(given.count == 2 && given.allSatisfy { $0.attempt == 1 })
            for one in given {
                machine.release(one.dot, number: one.number, delay: 0, error: nil, isUntried: true, now: 0)
            }
        }
        // The first has killed two workers. The third cannot tell what is wrong with it, and lets the other one go.
        for _ in 0..<2 {
            let one = try #require(machine.give(1, to: 1, now: 0).first { $0.dot.seq == 1 })
            machine.release(one.dot, number: one.number, delay: 0, error: nil, now: 0)
            let other = try #require(machine.give(1, to: 1, now: 0).first)
            machine.release(other.dot, number: other.number, delay: 0, error: nil, isUntried: true, now: 0)
        }
        let alone = machine.give(2, to: 1, now: 0)
        #expect(alone.map(\.attempt) == [3] && machine.give(1, to: 1, now: 1_000).isEmpty)
        machine.release(alone[0].dot, number: alone[0].number, delay: 0, error: nil, isUntried: true, now: 1_000)
        #expect(machine.parkings.isEmpty && machine.open == 2)
        #expect(machine.give(2, to: 1, now: 1_000).map(\.dot.seq) == [2])
    }

    @Test("Of two events with one content the other is done when one is, and never before (INV-14)")
    func twins() throws {
        let definition = SubscriptionDefinition(start: .first)
        func machine(_ order: [UInt64], _ state: SubscriptionState = SubscriptionState()) -> SubscriptionMachine {
            let places = order.enumerated().map { index, seq in
                (Dot(origin: origin, seq: seq), (key: ByteText("cc"), position: UInt64(index + 1)))
            }
            var machine = SubscriptionMachine(
                definition, state, events: Dictionary(uniqueKeysWithValues: places))
            for (index, seq) in order.enumerated() {
                let first = index == 0 ? nil : Dot(origin: origin, seq: order[0])
                machine.look(
                    at: header(seq, "c", type: "t"), position: UInt64(index + 1), isWanted: true, twinOf: first)
            }
            return machine
        }
        var one = machine([1, 2])
        #expect(one.open == 2)
        // It is kept, and the process dies.
        one = machine([1, 2], one.state)
        let given = one.give(2, to: 1, now: 0)
        #expect(given.map(\.dot.seq) == [1])
        let first = try #require(given.first)
        let ack = one.ack(first.dot, number: first.number, now: 0)
        #expect(ack == .done && one.open == 0 && one.state.open.isEmpty)
        let rest = one.give(1, to: 1, now: 0)
        #expect(rest.isEmpty)
    }

    @Test("What was open is handed out in the order of this log, also where another home has looked at more (INV-16)")
    func order() {
        let other = OriginID(UUIDBits(high: 0, low: 8))
        var state = SubscriptionState()
        state.through.advance(to: Dot(origin: origin, seq: 1))
        state.open = [.init(Dot(origin: origin, seq: 1), attempts: 1)]
        // Here it stands behind one of another origin, which that home had not got yet.
        let events = [Dot(origin: origin, seq: 1): (key: ByteText("cc"), position: UInt64(2))]
        var machine = SubscriptionMachine(SubscriptionDefinition(start: .first), state, events: events)
        #expect(machine.firstOpen == 2 && machine.open == 1 && machine.state == state)
        let none = machine.give(1, to: 1, now: 0)
        #expect(none.isEmpty)
        var before = header(1, "c", type: "t")
        before.dot = Dot(origin: other, seq: 1)
        machine.look(at: before, position: 1, isWanted: true)
        machine.look(at: header(1, "c", type: "t"), position: 2, isWanted: true)
        let given = machine.give(2, to: 1, now: 0)
        #expect(given.map(\.dot.origin) == [other])
    }

    @Test("Conversations whose ids Unicode takes for the same do not wait for each other (INV-16)")
    func equivalentIDs() {
        var machine = SubscriptionMachine(SubscriptionDefinition(start: .first), SubscriptionState(), events: [:])
        for (seq, conversation) in [(1, "Kroom"), (2, "\u{212a}room"), (3, "Kroom")] {
            machine.look(at: header(UInt64(seq), conversation, type: "t"), position: UInt64(seq), isWanted: true)
        }
        let given = machine.give(9, to: 1, now: 0)
        #expect(given.map(\.dot.seq) == [1, 2])
    }

    @Test("What is done because it was set aside is told with the event that says so (INV-14)")
    func proof() throws {
        var machine = SubscriptionMachine(SubscriptionDefinition(start: .first), SubscriptionState(), events: [:])
        machine.look(at: header(1, "c", type: "t"), position: 1, isWanted: true)
        let given = try #require(machine.give(1, to: 1, now: 0).first)
        let isParking = machine.park(given.dot, number: given.number, reason: "no", now: 0)
        let parkings = machine.takeParkings()
        #expect(isParking && parkings.map(\.dot) == [given.dot] && machine.open == 1)
        let proof = Dot(origin: origin, seq: 9)
        machine.parked(given.dot, by: proof, now: 0)
        #expect(machine.open == 0 && machine.state.needs == VersionVector([proof]))
    }

    @Test("What is acked while it is set aside is not set aside (INV-14)")
    func ackedWhileParking() throws {
        var machine = SubscriptionMachine(SubscriptionDefinition(start: .first), SubscriptionState(), events: [:])
        machine.look(at: header(1, "c", type: "t"), position: 1, isWanted: true)
        let given = try #require(machine.give(1, to: 1, now: 0).first)
        machine.park(given.dot, number: given.number, reason: "no", now: 0)
        let ack = machine.ack(given.dot, number: given.number, now: 1)
        #expect(ack == .done && machine.takeParkings().isEmpty && machine.open == 0)
        #expect(machine.ack(given.dot, number: given.number, now: 2) == .notOpen)
    }

    @Test(
        "Many conversations fill the window: that is told for as long as it lasts, though each ack makes room for one"
    )
    func stalled() throws {
        var machine = SubscriptionMachine(SubscriptionDefinition(start: .first), SubscriptionState(), events: [:])
        var seq = UInt64(0)
        func look() {
            while machine.hasRoom {
                seq += 1
                machine.look(at: header(seq, "c\(seq)", type: "t"), position: seq, isWanted: true)
            }
        }
        look()
        #expect(machine.open == SubscriptionMachine.capacity && machine.isStalled)
        for now in UInt64(1)...100 {
            let given = machine.give(32, to: 1, now: now)
            let ack = machine.ack(try #require(given.first).dot, number: given[0].number, now: now)
            for one in given.dropFirst() {
                machine.release(one.dot, number: one.number, delay: 0, error: nil, now: now)
            }
            #expect(ack == .done && machine.isStalled && machine.hasRoom)
            if now % 2 == 0 { look() }
        }
        while machine.open > SubscriptionMachine.capacity / 2 {
            let given = machine.give(1, to: 1, now: 1_000)
            _ = machine.ack(try #require(given.first).dot, number: given[0].number, now: 1_000)
        }
        #expect(!machine.isStalled)
    }

    @Test("What comes of deliveries is counted once, late acks besides; acks have their time")
    func tally() throws {
        var definition = SubscriptionDefinition(start: .first)
        (definition.ackWait, definition.attempts, definition.backoff) = (1_000, 2, [0])
        var machine = SubscriptionMachine(definition, SubscriptionState(), events: [:])
        for seq in UInt64(1)...5 {
            machine.look(at: header(seq, "c\(seq)", type: "t"), position: seq, isWanted: true)
        }
        #expect(machine.oldestOpen == 1)
        let first = machine.give(5, to: 1, now: 0)
        #expect(machine.ack(first[0].dot, number: first[0].number, now: 40) == .done)
        #expect(machine.oldestOpen == 2)
        machine.release(first[1].dot, number: first[1].number, delay: 0, error: nil, now: 50)
        machine.park(first[2].dot, number: first[2].number, reason: "no", now: 50)
        machine.tick(now: 1_000)
        #expect(machine.ack(first[3].dot, number: first[3].number, now: 1_001) == .done, "nothing else is out")
        let second = machine.give(5, to: 2, now: 1_001)
        #expect(second.count == 2)
        machine.left(2, now: 1_002)
        // The first in vain was released, the second left alone; of the last one the first had run out.
        #expect(
            machine.tally.outcomes == [.acked: 1, .released: 1, .parked: 3, .expired: 2, .late: 1])
        #expect(machine.tally.settling.counts.reduce(0, +) == 1 && machine.tally.settling.sum == 40_000_000)
        // What was set aside and is handed out again is of old, and does not count as waiting.
        for parking in machine.takeParkings() {
            machine.parked(parking.dot, by: Dot(origin: origin, seq: 9), now: 1_003)
        }
        machine.retry(header(3, "c3", type: "t"), position: 3, now: 1_003)
        #expect(machine.open == 1 && machine.oldestOpen == nil)
    }

    @Test(
        "Workers that go at once with an event do not use up its attempts: from the second end on it waits (INV-16)")
    func pauseAfterEnds() throws {
        var definition = SubscriptionDefinition(start: .first)
        (definition.attempts, definition.backoff) = (5, [1_000, 5_000])
        var machine = SubscriptionMachine(definition, SubscriptionState(), events: [:])
        machine.look(at: header(1, "c", type: "t"), position: 1, isWanted: true)
        var (now, times): (UInt64, [UInt64]) = (0, [])
        while times.count < 5, now < 60_000 {
            if !machine.give(1, to: now + 1, now: now).isEmpty {
                times.append(now)
                machine.left(now + 1, now: now)
            } else {
                now += 100
            }
        }
        #expect(times == [0, 0, 1_000, 6_000, 11_000])
        #expect(machine.takeParkings().count == 1)
    }

    private func step(_ scene: inout Scene, _ seed: UInt64, isCalm: Bool) {
        scene.now += scene.random.next() % 50
        let worker = scene.random.next() % 3 + 1
        switch scene.random.next() % 12 {
        case 0, 1: if !isCalm { scene.append() }
        case 2: scene.look()
        case 3, 4, 5: give(&scene, isCalm ? scene.now + 1_000 : worker, seed)
        case 6, 7: settle(&scene, seed, isAck: true)
        case 8: if isCalm { settle(&scene, seed, isAck: true) } else { settle(&scene, seed, isAck: false) }
        case 9:
            if !isCalm {
                scene.machine.left(worker, now: scene.now)
                scene.held.removeAll { $0.worker == worker }
            } else {
                scene.now += 2_000
            }
        case 10: if scene.random.next() % 2 == 0 { scene.kept = scene.machine.state } else { retry(&scene) }
        default: if !isCalm, scene.random.next() % 4 == 0 { scene.restart() }
        }
        for parking in scene.machine.takeParkings() {
            // The event that says so is not always stored.
            if scene.random.next() % 3 == 0, !isCalm {
                scene.machine.notParked(parking.dot, now: scene.now)
            } else {
                scene.parked.insert(parking.dot)
                scene.everParked.insert(parking.dot)
                scene.machine.parked(parking.dot, by: Dot(origin: origin, seq: 1), now: scene.now)
            }
        }
    }

    /// The event that says so and what is known of it are kept together.
    private func retry(_ scene: inout Scene) {
        guard let dot = scene.parked.min() else { return }
        scene.parked.remove(dot)
        // A late ack may have come.
        scene.done.remove(dot)
        // The machine has passed this event: it is not tried again at another place.
        let through = scene.machine.seen
        scene.machine.retry(scene.log[Int(dot.seq) - 1], position: dot.seq, now: scene.now)
        #expect(scene.machine.seen == through, "\(dot.seq) moves what was looked at")
        scene.kept = scene.machine.state
    }

    private func give(_ scene: inout Scene, _ worker: UInt64, _ seed: UInt64) {
        scene.machine.tick(now: scene.now)
        let before = scene.machine.inFlight(of: worker)
        let given = scene.machine.give(Int(scene.random.next() % 4) + 1, to: worker, now: scene.now)
        for one in given {
            #expect(scene.isWanted(one.dot), "seed \(seed): \(one.dot.seq) was not asked for")
            #expect(!scene.parked.contains(one.dot), "seed \(seed): \(one.dot.seq) is parked")
            #expect(!scene.done.contains(one.dot), "seed \(seed): \(one.dot.seq) was acked, late or not")
            // The order of a conversation: what stands before it is done.
            for earlier in scene.log.prefix(Int(one.dot.seq) - 1)
            where earlier.conversation == scene.conversation(one.dot) && scene.definition.wants(earlier) {
                #expect(
                    scene.isPassed(earlier.dot) || scene.everParked.contains(one.dot),
                    "seed \(seed): \(one.dot.seq) overtook \(earlier.dot.seq)")
            }
            scene.held.append((one, worker, scene.run))
        }
        if let lone = given.first(where: { $0.attempt >= 3 }) {
            #expect(given == [lone] && before == 0, "seed \(seed): \(lone.dot.seq) did not go alone")
        }
        #expect(given.allSatisfy { $0.attempt <= scene.definition.attempts }, "seed \(seed)")
    }

    private func settle(_ scene: inout Scene, _ seed: UInt64, isAck: Bool) {
        guard !scene.held.isEmpty else { return }
        let (given, _, run) = scene.held.remove(at: Int(scene.random.next() % UInt64(scene.held.count)))
        let number = run == scene.run ? given.number : 0
        if isAck {
            let mark = ConversationMark(of: scene.log[Int(given.dot.seq) - 1])
            #expect(scene.machine.ack(given.dot, number: number, now: scene.now, mark: { mark }) != .refused)
            scene.acked.insert(given.dot)
            scene.done.insert(given.dot)
        } else if scene.random.next() % 4 == 0 {
            scene.machine.park(given.dot, number: number, reason: "no", now: scene.now)
        } else if scene.random.next() % 3 == 0 {
            if scene.machine.extend(given.dot, number: number, now: scene.now) {
                scene.held.append((given, 1, run))
            }
        } else {
            scene.machine.release(given.dot, number: number, delay: nil, error: "e", now: scene.now)
        }
    }
}

private func header(_ seq: UInt64, _ conversation: String, type: String) -> EventHeader {
    EventHeader(
        dot: Dot(origin: origin, seq: seq), hlc: HybridTime(milliseconds: Int64(seq), counter: 0),
        id: EventID(UUIDBits(high: 1, low: seq)), type: type, conversation: conversation, user: "u")
}
private let origin = OriginID(UUIDBits(high: 0, low: 7))

import EventStore
import TestSupport
import Testing

@testable import Subscriptions

/// One conversation with far more than its share: it holds up no other, and nothing of it is lost (INV-14, INV-16).
struct BacklogTests {
    private static let flood = 20_000
    private let node = NodeID(.zero)

    /// A log of a subscription and of messages, by conversation, in order.
    private func log(
        _ conversations: [String], home: SubscriptionDefinition.Home? = nil
    ) throws -> (MemoryLog, SubscriptionRecord, places: Range<UInt64>) {
        let key = SigningKey.generate()
        let image = try MemoryLog.make(key: key, name: "n", cluster: "c", wall: 1_000, seed: 1)
        let log = try MemoryLog(image, key: key, wall: 1_000, seed: 2)
        var definition = SubscriptionDefinition(start: .first)
        definition.filter.types = ["message.posted"]
        definition.ackWait = 600_000
        if let home { definition.home = home }
        _ = try log.commit([.record([SubscriptionRecord.draft("bot", definition, at: node)])], wall: 1_000).get()
        let created = try #require(try log.reader.event(at: 2)?.event)
        var records = SubscriptionRecords()
        records.update([(created.header, JSONObject(validated: try #require(created.payload)), node)])
        let drafts = conversations.map {
            EventDraft(type: "message.posted", conversation: $0, user: "kim", payload: Array("{}".utf8))
        }
        for start in stride(from: 0, to: drafts.count, by: 1_000) {
            let some = Array(drafts[start..<min(start + 1_000, drafts.count)])
            _ = try log.commit([.append(some)], wall: 2_000 + Int64(start)).get()
        }
        return (log, try #require(records.all["bot"]), 3..<UInt64(conversations.count) + 3)
    }

    /// A home with one worker that stays: it takes a second for each event, and never says a word of the flood.
    private struct Home {
        let log: LogReader
        let record: SubscriptionRecord
        var machine: SubscriptionMachine
        var position: UInt64
        var now: UInt64 = 0
        var doing: [(until: UInt64, given: SubscriptionMachine.Given)] = []
        var done: [String: [UInt64]] = [:]
        var answersFlood = false
        var mostBytes = 0

        init(_ log: LogReader, _ record: SubscriptionRecord, _ known: [SubscriptionState] = []) throws {
            (self.log, self.record) = (log, record)
            machine = try SubscriptionMachine(record, known, parked: [:], log, as: NodeID(.zero))
            position = try machine.start(in: log)
            machine.joined(1)
        }

        /// A look back that never ends would keep the tests from it.
        struct Endless: Error {}

        mutating func look(_ end: UInt64) throws {
            var (isBehind, turns) = (true, 0)
            while isBehind || machine.deliverable < 32 && machine.hasRoom && position < end {
                turns += 1
                guard turns < 100_000 else { throw Endless() }
                isBehind = try machine.lookBack(
                    in: log, through: position, isShort: machine.deliverable < 32, as: NodeID(.zero), now: now)
                guard machine.deliverable < 32 else { continue }
                position = try machine.look(at: log, after: position, through: end, as: NodeID(.zero), now: now)
                    .position
            }
        }

        mutating func step(_ end: UInt64) throws {
            now += 100
            for one in doing where one.until <= now {
                guard let stored = try log.event(one.given.dot) else { continue }
                let conversation = stored.event.header.conversation ?? ""
                if conversation == "flood", !answersFlood { continue }
                let ack = machine.ack(one.given.dot, number: one.given.number, now: now)
                #expect(ack == .done || conversation == "flood")
                done[conversation, default: []].append(stored.position)
            }
            doing.removeAll { $0.until <= now }
            machine.tick(now: now)
            for parking in machine.takeParkings() { machine.parked(parking.dot, by: parking.dot, now: now) }
            try look(end)
            for given in machine.give(32 - machine.inFlight(of: 1), to: 1, now: now) {
                doing.append((now + (answersFlood ? 100 : 1_000), given))
            }
            if now % 10_000 == 0 { mostBytes = max(mostBytes, machine.state.bytes.count) }
        }
    }

    @Test(
        "A conversation of 20,000 events whose worker never acks takes at most a tenth from a hundred others; its own come in order"
    )
    func flood() throws {
        let others = (0..<10_000).map { "c\($0 % 100)" }
        let flood = Array(repeating: "flood", count: Self.flood)
        let (calm, calmRecord, calmPlaces) = try log(others)
        var usual = try Home(calm.reader, calmRecord)
        while usual.done.values.reduce(0, { $0 + $1.count }) < others.count {
            try usual.step(calmPlaces.upperBound - 1)
        }

        // All of the flood stands before them.
        let (log, record, places) = try log(["c0"] + flood + others)
        var home = try Home(log.reader, record)
        while home.done.values.reduce(0, { $0 + $1.count }) < others.count + 1, home.now < 2 * usual.now {
            try home.step(places.upperBound - 1)
        }
        #expect(home.now * 9 <= usual.now * 10, "\(usual.now) ms without the flood, \(home.now) ms with it")
        for number in 0..<100 {
            let done = home.done["c\(number)"] ?? []
            #expect(done.count >= 100 && done == done.sorted(), "c\(number)")
        }
        #expect(
            home.mostBytes < 48 * SubscriptionMachine.capacity && home.machine.countBehind == 1
                && !home.machine.isStalled)
        #expect(home.machine.oldestOpen ?? 0 < 10, "it waits still")

        // The process dies, and the worker comes to its senses.
        let state = try #require(SubscriptionState(bytes: home.machine.state.bytes))
        home = try Home(log.reader, record, [state])
        home.answersFlood = true
        let left = (4..<UInt64(Self.flood) + 4).filter { position in
            (try? log.reader.event(at: position)?.event.header.dot).map {
                !state.isDone($0, of: ConversationMark(key: ByteText("cflood")))
            } ?? false
        }
        #expect(left.count > Self.flood - 100)
        var rounds = 0
        while home.done["flood"]?.count ?? 0 < left.count, rounds < 3 * Self.flood {
            rounds += 1
            try home.step(places.upperBound - 1)
            guard rounds == 5_000 else { continue }
            let done = home.done
            let state = try #require(SubscriptionState(bytes: home.machine.state.bytes))
            home = try Home(log.reader, record, [state])
            (home.answersFlood, home.done) = (true, done)
        }
        // What was out when the process died comes again; nothing else does, and nothing is missing.
        let came = home.done["flood"] ?? []
        #expect(zip(came, came.dropFirst()).allSatisfy { $0 <= $1 } && Set(came) == Set(left))
        for _ in 0..<200 { try home.step(places.upperBound - 1) }
        #expect(home.machine.countBehind == 0 && home.machine.open == 0 && home.machine.state.looked.behind.isEmpty)
        #expect(home.done.count == 1, "of the others nothing comes again")
    }

    @Test("A hundred conversations with more than their share leave half of the window to others")
    func manyFloods() throws {
        let (log, record, places) = try log((0..<20_000).map { "f\($0 % 100)" } + (0..<200).map { "c\($0)" })
        var home = try Home(log.reader, record)
        // All that the floods may have out is out, at other workers.
        try home.look(places.upperBound - 1)
        for worker in UInt64(2)...200 {
            _ = home.machine.give(1, to: worker, now: 0)
            try home.look(places.upperBound - 1)
        }
        let given = home.machine.give(200, to: 1, now: 0)
        let names = try given.compactMap { try log.reader.event($0.dot)?.event.header.conversation }
        #expect(names.allSatisfy { $0.hasPrefix("c") } && names.count > 50)
        #expect(home.machine.state.bytes.count < SubscriptionMachine.capacity * 64 && !home.machine.isStalled)
    }

    @Test("At another home what is behind is handed out in the order of its log, with what is open (INV-16)")
    func otherHome() throws {
        let (one, two) = (OriginID(UUIDBits(high: 0, low: 7)), OriginID(UUIDBits(high: 0, low: 8)))
        func header(_ origin: OriginID, _ seq: UInt64) -> EventHeader {
            EventHeader(
                dot: Dot(origin: origin, seq: seq), hlc: HybridTime(milliseconds: 1, counter: 0),
                id: EventID(UUIDBits(high: origin.bits.low, low: seq)), type: "t", conversation: "c", user: "u")
        }
        var bounds = SubscriptionMachine.Bounds()
        bounds.share = 2
        let definition = SubscriptionDefinition(start: .first)
        var first = SubscriptionMachine(definition, SubscriptionState(), events: [:], bounds: bounds)
        let here = [header(one, 1), header(one, 2), header(one, 3), header(two, 1), header(two, 2)]
        for (index, header) in here.enumerated() {
            first.look(at: header, position: UInt64(index + 1), isWanted: true)
        }
        #expect(first.open == 2 && first.countBehind == 1 && first.state.looked.places.count == 2)

        // There the other origin's events came first, and of the first one the last is not there yet.
        let there = [header(two, 1), header(two, 2), header(one, 1), header(one, 2)]
        let state = try #require(SubscriptionState(bytes: first.state.bytes))
        var events: [Dot: (key: ByteText, position: UInt64)] = [:]
        for (index, header) in there.enumerated() { events[header.dot] = (ByteText("cc"), UInt64(index + 1)) }
        let vector = VersionVector([there[1].dot, there[3].dot])
        var second = SubscriptionMachine(definition, state, events: events, here: vector, bounds: bounds)
        second.backlogEnd = 4
        #expect(second.seen == vector && second.firstOpen == nil)
        var given: [Dot] = []
        var all = there
        var position = UInt64(4)
        for _ in 0..<20 {
            if var pass = second.backlogPass(through: position) {
                for place in pass.start + 1...position where !pass.marks.isEmpty {
                    second.lookBack(
                        at: all[Int(place) - 1], position: place, isWanted: true, twinOf: nil, notBefore: 0, &pass)
                }
                second.ended(pass, at: position, through: position)
            }
            for one in second.give(5, to: 1, now: 0) {
                given.append(one.dot)
                #expect(second.ack(one.dot, number: one.number, now: 0) == .done)
            }
            guard given.count == 4, all.count == 4 else { continue }
            all.append(header(one, 3))
            position = 5
            second.look(at: all[4], position: 5, isWanted: true)
        }
        #expect(given == all.map(\.dot) && second.open == 0 && second.countBehind == 0)
    }

    @Test("What another home has not looked at comes too, where it stands before what is behind (INV-14, INV-16)")
    func otherOrigin() throws {
        func header(_ origin: UInt64, _ seq: UInt64) -> EventHeader {
            EventHeader(
                dot: Dot(origin: OriginID(UUIDBits(high: 0, low: origin)), seq: seq),
                hlc: HybridTime(milliseconds: 1, counter: 0),
                id: EventID(UUIDBits(high: origin, low: seq)), type: "t", conversation: "c", user: "u")
        }
        var bounds = SubscriptionMachine.Bounds()
        bounds.share = 1
        let definition = SubscriptionDefinition(start: .first)
        var first = SubscriptionMachine(definition, SubscriptionState(), events: [:], bounds: bounds)
        let here = (1...3).map { header(7, $0) }
        for (index, header) in here.enumerated() {
            first.look(at: header, position: UInt64(index + 1), isWanted: true)
        }
        #expect(first.open == 1 && first.countBehind == 1)

        // There two of another origin stand before them, of which the first home knew nothing.
        let there = [header(8, 1), header(8, 2)] + here
        let state = try #require(SubscriptionState(bytes: first.state.bytes))
        let vector = VersionVector([there[1].dot, there[4].dot])
        var second = SubscriptionMachine(
            definition, state, events: [here[0].dot: (ByteText("cc"), 3)], here: vector, bounds: bounds)
        second.cursors[ConversationMark(of: here[0])] = 2
        second.backlogEnd = 5
        for (index, header) in there.enumerated() {
            second.look(at: header, position: UInt64(index + 1), isWanted: true)
        }
        var given: [Dot] = []
        for _ in 0..<20 {
            if var pass = second.backlogPass(through: 5) {
                for place in pass.start + 1...5 where !pass.marks.isEmpty {
                    second.lookBack(
                        at: there[Int(place) - 1], position: place, isWanted: true, twinOf: nil, notBefore: 0, &pass)
                }
                second.ended(pass, at: 5, through: 5)
            }
            for one in second.give(5, to: 1, now: 0) {
                given.append(one.dot)
                #expect(second.ack(one.dot, number: one.number, now: 0) == .done)
            }
        }
        #expect(given == there.map(\.dot) && second.open == 0 && second.countBehind == 0)
    }

    @Test(
        "What is acked while its conversation is behind is done when it is looked at; what was done before is not kept twice"
    )
    func ackedBehind() {
        let origin = OriginID(UUIDBits(high: 0, low: 7))
        var bounds = SubscriptionMachine.Bounds()
        bounds.share = 1
        let definition = SubscriptionDefinition(start: .first)
        var machine = SubscriptionMachine(definition, SubscriptionState(), events: [:], bounds: bounds)
        func header(_ seq: UInt64, _ conversation: String) -> EventHeader {
            EventHeader(
                dot: Dot(origin: origin, seq: seq), hlc: HybridTime(milliseconds: 1, counter: 0),
                id: EventID(UUIDBits(high: 1, low: seq)), type: "t", conversation: conversation, user: "u")
        }
        let log = [header(1, "c"), header(2, "c"), header(3, "d"), header(4, "c")]
        for (index, header) in log.enumerated() {
            machine.look(at: header, position: UInt64(index + 1), isWanted: true)
        }
        #expect(machine.state.looked.behind.values.map { $0[origin] } == [2])
        func ack(_ seq: Int) -> SubscriptionMachine.Ack {
            machine.ack(log[seq - 1].dot, number: 0, now: 0, mark: { ConversationMark(of: log[seq - 1]) })
        }
        #expect(ack(3) == .late || machine.open == 1)
        #expect(ack(3) == .notOpen && machine.state.early.isEmpty)
        #expect(ack(2) == .notOpen && machine.state.early == [log[1].dot])
        #expect(machine.state.isDone(log[1].dot, of: ConversationMark(of: log[1])))
        #expect(!machine.state.isDone(log[3].dot, of: ConversationMark(of: log[3])))
        #expect(ack(1) == .done && machine.isBacklogDue(through: 4, isShort: false))
        if var pass = machine.backlogPass(through: 4) {
            for place in pass.start + 1...4 {
                machine.lookBack(
                    at: log[Int(place) - 1], position: place, isWanted: true, twinOf: nil, notBefore: 0, &pass)
            }
            machine.ended(pass, at: 4, through: 4)
        }
        #expect(machine.give(5, to: 1, now: 0).map(\.dot) == [log[3].dot] && machine.state.early.isEmpty)
    }

    @Test("What has been here for long enough for another home to deliver it is due when it is looked at late")
    func patience() throws {
        let (log, record, places) = try log(Array(repeating: "c", count: 3), home: .local)
        var bounds = SubscriptionMachine.Bounds()
        bounds.capacity = 1
        var machine = try SubscriptionMachine(record, [], parked: [:], log.reader, as: node, bounds: bounds)
        var position = try machine.start(in: log.reader)
        func next(_ now: UInt64) throws -> UInt64? {
            machine.note(places.upperBound - 1, now: now)
            _ = try machine.lookBack(in: log.reader, through: position, isShort: true, as: node, now: now)
            position = try machine.look(
                at: log.reader, after: position, through: places.upperBound - 1, as: node, now: now
            ).position
            guard let given = machine.give(1, to: 1, now: now).first else { return nil }
            #expect(machine.ack(given.dot, number: given.number, now: now) == .done)
            return given.position
        }
        // They are of another node, which may be busy with them.
        #expect(try next(0) == nil && next(29_000) == nil)
        let come = try [next(30_000), next(30_100), next(30_200), next(30_300)]
        #expect(come == [places.lowerBound, places.lowerBound + 1, places.lowerBound + 2, nil])
    }

    @Test(
        "A stream of which one event hangs is tried with an untried one, at growing pauses; one that is dead takes no event twice"
    )
    func hanging() throws {
        let origin = OriginID(UUIDBits(high: 0, low: 7))
        var definition = SubscriptionDefinition(start: .first)
        (definition.ackWait, definition.attempts) = (1_000, 5)
        var machine = SubscriptionMachine(definition, SubscriptionState(), events: [:])
        func look(_ seq: UInt64) {
            let header = EventHeader(
                dot: Dot(origin: origin, seq: seq), hlc: HybridTime(milliseconds: 1, counter: 0),
                id: EventID(UUIDBits(high: 1, low: seq)), type: "t", conversation: "c\(seq)", user: "u")
            machine.look(at: header, position: seq, isWanted: true)
        }
        look(1)
        machine.joined(1)
        #expect(machine.give(8, to: 1, now: 0).map(\.dot.seq) == [1])
        for seq in UInt64(2)...9 { look(seq) }
        #expect(machine.give(8, to: 1, now: 1_000).isEmpty && machine.nextDeadline == 2_000)
        let trial = machine.give(8, to: 1, now: 2_000)
        #expect(trial.map(\.dot.seq) == [2] && machine.give(8, to: 1, now: 2_500).isEmpty)
        // It does not answer that either: the pause is twice as long.
        #expect(machine.give(8, to: 1, now: 4_999).isEmpty)
        let again = machine.give(8, to: 1, now: 5_000)
        #expect(again.map(\.dot.seq) == [3], "no event is tried with it twice")
        #expect(machine.ack(again[0].dot, number: again[0].number, now: 5_100) == .done)
        #expect(machine.give(8, to: 1, now: 5_100).count == 8, "it lives")
    }

    @Test("Events that go alone take at most a tenth of the time of a worker that stays")
    func lone() throws {
        let origin = OriginID(UUIDBits(high: 0, low: 7))
        var definition = SubscriptionDefinition(start: .first)
        (definition.ackWait, definition.attempts) = (10_000, 100)
        var machine = SubscriptionMachine(definition, SubscriptionState(), events: [:])
        func look(_ seq: UInt64, _ conversation: String) {
            let header = EventHeader(
                dot: Dot(origin: origin, seq: seq), hlc: HybridTime(milliseconds: 1, counter: 0),
                id: EventID(UUIDBits(high: 1, low: seq)), type: "t", conversation: conversation, user: "u")
            machine.look(at: header, position: seq, isWanted: true)
        }
        look(1, "stuck")
        machine.joined(1)
        var (busy, attempts, seq) = (0, 0, UInt64(1))
        for second in UInt64(0)..<4_000 {
            let now = second * 1_000
            seq += 1
            look(seq, "c\(seq)")
            var isServed = false
            for given in machine.give(8 - machine.inFlight(of: 1), to: 1, now: now) {
                if given.dot.seq == 1 { attempts = given.attempt } else { isServed = true }
                if given.dot.seq > 1 { _ = machine.ack(given.dot, number: given.number, now: now) }
            }
            if isServed { busy += 1 }
        }
        #expect(busy >= 3_700, "served in \(busy) of 4,000 seconds")
        #expect(attempts > 10, "it is tried again all the same")
    }
}

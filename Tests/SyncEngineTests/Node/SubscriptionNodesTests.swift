import Foundation
@testable import Subscriptions
import TestSupport
import Testing

@testable import EventStore
@testable import SyncEngine

/// What nodes know of each other's subscriptions, and of places in each other's logs: real nodes on loopback.
@Suite(.serialized)
struct SubscriptionNodesTests {
    private func pair() throws -> (TestNode, TestNode) {
        let a = try TestNode("a")
        let b = try TestNode("b", peers: [a.peer()])
        a.node.setPeers([b.peer(calling: false)])
        return (a, b)
    }

    private func records(_ node: TestNode) throws -> SubscriptionRecords {
        var records = SubscriptionRecords()
        try EventReader(node.store).fresh { views throws(StoreError) in try records.update(views) }
        return records
    }

    private func record(_ draft: EventDraft, at node: TestNode) throws {
        _ = try #require(try node.store.recordBlocking([draft]).first?.receipt)
    }

    private func meet(_ nodes: TestNode...) throws {
        #expect(try eventually { try nodes.allSatisfy { try $0.vector() == nodes[0].vector() } })
    }

    @Test(
        "Only a subscription's homes say what is done, parked or ended; another node's word changes nothing (INV-15)")
    func homes() throws {
        let (a, b) = try pair()
        let (own, other) = (a.store.identity.node, b.store.identity.node)
        let definition = SubscriptionDefinition(start: .first)
        try record(SubscriptionRecord.draft("bot", definition, at: own), at: a)
        try meet(a, b)
        let made = try #require(try records(b).all["bot"])
        #expect(made.home == own && made.definition == definition && made.term == 0)

        var done = SubscriptionState()
        done.through.advance(to: Dot(origin: a.store.identity.origin, seq: 1))
        let parking = SubscriptionMachine.Parking(
            dot: Dot(origin: made.dot.origin, seq: 1), attempts: 1, reason: "x", error: nil)
        var forged = definition
        forged.filter.types = ["forged"]
        // In its own name, and in the home's, b may write what it likes.
        for node in [own, other] {
            var drafts = [
                made.draft(placing: done, at: node), made.deletion(at: node),
                made.draft(parking: parking, event: made.id, at: node),
                made.draft(changingTo: forged, through: VersionVector(), at: node),
                made.draft(seeking: .now, through: done.through, reason: nil, at: node),
            ]
            for index in drafts.indices { drafts[index].user = "node/\(node)" }
            for draft in drafts { try record(draft, at: b) }
        }
        try record(SubscriptionRecord.draft("forged", definition, at: own), at: b)
        var stolen = made.draft(movingTo: own)
        stolen.user = "node/\(own)"
        try record(stolen, at: b)
        try meet(a, b)
        for node in [a, b] {
            let found = try records(node)
            #expect(found.all["bot"] == made && found.all["forged"] == nil)
            #expect(found.placed(made) == nil && found.parked(made.id).isEmpty)
            #expect(found.isHome(own, of: made.id) && !found.isHome(other, of: made.id))
        }

        // It becomes the home: from then on its word counts, also what it said before.
        try record(made.draft(movingTo: other), at: b)
        try meet(a, b)
        for node in [a, b] {
            let found = try records(node)
            #expect(found.all["bot"] == nil, "its word ends the subscription")
            #expect(found.isHome(own, of: made.id) && found.isHome(other, of: made.id))
            #expect(found.placed(made) == done)
        }
        a.stop()
        b.stop()
    }

    @Test(
        "Of two subscriptions with one name the one that was made first stands, at every node; of two moves the later"
    )
    func names() throws {
        let (a, b) = try pair()
        try record(
            SubscriptionRecord.draft("bot", SubscriptionDefinition(start: .first), at: a.store.identity.node), at: a)
        // Two clocks within one millisecond leave it to the origins' ids.
        usleep(5_000)
        try record(
            SubscriptionRecord.draft("bot", SubscriptionDefinition(start: .now), at: b.store.identity.node), at: b)
        try meet(a, b)
        let (one, other) = (try #require(try records(a).all["bot"]), try #require(try records(b).all["bot"]))
        #expect(one == other && one.definition.start == .first)
        try record(one.draft(movingTo: a.store.identity.node), at: a)
        try record(one.draft(movingTo: b.store.identity.node), at: b)
        try meet(a, b)
        let moved = try #require(try records(a).all["bot"])
        #expect(try moved == records(b).all["bot"] && moved.term == 1)
        a.stop()
        b.stop()
    }

    @Test("A peer that has paused the exchange is silent, however often it is called: another home may take over")
    func paused() throws {
        let (a, b) = try pair()
        try meet(a, b)
        func silence() -> UInt64? { b.node.status().peers.first?.silentFor }
        #expect(silence() != nil)
        var peer = b.peer(calling: false)
        peer.isPaused = true
        a.node.setPeers([peer])
        // It calls again after growing pauses, the first of them within two seconds.
        usleep(6_000_000)
        #expect(silence() ?? 0 >= 5_000, "\(silence() ?? 0)")
        a.stop()
        b.stop()
    }

    @Test("What a node tells reaches its peers when it is told and when they connect, each value once, the latest")
    func shared() throws {
        let a = try TestNode("a")
        let (key, signer) = (UUIDBits(high: 1, low: 2), a.store.key)
        func value(_ number: UInt64) -> SharedState {
            SharedState(
                key: key, node: a.store.identity.node, number: number, value: Array("값 \(number)".utf8),
                signing: signer)
        }
        for number in 1...3 { a.node.share([value(UInt64(number))]) }
        a.node.share([value(2)])
        let b = try TestNode("b", peers: [a.peer()])
        let heard = Lock<[SharedState]>([])
        b.node.observeShared(about: .subscriptions) { value in heard.withLock { $0.append(value) } }
        a.node.setPeers([b.peer(calling: false)])
        #expect(eventually { heard.withLock { $0.map(\.number) } == [3] })
        a.node.share([value(9)])
        #expect(eventually { heard.withLock { $0.map(\.number) } == [3, 9] })
        let last = try #require(heard.withLock { $0.last })
        #expect(last.isValid(for: signer.publicKey) && !last.isValid(for: b.store.key.publicKey))
        let forged = SharedState(
            key: last.key, node: last.node, number: last.number + 1, value: last.value, signature: last.signature)
        #expect(!forged.isValid(for: signer.publicKey))
        a.stop()
        b.stop()
    }

    @Test("What a peer tells before anything here hears of it is kept; a node's own word comes back to it (INV-14)")
    func toldEarly() throws {
        let (a, b) = (try TestNode("a"), try TestNode("b"))
        func value(_ number: UInt64, of node: TestNode, _ key: UUIDBits = UUIDBits(high: 1, low: 2)) -> SharedState {
            SharedState(
                key: key, node: node.store.identity.node, number: number, value: [], signing: node.store.key)
        }
        a.node.share([value(1, of: a), value(7, of: b), value(3, of: a, CosignatureList.key)])
        a.node.setPeers([b.peer(calling: false)])
        b.node.setPeers([a.peer()])
        // What was told first is here when this is.
        try a.append(1)
        try meet(a, b)
        a.node.share([value(2, of: a)])
        try a.append(1)
        try meet(a, b)
        /// What comes until it is so much; states follow events when they may.
        func heard(_ topic: SharedState.Topic, _ count: Int) -> [SharedState] {
            var all: [SharedState] = []
            let end = ContinuousClock.now + .seconds(10)
            repeat { all += heard(topic) } while all.count < count && ContinuousClock.now < end
            return all
        }
        func heard(_ topic: SharedState.Topic) -> [SharedState] {
            let heard = Lock<[SharedState]>([])
            b.node.observeShared(about: topic) { value in heard.withLock { $0.append(value) } }
            // It answers behind that.
            _ = b.node.status()
            b.node.observeShared(about: topic, nil)
            return heard.withLock { $0 }
        }
        #expect(Set(heard(.subscriptions, 2)) == [value(2, of: a), value(7, of: b)])
        #expect(heard(.cosignatures, 1) == [value(3, of: a, CosignatureList.key)])
        #expect(heard(.subscriptions).isEmpty, "once")

        // It has begun to tell anew, with a later number, before it hears what it told earlier.
        b.node.share([value(9, of: b)])
        a.node.share([value(8, of: b)])
        try a.append(1)
        try meet(a, b)
        #expect(heard(.subscriptions, 1) == [value(8, of: b)])
        a.stop()
        b.stop()
    }

    @Test(
        "Pages taken in turn from nodes whose logs have other orders bring their reader on, and none is missed (INV-5)"
    )
    func inTurn() throws {
        // Neither knows of the other, so each log has its own events first.
        let (a, b) = (try TestNode("a"), try TestNode("b"))
        for node in [a, b] { try node.append(60) }
        a.node.setPeers([b.peer()])
        b.node.setPeers([a.peer(calling: false)])
        try meet(a, b)
        var random = SplitMix64(state: 7)
        for _ in 0..<20 {
            for node in [a, b] where random.next() % 2 == 0 { try node.append(Int(random.next() % 4) + 1) }
        }
        try meet(a, b)
        let logs = [try LogReader(a.store.files), try LogReader(b.store.files)]
        let top = try logs[0].top()
        var filter = EventFilter()
        filter.types = ["*", "message.*", "origin.*"]
        /// What comes, page by page. With the cursor of the last event, it is a stream that breaks off after so many events.
        func read(limit: Int, ofEvents: Bool, from pick: (Int) -> Int) throws -> [Dot] {
            var (start, got) = (FeedStart.first, [Dot]())
            for page in 0..<3_000 {
                let log = logs[pick(page)]
                var place = try log.place(of: start, durable: top).get()
                let batch = try log.batch(after: place, through: top, filter, limit: limit)
                got += batch.events.map(\.event.header.dot)
                place.position = batch.through
                if place.position == top { return got }
                var cursor = try log.cursor(of: place)
                if ofEvents, let last = batch.events.last {
                    let (at, dot) = (try log.place(at: last.position), last.event.header.dot)
                    cursor = FeedCursor(place: at, dot: dot, marks: place.marks)
                }
                #expect(FeedCursor(text: cursor.text) == cursor)
                start = .cursor(cursor)
            }
            Issue.record("it goes round in a circle: \(got.count) events of \(top)")
            return got
        }
        let all = Set(try read(limit: .max, ofEvents: false) { _ in 0 })
        #expect(all.count == Int(top))
        for limit in [1, 2, 7, 25, 50] {
            for ofEvents in [false, true] {
                let got = try read(limit: limit, ofEvents: ofEvents) { $0 % 2 }
                #expect(Set(got) == all, "pages of \(limit): something is missing")
                #expect(got.count <= 2 * all.count, "pages of \(limit): \(got.count) events")
                var random = SplitMix64(state: UInt64(limit))
                let chance = try read(limit: limit, ofEvents: ofEvents) { _ in Int(random.next() % 2) }
                #expect(Set(chance) == all, "pages of \(limit): something is missing")
            }
            // At one node all is exact, and its cursors stay short.
            #expect(try read(limit: limit, ofEvents: false) { _ in 1 }.count == all.count)
        }
        a.stop()
        b.stop()
    }

    @Test(
        "At another node a cursor goes on with all that its follower may lack, and a vector with exactly that (INV-5)"
    )
    func places() throws {
        let (a, b) = try pair()
        var random = SplitMix64(state: 3)
        for _ in 0..<30 {
            for node in [a, b] where random.next() % 2 == 0 { try node.append(Int(random.next() % 5) + 1) }
            if random.next() % 3 == 0 { try meet(a, b) }
        }
        try meet(a, b)
        let (one, other) = (try LogReader(a.store.files), try LogReader(b.store.files))
        let top = try one.top()
        var filter = EventFilter()
        filter.types = ["*", "message.*", "origin.*"]
        func rest(_ log: LogReader, _ start: FeedStart) throws -> [Dot] {
            var place = try log.place(of: start, durable: log.top()).get()
            var dots: [Dot] = []
            while place.position < (try log.top()) {
                let batch = try log.batch(after: place, through: try log.top(), filter)
                dots += batch.events.map(\.event.header.dot)
                place.position = batch.through
            }
            return dots
        }
        let all = Set(try rest(one, .first))
        var had: Set<Dot> = []
        for position in 0...top {
            if position > 0 { had.insert(try #require(try one.event(at: position)).event.header.dot) }
            let cursor = try one.cursor(at: position)
            #expect(FeedCursor(text: cursor.text) == cursor)
            #expect(Set(try rest(one, .cursor(cursor))) == all.subtracting(had))
            let there = Set(try rest(other, .cursor(cursor)))
            #expect(there.union(had) == all, "at \(position) something is missing")
            #expect(try Set(rest(other, .vector(VersionVector(Array(had))))) == all.subtracting(had))
        }
        // What a cursor names beside its event is held to the same.
        let mark = FeedCursor.Mark(dot: Dot(origin: b.store.identity.origin, seq: 1), leaf: 7)
        let start = LogPlace(incarnation: 1, position: 0, leaf: nil)
        let marked = FeedCursor(place: start, dot: nil, marks: [mark])
        #expect(FeedCursor(text: marked.text) == marked)
        #expect(try other.place(of: .cursor(marked), durable: top) == .failure(.elsewhere(mark.dot)))
        // An event that is not here yet, and another in its place.
        let dot = Dot(origin: a.store.identity.origin, seq: 9_999)
        let ahead = FeedCursor(place: LogPlace(incarnation: 1, position: 7, leaf: 7), dot: dot)
        #expect(try other.place(of: .cursor(ahead), durable: top) == .failure(.ahead(dot)))
        let known = try #require(try one.event(at: 2)).event.header.dot
        let forked = FeedCursor(place: LogPlace(incarnation: 1, position: 2, leaf: 7), dot: known)
        #expect(try other.place(of: .cursor(forked), durable: top) == .failure(.elsewhere(known)))
        a.stop()
        b.stop()
    }
}

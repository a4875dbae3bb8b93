import Foundation
import TestSupport
import Testing
import WireKit

@testable import EventStore
@testable import SyncEngine

/// An event that came without its payload, which nothing has erased, gets it from a peer that has it whole (INV-4, INV-12).
@Suite(.serialized)
struct HealingTests {
    /// Five events, of which `store` gets the third without its payload.
    private func lost(in store: EventStore) throws -> (origin: ForeignOrigin, dot: Dot) {
        var origin = ForeignOrigin()
        for _ in 2...5 { origin.append(origin.header()) }
        try store.ingest(batch(origin))
        return (origin, Dot(origin: origin.id, seq: 3))
    }

    private func batch(_ origin: ForeignOrigin) -> EventBatch {
        var batch = origin.batch()
        let digest = SHA256().payloadDigest(batch.events[2].body)
        batch.events[2] = EncodedEvent(header: batch.events[2].header, body: .erased(payloadDigest: digest))
        return batch
    }

    private func body(_ dot: Dot, _ store: EventStore) throws -> EventBody? {
        try LogReader(store.files).event(dot)?.event.body
    }

    private func heal(_ store: EventStore, _ payloads: [CarriedPayload]) throws -> [Dot] {
        try blocking { store.heal(payloads, completion: $0) }
    }

    @Test("Of two nodes the one that has it whole gives it to the other, whose views are made anew")
    func nodes() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path)
        let (origin, dot) = try lost(in: store)
        store.close()
        // It looks when it starts.
        let (a, b) = (try TestNode("a", folder: folder.path), try TestNode("b"))
        try origin.send(to: b.store)
        let views = ProjectorThread(a.store.files, top: 6)
        let token = views.observe(a.store)
        #expect(views.wait(for: 6, milliseconds: 60_000))
        let before = try LogReader(a.store.files).viewMark()
        let reader = try ViewReader(a.store.files)
        b.node.setPeers([a.peer(calling: false)])
        a.node.setPeers([b.peer()])
        #expect(try eventually { try body(dot, a.store) == origin.events[2].body })
        #expect(try LogReader(a.store.files).viewMark() != before)
        let top = try LogReader(a.store.files).top()
        #expect(views.wait(for: top, milliseconds: 60_000))
        // Who had opened the views finds those of the log as it is now, and so does who opens them.
        #expect(eventually { (try? ViewReader(a.store.files).progress()) ?? 0 >= 6 })
        #expect(try reader.progress() >= 6)
        a.store.removeObserver(token)
        views.stop()
        a.stop()
        b.stop()
        for node in [a, b] { #expect(try Verifier(StoreFiles(node.folder)).run().isIntact) }
    }

    @Test("Only the bytes that were hashed are taken, for an event that lacks them (INV-4)")
    func wrongBytes() throws {
        let node = try TestNode("a")
        defer { node.stop() }
        let (origin, dot) = try lost(in: node.store)
        guard case .present(let salt, let payload) = origin.events[2].body else { throw Unexpected() }
        let right = CarriedPayload(dot: dot, salt: salt, payload: payload)
        let wrong = [
            CarriedPayload(dot: dot, salt: salt, payload: payload + [0x20]),
            CarriedPayload(dot: dot, salt: UUIDBits(high: 0, low: 0), payload: payload),
            CarriedPayload(dot: Dot(origin: origin.id, seq: 4), salt: salt, payload: payload),
            CarriedPayload(dot: Dot(origin: origin.id, seq: 9), salt: salt, payload: payload),
            CarriedPayload(dot: Dot(origin: .random(), seq: 3), salt: salt, payload: payload),
        ]
        let mark = try LogReader(node.store.files).viewMark()
        #expect(try heal(node.store, wrong) == [])
        #expect(try LogReader(node.store.files).viewMark() == mark)
        if case .erased? = try body(dot, node.store) {} else { Issue.record("taken") }
        #expect(try heal(node.store, wrong + [right]) == [dot])
        #expect(try body(dot, node.store) == origin.events[2].body)
        #expect(try heal(node.store, [right]) == [])
    }

    @Test("A peer is asked for what it sent without payload; wrong bytes and what nobody asked for do not go in")
    func lyingPeer() throws {
        let scene = try HostilePeerTests.Scene()
        defer { scene.stop() }
        var origin = ForeignOrigin(key: scene.mallory)
        for _ in 2...5 { origin.append(origin.header()) }
        let dot = Dot(origin: origin.id, seq: 3)
        guard case .present(let salt, let payload) = origin.events[2].body else { throw Unexpected() }
        let right = CarriedPayload(dot: dot, salt: salt, payload: payload)

        var client = try scene.client()
        client.send(.hello(client.hello(features: [.standings, .payloads])))
        client.send(.stateDelta(StateDelta(entries: [], isWhole: true, since: 0, through: 9)))
        client.send(.events(batch(origin)))
        #expect(try question(client) == PayloadAsk(dots: [dot]))
        client.send(
            .payloadTold(PayloadTold(payloads: [CarriedPayload(dot: dot, salt: salt, payload: [0x7b, 0x7d])])))
        client.send(.payloadTold(PayloadTold(payloads: [right])))
        #expect(try client.farewell()?.knownCode == .badFrame)
        if case .erased? = try body(dot, scene.a.store) {} else { Issue.record("taken") }

        client = try scene.client()
        client.send(.hello(client.hello(features: [.standings, .sources, .payloads])))
        let standing = StateEntry(.new(origin.id), seq: 5, root: origin.progress.rootPrefix)
        client.send(.stateDelta(StateDelta(entries: [standing], isWhole: true, since: 0, through: 9)))
        #expect(try question(client) == PayloadAsk(dots: [dot]))
        client.send(.payloadTold(PayloadTold(payloads: [right])))
        #expect(try eventually { try body(dot, scene.a.store) == origin.events[2].body })
    }

    @Test("A question is answered with what is here whole, as far as the frame goes, and one at a time")
    func answers() throws {
        let scene = try HostilePeerTests.Scene()
        defer { scene.stop() }
        let own = scene.a.store.identity.origin
        try scene.a.append(64, String(repeating: "가", count: 10_000))
        let (origin, lost) = try lost(in: scene.a.store)
        let size = try scene.a.vector()[own]
        let dots = (0..<62).map { Dot(origin: own, seq: size - $0) } + [lost, Dot(origin: origin.id, seq: 2)]
        let client = try scene.client()
        client.send(.hello(client.hello(features: [.standings, .sources, .payloads])))
        client.send(.stateDelta(StateDelta(entries: [], isWhole: true, since: 0, through: 9)))
        client.send(
            .payloadAsk(
                PayloadAsk(dots: [Dot(origin: origin.id, seq: 2), lost, Dot(origin: own, seq: Limits.number)])))
        let few = try #require(try answer(client))
        #expect(few.payloads.map(\.dot) == [Dot(origin: origin.id, seq: 2)])
        client.send(.credit(1 << 20))
        client.send(.payloadAsk(PayloadAsk(dots: dots)))
        let many = try #require(try answer(client))
        // 30 KB each: a frame of 1 MiB has no room for all.
        #expect(many.payloads.count > 20 && many.payloads.count < 40)
        #expect(many.payloads.map(\.dot) == Array(dots.prefix(many.payloads.count)))
        for carried in many.payloads {
            let body = EventBody.present(salt: carried.salt, payload: carried.payload)
            #expect(try self.body(carried.dot, scene.a.store) == body)
        }
    }

    @Test("Two questions at once, and one for too many events, are refused")
    func tooMuch() throws {
        let scene = try HostilePeerTests.Scene()
        defer { scene.stop() }
        let own = scene.a.store.identity.origin
        let ask = PayloadAsk(dots: [Dot(origin: own, seq: 2)])
        var client = try scene.client()
        client.send(.hello(client.hello(features: [.standings, .sources, .payloads])))
        client.send(.stateDelta(StateDelta(entries: [], isWhole: true, since: 0, through: 9)))
        var frames: [UInt8] = []
        for _ in 0..<50 { frames += Message.payloadAsk(ask).frame(compress: false).bytes }
        client.write(frames)
        #expect(try client.farewell()?.knownCode == .rateLimited)

        client = try scene.client()
        client.send(.hello(client.hello(features: [.standings, .sources, .payloads])))
        client.send(.stateDelta(StateDelta(entries: [], isWhole: true, since: 0, through: 9)))
        client.send(.payloadAsk(PayloadAsk(dots: (1...65).map { Dot(origin: own, seq: $0) })))
        #expect(try client.farewell()?.knownCode == .badFrame)
    }

    private func question(_ client: HostileClient) throws -> PayloadAsk? {
        while let message = try client.receive() {
            if case .payloadAsk(let ask) = message { return ask }
        }
        return nil
    }

    private func answer(_ client: HostileClient) throws -> PayloadTold? {
        while let message = try client.receive() {
            if case .payloadTold(let told) = message { return told }
        }
        return nil
    }
}

extension EventStore {
    fileprivate func ingest(_ batch: EventBatch) throws {
        let verified = try makeVerifierBlocking().verify(batch.events, batch.coverage)
        try blocking { ingest(verified, completion: $0) }
    }
}

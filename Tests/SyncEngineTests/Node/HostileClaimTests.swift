import Foundation
import Testing
import WireKit

@testable import EventStore
@testable import SyncEngine

/// What a peer says of a node's own origin, of numbers and of origins that no node has, and what that costs.
@Suite(.serialized)
struct HostileClaimTests {
    private typealias Scene = HostilePeerTests.Scene

    /// A connection of mallory's on which `entries` are stated.
    private func claim(_ scene: Scene, _ entries: [StateEntry]) throws -> HostileClient {
        let client = try scene.client()
        client.send(.hello(client.hello(features: [.standings, .heads])))
        client.send(.stateDelta(StateDelta(entries: entries, isWhole: true, since: 0, through: 9)))
        return client
    }

    /// Reads until it is asked for a head.
    private func question(_ client: HostileClient) throws -> HeadAsk? {
        while let message = try client.receive() {
            if case .headAsk(let ask) = message { return ask }
        }
        return nil
    }

    private func notices(_ node: TestNode) -> [NodeNotice.Code] { node.node.status().notices.map(\.code) }

    @Test(
        "A peer that claims more of a node's own origin costs none, is named, counts for nothing and is paused (D12)")
    func lies() throws {
        let scene = try Scene()
        let (a, origin) = (scene.a, scene.a.store.identity.origin)
        func waits(_ nodes: Int) -> Holders? {
            let found = Monitor<Holders?>(nil)
            let vector = VersionVector([Dot(origin: origin, seq: 1)])
            _ = a.node.wait(for: vector, nodes: nodes, timeout: .milliseconds(50)) { holders in
                found.update { found in
                    found = holders
                    return true
                }
            }
            return found.wait(milliseconds: 5_000) { $0 }
        }
        let forged = SignedHead(
            signing: TreeHead(
                origin: origin, size: 1_000_000, root: SHA256().digest([1]), hlc: HybridTime(rawValue: 1)),
            with: scene.mallory)
        for (count, head) in [nil, forged, nil].enumerated() {
            let client = try claim(scene, [StateEntry(.new(origin), seq: Limits.number, root: 1)])
            let asked = try #require(try question(client))
            let next = try a.vector()[origin] + 1
            #expect(asked == HeadAsk(origin: origin, size: next))
            // Not even before it has answered.
            #expect(waits(3) == Holders(nodes: ["a", "b"], isReached: false))
            client.send(.headTold(HeadTold(origin: origin, head: head)))
            let times = "(\(count + 1) times)"
            #expect(eventually { a.node.status().notices.contains { $0.text.contains(times) } }, "\(times)")
            #expect(waits(3) == Holders(nodes: ["a", "b"], isReached: false))
            if count == 2 { #expect(try client.farewell()?.knownCode == .paused) }
            try scene.converge()
        }
        #expect(notices(a) == [.unprovenClaim])
        #expect(a.node.status().peers.first { $0.peer.name == "mallory" }?.phase == .paused)
        #expect(try scene.client().farewell()?.knownCode == .paused)
        #expect(a.store.identity.origin == origin)
        #expect(try a.vector().entries.count == 2)
        // An operator may go on with it.
        a.node.resume(scene.mallory.publicKey.nodeID)
        #expect(notices(a).isEmpty)
        let again = try claim(scene, [])
        #expect(eventually { a.node.status().peers.first { $0.peer.name == "mallory" }?.phase == .connected })
        withExtendedLifetime(again) { scene.stop() }
        #expect(try Verifier(a.store.files).run().findings.isEmpty)
    }

    @Test(
        "Lost memory is known by a head that the node's own key has signed, whatever others have claimed before (D12)"
    )
    func lostMemory() throws {
        let scene = try Scene()
        let (a, origin) = (scene.a, scene.a.store.identity.origin)
        for count in 1...3 {
            let client = try claim(scene, [StateEntry(.new(origin), seq: Limits.number, root: 1)])
            _ = try question(client)
            client.send(.headTold(HeadTold(origin: origin, head: nil)))
            #expect(eventually { a.node.status().notices.contains { $0.text.contains("(\(count) times)") } })
        }
        #expect(a.store.identity.origin == origin)
        // Another peer has what this node's key has signed and its log does not hold.
        let honest = SigningKey.generate()
        a.node.setPeers([
            scene.b.peer(calling: false), Peer(name: "mallory", node: scene.mallory.publicKey.nodeID, address: nil),
            Peer(name: "honest", node: honest.publicKey.nodeID, address: nil),
        ])
        let client = try HostileClient(port: a.node.status().listeningPort, key: honest)
        client.send(.hello(client.hello(features: [.standings, .heads])))
        let entry = StateEntry(.new(origin), seq: 5_000, root: 1)
        client.send(.stateDelta(StateDelta(entries: [entry], isWhole: true, since: 0, through: 9)))
        _ = try #require(try question(client))
        let head = TreeHead(origin: origin, size: 4_900, root: SHA256().digest([1]), hlc: HybridTime(rawValue: 1))
        client.send(.headTold(HeadTold(origin: origin, head: SignedHead(signing: head, with: a.store.key))))
        #expect(eventually { a.store.identity.origin != origin })
        #expect(eventually { notices(a).contains(.amnesia) })
        #expect(a.node.status().notices.contains { $0.text.contains("of at least 4900 events") })
        withExtendedLifetime(client) { scene.stop() }
    }

    @Test("Numbers beyond their bounds end a session and nothing else; status is answered all the while (D22, INV-3)")
    func numbers() throws {
        let scene = try Scene()
        for clock in [Int64.min, .max, .min + 1] {
            let client = try scene.client()
            var hello = client.hello()
            hello.clock = clock
            client.send(.hello(hello))
            #expect(try client.farewell()?.knownCode == .badFrame)
            scene.a.node.checkClock()
        }
        for seq: UInt64 in [.max, 1 << 63, (1 << 63) - 1, 1 << 44] {
            let client = try claim(scene, (0..<5).map { _ in StateEntry(.new(.random()), seq: seq, root: 1) })
            #expect(try client.farewell()?.knownCode == .badFrame)
            _ = scene.a.node.status()
        }
        // As much as may be stated.
        let most = try claim(scene, (0..<5).map { _ in StateEntry(.new(.random()), seq: Limits.number, root: 1) })
        #expect(eventually { scene.a.node.status().peers.contains { $0.owes == 5 * Limits.number } })
        withExtendedLifetime(most) {}
        // A head of more events than any log can have, signed as it should be.
        for size: UInt64 in [.max, 1 << 63, (1 << 63) + 1, 1 << 44] {
            let origin = ForeignOrigin(key: scene.mallory)
            let head = TreeHead(
                origin: origin.id, size: size, root: SHA256().digest([2]), hlc: HybridTime(rawValue: 1))
            let client = try scene.client()
            try client.open()
            client.send(
                .events(
                    EventBatch(
                        events: origin.events,
                        coverage: [
                            Coverage(
                                head: SignedHead(signing: head, with: scene.mallory),
                                proof: (0..<64).map { SHA256().digest([$0]) })
                        ])))
            #expect(try client.farewell()?.knownCode == .badFrame)
        }
        try scene.converge()
        #expect(try scene.a.vector().entries.count == 2)
        scene.stop()
        for node in [scene.a, scene.b] { #expect(try Verifier(node.store.files).run().findings.isEmpty) }
    }

    @Test("Proofs of forks sent without end are checked one by one, take little memory, and end the session (INV-9)")
    func forkFlood() throws {
        let scene = try Scene()
        let origin = scene.b.store.identity.origin
        let head = TreeHead(origin: origin, size: 1, root: SHA256().digest([1]), hlc: HybridTime(rawValue: 1))
        let branch = ForkBranch(
            head: SignedHead(signing: head, with: scene.mallory), header: [UInt8](repeating: 7, count: 59 << 10),
            payloadDigest: SHA256().digest([2]), proof: [])
        let frame = Message.fork(Fork(origin: origin, seq: 1, branches: [branch, branch])).frame(compress: false)
        let flood = (0..<20).flatMap { _ in
            Frame(type: frame.type, flags: Frame.compressed, body: Compression.compressAlways(padded(frame.body)))
                .bytes
        }
        let before = residentBytes()
        let client = try scene.client()
        try client.open()
        var most = 0
        for _ in 0..<1_000 where client.write(flood) { most = max(most, residentBytes()) }
        #expect(eventually { scene.error?.contains("RATE_LIMITED") == true }, "\(scene.error ?? "no error")")
        try scene.converge()
        print("a flood of proofs: \((most - before) >> 10) KiB more")
        #expect(most - before < 64 << 20, "\(most - before) bytes more")
        scene.stop()
    }

    @Test("A peer that claims too much and goes counts for nothing either, as long as it says nothing else (INV-7)")
    func goneAfterClaim() throws {
        let scene = try Scene()
        let (a, origin) = (scene.a, scene.a.store.identity.origin)
        var client: HostileClient? = try claim(
            scene, [StateEntry(.new(origin), seq: Limits.number, root: 1)])
        _ = try question(try #require(client))
        client = nil
        #expect(
            eventually {
                if case .disconnected = a.node.status().peers.first(where: { $0.peer.name == "mallory" })?.phase {
                    return true
                }
                return false
            })
        let found = Monitor<Holders?>(nil)
        let vector = VersionVector([Dot(origin: origin, seq: 1)])
        _ = a.node.wait(for: vector, nodes: 3, timeout: .milliseconds(50)) { holders in
            found.update { found in
                found = holders
                return true
            }
        }
        #expect(found.wait(milliseconds: 5_000) { $0 } == Holders(nodes: ["a", "b"], isReached: false))
        scene.stop()
    }

    @Test("A peer that could not show what it claimed counts for nothing, whatever it says afterwards (INV-7, D12)")
    func honestAfterClaim() throws {
        let scene = try Scene()
        let (a, origin) = (scene.a, scene.a.store.identity.origin)
        var client = try claim(scene, [StateEntry(.new(origin), seq: Limits.number, root: 1)])
        _ = try #require(try question(client))
        client.send(.headTold(HeadTold(origin: origin, head: nil)))
        #expect(eventually { notices(a).contains(.unprovenClaim) })
        // Now it says what is true.
        let own = try #require(try a.store.progressBlocking().first { $0.origin == origin })
        client = try claim(scene, [StateEntry(.new(origin), seq: own.seq, root: own.rootPrefix)])
        let vector = VersionVector([Dot(origin: origin, seq: own.seq)])
        #expect(
            eventually {
                a.node.standings().peers.allSatisfy { $0.durable?.covers(vector) == true }
            })
        let found = Monitor<Holders?>(nil)
        _ = a.node.wait(for: vector, nodes: 3, timeout: .milliseconds(50)) { holders in
            found.update { found in
                found = holders
                return true
            }
        }
        #expect(found.wait(milliseconds: 5_000) { $0 } == Holders(nodes: ["a", "b"], isReached: false))
        scene.stop()
    }

    /// Bytes that do not shrink to less than a 64th, in a field that no release knows.
    private func padded(_ body: [UInt8]) -> [UInt8] {
        var writer = ProtobufWriter()
        writer.bytes = body
        writer.presentData(1_000, randomBytes(2_500))
        return writer.bytes
    }

    @Test(
        "400,000 origins that nobody has, and four who wait: strangers are answered, and the node stops at once (INV-9)"
    )
    func manyOrigins() throws {
        let scene = try Scene()
        let port = scene.a.node.status().listeningPort
        let vector = VersionVector([Dot(origin: scene.a.store.identity.origin, seq: 1 << 40)])
        for _ in 0..<4 { _ = scene.a.node.wait(for: vector, nodes: 2, timeout: .seconds(60)) { _ in } }
        let client = try scene.client()
        client.send(.hello(client.hello(features: [.standings, .sources, .heads])))
        let parts = 16
        for part in 0..<parts {
            let entries = (0..<WireLimits.origins / parts).map { _ in
                StateEntry(.new(.random()), seq: 1_000, root: 1)
            }
            client.send(
                .stateDelta(
                    StateDelta(
                        entries: entries, isWhole: true, since: 0, through: 9, hasMore: part < parts - 1)))
        }
        #expect(
            eventually(seconds: 60) {
                scene.a.node.status().peers.contains { $0.account?.origins == WireLimits.origins }
            })
        #expect(
            eventually(seconds: 60) { scene.a.node.core.sync { $0.mesh.sources.count } ?? 0 > WireLimits.origins })
        /// Milliseconds until an unknown caller is told that it is unknown, while events are appended.
        func handshake() throws -> Int {
            try scene.a.append(1)
            let start = MonotonicClock.now
            let stranger = try HostileClient(port: port, key: .generate())
            #expect(try stranger.farewell()?.knownCode == .unknownPeer)
            return Int((MonotonicClock.now - start) / 1_000_000)
        }
        let with = try (0..<10).map { _ in try handshake() }.sorted()
        print("handshakes beside 400,000 origins: \(with) ms")
        #expect(with[5] < 250)
        let start = MonotonicClock.now
        scene.stop()
        let stop = (MonotonicClock.now - start) / 1_000_000
        print("stopped after \(stop) ms")
        #expect(stop < 5_000)
        withExtendedLifetime(client) {}
    }
}

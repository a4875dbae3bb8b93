import Testing

@testable import EventStore
@testable import SyncEngine

/// What a node decides beyond one connection, without any.
struct MeshDecisionTests {
    private static let key = SigningKey.generate()
    private static let own = OriginID(UUIDBits(high: 0, low: 9))

    /// A mesh with what it has told its shell to do.
    private struct Scene {
        var mesh: Mesh
        var now = Moment(monotonic: 1_000_000, wall: 1_800_000_000_000)
        var effects: [Mesh.Effect] = []

        init(_ peers: [Peer], node: NodeID) {
            let identity = StoreIdentity(
                node: node, name: "self", cluster: "default", origin: MeshDecisionTests.own, incarnation: 1)
            mesh = Mesh(
                SyncSession.Local(identity, software: "test"), key: MeshDecisionTests.key.publicKey, peers: peers,
                seed: 1)
        }

        /// What the mesh decides, but for the looks and timers that every beginning has.
        @discardableResult
        mutating func input(_ body: (inout Mesh, Moment, inout [Mesh.Effect]) -> Void) -> [Mesh.Effect] {
            effects = []
            body(&mesh, now, &effects)
            return effects
        }

        mutating func open() { input { $0.opened(LocalVector(), now: $1, effects: &$2) } }

        mutating func pass(_ milliseconds: UInt64) {
            now = Moment(monotonic: now.monotonic + milliseconds, wall: now.wall + Int64(milliseconds))
        }

        /// When a timer was armed last.
        func due(_ timer: Mesh.Timer) -> UInt64? {
            effects.compactMap { if case .arm(timer, let time) = $0 { time } else { nil } }.last
        }

        mutating func link(_ number: UInt64, to node: NodeID, isOutgoing: Bool, run: UInt64) {
            let link = LinkID(number)
            if isOutgoing {
                input { $0.callOpened(link, to: node, as: node, now: $1, effects: &$2) }
            } else {
                input { $0.dialled(link, by: node, from: "here", isInviting: false, now: $1, effects: &$2) }
            }
            let hello = Hello(cluster: "default", node: node, incarnation: 5, clock: 0, run: run)
            input { $0.greeted(link, of: node, hello, now: $1, effects: &$2) }
        }
    }

    private func node(_ byte: UInt8) throws -> NodeID {
        NodeID(try #require(Digest(bytes: [UInt8](repeating: byte, count: 32))))
    }

    private func scene(calling: Bool = true) throws -> (Scene, peer: NodeID) {
        let peer = try node(5)
        let scene = Scene([Peer(name: "p", node: peer, address: calling ? "host:1" : nil)], node: try node(3))
        return (scene, peer)
    }

    private func stops(_ effects: [Mesh.Effect]) -> [LinkID] {
        effects.compactMap { if case .stop(let link, _) = $0 { link } else { nil } }
    }

    @Test("A peer that is not reached is called again after pauses that grow, to a minute at most")
    func pauses() throws {
        var (scene, peer) = try scene()
        let target = try #require(HostPort("host:1"))
        scene.open()
        #expect(scene.effects.contains(.dial(peer, target)))
        var longest: UInt64 = 0
        for attempt in 0..<20 {
            scene.input { $0.callFailed(to: peer, "refused", now: $1, effects: &$2) }
            let wait = try #require(scene.due(.dial(peer))) - scene.now.monotonic
            #expect(wait <= min(500 << UInt64(min(attempt, 10)), 60_000))
            longest = max(longest, wait)
            scene.pass(wait - 1)
            #expect(scene.input { $0.timerFired(.dial(peer), now: $1, effects: &$2) } == [])
            scene.pass(1)
            #expect(scene.input { $0.timerFired(.dial(peer), now: $1, effects: &$2) } == [.dial(peer, target)])
        }
        #expect(longest > 20_000)
    }

    @Test("A call that was due while the peer was here does not stand in the way of the next (INV-12)")
    func overdue() throws {
        var (scene, peer) = try scene()
        scene.open()
        scene.input { $0.callFailed(to: peer, "refused", now: $1, effects: &$2) }
        scene.link(1, to: peer, isOutgoing: false, run: 4)
        scene.pass(60_000)
        #expect(scene.input { $0.timerFired(.dial(peer), now: $1, effects: &$2) } == [])
        scene.input { $0.ended(LinkID(1), of: peer, .linkLost(""), memory: nil, now: $1, effects: &$2) }
        #expect(scene.due(.dial(peer)) != nil)
    }

    @Test("Of two links to one process the one stays that the smaller node called, of the same direction the newer")
    func directions() throws {
        var (scene, peer) = try scene()
        scene.link(1, to: peer, isOutgoing: true, run: 4)
        scene.link(2, to: peer, isOutgoing: false, run: 4)
        #expect(stops(scene.effects) == [LinkID(2)])
        scene.input {
            $0.ended(LinkID(2), of: peer, .linkLost(""), memory: nil, now: $1, effects: &$2)
        }
        scene.link(3, to: peer, isOutgoing: true, run: 4)
        #expect(stops(scene.effects) == [LinkID(1)])
        // Its end is no news, and who waited is listened to.
        let told = scene.input {
            $0.ended(LinkID(1), of: peer, .linkLost(""), memory: nil, now: $1, effects: &$2)
        }
        #expect(told == [.tellAnew(LinkID(3))])
        #expect(scene.mesh.links == [LinkID(3)])
    }

    @Test("A node that began anew takes the place of its dead link; if the old process lives neither stays (D12)")
    func doubles() throws {
        var (scene, peer) = try scene(calling: false)
        scene.link(1, to: peer, isOutgoing: false, run: 4)
        scene.link(2, to: peer, isOutgoing: false, run: 6)
        #expect(scene.effects.contains(.probe(LinkID(1))))
        let asked = scene.now.monotonic
        scene.pass(1_500)
        var other = scene
        for var scene in [scene] {
            scene.input { $0.timerFired(.probe(peer), now: $1, effects: &$2) }
            #expect(scene.effects == [.lookAtProbe(peer, LinkID(1))])
            scene.input { $0.probed(peer, LinkID(1), lastHeard: asked - 1, now: $1, effects: &$2) }
            #expect(stops(scene.effects) == [LinkID(1)])
        }
        other.input { $0.probed(peer, LinkID(1), lastHeard: asked, now: $1, effects: &$2) }
        #expect(stops(other.effects) == [LinkID(2), LinkID(1)])
        #expect(other.mesh.notices.map(\.code) == [.duplicateNodeID])
        for link in [LinkID(2), LinkID(1)] {
            other.input { $0.ended(link, of: peer, .linkLost(""), memory: nil, now: $1, effects: &$2) }
        }
        for (wait, isRefused) in [(UInt64(59_999), true), (1, false)] {
            other.pass(wait)
            other.input { $0.dialled(LinkID(3), by: peer, from: "", isInviting: false, now: $1, effects: &$2) }
            #expect(other.mesh.links.isEmpty == isRefused)
        }
    }

    @Test("What this node has just committed is not lost, though a peer knows of it before its session does (D12)")
    func noAmnesia() throws {
        var (scene, peer) = try scene()
        scene.link(1, to: peer, isOutgoing: true, run: 4)
        let head = TreeHead(
            origin: Self.own, size: 5, root: SHA256().digest([]), hlc: HybridTime(rawValue: 1))
        let signed = SignedHead(signing: head, with: Self.key)
        let reports: [IdentityReport] = [
            .behind(Self.own, have: 3, known: 5), .claimed(Self.own, size: 5, signed),
        ]
        for report in reports {
            let known = scene.input {
                $0.learnt(report, from: LinkID(1), of: peer, ownSize: 5, now: $1, effects: &$2)
            }
            #expect(known == [])
            scene.input { $0.learnt(report, from: LinkID(1), of: peer, ownSize: 4, now: $1, effects: &$2) }
            #expect(scene.effects.contains(.startOrigin(insteadOf: Self.own, .behind, known: 5)))
        }
    }

    @Test("A fork that roots prove is told, and stays so; no peer is sent what names no event (INV-3, INV-12)")
    func roughProof() throws {
        var (scene, peer) = try scene()
        scene.link(1, to: peer, isOutgoing: true, run: 4)
        let origin = OriginID(UUIDBits(high: 7, low: 7))
        let branches = [UInt8(1), 2].map { number in
            let root = SHA256().digest([number])
            let head = TreeHead(origin: origin, size: 3, root: root, hlc: HybridTime(rawValue: 1))
            return ForkBranch(root: root, of: Coverage(head: SignedHead(signing: head, with: Self.key), proof: []))
        }
        let dot = Dot(origin: origin, seq: 3)
        let evidence = try #require(ForkEvidence(dot, branches[0], branches[1], key: Self.key.publicKey))
        for report in [IdentityReport.proven(evidence, isNew: true), .forked(origin, size: 3)] {
            scene.input { $0.learnt(report, from: LinkID(1), of: peer, ownSize: 5, now: $1, effects: &$2) }
            let notice = try #require(scene.mesh.notices.first)
            #expect(scene.mesh.notices.count == 1 && notice.code == .fork && notice.severity == .integrity)
            #expect(notice.matter == .once([evidence.name], since: .max))
            #expect(scene.mesh.local.forked.isEmpty)
        }
    }

    @Test("A peer that claims thrice what it cannot show is suspended until an operator resumes it")
    func suspension() throws {
        var (scene, peer) = try scene()
        scene.link(1, to: peer, isOutgoing: true, run: 4)
        for times in 1...3 {
            scene.input {
                $0.learnt(
                    .claimed(Self.own, size: 5, nil), from: LinkID(1), of: peer, ownSize: 4, now: $1, effects: &$2)
            }
            #expect((scene.due(.suspend(peer)) != nil) == (times == 3))
        }
        scene.input { $0.timerFired(.suspend(peer), now: $1, effects: &$2) }
        #expect(stops(scene.effects) == [LinkID(1)])
        scene.input { $0.ended(LinkID(1), of: peer, .linkLost(""), memory: nil, now: $1, effects: &$2) }
        #expect(scene.due(.dial(peer)) == nil)
        let back = scene.input { $0.dialled(LinkID(2), by: peer, from: "", isInviting: false, now: $1, effects: &$2) }
        #expect(back == [.refuse(LinkID(2), .paused, Mesh.suspension, retryAfter: 0)])
        scene.input { $0.resumed(peer, now: $1, effects: &$2) }
        #expect(scene.effects == [.dial(peer, try #require(HostPort("host:1")))])
        #expect(scene.mesh.notices.isEmpty)
    }

    @Test("A clock that jumps again and again starts eight origins an hour at most, lost memory as many as it takes")
    func manyOrigins() throws {
        var (scene, peer) = try scene()
        scene.link(1, to: peer, isOutgoing: true, run: 4)
        let stamp = HybridTime(milliseconds: scene.now.wall + HybridClock.bound + 1_000, counter: 0)
        var starts = 0
        for number in 0..<10 {
            let reading = ClockReading(wall: scene.now.wall, lastStamp: stamp, offsets: [0])
            scene.input { $0.clocksRead(reading, now: $1, effects: &$2) }
            let old = scene.mesh.local.origin
            guard scene.effects.contains(.startOrigin(insteadOf: old, .clock, known: 0)) else { continue }
            starts += 1
            let new = OriginID(UUIDBits(high: 1, low: UInt64(number)))
            scene.input { $0.originStarted(new, insteadOf: old, .clock, known: 0, now: $1, effects: &$2) }
            #expect(scene.effects.contains(.originChanged(LinkID(1), new)))
        }
        #expect(starts == 8)
        scene.input {
            $0.learnt(
                .behind($0.local.origin, have: 0, known: 1), from: LinkID(1), of: peer, ownSize: 0, now: $1,
                effects: &$2)
        }
        let origin = scene.mesh.local.origin
        #expect(scene.effects.contains(.startOrigin(insteadOf: origin, .behind, known: 1)))
    }

    @Test("Of 17 strangers that say nothing the first must go; after five seconds the others (INV-9, INV-13)")
    func strangers() throws {
        var (scene, _) = try scene()
        for number in 1...17 {
            let stranger = try node(UInt8(100 + number))
            scene.input {
                $0.dialled(
                    LinkID(UInt64(number)), by: stranger, from: "s\(number)", isInviting: true, now: $1, effects: &$2)
            }
            #expect(scene.effects.contains(.hear(LinkID(UInt64(number)))))
        }
        let isTold = scene.effects.contains {
            if case .refuse(LinkID(1), .busy, _, retryAfter: 1_000) = $0 { true } else { false }
        }
        #expect(isTold)
        #expect(scene.input { $0.callerSpoke(LinkID(1), nil, now: $1, effects: &$2) } == [])
        scene.input { $0.timerFired(.hearing(LinkID(2)), now: $1, effects: &$2) }
        let isRefused = scene.effects.contains {
            if case .refuse(LinkID(2), .unknownPeer, _, _) = $0 { true } else { false }
        }
        #expect(isRefused)
        #expect(scene.mesh.pending.count == 1)
    }

    @Test("A peer that is removed is no source any more, and is not called")
    func removal() throws {
        var (scene, peer) = try scene()
        scene.link(1, to: peer, isOutgoing: true, run: 4)
        let origin = OriginID(UUIDBits(high: 2, low: 2))
        var news = SessionNews()
        news.hasOpened = true
        news.announced = [Dot(origin: origin, seq: 3)]
        scene.input { $0.heard(news, from: LinkID(1), of: peer, own: nil, now: $1, effects: &$2) }
        #expect(scene.effects.contains(.want(LinkID(1), take: [origin], leave: [])))
        scene.input { $0.setPeers([], now: $1, effects: &$2) }
        #expect(stops(scene.effects) == [LinkID(1)] && scene.effects.contains(.hangUp(peer)))
        #expect(!scene.mesh.sources.isWaiting)
        scene.input { $0.ended(LinkID(1), of: peer, .linkLost(""), memory: nil, now: $1, effects: &$2) }
        #expect(scene.effects == [])
    }

    @Test("A host too busy for an invitation is asked again when it says, eight times; then the caller is told")
    func busyHost() throws {
        let host = try node(5)
        let peer = Peer(name: "p", node: host, address: "host:1", token: [1, 2])
        var scene = Scene([peer], node: try node(3))
        let target = try #require(HostPort("host:1"))
        scene.input { $0.joining(host, now: $1, effects: &$2) }
        for attempt in UInt64(1)...9 {
            #expect(scene.effects == [.dial(host, target)])
            let link = LinkID(attempt)
            scene.input { $0.callOpened(link, to: host, as: host, now: $1, effects: &$2) }
            #expect(scene.effects == [.knock(link, host, token: [1, 2])])
            scene.input { $0.turnedAway(by: host, Bye(.busy, retryAfter: 1_000), now: $1, effects: &$2) }
            let isTold = scene.effects.contains { if case .joined(host, .some) = $0 { true } else { false } }
            #expect(isTold == (attempt == 9))
            if isTold { break }
            #expect(scene.due(.dial(host)) == scene.now.monotonic + 1_000)
            scene.pass(1_000)
            scene.input { $0.timerFired(.dial(host), now: $1, effects: &$2) }
        }
    }

    @Test("Of its own origin a node takes nothing from a peer, whatever that says to have (INV-4)")
    func ownOrigin() throws {
        var (scene, peer) = try scene()
        scene.link(1, to: peer, isOutgoing: true, run: 4)
        let origin = OriginID(UUIDBits(high: 2, low: 2))
        var news = SessionNews()
        news.hasOpened = true
        news.announced = [Dot(origin: Self.own, seq: 9), Dot(origin: origin, seq: 3)]
        scene.input { $0.heard(news, from: LinkID(1), of: peer, own: Self.own, now: $1, effects: &$2) }
        #expect(scene.effects.contains(.want(LinkID(1), take: [origin], leave: [])))
        (news.hasOpened, news.hasRestated) = (false, true)
        scene.input { $0.heard(news, from: LinkID(1), of: peer, own: Self.own, now: $1, effects: &$2) }
        #expect(scene.mesh.sources.source(of: Self.own) == nil)
    }

    @Test("A waiter's timer that fires a moment early answers it all the same (INV-12)")
    func earlyTimer() throws {
        var (scene, _) = try scene()
        var id: UInt64?
        scene.input { id = $0.wait(for: VersionVector(), nodes: 2, timeout: 50, now: $1, effects: &$2) }
        let waiter = try #require(id)
        scene.pass(49)
        #expect(scene.input { $0.timerFired(.waiter(waiter), now: $1, effects: &$2) } == [.lookAtDurability])
        let answer = Mesh.Effect.answer(waiter: waiter, Holders(nodes: ["self"], isReached: false))
        #expect(scene.input { $0.durabilitySeen([:], now: $1, effects: &$2) } == [answer])
    }

    @Test("Who waits for more nodes than there are is answered when its time is over, with those there are (INV-7)")
    func waiting() throws {
        var (scene, _) = try scene()
        scene.open()
        var id: UInt64?
        scene.input { id = $0.wait(for: VersionVector(), nodes: 2, timeout: 50, now: $1, effects: &$2) }
        let waiter = try #require(id)
        #expect(scene.effects == [.lookAtDurability, .arm(.waiter(waiter), at: scene.now.monotonic + 50)])
        scene.pass(49)
        #expect(scene.input { $0.durabilitySeen([:], now: $1, effects: &$2) } == [])
        scene.pass(1)
        #expect(scene.input { $0.timerFired(.waiter(waiter), now: $1, effects: &$2) } == [.lookAtDurability])
        let answer = Mesh.Effect.answer(waiter: waiter, Holders(nodes: ["self"], isReached: false))
        #expect(scene.input { $0.durabilitySeen([:], now: $1, effects: &$2) } == [answer])
    }
}

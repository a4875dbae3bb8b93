import EventStore
import Testing

@testable import SyncEngine

/// Slow lines, backlogs, and peers that do not take what they are sent.
struct FlowTests {
    /// 50 kbit/s, 100 ms each way.
    private let slow: Double = 6_250
    private let relayed = VirtualNode.origin(777)
    private let other = VirtualNode.origin(888)

    /// Node 0 relays 100 MB of an origin that is not its own to node 1, which has `other` already.
    private func backlog(features: Features = VirtualNode.all) -> VirtualNetwork {
        let network = VirtualNetwork()
        network.addNode(features: features)
        network.addNode(features: features)
        network.append(0, 5, origin: other)
        network.append(1, 5)
        network.connect(0, 1, bandwidth: slow, latency: 100_000)
        #expect(network.run(until: { network.nodes[1].vector[other]?.seq == 5 && network.nodes[0].log.count == 10 }))
        network.append(0, 100_000, bytes: 1_000, origin: relayed)
        return network
    }

    @Test(
        "An hour at 50 kbit/s with 100 MB waiting: no reconnect, pings under 2 s, what is new arrives within 3 s",
        arguments: [VirtualNode.all, [.standings]])
    func hour(features: Features) {
        let network = backlog(features: features)
        let (a, b) = (network.nodes[0], network.nodes[1])
        var written: [(dot: Dot, at: UInt64, to: VirtualNode)] = []
        for second in stride(from: UInt64(5), to: 3_600, by: 7) {
            network.after(second * 1_000_000) { [unowned network] in
                network.append(0, 1, origin: other)
                written.append((Dot(origin: other, seq: a.vector[other]?.seq ?? 0), network.clock, b))
                network.append(1, 1)
                written.append(
                    (Dot(origin: b.local.origin, seq: b.vector[b.local.origin]?.seq ?? 0), network.clock, a))
            }
        }
        network.run(milliseconds: 3_600_000)
        #expect(a.closed.isEmpty && b.closed.isEmpty, "\(a.closed) \(b.closed)")

        let delays = written.dropLast(4).map { ($0.to.arrived[$0.dot] ?? .max) - $0.at }.sorted()
        #expect(delays.count > 1_000)
        #expect((delays.last ?? .max) <= 3_000_000, "\(delays.suffix(5)) µs")
        for node in 0...1 {
            let times = (network.roundTrips[node] ?? []).sorted()
            #expect(times.count > 300)
            #expect(
                times[times.count * 99 / 100] < 2_000, "node \(node): \(times.suffix(times.count / 50).prefix(9)) ms")
        }
        // The line was used, and little waited in front of it.
        let link = network.links[.init(from: 0, to: 1)]
        #expect(link?.total ?? 0 > 3_600 * 6_250 * 9 / 10, "\(link?.total ?? 0) bytes")
        #expect(link?.deepest ?? .max < 40_000)
        #expect((b.vector[relayed]?.seq ?? 0) > 15_000)
        // It would not be honest to let the new overtake the old of the same origin, or what it depends on.
        let next = b.vector[relayed]?.seq ?? 0
        network.append(0, 1, origin: relayed)
        network.append(0, 1)
        network.run(milliseconds: 5_000)
        #expect(b.arrived[Dot(origin: relayed, seq: 100_001)] == nil)
        #expect(b.arrived[Dot(origin: a.local.origin, seq: 1)] == nil)
        #expect((b.vector[relayed]?.seq ?? 0) > next)
    }

    @Test("On a fast line the limit is no hindrance: 100 MB in the time the line takes, also over 300 ms")
    func fast() {
        for latency in [200, 50_000, 150_000] as [UInt64] {
            let network = VirtualNetwork()
            let limits = WireLimits(window: 16 << 20)
            network.addNode(limits: limits)
            network.addNode(limits: limits)
            network.append(0, 20_000, bytes: 5_000)
            network.connect(0, 1, bandwidth: 12_500_000, latency: latency)
            let start = network.clock
            #expect(network.run(until: { network.nodes[1].log.count == 20_000 }, limit: 40_000))
            let seconds = Double(network.clock - start) / 1_000_000
            #expect(seconds < 20, "\(seconds) s at a latency of \(latency) µs")
        }
    }

    @Test("A peer that stores nothing costs a few kilobytes and is cut by name", arguments: [VirtualNode.all, []])
    func storesNothing(features: Features) {
        let network = VirtualNetwork()
        network.addNode(features: features)
        network.addNode(features: features)
        network.append(0, 10_000, bytes: 1_000)
        network.nodes[1].storeMicroseconds = 1 << 40
        network.connect(0, 1)
        let start = network.clock
        #expect(network.run(until: { network.nodes[0].closed[1] != nil }, limit: 120_000))
        #expect(network.clock - start < 100_000_000)
        #expect("\(network.nodes[0].closed[1].map(\.description) ?? "")".hasPrefix("SLOW_PEER"))
        #expect(network.nodes[0].bodiesSent < 40)
    }

    @Test(
        "A peer that nothing reaches, or from which nothing comes, is found out within 30 s",
        arguments: [[0, 1], [1, 0]])
    func halfOpen(direction: [Int]) {
        let network = VirtualNetwork()
        network.addNode()
        network.addNode()
        network.append(0, 10)
        network.connect(0, 1)
        network.run(milliseconds: 7_000)
        network.silence(direction[0], direction[1])
        let start = network.clock
        #expect(network.run(until: { network.nodes[direction[1]].closed[direction[0]] != nil }, limit: 31_000))
        #expect(network.clock - start <= 30_000_000)
        #expect(
            "\(network.nodes[direction[1]].closed[direction[0]].map(\.description) ?? "")".hasPrefix("IDLE_TIMEOUT"))
    }

    @Test("Events of a quarter of a megabyte on a slow line end no connection, and no larger one is waited for")
    func largeEvents() {
        let network = VirtualNetwork()
        network.addNode()
        network.addNode()
        network.connect(0, 1, bandwidth: slow, latency: 100_000)
        network.append(0, 10, bytes: 250_000)
        network.append(1, 10, bytes: 250_000)
        #expect(network.run(until: { network.nodes.allSatisfy { $0.log.count == 20 } }, limit: 500_000))
        #expect(network.nodes.allSatisfy { $0.closed.isEmpty }, "\(network.nodes.map(\.closed))")
    }

    @Test("The limit follows the line: up while frames pass quickly, down when they do not, never below the least")
    func limit() {
        var flight = CongestionWindow(window: 1 << 20)
        var now: UInt64 = 0
        while flight.limit < 1 << 20, now < 10_000 {
            var sent: UInt64 = 0
            while flight.hasRoom {
                flight.send(flight.frame, at: now)
                sent += UInt64(flight.frame)
            }
            now += 50
            flight.credit(sent, roundTrip: 20, at: now)
        }
        #expect(flight.limit == 1 << 20 && flight.bytes == 0 && now <= 1_000)
        // What is not needed does not grow.
        var idle = CongestionWindow(window: 1 << 20)
        for _ in 0..<100 {
            idle.send(100, at: now)
            now += 1
            idle.credit(100, roundTrip: 0, at: now)
        }
        #expect(idle.limit == CongestionWindow.first && idle.deadline == nil)
        for _ in 0..<20 {
            flight.send(4_096, at: now)
            #expect(flight.deadline == now + 60_000 + 4_096)
            now += 3_000
            flight.credit(4_096, roundTrip: 20, at: now)
        }
        #expect(flight.limit == CongestionWindow.least && flight.frame == CongestionWindow.least / 2)
        // Credit for what was never sent opens nothing.
        flight.credit(.max, roundTrip: 0, at: now)
        #expect(flight.bytes == 0)
        flight.send(10_000, at: now)
        #expect(flight.bytes == 10_000 && !flight.hasRoom)
        // A window below the least is taken as the least; the credit holds the sender back.
        #expect(CongestionWindow(window: 0).limit == CongestionWindow.least)
    }

    @Test("What is new goes ahead only if the peer has all it depends on, and an origin's events keep their order")
    func ahead() {
        let known = VersionVector([Dot(origin: relayed, seq: 3), Dot(origin: other, seq: 7)])
        var selection = OutgoingSelection(known: known, sound: known, kind: .ahead(nil))
        func answer(_ origin: OriginID, _ seq: UInt64, _ needs: [Dot] = []) -> OutgoingSelection.Answer {
            let dot = Dot(origin: origin, seq: seq)
            let answer = selection.answer(dot, dependencies: needs)
            if answer == .taken { selection.take(dot, needs) }
            return answer
        }
        #expect(answer(other, 7) == .passedOver)
        #expect(answer(other, 8) == .taken)
        #expect(answer(other, 9, [Dot(origin: relayed, seq: 4)]) == .passedOver)
        #expect(answer(other, 10) == .passedOver)
        #expect(answer(relayed, 5) == .passedOver)
        let new = VirtualNode.origin(999)
        #expect(answer(new, 1, [Dot(origin: other, seq: 8), Dot(origin: relayed, seq: 3)]) == .taken)
        #expect(answer(new, 2) == .taken)
        #expect(selection.isSound && selection.advanced.map(\.seq).sorted() == [2, 8])
    }
}

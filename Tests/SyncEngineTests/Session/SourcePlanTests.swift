import EventStore
import TestSupport
import Testing

@testable import SyncEngine

/// From whom a node takes the events of an origin (INV-12).
struct SourcePlanTests {
    private static let origin = OriginID(UUIDBits(high: 1, low: 1))
    private static let peers = [UInt8(1), 2].compactMap { byte in
        Digest(bytes: [UInt8](repeating: byte, count: 32)).map { NodeID($0) }
    }

    @Test("Who comes back with more is asked at once where the present source has no more than this node")
    func comesBack() {
        let (writer, other) = (Self.peers[0], Self.peers[1])
        var plan = SourcePlan()
        plan.opened(other, [Dot(origin: Self.origin, seq: 5)], own: nil, now: 0)
        plan.opened(writer, [Dot(origin: Self.origin, seq: 5)], own: Self.origin, now: 0)
        plan.advanced([Dot(origin: Self.origin, seq: 5)], now: 1)
        #expect(plan.source(of: Self.origin) == writer)
        // It is cut off, goes on alone, and comes back.
        plan.closed(writer, now: 10)
        #expect(plan.source(of: Self.origin) == other)
        plan.opened(writer, [Dot(origin: Self.origin, seq: 6)], own: Self.origin, now: 20)
        #expect(plan.source(of: Self.origin) == writer)
        _ = plan.takeChanges()
        // While the source has more, and may be giving it, no other takes its place.
        plan.announced(other, [Dot(origin: Self.origin, seq: 7)], now: 30)
        plan.opened(other, [Dot(origin: Self.origin, seq: 7)], own: nil, now: 40)
        #expect(plan.source(of: Self.origin) == writer && plan.takeChanges().isEmpty)
        // Nor does another that hears of news before the source has said them.
        plan.advanced([Dot(origin: Self.origin, seq: 7)], now: 50)
        plan.announced(other, [Dot(origin: Self.origin, seq: 8)], now: 60)
        #expect(plan.source(of: Self.origin) == writer && plan.takeChanges().isEmpty)
    }
}

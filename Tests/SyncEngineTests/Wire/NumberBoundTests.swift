import EventStore
import TestSupport
import Testing

@testable import SyncEngine

/// Numbers from peers have bounds, and nothing behind them overflows (docs/reference/sync.proto, NUMBERS; D22).
@Suite struct NumberBoundTests {
    private let origin = field(1, [UInt8](repeating: 1, count: 16))
    private static let bound: UInt64 = 17_592_186_044_415
    private static let beyond: [UInt64] = [bound + 1, 1 << 53, 1 << 63, .max]

    private func isTaken(_ type: MessageType, _ body: [UInt8]) -> Bool {
        do {
            _ = try Message(frame: Frame(type: type.rawValue, body: body))
            return true
        } catch {
            #expect(error.code == .badFrame, "\(error)")
            return false
        }
    }

    private var salt: [UInt8] { [UInt8](repeating: 3, count: 16) }

    @Test("Seqs, sizes, positions and counts are taken up to 2^44 - 1 and refused beyond, in every message")
    func numbers() {
        let digest = [UInt8](repeating: 9, count: 32)
        let places: [(MessageType, (UInt64) -> [UInt8])] = [
            (.vector, { field(1, origin + field(2, $0)) }), (.ack, { field(1, origin + field(2, $0)) }),
            (.stateDelta, { field(1, origin + field(3, $0)) }), (.stateDelta, { field(3, $0) }),
            (.stateDelta, { field(4, $0) }), (.fork, { origin + field(3, $0) }),
            (.fork, { origin + field(2, field(1, $0)) }), (.headAsk, { origin + field(2, $0) }),
            (.payloadAsk, { field(1, origin + field(2, $0)) }),
            (.payloadTold, { field(1, field(1, origin + field(2, $0)) + field(2, self.salt) + field(3, [7])) }),
            (.snapshotOffer, { origin + field(2, $0) }), (.snapshotOffer, { origin + field(3, $0) }),
            (.snapshotOffer, { origin + field(4, origin + field(2, $0)) }), (.snapshotGet, { origin + field(2, $0) }),
            (.snapshotRows, { field(1, $0) + field(2, 1) }),
            (.snapshotRows, { field(2, 1) + field(3, origin + field(2, $0)) }),
            (.headTold, { origin + field(2, self.head(digest, size: $0)) }),
            (.events, { field(2, field(1, self.head(digest, size: $0))) }),
            (.snapshotEnd, { field(2, field(1, self.head(digest, size: $0))) }),
        ]
        for (index, place) in places.enumerated() {
            #expect(isTaken(place.0, place.1(Self.bound)), "\(index)")
            for value in Self.beyond { #expect(!isTaken(place.0, place.1(value)), "\(index): \(value)") }
        }
    }

    private func head(_ digest: [UInt8], size: UInt64, hlc: UInt64 = 1) -> [UInt8] {
        origin + field(2, size) + field(3, digest) + fixed(4, hlc) + field(5, [UInt8](repeating: 1, count: 64))
    }

    @Test("Clocks are taken up to year 9999 and as far back, stamps up to 63 bits")
    func clocks() throws {
        for type in [MessageType.ping, .pong] {
            for clock in [Int64(0), 253_402_300_799_999, -253_402_300_799_999] {
                #expect(isTaken(type, field(2, UInt64(bitPattern: clock))))
            }
            for clock in [Int64.min, .min + 1, -253_402_300_800_000, 253_402_300_800_000, .max] {
                #expect(!isTaken(type, field(2, UInt64(bitPattern: clock))))
            }
        }
        let digest = [UInt8](repeating: 9, count: 32)
        for (hlc, isFine) in [(0, true), (UInt64(Int64.max), true), (1 << 63, false), (.max, false)]
            as [(UInt64, Bool)]
        {
            #expect(isTaken(.events, field(2, field(1, head(digest, size: 1, hlc: hlc)))) == isFine)
        }
    }

    @Test("How much a peer would take counts as 2^44 - 1 at most")
    func amounts() throws {
        for value in [UInt64.max, 1 << 63, 1 << 44] {
            let credit = try Message(frame: Frame(type: MessageType.credit.rawValue, body: field(1, value)))
            #expect(credit == .credit(Self.bound))
            let body = origin + field(3, value)
            guard case .snapshotGet(let get) = try Message(frame: Frame(type: 25, body: body)) else {
                Issue.record("no SnapshotGet")
                continue
            }
            #expect(get.window == Self.bound)
        }
    }

    @Test("Sums over all that a peer may state, and over what it may not, are the nearest number (D22)")
    func sums() {
        func vector(_ seqs: [UInt64]) -> VersionVector {
            VersionVector(
                seqs.enumerated().map { Dot(origin: OriginID(UUIDBits(high: 1, low: UInt64($0))), seq: $1) })
        }
        let most = vector(Array(repeating: Self.bound, count: WireLimits.origins))
        #expect(most.count(missingFrom: VersionVector()) == Self.bound * UInt64(WireLimits.origins))
        #expect(most.count(missingFrom: VersionVector()) < 1 << 63)
        #expect(vector([.max, .max, .max]).count(missingFrom: VersionVector()) == .max)
        let plan = SnapshotPlan(
            through: 1,
            progress: (0..<5).map {
                OriginProgress(origin: OriginID(UUIDBits(high: 1, low: $0)), seq: .max / 2, rootPrefix: 0)
            })
        #expect(plan.events == .max)
        #expect(HybridClock.isOff(.min) && HybridClock.isOff(.max) && !HybridClock.isOff(-60_000))
        #expect(Int64.min.subtractingSaturated(1) == .min && Int64.max.subtractingSaturated(-1) == .max)
        #expect(Int64(-1).subtractingSaturated(.min) == .max && UInt64(1).subtractingSaturated(2) == 0)
        #expect(Int64.min.addingSaturated(-1) == .min && Int64.max.addingSaturated(1) == .max)
    }
}

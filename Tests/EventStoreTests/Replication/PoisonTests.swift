import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Events that this release cannot read are kept as they came and stop nothing (D13).
struct PoisonTests {
    /// Every way in which an event may be beyond this release, with a word that its reason has.
    enum Poison: String, CaseIterable {
        case laterField, laterFieldOfAnotherForm, longType, controlCharacter, noID, twoTypes, notUTF8, newTime
        case noObject, brokenJSON, brokenUTF8, tooLarge, tooDeep, emptyName

        var reason: String {
            switch self {
            case .laterField, .laterFieldOfAnotherForm: "later format"
            case .longType, .controlCharacter, .noID, .twoTypes, .notUTF8, .newTime: "header: "
            case .noObject, .brokenJSON, .brokenUTF8, .tooLarge, .tooDeep, .emptyName: "payload: "
            }
        }

        /// Whether user, conversation and time are known.
        var isListed: Bool { !reason.hasPrefix("header") }

        func append(to origin: inout ForeignOrigin, needs: [Dot] = []) {
            let salt = UUIDBits(high: 7, low: origin.tree.size)
            var header = origin.next(needs: needs)
            var payload = Array(#"{"text":"말"}"#.utf8)
            var bytes: [UInt8]?
            switch self {
            case .laterField: header.unknownFields = [0x6a, 0x03, 1, 2, 3]
            case .laterFieldOfAnotherForm: header.unknownFields = [0x68, 0x01, 0xf5, 0x06, 1, 2, 3, 4]
            case .longType: header.type = String(repeating: "t", count: 200)
            case .controlCharacter: header.user = "u\u{1b}[2J"
            case .noID: bytes = header.canonicalBytes.removing(field: 5)
            case .twoTypes: bytes = header.canonicalBytes + [0x32, 0x01, 0x61]
            case .notUTF8: bytes = header.canonicalBytes.removing(field: 8) + [0x42, 0x02, 0xff, 0xfe]
            case .newTime: header.time = 253_402_300_800_000
            case .noObject: payload = Array("[1,2]".utf8)
            case .brokenJSON: payload = Array(#"{"text":"#.utf8)
            case .brokenUTF8: payload = Array(#"{"text":""#.utf8) + [0xff, 0x00] + Array(#""}"#.utf8)
            case .tooLarge:
                payload = Array(#"{"t":""#.utf8) + [UInt8](repeating: 0x61, count: 300_000) + [0x22, 0x7d]
            case .tooDeep: payload = Array(#"{"t":"#.utf8) + [UInt8](repeating: 0x5b, count: 100)
            case .emptyName: payload = Array(#"{"t":1,"t":2}"#.utf8)
            }
            origin.append(bytes ?? header.canonicalBytes, .present(salt: salt, payload: payload))
        }
    }

    @Test("Whatever it is: stored as it came, provable, quarantined with its reason, and it stops nothing (INV-10)")
    func everyKind() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path)
        var origin = ForeignOrigin(1, name: "later")
        origin.add(.message("before", user: "u", conversation: "c"))
        for poison in Poison.allCases { poison.append(to: &origin) }
        origin.add(.message("after", user: "u", conversation: "c"))
        try origin.send(to: store)

        let reader = try LogReader(store.files)
        for (index, sent) in origin.received.enumerated() {
            let stored = try #require(try reader.event(Dot(origin: origin.id, seq: UInt64(index + 1))))
            #expect(stored.event.header.canonicalBytes == sent.header)
            #expect(SHA256().payloadDigest(stored.event.body) == SHA256().payloadDigest(sent.body))
            let again = EncodedEvent(stored.event)
            #expect(again.header == sent.header && again.body.judged == sent.body.judged)
        }
        // Own events go on, and depend on what cannot be read.
        _ = try store.appendBlocking([.message("own", user: "u", conversation: "c")])
        store.close()

        try Projector(store.files).catchUp()
        let views = try ViewReader(store.files)
        let quarantine = try views.quarantine()
        #expect(quarantine.map(\.position) == Poison.allCases.indices.map { UInt64($0 + 4) })
        for (entry, poison) in zip(quarantine, Poison.allCases) {
            #expect(entry.view == "*" && entry.reason.contains(poison.reason), "\(poison): \(entry.reason)")
        }
        #expect(try views.quarantined() == UInt64(Poison.allCases.count))
        var shown = 0
        try views.history(user: "u", TimelineQuery()) { _ in
            shown += 1
            return true
        }
        #expect(shown == 3 + Poison.allCases.count { $0.isListed && $0 != .controlCharacter })
        #expect(try views.conversationSummary("c")?.messages == 3)

        let report = try Verifier(store.files).run()
        #expect(report.findings.isEmpty, "\(report.findings)")
    }

    @Test("What goes out again is what came in: a third node stores the same bytes, however it is split")
    func relayed() throws {
        let folders = [TemporaryFolder(), TemporaryFolder()]
        for folder in folders { try EventStore.create(in: folder.path, name: "n") }
        let stores = try folders.map { try EventStore(opening: $0.path, durability: .normal) }
        var origin = ForeignOrigin(2, name: "later")
        for _ in 0..<3 { for poison in Poison.allCases { poison.append(to: &origin) } }
        try origin.send(to: stores[0])
        let outgoing = try OutgoingReader(stores[0])
        var known = VersionVector()
        var position = UInt64(0)
        var batches = 0
        while true {
            let batch = try outgoing.batch(after: position, lacking: known, limits: OutgoingLimits(frame: 400_000))
            let bytes = batch.events.reduce(0) { $0 + $1.header.count + 300 }
            #expect(bytes < 400_000)
            if !batch.events.isEmpty {
                let verified = try stores[1].makeVerifierBlocking().verify(batch.events, batch.coverage)
                try blocking { stores[1].ingest(verified, completion: $0) }
                batches += 1
            }
            for dot in batch.advanced { known.advance(to: dot) }
            position = batch.through
            if batch.isAtTop { break }
        }
        #expect(batches >= 3)
        let progress = try stores.map { try $0.progressBlocking().first { $0.origin == origin.id } }
        #expect(progress[0] != nil && progress[0] == progress[1])
        for store in stores { store.close() }
    }

    @Test("A header that names no dot, or is longer than any may be, is refused")
    func beyondKeeping() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path)
        var origin = ForeignOrigin(3, name: "x")
        let header = origin.next()
        var long = header
        long.unknownFields = [0x6a, 0x80, 0x80, 0x04] + [UInt8](repeating: 1, count: 65_536)
        let bodies: [[UInt8]] = [
            [], [0xff], header.canonicalBytes.removing(field: 1), header.canonicalBytes.removing(field: 2),
            long.canonicalBytes,
        ]
        for bytes in bodies {
            var copy = origin
            copy.append(bytes, .present(salt: UUIDBits(high: 1, low: 1), payload: Array("{}".utf8)))
            #expect(throws: IngestError.self) { try copy.send(to: store) }
        }
        #expect(try LogReader(store.files).top() == 1)
        store.close()
    }

    @Test("An opaque event still waits for what it depends on (INV-5)")
    func dependencies() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path)
        var origin = ForeignOrigin(4, name: "x")
        let missing = Dot(origin: OriginID(UUIDBits(high: 9, low: 9)), seq: 3)
        Poison.longType.append(to: &origin, needs: [missing])
        #expect(throws: IngestError.causalGap(Dot(origin: origin.id, seq: 2), needs: missing)) {
            try origin.send(to: store)
        }
        store.close()
    }

    @Test("Any header at all: it is read, kept as it came, or refused; what is kept comes back byte for byte")
    func anyHeader() throws {
        var random = SplitMix64(state: 20_260_801)
        var origin = ForeignOrigin(5, name: "x")
        var opaque = 0
        for _ in 0..<20_000 {
            var bytes = origin.next(user: "u\(Int.random(in: 0..<9, using: &random))").canonicalBytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
                }
            }
            guard let header = try? EventHeader(received: bytes) else { continue }
            #expect(header.canonicalBytes == bytes)
            #expect(header.isOpaque == (header.obstacle != nil))
            #expect(header.dot.seq > 0 && header.dependencies == header.dependencies.sorted())
            if header.isOpaque { opaque += 1 }
        }
        #expect(opaque > 1_000)
    }
}

extension [UInt8] {
    /// A message without a field of one level.
    func removing(field removed: UInt64) -> [UInt8] {
        var reader = ProtobufReader(self)
        var out: [UInt8] = []
        var start = 0
        while let found = try? reader.next() {
            if found.field != removed { out += self[start..<reader.index] }
            start = reader.index
        }
        return out
    }
}

import EventStore
@testable import SyncEngine
import TestSupport
import Testing

/// Every rule a message can break.
@Suite struct MessageRulesTests {
    let origin = field(1, [UInt8](repeating: 1, count: 16))
    let laterOrigin = field(1, [UInt8](repeating: 2, count: 16))
    let digest = [UInt8](repeating: 9, count: 32)

    private func refusal(_ type: MessageType, _ body: [UInt8], limits: WireLimits = WireLimits()) -> WireError? {
        do {
            _ = try Message(frame: Frame(type: type.rawValue, body: body), limits: limits)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [MessageType.vector, .ack]) func vectorEntries(type: MessageType) {
        #expect(refusal(type, field(1, origin + field(2, 1))) == nil)
        #expect(refusal(type, field(1, field(2, 1))) == .missingField(message: "VectorEntry", field: "origin"))
        #expect(refusal(type, field(1, origin)) == .missingField(message: "VectorEntry", field: "seq"))
        #expect(refusal(type, field(1, origin + field(2, 0))) == .missingField(message: "VectorEntry", field: "seq"))
        #expect(
            refusal(type, field(1, field(1, [1, 2, 3])))
                == .malformed(message: "VectorEntry", reason: "field 1 has another length"))
        let entry = field(1, origin + field(2, 1))
        let later = field(1, laterOrigin + field(2, 1))
        #expect(refusal(type, entry + later) == nil)
        let name = type == .vector ? "Vector" : "Ack"
        for list in [entry + entry, later + entry] {
            #expect(refusal(type, list) == .malformed(message: name, reason: "origins do not ascend"))
        }
    }

    @Test func vectorsAreBounded() throws {
        let limits = WireLimits(maxBody: 8 << 20)
        let entries = (1...UInt64(WireLimits.entries + 1)).map {
            VectorEntry(origin: OriginID(UUIDBits(high: 0, low: $0)), seq: 1, root: 0)
        }
        let most = Message.vector(entries.dropLast())
        #expect(try Message(frame: most.frame(compress: false), limits: limits) == most)
        #expect(
            refusal(.vector, Message.vector(entries).body, limits: limits)
                == .tooMany(message: "Vector", field: "entries", limit: 100_000))
    }

    @Test func hello() throws {
        let limits = field(7, field(1, 1) + field(3, 1))
        let parts = [field(1, 1), field(2, 1), field(3, [0x63]), field(4, digest), limits]
        #expect(refusal(.hello, parts.flatMap { $0 }) == nil)
        let missing: [WireError] = [
            .missingField(message: "Hello", field: "protocol_min"),
            .malformed(message: "Hello", reason: "protocol_max is below protocol_min"),
            .missingField(message: "Hello", field: "cluster"), .missingField(message: "Hello", field: "node"),
            .missingField(message: "Hello", field: "limits"),
        ]
        for (index, error) in missing.enumerated() {
            var rest = parts
            rest.remove(at: index)
            #expect(refusal(.hello, rest.flatMap { $0 }) == error)
        }
        let head = parts.dropLast().flatMap { $0 }
        #expect(refusal(.hello, head + field(7, field(3, 1))) == .missingField(message: "Limits", field: "max_body"))
        #expect(
            refusal(.hello, head + field(7, field(1, 1))) == .missingField(message: "Limits", field: "max_payload"))
    }

    @Test func commonProtocol() throws {
        var generator = MessageGenerator(seed: 5)
        var a = try generator.hello()
        var b = a
        (a.protocolMin, a.protocolMax, b.protocolMin, b.protocolMax) = (1, 3, 2, 5)
        #expect(a.commonProtocol(with: b) == 3)
        #expect(b.commonProtocol(with: a) == 3)
        a.protocolMax = 1
        #expect(a.commonProtocol(with: b) == nil)
        #expect(b.commonProtocol(with: a) == nil)
    }

    @Test func events() {
        let header = field(1, [1]), salt = field(2, [UInt8](repeating: 0, count: 16)), payload = field(3, [2])
        let erased = field(4, digest)
        func event(_ body: [UInt8]) -> WireError? { refusal(.events, field(1, body)) }
        #expect(event(header + salt + payload) == nil)
        #expect(event(header + erased) == nil)
        #expect(event(salt + payload) == .missingField(message: "Event", field: "header"))
        #expect(event(header + payload) == .missingField(message: "Event", field: "salt"))
        #expect(event(header + salt) == .missingField(message: "Event", field: "payload"))
        #expect(event(header + salt + field(3, [])) == .missingField(message: "Event", field: "payload"))
        let both = WireError.malformed(message: "Event", reason: "it is both whole and erased")
        #expect(event(header + salt + payload + erased) == both)
        #expect(event(header + salt + erased) == both)
        #expect(event(header + payload + erased) == both)
        #expect(event(header + field(4, [1])) != nil)
    }

    @Test func eventsOverTheSizeHaveTheirOwnCode() {
        let limits = WireLimits(maxPayload: 100)
        let salt = field(2, [UInt8](repeating: 0, count: 16))
        func event(header: Int, payload: Int) -> WireError? {
            let parts =
                field(1, [UInt8](repeating: 1, count: header)) + field(3, [UInt8](repeating: 1, count: payload))
            return refusal(.events, field(1, parts + salt), limits: limits)
        }
        #expect(event(header: 64 << 10, payload: 100) == nil)
        #expect(event(header: 1, payload: 101) == .eventTooLarge(bytes: 101, limit: 100))
        #expect(event(header: 65_537, payload: 1) == .eventTooLarge(bytes: 65_537, limit: 65_536))
    }

    @Test func batchesAreBounded() throws {
        let erased = try #require(Digest(bytes: digest))
        let event = EncodedEvent(header: [1], body: .erased(payloadDigest: erased))
        let most = Message.events(
            EventBatch(events: Array(repeating: event, count: WireLimits.events), coverage: []))
        #expect(refusal(.events, most.body) == nil)
        let one = Message.events(EventBatch(events: [event], coverage: []))
        #expect(refusal(.events, most.body + one.body) == .tooMany(message: "Events", field: "events", limit: 8_192))
    }

    private func head(signature: Int = 64, size: UInt64 = 1, origin: [UInt8]? = nil) -> [UInt8] {
        (origin ?? self.origin) + field(2, size) + field(3, digest)
            + field(5, [UInt8](repeating: 5, count: signature))
    }

    @Test func coverage() {
        func cover(_ body: [UInt8]) -> WireError? { refusal(.events, field(2, body)) }
        #expect(cover(field(1, head())) == nil)
        #expect(cover([]) == .missingField(message: "Coverage", field: "head"))
        #expect(cover(field(1, head(size: 0))) == .missingField(message: "Head", field: "size"))
        #expect(cover(field(1, head(origin: []))) == .missingField(message: "Head", field: "origin"))
        #expect(cover(field(1, origin + field(2, 1))) == .missingField(message: "Head", field: "root"))
        #expect(cover(field(1, head(signature: 0))) == .missingField(message: "Head", field: "signature"))
        #expect(
            cover(field(1, head(signature: 63)))
                == .malformed(message: "Head", reason: "the signature is not 64 bytes"))
        let proof = (0..<65).flatMap { _ in field(2, digest) }
        #expect(cover(field(1, head()) + proof) == nil)
        #expect(
            cover(field(1, head()) + proof + field(2, digest))
                == .tooMany(message: "Coverage", field: "proof", limit: 65))
        #expect(cover(field(1, head()) + field(2, [1])) != nil)
        let first = field(2, field(1, head())), second = field(2, field(1, head(origin: laterOrigin)))
        #expect(refusal(.events, first + second) == nil)
        for list in [second + first, first + first] {
            #expect(refusal(.events, list) == .malformed(message: "Events", reason: "origins do not ascend"))
        }
    }

    @Test func encodedSizeIsExact() throws {
        var generator = MessageGenerator(seed: 6)
        for size in [1, 127, 128, 16_383, 16_384, 200_000] {
            let whole = EncodedEvent(
                header: generator.bytes(min(size, 65_536)),
                body: .present(salt: generator.origin().bits, payload: [UInt8](repeating: 1, count: size)))
            let erased = EncodedEvent(header: whole.header, body: .erased(payloadDigest: try generator.digest()))
            for event in [whole, erased] {
                let batch = Message.events(EventBatch(events: [event], coverage: []))
                #expect(batch.body.count == event.encodedSize)
            }
        }
    }

    @Test func coverageHasAGreatestSize() throws {
        var generator = MessageGenerator(seed: 7)
        let head = TreeHead(
            origin: generator.origin(), size: .max, root: try generator.digest(), hlc: HybridTime(rawValue: .max))
        let proof = try (0..<65).map { _ in try generator.digest() }
        let item = Coverage(head: SignedHead(head: head, signature: generator.bytes(64)), proof: proof)
        let size = Message.events(EventBatch(events: [], coverage: [item])).body.count
        #expect(size <= Coverage.maximumBytes(.max))
        // A proof has a digest for each level, and one more.
        for levels in [1, 8, 20, 40] {
            let small = TreeHead(origin: head.origin, size: 1 << (levels - 1), root: head.root, hlc: head.hlc)
            let item = Coverage(
                head: SignedHead(head: small, signature: generator.bytes(64)), proof: Array(proof.prefix(levels + 1)))
            let size = Message.events(EventBatch(events: [], coverage: [item])).body.count
            #expect(size <= Coverage.maximumBytes(small.size))
        }
    }
}

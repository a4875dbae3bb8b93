import EventStore
import Foundation
import Testing
import WireKit

@testable import SyncEngine

/// The values of the files in `Vectors/`, written down here a second time.
struct Golden: Sendable, CustomTestStringConvertible {
    let file: String
    let schema: String
    let message: Message

    var testDescription: String { file }

    static func all() throws -> [Golden] {
        let a = try #require(OriginID(text: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"))
        let b = try #require(OriginID(text: "fedcba98-7654-3210-0123-456789abcdef"))
        return [
            Golden(file: "hello", schema: "Hello", message: .hello(try hello())),
            Golden(
                file: "hello-minimal", schema: "Hello",
                message: .hello(
                    Hello(
                        cluster: "c", node: NodeID(try digest(0)), incarnation: 0, clock: 0,
                        limits: WireLimits(maxBody: 1, window: 0, maxPayload: 1), compressors: []))),
            Golden(
                file: "vector", schema: "Vector",
                message: .vector([
                    VectorEntry(origin: a, seq: 300, root: 0x0102_0304_0506_0708),
                    VectorEntry(origin: b, seq: Limits.number, root: 0),
                ])),
            Golden(file: "head-ask", schema: "HeadAsk", message: .headAsk(HeadAsk(origin: a, size: 300))),
            Golden(file: "head-told-nothing", schema: "HeadTold", message: .headTold(HeadTold(origin: a, head: nil))),
            Golden(
                file: "head-told", schema: "HeadTold",
                message: .headTold(HeadTold(origin: a, head: try events(a, b).coverage.first?.head))),
            Golden(
                file: "shared-state", schema: "SharedState",
                message: .sharedState(
                    SharedState(
                        key: a.bits, node: NodeID(try #require(Digest(bytes: [UInt8](repeating: 7, count: 32)))),
                        number: 300, value: Array("값".utf8), signature: [UInt8](repeating: 9, count: 64)))),
            Golden(
                file: "attachment-ask", schema: "AttachmentAsk",
                message: .attachmentAsk(
                    AttachmentAsk(digest: try digest(0x20), offset: Limits.number, most: 262_144))),
            Golden(
                file: "attachment-told", schema: "AttachmentTold",
                message: .attachmentTold(
                    AttachmentTold(digest: try digest(0x20), offset: 300, total: 303, bytes: [0, 0x80, 0xff]))),
            Golden(
                file: "attachment-told-nothing", schema: "AttachmentTold",
                message: .attachmentTold(
                    AttachmentTold(lacking: AttachmentAsk(digest: try digest(0x20), offset: 1, most: 1)))),
            Golden(
                file: "payload-ask", schema: "PayloadAsk",
                message: .payloadAsk(PayloadAsk(dots: [Dot(origin: a, seq: 300), Dot(origin: b, seq: 1)]))),
            Golden(
                file: "payload-told", schema: "PayloadTold",
                message: .payloadTold(
                    PayloadTold(payloads: [
                        CarriedPayload(
                            dot: Dot(origin: a, seq: 300),
                            salt: UUIDBits(high: 0x0001_0203_0405_0607, low: 0x0809_0a0b_0c0d_0e0f),
                            payload: Array(#"{"text":"a"}"#.utf8)),
                        CarriedPayload(
                            dot: Dot(origin: b, seq: 1),
                            salt: UUIDBits(high: 0x0001_0203_0405_0607, low: 0x0809_0a0b_0c0d_0e0f), payload: [0xff]),
                    ]))),
            Golden(file: "vector-empty", schema: "Vector", message: .vector([])),
            Golden(file: "events", schema: "Events", message: .events(try events(a, b))),
            Golden(file: "ack", schema: "Ack", message: .ack([VectorEntry(origin: b, seq: 1, root: .max)])),
            Golden(file: "credit", schema: "Credit", message: .credit(1 << 20)),
            Golden(file: "ping", schema: "Ping", message: .ping(Ping(nonce: 1, clock: -1))),
            Golden(
                file: "pong", schema: "Pong",
                message: .pong(Pong(nonce: 0x0102_0304_0506_0708, clock: 1_785_549_735_120))),
            Golden(
                file: "bye", schema: "Bye", message: .bye(Bye(.busy, text: "잠시 후 다시", retryAfter: .max))),
            Golden(
                file: "hello-remembers", schema: "Hello",
                message: .hello(
                    Hello(
                        cluster: "c", node: NodeID(try digest(0x10)), incarnation: 0, clock: 0,
                        limits: WireLimits(maxBody: 1, window: 0, maxPayload: 1), compressors: [],
                        features: .standings,
                        remembered: Remembered(
                            incarnation: 0xfedc_ba98_7654_3210, through: 1_234_567, origins: 10_000), origin: b))),
            Golden(
                file: "state-delta", schema: "StateDelta",
                message: .stateDelta(
                    StateDelta(
                        entries: [
                            StateEntry(.number(300), seq: 70_000, root: 0x0102_0304_0506_0708),
                            StateEntry(.new(a), seq: 1, root: .max),
                        ], isWhole: false, since: 1_234_567, through: 1_234_570, digest: try digest(0)))),
            Golden(
                file: "state-delta-whole", schema: "StateDelta",
                message: .stateDelta(
                    StateDelta(
                        entries: [StateEntry(.new(b), seq: 9, root: 0)], isWhole: true, since: 0, through: 9,
                        hasMore: true))),
            Golden(file: "resync", schema: "Resync", message: .resync),
            Golden(
                file: "want", schema: "Want",
                message: .want(Want(take: [3, 1, 2, 300, 3] as [UInt32], leave: [.max] as [UInt32]))),
            Golden(
                file: "hello-empty-log", schema: "Hello",
                message: .hello(
                    Hello(
                        cluster: "c", node: NodeID(try digest(0)), incarnation: 1, clock: 2,
                        limits: WireLimits(maxBody: 1 << 20, window: 1 << 20, maxPayload: 256 << 10),
                        features: .snapshots, snapshotAfter: 100_000))),
            Golden(
                file: "snapshot-offer", schema: "SnapshotOffer",
                message: .snapshotOffer(
                    SnapshotOffer(
                        id: a.bits, through: 1_000_000, events: 1_000_000, bytes: 1 << 30,
                        entries: [
                            VectorEntry(origin: a, seq: 999_999, root: 7), VectorEntry(origin: b, seq: 1, root: 8),
                        ]
                    ))),
            Golden(
                file: "snapshot-get", schema: "SnapshotGet",
                message: .snapshotGet(SnapshotGet(id: a.bits, after: 4_096, window: 8 << 20))),
            Golden(file: "snapshot-rows", schema: "SnapshotRows", message: .snapshotRows(try rows(a, b))),
            Golden(
                file: "snapshot-end", schema: "SnapshotEnd",
                message: .snapshotEnd(SnapshotEnd(coverage: try events(a, b).coverage, hasMore: true))),
            Golden(
                file: "snapshot-done", schema: "SnapshotDone",
                message: .snapshotDone(
                    SnapshotDone(id: b.bits, code: SessionErrorCode.badProof.rawValue, text: "다른 뿌리"))),
            Golden(file: "fork", schema: "Fork", message: .fork(try fork(a))),
            Golden(
                file: "join", schema: "Join",
                message: .join(Join(cluster: "병원", name: "부산-1", proof: try digest(0x30).bytes))),
        ]
    }

    private static func fork(_ origin: OriginID) throws -> Fork {
        let head = TreeHead(
            origin: origin, size: 9, root: try digest(1), hlc: HybridTime(milliseconds: milliseconds, counter: 1))
        return Fork(
            origin: origin,
            roots: [Fork.Root(size: 1, root: 0x0102_0304_0506_0708), Fork.Root(size: 300, root: .max)], seq: 7,
            branches: [
                ForkBranch(
                    head: SignedHead(head: head, signature: (0..<64).map { $0 }), header: [0x0a, 0x00],
                    payloadDigest: try digest(0x40), proof: [try digest(0x60), try digest(0x80)])
            ], asks: true)
    }

    static func digest(_ first: UInt8) throws -> Digest {
        try #require(Digest(bytes: (0..<32).map { first + $0 }))
    }

    private static func hello() throws -> Hello {
        Hello(
            protocolMin: 1, protocolMax: 3, cluster: "병원", node: NodeID(try digest(0x10)),
            incarnation: 0xfedc_ba98_7654_3210, clock: 1_785_549_735_120,
            limits: WireLimits(maxBody: 1 << 20, window: 4 << 20, maxPayload: 256 << 10),
            compressors: ["zstd", "", "none"], software: "sillok/1.0", name: "서울-1", features: Features(rawValue: 5),
            run: 0x1122_3344_5566_7788)
    }

    private static let milliseconds: Int64 = 0x0198_e2c1_f3a0

    static func headers(_ a: OriginID, _ b: OriginID) throws -> [EventHeader] {
        let id = try #require(EventID(text: "0198e2c4-7800-7000-8000-000000000001"))
        let dependency = try #require(OriginID(text: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e30"))
        return [
            EventHeader(
                dot: Dot(origin: a, seq: 300), hlc: HybridTime(milliseconds: milliseconds, counter: 3), time: -1,
                id: id, type: "message.posted", conversation: "c-88", user: "u-1029", author: "의사",
                cause: EventID(text: "0198e2c4-7800-7000-8000-000000000002"),
                dependencies: [Dot(origin: dependency, seq: 1), Dot(origin: b, seq: 70_000)], version: 2),
            EventHeader(
                dot: Dot(origin: b, seq: 1), hlc: HybridTime(milliseconds: milliseconds, counter: 0), id: id,
                type: "t", user: "u"),
        ]
    }

    /// The two events of ``events(_:_:)`` as rows of a log.
    private static func rows(_ a: OriginID, _ b: OriginID) throws -> SnapshotRows {
        let batch = try events(a, b)
        let headers = try headers(a, b)
        var rows = SnapshotRows(after: 41)
        rows.count = 2
        rows.runs = [.init(origin: a, first: 300), .init(origin: b, first: 1)]
        rows.heads = [batch.coverage[1].head]
        for name in ["message.posted", "u-1029", "c-88", "의사", "t", "u"] {
            rows.names += [UInt8(name.utf8.count)] + Array(name.utf8)
        }
        func big(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        let cause = try #require(headers[0].cause)
        let payload = try #require(try batch.events[0].event().payload)
        // Conversation, time, author, cause, dependencies and version are there.
        rows.columns = ([63, 0] + big(headers[0].hlc.rawValue) + [0, 1, 2])[...]
        rows.columns += big(UInt64(bitPattern: headers[0].time)) + [3] + cause.bytes + [2]
        rows.columns += headers[0].dependencies[0].origin.bytes + [1]
        rows.columns += headers[0].dependencies[1].origin.bytes + [0xf0, 0xa2, 0x04] + [2, UInt8(payload.count)]
        // Erased.
        rows.columns += [128, 1] + big(headers[1].hlc.rawValue) + [4, 5]
        rows.ids = (headers[0].id.bytes + headers[1].id.bytes)[...]
        rows.salts = ((0..<16).map { UInt8($0) } + (try digest(0x80)).bytes)[...]
        rows.payloads = payload[...]
        return rows
    }

    private static func events(_ a: OriginID, _ b: OriginID) throws -> EventBatch {
        func head(_ origin: OriginID, _ size: UInt64, _ first: UInt8) throws -> SignedHead {
            let hlc = HybridTime(milliseconds: milliseconds, counter: UInt16(first))
            return SignedHead(
                head: TreeHead(origin: origin, size: size, root: try digest(first), hlc: hlc),
                signature: (0..<64).map { first + $0 })
        }
        let salt = try #require(UUIDBits(bytes: 0..<16))
        let headers = try headers(a, b)
        let payload = Array(#"{"text":"어제부터 두통이 심해요"}"#.utf8)
        return EventBatch(
            events: [
                EncodedEvent(Event(header: headers[0], body: .present(salt: salt, payload: payload))),
                EncodedEvent(Event(header: headers[1], body: .erased(payloadDigest: try digest(0x80)))),
            ],
            coverage: [
                Coverage(head: try head(a, 301, 0x20), proof: [try digest(1), try digest(2)]),
                Coverage(head: try head(b, 1, 0x60), proof: []),
            ])
    }
}

@Suite struct GoldenVectorTests {
    @Test func messagesHaveTheseBytes() throws {
        for golden in try Golden.all() {
            let bytes = try WireFiles.hex("\(golden.file).hex")
            #expect(golden.message.body == bytes, "\(golden.file)")
            #expect(try Message(frame: Frame(type: golden.message.type, body: bytes)) == golden.message)
        }
    }

    @Test func headersHaveTheseBytes() throws {
        let a = try #require(OriginID(text: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"))
        let b = try #require(OriginID(text: "fedcba98-7654-3210-0123-456789abcdef"))
        var headers = try Golden.headers(a, b)
        headers.append(headers[1])
        headers[2].actor = EventActor(.token, principal: "bot/medibot", credential: "9f3c51d20b7e6a84")
        for (file, header) in zip(["header", "header-minimal", "header-actor"], headers) {
            let bytes = try WireFiles.hex("\(file).hex")
            #expect(header.canonicalBytes == bytes, "\(file)")
            #expect(try EventHeader(canonicalBytes: bytes) == header)
        }
    }

    @Test func eventsOfABatchAreReadWhole() throws {
        let golden = try #require(try Golden.all().first { $0.file == "events" })
        guard case .events(let batch) = golden.message else { throw Unexpected() }
        let event = try batch.events[0].event()
        #expect(event.header.user == "u-1029")
        #expect(EncodedEvent(event) == batch.events[0])
        #expect(throws: InvalidHeader.self) { try EncodedEvent(header: [1], body: batch.events[0].body).event() }
    }

    @Test func frameMadeByTheZstdCommand() throws {
        var decoder = FrameDecoder()
        decoder.feed(try WireFiles.hex("hello.hex").asFrame(type: 1))
        decoder.feed(try WireFiles.hex("vector-zstd.frame.hex"))
        #expect(try decoder.next()?.type == 1)
        let frame = try #require(try decoder.next())
        #expect(frame.flags == Frame.compressed)
        let entries = try (0..<20).map { index in
            let hex = String(index + 256, radix: 16).suffix(2)
            let origin = try #require(OriginID(text: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e\(hex)"))
            return VectorEntry(origin: origin, seq: UInt64(index + 1), root: 7)
        }
        #expect(try Message(frame: frame) == .vector(entries))
    }

    /// Made with Python's hashlib.
    @Test func aStandingHasThisDigest() throws {
        let a = try #require(OriginID(text: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"))
        let b = try #require(OriginID(text: "fedcba98-7654-3210-0123-456789abcdef"))
        let entries = [
            VectorEntry(origin: b, seq: 9, root: 0), VectorEntry(origin: a, seq: 300, root: 0x0102_0304_0506_0708),
        ]
        #expect(
            StateDelta.digest(of: entries).description
                == "c46a31e33b539528214a774b22393cf155a01318909a85a38ceacd2112b88aed")
        #expect(StateDelta.digest(of: entries.reversed()) != StateDelta.digest(of: entries))
    }

    @Test func everyVectorFileIsUsed() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: WireFiles.vectors.path).sorted()
        let names = try Golden.all().map(\.file) + ["header", "header-minimal", "header-actor"]
        let expected = names.flatMap { ["\($0).hex", "\($0).textproto"] } + ["README.md", "vector-zstd.frame.hex"]
        #expect(files == expected.sorted())
    }
}

struct Unexpected: Error {}

extension [UInt8] {
    /// These bytes as the body of a frame, on the wire.
    func asFrame(type: UInt8, flags: UInt8 = 0) -> [UInt8] { Frame(type: type, flags: flags, body: self).bytes }
}

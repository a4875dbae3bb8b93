import EventStore
import Foundation
import TestSupport
import Testing

@testable import SyncEngine

/// Random messages that any peer must take.
struct MessageGenerator {
    var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(state: seed) }

    /// Of those that have a bound.
    mutating func number() -> UInt64 { random.next() >> UInt64.random(in: 20...63, using: &random) }

    mutating func clock() -> Int64 { Int64(number()) * (Bool.random(using: &random) ? 1 : -1) }

    mutating func positive() -> UInt64 { max(1, number()) }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    mutating func text(_ count: ClosedRange<Int>) -> String {
        let alphabet = Array("abc 서울병원😀é\n\u{202e}\"\\")
        return String(
            (0..<Int.random(in: count, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? "x"
            })
    }

    mutating func origin() -> OriginID { OriginID(UUIDBits(high: random.next(), low: random.next())) }

    mutating func digest() throws -> Digest { try #require(Digest(bytes: bytes(32))) }

    mutating func entries() -> [VectorEntry] {
        (0..<Int.random(in: 0...8, using: &random)).map { _ in origin() }.sorted().map {
            VectorEntry(origin: $0, seq: positive(), root: random.next())
        }
    }

    mutating func event() throws -> EncodedEvent {
        let header = bytes(Int.random(in: 1...160, using: &random))
        if Bool.random(using: &random) {
            return EncodedEvent(header: header, body: .erased(payloadDigest: try digest()))
        }
        let payload = bytes(Int.random(in: 1...300, using: &random))
        return EncodedEvent(header: header, body: .present(salt: origin().bits, payload: payload))
    }

    mutating func coverage() throws -> [Coverage] {
        try (0..<Int.random(in: 0...3, using: &random)).map { _ in origin() }.sorted().map { origin in
            let head = TreeHead(
                origin: origin, size: positive(), root: try digest(), hlc: HybridTime(rawValue: random.next() >> 1))
            let proof = try (0..<Int.random(in: 0...5, using: &random)).map { _ in try digest() }
            return Coverage(head: SignedHead(head: head, signature: bytes(64)), proof: proof)
        }
    }

    /// Random columns: only ``CheckedRows`` reads them.
    mutating func rows() throws -> SnapshotRows {
        var rows = SnapshotRows(after: number())
        rows.count = Int.random(in: 1...SnapshotRows.limit, using: &random)
        rows.runs = (0..<Int.random(in: 0...3, using: &random)).map { _ in .init(origin: origin(), first: positive())
        }
        rows.heads = try coverage().map(\.head)
        rows.names = bytes(Int.random(in: 0...50, using: &random))[...]
        rows.columns = bytes(Int.random(in: 0...50, using: &random))[...]
        rows.ids = bytes(Int.random(in: 0...50, using: &random))[...]
        rows.salts = bytes(Int.random(in: 0...50, using: &random))[...]
        rows.payloads = bytes(Int.random(in: 0...50, using: &random))[...]
        return rows
    }

    mutating func hello() throws -> Hello {
        let first = UInt32.random(in: 1...3, using: &random)
        return Hello(
            protocolMin: first, protocolMax: first + UInt32.random(in: 0...9, using: &random), cluster: text(1...20),
            node: NodeID(try digest()), incarnation: random.next(), clock: clock(),
            limits: WireLimits(
                maxBody: .random(in: 1 ... .max, using: &random), window: number(),
                maxPayload: .random(in: 1 ... .max, using: &random)),
            compressors: (0..<Int.random(in: 0...3, using: &random)).map { _ in text(0...6) },
            software: text(0...10), name: text(0...10), features: Features(rawValue: random.next()),
            remembered: Bool.random(using: &random) ? remembered() : nil,
            origin: Bool.random(using: &random) ? origin() : nil, snapshotAfter: number(), run: random.next())
    }

    mutating func remembered() -> Remembered {
        Remembered(incarnation: random.next(), through: number(), origins: .random(in: 0...9, using: &random))
    }

    mutating func standing() throws -> StateDelta {
        let entries = (0..<Int.random(in: 0...8, using: &random)).map { _ in
            StateEntry(
                Bool.random(using: &random) ? .new(origin()) : .number(.random(in: 1 ... .max, using: &random)),
                seq: positive(), root: random.next())
        }
        return StateDelta(
            entries: entries, isWhole: Bool.random(using: &random), since: number(), through: number(),
            digest: Bool.random(using: &random) ? try digest() : nil, hasMore: Bool.random(using: &random))
    }

    mutating func numbers() -> [UInt32] {
        (0..<Int.random(in: 0...9, using: &random)).map { _ in
            Bool.random(using: &random)
                ? .random(in: 1...20, using: &random) : .random(in: 1 ... .max, using: &random)
        }
    }

    mutating func message(of type: MessageType) throws -> Message {
        switch type {
        case .hello: .hello(try hello())
        case .vector: .vector(entries())
        case .events:
            .events(
                EventBatch(
                    events: try (0..<Int.random(in: 0...6, using: &random)).map { _ in try event() },
                    coverage: try coverage()))
        case .ack: .ack(entries())
        case .credit: .credit(number())
        case .ping: .ping(Ping(nonce: random.next(), clock: clock()))
        case .pong: .pong(Pong(nonce: random.next(), clock: clock()))
        case .fork: .fork(try fork())
        case .join: .join(Join(cluster: text(1...20), name: text(0...20), proof: bytes(32)))
        case .headAsk: .headAsk(HeadAsk(origin: origin(), size: positive()))
        case .headTold: .headTold(HeadTold(origin: origin(), head: try coverage().first?.head))
        case .sharedState:
            .sharedState(
                SharedState(
                    key: origin().bits, node: NodeID(SHA256().digest(bytes(8))), number: number(), value: bytes(9),
                    signing: SigningKey.generate()))
        case .attachmentAsk:
            .attachmentAsk(
                AttachmentAsk(
                    digest: try digest(), offset: number(), most: UInt32.random(in: 1 ... .max, using: &random)))
        case .attachmentTold:
            if Bool.random(using: &random) {
                .attachmentTold(
                    AttachmentTold(lacking: AttachmentAsk(digest: try digest(), offset: number(), most: 1)))
            } else {
                .attachmentTold(
                    AttachmentTold(
                        digest: try digest(), offset: 7, total: 1_000,
                        bytes: bytes(Int.random(in: 1...300, using: &random))))
            }
        case .payloadAsk:
            .payloadAsk(
                PayloadAsk(
                    dots: (0..<Int.random(in: 1...5, using: &random)).map { _ in
                        Dot(origin: origin(), seq: positive())
                    }))
        case .payloadTold:
            .payloadTold(
                PayloadTold(
                    payloads: (0..<Int.random(in: 0...5, using: &random)).map { _ in
                        CarriedPayload(
                            dot: Dot(origin: origin(), seq: positive()), salt: origin().bits,
                            payload: bytes(Int.random(in: 1...300, using: &random)))
                    }))
        case .bye: .bye(Bye(code: UInt32(truncatingIfNeeded: number()), text: text(0...40), retryAfter: 7))
        case .stateDelta: .stateDelta(try standing())
        case .resync: .resync
        case .want: .want(Want(take: numbers(), leave: numbers()))
        case .snapshotOffer:
            .snapshotOffer(
                SnapshotOffer(
                    id: origin().bits, through: number(), events: number(), bytes: number(), entries: entries()))
        case .snapshotGet: .snapshotGet(SnapshotGet(id: origin().bits, after: number(), window: number()))
        case .snapshotRows: .snapshotRows(try rows())
        case .snapshotEnd: .snapshotEnd(SnapshotEnd(coverage: try coverage(), hasMore: .random(using: &random)))
        case .snapshotDone:
            .snapshotDone(
                SnapshotDone(id: origin().bits, code: UInt32(truncatingIfNeeded: number()), text: text(0...40)))
        }
    }

    mutating func fork() throws -> Fork {
        let sizes = Set((0..<Int.random(in: 0...5, using: &random)).map { _ in positive() }).sorted()
        return Fork(
            origin: origin(), roots: sizes.map { Fork.Root(size: $0, root: random.next()) }, seq: positive(),
            branches: try coverage().prefix(2).map { cover in
                ForkBranch(
                    head: cover.head, header: bytes(Int.random(in: 1...160, using: &random)),
                    payloadDigest: try digest(), proof: cover.proof)
            }, asks: Bool.random(using: &random))
    }

    mutating func message() throws -> Message {
        try message(of: MessageType.allCases.randomElement(using: &random) ?? .ping)
    }
}

/// The files in `Vectors/` and the schema.
enum WireFiles {
    static let vectors = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors")
    static let root = vectors.appending(path: "../../../..").standardizedFileURL
    static let schema = root.appending(path: "docs/reference/sync.proto")

    static func text(_ name: String) throws -> String {
        try String(contentsOf: vectors.appending(path: name), encoding: .utf8)
    }

    static func hex(_ name: String) throws -> [UInt8] {
        try #require(hexBytes(try text(name).filter { !$0.isNewline }))
    }
}

extension Message {
    /// The uncompressed body.
    var body: [UInt8] { frame(compress: false).body }
}

/// Protobuf fields, written by hand.
func field(_ number: UInt64, _ value: UInt64) -> [UInt8] {
    var writer = ProtobufWriter()
    writer.varint(number << 3)
    writer.varint(value)
    return writer.bytes
}

func field(_ number: UInt64, _ value: [UInt8]) -> [UInt8] {
    var writer = ProtobufWriter()
    writer.presentData(number, value)
    return writer.bytes
}

func fixed(_ number: UInt64, _ value: UInt64) -> [UInt8] {
    var writer = ProtobufWriter()
    writer.fixed64(number, value)
    return writer.bytes
}

import EventStore
@testable import SyncEngine
import TestSupport
import Testing

@Suite struct CompressionTests {
    /// About 5 times smaller when compressed.
    let message: [UInt8] = (0..<400).flatMap { Array("{\"text\":\"진료 예약 \($0 &* 2_654_435_761 % 100_003)\"}".utf8) }

    @Test func roundTrip() throws {
        let body = try #require(Compression.compress(message))
        #expect(body.count < message.count / 2)
        #expect(try Compression.decompress(body) == message)
    }

    @Test func batchTravelsCompressedOnlyWhereAllowed() throws {
        let event = EncodedEvent(header: [1], body: .present(salt: UUIDBits(high: 1, low: 2), payload: message))
        let batch = Message.events(EventBatch(events: [event], coverage: []))
        let plain = batch.frame(compress: false)
        let packed = batch.frame(compress: true)
        #expect(plain.flags == 0)
        #expect(packed.flags == Frame.compressed)
        #expect(packed.count < plain.count)
        #expect(try Message(frame: packed) == batch)
        #expect(try Message(frame: plain) == batch)
    }

    @Test func bodiesThatDoNotPayStayAsTheyAre() throws {
        var generator = MessageGenerator(seed: 1)
        #expect(Compression.compress([]) == nil)
        #expect(Compression.compress([UInt8](message.prefix(Compression.minBody - 1))) == nil)
        #expect(Compression.compress([UInt8](message.prefix(Compression.minBody))) != nil)
        // Noise does not shrink; nor, by 3 %, does noise with a little text.
        #expect(Compression.compress(generator.bytes(4_000)) == nil)
        #expect(Compression.compress(generator.bytes(4_000) + [UInt8](repeating: 0, count: 60)) == nil)
        #expect(Compression.compress(generator.bytes(4_000) + [UInt8](repeating: 0, count: 400)) != nil)
        // What a receiver would take for a bomb is sent as it is.
        #expect(Compression.compress([UInt8](repeating: 0, count: 1 << 20)) == nil)
    }

    @Test func helloIsNeverCompressed() throws {
        var generator = MessageGenerator(seed: 2)
        var hello = try generator.hello()
        hello.software = String(repeating: "sillok ", count: 200)
        let frame = Message.hello(hello).frame(compress: true)
        #expect(frame.flags == 0)
        let packed = Frame(type: 1, flags: Frame.compressed, body: Compression.compressAlways(frame.body))
        #expect(throws: WireError.malformed(message: "Hello", reason: "it is compressed")) {
            try Message(frame: packed)
        }
    }

    @Test func bombsAreRefusedByTheirDeclaration() throws {
        let ratio = Compression.compressAlways([UInt8](repeating: 0, count: 1 << 20))
        let compressed = ratio.count - 4
        #expect(throws: WireError.decompressionBomb(declared: 1 << 20, compressed: compressed)) {
            try Compression.decompress(ratio)
        }
        let large = (8 << 20) + 1
        let body = declare(large, [UInt8](repeating: 0, count: 200_000))
        #expect(throws: WireError.decompressionBomb(declared: large, compressed: 200_000)) {
            try Message(frame: Frame(type: 3, flags: Frame.compressed, body: body))
        }
        #expect(throws: WireError.self) { try Compression.decompress(declare(0xffff_ffff, ratio)) }
    }

    @Test func ratioOfExactlySixtyFourIsTaken() throws {
        let frame = [UInt8](Compression.compressAlways(message).dropFirst(4))
        let most = frame.count * 64
        #expect(throws: WireError.zstd("\(message.count) bytes came out, \(most) were declared")) {
            try Compression.decompress(declare(most, frame))
        }
        #expect(throws: WireError.decompressionBomb(declared: most + 1, compressed: frame.count)) {
            try Compression.decompress(declare(most + 1, frame))
        }
    }

    @Test func whatIsSentIsNeverTakenForABomb() throws {
        var generator = MessageGenerator(seed: 3)
        let noise = generator.bytes(500)
        var compressed = 0
        for zeros in stride(from: 100, through: 60_100, by: 500) {
            let message = noise + [UInt8](repeating: 0, count: zeros)
            guard let body = Compression.compress(message) else { continue }
            compressed += 1
            #expect(try Compression.decompress(body) == message)
        }
        // Beyond about 33,000 zeros the ratio is over 64.
        #expect((40..<100).contains(compressed))
    }

    @Test func lengthMustBeTheDeclaredOne() throws {
        let body = try #require(Compression.compress(message))
        let frame = [UInt8](body.dropFirst(4))
        for wrong in [message.count - 1, message.count + 1, 0, 1] {
            #expect(throws: WireError.self, "\(wrong)") { try Compression.decompress(declare(wrong, frame)) }
        }
        #expect(throws: WireError.zstd("\(message.count) bytes came out, \(message.count + 1) were declared")) {
            try Compression.decompress(declare(message.count + 1, frame))
        }
    }

    @Test func oneFrameAndNothingElse() throws {
        let body = try #require(Compression.compress(message))
        let frame = [UInt8](body.dropFirst(4))
        #expect(throws: WireError.zstd("3 bytes follow the frame")) { try Compression.decompress(body + [1, 2, 3]) }
        #expect(throws: WireError.zstd("\(frame.count) bytes follow the frame")) {
            try Compression.decompress(declare(message.count * 2, frame + frame))
        }
        // A skippable frame (RFC 8878 §3.1.2) holds nothing.
        let skippable: [UInt8] = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 9, 9, 9, 9]
        #expect(throws: WireError.self) { try Compression.decompress(declare(4, skippable)) }
        #expect(throws: WireError.zstd("too short")) { try Compression.decompress([0, 0, 0, 1]) }
        #expect(throws: WireError.self) { try Compression.decompress(declare(100, message)) }
    }

    @Test func truncationIsAnError() throws {
        let body = try #require(Compression.compress([UInt8](message.prefix(3_000))))
        for count in 0..<body.count {
            #expect(throws: WireError.self) { try Compression.decompress([UInt8](body.prefix(count))) }
        }
    }

    private func declare(_ length: Int, _ rest: [UInt8]) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(length >> $0 & 255) } + rest
    }
}

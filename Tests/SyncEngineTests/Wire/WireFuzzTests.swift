import EventStore
@testable import SyncEngine
import TestSupport
import Testing
import WireKit

@Suite struct WireFuzzTests {
    /// 50,000 mutated frames: each ends in an error or in a message that survives another round trip.
    @Test(arguments: 0..<10) func mutatedFramesNeverCrash(part: UInt64) throws {
        var generator = MessageGenerator(seed: 77 + part)
        let corpus = try (0..<64).map { index -> [UInt8] in
            let message = try generator.message()
            // Small bodies would stay as they are: compress half of them all the same.
            guard index % 2 == 0, !message.body.isEmpty else { return message.frame(compress: false).bytes }
            return Compression.compressAlways(message.body).asFrame(type: message.type, flags: Frame.compressed)
        }
        var outcomes = (messages: 0, errors: 0)
        for _ in 0..<5_000 {
            var bytes = corpus.randomElement(using: &generator.random) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &generator.random) {
                mutate(&bytes, corpus, &generator.random)
            }
            do {
                for message in try decode(bytes, &generator.random) {
                    #expect(try Message(frame: message.frame(compress: true)) == message)
                    outcomes.messages += 1
                }
            } catch {
                outcomes.errors += 1
            }
        }
        // Neither side of the decoder is left untried.
        #expect(outcomes.messages > 200 && outcomes.errors > 1_000, "\(outcomes)")
    }

    private func mutate(_ bytes: inout [UInt8], _ corpus: [[UInt8]], _ random: inout SplitMix64) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 1: bytes[index] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &random) ?? 0
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
        case 3: bytes.remove(at: index)
        case 4: bytes.removeLast(bytes.count - index)
        case 5: bytes.replaceSubrange(index..., with: (corpus.randomElement(using: &random) ?? []).suffix(40))
        default: bytes.insert(contentsOf: bytes[..<index], at: index)
        }
        // Most mutants get a true length, so that they pass the splitter and reach the messages.
        if bytes.count >= Frame.headerSize, Int.random(in: 0..<8, using: &random) > 0 {
            let length = bytes.count - Frame.headerSize
            for (index, shift) in [24, 16, 8, 0].enumerated() { bytes[index] = UInt8(length >> shift & 255) }
        }
    }

    private func decode(_ bytes: [UInt8], _ random: inout SplitMix64) throws(WireError) -> [Message] {
        var decoder = FrameDecoder()
        var messages: [Message] = []
        let cut = Int.random(in: 0...bytes.count, using: &random)
        for piece in [bytes[..<cut], bytes[cut...]] {
            decoder.feed(piece)
            while let frame = try decoder.next() { messages.append(try Message(frame: frame)) }
        }
        return messages
    }
}

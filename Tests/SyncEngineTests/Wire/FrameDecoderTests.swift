import EventStore
@testable import SyncEngine
import TestSupport
import Testing
import WireKit

@Suite struct FrameDecoderTests {
    let hello = [UInt8](repeating: 7, count: 20)

    @Test func frameHeaderIsAsPublished() {
        let frame = Frame(type: 3, flags: 1, body: [0xaa, 0xbb])
        #expect(frame.bytes == [0, 0, 0, 2, 3, 1, 0, 0, 0xaa, 0xbb])
        #expect(frame.count == frame.bytes.count)
    }

    @Test(arguments: [1, 2, 7, 8, 9, 64, 5_000]) func framesComeOutHoweverTheyAreCut(step: Int) throws {
        var random = SplitMix64(state: 42)
        let frames =
            [Frame(type: 1, body: hello)]
            + (0..<60).map { index in
                let size = [0, 1, 100, 3_000][index % 4]
                return Frame(
                    type: UInt8(index % 12), flags: UInt8(index % 2),
                    body: (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
            }
        let stream = frames.flatMap(\.bytes)
        var decoder = FrameDecoder()
        var out: [Frame] = []
        for start in stride(from: 0, to: stream.count, by: step) {
            decoder.feed(stream[start..<min(start + step, stream.count)])
            while let frame = try decoder.next() { out.append(frame) }
            // What is held stays below one frame.
            #expect(decoder.buffered < Frame.headerSize + 3_000)
        }
        #expect(out == frames)
        #expect(decoder.buffered == 0)
    }

    @Test func lengthIsRefusedBeforeTheBodyComes() throws {
        let limits = WireLimits(maxBody: 10_000)
        for (type, limit) in [(UInt8(2), 10_000), (3, 10_000), (4, 10_000), (99, 10_000), (6, 4_096), (8, 4_096)] {
            var decoder = FrameDecoder(limits: limits)
            decoder.feed(hello.asFrame(type: 1))
            _ = try decoder.next()
            decoder.feed(header(length: limit, type: type))
            #expect(try decoder.next() == nil)

            var refusing = FrameDecoder(limits: limits)
            refusing.feed(hello.asFrame(type: 1))
            _ = try refusing.next()
            refusing.feed(header(length: limit + 1, type: type))
            #expect(throws: WireError.frameTooLarge(bytes: limit + 1, limit: limit)) { try refusing.next() }
        }
    }

    @Test func firstFrameIsNoLongerThanAHello() throws {
        var decoder = FrameDecoder()
        decoder.feed(header(length: 4_097, type: 3))
        #expect(throws: WireError.frameTooLarge(bytes: 4_097, limit: 4_096)) { try decoder.next() }
        var other = FrameDecoder()
        other.feed([UInt8](repeating: 0, count: 4_096).asFrame(type: 1))
        #expect(try other.next()?.body.count == 4_096)
    }

    @Test func nothingPassesEightMebibytes() throws {
        var decoder = FrameDecoder(limits: WireLimits(maxBody: .max))
        decoder.feed(hello.asFrame(type: 1))
        _ = try decoder.next()
        decoder.feed(header(length: 0xffff_ffff, type: 3))
        #expect(throws: WireError.frameTooLarge(bytes: 0xffff_ffff, limit: 8 << 20)) { try decoder.next() }
    }

    @Test func flagsAndReservedBitsAreRefused() {
        for flags in [UInt8(2), 3, 128, 255] {
            var decoder = FrameDecoder()
            decoder.feed(Frame(type: 1, flags: flags, body: []).bytes)
            #expect(throws: WireError.unknownFlags(flags)) { try decoder.next() }
        }
        var decoder = FrameDecoder()
        decoder.feed([0, 0, 0, 0, 1, 0, 1, 2])
        #expect(throws: WireError.reservedNotZero(0x0102)) { try decoder.next() }
    }

    @Test func anErrorStays() throws {
        var decoder = FrameDecoder()
        decoder.feed(Frame(type: 1, flags: 4, body: hello).bytes)
        #expect(throws: WireError.unknownFlags(4)) { try decoder.next() }
        decoder.feed(hello.asFrame(type: 1))
        #expect(throws: WireError.unknownFlags(4)) { try decoder.next() }
        #expect(decoder.buffered == 0)
    }

    private func header(length: Int, type: UInt8) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(length >> $0 & 255) } + [type, 0, 0, 0]
    }
}

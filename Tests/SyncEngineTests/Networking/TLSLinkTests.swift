import Foundation
import Testing
import WireKit

@testable import SyncEngine

@Suite struct TLSLinkTests {
    @Test func framesOfAllSizesArriveWholeAndInOrder() async throws {
        let pair = try LinkPair(maximumBody: 300_000)
        let sizes = [0, 1, 7, 8, 9, 16_383, 16_384, 16_385, 65_536, 300_000, 3]
        for (index, size) in sizes.enumerated() {
            pair.client.send(UInt8(index), (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) })
        }
        #expect(await eventually { pair.server.log.frames.count == sizes.count })
        for (index, frame) in pair.server.log.frames.enumerated() {
            #expect(frame.type == UInt8(index))
            #expect(frame.body == (0..<sizes[index]).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) })
        }
    }

    @Test func shortFramesAreWrittenWhenTheyAreSent() async throws {
        let pair = try LinkPair()
        #expect(await pair.bothOpen())
        let queued = pair.client.link.sync { link in
            (0..<20).map { _ in
                link.send(type: 5, body: [1, 2, 3], priority: .control)
                return link.queuedBytes
            }
        }
        #expect(queued == [Int](repeating: 0, count: 20))
        #expect(await eventually { pair.server.log.frames.count == 20 })
    }

    @Test func shortFramesThatFindNoRoomArriveInOrder() async throws {
        let pair = try LinkPair()
        #expect(await pair.bothOpen())
        pair.server.link.post { $0.pauseReading() }
        let count = 4_000
        let queued = pair.client.link.sync { link in
            for number in 0..<count {
                let body = [UInt8(number & 255), UInt8(number >> 8)] + [UInt8](repeating: 7, count: 2_000)
                link.send(type: 1, body: body, priority: .data)
            }
            return link.queuedBytes
        }
        // The socket took some of them; the first that it did not is tried again with the same bytes.
        #expect((1..<count * 2_000).contains(queued ?? 0))
        pair.server.link.post { $0.resumeReading() }
        #expect(await eventually { pair.server.log.frames.count == count })
        #expect(pair.server.log.frames.map { Int($0.body[0]) + Int($0.body[1]) << 8 } == Array(0..<count))
        #expect(pair.server.log.end == nil && pair.client.log.end == nil)
    }

    @Test func frameOverTheLimitEndsTheLink() async throws {
        let pair = try LinkPair()
        pair.client.send(1, [UInt8](repeating: 0, count: 4096))
        pair.client.send(2, [UInt8](repeating: 0, count: 4097))
        #expect(await eventually { pair.server.log.end != nil })
        #expect(pair.server.log.end == .frameTooLarge(bytes: 4097, limit: 4096))
        #expect(pair.server.log.frames.count == 1)
        #expect(await eventually { pair.client.log.end != nil })
    }

    @Test func limitCanBeRaisedInsideACallback() async throws {
        let pair = try LinkPair()
        pair.server.link.post { link in
            let log = link.onFrame
            link.onFrame = { [unowned link] type, flags, body in
                link.maximumBody = 10_000
                log?(type, flags, body)
            }
        }
        pair.client.send(1, [])
        pair.client.send(2, [UInt8](repeating: 9, count: 10_000))
        #expect(await eventually { pair.server.log.frames.count == 2 })
        #expect(pair.server.log.end == nil)
    }

    @Test(arguments: [6, 7]) func reservedBytesMustBeZero(position: Int) {
        var bytes = LinkFrameHeader(type: 1, flags: 0, bodyLength: 0).bytes
        bytes[position] = 1
        #expect(throws: LinkEnd.badFrame("the reserved bytes are not zero")) {
            try LinkFrameHeader(bytes, maximumBody: 10)
        }
    }

    @Test func headerHoldsTheGreatestLength() throws {
        let header = LinkFrameHeader(type: 200, flags: 100, bodyLength: 0xfffe_fdfc)
        #expect(header.bytes == [0xff, 0xfe, 0xfd, 0xfc, 200, 100, 0, 0])
        #expect(try LinkFrameHeader(header.bytes, maximumBody: .max) == header)
        #expect(throws: LinkEnd.frameTooLarge(bytes: 4_294_901_244, limit: 4096)) {
            try LinkFrameHeader([0xff, 0xfe, 0xfd, 0xfc, 0, 0, 0, 0], maximumBody: 4096)
        }
    }

    /// A frame of 8 + 5 bytes stops after each possible count of bytes, with goodbye and without.
    @Test(arguments: 0...13, [true, false])
    func streamCutAtEachByte(count: Int, goodbye: Bool) async throws {
        let loop = try TestLoop()
        let ends = try socketPair()
        let server = try LinkEndpoint(loop, descriptor: ends.0, context: TestKeys.context(1), role: .server)
        setBlocking(ends.1)
        let frame = LinkFrameHeader(type: 9, flags: 0, bodyLength: 5).bytes + Array("hello".utf8)
        try RawTLSClient(descriptor: ends.1, context: TestKeys.context(2)).run { client in
            for byte in frame.prefix(count) { client.write([byte]) }
            if goodbye { client.sayGoodbye() }
        }
        #expect(await eventually { server.log.end != nil })
        #expect(server.log.end == (goodbye && (count == 0 || count == 13) ? .peerClosed : .truncated))
        #expect(server.log.frames.count == (count == 13 ? 1 : 0))
        #expect(server.log.ends == 1)
    }

    @Test func manyFramesInOneRecordAndOneByteReads() async throws {
        let loop = try TestLoop()
        let ends = try socketPair()
        let server = try LinkEndpoint(loop, descriptor: ends.0, context: TestKeys.context(1), role: .server)
        setBlocking(ends.1)
        let frame = LinkFrameHeader(type: 9, flags: 0, bodyLength: 3).bytes + [1, 2, 3]
        try RawTLSClient(descriptor: ends.1, context: TestKeys.context(2)).run { client in
            client.write([[UInt8]](repeating: frame, count: 50).flatMap { $0 })
            for _ in 0..<20 { for byte in frame { client.write([byte]) } }
            client.sayGoodbye()
        }
        #expect(await eventually { server.log.end == .peerClosed })
        #expect(server.log.frames == .init(repeating: .init(type: 9, flags: 0, body: [1, 2, 3]), count: 70))
    }

    @Test func controlOvertakesData() async throws {
        let pair = try LinkPair(keepBodies: false, maximumBody: 1 << 20)
        #expect(await pair.bothOpen())
        pair.server.link.post { $0.pauseReading() }
        _ = pair.loop.loop.sync {}
        for _ in 0..<40 { pair.client.send(1, [UInt8](repeating: 0, count: 64 << 10)) }
        pair.client.send(2, [], .control)
        pair.server.link.post { $0.resumeReading() }
        #expect(await eventually { pair.server.log.frames.count == 41 })
        let place = try #require(pair.server.log.frames.firstIndex { $0.type == 2 })
        // Before it: what libevent and the kernel's socket buffer had been given.
        #expect(place < 20)
    }

    @Test func outboxSendsControlFirstAndKeepsOrder() throws {
        var outbox = LinkOutbox()
        func put(_ type: UInt8, _ priority: TLSLink.Priority) {
            outbox.append(
                .init(header: .init(type: type, flags: 0, bodyLength: 1), body: [0]), priority: priority)
        }
        for type in 0..<5 { put(UInt8(type), .data) }
        for type in 10..<13 { put(UInt8(type), .control) }
        #expect(outbox.bytes == 8 * 9)
        var order: [UInt8] = []
        while let part = outbox.next(most: 10) {
            let type = try #require(part.header?.type)
            order.append(type)
            if type == 1 { put(20, .control) }
        }
        #expect(order == [10, 11, 12, 0, 1, 20, 2, 3, 4])
        #expect(outbox.isEmpty)
        #expect(outbox.bytes == 0)
    }

    @Test func outboxGivesLongFramesInPartsThatNothingComesBetween() {
        var outbox = LinkOutbox()
        let body = (0..<25).map { UInt8($0) }
        outbox.append(.init(header: .init(type: 1, flags: 0, bodyLength: 25), body: body), priority: .data)
        var parts: [LinkOutbox.Part] = []
        while let part = outbox.next(most: 10) {
            parts.append(part)
            #expect(outbox.isEmpty == (parts.count == 4))
            if parts.count == 1 {
                outbox.append(.init(header: .init(type: 2, flags: 0, bodyLength: 0), body: []), priority: .control)
            }
        }
        #expect(parts.map { $0.header?.type } == [1, nil, nil, 2])
        #expect(parts.flatMap(\.body) == body)
        #expect(outbox.bytes == 0)
    }

    @Test func pauseHoldsThePeerBackInBoundedMemory() async throws {
        var limits = TLSLink.Limits()
        limits.maximumQueuedBytes = 64 << 20
        let pair = try LinkPair(limits: limits, keepBodies: false, maximumBody: 1 << 20)
        #expect(await pair.bothOpen())
        pair.server.link.post { $0.pauseReading() }
        for _ in 0..<32 { pair.client.send(1, [UInt8](repeating: 0, count: 1 << 20)) }
        // Once the sender's queue no longer shrinks, only the socket buffers have taken data.
        _ = await eventually(.milliseconds(300)) { false }
        let held = try #require(
            pair.server.link.sync { link in link.bufferevent.map { evbufferLengthOfInput($0) } ?? -1 })
        #expect(held < 64 << 10)
        #expect(pair.server.log.frames.isEmpty)
        let waiting = try #require(pair.client.link.sync { $0.queuedBytes })
        #expect(waiting > 28 << 20)
        pair.server.link.post { $0.resumeReading() }
        #expect(await eventually { pair.server.log.bytes == 32 << 20 })
        #expect(await eventually { pair.client.log.writable == 1 })
    }

    @Test func pauseInsideACallbackStopsAfterThatFrame() async throws {
        let pair = try LinkPair()
        pair.server.link.post { link in
            let log = link.onFrame
            link.onFrame = { [unowned link] type, flags, body in
                log?(type, flags, body)
                link.pauseReading()
            }
        }
        for type in 0..<5 { pair.client.send(UInt8(type), [1]) }
        for expected in 1...5 {
            #expect(await eventually { pair.server.log.frames.count == expected })
            _ = pair.loop.loop.sync {}
            #expect(pair.server.log.frames.count == expected)
            pair.server.link.post { $0.resumeReading() }
        }
    }

    @Test func gracefulCloseDeliversEverything() async throws {
        let pair = try LinkPair(keepBodies: false, maximumBody: 1 << 20)
        #expect(await pair.bothOpen())
        pair.client.link.post { link in
            for _ in 0..<100 { link.send(type: 1, body: [UInt8](repeating: 0, count: 60_000), priority: .data) }
            link.close(afterFlush: .seconds(20))
            #expect(!link.send(type: 2, body: [], priority: .control))
        }
        // The other side is still sending, which must not spoil the end.
        for _ in 0..<20 { pair.server.send(3, [UInt8](repeating: 0, count: 4096)) }
        #expect(await eventually { pair.server.log.end != nil && pair.client.log.end != nil })
        #expect(pair.server.log.bytes == 6_000_000)
        #expect(pair.server.log.end == .peerClosed)
        #expect([.closedByUs, .peerClosed].contains(pair.client.log.end))
    }

    @Test func abortTellsOnceAndLater() async throws {
        let pair = try LinkPair()
        #expect(await pair.bothOpen())
        let endsInside = pair.client.link.sync { [log = pair.client.log] link in
            link.abort()
            link.abort()
            link.close()
            return log.ends
        }
        #expect(endsInside == 0)
        #expect(await eventually { pair.server.log.end != nil })
        #expect(pair.client.log.ends == 1)
        #expect(pair.client.log.end == .closedByUs)
        #expect(pair.server.log.end == .truncated || pair.server.log.end == .socket("ECONNRESET"))
    }

    @Test func peerThatTakesNothingIsSlow() async throws {
        var limits = TLSLink.Limits()
        limits.writeProgressTimeout = .milliseconds(200)
        let pair = try LinkPair(limits: limits, keepBodies: false, maximumBody: 1 << 20)
        #expect(await pair.bothOpen())
        pair.server.link.post { $0.pauseReading() }
        for _ in 0..<4 { pair.client.send(1, [UInt8](repeating: 0, count: 1 << 20)) }
        #expect(await eventually { pair.client.log.end != nil })
        #expect(pair.client.log.end == .slowPeer)
        #expect(pair.server.log.end == nil)
    }

    @Test func fullOutboxIsSlow() async throws {
        var limits = TLSLink.Limits()
        limits.maximumQueuedBytes = 1 << 20
        let pair = try LinkPair(limits: limits)
        #expect(await pair.bothOpen())
        let answers = pair.client.link.sync { link in
            (0..<20).map { _ in link.send(type: 1, body: [UInt8](repeating: 0, count: 100_000), priority: .data) }
        }
        #expect(answers?.prefix(10).allSatisfy { $0 } == true)
        #expect(answers?.suffix(10).allSatisfy { !$0 } == true)
        #expect(await eventually { pair.client.log.end == .slowPeer })
        #expect(pair.client.log.ends == 1)
    }

    @Test func stoppingTheLoopClosesLinks() async throws {
        let pair = try LinkPair()
        #expect(await pair.bothOpen())
        pair.client.link.post { $0.abort() }
        pair.loop.loop.stop()
        #expect(pair.client.log.ends == 1)
        #expect(pair.server.log.ends == 1)
    }
}

import Foundation
import Testing

import EventStore
@testable import SyncEngine

@Suite struct HTTPStreamTests {
    static let get = "GET /feed HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    @Test func streamIsChunkedAndEnds() throws {
        let server = try TestHTTPServer { exchange in
            let stream = exchange.startStream(status: 200, contentType: "application/x-ndjson")
            Thread.detachNewThread {
                for line in 0..<3 { stream.write(Array("line \(line)\n".utf8)) }
                stream.write([])
                stream.end()
            }
        }
        let reply = try server.exchange(HTTPStreamTests.get)
        #expect(reply.contains("Transfer-Encoding: chunked\r\n"))
        #expect(reply.hasSuffix("\r\n\r\n7\r\nline 0\n\r\n7\r\nline 1\n\r\n7\r\nline 2\n\r\n0\r\n\r\n"))
    }

    @Test func oldClientsGetItPlain() throws {
        let server = try TestHTTPServer { exchange in
            let stream = exchange.startStream(status: 200, contentType: "text/plain")
            stream.write(Array("plain".utf8))
            stream.end()
        }
        #expect(try server.exchange("GET / HTTP/1.0\r\nHost: x\r\n\r\n").hasSuffix("\r\n\r\nplain"))
    }

    @Test func headOfAStreamHasNoBody() throws {
        let server = try TestHTTPServer { exchange in
            let stream = exchange.startStream(status: 200, contentType: "text/plain")
            stream.write(Array("nothing of this".utf8))
            stream.end()
        }
        let reply = try server.exchange("HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(reply.hasPrefix("HTTP/1.1 200 "))
        #expect(reply.hasSuffix("\r\n\r\n"))
        #expect(!reply.contains("nothing"))
    }

    @Test func connectionLivesOnAfterAStream() throws {
        let server = try TestHTTPServer { exchange in
            let stream = exchange.startStream(status: 200, contentType: "text/plain")
            stream.write(Array(exchange.request.path.utf8))
            stream.end()
        }
        let client = try RawHTTPClient(unixSocket: server.path)
        for number in 0..<3 {
            client.send("GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(client.read(until: "0\r\n\r\n").contains("2\r\n/\(number)\r\n"))
        }
    }

    @Test func leavingFollowerIsNoticed() async throws {
        let gone = Lock(false)
        let streams = Lock<[HTTPStream]>([])
        let server = try TestHTTPServer { exchange in
            let stream = exchange.startStream(status: 200, contentType: "text/event-stream") {
                gone.withLock { $0 = true }
            }
            stream.write(Array(": hello\n\n".utf8))
            streams.withLock { $0.append(stream) }
        }
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("GET /feed HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(client.read(until: "hello\n\n\r\n").contains(": hello"))
        client.hangUp()
        #expect(await eventually { gone.withLock { $0 } })
        let stream = try #require(streams.withLock { $0.first })
        #expect(!stream.write(Array("late".utf8)))
        stream.end()
        #expect(await eventually { server.openConnections == 0 })
    }

    @Test func followerThatNeverReadsIsCutOff() async throws {
        var limits = HTTPLimits()
        limits.maximumBacklog = 256 << 10
        let streams = Lock<[HTTPStream]>([])
        let gone = Lock(false)
        let server = try TestHTTPServer(limits: limits) { exchange in
            let stream = exchange.startStream(status: 200, contentType: nil) { gone.withLock { $0 = true } }
            streams.withLock { $0.append(stream) }
        }
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("GET /feed HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(await eventually { streams.withLock { $0.count } == 1 })
        let stream = try #require(streams.withLock { $0.first })
        var accepted = 0
        while accepted < 64 << 20, stream.write([UInt8](repeating: 65, count: 16 << 10)) {
            accepted += 16 << 10
            #expect(stream.backlog <= limits.maximumBacklog + (64 << 10))
        }
        #expect(accepted < 64 << 20)
        #expect(await eventually { gone.withLock { $0 } && server.openConnections == 0 })
    }

    /// A large export goes out piece by piece, each when the one before has left.
    @Test func drainedDrivesALargeExport() throws {
        let pieces = 400
        let server = try TestHTTPServer { exchange in
            Export(stream: exchange.startStream(status: 200, contentType: nil), pieces: pieces).next()
        }
        let reply = try server.exchange("GET / HTTP/1.0\r\nHost: x\r\n\r\n")
        let body = reply.components(separatedBy: "\r\n\r\n").last ?? ""
        #expect(body.utf8.count == pieces * Export.size)
    }

    final class Export: Sendable {
        static let size = 50_000
        let stream: HTTPStream
        let left: Lock<Int>

        init(stream: HTTPStream, pieces: Int) {
            self.stream = stream
            left = Lock(pieces)
        }

        func next() {
            let more = left.withLock { left -> Bool in
                left -= 1
                return left >= 0
            }
            guard more else { return stream.end() }
            stream.write([UInt8](repeating: 66, count: Export.size)) { self.next() }
        }
    }

    @Test func droppedStreamBreaksOff() throws {
        let server = try TestHTTPServer { exchange in
            exchange.startStream(status: 200, contentType: nil).write(Array("half".utf8))
        }
        let reply = try server.exchange(HTTPStreamTests.get)
        #expect(!reply.hasSuffix("0\r\n\r\n"))
    }

    /// A client that keeps sending while it is being answered fills no memory: its own writes stall.
    @Test func junkDuringAStreamIsHeldBack() async throws {
        let streams = Lock<[HTTPStream]>([])
        let server = try TestHTTPServer { exchange in
            let stream = exchange.startStream(status: 200, contentType: nil)
            streams.withLock { $0.append(stream) }
        }
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("GET /feed HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(await eventually { streams.withLock { $0.count } == 1 })
        let junk = [UInt8](repeating: 0x20, count: 64 << 10)
        var sent = 0
        for _ in 0..<200 {
            let count = send(client.descriptor, junk, junk.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            if count > 0 { sent += count } else { usleep(2000) }
        }
        #expect(sent < 4 << 20)
        streams.withLock { $0 = [] }
    }
}

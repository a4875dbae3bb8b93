import Foundation
import TestSupport
import Testing

import EventStore
@testable import SyncEngine

/// Bodies that are taken as they come: whole, in order, never more in memory than was said, and never without an end (INV-9).
@Suite struct HTTPUploadTests {
    private static var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.maximumBodyBytes = 10
        limits.streamed = { method, path in method == "POST" && path.first == "big" }
        return limits
    }

    /// Counts what comes, and answers with how much that was.
    private static func counting(_ most: Lock<Int>? = nil) -> @Sendable (HTTPExchange) -> Void {
        { exchange in
            guard exchange.request.isStreamed else {
                return exchange.reply(
                    status: 200, contentType: "text/plain", body: Array("plain \(exchange.request.body.count)".utf8))
            }
            let state = Lock((count: 0, sum: 0, waiting: 0))
            exchange.receive { bytes in
                state.withLock {
                    $0.count += bytes.count
                    $0.sum = bytes.reduce($0.sum) { ($0 &* 31 &+ Int($1)) % 1_000_003 }
                    $0.waiting += bytes.count
                }
                let waiting = state.withLock { $0.waiting }
                most?.withLock { $0 = max($0, waiting) }
                Thread.detachNewThread {
                    usleep(200)
                    state.withLock { $0.waiting -= bytes.count }
                    exchange.received(bytes.count)
                }
            } onEnd: { isWhole in
                let text = state.withLock { "\(isWhole) \($0.count) \($0.sum)" }
                exchange.reply(status: 200, contentType: "text/plain", body: Array(text.utf8))
            }
        }
    }

    @Test(
        "A body far beyond the limit of others comes whole and in order, and who takes it slowly is never given more than he has room for"
    )
    func whole() throws {
        let most = Lock(0)
        let server = try TestHTTPServer(limits: Self.limits, handler: Self.counting(most))
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 % 95 + 32) }
        let sum = bytes.reduce(0) { ($0 &* 31 &+ Int($1)) % 1_000_003 }
        let text = String(decoding: bytes, as: UTF8.self)
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("POST /big HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n" + text)
        #expect(client.read(until: "true 3000000 \(sum)").hasSuffix("true 3000000 \(sum)"))
        // The connection lives on.
        client.send("POST /big HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n")
        #expect(
            client.read(until: "true 4 \([97, 98, 99, 100].reduce(0) { ($0 * 31 + $1) % 1_000_003 })").contains(
                "true 4 "))
        client.send("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
        #expect(client.read(until: "plain 3").hasSuffix("plain 3"))
        #expect(most.withLock { $0 } <= Self.limits.streamedAhead + 64 << 10)
    }

    @Test("A client that leaves in the midst is told of, once")
    func leaves() throws {
        let ends = Lock<[Bool]>([])
        let server = try TestHTTPServer(limits: Self.limits) { exchange in
            exchange.receive {
                exchange.received($0.count)
            } onEnd: { isWhole in
                ends.withLock { $0.append(isWhole) }
            }
        }
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("POST /big HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc")
        usleep(100_000)
        #expect(ends.withLock { $0 } == [])
        client.hangUp()
        waitWhile(ends.withLock({ $0.isEmpty }))
        #expect(ends.withLock { $0 } == [false])
        waitWhile(server.openConnections > 0)
        #expect(server.openConnections == 0)
    }

    @Test("An answer before the end is the last of its connection; a client that waits to be let in is asked first")
    func refused() throws {
        let server = try TestHTTPServer(limits: Self.limits) { exchange in
            if exchange.request.path == "/big/no" {
                return exchange.reply(status: 415, contentType: "text/plain", body: Array("no".utf8))
            }
            exchange.receive {
                exchange.received($0.count)
            } onEnd: { _ in
                exchange.reply(status: 200, contentType: "text/plain", body: Array("yes".utf8))
            }
        }
        let reply = try server.exchange("POST /big/no HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\nabc")
        #expect(reply.hasPrefix("HTTP/1.1 415 Unsupported Media Type\r\n") && reply.contains("Connection: close\r\n"))
        #expect(reply.hasSuffix("no"))
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("POST /big HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        #expect(client.read(until: "Continue\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
        client.send("abc")
        #expect(client.read(until: "yes").hasSuffix("yes"))
        let refused = try server.exchange(
            "POST /big/no HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        #expect(refused.hasPrefix("HTTP/1.1 415 "))
    }

    @Test("A client that sends nothing, or nearly nothing, is cut off")
    func slow() throws {
        var limits = Self.limits
        (limits.idleTimeout, limits.requestDeadline) = (.seconds(30), .milliseconds(400))
        let ends = Lock<[Bool]>([])
        let server = try TestHTTPServer(limits: limits) { exchange in
            exchange.receive {
                exchange.received($0.count)
            } onEnd: { isWhole in
                ends.withLock { $0.append(isWhole) }
            }
        }
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("POST /big HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        for _ in 0..<6_000 where ends.withLock({ $0.isEmpty }) {
            client.send("a")
            usleep(10_000)
        }
        #expect(ends.withLock { $0 } == [false])
    }

    @Test(
        "An answer of known length is sent without chunks; of HEAD the length alone; one that breaks off ends the connection"
    )
    func knownLength() throws {
        let server = try TestHTTPServer { exchange in
            let stream = exchange.startStream(status: 206, contentType: "image/png", length: 6)
            stream.write(Array("abc".utf8))
            if exchange.request.path == "/broken" { return }
            stream.write(Array("def".utf8))
            stream.end()
        }
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("GET /whole HTTP/1.1\r\nHost: x\r\n\r\n")
        let reply = client.read(until: "abcdef")
        #expect(
            reply.contains("Content-Length: 6\r\n") && !reply.contains("chunked")
                && reply.contains("206 Partial Content"))
        client.send("HEAD /whole HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n").contains("Content-Length: 6\r\n"))
        client.send("GET /broken HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(client.read().hasSuffix("\r\n\r\nabc"))
    }
}

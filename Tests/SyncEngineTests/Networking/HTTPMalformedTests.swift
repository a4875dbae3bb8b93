import Foundation
import Testing

import EventStore
@testable import SyncEngine

@Suite struct HTTPMalformedTests {
    /// Header lines that must be answered with 400 on a closed connection, whatever follows them.
    static let bad = [
        "Host: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked", "Host: x\r\nHost: y", "X-No-Host: 1",
        "Host: x\r\nContent-Length: +3", "Host: x\r\nContent-Length: -3", "Host: x\r\nContent-Length: 3, 3",
        "Host: x\r\nContent-Length: 3\r\nContent-Length: 4", "Host: x\r\nContent-Length: 3\r\nContent-Length: 3",
        "Host: x\r\nContent-Length: 99999999999999999999", "Host: x\r\nContent-Length : 3",
        "Host: x\r\nTransfer-Encoding: gzip, chunked",
        "Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Host: x\r\n: empty name", "Host: x\r\nBad Name: 1", "Host: x\r\nno colon here",
    ]

    @Test(arguments: bad) func badHeadersAreRefused(lines: String) throws {
        let handled = Lock(0)
        let server = try TestHTTPServer { exchange in
            handled.withLock { $0 += 1 }
            exchange.reply(status: 200, contentType: nil)
        }
        // What follows is a body to one reading and a second request to another.
        let reply = try server.exchange("POST / HTTP/1.1\r\n\(lines)\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        #expect(handled.withLock { $0 } == 0)
        #expect(reply.hasPrefix("HTTP/1.1 400 ") || reply.hasPrefix("HTTP/1.1 413 "), "\(reply)")
        #expect(reply.components(separatedBy: "HTTP/1.1 ").count == 2)
    }

    @Test(arguments: ["/%", "/%4", "/%zz", "/%00", "/%ff", "/a?b=%q"]) func badEscapesAreRefused(target: String)
        throws
    {
        let server = try TestHTTPServer(handler: HTTPServerTests.echo)
        let reply = try server.exchange("GET \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(reply.hasPrefix("HTTP/1.1 400 "), "\(reply)")
    }

    @Test(arguments: [
        "GET /\r\n\r\n", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", " \r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "FETCH / HTTP/1.1\r\nHost: x\r\n\r\n",
    ]) func rubbishIsNeverHandled(text: String) throws {
        let handled = Lock(0)
        let server = try TestHTTPServer { _ in handled.withLock { $0 += 1 } }
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send(text)
        shutdown(client.descriptor, Int32(SHUT_WR))
        let reply = client.read()
        #expect(reply.isEmpty || reply.hasPrefix("HTTP/1.1 4") || reply.hasPrefix("HTTP/1.1 5"), "\(reply)")
        #expect(handled.withLock { $0 } == 0)
    }

    @Test(arguments: [
        "Content-Length: 2000\r\n\r\n" + String(repeating: "x", count: 2000),
        "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + String(repeating: "x", count: 2000) + "\r\n0\r\n\r\n",
        "Content-Length: 2000\r\nExpect: 100-continue\r\n\r\n",
    ]) func bodyOverTheLimitIs413(rest: String) throws {
        var limits = HTTPLimits()
        limits.maximumBodyBytes = 1000
        let server = try TestHTTPServer(limits: limits, handler: HTTPServerTests.echo)
        let reply = try server.exchange("POST / HTTP/1.1\r\nHost: x\r\n\(rest)")
        #expect(reply.contains("HTTP/1.1 413 "), "\(reply)")
    }

    @Test func headersOverTheLimitAreRefused() throws {
        var limits = HTTPLimits()
        limits.maximumHeaderBytes = 1000
        let server = try TestHTTPServer(limits: limits, handler: HTTPServerTests.echo)
        let line = "X-Long: \(String(repeating: "x", count: 2000))"
        #expect(try server.exchange("GET / HTTP/1.1\r\nHost: x\r\n\(line)\r\n\r\n").hasPrefix("HTTP/1.1 400 "))
    }

    /// Slow enough for every idle timeout, but the whole request has a deadline.
    @Test func oneByteAtATimeMeetsTheDeadline() async throws {
        var limits = HTTPLimits()
        limits.requestDeadline = .milliseconds(200)
        let server = try TestHTTPServer(limits: limits, handler: HTTPServerTests.echo)
        let client = try RawHTTPClient(unixSocket: server.path)
        let start = ContinuousClock.now
        while client.send("G"), ContinuousClock.now - start < .seconds(20) {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(await eventually { server.openConnections == 0 })
    }

    @Test func silentAndVanishingClientsLeaveNothing() async throws {
        var limits = HTTPLimits()
        limits.requestDeadline = .milliseconds(200)
        let server = try TestHTTPServer(limits: limits, handler: HTTPServerTests.echo)
        var clients: [RawHTTPClient] = []
        for index in 0..<20 {
            let client = try RawHTTPClient(unixSocket: server.path)
            if index % 3 == 1 { client.hangUp() }
            if index % 3 == 2 { client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf") }
            clients.append(client)
        }
        #expect(await eventually { server.openConnections == 0 })
        for client in clients where client.descriptor >= 0 { #expect(client.read().isEmpty) }
    }

    @Test func connectionsAreBounded() async throws {
        var limits = HTTPLimits()
        limits.maximumConnections = 2
        let server = try TestHTTPServer(limits: limits, handler: HTTPServerTests.echo)
        let clients = try (0..<4).map { _ in try RawHTTPClient(unixSocket: server.path) }
        #expect(await eventually { server.openConnections == 2 })
        clients[0].hangUp()
        clients[1].hangUp()
        for client in clients[2...] {
            client.send("GET /late HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(client.read().hasSuffix("GET /late [] "))
        }
    }

    @Test func replyHeadersCannotBeSplit() throws {
        let server = try TestHTTPServer { exchange in
            let field = HTTPField("X-Bad", "a\r\nX-Injected: yes")
            exchange.reply(status: 200, contentType: "text/plain", headers: [field], body: Array("ok".utf8))
        }
        let reply = try server.exchange("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(!reply.contains("X-Injected"))
        #expect(reply.hasSuffix("ok"))
    }
}

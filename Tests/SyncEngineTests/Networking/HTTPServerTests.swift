import Foundation
import Testing

import EventStore
@testable import SyncEngine

@Suite struct HTTPServerTests {
    /// Tells what it was asked.
    static let echo: @Sendable (HTTPExchange) -> Void = { exchange in
        let request = exchange.request
        let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        let body = "\(request.method) \(request.path) [\(query)] \(String(decoding: request.body, as: UTF8.self))"
        exchange.reply(
            status: 200, contentType: "text/plain; charset=utf-8",
            headers: [HTTPField("X-Test", request.header("x-ASK") ?? "none")], body: Array(body.utf8))
    }

    @Test func getAndPostOverAUnixSocket() throws {
        let server = try TestHTTPServer(handler: HTTPServerTests.echo)
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("GET /v1/a%20b?x=1&y=%EA%B0%80+z&flag HTTP/1.1\r\nHost: x\r\nX-Ask: me\r\n\r\n")
        let first = client.read(until: "] ")
        #expect(first.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(first.contains("X-Test: me\r\n"))
        #expect(first.contains("Content-Type: text/plain; charset=utf-8\r\n"))
        #expect(first.hasSuffix("\r\n\r\nGET /v1/a b [x=1,y=가 z,flag=] "))
        client.send("POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nConnection: close\r\n\r\n{\"a\":1")
        #expect(client.read().hasSuffix("\r\n\r\nPOST /v1/events [] {\"a\":1"))
    }

    @Test func chunkedBodyAndPipelining() throws {
        let server = try TestHTTPServer(handler: HTTPServerTests.echo)
        let reply = try server.exchange(
            "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
                + "GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(reply.contains("POST /a [] abcde"))
        #expect(reply.hasSuffix("GET /b [] "))
    }

    @Test func headTellsTheLengthAndSendsNothing() throws {
        let server = try TestHTTPServer(handler: HTTPServerTests.echo)
        let reply = try server.exchange(
            "HEAD /h HTTP/1.1\r\nHost: x\r\n\r\nGET /g HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        let parts = reply.components(separatedBy: "\r\n\r\n")
        #expect(parts.count == 3)
        #expect(parts[0].contains("Content-Length: 11"))
        #expect(parts[1].hasPrefix("HTTP/1.1 200"))
        #expect(parts[2] == "GET /g [] ")
    }

    @Test(arguments: ["PATCH", "OPTIONS", "TRACE"]) func otherMethodsAreNotAllowed(method: String) throws {
        var limits = HTTPLimits()
        limits.allowedMethods = ["GET", "HEAD"]
        let server = try TestHTTPServer(limits: limits, handler: HTTPServerTests.echo)
        let reply = try server.exchange("\(method) / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(reply.hasPrefix("HTTP/1.1 405 "))
        #expect(reply.contains("Allow: GET, HEAD\r\n"))
    }

    @Test func peerCredentialsOfAUnixPeerOnly() throws {
        let seen = Lock<[PeerCredentials?]>([])
        let server = try TestHTTPServer { exchange in
            seen.withLock { $0.append(exchange.request.peer) }
            exchange.reply(status: 204, contentType: nil)
        }
        let request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        #expect(try server.exchange(request).hasPrefix("HTTP/1.1 204 "))
        let port = try #require(
            server.server.sync { server in Result { try server.listen(host: "127.0.0.1", port: 0) } }
        ).get()
        let client = try RawHTTPClient(port: port)
        client.send(request)
        #expect(client.read().hasPrefix("HTTP/1.1 204 "))
        let mine = PeerCredentials(pid: getpid(), uid: getuid(), gid: getgid())
        #expect(seen.withLock { $0 } == [mine, nil])
    }

    @Test func replyFromAnotherThread() throws {
        let server = try TestHTTPServer { exchange in
            Thread.detachNewThread {
                exchange.reply(status: 201, contentType: "text/plain", body: Array("first".utf8))
                exchange.reply(status: 500, contentType: "text/plain", body: Array("second".utf8))
            }
        }
        let reply = try server.exchange("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(reply.hasPrefix("HTTP/1.1 201 "))
        #expect(reply.hasSuffix("\r\n\r\nfirst"))
    }

    @Test func droppedExchangeIsAnswered() throws {
        let server = try TestHTTPServer { _ in }
        #expect(
            try server.exchange("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").hasPrefix("HTTP/1.1 500 "))
    }

    @Test(arguments: [true, false]) func replyAfterTheClientLeft(watched: Bool) async throws {
        let held = Lock<[HTTPExchange]>([])
        let gone = Lock(0)
        let server = try TestHTTPServer { exchange in
            if watched { exchange.watchClient { gone.withLock { $0 += 1 } } }
            held.withLock { $0.append(exchange) }
        }
        for _ in 0..<20 {
            let client = try RawHTTPClient(unixSocket: server.path)
            client.send("GET /poll HTTP/1.1\r\nHost: x\r\n\r\n")
        }
        #expect(await eventually { held.withLock { $0.count } == 20 })
        if watched { #expect(await eventually { gone.withLock { $0 } == 20 && server.openConnections == 0 }) }
        for exchange in held.withLock({ $0 }) {
            exchange.reply(status: 200, contentType: "text/plain", body: Array("late".utf8))
        }
        held.withLock { $0 = [] }
        #expect(await eventually { server.openConnections == 0 })
    }

    @Test func watchedPollAnswersAndKeepsTheConnection() async throws {
        let held = Lock<[HTTPExchange]>([])
        var limits = HTTPLimits()
        limits.idleTimeout = .milliseconds(150)
        let server = try TestHTTPServer(limits: limits) { exchange in
            guard exchange.request.path == "/poll" else { return HTTPServerTests.echo(exchange) }
            exchange.watchClient {}
            held.withLock { $0.append(exchange) }
        }
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("GET /poll HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(await eventually { held.withLock { $0.count } == 1 })
        // A second request that comes meanwhile waits; so long a silence does not end a poll.
        client.send("GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        _ = await eventually(.milliseconds(400)) { false }
        held.withLock { $0.removeFirst() }.reply(status: 200, contentType: "text/plain", body: Array("news".utf8))
        let reply = client.read()
        #expect(reply.contains("\r\n\r\nnews"))
        #expect(reply.hasSuffix("GET /next [] "))
    }

    @Test func stoppingTheLoopWithOpenExchanges() async throws {
        let held = Lock<[HTTPExchange]>([])
        let server = try TestHTTPServer { exchange in held.withLock { $0.append(exchange) } }
        let idle = try RawHTTPClient(unixSocket: server.path)
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(await eventually { held.withLock { $0.count } == 1 && server.openConnections == 2 })
        server.test.loop.stop()
        #expect(client.read().isEmpty)
        #expect(idle.read().isEmpty)
        held.withLock { $0.first }?.reply(status: 200, contentType: nil)
        #expect(!FileManager.default.fileExists(atPath: server.path))
    }

    @Test func closeInsideAHandlerIsSafe() async throws {
        let box = Lock<LoopBound<HTTPServer>?>(nil)
        let server = try TestHTTPServer { exchange in
            box.withLock { $0 }?.value.close()
            exchange.reply(status: 200, contentType: nil)
        }
        box.withLock { $0 = server.server }
        let reply = try server.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(reply.isEmpty || reply.hasPrefix("HTTP/1.1 200 "))
        #expect(await eventually { !FileManager.default.fileExists(atPath: server.path) })
        box.withLock { $0 = nil }
    }

    @Test func socketFileRules() throws {
        let server = try TestHTTPServer(handler: HTTPServerTests.echo)
        var status = stat()
        #expect(lstat(server.path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let second = try server.test.make {
            HTTPServer(loop: server.test.loop, handler: HTTPServerTests.echo)
        }
        func listen(_ path: String) throws {
            try #require(second.sync { server in Result { try server.listen(unixSocket: path, mode: 0o600) } }).get()
        }
        #expect(throws: TransportError.socketInUse(path: server.path)) { try listen(server.path) }
        let file = server.path + ".txt"
        try Data("precious".utf8).write(to: URL(fileURLWithPath: file))
        #expect(throws: TransportError.notASocket(path: file)) { try listen(file) }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
        let long = "/tmp/" + String(repeating: "x", count: 103)
        #expect(throws: TransportError.pathTooLong(long)) { try listen(long) }

        let stale = server.path + ".stale"
        let address = try SocketAddress(unixPath: stale)
        let descriptor = socket(AF_UNIX, SocketType.stream, 0)
        #expect(address.withPointer { bind(descriptor, $0, address.length) } == 0)
        close(descriptor)
        try listen(stale)
        let client = try RawHTTPClient(unixSocket: stale)
        client.send("GET /stale HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(client.read().hasSuffix("GET /stale [] "))
    }
}

import EventStore
import Foundation
import Testing

@testable import SyncEngine

/// The life of a connection: order, ends, slow and impatient clients.
@Suite struct HTTPConnectionTests {
    private static let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func expectationIsAnswered() throws {
        let server = try TestHTTPServer(handler: HTTPServerTests.echo)
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("POST /e HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n")
        client.send("Connection: close\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("abc")
        #expect(client.read().hasSuffix("POST /e [] abc"))
    }

    /// Answers from another thread, and at once, in the order of the requests.
    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let server = try TestHTTPServer { exchange in
            guard exchange.request.path.hasSuffix("0") else { return HTTPServerTests.echo(exchange) }
            Thread.detachNewThread {
                usleep(2000)
                HTTPServerTests.echo(exchange)
            }
        }
        let client = try RawHTTPClient(unixSocket: server.path)
        let numbers = (0..<40).map { $0 % 3 == 0 ? "\($0)0" : "\($0)1" }
        client.send(numbers.map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
        client.send("GET /end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        let answers = client.read().matches(of: /GET \/(\w+) \[\]/).map { String($0.output.1) }
        #expect(answers == numbers + ["end"])
    }

    /// A client that shuts down its side has asked its last, and is answered all the same.
    @Test(arguments: [false, true]) func halfClosedClientsAreAnswered(isLate: Bool) throws {
        let server = try TestHTTPServer { exchange in
            guard isLate else { return HTTPServerTests.echo(exchange) }
            Thread.detachNewThread {
                usleep(50_000)
                HTTPServerTests.echo(exchange)
            }
        }
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send(Self.get + Self.get + "GET /half")
        shutdown(client.descriptor, Int32(SHUT_WR))
        #expect(client.read().components(separatedBy: "GET / [] ").count == 3)
    }

    /// The kernel speaks of what has come once, and keeps a request until it is answered: nothing of what comes during an
    /// answer is lost or read twice, however it is cut.
    @Test(arguments: [1, 700, 5_000, 65_536, 1 << 20]) func whatComesDuringAnAnswerIsReadOnce(piece: Int) throws {
        let server = try TestHTTPServer { exchange in
            // Or until who answers it takes it.
            Thread.detachNewThread {
                usleep(500)
                HTTPServerTests.echo(exchange)
            }
        }
        let client = try RawHTTPClient(unixSocket: server.path)
        let bodies = (0..<20).map { "\($0):" + String(repeating: "b", count: $0 % 3 == 0 ? 20_000 : $0) }
        var requests = bodies.map { "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)" }
            .joined()
        requests += "GET /end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        let text = Array(requests.utf8)
        var rest = text[...]
        // Byte by byte at first, then the rest at once.
        while !rest.isEmpty {
            let next = piece == 1 && rest.count < text.count - 100 ? rest.count : min(piece, rest.count)
            client.send(String(decoding: rest.prefix(next), as: UTF8.self))
            rest = rest.dropFirst(next)
        }
        let answers = client.read()
        let found = answers.matches(of: /POST \/p \[\] (\d+:b*)/).map { String($0.output.1) }
        #expect(found == bodies)
        #expect(answers.hasSuffix("GET /end [] "))
    }

    /// As the kernel tells of the end together with what came before it.
    @Test func aClientThatLeavesWithItsRequestIsNoticed() async throws {
        let gone = Lock(0)
        let held = Lock<[HTTPExchange]>([])
        let server = try TestHTTPServer { exchange in
            held.withLock { $0.append(exchange) }
            exchange.watchClient { gone.withLock { $0 += 1 } }
        }
        for isHard in [false, true] {
            let client = try RawHTTPClient(unixSocket: server.path)
            client.send(Self.get)
            if isHard { client.hangUp() } else { shutdown(client.descriptor, Int32(SHUT_WR)) }
            #expect(await eventually { gone.withLock { $0 } == (isHard ? 2 : 1) })
            #expect(await eventually { server.openConnections == 0 })
        }
    }

    /// Work for one that is gone is given up; who has only said all gets the answer.
    @Test func theEndOfAClientIsToldDuringAnAnswer() async throws {
        let ends = Lock<[Bool]>([])
        let held = Lock<[HTTPExchange]>([])
        let server = try TestHTTPServer { exchange in
            held.withLock { $0.append(exchange) }
            exchange.watchEnd { isGone in ends.withLock { $0.append(isGone) } }
        }
        let half = try RawHTTPClient(unixSocket: server.path)
        half.send(Self.get)
        #expect(await eventually { held.withLock { $0.count } == 1 })
        shutdown(half.descriptor, Int32(SHUT_WR))
        #expect(await eventually { ends.withLock { $0 } == [false] })
        held.withLock { $0.removeFirst() }.reply(status: 200, contentType: nil, body: Array("all".utf8))
        #expect(half.read().hasSuffix("\r\n\r\nall"))
        // It has ended before anyone watches.
        let early = try RawHTTPClient(unixSocket: server.path)
        early.send(Self.get)
        shutdown(early.descriptor, Int32(SHUT_WR))
        #expect(await eventually { ends.withLock { $0 } == [false, false] })
        held.withLock { $0.removeFirst() }.reply(status: 200, contentType: nil, body: Array("all".utf8))
        #expect(early.read().hasSuffix("\r\n\r\nall"))
        let gone = try RawHTTPClient(unixSocket: server.path)
        gone.send(Self.get)
        #expect(await eventually { held.withLock { $0.count } == 1 })
        gone.hangUp()
        #expect(await eventually { ends.withLock { $0 } == [false, false, true] && server.openConnections == 0 })
        held.withLock { $0 = [] }
    }

    /// An answer larger than the kernel's buffers waits for its reader, the next request with it.
    @Test func slowReadersGetAll() throws {
        let size = 4 << 20
        let server = try TestHTTPServer { exchange in
            exchange.reply(status: 200, contentType: nil, body: [UInt8](repeating: 65, count: size))
        }
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send(Self.get + "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        usleep(50_000)
        #expect(client.read().count { $0 == "A" } == 2 * size)
    }

    /// Who asks and does not read is cut off, however patient.
    @Test func answersThatNobodyReadsAreGivenUp() async throws {
        var limits = HTTPLimits()
        limits.requestDeadline = .milliseconds(100)
        limits.idleTimeout = .milliseconds(100)
        let asked = Lock(0)
        let server = try TestHTTPServer(limits: limits) { exchange in
            asked.withLock { $0 += 1 }
            exchange.reply(status: 200, contentType: nil, body: [UInt8](repeating: 65, count: 4 << 20))
        }
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send(Self.get)
        #expect(await eventually { asked.withLock { $0 } == 1 })
        #expect(await eventually { server.openConnections == 0 })
        client.hangUp()
    }

    @Test func idleConnectionsAreClosed() async throws {
        var limits = HTTPLimits()
        limits.requestDeadline = .milliseconds(200)
        limits.idleTimeout = .milliseconds(100)
        let server = try TestHTTPServer(limits: limits, handler: HTTPServerTests.echo)
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send(Self.get)
        #expect(client.read().hasSuffix("GET / [] "))
        #expect(await eventually { server.openConnections == 0 })
    }

    /// They have limits of their own: to connect, to begin and to send (docs/operating/configuration.md, `api.idle_timeout`).
    @Test func newConnectionsAndRequestsUnderWayAreNotIdle() async throws {
        var limits = HTTPLimits()
        limits.idleTimeout = .milliseconds(50)
        let server = try TestHTTPServer(limits: limits, handler: HTTPServerTests.echo)
        let begun = ["", "GET / HTTP/1.1\r\nHo", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab"]
        let clients = try begun.map { text in
            let client = try RawHTTPClient(unixSocket: server.path)
            client.send(text)
            return client
        }
        try await Task.sleep(for: .milliseconds(600))
        #expect(server.openConnections == 3)
        for (client, rest) in zip(clients, [Self.get, "st: x\r\n\r\n", "cd"]) {
            client.send(rest)
            #expect(client.read().hasPrefix("HTTP/1.1 200 "))
        }
    }

    /// After the last answer the server waits for the client's goodbye, but not for ever.
    @Test func lastAnswersAreFollowedByAGoodbye() async throws {
        let server = try TestHTTPServer(handler: HTTPServerTests.echo)
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("rubbish\r\n\r\n")
        #expect(client.read().hasPrefix("HTTP/1.1 400 "))
        // Still taken and thrown away; never read as a request.
        client.send(Self.get)
        #expect(await eventually { server.openConnections == 0 })
        #expect(client.read().isEmpty)
    }

    @Test func turnsEndOnceAfterWhatWasReady() throws {
        let test = try TestLoop()
        let log = Lock<[String]>([])
        let end = try test.make { TurnEnd(loop: test.loop) { log.withLock { $0.append("end") } } }
        _ = end.sync { end in
            end.request()
            end.request()
            log.withLock { $0.append("turn") }
        }
        _ = test.loop.sync {}
        #expect(log.withLock { $0 } == ["turn", "end"])
        test.loop.stop()
    }
}

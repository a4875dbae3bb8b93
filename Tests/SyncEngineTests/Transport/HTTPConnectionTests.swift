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

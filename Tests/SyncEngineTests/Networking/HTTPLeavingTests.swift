import EventStore
import Foundation
import TestSupport
import Testing

@testable import SyncEngine

/// Clients that have been refused: they may read their answer, and keep no place from others (INV-9).
@Suite struct HTTPLeavingTests {
    private static let get = "GET /probe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    private static let refused = [
        "GET / HTTP/1.1\r\nHost: x\r\nX: " + String(repeating: "a", count: 33 << 10) + "\r\n\r\n",
        "garbage\r\n\r\n" + String(repeating: "a", count: 100_000),
        "POST /e HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n" + String(repeating: "a", count: 100_000),
    ]

    /// Who says nothing more has an hour for that: what ends sooner ends for another reason.
    private var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.goodbye = .seconds(3_600)
        limits.requestDeadline = .seconds(3_600)
        return limits
    }

    @Test("Who was refused with more on its way and hangs up is gone at once", arguments: refused.indices)
    func goodbyeIsHeard(index: Int) async throws {
        let server = try TestHTTPServer(limits: limits, handler: HTTPServerTests.echo)
        for _ in 0..<3 {
            let client = try RawHTTPClient(unixSocket: server.path)
            client.send(Self.refused[index])
            #expect(client.read().hasPrefix("HTTP/1.1 4"))
            client.hangUp()
        }
        #expect(await eventually(.seconds(20)) { server.openConnections == 0 })
    }

    @Test("Those that say no goodbye are few, and give way first; the last of them still has its answer")
    func leavingGiveWay() async throws {
        var limits = limits
        limits.maximumConnections = 8
        let server = try TestHTTPServer(limits: limits, handler: HTTPServerTests.echo)
        var clients: [RawHTTPClient] = []
        for _ in 0..<8 {
            let client = try RawHTTPClient(unixSocket: server.path)
            client.send(Self.refused[1])
            clients.append(client)
        }
        #expect(await eventually(.seconds(20)) { server.openConnections == limits.maximumLeaving })
        #expect(clients[7].read().hasPrefix("HTTP/1.1 400 "))
        // Who is idle keeps their place while one that leaves has one.
        let idle = try (0..<6).map { _ in try RawHTTPClient(unixSocket: server.path) }
        #expect(await eventually(.seconds(20)) { server.openConnections == 8 })
        #expect(try server.exchange(Self.get).hasSuffix("GET /probe [] "))
        idle[0].send("GET /again HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(idle[0].read(until: "GET /again [] ").hasPrefix("HTTP/1.1 200 "))
        withExtendedLifetime(clients) {}
    }

    @Test("However many call, the loop lets in some in a turn, and comes to what others want of it")
    func someInATurn() throws {
        let server = try TestHTTPServer(handler: HTTPServerTests.echo)
        let (isHeld, mayGoOn) = (Lock(false), Lock(false))
        let seen = Lock<Int?>(nil)
        let loop = server.server
        loop.post { _ in
            isHeld.withLock { $0 = true }
            waitWhile(!mayGoOn.withLock { $0 })
            // Behind the next turn, before which all have connected.
            loop.post { http in seen.withLock { $0 = http.openConnections } }
        }
        waitWhile(!isHeld.withLock { $0 })
        let clients = try (0..<3 * ListeningSocket.most).map { _ in try RawHTTPClient(unixSocket: server.path) }
        mayGoOn.withLock { $0 = true }
        waitWhile(seen.withLock { $0 } == nil)
        #expect(seen.withLock { $0 } == ListeningSocket.most)
        waitWhile(server.openConnections < clients.count)
        #expect(server.openConnections == clients.count)
        withExtendedLifetime(clients) {}
    }
}

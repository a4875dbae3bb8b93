import EventStore
import Foundation
import Testing

@testable import SyncEngine

/// What clients may keep under way, and who goes first when that is too much (INV-9).
@Suite struct HTTPRoomTests {
    private static let get = "GET /probe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    private static let half = "GET / HT"

    private func post(_ count: Int) -> String { "POST /e HTTP/1.1\r\nHost: x\r\nContent-Length: \(count)\r\n\r\n" }

    private func usage(_ server: TestHTTPServer) -> HTTPUsage.Figures {
        server.server.sync { $0.usage.figures } ?? HTTPUsage.Figures()
    }

    @Test("Bodies under way have a bound: the one that has been coming for longest is refused, the quick ones pass")
    func slowBodiesMakeRoom() async throws {
        var limits = HTTPLimits()
        limits.maximumBodyBytes = 1 << 20
        limits.maximumPendingBytes = 2 << 20
        let server = try TestHTTPServer(limits: limits, handler: HTTPServerTests.echo)
        let piece = String(repeating: "b", count: 512 << 10)
        var slow: [RawHTTPClient] = []
        for _ in 0..<8 {
            let client = try RawHTTPClient(unixSocket: server.path)
            client.send(post(1 << 20) + piece)
            slow.append(client)
            #expect(await eventually { usage(server).pendingBytes <= 2 << 20 })
        }
        #expect(await eventually { usage(server).refused == 4 })
        #expect(usage(server).pendingBytes <= 2 << 20)
        // The first ones have been told.
        let answer = slow[0].read()
        #expect(answer.hasPrefix("HTTP/1.1 503 "))
        #expect(answer.contains("Retry-After: 1\r\n"))
        // A quick one takes the place of the next slow one.
        let body = String(repeating: "q", count: 900 << 10)
        let quick = try RawHTTPClient(unixSocket: server.path)
        quick.send(
            "POST /e HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
        #expect(quick.read().hasPrefix("HTTP/1.1 200 "))
        // The newest slow one can still finish.
        slow[7].send(piece)
        #expect(slow[7].read(until: "b").hasPrefix("HTTP/1.1 200 "))
        slow.removeAll()
        #expect(await eventually { usage(server).pendingBytes == 0 && usage(server).connections == 0 })
    }

    @Test("Answers that clients do not take have a bound: the one that has let them wait for longest is closed")
    func answersMakeRoom() async throws {
        var limits = HTTPLimits()
        limits.maximumPendingBytes = 8 << 20
        let answer = [UInt8](repeating: UInt8(ascii: "a"), count: 2 << 20)
        let server = try TestHTTPServer(limits: limits) { exchange in
            exchange.reply(status: 200, contentType: nil, body: exchange.request.path == "/big" ? answer : [])
        }
        var lazy: [RawHTTPClient] = []
        for number in 1...9 {
            let client = try RawHTTPClient(unixSocket: server.path)
            client.send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n")
            lazy.append(client)
            // The kernel takes some of it.
            #expect(await eventually { usage(server).pendingBytes > min(number, 3) * (1 << 20) })
            #expect(usage(server).pendingBytes <= 10 << 20)
        }
        #expect(usage(server).crowdedOut >= 4)
        #expect(lazy[0].read().utf8.count < 2 << 20, "the first is closed")
        #expect(try server.exchange(Self.get).hasPrefix("HTTP/1.1 200 "))
        lazy.removeAll()
        #expect(await eventually { usage(server).pendingBytes == 0 && usage(server).connections == 0 })
    }

    @Test("Requests that nobody has answered yet count, also when their clients have left")
    func unansweredRequestsCount() async throws {
        var limits = HTTPLimits()
        limits.maximumPendingBytes = 100_000
        let held = Lock<[HTTPExchange]>([])
        let server = try TestHTTPServer(limits: limits) { exchange in held.withLock { $0.append(exchange) } }
        let body = String(repeating: "b", count: 40_000)
        for count in 1...2 {
            let client = try RawHTTPClient(unixSocket: server.path)
            client.send(post(40_000) + body)
            #expect(await eventually { held.withLock { $0.count } == count })
            client.hangUp()
        }
        #expect(usage(server).pendingBytes == 80_000 && usage(server).pendingRequests == 2)
        let refused = try server.exchange(post(40_000) + body)
        #expect(refused.hasPrefix("HTTP/1.1 503 "))
        held.withLock { $0 = [] }
        #expect(await eventually { usage(server).pendingBytes == 0 && usage(server).pendingRequests == 0 })
    }

    @Test(
        "When places run out who has kept a request unfinished for longest goes, then who has been idle for longest")
    func placesRunOut() async throws {
        var limits = HTTPLimits()
        limits.maximumConnections = 4
        let server = try TestHTTPServer(limits: limits, handler: HTTPServerTests.echo)
        let idle = try RawHTTPClient(unixSocket: server.path)
        idle.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(idle.read(until: "GET / [] ").hasPrefix("HTTP/1.1 200 "))
        var halves: [RawHTTPClient] = []
        for number in 1...6 {
            let client = try RawHTTPClient(unixSocket: server.path)
            client.send(Self.half)
            halves.append(client)
            #expect(await eventually { usage(server).connections == min(1 + number, 4) })
            // Each is known to have begun before the next comes.
            #expect(await eventually { usage(server).pendingBytes == min(number, 3) * Self.half.utf8.count })
        }
        #expect(usage(server).crowdedOut == 3)
        #expect(halves[0].read() == "", "the first is closed")
        // The idle client still has its place, and a new one is served at once.
        idle.send("GET /again HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(idle.read(until: "GET /again [] ").hasPrefix("HTTP/1.1 200 "))
        #expect(try server.exchange(Self.get).hasSuffix("GET /probe [] "))
    }

    @Test("While everybody is being worked for, some places serve what supervisors ask for, and nothing else")
    func reservedPlaces() async throws {
        var limits = HTTPLimits()
        limits.maximumConnections = 2
        limits.reservedConnections = 2
        limits.reservedPaths = ["/probe"]
        let held = Lock<[HTTPExchange]>([])
        let server = try TestHTTPServer(limits: limits) { exchange in
            if exchange.request.path == "/probe" { return HTTPServerTests.echo(exchange) }
            held.withLock { $0.append(exchange) }
        }
        var waiting: [RawHTTPClient] = []
        for count in 1...2 {
            let client = try RawHTTPClient(unixSocket: server.path)
            client.send("GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
            waiting.append(client)
            #expect(await eventually { held.withLock { $0.count } == count })
        }
        // One request each, whatever the client would like.
        #expect(try server.exchange("GET /probe HTTP/1.1\r\nHost: x\r\n\r\n").hasSuffix("GET /probe [] "))
        #expect(try server.exchange("GET /other HTTP/1.1\r\nHost: x\r\n\r\n").hasPrefix("HTTP/1.1 503 "))
        // Half requests on these places make room for each other.
        let halves = try (0..<5).map { _ in
            let client = try RawHTTPClient(unixSocket: server.path)
            client.send(Self.half)
            return client
        }
        #expect(try server.exchange(Self.get).hasSuffix("GET /probe [] "))
        withExtendedLifetime((waiting, halves)) {}
    }

    @Test("A head has a time of its own")
    func headDeadline() throws {
        var limits = HTTPLimits()
        limits.headDeadline = .milliseconds(100)
        limits.requestDeadline = .milliseconds(400)
        let server = try TestHTTPServer(limits: limits, handler: HTTPServerTests.echo)
        let start = ContinuousClock.now
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send(Self.half)
        #expect(client.read() == "")
        let took = ContinuousClock.now - start
        #expect(took > .milliseconds(90) && took < .seconds(8), "\(took)")
    }
}

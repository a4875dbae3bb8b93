import EventStore
import Foundation
import TestSupport
import Testing

@testable import SyncEngine

/// Who may wait for what comes, and for how long, while others want the place (INV-9).
@Suite struct WaitingPlacesTests {
    private let eve = HTTPCaller("eve", .narrow)
    private let chat = HTTPCaller("chat")
    private let bob = HTTPCaller("bob", .narrow)

    @Test("One person has a quarter of the places; the caller with most gives its oldest to one who has fewer by two")
    func shares() {
        var places = WaitingPlaces(8)
        #expect(places.take(for: eve) == .taken(1))
        #expect(places.take(for: eve) == .taken(2))
        #expect(places.take(for: eve) == .refused)
        for number in 3...8 { #expect(places.take(for: chat) == .taken(UInt64(number))) }
        #expect(places.take(for: chat) == .refused, "who has most takes from nobody")
        #expect(places.take(for: bob) == .takenFrom(9, 3))
        #expect(places.take(for: bob) == .takenFrom(10, 4))
        #expect(places.take(for: bob) == .refused)
        #expect(places.take(for: HTTPCaller("other")) == .takenFrom(11, 5))
        // Three for the one, one for the other: they end with two each, and leave it at that.
        #expect(places.take(for: HTTPCaller("other")) == .takenFrom(12, 6))
        #expect(places.take(for: HTTPCaller("other")) == .refused)
        #expect(places.take(for: chat) == .refused)
        places.giveBack(1)
        places.giveBack(1)
        #expect(places.take(for: eve) == .taken(13))
        #expect(places.take(for: HTTPCaller("root", .first)) == .takenFrom(14, 2), "of those with most, the oldest")
    }

    @Test("Where each has one, only who may take credentials away gets another's")
    func ones() {
        var places = WaitingPlaces(3)
        for number in 1...3 { #expect(places.take(for: HTTPCaller("u\(number)")) == .taken(UInt64(number))) }
        #expect(places.take(for: HTTPCaller("u4")) == .refused)
        #expect(places.take(for: HTTPCaller("root", .first)) == .takenFrom(4, 1))
        #expect(places.take(for: HTTPCaller("root", .first)) == .refused)
    }

    @Test(
        "Whatever is asked, no more wait than there are places, and a newcomer is refused only where nobody has two")
    func anyOrder() {
        var random = SplitMix64(state: 11)
        var (places, held) = (WaitingPlaces(12), [UInt64: Int]())
        for _ in 0..<20_000 {
            let who = Int(random.next() % 6)
            if random.next() % 3 == 0, let place = held.keys.sorted().first {
                places.giveBack(place)
                held[place] = nil
                continue
            }
            let most = Dictionary(grouping: held.values) { $0 }.values.map(\.count).max() ?? 0
            switch places.take(for: HTTPCaller("\(who)")) {
            case .taken(let place): held[place] = who
            case .takenFrom(let place, let last):
                #expect(held.removeValue(forKey: last) != who)
                held[place] = who
            case .refused: #expect(held.values.contains(who) || most < 2)
            }
            #expect(held.count <= 12)
        }
    }

    /// Answers `/stream` with one without end, `/wait` when its client leaves, and all else at once.
    private func server(_ limits: HTTPLimits, _ streams: Lock<[HTTPStream]>, _ waits: Lock<[HTTPExchange]>) throws
        -> TestHTTPServer
    {
        try TestHTTPServer(limits: limits) { exchange in
            if let name = exchange.request.header("X-Caller") {
                exchange.isOf(HTTPCaller(name, name == "eve" ? .narrow : .usual))
            }
            switch exchange.request.path {
            case "/stream":
                let stream = exchange.startStream(status: 200, contentType: nil)
                stream.write(Array("begun".utf8))
                streams.withLock { $0.append(stream) }
            case "/wait":
                exchange.watchClient {}
                waits.withLock { $0.append(exchange) }
            default: HTTPServerTests.echo(exchange)
            }
        }
    }

    private func asked(_ server: TestHTTPServer, _ path: String, _ caller: String) throws -> RawHTTPClient {
        let client = try RawHTTPClient(unixSocket: server.path)
        client.send("GET \(path) HTTP/1.1\r\nHost: x\r\nX-Caller: \(caller)\r\n\r\n")
        return client
    }

    @Test(
        "Streams leave places for others; the oldest of the caller with most is closed, and one that waits is told 503"
    )
    func streams() async throws {
        var limits = HTTPLimits()
        (limits.maximumConnections, limits.maximumWaiting) = (12, 8)
        let (streams, waits) = (Lock<[HTTPStream]>([]), Lock<[HTTPExchange]>([]))
        let server = try self.server(limits, streams, waits)
        let eves = try (0..<3).map { _ in try asked(server, "/stream", "eve") }
        for one in eves[..<2] { #expect(one.read(until: "begun\r\n").hasPrefix("HTTP/1.1 200 ")) }
        let refused = eves[2].read(until: "wait\n")
        #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("Retry-After: 1\r\n"), "\(refused)")
        let waiting = try asked(server, "/wait", "chat")
        #expect(await eventually { waits.withLock { $0.count } == 1 })
        var chats: [RawHTTPClient] = []
        for _ in 0..<5 {
            let chat = try asked(server, "/stream", "chat")
            #expect(chat.read(until: "begun\r\n").hasPrefix("HTTP/1.1 200 "))
            chats.append(chat)
        }
        let more = try asked(server, "/stream", "chat").read(until: "wait\n")
        #expect(more.hasPrefix("HTTP/1.1 503 "), "\(more)")
        // Two newcomers: the one that waited is told, the first stream breaks off.
        for _ in 0..<2 {
            let bob = try asked(server, "/stream", "bob")
            #expect(bob.read(until: "begun\r\n").hasPrefix("HTTP/1.1 200 "))
            chats.append(bob)
        }
        #expect(waiting.read(until: "place\n").hasPrefix("HTTP/1.1 503 "))
        #expect(chats[0].read() == "")
        #expect(server.server.sync { $0.usage.figures.crowdedOut } == 2)
        // All others are served, and a place that is left is free again.
        #expect(try asked(server, "/", "any").read(until: "GET / [] ").hasPrefix("HTTP/1.1 200 "))
        let open = server.openConnections
        eves[0].hangUp()
        #expect(await eventually { server.openConnections < open })
        let back = try asked(server, "/stream", "eve")
        #expect(back.read(until: "begun\r\n").hasPrefix("HTTP/1.1 200 "))
        withExtendedLifetime((eves, chats, back)) {}
    }

    @Test("While all places are taken root and the server's own user are let in over the socket")
    func operators() async throws {
        var limits = HTTPLimits()
        (limits.maximumConnections, limits.reservedConnections, limits.operatorConnections) = (2, 1, 1)
        limits.reservedPaths = ["/probe"]
        let (streams, waits) = (Lock<[HTTPStream]>([]), Lock<[HTTPExchange]>([]))
        let server = try self.server(limits, streams, waits)
        let port = try #require(server.server.sync { (try? $0.listen(host: "127.0.0.1", port: 0)) ?? 0 })
        func strangers(_ path: String) throws -> RawHTTPClient {
            let client = try RawHTTPClient(port: port)
            client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
            return client
        }
        let held = try (0..<2).map { _ in try strangers("/stream") }
        for one in held { #expect(one.read(until: "begun\r\n").hasPrefix("HTTP/1.1 200 ")) }
        #expect(try strangers("/other").read().hasPrefix("HTTP/1.1 503 "))
        #expect(await eventually { server.openConnections == 2 })
        let get = "GET /own HTTP/1.1\r\nHost: x\r\n\r\n"
        let own = try RawHTTPClient(unixSocket: server.path)
        for _ in 0..<2 {
            own.send(get)
            #expect(own.read(until: "GET /own [] ").hasPrefix("HTTP/1.1 200 "))
        }
        // One that has been answered makes room for the next.
        let next = try RawHTTPClient(unixSocket: server.path)
        next.send(get)
        #expect(next.read(until: "GET /own [] ").hasPrefix("HTTP/1.1 200 "))
        withExtendedLifetime(held) {}
    }
}

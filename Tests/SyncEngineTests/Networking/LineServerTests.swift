import EventStore
import Foundation
import Testing

@testable import SyncEngine

/// The server for protocols of short texts, with clients that behave and others.
struct LineServerTests {
    /// A server that gives back what it gets, in capitals, after each `;`.
    private struct Echo {
        let loop: TestLoop
        let server: LoopBound<LineServer>
        let port: UInt16
        /// Connections that were closed.
        let closed = Lock(0)

        init(
            _ limits: LineServer.Limits = .init(), opened: @escaping @Sendable (LineLink) -> Void = Self.capitals
        ) throws {
            loop = try TestLoop()
            let (loop, closed) = (loop, closed)
            server = try loop.make {
                try LineServer(loop: loop.loop, host: "localhost", port: 0, limits: limits) { link in
                    opened(link)
                    let before = link.onClosed
                    link.onClosed = {
                        before?()
                        closed.withLock { $0 += 1 }
                    }
                }
            }
            port = try #require(server.sync { $0.boundPort })
        }

        static func capitals(_ link: LineLink) {
            link.onBytes = { [unowned link] bytes in
                link.touch()
                link.send(Array(String(decoding: bytes, as: UTF8.self).uppercased().utf8))
            }
            link.onEnd = { [unowned link] in link.finish() }
        }

        func client() throws -> RawHTTPClient { try RawHTTPClient(port: port) }
        var open: Int { server.sync { $0.openLinks } ?? -1 }
        var counts: LineServer.Counts { server.sync { $0.counts } ?? .init() }
    }

    @Test("What is sent comes back; a client that shuts down its side still gets its answer, and then the end")
    func answers() async throws {
        let echo = try Echo()
        let client = try echo.client()
        client.send("abc;")
        #expect(client.read(until: ";") == "ABC;")
        client.send("def;")
        shutdown(client.descriptor, Int32(SHUT_WR))
        #expect(client.read() == "DEF;")
        #expect(await eventually { echo.open == 0 && echo.closed.withLock { $0 } == 1 })
    }

    @Test("INV-9: whoever finds no place is told so and closed; a place that is given up is free again")
    func crowded() async throws {
        var limits = LineServer.Limits()
        limits.connections = 2
        limits.farewell = Array("9@busy\n".utf8)
        let echo = try Echo(limits)
        let first = try echo.client()
        let second = try echo.client()
        for client in [first, second] {
            client.send("a;")
            #expect(client.read(until: ";") == "A;")
        }
        let third = try echo.client()
        #expect(third.read() == "9@busy\n")
        #expect(echo.counts == .init(accepted: 2, refused: 1, timedOut: 0))
        first.hangUp()
        #expect(await eventually { echo.open == 1 })
        let fourth = try echo.client()
        fourth.send("d;")
        #expect(fourth.read(until: ";") == "D;")
    }

    @Test("A client without progress is closed; one that goes on is not")
    func idle() async throws {
        var limits = LineServer.Limits()
        limits.idle = .milliseconds(400)
        let echo = try Echo(limits)
        let (silent, talking) = (try echo.client(), try echo.client())
        let end = ContinuousClock.now + .milliseconds(1_500)
        while ContinuousClock.now < end {
            talking.send("a;")
            #expect(talking.read(until: ";") == "A;")
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(silent.read() == "")
        #expect(echo.open == 1)
        #expect(echo.counts.timedOut == 1)
    }

    @Test("What a client does not take waits, and comes whole when it does")
    func slowReader() async throws {
        let size = 4 << 20
        let drained = Lock(0)
        let echo = try Echo { link in
            link.onBytes = { [unowned link] _ in
                link.send([UInt8](repeating: UInt8(ascii: "x"), count: size))
                link.send(Array("end".utf8))
                link.finish()
            }
            link.onDrained = { drained.withLock { $0 += 1 } }
        }
        let client = try echo.client()
        client.send("a;")
        try await Task.sleep(for: .milliseconds(100))
        #expect(echo.open == 1)
        let got = client.read()
        #expect(got.utf8.count == size + 3 && got.hasSuffix("xend"))
        client.hangUp()
        #expect(await eventually { echo.open == 0 })
    }

    @Test("Bytes are not read while they are not wanted")
    func notReading() async throws {
        let got = Lock(0)
        let held = Lock<LoopBound<LineLink>?>(nil)
        let echo = try Echo { link in
            link.onBytes = { [unowned link] bytes in
                got.withLock { $0 += bytes.count }
                link.isReading = false
            }
        }
        let client = try echo.client()
        client.send(String(repeating: "a", count: 3 * LineServer.readSize))
        #expect(await eventually { got.withLock { $0 } == LineServer.readSize })
        try await Task.sleep(for: .milliseconds(100))
        #expect(got.withLock { $0 } == LineServer.readSize)
        let all = try #require(echo.server.sync { server in server.all.map { echo.loop.loop.bind($0) } })
        held.withLock { $0 = all.first }
        _ = held.withLock { $0 }?.sync { $0.isReading = true }
        #expect(await eventually { got.withLock { $0 } == 2 * LineServer.readSize })
    }

    @Test("A client that was sent away may have sent more: what it was told still reaches it")
    func farewellAfterBytes() async throws {
        let echo = try Echo { link in
            link.onBytes = { [unowned link] _ in
                link.send(Array("9@too_long".utf8))
                link.finish()
            }
        }
        for _ in 0..<20 {
            let client = try echo.client()
            client.send(String(repeating: "a", count: 64 << 10))
            #expect(client.read() == "9@too_long")
            client.hangUp()
        }
        #expect(await eventually { echo.open == 0 })
    }

    @Test("A thousand connections that break off leave none behind")
    func brokenOff() async throws {
        let echo = try Echo()
        for number in 0..<1_000 {
            let client = try echo.client()
            if number % 2 == 0 {
                client.send("ab")
            } else {
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(
                    client.descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
            }
            client.hangUp()
        }
        #expect(await eventually { echo.open == 0 })
        let client = try echo.client()
        client.send("a;")
        #expect(client.read(until: ";") == "A;")
    }

    @Test("The end of a client is seen also where its descriptor was just one of HTTP")
    func usedBefore() throws {
        let echo = try Echo()
        let http = try echo.loop.make {
            let server = HTTPServer(loop: echo.loop.loop) { $0.reply(status: 200, contentType: nil) }
            return (server, try server.listen(host: "127.0.0.1", port: 0))
        }
        let port = try #require(http.sync { $0.1 })
        for round in 0..<20 {
            let other = try RawHTTPClient(port: port)
            other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(other.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
            // The loop finds both in one turn: that the one is gone, and that the other one is there with all it has to say.
            echo.loop.loop.post { usleep(20_000) }
            other.hangUp()
            let client = try echo.client()
            client.send("a;")
            shutdown(client.descriptor, Int32(SHUT_WR))
            #expect(client.read(until: ";") == "A;")
            var timeout = timeval(tv_sec: 5, tv_usec: 0)
            setsockopt(client.descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
            var byte: UInt8 = 0
            #expect(recv(client.descriptor, &byte, 1, 0) == 0, "round \(round)")
        }
    }

    @Test("With the loop its connections end, and it takes no more before")
    func ends() async throws {
        let echo = try Echo()
        let client = try echo.client()
        client.send("a;")
        #expect(client.read(until: ";") == "A;")
        _ = echo.server.sync { $0.stopListening() }
        #expect(echo.server.sync { $0.boundPort } == 0)
        client.send("b;")
        #expect(client.read(until: ";") == "B;")
        #expect(throws: HostileClient.Gone.self) { try HostileClient.connect(port: echo.port) }
        echo.loop.loop.stop()
        #expect(client.read() == "")
        #expect(echo.closed.withLock { $0 } == 1)
    }
}

import Foundation
import Testing

import EventStore
@testable import SyncEngine

@Suite struct ListenerDialerTests {
    /// A listener whose accepted sockets become links with key 1.
    struct Server {
        let listener: LoopBound<Listener>
        let logs: Lock<[LinkLog]>
        let port: UInt16

        init(_ test: TestLoop, host: String = "127.0.0.1", maximumPending: Int = 64, letsIn: Bool = true) throws {
            let logs = Lock<[LinkLog]>([])
            let context = try TestKeys.context(1)
            listener = try test.make {
                try Listener(loop: test.loop, host: host, port: 0, maximumPending: maximumPending) { accepted in
                    #expect(accepted.peer.contains(":"))
                    let log = LinkLog()
                    let link = try? TLSLink(
                        loop: test.loop, descriptor: accepted.descriptor, context: context, role: .server,
                        ticket: accepted.ticket)
                    if let link {
                        log.attach(to: link)
                        let record = link.onOpen
                        link.onOpen = { [unowned link] peer in
                            record?(peer)
                            if letsIn { link.letIn() }
                        }
                    }
                    logs.withLock { $0.append(log) }
                }
            }
            self.logs = logs
            port = try #require(listener.sync { $0.boundPort })
        }
    }

    static func dial(
        _ test: TestLoop, _ host: String, _ port: UInt16, timeout: Duration = .seconds(5)
    ) async throws -> Result<Int32, DialError> {
        let result = Lock<Result<Int32, DialError>?>(nil)
        _ = try test.make {
            Dialer(loop: test.loop, host: host, port: port, timeout: timeout) { answer in
                result.withLock { $0 = answer }
            }
        }
        #expect(await eventually { result.withLock { $0 } != nil })
        return try #require(result.withLock { $0 })
    }

    @Test(arguments: ["127.0.0.1", "::1"]) func linkOverTCP(host: String) async throws {
        let test = try TestLoop()
        let server = try Server(test, host: host)
        #expect(server.port > 0)
        let descriptor = try await ListenerDialerTests.dial(test, host, server.port).get()
        let client = try LinkEndpoint(test, descriptor: descriptor, context: TestKeys.context(2), role: .client)
        client.send(1, [42], .control)
        #expect(await eventually { server.logs.withLock { $0.first?.frames.count } == 1 })
        #expect(server.listener.sync { $0.pending } == 0)
        client.link.post { $0.close() }
        #expect(await eventually { server.logs.withLock { $0.first?.end } == .peerClosed })
        #expect(await eventually { client.log.end == .closedByUs })
    }

    @Test func nameIsLookedUp() async throws {
        let test = try TestLoop()
        let server = try Server(test)
        let descriptor = try await ListenerDialerTests.dial(test, "localhost", server.port).get()
        close(descriptor)
    }

    @Test func closedPortRefuses() async throws {
        let test = try TestLoop()
        let server = try Server(test)
        server.listener.sync { $0.close() }
        let result = try await ListenerDialerTests.dial(test, "127.0.0.1", server.port)
        #expect(result == .failure(.refused))
    }

    @Test func unknownNameIsNamed() async throws {
        let test = try TestLoop()
        let result = try await ListenerDialerTests.dial(test, "no-such-host.invalid", 1, timeout: .seconds(15))
        guard case .failure(let error) = result else {
            Issue.record("resolved")
            return
        }
        // A machine without any resolver may not answer at all.
        if case .unknownHost(let host, let reason) = error {
            #expect(host == "no-such-host.invalid")
            #expect(!reason.isEmpty)
        } else {
            #expect(error == .timedOut)
        }
    }

    @Test func cancelledDialCallsNobody() async throws {
        let test = try TestLoop()
        let server = try Server(test)
        let called = Lock(false)
        // In one job: the loop must have no turn in between, or the connection may already stand.
        for host in ["127.0.0.1", "localhost"] {
            _ = try test.make {
                let dialer = Dialer(loop: test.loop, host: host, port: server.port) { _ in
                    called.withLock { $0 = true }
                }
                dialer.cancel()
            }
        }
        _ = await eventually(.milliseconds(50)) { false }
        _ = try await ListenerDialerTests.dial(test, "localhost", server.port).map { close($0) }
        #expect(!called.withLock { $0 })
    }

    /// A full backlog never answers a SYN, like a host behind a silent firewall.
    @Test func silentHostTimesOut() async throws {
        let test = try TestLoop()
        let descriptor = try ListeningSocket.bindTCP(host: "127.0.0.1", port: 0)
        defer { close(descriptor) }
        #expect(listen(descriptor, 0) == 0)
        let port = try #require(SocketAddress(ofLocalEnd: descriptor)?.port)
        var fillers: [Int32] = []
        var last: Result<Int32, DialError>?
        for _ in 0..<8 {
            last = try await ListenerDialerTests.dial(test, "127.0.0.1", port, timeout: .milliseconds(150))
            guard case .success(let filler) = last else { break }
            fillers.append(filler)
        }
        #expect(last == .failure(.timedOut))
        for filler in fillers { close(filler) }
    }

    @Test func pendingHandshakesAreBounded() async throws {
        let test = try TestLoop()
        let server = try Server(test, maximumPending: 2)
        var silent: [Int32] = []
        for _ in 0..<4 {
            silent.append(try await ListenerDialerTests.dial(test, "127.0.0.1", server.port).get())
        }
        // The newest stay: a caller that says nothing keeps no other out.
        #expect(await eventually { server.logs.withLock { $0.count } == 4 })
        #expect(server.listener.sync { $0.pending } == 2)
        #expect(server.logs.withLock { $0.map(\.end) } == [.crowdedOut, .crowdedOut, nil, nil])
        for descriptor in silent { close(descriptor) }
        #expect(await eventually { server.listener.sync { $0.pending } == 0 })
    }

    @Test func callersThatAreNotLetInAreBounded() async throws {
        let test = try TestLoop()
        let server = try Server(test, maximumPending: 2, letsIn: false)
        var clients: [LinkEndpoint] = []
        for number in 1...4 {
            let descriptor = try await ListenerDialerTests.dial(test, "127.0.0.1", server.port).get()
            clients.append(
                try LinkEndpoint(test, descriptor: descriptor, context: TestKeys.context(2), role: .client))
            #expect(await eventually { server.logs.withLock { $0.count { $0.peer != nil } } == number })
        }
        #expect(server.logs.withLock { $0.map(\.end) } == [.crowdedOut, .crowdedOut, nil, nil])
        #expect(server.listener.sync { $0.pending } == 2)
        for client in clients { client.link.post { $0.abort() } }
        #expect(await eventually { server.listener.sync { $0.pending } == 0 })
    }

    @Test func acceptErrorsRestAndRecover() async throws {
        let test = try TestLoop()
        let accepted = Lock(0)
        let socket = try test.make {
            let descriptor = try ListeningSocket.bindTCP(host: "127.0.0.1", port: 0)
            return try ListeningSocket(loop: test.loop, descriptor: descriptor) { descriptor, _ in
                close(descriptor)
                accepted.withLock { $0 += 1 }
            }
        }
        let port = try #require(socket.sync { $0.boundPort })
        socket.sync { $0.failed() }
        let start = ContinuousClock.now
        _ = try await ListenerDialerTests.dial(test, "127.0.0.1", port).map { close($0) }
        #expect(await eventually { accepted.withLock { $0 } == 1 })
        #expect(ContinuousClock.now - start > .milliseconds(100))
        #expect(socket.sync { $0.errors } == 1)
        socket.sync { $0.close() }
    }

    @Test func badAddressesAreNamed() throws {
        let test = try TestLoop()
        #expect(throws: TransportError.notAnAddress("no.numbers.here")) {
            try test.make { try Listener(loop: test.loop, host: "no.numbers.here", port: 0) { _ in } }
        }
        let server = try Server(test)
        #expect(throws: TransportError.system(call: "bind 127.0.0.1:\(server.port)", code: EADDRINUSE)) {
            try test.make { try Listener(loop: test.loop, host: "127.0.0.1", port: server.port) { _ in } }
        }
    }
}

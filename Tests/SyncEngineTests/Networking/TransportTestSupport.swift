import EventStore
import Foundation
import Testing

@testable import SyncEngine

/// A running loop that stops with the test.
final class TestLoop: Sendable {
    let loop: EventLoop

    init() throws {
        loop = try EventLoop()
        try loop.start(name: "test")
    }

    deinit {
        // The last reference may go in a job of the loop itself, which cannot wait for its own end.
        let loop = loop
        if loop.isOnLoop { Thread.detachNewThread { loop.stop() } } else { loop.stop() }
    }

    /// Runs `body` on the loop thread; what it makes stays there.
    func make<Value>(_ body: @escaping @Sendable () throws -> Value) throws -> LoopBound<Value> {
        let loop = loop
        let made = loop.sync { () -> Result<LoopBound<Value>, any Error> in
            Result { loop.bind(try body()) }
        }
        return try #require(made).get()
    }
}

/// Waits until `condition` holds; false after `limit`.
func eventually(_ limit: Duration = .seconds(60), _ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now + limit
    while !condition() {
        if ContinuousClock.now > end { return false }
        try? await Task.sleep(for: .milliseconds(2))
    }
    return true
}

enum TestKeys {
    /// The PKCS#8 form (RFC 8410) of the Ed25519 key with this seed byte repeated.
    static func ed25519(_ seed: UInt8) -> [UInt8] {
        let prefix: [UInt8] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20]
        let der = Data(prefix + [UInt8](repeating: seed, count: 32))
        return Array("-----BEGIN PRIVATE KEY-----\n\(der.base64EncodedString())\n-----END PRIVATE KEY-----\n".utf8)
    }

    /// A P-256 key made for these tests.
    static let p256 = Array(
        """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCKQRpq0b2S9xpdb6
        /lYqWhv9Xdk7IX/zj/6HPLrwNh2hRANCAASNwAG/FDFCMeh5TaLIEkQqAPr28zMo
        I6DoDUYV6SKcG9hcB5ZYBnziJpWr0Lk1dj9W7FBeRqyjICIl/hM8q/y/
        -----END PRIVATE KEY-----

        """.utf8)

    static func context(_ seed: UInt8) throws -> TLSContext {
        try TLSContext(identity: TLSIdentity(privateKeyPEM: ed25519(seed)))
    }
}

struct ReceivedFrame: Equatable, Sendable {
    var type: UInt8
    var flags: UInt8
    var body: [UInt8]
}

/// What happened to a link, readable from the test's thread.
final class LinkLog: Sendable {
    struct State {
        var peer: [UInt8]?
        var frames: [ReceivedFrame] = []
        var bytes = 0
        var writable = 0
        var ends: [LinkEnd] = []
    }

    let state = Lock(State())
    var frames: [ReceivedFrame] { state.withLock { $0.frames } }
    var peer: [UInt8]? { state.withLock { $0.peer } }
    var end: LinkEnd? { state.withLock { $0.ends.last } }
    var ends: Int { state.withLock { $0.ends.count } }
    var bytes: Int { state.withLock { $0.bytes } }
    var writable: Int { state.withLock { $0.writable } }

    func attach(to link: TLSLink, keepBodies: Bool = true) {
        link.onOpen = { peer in self.state.withLock { $0.peer = peer } }
        link.onFrame = { type, flags, body in
            self.state.withLock {
                $0.bytes += body.count
                $0.frames.append(.init(type: type, flags: flags, body: keepBodies ? body : []))
            }
        }
        link.onWritable = { self.state.withLock { $0.writable += 1 } }
        link.onClose = { end in self.state.withLock { $0.ends.append(end) } }
    }
}

/// One end of a link under test.
struct LinkEndpoint {
    let link: LoopBound<TLSLink>
    let log = LinkLog()

    init(
        _ loop: TestLoop, descriptor: Int32, context: TLSContext, role: TLSLink.Role,
        limits: TLSLink.Limits = .init(), keepBodies: Bool = true,
        configure: @escaping @Sendable (TLSLink) -> Void = { _ in }
    ) throws {
        let log = log
        link = try loop.make {
            let link = try TLSLink(
                loop: loop.loop, descriptor: descriptor, context: context, role: role, limits: limits)
            log.attach(to: link, keepBodies: keepBodies)
            configure(link)
            return link
        }
    }

    func send(_ type: UInt8, _ body: [UInt8], _ priority: TLSLink.Priority = .data, flags: UInt8 = 0) {
        link.post { $0.send(type: type, flags: flags, body: body, priority: priority) }
    }
}

/// Two links joined by a socket pair; the server has key 1, the client key 2.
struct LinkPair {
    let loop: TestLoop
    let server: LinkEndpoint
    let client: LinkEndpoint

    init(limits: TLSLink.Limits = .init(), keepBodies: Bool = true, maximumBody: Int = 4096) throws {
        loop = try TestLoop()
        let ends = try socketPair()
        server = try LinkEndpoint(
            loop, descriptor: ends.0, context: TestKeys.context(1), role: .server, limits: limits,
            keepBodies: keepBodies
        ) { $0.maximumBody = maximumBody }
        client = try LinkEndpoint(
            loop, descriptor: ends.1, context: TestKeys.context(2), role: .client, limits: limits,
            keepBodies: keepBodies
        ) { $0.maximumBody = maximumBody }
    }

    func bothOpen() async -> Bool {
        await eventually { server.log.peer != nil && client.log.peer != nil }
    }
}

/// Two connected, non-blocking sockets.
func socketPair() throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
    return (ends[0], ends[1])
}

func setBlocking(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
}

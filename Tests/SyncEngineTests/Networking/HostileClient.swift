import COpenSSL
import Foundation
import Testing
import WireKit

@testable import EventStore
@testable import SyncEngine

/// A peer made by hand: it says whatever a test tells it, over a real TLS link, and remembers what it is told.
final class HostileClient {
    let key: SigningKey
    private let descriptor: Int32
    private var session: OpaquePointer?
    private var decoder = FrameDecoder()

    struct Gone: Error {}

    /// Connects to `port` of this machine and shakes hands with `key`.
    init(port: UInt16, key: SigningKey) throws {
        self.key = key
        descriptor = try Self.connect(port: port)
        let context = try TLSContext(identity: TLSIdentity(privateKeyPEM: key.pem))
        session = context.newSession()
        SSL_set_fd(session, descriptor)
        guard SSL_connect(session) == 1 else { throw Gone() }
    }

    deinit {
        SSL_free(session)
        Foundation.close(descriptor)
    }

    var node: NodeID { key.publicKey.nodeID }

    /// Writes bytes; false when the other side has gone.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { SSL_write(session, $0.baseAddress, Int32(min($0.count, 1 << 20))) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(Int(count))
        }
        return true
    }

    @discardableResult
    func send(_ message: Message, compress: Bool = false) -> Bool { write(message.frame(compress: compress).bytes) }

    /// The next message; `nil` when the link has ended.
    func receive() throws -> Message? {
        while true {
            if let frame = try decoder.next() { return try Message(frame: frame) }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = SSL_read(session, &chunk, Int32(chunk.count))
            guard count > 0 else { return nil }
            decoder.feed(chunk[..<Int(count)])
        }
    }

    /// Reads on until the other side says goodbye or goes.
    func farewell() throws -> Bye? {
        while let message = try receive() {
            if case .bye(let bye) = message { return bye }
        }
        return nil
    }

    func hello(
        cluster: String = "default", node: NodeID? = nil, limits: WireLimits = WireLimits(), features: Features = []
    ) -> Hello {
        Hello(
            cluster: cluster, node: node ?? self.node, incarnation: 7, clock: WallClock.now, limits: limits,
            software: "hostile", name: "hostile", features: features)
    }

    /// Says hello and states `entries`; returns what the other side has.
    @discardableResult
    func open(_ entries: [VectorEntry] = []) throws -> [VectorEntry] {
        send(.hello(hello()))
        send(.vector(entries))
        while let message = try receive() {
            if case .vector(let theirs) = message { return theirs }
        }
        throw Gone()
    }
}

import Foundation
import TestSupport
import Testing

@testable import SyncEngine

/// A blocking socket that speaks raw bytes to an HTTP server; reads give up after 10 s.
final class RawHTTPClient {
    private(set) var descriptor: Int32

    init(unixSocket path: String) throws {
        descriptor = try RawHTTPClient.connect(to: SocketAddress(unixPath: path))
    }

    init(port: UInt16) throws {
        let found = try SocketAddress.lookUp("127.0.0.1", port: port, numericOnly: true).get()
        descriptor = try RawHTTPClient.connect(to: #require(found.first))
    }

    deinit { hangUp() }

    private static func connect(to address: SocketAddress) throws -> Int32 {
        let descriptor = socket(address.family, SocketType.stream, 0)
        try #require(address.withPointer { Foundation.connect(descriptor, $0, address.length) } == 0)
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        return descriptor
    }

    func hangUp() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// Sends all of it; false when the server has gone.
    @discardableResult
    func send(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Reads until `end` has come, or to the end of the stream.
    func read(until end: String? = nil) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end, text.hasSuffix(end) { return text }
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return text }
            bytes += buffer[0..<count]
        }
    }
}

/// A server on a Unix socket in a temporary directory.
final class TestHTTPServer: Sendable {
    let test: TestLoop
    let path: String
    let server: LoopBound<HTTPServer>
    private let folder: TemporaryFolder

    init(limits: HTTPLimits = .init(), handler: @escaping @Sendable (HTTPExchange) -> Void) throws {
        let test = try TestLoop()
        folder = try .made()
        let path = folder.file("api.sock")
        server = try test.make {
            let server = HTTPServer(loop: test.loop, limits: limits, handler: handler)
            try server.listen(unixSocket: path, mode: 0o600)
            return server
        }
        self.test = test
        self.path = path
    }

    deinit { test.loop.stop() }

    /// One request on its own connection; everything the server sends until it closes.
    func exchange(_ request: String) throws -> String {
        let client = try RawHTTPClient(unixSocket: path)
        client.send(request)
        return client.read()
    }

    var openConnections: Int { server.sync { $0.openConnections } ?? -1 }
}

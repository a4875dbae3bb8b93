import EventStore
import Foundation
import Synchronization
import TestSupport
import Testing

/// A store with a daemon that answers every request as a test wants it.
final class FakeDaemon: Sendable {
    /// Gives the answer to the `count`-th request, counted from 1, as raw bytes of HTTP; an empty one hangs up.
    typealias Behaviour = @Sendable (_ count: Int, _ request: String) -> String

    private let lock: StoreLock
    private let listener: Int32
    private let count = Atomic<Int>(0)

    /// How many requests came.
    var requests: Int { count.load(ordering: .sequentiallyConsistent) }

    init(_ folder: TemporaryFolder, _ behaviour: @escaping Behaviour) async throws {
        let store = folder.file("store")
        try EventStore.create(in: store, name: "fake")
        let path = folder.file("s")
        lock = try StoreLock(StoreFiles(store), owner: "syncd pid 1 socket \(path)")
        listener = try Self.listen(path)
        Thread { [weak self, listener] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                let request = Self.read(connection)
                if let self {
                    let number = self.count.add(1, ordering: .sequentiallyConsistent).newValue
                    let answer = Array(behaviour(number, request).utf8)
                    _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
                }
                close(connection)
            }
        }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// A whole answer that ends its connection.
    static func answer(_ status: Int, _ body: String, header: String? = nil) -> String {
        let extra = header.map { $0 + "\r\n" } ?? ""
        return
            "HTTP/1.1 \(status) X\r\nConnection: close\r\n\(extra)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func listen(_ path: String) throws -> Int32 {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(socket >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        try #require(Glibc.listen(socket, 8) == 0)
        return socket
    }

    /// Reads headers, and as much body as they announce.
    private static func read(_ connection: Int32) -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let length = text.components(separatedBy: "\r\n")
                    .first { $0.lowercased().hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
                if text[end.upperBound...].utf8.count >= length ?? 0 { return text }
            }
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return text }
            bytes += chunk[..<count]
        }
    }
}

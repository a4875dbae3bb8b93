import Foundation

/// A request that is sent by hand, over the socket of a daemon, and an answer that is read as it comes.
final class HandRequest {
    private let descriptor: Int32

    /// - Parameter text: The first bytes, as a rule the head.
    init(_ daemon: DaemonProcess, _ text: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array("\(daemon.store)/api.sock".utf8)) }
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        let bytes = Array(text.utf8)
        _ = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// A request with these lines in its head, and these first bytes of its body.
    convenience init(
        _ daemon: DaemonProcess, _ method: String, _ target: String, _ headers: [String], body: String = ""
    ) {
        let lines = ["\(method) \(target) HTTP/1.1", "Host: syncd", "Connection: close"] + headers
        self.init(daemon, lines.map { $0 + "\r\n" }.joined() + "\r\n" + body)
    }

    deinit { close(descriptor) }

    /// What has come up to the end, or within so many seconds; and whether the end has come.
    func read(seconds: Double) -> (text: String, hasEnded: Bool) {
        let deadline = Date().addingTimeInterval(seconds)
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let left = deadline.timeIntervalSinceNow, left > 0 {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, Int32(left * 1_000) + 1) > 0 else { break }
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count <= 0 { return (String(decoding: answer, as: UTF8.self), true) }
            answer += chunk[..<count]
        }
        return (String(decoding: answer, as: UTF8.self), false)
    }

    /// Whether an answer has begun within so many seconds, and its status.
    func status(seconds: Double) -> Int? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, Int32(seconds * 1_000)) > 0 else { return nil }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_PEEK))
        return count > 12 ? Int(String(decoding: chunk[9..<12], as: UTF8.self)) : nil
    }
}

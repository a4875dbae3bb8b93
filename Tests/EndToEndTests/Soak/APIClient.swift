import Foundation

/// HTTP/1.1 over the Unix socket of a daemon, with a limit to its patience: the daemon may be stopped or killed at any moment.
struct APIClient {
    let socket: String

    /// The status, the body's lines as JSON, and the body; `nil` when no whole answer came.
    func ask(
        _ method: String, _ target: String, body: String = "", headers: [String] = [], seconds: Int = 10
    ) -> (Int, [[String: Any]], String)? {
        let descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        guard connect(descriptor, seconds) else { return nil }
        let payload = Array(body.utf8)
        let head =
            "\(method) \(target) HTTP/1.1\r\nHost: syncd\r\n"
            + (headers.contains { $0.hasPrefix("Content-Type:") } ? "" : "Content-Type: application/x-ndjson\r\n")
            + headers.map { $0 + "\r\n" }.joined() + "Content-Length: \(payload.count)\r\nConnection: close\r\n\r\n"
        guard write(Array(head.utf8) + payload, descriptor), let answer = readAll(descriptor) else { return nil }
        return parse(answer, hasBody: method != "HEAD")
    }

    /// The whole answer as it came, its head included.
    func raw(_ method: String, _ target: String, headers: [String] = []) -> String {
        let descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        let head =
            "\(method) \(target) HTTP/1.1\r\nHost: syncd\r\n" + headers.map { $0 + "\r\n" }.joined()
            + "Content-Length: 0\r\nConnection: close\r\n\r\n"
        guard connect(descriptor, 10), write(Array(head.utf8), descriptor) else { return "" }
        return String(decoding: readAll(descriptor) ?? [], as: UTF8.self)
    }

    /// Asks the same thing over one connection, one request after another, until `isEnough`. Gives how many answers began with
    /// 200; an answer has to come in one piece.
    func keepAsking(_ method: String, _ target: String, body: (Int) -> String, until isEnough: (Int) -> Bool) -> Int {
        let descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        guard connect(descriptor, 10) else { return 0 }
        var answer = [UInt8](repeating: 0, count: 65_536)
        var count = 0
        while !isEnough(count) {
            let payload = Array(body(count).utf8)
            let head = "\(method) \(target) HTTP/1.1\r\nHost: syncd\r\nContent-Length: \(payload.count)\r\n\r\n"
            guard write(Array(head.utf8) + payload, descriptor) else { return count }
            let length = recv(descriptor, &answer, answer.count, 0)
            guard length > 0, answer.starts(with: Array("HTTP/1.1 200".utf8)) else { return count }
            count += 1
        }
        return count
    }

    private func connect(_ descriptor: Int32, _ seconds: Int) -> Bool {
        var patience = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(socket.utf8)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        } == 0
    }

    private func write(_ bytes: [UInt8], _ descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private func readAll(_ descriptor: Int32) -> [UInt8]? {
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count == 0 { return answer }
            guard count > 0 else { return nil }
            answer += chunk[..<count]
        }
    }

    private func parse(_ answer: [UInt8], hasBody: Bool) -> (Int, [[String: Any]], String)? {
        let text = String(decoding: answer, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n"), let status = Int(text.dropFirst(9).prefix(3)) else { return nil }
        let head = text[..<end.lowerBound].lowercased()
        // An answer that was cut off is none.
        if hasBody, let field = head.range(of: "content-length: ") {
            let length = Int(head[field.upperBound...].prefix { $0.isNumber }) ?? -1
            guard text[end.upperBound...].utf8.count == length else { return nil }
        }
        let lines = text[end.upperBound...].split(separator: "\n").compactMap {
            (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
        }
        return (status, lines, String(text[end.upperBound...]))
    }
}

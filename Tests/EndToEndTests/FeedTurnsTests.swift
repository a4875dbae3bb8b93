import Foundation
import TestSupport
import Testing

/// Those who follow the log and are behind take turns by who asks, not by connection.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct FeedTurnsTests {
    /// Opens a stream from the first event, and reads no more than what comes with the answer's head.
    private func stream(port: Int, token: String) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0, "connect: \(errno)")
        let text =
            "GET /v1/changes?after=first HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n"
            + "Accept: application/x-ndjson\r\n\r\n"
        let bytes = Array(text.utf8)
        #expect(
            bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } == bytes.count)
        return descriptor
    }

    @Test("A user with many feeds from the beginning waits for himself; the page of another one does not")
    func turns() throws {
        let port = try freePort()
        let daemon = try DaemonProcess("n")
        try daemon.start(environment: ["SYNCD_API__LISTEN": "127.0.0.1:\(port)"])
        let api = APIClient(socket: daemon.store + "/api.sock")
        func token(_ user: String) throws -> String {
            let body = #"{"principal":"user/\#(user)","roles":["user:\#(user)"]}"#
            return try #require(api.ask("POST", "/v1/credentials", body: body)?.1.first?["token"] as? String)
        }
        let eve = try token("eve")
        for batch in 0..<8 {
            let lines = (0..<4_000).map { number in
                #"{"type":"message.posted","user":"kim\#(number % 500)","subject":"conversation/c-\#(number % 500)","#
                    + #""data":{"text":"\#(batch) \#(number)"}}"#
            }
            #expect(api.ask("POST", "/v1/events", body: lines.joined(separator: "\n"))?.0 == 200)
        }
        // Of all of these the user sees none: a page looks through 20,000 events.
        func page(_ token: String) throws -> Double {
            let start = Date()
            let header = "Authorization: Bearer \(token)"
            let answer = try #require(
                api.ask("GET", "/v1/changes?after=first&limit=10", headers: [header], seconds: 60))
            #expect(answer.0 == 200)
            return Date().timeIntervalSince(start)
        }
        let lee = try token("lee")
        let alone = try (0..<3).map { _ in try page(lee) }.min() ?? 0
        var open: [Int32] = []
        defer { for descriptor in open { close(descriptor) } }
        for _ in 0..<60 { open.append(try stream(port: port, token: eve)) }
        let beside = try page(lee)
        #expect(beside < 8 * alone + 0.5, "alone \(alone) s, beside \(open.count) feeds of another one \(beside) s")
        #expect(daemon.terminate() == 0)
    }
}

import Foundation
import TestSupport
import Testing

/// A local client that keeps requests half sent: memory has a bound, and supervisors are answered (INV-9).
@Suite(.serialized)
struct APIFloodTests {
    /// Connects and sends; the descriptor, to be closed.
    private func open(_ path: String, sending text: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0, "connect: \(errno)")
        var patience = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            // Refused meanwhile: what is left is not wanted.
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        return descriptor
    }

    /// Connects over TCP and sends; the descriptor, to be closed. Reads give up after five seconds.
    private func open(port: Int, sending text: String) throws -> Int32 {
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
        var patience = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let bytes = Array(text.utf8)
        #expect(
            bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } == bytes.count)
        return descriptor
    }

    /// The status of the answer that comes.
    private func status(_ descriptor: Int32) -> Int {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 12 else { return 0 }
        return Int(String(decoding: buffer[9..<12], as: UTF8.self)) ?? 0
    }

    @Test("As many idle streams of one user's token as there are places: all others are served, and it is taken back")
    func streamsOfOne() throws {
        let port = try freePort()
        let daemon = try DaemonProcess("n")
        try daemon.start(environment: ["SYNCD_API__MAX_CONNECTIONS": "32", "SYNCD_API__LISTEN": "127.0.0.1:\(port)"])
        let api = APIClient(socket: daemon.store + "/api.sock")
        func token(_ principal: String, _ role: String) throws -> (token: String, id: String) {
            let body = #"{"principal":"\#(principal)","roles":["\#(role)"]}"#
            let made = try #require(api.ask("POST", "/v1/credentials", body: body)?.1.first)
            return (try #require(made["token"] as? String), try #require(made["credential"] as? String))
        }
        let (eve, bot) = (try token("eve", "user:eve"), try token("app/chat", "app"))
        func request(_ target: String, _ token: String) -> String {
            "GET \(target) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n"
                + "Accept: text/event-stream\r\n\r\n"
        }
        var open: [Int32] = []
        defer { for descriptor in open { close(descriptor) } }
        var statuses: [Int: Int] = [:]
        for number in 0..<64 {
            open.append(try self.open(port: port, sending: request("/v1/changes", eve.token)))
            statuses[status(open[number]), default: 0] += 1
        }
        #expect(statuses == [200: 6, 503: 58], "a quarter of the 24 places to wait in")
        for target in ["/v1/me", "/v1/changes"] {
            let other = try self.open(port: port, sending: request(target, bot.token))
            open.append(other)
            #expect(status(other) == 200, "\(target)")
        }
        #expect(api.ask("GET", "/v1/status")?.0 == 200)
        #expect(api.ask("POST", "/v1/events", body: #"{"type":"note","user":"u","data":{}}"#)?.0 == 200)
        let taken = api.ask("DELETE", "/v1/credentials/\(eve.id)")?.0 ?? 0
        #expect((200...204).contains(taken), "\(taken)")
        let late = try self.open(port: port, sending: request("/v1/me", eve.token))
        open.append(late)
        #expect(status(late) == 401)
        #expect(daemon.terminate() == 0)
    }

    private func time(_ api: APIClient, _ target: String) -> (status: Int, seconds: Double) {
        let start = Date()
        let answer = api.ask("GET", target, seconds: 40)
        return (answer?.0 ?? 0, Date().timeIntervalSince(start))
    }

    @Test("300 bodies of 2 MB half sent: under 256 MB, others are served, and what is under way is told")
    func halfBodies() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        let head = "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n"
        let body = String(repeating: "x", count: 2 << 20)
        var open: [Int32] = []
        defer { for descriptor in open { close(descriptor) } }
        for _ in 0..<300 { open.append(try self.open(api.socket, sending: head + body)) }
        #expect(time(api, "/livez").status == 200)
        let status = try #require(api.ask("GET", "/v1/status")?.1.first?["api"] as? [String: Any])
        let pending = try #require(status["pending_bytes"] as? Int)
        #expect(pending > 8 << 20 && pending <= 64 << 20, "\(status)")
        #expect(try #require(status["refused"] as? Int) >= 200)
        let metrics = try #require(api.ask("GET", "/metrics")?.2)
        #expect(
            metrics.contains("\nsyncd_api_pending_bytes ") && metrics.contains("\nsyncd_api_refused_requests_total "))
        let event = #"{"type":"note","user":"u","data":{"text":"\#(String(repeating: "y", count: 200_000))"}}"#
        #expect(api.ask("POST", "/v1/events", body: event)?.0 == 200)
        print("half bodies: peak \(daemon.peakKilobytes / 1_024) MB, \(status)")
        #expect(daemon.peakKilobytes < 256 << 10)
        #expect(daemon.terminate() == 0)
    }

    @Test("1,100 half requests: /livez, /readyz and /metrics are answered within a second, again and again")
    func halfRequests() throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        if limit.rlim_cur < 2_000 { return print("skipped: not enough descriptors") }
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        var open: [Int32] = []
        defer { for descriptor in open { close(descriptor) } }
        for _ in 0..<1_100 { open.append(try self.open(api.socket, sending: "GET /livez HTTP/1.1\r\nHost: x\r\n")) }
        var worst = 0.0
        for target in ["/livez", "/readyz", "/metrics", "/livez"] {
            let (status, seconds) = time(api, target)
            #expect(status == 200, "\(target)")
            worst = max(worst, seconds)
        }
        print("half requests: worst probe \(Int(worst * 1_000)) ms")
        #expect(worst < 1)
        #expect(api.ask("POST", "/v1/events", body: #"{"type":"note","user":"u","data":{}}"#)?.0 == 200)
        #expect(daemon.terminate() == 0)
    }

    @Test("HEAD is answered where GET is; a time that is too long is refused by name; errors say what to do")
    func smallThings() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        for target in ["/livez", "/readyz", "/metrics", "/v1/status"] {
            #expect(api.ask("HEAD", target)?.0 == 200, "\(target)")
        }
        for target in ["/livez", "/v1/status"] { #expect(api.ask("PUT", target)?.0 == 405) }
        func refusal(_ method: String, _ target: String, _ body: String = "") throws -> (Int, String, [String: Any]) {
            let answer = try #require(api.ask(method, target, body: body))
            let error = try #require(answer.1.first)
            return (answer.0, error["code"] as? String ?? "", error)
        }
        let long = try refusal("POST", "/v1/wait?timeout_ms=9223372036854775807")
        #expect(long.0 == 400 && long.1 == "E_PARAMETER" && "\(long.2["detail"] ?? "")".contains("timeout_ms"))
        #expect("\(long.2["detail"] ?? "")".contains("from 0 to 25000"))
        let empty = try refusal("POST", "/v1/events", "\n \n")
        #expect(empty.0 == 400 && empty.1 == "E_EMPTY" && empty.2["hint"] as? String != nil)
        let broken = try refusal("POST", "/v1/events?a=%zz")
        #expect(broken.0 == 400 && broken.1 == "E_HTTP")
        let missing = try refusal("GET", "/nothing")
        #expect(missing.0 == 404 && missing.1 == "E_NOT_FOUND" && missing.2.keys.contains("hint"))
        #expect(daemon.terminate() == 0)
    }

    @Test("What nothing was stored of is no success (INV-1)")
    func rejections() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
        func post(_ body: String, _ query: String = "") throws -> (status: Int, types: [String]) {
            let answer = try #require(api.ask("POST", "/v1/events" + query, body: body))
            return (answer.0, answer.1.compactMap { $0["type"] as? String })
        }
        let event = #"{"id":"\#(id)","type":"note","user":"u","subject":"conversation/c","data":{"n":1}}"#
        let other = event.replacingOccurrences(of: #""n":1"#, with: #""n":2"#)
        #expect(try post(event) == (200, ["appended", "end"]))
        #expect(try post(event) == (200, ["already", "end"]))
        #expect(try post(other) == (409, ["rejected", "end"]))
        #expect(try post(event + "\n" + other) == (409, ["rejected", "rejected", "end"]))
        #expect(try post("nonsense") == (422, ["rejected", "end"]))
        #expect(try post(event + "\nnonsense", "?atomicity=each") == (207, ["already", "rejected", "end"]))
        let next = event.replacingOccurrences(of: id, with: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e60")
        #expect(try post(next, "?expect=c:7") == (409, ["rejected", "end"]))
        #expect(try post(next, "?expect=c:1") == (200, ["appended", "end"]))
        // Half a surrogate pair is no text: each of these would be the user U+FFFD.
        for lone in [#"\ud800"#, #"\udfff"#, #"a\ud83dz"#, #"\ud83d\ud83d"#] {
            for line in [
                #"{"type":"note","user":"\#(lone)","data":{}}"#,
                #"{"type":"note","user":"u","author":"\#(lone)","data":{}}"#,
                #"{"type":"n\#(lone)","user":"u","data":{}}"#,
                #"{"type":"note","user":"u","subject":"conversation/\#(lone)","data":{}}"#,
            ] {
                let answer = try #require(api.ask("POST", "/v1/events", body: line))
                #expect(answer.0 == 422 && answer.1.first?["code"] as? String == "E_LINE_VALUE", "\(line)")
            }
        }
        // A line is what FORMATS.md §4 has as one, here as in a file.
        let blanks = String(repeating: " ", count: 1 << 20)
        for (line, code) in [
            (#"{"type":"note","user":"u","id":"","data":{}}"#, "E_LINE_UUID"),
            (#"{"type":"note","user":"u","data":{}\#(blanks)}"#, "E_LINE_SIZE"),
        ] {
            let answer = try #require(api.ask("POST", "/v1/events", body: line))
            #expect(answer.0 == 422 && answer.1.first?["code"] as? String == code, "\(code)")
        }
        // In a payload it stays as it came, and a pair is one character.
        let kept = #"{"type":"note","user":"\ud83d\ude00","data":{"text":"\ud800"}}"#
        #expect(try post(kept).status == 200)
        let back = try daemon.syncctl("history", "\u{1F600}", "--json").output
        #expect(back.contains(#""data":{"text":"\ud800"}"#))
        #expect(daemon.terminate() == 0)
    }
}

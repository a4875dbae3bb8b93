import Foundation
import TestSupport
import Testing

/// What a supervisor is told, and whether its tools understand it.
@Suite(.serialized)
struct MetricsTests {
    private static let promtool = ["/usr/bin/promtool", "/usr/local/bin/promtool"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Asks over TCP; the status, the header and the body.
    private func get(_ port: UInt16, _ target: String, accept: String = "*/*") throws -> (Int, String, String) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0, "connect: \(errno)")
        let request = Array(
            "GET \(target) HTTP/1.1\r\nHost: x\r\nAccept: \(accept)\r\nConnection: close\r\n\r\n".utf8)
        _ = send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count <= 0 { break }
            answer += chunk[..<count]
        }
        let text = String(decoding: answer, as: UTF8.self)
        let end = try #require(text.range(of: "\r\n\r\n"))
        let status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return (try #require(status), String(text[..<end.lowerBound]), String(text[end.upperBound...]))
    }

    private func port(of daemon: DaemonProcess) throws -> UInt16 {
        let line = try #require(
            daemon.said.split(separator: "\n").first { $0.contains("metrics at http://127.0.0.1:") })
        let tail = try #require(line.components(separatedBy: "127.0.0.1:").last)
        return try #require(UInt16(tail.prefix { $0.isNumber }))
    }

    private func started() throws -> (DaemonProcess, UInt16) {
        let daemon = try DaemonProcess("n")
        try daemon.start(isTalking: true, environment: ["SYNCD_METRICS__LISTEN": "127.0.0.1:0"])
        return (daemon, try port(of: daemon))
    }

    @Test("Over TCP there are the probes and nothing else; what they count is what was done")
    func figures() throws {
        let (daemon, port) = try started()
        let api = APIClient(socket: daemon.store + "/api.sock")
        for _ in 0..<5 {
            #expect(api.ask("POST", "/v1/events", body: #"{"type":"note","user":"kim-so-yeon","data":{}}"#)?.0 == 200)
        }
        #expect(api.ask("POST", "/v1/events", body: #"{"type":"origin.x","user":"u","data":{}}"#)?.0 == 422)
        #expect(api.ask("GET", "/v1/users/kim-so-yeon/history")?.0 == 200)
        #expect(api.ask("GET", "/v1/park-ji-won")?.0 == 404)
        #expect(try get(port, "/livez").0 == 200 && get(port, "/readyz").0 == 200)
        #expect(try get(port, "/v1/status").0 == 404 && get(port, "/v1/users/kim-so-yeon").0 == 404)
        let (status, head, text) = try get(port, "/metrics")
        #expect(status == 200 && head.contains("Content-Type: text/plain; version=0.0.4"))
        let lines = text.split(separator: "\n")
        for line in [
            #"syncd_events_appended_total{source="local"} 5"#, #"syncd_events_appended_total{source="peer"} 0"#,
            "syncd_append_duration_seconds_count 5", #"syncd_append_failures_total{code="E_RESERVED"} 1"#,
            #"syncd_http_requests_total{route="/v1/events",method="POST",status="200"} 5"#,
            #"syncd_http_requests_total{route="/v1/users/{}/history",method="GET",status="200"} 1"#,
            #"syncd_http_requests_total{route="other",method="GET",status="404"} 1"#,
            #"syncd_finding{code="FORK"} 0"#, "syncd_store_writable 1", "syncd_views_behind_events 0",
        ] { #expect(lines.contains(Substring(line)), "\(line)") }
        #expect(lines.contains { $0.hasPrefix("syncd_fsync_duration_seconds_count ") && !$0.hasSuffix(" 0") })
        // Who may see figures need not be one who may read.
        for name in ["kim", "park"] { #expect(!text.contains(name)) }
        let open = try get(port, "/metrics", accept: "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
        #expect(open.1.contains("Content-Type: application/openmetrics-text; version=1.0.0"))
        #expect(open.2.hasSuffix("\n# EOF\n") && open.2.contains("\n# TYPE syncd_events_appended counter\n"))
        #expect(daemon.terminate() == 0)
    }

    @Test(
        "promtool finds nothing to complain about in metrics, rules and their tests",
        .enabled(if: promtool != nil, "needs promtool, which comes with Debian's package prometheus"))
    func tools() async throws {
        let promtool = Tool(path: try #require(Self.promtool))
        let (daemon, port) = try started()
        let api = APIClient(socket: daemon.store + "/api.sock")
        #expect(api.ask("POST", "/v1/events", body: #"{"type":"note","user":"u","data":{}}"#)?.0 == 200)
        #expect(try daemon.syncctl("peers", "add", "other", String(repeating: "0a", count: 32)).code == 0)
        #expect(api.ask("PUT", "/v1/subscriptions/bot", body: #"{"start":"now"}"#)?.0 == 201)
        let text = try get(port, "/metrics").2
        let checked = try await promtool.run(["check", "metrics"], input: Data(text.utf8))
        #expect(
            checked.code == 0 && checked.text.isEmpty && checked.errors.isEmpty, "\(checked.text)\(checked.errors)")
        let folder = Self.root.appending(path: "ops/prometheus").path
        for words in [["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]] {
            let run = try await promtool.run(words, in: folder)
            #expect(run.code == 0, "\(run.text)\(run.errors)")
        }
    }

    @Test("Rules, board and page speak of figures that the daemon has, and each alert has its row")
    func names() throws {
        let (daemon, port) = try started()
        let api = APIClient(socket: daemon.store + "/api.sock")
        #expect(api.ask("POST", "/v1/events", body: #"{"type":"origin.x","user":"u","data":{}}"#)?.0 == 422)
        #expect(try daemon.syncctl("peers", "add", "other", String(repeating: "0a", count: 32)).code == 0)
        #expect(api.ask("PUT", "/v1/subscriptions/bot", body: #"{"start":"now"}"#)?.0 == 201)
        let text = try get(port, "/metrics").2
        // A clock is known once a peer has answered, an account while it is connected, a proof once one has run; a certificate and keys
        // where there are some.
        var known: Set<String> = [
            "syncd_clock_offset_seconds", "syncd_views_proven_timestamp_seconds",
            "syncd_log_proven_timestamp_seconds", "syncd_peer_account_bytes", "syncd_peer_account_jobs",
            "syncd_peer_account_origins", "syncd_peer_lacks_origin_events",
            "syncd_certificate_not_after_timestamp_seconds", "syncd_jwks_read_timestamp_seconds",
        ]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            known.insert(String(line.prefix { $0 != " " && $0 != "{" }))
        }
        func file(_ path: String) throws -> String {
            try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
        }
        let (rules, page) = (try file("ops/prometheus/alerts.yml"), try file("docs/operating/monitoring.md"))
        for (path, source) in [("alerts", rules), ("board", try file("ops/grafana/sillok.json")), ("page", page)] {
            let names = source.matches(of: /\b(?:syncd|process)_[a-z_]+/).map { String($0.output) }
            #expect(names.count > 10)
            for name in Set(names) {
                let isKnown = known.contains(name) || known.contains(name + "_bucket")
                #expect(isKnown, "\(path) names \(name)")
            }
        }
        let alerts = rules.matches(of: /- alert: (\w+)/).map { String($0.output.1) }
        #expect(alerts.count > 10)
        for alert in alerts { #expect(page.contains("| `\(alert)` |"), "\(alert) has no row") }
        let figures = Set(known.map { $0.replacing(/_(bucket|sum|count)$/, with: "") })
        for name in figures where name.hasPrefix("syncd_") {
            #expect(page.contains("`\(name)"), "\(name) has no row")
        }
    }
}

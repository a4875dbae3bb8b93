import Foundation
import TestSupport
import Testing

/// Subscriptions and followers in the figures and the log of a real daemon.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct FollowingMetricsTests {
    private func figures(_ api: APIClient) -> [String: Double] {
        var figures: [String: Double] = [:]
        for line in (api.ask("GET", "/metrics")?.2 ?? "").split(separator: "\n") where !line.hasPrefix("#") {
            guard let blank = line.lastIndex(of: " ") else { continue }
            figures[String(line[..<blank])] = Double(line[line.index(after: blank)...])
        }
        return figures
    }

    private func wait(until condition: () -> Bool) -> Bool {
        waitWhile(!condition())
        return condition()
    }

    /// The daemon's log as objects; a line that is none is one with that text.
    private func log(_ node: DaemonProcess) -> [[String: Any]] {
        node.said.split(separator: "\n").map { line in
            (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any] ?? ["bad": String(line)]
        }
    }

    @Test("Deliveries, what waits, what was set aside, and lines of JSON for each change and its end")
    func subscription() throws {
        let node = try DaemonProcess("n")
        try node.start(isTalking: true, environment: ["SYNCD_LOG__FORMAT": "json"])
        let api = APIClient(socket: node.store + "/api.sock")
        let definition = #"{"start":"first","filter":{"type":["note"]},"order":"none","attempts":1}"#
        #expect(api.ask("PUT", "/v1/subscriptions/bot", body: definition)?.0 == 201)
        for number in 0..<6 {
            let type = number < 2 ? "other" : "note"
            #expect(api.ask("POST", "/v1/events", body: #"{"type":"\#(type)","user":"u","data":{}}"#)?.0 == 200)
        }
        usleep(1_100_000)
        var now = figures(api)
        // No worker has asked: what it does not want is passed over, and the four are behind.
        #expect(now[#"syncd_subscription_behind_events{subscription="bot"}"#] == 4)
        #expect((now[#"syncd_subscription_oldest_seconds{subscription="bot"}"#] ?? 0) > 1)
        #expect(now[#"syncd_subscription_workers{subscription="bot"}"#] == 0)

        let pulled = try #require(api.ask("POST", "/v1/subscriptions/bot/pull", body: #"{"max":3}"#))
        let deliveries = try #require(pulled.1.first?["deliveries"] as? [[String: Any]])
        let tokens = deliveries.compactMap { $0["delivery"] as? String }
        #expect(tokens.count == 3)
        func settle(_ what: String, _ token: String) -> Int? {
            api.ask("POST", "/v1/subscriptions/bot/\(what)", body: #"{"deliveries":["\#(token)"]}"#)?.0
        }
        #expect(settle("ack", tokens[0]) == 200 && settle("park", tokens[1]) == 200)
        now = figures(api)
        for (outcome, count) in [("acked", 1.0), ("parked", 1), ("released", 0), ("late", 0)] {
            #expect(now[#"syncd_deliveries_total{subscription="bot",outcome="\#(outcome)"}"#] == count, "\(outcome)")
        }
        #expect(now[#"syncd_settle_duration_seconds_count{subscription="bot"}"#] == 1)
        #expect(now[#"syncd_subscription_parked{subscription="bot"}"#] == 1)
        #expect(now[#"syncd_subscription_in_flight{subscription="bot"}"#] == 1)
        #expect(now[#"syncd_subscription_stalled{subscription="bot"}"#] == 0)
        #expect(wait { log(node).contains { $0["code"] as? String == "SUBSCRIPTION_PARKED" } }, "\(node.said)")

        let parked = try #require(deliveries[1]["event"] as? [String: Any])
        let id = try #require(parked["id"] as? String)
        #expect(
            api.ask("POST", "/v1/subscriptions/bot/retry", body: #"{"events":["\#(id)"]}"#)?.0 == 200)
        let over = { self.log(node).first { $0["code"] as? String == "SUBSCRIPTION_NOTHING_PARKED" } }
        #expect(wait { over() != nil }, "\(node.said)")
        let fields = try #require(over()?["fields"] as? [String: Any])
        #expect(fields["subscription"] as? String == "bot" && fields["duration_ms"] is Int)
        #expect(node.terminate() == 0)
        for line in log(node) {
            for name in ["time", "level", "code", "message"] { #expect(line[name] is String, "\(line)") }
        }
        #expect(log(node).contains { $0["code"] as? String == "READY" })
    }

    @Test("Followers are counted by face, and how long an event takes to them")
    func followers() throws {
        let node = try DaemonProcess("n")
        try node.start()
        let api = APIClient(socket: node.store + "/api.sock")
        let follower = Thread { _ = api.ask("GET", "/v1/changes?wait_ms=8000") }
        follower.start()
        #expect(wait { figures(api)[#"syncd_followers{face="page"}"#] == 1 })
        #expect(api.ask("POST", "/v1/events", body: #"{"type":"note","user":"u","data":{}}"#)?.0 == 200)
        #expect(wait { figures(api)["syncd_commit_to_follower_duration_seconds_count"] == 1 })
        #expect(wait { figures(api)[#"syncd_followers{face="page"}"#] == 0 })
        #expect(figures(api)[#"syncd_followers{face="sse"}"#] == 0)
    }

    @Test("A start that fails says so in the form that was asked for")
    func failure() throws {
        let node = try DaemonProcess("n")
        try node.start()
        let process = Process()
        process.executableURL = Programs.folder.appending(path: "syncd")
        process.arguments = ["--dev", node.store]
        process.environment = ProcessInfo.processInfo.environment.merging(["SYNCD_LOG__FORMAT": "json"]) { $1 }
        let said = Pipe()
        process.standardError = said
        try process.run()
        let bytes = said.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: bytes, as: UTF8.self).split(separator: "\n").last.map(String.init) ?? ""
        let line = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(line["level"] as? String == "error" && line["code"] as? String == "E_LOCKED")
    }
}

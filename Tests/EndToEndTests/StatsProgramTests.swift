import EventStore
import Foundation
import TestSupport
import Testing

@testable import syncctl

/// `stats` and `top`: figures of a node, and of files.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct StatsProgramTests {
    private func append(_ count: Int, to daemon: DaemonProcess) {
        let api = APIClient(socket: daemon.store + "/api.sock")
        for number in 0..<count {
            let line =
                #"{"type":"message.posted","user":"u\#(number % 2)","subject":"conversation/c","data":{"text":"말"}}"#
            #expect(api.ask("POST", "/v1/events", body: line)?.0 == 200)
        }
    }

    @Test("stats tells the same of a node and of its files, in four forms")
    func stats() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        append(6, to: daemon)
        let api = APIClient(socket: daemon.store + "/api.sock")
        #expect(api.ask("PUT", "/v1/subscriptions/bot", body: #"{"start":"first"}"#)?.0 == 201)
        // The views follow, and conversations are not counted each time.
        var run = try daemon.syncctl("stats", "--json")
        for _ in 0..<1_200 where run.lines.first?["conversations"] as? Int != 1 {
            usleep(50_000)
            run = try daemon.syncctl("stats", "--json")
        }
        let object = try #require(run.lines.first)
        #expect(run.code == 0 && object["type"] as? String == "stats" && object["running"] as? Bool == true)
        let events = try #require(object["events"] as? Int)
        #expect(events >= 7 && object["conversations"] as? Int == 1 && object["views_behind"] is Int)
        #expect((object["files"] as? [String: Int])?["log.db"] ?? 0 > 0)
        let subscriptions = try #require(object["subscriptions"] as? [[String: Any]])
        #expect(subscriptions.first?["name"] as? String == "bot" && subscriptions.first?["behind"] as? Int == 7)
        #expect(try daemon.syncctl("stats", "--csv").output.contains("subscription.bot.behind,7\r\n"))
        #expect(try daemon.syncctl("stats", "--plain").output.contains("conversations\t1\n"))
        #expect(try daemon.syncctl("stats", "--plain").output.hasPrefix("FIGURE\tVALUE\n"))
        let korean = try daemon.syncctl("stats", "--lang", "ko").output
        #expect(korean.contains("오리진") && korean.contains("밀린 이벤트") && !korean.contains("BEHIND"), "\(korean)")
        #expect(daemon.terminate() == 0)
        let files = try #require(daemon.syncctl("stats", "--json").lines.first)
        #expect(files["running"] as? Bool == false && files["events"] as? Int == events)
        #expect(files["conversations"] as? Int == 1 && files["peers"] == nil)
    }

    @Test("top tells a look each second, and ends after as many as were wanted")
    func top() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        // Between any two looks something is appended, however late they come.
        let isOver = Lock(false)
        let writer = Thread { while !isOver.withLock({ $0 }) { append(1, to: daemon) } }
        writer.start()
        let run = try daemon.syncctl("top", "--json", "--looks", "2")
        isOver.withLock { $0 = true }
        waitWhile(!writer.isFinished)
        #expect(run.code == 0 && run.lines.count == 3, "\(run.errors)")
        let look = try #require(run.lines.first)
        #expect(look["type"] as? String == "top" && look["time"] is String)
        #expect((look["requests_per_s"] as? Double ?? 0) > 0 && look["append_99_s"] is Double, "\(look)")
        #expect((look["routes_per_s"] as? [String: Any])?["/v1/events"] != nil)
        #expect(run.lines.last?["type"] as? String == "end")
        let text = try daemon.syncctl("top", "--looks", "1", "--lang", "ko").output
        #expect(text.contains("이벤트/초") && text.contains("메모리"), "\(text)")
        #expect(daemon.terminate() == 0)
        #expect(try daemon.syncctl("top", "--json").code == 69)
    }

    @Test("Metrics are read back as they were written: labels with quotes, quantiles of what was noted since")
    func reading() {
        func reading(_ text: String, at seconds: UInt64) -> MetricsReading {
            MetricsReading(Array(text.utf8), time: seconds * 1_000_000_000)
        }
        let before = reading("# HELP a A\na{peer=\"x\\\"\\\\\\n\",n=\"1\"} 5\nb 7\nt_bucket{le=\"1\"} 4\n", at: 1)
        #expect(before.value("a", "peer", "x\"\\\n") == 5 && before.count("b") == 7 && before.value("c") == nil)
        let now = reading("b 17\nt_bucket{le=\"1\"} 4\nt_bucket{le=\"2.5\"} 13\nt_bucket{le=\"+Inf\"} 14\n", at: 3)
        #expect(now.rate("b", since: before) == 5)
        #expect(now.quantile(0.5, of: "t", since: before) == 2.5)
        #expect(now.quantile(0.99, of: "t", since: before) == .infinity)
        // The daemon was started anew.
        #expect(reading("b 4\n", at: 5).rate("b", since: now) == 2)
    }
}

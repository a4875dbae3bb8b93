import Foundation
import TestSupport
import Testing

/// `syncctl quarantine` with and without a daemon (D13).
struct QuarantineTests {
    private static let refused = [
        #"{"type":"survey.answered","user":"u","data":{"survey":7}}"#,
        #"{"type":"conversation.renamed","user":"u","subject":"conversation/c","data":{"title":null}}"#,
        #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"말"}}"#,
        #"{"type":"participant.joined","user":"u","subject":"conversation/c","data":{"user":7}}"#,
    ].joined(separator: "\n")

    @Test("Without a daemon: listed with reasons, counted in the status, tried again", .timeLimit(.minutes(5)))
    func offline() async throws {
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        #expect(try await tool.run(["init", "--name", "n"]).code == 0)
        let empty = try await tool.run(["quarantine", "list"])
        #expect(empty.code == 0 && empty.text.isEmpty && empty.errors.contains("nothing is quarantined"))
        #expect(try await tool.run(["quarantine", "retry"]).text == "0 events were quarantined, 0 still are\n")
        #expect(try await tool.run(["append", "-"], input: Data(Self.refused.utf8)).code == 0)
        let list = try await tool.run(["quarantine", "list"])
        #expect(list.lines.count == 4)
        #expect(list.text.contains("survey.answered") && list.text.contains("title is missing or not text"))
        let korean = try await tool.run(["quarantine", "list", "--lang", "ko"])
        #expect(korean.text.contains("title: 없거나 글이 아닙니다") && !korean.text.contains("missing"), "\(korean.text)")
        #expect(try await tool.run(["quarantine", "list", "--lang", "ko", "--plain"]).text.contains("not text"))
        #expect(try await tool.run(["show", "2", "--lang", "ko"]).text.contains(" (노드 "))
        let first = try await tool.run(["quarantine", "list", "-n", "1", "--json"]).objects()
        #expect(first.count == 2 && first[0]["view"] as? String == "surveys")
        #expect(first[0]["position"] as? Int == 2 && first[1]["quarantined"] as? Int == 3)
        let rest = try await tool.run(["quarantine", "list", "--after", "2", "--json"]).objects()
        #expect(rest.compactMap { $0["position"] as? Int } == [3, 5])
        let status = try await tool.run(["status"])
        #expect(status.code == 0 && status.text.contains("held     3 events"))
        let retry = try await tool.run(["quarantine", "retry"])
        #expect(retry.code == 4 && retry.text == "3 events were quarantined, 3 still are\n")
        #expect(try await tool.run(["history", "u"]).lines.count == 5)
        #expect(try await tool.run(["verify"]).code == 0)
    }

    @Test("With a daemon: the same, while it goes on taking events", .timeLimit(.minutes(5)))
    func daemon() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        #expect(try daemon.syncctl("append", "-", input: Self.refused).code == 0)
        #expect(try daemon.syncctl("quarantine", "list", "--json").lines.count == 4)
        let status = try daemon.status()
        #expect(status["quarantined"] as? Int == 3 && status["state"] as? String == "ok")
        let metrics = APIClient(socket: daemon.store + "/api.sock").ask("GET", "/metrics")
        #expect(metrics?.2.contains("\nsyncd_quarantined_events 3\n") == true)
        #expect(try daemon.syncctl("status").output.contains("held     3 events"))
        let retry = try daemon.syncctl("quarantine", "retry", "--json")
        #expect(retry.code == 4)
        #expect(retry.lines.first?["before"] as? Int == 3 && retry.lines.first?["after"] as? Int == 3)
        #expect(try daemon.syncctl("append", "-u", "u", "--text", "더").code == 0)
        #expect(try daemon.syncctl("history", "u", "--json").lines.count == 6)
        #expect(daemon.terminate() == 0)
    }
}

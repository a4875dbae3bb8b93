import Foundation
import TestSupport
import Testing

/// What the daemon's log says of changes, each in one line.
@Suite(.timeLimit(.minutes(5)))
struct StateLogTests {
    private func wait(until condition: () -> Bool) -> Bool {
        waitWhile(!condition())
        return condition()
    }

    private func count(_ text: String, in node: DaemonProcess) -> Int {
        node.said.components(separatedBy: text).count - 1
    }

    @Test(
        "When appends stop and go on the log has one line each, however many are refused",
        .disabled(if: FaultInjector.isMissing, "no /usr/bin/gcc to make the faults with"))
    func appends() throws {
        let faults = try FaultInjector()
        let node = try DaemonProcess("n")
        try node.start(isTalking: true, environment: faults.environment)
        try faults.fail("pwrite", of: "views.db-wal", error: ENOSPC)
        let api = APIClient(socket: node.store + "/api.sock")
        let line = #"{"type":"message.posted","user":"u","data":{"text":"말"}}"#
        #expect(wait { api.ask("POST", "/v1/events", body: line)?.0 == 507 })
        #expect(wait { count("appends are refused: ", in: node) == 1 }, "\(node.said)")
        for _ in 0..<30 { _ = api.ask("POST", "/v1/events", body: line) }
        usleep(2_500_000)
        #expect(count("appends are refused: ", in: node) == 1, "\(node.said)")
        #expect(count("appends are taken again", in: node) == 0)
        func refusals() throws -> [[String: Any]] {
            let notices = try node.status()["notices"] as? [[String: Any]] ?? []
            return notices.filter { $0["code"] as? String == "APPENDS_REFUSED" }
        }
        // All who are asked say it, and say it once.
        let notice = try #require(try refusals().first)
        let text = try #require(notice["text"] as? String)
        #expect(text.hasPrefix("appends are refused: views: ") && notice["severity"] as? String == "warning")
        let reason = try #require((try node.status()["problems"] as? [String])?.first)
        #expect(text.contains(reason))
        for command in ["status", "doctor"] {
            let run = try node.syncctl(command)
            #expect(run.code == 2 && run.output.contains("APPENDS_REFUSED"), "\(run.output)")
            #expect(run.output.components(separatedBy: reason).count == 2, "\(run.output)")
        }
        let metrics = api.ask("GET", "/metrics")?.2 ?? ""
        #expect(metrics.contains(#"syncd_finding{code="APPENDS_REFUSED"} 1"#))
        #expect(try node.syncctl("doctor", "settle", "APPENDS_REFUSED").code != 0)
        try faults.mend()
        #expect(wait { count("appends are taken again", in: node) == 1 }, "\(node.said)")
        #expect(try refusals().isEmpty && node.syncctl("doctor").code == 0)
        #expect(node.terminate() == 0)
    }

    @Test("A peer that goes and comes back is told of")
    func peers() throws {
        let (a, b) = (try DaemonProcess("a"), try DaemonProcess("b"))
        try a.start(isTalking: true)
        try b.start()
        #expect(try a.syncctl("peers", "add", "b", b.node()).code == 0)
        #expect(try b.syncctl("peers", "add", "a", "\(a.node())@127.0.0.1:\(a.port())").code == 0)
        _ = try converge(a, b)
        #expect(!a.said.contains("peer b is back"))
        b.kill()
        #expect(wait { a.said.contains("peer b: ") }, "\(a.said)")
        try b.start()
        #expect(wait { count("peer b is back", in: a) == 1 }, "\(a.said)")
    }
}

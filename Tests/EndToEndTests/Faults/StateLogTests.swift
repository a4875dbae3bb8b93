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
        try faults.mend()
        #expect(wait { count("appends are taken again", in: node) == 1 }, "\(node.said)")
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

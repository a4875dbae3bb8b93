import Foundation
import Testing

/// Waiting for durability, and lag, of real processes.
@Suite(.serialized)
struct WaitTests {
    @Test("wait returns when the peer has it, and lag is exact while the peer is away")
    func waiting() throws {
        let (a, b) = try makePair()
        _ = try a.syncctl("append", "-u", "haneul", "--text", "하나")
        #expect(try a.syncctl("wait", "--nodes", "2", "--timeout", "60s").output == "durable on a, b\n")
        b.kill()
        let payload = #"{"text":"둘"}"#
        _ = try a.syncctl("append", "-u", "haneul", "--type", "message.posted", "--data", payload)
        let vector = try a.syncctl("vector").output
        #expect(vector.split(separator: "\n").count == 2 && vector.contains("/3\n"))
        #expect(try a.syncctl("wait", "--vector", "-", "--nodes", "1", input: vector).output == "durable on a\n")
        let late = try a.syncctl(
            "wait", "--vector", "-", "--nodes", "2", "--timeout", "300ms", "--json", input: vector)
        #expect(late.code == 75)
        #expect(late.lines.first?["reached"] as? Bool == false)
        #expect(late.lines.first?["nodes"] as? [String] == ["a"])

        let peer = try #require((try a.status()["peers"] as? [[String: Any]])?.first)
        #expect(peer["lacks"] as? Int == 1)
        #expect(peer["lacks_bytes"] as? Int == payload.utf8.count)
        #expect(try #require(peer["lacks_oldest_ms"] as? Int) >= 0)
        let origin = try #require((peer["lag"] as? [[String: Any]])?.first)
        #expect(origin["origin"] as? String == (try a.status()["origin"] as? String))
        #expect(origin["events"] as? Int == 1 && origin["bytes"] as? Int == payload.utf8.count)

        try b.start()
        #expect(try a.syncctl("wait", "--vector", "-", "--nodes", "2", input: vector).output == "durable on a, b\n")
        #expect((try a.status()["peers"] as? [[String: Any]])?.first?["lacks"] as? Int == 0)
        // What was waited for survives the loss of the other node.
        a.kill()
        #expect(try b.syncctl("history", "haneul").output.contains("둘"))
    }

    @Test("What cannot be waited for is refused")
    func refused() throws {
        let a = try DaemonProcess("a")
        try a.start()
        #expect(try a.syncctl("wait", "--vector", "nonsense").code == 64)
        #expect(try a.syncctl("wait", "--vector", "").code == 64)
        #expect(try a.syncctl("wait", "--nodes", "0").code == 64)
        #expect(try a.syncctl("wait", "--timeout", "5").code == 64)
        #expect(a.terminate() == 0)
        #expect(try a.syncctl("wait").code == 69)
    }
}

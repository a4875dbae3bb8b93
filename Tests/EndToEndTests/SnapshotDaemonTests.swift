import Foundation
import Testing

/// Empty daemons that take a copy of another's log.
@Suite(.serialized)
struct SnapshotDaemonTests {
    private static let wanted = ["SYNCD_PEERS__SNAPSHOT_AFTER": "1000"]

    /// A daemon with `count` events, and an empty one that knows it and is not running.
    private func makePair(_ count: Int) throws -> (full: DaemonProcess, empty: DaemonProcess) {
        let (a, b) = (try DaemonProcess("a"), try DaemonProcess("b"))
        #expect(try a.syncctl("init", "--name", "a").code == 0)
        var lines = ""
        for index in 0..<count {
            lines +=
                #"{"type":"message.posted","user":"u-\#(index % 700)","subject":"conversation/c-\#(index % 1999)","#
            lines += #""data":{"text":"\#(index) 어제부터 두통이 심해서 병원에 갔더니 쉬라고 하네요"}}"# + "\n"
        }
        let path = a.store + ".ndjson"
        try Data(lines.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try a.syncctl("import", path).code == 0)
        try a.start()
        try b.start()
        #expect(try a.syncctl("peers", "add", "b", b.node()).code == 0)
        b.kill()
        return (a, b)
    }

    private func address(of daemon: DaemonProcess) throws -> String {
        "\(try daemon.node())@127.0.0.1:\(try daemon.port())"
    }

    @Test("An empty daemon takes a snapshot by itself, opens it, and is like the other, live")
    func bootstrap() throws {
        let (a, b) = try makePair(20_000)
        try b.start(isTalking: true, environment: Self.wanted)
        #expect(try b.syncctl("peers", "add", "a", address(of: a)).code == 0)
        #expect(try converge(a, b).contains("view timeline 20000 "))
        #expect(b.said.contains("is complete and proved"))
        #expect(b.said.contains("opening the log again"))
        for (daemon, text) in [(a, "지금"), (b, "여기도")] {
            let result = try daemon.syncctl("append", "-u", "haneul", "--text", text)
            #expect(result.code == 0, "\(result.errors)")
        }
        let digest = try converge(a, b)
        #expect(digest.contains("view history 20004 "), "\(digest)")
        #expect(try b.verified() == 0)
        #expect(try !FileManager.default.contentsOfDirectory(atPath: b.store).contains("snapshot"))
        #expect(a.terminate() == 0)
        #expect(b.terminate() == 0)
    }

    @Test("Killed again and again on either side, the copy goes on where it was, and is whole in the end")
    func killed() throws {
        let (a, b) = try makePair(40_000)
        let port = try a.port()
        let address = try address(of: a)
        try b.start(isTalking: true, environment: Self.wanted)
        #expect(try b.syncctl("peers", "add", "a", address).code == 0)
        var random = SystemRandomNumberGenerator()
        for round in 0..<8 {
            usleep(UInt32.random(in: 20_000...400_000, using: &random))
            let victim = round % 3 == 2 ? a : b
            victim.kill()
            if round % 3 == 2 {
                try a.start(port: port)
            } else {
                try b.start(isTalking: true, environment: Self.wanted)
            }
        }
        #expect(try converge(a, b, seconds: 90).contains("view timeline 40000 "))
        #expect(b.said.contains("snapshot of "))
        #expect(try b.verified() == 0)
        #expect(try a.verified() == 0)
    }

    @Test("With snapshots turned off an empty daemon receives events one by one")
    func turnedOff() throws {
        let (a, b) = try makePair(3_000)
        try b.start(isTalking: true, environment: ["SYNCD_PEERS__SNAPSHOT_AFTER": "0"])
        #expect(try b.syncctl("peers", "add", "a", address(of: a)).code == 0)
        #expect(try converge(a, b).contains("view timeline 3000 "))
        #expect(!b.said.contains("snapshot"))
    }
}

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

    @Test("A vector with too many origins is refused at once, and long ones do not hold up a short wait (INV-9)")
    func longVectors() throws {
        let a = try DaemonProcess("a")
        try a.start()
        func vector(_ count: Int) -> String {
            (0..<count).map { _ in UUID().uuidString.lowercased() + "/1" }.joined(separator: " ")
        }
        let (longest, tooLong) = (vector(16_384), vector(16_385))
        let api = APIClient(socket: a.store + "/api.sock")
        let refused = api.ask("POST", "/v1/wait?nodes=2&timeout_ms=1", body: tooLong)
        #expect(refused?.0 == 413 && refused?.1.first?["code"] as? String == "E_LIMIT", "\(refused?.2 ?? "")")
        let group = DispatchGroup()
        for _ in 0..<7 {
            DispatchQueue.global().async(group: group) {
                _ = api.ask("POST", "/v1/wait?nodes=2&timeout_ms=100", body: longest, seconds: 60)
            }
        }
        usleep(50_000)
        let start = ContinuousClock.now
        let honest = api.ask(
            "POST", "/v1/wait?nodes=2&timeout_ms=1000", body: try a.syncctl("vector").output, seconds: 60)
        #expect(honest?.1.first?["reached"] as? Bool == false, "\(honest?.2 ?? "")")
        // In a build that is not optimised; read as characters they took 20 s.
        #expect(ContinuousClock.now - start < .seconds(10))
        group.wait()
        #expect(a.terminate() == 0)
    }

    @Test("A wait for nothing is refused: it comes from a command that failed, and nothing is durable by it")
    func nothing() throws {
        let a = try DaemonProcess("a")
        try a.start()
        let api = APIClient(socket: a.store + "/api.sock")
        for body in ["", "\n", " , "] {
            let answer = api.ask("POST", "/v1/wait", body: body)
            #expect(answer?.0 == 400 && answer?.1.first?["code"] as? String == "E_PARAMETER", "\(answer?.2 ?? "")")
        }
        let whole = api.ask("POST", "/v1/wait", body: try a.syncctl("vector").output)
        #expect(whole?.1.first?["reached"] as? Bool == true && whole?.1.first?["wanted"] as? Int == 1)
        #expect(a.terminate() == 0)
    }

    @Test("A parameter that is unknown, given twice or has no such value is refused with its name")
    func parameters() throws {
        let a = try DaemonProcess("a")
        try a.start()
        let api = APIClient(socket: a.store + "/api.sock")
        let event = #"{"type":"t","user":"u","data":{}}"#
        for (target, name) in [
            ("/v1/events?expectt=c:99", "expectt"), ("/v1/events?expect=c:0&expect=c:9", "expect"),
            ("/v1/events?atomicity=each&atomicity=whole", "atomicity"), ("/v1/events?ids=deriveh", "ids"),
            ("/v1/wait?nodes=1&timeout=5", "timeout"),
        ] {
            let answer = api.ask("POST", target, body: event)
            let message = answer?.1.first?["detail"] as? String ?? ""
            #expect(answer?.0 == 400 && message.hasPrefix(name), "\(target): \(answer?.2 ?? "")")
        }
        #expect(api.ask("GET", "/v1/status?x=1")?.0 == 400)
        #expect(try a.status()["position"] as? Int == 1, "nothing was appended")
        #expect(api.ask("POST", "/v1/events?atomicity=each&ids=derived&expect=c:0", body: event)?.0 != 400)
        #expect(a.terminate() == 0)
    }

    @Test("Who waits is told what for after a second, and at once where too few nodes are known")
    func told() throws {
        let a = try DaemonProcess("a")
        try a.start()
        let start = ContinuousClock.now
        let alone = try a.syncctl("wait", "--nodes", "2", "--timeout", "60s")
        #expect(alone.code == 78 && ContinuousClock.now - start < .seconds(30), "\(alone)")
        #expect(
            alone.errors.contains("this one counted: 1") && alone.errors.contains("peers join"), "\(alone.errors)")
        #expect(try a.syncctl("wait", "--nodes", "1").output == "durable on a\n")
        // One that never comes.
        #expect(try a.syncctl("peers", "add", "z", String(repeating: "5f", count: 32)).code == 0)
        let late = try a.syncctl("wait", "--nodes", "2", "--timeout", "3s", "--json")
        #expect(late.code == 75)
        #expect(late.lines.first?["missing"] as? [String] == ["z"], "\(late.output)")
        #expect(late.errors.contains("durable on a; not yet on z"), "\(late.errors)")
        #expect(try a.syncctl("wait", "--nodes", "3").errors.contains("E_TOO_FEW_NODES"))
        #expect(a.terminate() == 0)
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

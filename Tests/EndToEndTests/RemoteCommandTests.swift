import Foundation
import TestSupport
import Testing

/// Commands that need no files: `--url` names the node they speak with.
@Suite(.serialized)
struct RemoteCommandTests {
    @Test("Peers, an event, and what is durable where: of a node that is named, with no store here")
    func named() async throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("nothing")
        func run(_ words: String..., node: String? = nil) async throws -> Tool.Run {
            try await tool.run(words + ["--url", node ?? "unix:\(daemon.store)/api.sock"], in: folder.path)
        }
        let node = String(repeating: "0a", count: 32)
        let added = try await run("peers", "add", "busan", node)
        #expect(added.code == 0, "\(added)")
        #expect(try await run("peers", "list", "--json").objects().first?["name"] as? String == "busan")
        #expect(try await run("peers", "pause", "busan").code == 0)
        #expect(try await run("peers", "list", "--lang", "ko").text.contains("일시 중지"))
        #expect(try await run("peers", "list", "--json").objects().first?["state"] as? String == "paused")
        #expect(try await run("peers", "resume", "busan").code == 0)
        #expect(try await run("peers", "ping", "busan").code != 0)
        #expect(try await run("peers", "remove", "busan").code == 0)
        #expect(try await run("peers", "list", "--json").lines.count == 1)
        #expect(try await run("peers", "invite", "--address", "seoul.example:7460").text.hasPrefix("sillok://"))

        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e01"
        let line = #"{"id":"\#(id)","type":"message.posted","user":"u","data":{"text":"안녕"}}"#
        #expect(APIClient(socket: daemon.store + "/api.sock").ask("POST", "/v1/events", body: line)?.0 == 200)
        let shown = try await run("show", id)
        #expect(shown.code == 0 && shown.text.contains("안녕") && shown.text.contains("message.posted"), "\(shown)")
        #expect(try await run("show", id, "--json").objects().first?["id"] as? String == id)
        #expect(try await run("show", id, "--csv").text.contains("안녕"))
        #expect(try await run("show", id.replacing("01", with: "02")).code == 1)
        #expect(try await run("show", "1").errors.contains("named by its id"))

        let vector = try await Tool.named("syncctl").run(["vector", "--store", daemon.store]).text
        let place = vector.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let waited = try await run("wait", "--nodes", "1", "--vector", place, "--timeout", "5s")
        #expect(waited.code == 0, "\(waited)")
        let unknown = try await run("wait", "--nodes", "1")
        #expect(unknown.code == 64 && unknown.errors.contains("--vector"), "\(unknown)")
        let away = try await run("peers", "list", node: "unix:\(folder.path)/none.sock")
        #expect(away.code == 69 && away.errors.contains("E_UNREACHABLE"), "\(away)")
        #expect(daemon.terminate() == 0)
    }
}

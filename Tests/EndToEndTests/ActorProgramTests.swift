import Foundation
import TestSupport
import Testing

/// Who had an event appended, as the node has found out and its clients cannot say (docs/reference/FORMATS.md §2).
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ActorProgramTests {
    private let socket = "socket:uid:\(geteuid())"
    private let file = "file:uid:\(geteuid())"

    private func actors(_ run: Programs.Result) -> [String?] {
        run.lines.filter { $0["specversion"] != nil }.map { $0["actor"] as? String }
    }

    @Test("What comes over the socket has the peer's uid, whatever the lines claim, on this node and its peers")
    func socketActor() throws {
        let (a, b) = try makePair()
        let api = APIClient(socket: a.store + "/api.sock")
        let claims = (1...3).map {
            #"{"type":"message.posted","user":"u","subject":"conversation/c","actor":"token:ceo:1","data":{"text":"\#($0)"}}"#
        }
        #expect(api.ask("POST", "/v1/events", body: claims[0])?.0 == 200)
        #expect(api.ask("POST", "/v1/events?expect=c:1", body: claims[1])?.0 == 200)
        // A large request is not for the loop.
        let long =
            claims[2] + "\n"
            + String(repeating: #"{"type":"t","user":"u","data":{"x":"가나다라마바사"}}"# + "\n", count: 400)
        #expect(api.ask("POST", "/v1/events", body: long)?.0 == 200)
        #expect(try a.syncctl("append", "--user", "u", "--text", "네 번째").code == 0)
        #expect(try !converge(a, b).isEmpty)
        for node in [a, b] {
            let found = actors(try node.syncctl("export"))
            #expect(
                found.count(where: { $0 == socket }) == 404 && found.count(where: { $0 == nil }) == 2, "\(Set(found))"
            )
            #expect(try node.syncctl("verify").code != 3)
        }
        let read = try #require(api.ask("GET", "/v1/events?limit=9"))
        #expect(read.1.contains { ($0["event"] as? [String: Any] ?? $0)["actor"] as? String == socket }, "\(read)")
        let last = try #require(
            try a.syncctl("export").lines.last { $0["specversion"] != nil }?["position"] as? String)
        let shown = try a.syncctl("show", last).output
        #expect(shown.contains("actor         \(socket)\n"), "\(shown)")
        let history = try a.syncctl("history", "u", "--json").lines.first?["event"] as? [String: Any]
        #expect(history?["actor"] as? String == socket)
    }

    @Test("A program that opens the files says so; an export that is imported has the actor of who imports it")
    func fileActor() throws {
        let store = TemporaryFolder.unusedPath()
        #expect(try Programs.syncctl(store, ["init", "--name", "n"]).code == 0)
        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
        let line = #"{"type":"t","user":"u","id":"\#(id)","actor":"node:x","data":{}}"#
        #expect(try Programs.syncctl(store, ["append", "-"], input: line).code == 0)
        #expect(
            try Programs.syncctl(
                store, ["append", "--user", "u", "--conversation", "c", "--expect", "0", "--text", "x"]
            ).code == 0)
        let export = try Programs.syncctl(store, ["export"])
        #expect(actors(export) == [nil, file, file])
        #expect(try Programs.syncctl(store, ["verify"]).code == 0)

        let daemon = try DaemonProcess("d")
        try daemon.start()
        #expect(try daemon.syncctl("import", "-", input: export.output).code == 0)
        #expect(actors(try daemon.syncctl("export")) == [nil, socket, socket])
        // Repeated by who opens the files: it is there, as it was.
        #expect(daemon.terminate() == 0)
        let again = try daemon.syncctl("import", "-", input: export.output)
        #expect(again.code == 0 && again.output.contains("2 already there"), "\(again.output)")
        #expect(actors(try daemon.syncctl("export")) == [nil, socket, socket])
        // Evidence keeps what the header says.
        let evidence = try Programs.syncctl(store, ["export", "--evidence"]).output
        #expect(try daemon.syncctl("import", "--evidence", "-", input: evidence).code == 0)
        #expect(actors(try daemon.syncctl("export")) == [nil, socket, socket, nil, file, file])
    }
}

import Foundation
import TestSupport
import Testing

/// What callers are told who come with the wrong thing.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DoorstepTests {
    private func code(_ answer: (Int, [[String: Any]], String)?) -> String? { answer?.1.first?["code"] as? String }

    @Test("Paths are exact: nothing between two slashes, and nothing behind the last one")
    func paths() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        #expect(api.ask("GET", "/v1/events")?.0 == 200)
        for path in [
            "//v1/events", "/v1//events", "/v1/events/", "/v1/status/", "/v1/users//history", "//v1/status", "//",
        ] {
            #expect(api.ask("GET", path)?.0 == 404, "\(path)")
        }
        let line = #"{"type":"note","user":"u","data":{}}"#
        #expect(api.ask("POST", "//v1/events", body: line)?.0 == 404)
    }

    @Test("A member that is misspelt or of another type is refused, and nothing is made of the rest")
    func members() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        let node = String(repeating: "ab", count: 32)
        for (path, body) in [
            ("invitations", #"{"valid_s":"60"}"#), ("invitations", #"{"valid_s":1.5}"#),
            ("invitations", #"{"valid_ms":60000}"#), ("invitations", #"{"addresses":"203.0.113.7:7460"}"#),
            ("invitations", #"{"addresses":["203.0.113.7:7460",5]}"#), ("invitations", #"{"name":5}"#),
            ("peers", #"{"name":"x","node":"\#(node)","address":5}"#),
            ("peers", #"{"name":"x","node":"\#(node)","addres":"203.0.113.7:7460"}"#),
            ("join", #"{"lines":"x"}"#), ("findings", #"{"code":"PEER_OLD","notes":"x"}"#),
        ] {
            let refused = api.ask("POST", "/v1/" + path, body: body)
            #expect(refused?.0 == 400 && code(refused) == "E_PARAMETER", "\(path) \(body): \(refused?.2 ?? "")")
        }
        #expect(api.ask("GET", "/v1/peers")?.1.count == 1, "the end line alone")
        #expect(api.ask("POST", "/v1/peers", body: #"{"name":"x","node":"\#(node)","address":null}"#)?.0 == 201)
        let whole = #"{"addresses":["203.0.113.7:7460"],"valid_s":60}"#
        #expect(api.ask("POST", "/v1/invitations", body: whole)?.0 == 201)
    }

    @Test("admin and operator go with no other role; elsewhere their token is listed as what it is there")
    func mixtures() throws {
        let (a, b) = try makePair()
        let (api, other) = (APIClient(socket: a.store + "/api.sock"), APIClient(socket: b.store + "/api.sock"))
        func create(_ roles: String) -> (Int, [[String: Any]], String)? {
            api.ask("POST", "/v1/credentials", body: #"{"principal":"ops/kim","roles":[\#(roles)]}"#)
        }
        for roles in [#""admin","app""#, #""reader","operator""#, #""admin","operator","user:kim""#] {
            let refused = create(roles)
            #expect(refused?.0 == 400 && code(refused) == "E_PARAMETER", "\(roles)")
            #expect(refused?.2.contains("two tokens") == true, "\(refused?.2 ?? "")")
        }
        #expect(create(#""admin","operator""#)?.0 == 201 && create(#""app""#)?.0 == 201)
        _ = try converge(a, b)
        func states(_ client: APIClient) -> [String] {
            (client.ask("GET", "/v1/credentials")?.1 ?? []).compactMap { $0["state"] as? String }.sorted()
        }
        #expect(states(api) == ["valid", "valid"])
        waitWhile(states(other).count < 2)
        #expect(states(other) == ["elsewhere", "valid"])
        let korean = try b.syncctl("tokens", "--lang", "ko").output
        #expect(korean.contains("소유자") && korean.contains("만료") && !korean.contains("PRINCIPAL"), "\(korean)")
        let refused = try a.syncctl("tokens", "create", "ops/lee", "--role", "admin", "--role", "app")
        #expect(refused.code == 65 && refused.errors.contains("two tokens"), "\(refused)")
    }

    @Test("A reason whose bytes are no UTF-8 is refused, and recorded nowhere")
    func reasons() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        let made = api.ask("POST", "/v1/credentials", body: #"{"principal":"auditor/park","roles":["auditor"]}"#)
        let token = try #require(made?.1.first?["token"] as? String)
        let headers = ["Authorization: Bearer \(token)", "Sillok-Reason: 민원 \u{FFFD}"]
        #expect(code(api.ask("GET", "/v1/events", headers: headers)) == "E_REASON")
        #expect(code(api.ask("GET", "/v1/changes?after=first", headers: headers)) == "E_REASON")
        #expect(api.ask("GET", "/v1/access")?.1.count == 1)
    }

    @Test("A token file that others can read is told of, with the way out")
    func openFiles() async throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let folder = try TemporaryFolder.made()
        let file = folder.file("x.token")
        #expect(try daemon.syncctl("tokens", "create", "app/x", "--role", "app", "--out", file).code == 0)
        let tool = try Tool.named("syncctl")
        let words = ["whoami", "--url", "unix:\(daemon.store)/api.sock", "--token-file", file]
        let closed = try await tool.run(words)
        #expect(closed.code == 0 && closed.errors.isEmpty, "\(closed)")
        chmod(file, 0o640)
        let open = try await tool.run(words)
        #expect(open.code == 0 && open.errors.contains("chmod 600 \(file)") && open.text == closed.text, "\(open)")
        #expect(try await tool.run(words + ["--quiet"]).errors.isEmpty)
        #expect(try await tool.run(words + ["--lang", "ko"]).errors.contains("소유자가 아닌"))
    }
}

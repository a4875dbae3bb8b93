import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What the lists of tokens and of reads say where a hand has taken a payload out of what they are made of (INV-17).
@Suite(.serialized)
struct LostRecordsTests {
    private func token(_ api: APIClient, _ principal: String, _ role: String) throws -> String {
        let answer = try #require(
            api.ask("POST", "/v1/credentials", body: #"{"principal":"\#(principal)","roles":["\#(role)"]}"#))
        return "Authorization: Bearer \(try #require(answer.1.first?["token"] as? String))"
    }

    /// Takes the payload of the last event of each of these types away.
    private func empty(_ types: [String], in store: String) throws {
        let files = StoreFiles(store)
        var found: [String: StoredEvent] = [:]
        try LogReader(files).scan(after: 0, limit: .max) { stored in
            found[stored.event.header.type] = stored
            return true
        }
        let log = try Connection(path: files.log, mode: .write)
        for type in types {
            let stored = try #require(found[type])
            try log.run(
                "UPDATE event SET salt = NULL, payload = NULL, digest = ? WHERE position = ?",
                .blob(SHA256().payloadDigest(stored.event.body).bytes), .unsigned(stored.position))
        }
    }

    @Test("Tokens given before a revocation that cannot be read open nothing, and lists say what they cannot tell")
    func lost() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        let line = #"{"type":"message.posted","user":"kim","data":{"text":"아파요"}}"#
        #expect(api.ask("POST", "/v1/events", body: line)?.0 == 200)
        let (taken, kept) = (try token(api, "reader/a", "reader"), try token(api, "reader/b", "reader"))
        let id = taken.components(separatedBy: "slk1_")[1].prefix(16)
        #expect(api.ask("DELETE", "/v1/credentials/\(id)")?.0 == 204)
        let (auditor, kim) = (try token(api, "auditor/park", "auditor"), try token(api, "user/kim", "user:kim"))
        let read = api.ask("GET", "/v1/users/kim/history", headers: [auditor, "Sillok-Reason: complaint"])
        #expect(read?.0 == 200 && api.ask("GET", "/v1/me", headers: [kept])?.0 == 200)
        #expect(try daemon.syncctl("tokens").code == 0 && daemon.syncctl("access").code == 0)
        #expect(daemon.terminate() == 0)
        try empty(["access.revoked", "access.read"], in: daemon.store)
        try daemon.start()
        waitWhile(api.ask("GET", "/v1/me", headers: [auditor])?.0 != 200)
        for header in [taken, kept] { #expect(api.ask("GET", "/v1/me", headers: [header])?.0 == 401) }
        #expect(api.ask("GET", "/v1/me", headers: [kim])?.0 == 200)

        let tokens = try daemon.syncctl("tokens")
        #expect(tokens.code == 2 && tokens.errors.contains("1 event"), "\(tokens.code) \(tokens.errors)")
        #expect(tokens.output.matches(of: /doubtful/).count == 2, "\(tokens.output)")
        #expect(try daemon.syncctl("tokens", "--json").output.contains(#""lost":1"#))
        let reads = try daemon.syncctl("access")
        #expect(reads.code == 2 && reads.errors.contains("1 event"), "\(reads.code) \(reads.errors)")
        #expect(reads.output.contains("park") && reads.output.contains("(its payload is gone)"), "\(reads.output)")
        // It may concern anyone who asks, who then hears no more of it.
        #expect(try daemon.syncctl("access", "--user", "lee", "--json").output.contains(#""lost":true"#))
        let own = try #require(api.ask("GET", "/v1/users/kim/readers", headers: [kim]))
        #expect(own.0 == 200 && own.2.contains(#""lost":true"#) && !own.2.contains("park"), "\(own.2)")
        let out = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: out) }
        let made = try daemon.syncctl("subject", "kim", "--out", out, "--reason", "r", "--who", "w")
        #expect(made.code == 0, "\(made.errors)")
        #expect(try String(contentsOfFile: out + "/readers.ndjson", encoding: .utf8).contains(#""lost":true"#))
        #expect(try String(contentsOfFile: out + "/index.en.html", encoding: .utf8).contains("lost its payload"))
    }
}

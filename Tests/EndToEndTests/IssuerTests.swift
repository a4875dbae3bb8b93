import EventStore
import Foundation
import TestSupport
import Testing

/// Tokens of an identity provider, shown to a real daemon. `AccessTests` has each way in which they can be wrong.
@Suite(.serialized)
struct IssuerTests {
    private static var vectors: [String: Any] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let path = tests.appending(path: "AccessTests/Vectors/jwt.json")
        return (try? JSONSerialization.jsonObject(with: Data(contentsOf: path))) as? [String: Any] ?? [:]
    }

    private func texts(_ name: String) -> [String: String] { Self.vectors[name] as? [String: String] ?? [:] }

    private func header(_ token: String) -> String { "Authorization: Bearer \(token)" }

    private func write(_ name: String, to path: String) throws {
        let data = try JSONSerialization.data(withJSONObject: try #require(Self.vectors[name]))
        // At once, as the documents ask.
        try data.write(to: URL(filePath: path + ".new"))
        #expect(rename(path + ".new", path) == 0)
    }

    @Test(
        "A provider's user reads and writes as itself; bad tokens are 401; a new file of keys counts within ten seconds"
    )
    func provider() throws {
        let folder = try TemporaryFolder.made()
        let keys = folder.file("keys.json")
        try write("keys", to: keys)
        let jwt = #"[{name:"id",issuer:"https://id.example",audience:"sillok",jwks_file:"\#(keys)",uid:"{sub}"}]"#
        let daemon = try DaemonProcess("n")
        try daemon.start(isTalking: true, environment: ["SYNCD_API__JWT": jwt])
        let api = APIClient(socket: daemon.store + "/api.sock")
        let good = header(try #require(texts("good")["ES256"]))
        waitWhile(api.ask("GET", "/v1/me", headers: [good])?.0 == 503)

        let me = try #require(api.ask("GET", "/v1/me", headers: [good]))
        #expect(me.0 == 200 && me.2.contains(#""JWT:u-7:id""#) && me.2.contains("user:u-7"), "\(me)")
        let line = #"{"type":"message.posted","user":"u-7","data":{"text":"안녕"}}"#
        #expect(api.ask("POST", "/v1/events", body: line, headers: [good])?.0 == 200)
        #expect(
            api.ask("GET", "/v1/users/u-7/history", headers: [good])?.2.contains(#""actor":"JWT:u-7:id""#) == true)
        #expect(api.ask("GET", "/v1/users/u-8/history", headers: [good])?.0 == 404)
        let other = line.replacing("u-7", with: "u-8")
        #expect(api.ask("POST", "/v1/events", body: other, headers: [good])?.0 == 403)

        // No signature, and a right one of another's: nothing is believed, and ten a minute are looked at.
        var statuses: [String: Int] = [:]
        for (name, token) in texts("bad").sorted(by: { $0.key < $1.key }) {
            statuses[name] = api.ask("GET", "/v1/me", headers: [header(token)])?.0
        }
        #expect(statuses.count == 38 && statuses.values.allSatisfy { [401, 429].contains($0) }, "\(statuses)")
        #expect(statuses["expired"] == 401)
        let expired = header(try #require(texts("bad")["expired"]))
        let over = try #require(api.ask("GET", "/v1/me", headers: [expired]))
        #expect(over.2.contains("E_TOKEN_EXPIRED"))
        #expect(api.ask("GET", "/v1/me", headers: [good])?.0 == 200)

        // Keys that cannot be read change nothing; new ones end those before.
        try Data("nonsense".utf8).write(to: URL(filePath: keys))
        #expect(
            eventually {
                _ = api.ask("GET", "/v1/me", headers: [good]); return daemon.said.contains("count on")
            })
        #expect(api.ask("GET", "/v1/me", headers: [good])?.0 == 200)
        // What the keys had opened ends with them, and the next request finds them gone, however long it comes later.
        let ended = Lock<Int?>(nil)
        let waiting = Thread { [ended] in
            let status = api.ask("GET", "/v1/changes?wait_ms=20000", headers: [good], seconds: 25)?.0
            ended.withLock { $0 = status }
        }
        waiting.start()
        usleep(500_000)
        try write("renewed", to: keys)
        #expect(eventually { ended.withLock { $0 } != nil })
        #expect(ended.withLock { $0 } == 401)
        #expect([401, 429].contains(api.ask("GET", "/v1/me", headers: [good])?.0))
        let after = header(try #require(Self.vectors["after"] as? String))
        #expect(eventually { api.ask("GET", "/v1/me", headers: [after])?.0 == 200 })
        #expect(api.ask("GET", "/v1/me", headers: [good])?.0 != 200)
        #expect(daemon.terminate() == 0)
    }

    private func eventually(_ isTrue: () -> Bool) -> Bool {
        for _ in 0..<600 {
            if isTrue() { return true }
            usleep(100_000)
        }
        return false
    }

    @Test("A start without the file of keys, or with a rule that lets in administrators, is refused by name")
    func configuration() async throws {
        let folder = try TemporaryFolder.made()
        let keys = folder.file("keys.json")
        func checked(_ issuer: String) async throws -> Tool.Run {
            var tool = try Tool.named("syncd")
            tool.environment["SYNCD_API__JWT"] = "[{\(issuer)}]"
            return try await tool.run(["--check-config", "--dev"], in: folder.path)
        }
        let rest = #"name:"id",issuer:"i",audience:"a",jwks_file:"\#(keys)""#
        let missing = try await checked(rest)
        #expect(missing.code == 78 && missing.errors.contains("\(keys) is not there"), "\(missing)")
        try write("keys", to: keys)
        let complete = try await checked(rest)
        #expect(!(complete.text + complete.errors).contains("api.jwt"), "\(complete)")
        let refusals = [
            (rest + #",roles_claim:"r",allow:["admin"]"#, "admin"), (rest + #",allow:["reader"]"#, "roles_claim"),
            (rest + #",uid:"sub""#, "braces"), (rest + #",audiences:"a""#, "audience"), (#"name:"id""#, "issuer"),
        ]
        for (issuer, word) in refusals {
            let run = try await checked(issuer)
            #expect(run.code == 78 && run.errors.contains(word), "\(issuer): \(run)")
        }
    }
}

import Foundation
import TestSupport
import Testing

/// What proves events, over the API (INV-19): whole, in pages, for those who read everything; and what views cannot read.
@Suite(.serialized)
struct ProofRouteTests {
    private let daemon: DaemonProcess
    private let api: APIClient
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder.made()
        daemon = try DaemonProcess("n")
        try daemon.start()
        api = APIClient(socket: daemon.store + "/api.sock")
        var lines = (1...5).map { number in
            #"{"id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e0\#(number)","type":"message.posted","user":"kim","#
                + #""subject":"conversation/c","time":"2026-08-01T00:00:0\#(number)Z","data":{"text":"글 \#(number)"}}"#
        }
        lines.append(#"{"type":"message.posted","user":"lee","subject":"conversation/d","data":{"text":"남"}}"#)
        lines.append(#"{"type":"message.posted","user":"lee-secret","data":{"text":5}}"#)
        try #require(api.ask("POST", "/v1/events", body: lines.joined(separator: "\n"))?.0 == 200)
    }

    /// Asks until a head covers what was appended.
    private func proof(_ target: String, _ headers: [String] = []) -> String {
        for _ in 0..<1_200 {
            let answer = api.raw("GET", target, headers: headers)
            if !answer.hasPrefix("HTTP/1.1 503") { return answer }
            usleep(50_000)
        }
        return ""
    }

    private func body(_ answer: String) -> String {
        answer.range(of: "\r\n\r\n").map { String(answer[$0.upperBound...]) } ?? ""
    }

    /// What `syncctl check-proof` makes of it.
    private func check(_ body: String) async throws -> Tool.Run {
        let file = folder.file("answer")
        try Data(body.utf8).write(to: URL(filePath: file))
        return try await Tool.named("syncctl").run(["check-proof", file, "--json"])
    }

    private func events(_ body: String) -> Int { body.components(separatedBy: #"{"type":"event","#).count - 1 }

    @Test("A conversation's events come with all that proves them, and pages go on where the last one ended")
    func pages() async throws {
        let whole = body(proof("/v1/conversations/c/proof?order=oldest"))
        #expect(events(whole) == 5 && whole.contains(#""filtered":false"#), "\(whole)")
        let run = try await check(whole)
        #expect(run.code == 0, "\(run)")
        var target: String? = "/v1/conversations/c/proof?order=oldest&limit=2"
        var counts: [Int] = []
        while let asked = target, counts.count < 9 {
            let answer = proof(asked)
            counts.append(events(body(answer)))
            let run = try await check(body(answer))
            #expect(run.code == 0 && run.text.contains(#""filtered":true"#), "\(run)")
            target = answer.split(separator: "\r\n").first { $0.hasPrefix("Link: <") }.map {
                String($0.dropFirst(7).prefix { $0 != ">" })
            }
        }
        #expect(counts.reduce(0, +) == 5 && counts.prefix(2) == [2, 2], "\(counts)")
        let part = body(proof("/v1/conversations/c/proof?since=2026-08-01T00:00:02Z&until=2026-08-01T00:00:04Z"))
        #expect(events(part) == 2 && part.contains(#""filtered":true"#))
    }

    @Test("A changed byte of such an answer is found; an event that is not there is 404")
    func event() async throws {
        let one = body(proof("/v1/events/0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e03/proof"))
        #expect(events(one) == 1)
        let run = try await check(one)
        #expect(run.code == 0, "\(run)")
        let changed = try await check(one.replacing("글 3", with: "글 4"))
        #expect(changed.code == 3, "\(changed)")
        #expect(api.ask("GET", "/v1/events/0198e2c4-77aa-7c01-8b1e-0a1b2c3d4eff/proof")?.0 == 404)
        #expect(api.ask("GET", "/v1/events/x/proof")?.0 == 404)
    }

    @Test(
        "An auditor's proof is recorded as what it is, a read of the conversation; users, bots and operators get none"
    )
    func access() throws {
        func token(_ role: String) throws -> String {
            let made = try #require(
                api.ask("POST", "/v1/credentials", body: #"{"principal":"x/y","roles":["\#(role)"],"scope":"all"}"#)?
                    .1.first)
            let header = "Authorization: Bearer \(try #require(made["token"] as? String))"
            waitWhile(api.ask("GET", "/v1/me", headers: [header])?.0 == 503)
            return header
        }
        let auditor = try token("auditor")
        #expect(proof("/v1/conversations/c/proof", [auditor]).contains("E_REASON"))
        #expect(proof("/v1/conversations/c/proof", [auditor, "Sillok-Reason: 민원 4711"]).contains("HTTP/1.1 200"))
        let log = try #require(api.ask("GET", "/v1/access", headers: [token("admin")]))
        let read = try #require(log.1.first { $0["subject"] as? String == "/v1/conversations/c/proof" })
        #expect(read["users"] as? [String] == ["kim"] && read["reason"] as? String == "민원 4711", "\(read)")
        for role in ["user:kim", "bot:b", "operator", "admin"] {
            #expect(api.ask("GET", "/v1/conversations/c/proof", headers: [try token(role)])?.0 == 403, "\(role)")
            #expect(api.ask("GET", "/v1/events/x/proof", headers: [try token(role)])?.0 == 403, "\(role)")
        }
    }

    @Test("What views cannot read is listed for operators, without a word of whose it is")
    func quarantine() throws {
        let answer = try #require(api.ask("GET", "/v1/quarantine"))
        #expect(answer.0 == 200 && answer.1.first?["view"] as? String == "messages", "\(answer)")
        #expect(answer.1.last?["quarantined"] as? Int == 1 && !answer.2.contains("lee-secret"))
        let position = try #require(answer.1.first?["position"] as? Int)
        #expect(api.ask("GET", "/v1/quarantine?after=\(position)")?.1.count == 1)
    }
}

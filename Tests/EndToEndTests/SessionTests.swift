import Foundation
import TestSupport
import Testing

/// A browser's cookie in place of a token, from outside: what it opens, for whom, and until when.
@Suite(.serialized)
struct SessionTests {
    private let daemon: DaemonProcess
    private let api: APIClient
    private static let own = "Sec-Fetch-Site: same-origin"

    init() throws {
        daemon = try DaemonProcess("n")
        try daemon.start()
        api = APIClient(socket: daemon.store + "/api.sock")
    }

    private func token(_ role: String, _ more: String = "") throws -> (header: String, id: String) {
        let body = #"{"principal":"\#(role)/x","roles":["\#(role)"]\#(more)}"#
        let answer = try #require(api.ask("POST", "/v1/credentials", body: body))
        let made = try #require(answer.1.first)
        let header = "Authorization: Bearer \(try #require(made["token"] as? String))"
        waitWhile(api.ask("GET", "/v1/me", headers: [header])?.0 == 503)
        return (header, try #require(made["credential"] as? String))
    }

    /// The cookie of a new session, as the header that shows it.
    private func session(_ token: String) throws -> String {
        let answer = api.raw("POST", "/v1/sessions", headers: [token])
        #expect(answer.hasPrefix("HTTP/1.1 201"), "\(answer)")
        let set = try #require(answer.split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: ") })
        let parts = set.dropFirst("Set-Cookie: ".count).components(separatedBy: "; ")
        #expect(
            parts.dropFirst().sorted() == ["HttpOnly", "Path=/", "SameSite=Strict", "Secure"],
            "a browser must keep it from scripts, from other sites and from plain connections: \(set)")
        let secret = try #require(parts.first)
        #expect(secret.hasPrefix("__Host-sillok=") && secret.count > 50)
        #expect(!answer.contains("slk1_"), "the token cannot be found again")
        return "Cookie: " + secret
    }

    private func status(_ method: String, _ target: String, _ headers: [String]) -> Int {
        api.ask(method, target, headers: headers)?.0 ?? 0
    }

    @Test("A cookie opens what its token opens, and nothing else; an end ends it")
    func exchange() throws {
        let cookie = try session(token("reader").header)
        let me = try #require(api.ask("GET", "/v1/me", headers: [cookie, Self.own]))
        #expect(me.0 == 200 && me.1.first?["roles"] as? [String] == ["reader"], "\(me)")
        #expect(status("GET", "/v1/conversations", [cookie, Self.own]) == 200)
        #expect(status("GET", "/v1/status", [cookie, Self.own]) == 403)
        // Another cookie of the site does not hide it; a second one of its name does not count.
        #expect(status("GET", "/v1/me", ["Cookie: a=b; " + cookie.dropFirst(8), Self.own]) == 200)
        #expect(status("GET", "/v1/me", [cookie + "; __Host-sillok=x", Self.own]) == 401)
        #expect(status("DELETE", "/v1/sessions", [cookie, Self.own]) == 204)
        let over = api.raw("GET", "/v1/me", headers: [cookie, Self.own])
        #expect(over.hasPrefix("HTTP/1.1 401") && over.contains("Max-Age=0"), "\(over)")
    }

    @Test("A page of another site cannot ask with a visitor's cookie", arguments: ["GET", "POST", "DELETE"])
    func otherSites(method: String) throws {
        let cookie = try session(token("app").header)
        let targets = ["GET": "/v1/me", "POST": "/v1/events", "DELETE": "/v1/sessions"]
        let target = try #require(targets[method])
        for site in [[], ["Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: same-site"], ["Sec-Fetch-Site: none"]] {
            #expect(status(method, target, [cookie] + site) == 401, "\(method) \(site)")
        }
        #expect(status("GET", "/v1/me", [cookie, Self.own]) == 200, "none of them has ended it")
    }

    @Test("A session ends with its token: taken back, or over")
    func tokens() throws {
        let (header, id) = try token("reader")
        let cookie = try session(header)
        #expect(status("GET", "/v1/me", [cookie, Self.own]) == 200)
        #expect(status("DELETE", "/v1/credentials/\(id)", []) == 204)
        #expect(status("GET", "/v1/me", [cookie, Self.own]) == 401)
        let short = try session(token("reader", #","valid_s":2"#).header)
        #expect(status("GET", "/v1/me", [short, Self.own]) == 200)
        usleep(2_200_000)
        #expect(status("GET", "/v1/me", [short, Self.own]) == 401)
    }

    @Test(
        "Only who shows a token gets a session: neither the socket's callers, nor those with a cookie or a wrong token"
    )
    func strangers() throws {
        #expect(status("POST", "/v1/sessions", []) == 401)
        let cookie = try session(token("reader").header)
        #expect(status("POST", "/v1/sessions", [cookie, Self.own]) == 401)
        #expect(status("POST", "/v1/sessions", ["Authorization: Bearer slk1_x"]) == 401)
        #expect(
            status("GET", "/v1/me", ["Cookie: __Host-sillok=\(String(repeating: "A", count: 43))", Self.own]) == 401)
        let figures = api.ask("GET", "/metrics")?.2 ?? ""
        #expect(figures.contains(#"syncd_auth_failures_total{method="session",reason="expired"} 1"#), "\(figures)")
    }

    @Test("Of one token there are sixteen sessions at most: the oldest ends")
    func bounds() throws {
        let (header, _) = try token("reader")
        let first = try session(header)
        usleep(5_000)
        var last = first
        for _ in 0..<16 {
            last = try session(header)
            usleep(2_000)
        }
        #expect(status("GET", "/v1/me", [first, Self.own]) == 401)
        #expect(status("GET", "/v1/me", [last, Self.own]) == 200)
    }

    @Test("What is appended in a session has the token as its actor")
    func actor() throws {
        let (header, id) = try token("app")
        let cookie = try session(header)
        let line = #"{"type":"message.posted","user":"kim","data":{"text":"안녕"}}"#
        let appended = api.ask(
            "POST", "/v1/events", body: line, headers: [cookie, Self.own, "Content-Type: application/x-ndjson"])
        #expect(appended?.0 == 200, "\(String(describing: appended))")
        #expect(api.ask("GET", "/v1/users/kim/history")?.2.contains(#""actor":"token:app/x:\#(id)""#) == true)
    }
}

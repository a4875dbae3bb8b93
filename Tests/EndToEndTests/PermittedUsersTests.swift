import Foundation
import Testing

/// What users may do only where the node says so: list others, and erase what is theirs (INV-13, D99).
@Suite(.serialized)
struct PermittedUsersTests {
    private func started(_ permissions: [String: String] = [:]) throws -> (DaemonProcess, APIClient) {
        let daemon = try DaemonProcess("n")
        try daemon.start(environment: permissions)
        return (daemon, APIClient(socket: daemon.store + "/api.sock"))
    }

    private func token(_ api: APIClient, _ user: String) throws -> String {
        let body = #"{"principal":"user/\#(user)","roles":["user:\#(user)"]}"#
        let answer = try #require(api.ask("POST", "/v1/credentials", body: body))
        return "Authorization: Bearer \(try #require(answer.1.first?["token"] as? String))"
    }

    private func fill(_ api: APIClient) {
        for user in ["kim", "lee"] {
            let line = #"{"type":"profile.changed","user":"\#(user)","data":{"fields":{"name":"이름 \#(user)"}}}"#
            #expect(api.ask("POST", "/v1/events", body: line)?.0 == 200)
        }
    }

    private func code(_ answer: (Int, [[String: Any]], String)?) -> String {
        "\(answer?.0 ?? 0) \(answer?.1.first { $0["code"] is String }?["code"] as? String ?? "")"
    }

    @Test("A node that says nothing lets no user list others or erase, and says so to each (S2-4, S4-6)")
    func unless() throws {
        let (daemon, api) = try started()
        fill(api)
        let kim = try token(api, "kim")
        #expect(api.ask("GET", "/v1/me", headers: [kim])?.1.first?["may"] as? [String] == [])
        #expect(code(api.ask("GET", "/v1/users", headers: [kim])) == "403 E_ROLE")
        for body in [#"{"dry_run":true}"#, #"{"plan":"x"}"#] {
            #expect(code(api.ask("POST", "/v1/users/kim/erasure", body: body, headers: [kim])) == "403 E_ROLE")
        }
        daemon.kill()
    }

    @Test("Where it lets them, a user erases no other, nothing unseen, and lists all but oneself (S2-4, S4-6)")
    func permitted() throws {
        let (daemon, api) = try started(["SYNCD_USERS__LISTED": "true", "SYNCD_USERS__ERASE_OWN": "true"])
        fill(api)
        let kim = try token(api, "kim")
        let listed = api.ask("GET", "/v1/users", headers: [kim])?.1.compactMap { $0["user"] as? String }
        #expect(listed == ["lee"])
        #expect(
            code(api.ask("POST", "/v1/users/lee/erasure", body: #"{"dry_run":true}"#, headers: [kim]))
                == "403 E_AUTHOR")
        for (body, member) in [("{}", "plan"), (#"{"x":1}"#, "x"), (#"{"plan":"x","upto":"now"}"#, "upto")] {
            let answer = api.ask("POST", "/v1/users/kim/erasure", body: body, headers: [kim])
            #expect(code(answer) == "400 E_PARAMETER")
            #expect((answer?.1.first?["detail"] as? String)?.hasPrefix(member + ":") == true, "\(answer?.2 ?? "")")
        }
        #expect(
            code(api.ask("POST", "/v1/users/kim/erasure", body: #"{"plan":"x"}"#, headers: [kim])) == "409 E_PLAN")
        let plan = try #require(
            api.ask("POST", "/v1/users/kim/erasure", body: #"{"dry_run":true}"#, headers: [kim])?.1.last?["plan"])
        let order = api.ask("POST", "/v1/users/kim/erasure", body: #"{"plan":"\#(plan)"}"#, headers: [kim])
        #expect(order?.0 == 202)
        let erased = api.ask("GET", "/v1/erasures")?.1.first
        #expect(erased?["user"] as? String == "kim" && erased?["who"] as? String == "user/kim")
        // The views are built anew meanwhile.
        var users: [String] = []
        for _ in 0..<1_200 where users != ["lee"] {
            usleep(50_000)
            users = api.ask("GET", "/v1/users")?.1.compactMap { $0["user"] as? String } ?? []
        }
        #expect(users == ["lee"])
        daemon.kill()
    }
}

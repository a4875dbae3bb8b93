import Foundation
import TestSupport
import Testing

/// Other members, another place, each node its own, and acks that come with an append, as docs/operating/following.md has them (INV-14).
struct ChangedSubscriptionTests {
    private func started(_ name: String = "n") throws -> (DaemonProcess, APIClient) {
        let daemon = try DaemonProcess(name)
        try daemon.start()
        return (daemon, APIClient(socket: daemon.store + "/api.sock"))
    }

    private func post(
        _ api: APIClient, _ texts: [String], type: String = "message.posted", conversation: String = "c"
    ) {
        let lines = texts.map {
            #"{"type":"\#(type)","user":"kim","subject":"conversation/\#(conversation)","data":{"text":"\#($0)"}}"#
        }
        #expect(api.ask("POST", "/v1/events", body: lines.joined(separator: "\n"))?.0 == 200)
    }

    private struct Delivered {
        let text: String
        let token: String
        let event: String
    }

    private func pull(_ api: APIClient, _ name: String = "bot", wait: Int = 0) throws -> [Delivered] {
        let body = #"{"max":50,"wait_ms":\#(wait)}"#
        let answer = try #require(api.ask("POST", "/v1/subscriptions/\(name)/pull", body: body, seconds: 40))
        #expect(answer.0 == 200)
        let deliveries = answer.1.first?["deliveries"] as? [[String: Any]] ?? []
        return deliveries.compactMap { one in
            let event = one["event"] as? [String: Any]
            return Delivered(
                text: (event?["data"] as? [String: Any])?["text"] as? String ?? "",
                token: one["delivery"] as? String ?? "", event: event?["id"] as? String ?? "")
        }
    }

    /// Pulls until it has `count`: the subscription follows the log a moment later.
    private func pull(_ api: APIClient, count: Int) throws -> [Delivered] {
        var all: [Delivered] = []
        for _ in 0..<10 where all.count < count { all += try pull(api, wait: 1_000) }
        try #require(all.count == count, "\(all)")
        return all
    }

    private func ack(_ api: APIClient, _ all: [Delivered], _ name: String = "bot") {
        let list = all.map { "\"\($0.token)\"" }.joined(separator: ",")
        #expect(api.ask("POST", "/v1/subscriptions/\(name)/ack", body: #"{"deliveries":[\#(list)]}"#)?.0 == 200)
    }

    /// Works until there is nothing.
    private func drain(_ api: APIClient, _ name: String = "bot") throws -> [String] {
        var texts: [String] = []
        while case let some = try pull(api, name, wait: 500), !some.isEmpty {
            texts += some.map(\.text)
            ack(api, some, name)
        }
        return texts
    }

    @Test("A changed filter counts for what is stored later; the old one for what was there, looked at or not")
    func changed() throws {
        let (daemon, api) = try started()
        defer { daemon.kill() }
        let body = #"{"start":"first","filter":{"type":["message.posted"]},"order":"none"}"#
        #expect(api.ask("PUT", "/v1/subscriptions/bot", body: body)?.0 == 201)
        post(api, ["하나", "둘"])
        post(api, ["옛 답"], type: "bot.replied")
        _ = try pull(api, count: 2)
        let change = #"{"filter":{"type":["bot.replied"]},"attempts":2}"#
        let changed = try #require(api.ask("PATCH", "/v1/subscriptions/bot", body: change))
        #expect(changed.0 == 200)
        let definition = changed.1.first?["definition"] as? [String: Any]
        #expect((definition?["filter"] as? [String: Any])?["type"] as? [String] == ["bot.replied"])
        #expect(definition?["attempts"] as? Int == 2 && definition?["order"] as? String == "none")
        #expect(changed.1.first?["in_flight"] as? Int == 2, "what is out stays out")
        post(api, ["셋"])
        post(api, ["새 답"], type: "bot.replied")
        daemon.kill()
        try daemon.start()
        // What was out when it died comes again, by the filter of then.
        #expect(Set(try drain(api)) == ["하나", "둘", "새 답"])
        // The same request changes nothing; a program that makes it at its start, as it was made, goes on with what there is.
        #expect(api.ask("PATCH", "/v1/subscriptions/bot", body: change)?.0 == 200)
        let again = try #require(api.ask("PUT", "/v1/subscriptions/bot", body: body))
        #expect(again.0 == 200 && (again.1.first?["definition"] as? [String: Any])?["attempts"] as? Int == 2)
        let other = body.replacingOccurrences(of: "posted", with: "edited")
        #expect(api.ask("PUT", "/v1/subscriptions/bot", body: other)?.1.first?["code"] as? String == "E_EXISTS")
        for wrong in [#"{"start":"now"}"#, #"{"home":"local"}"#, #"{"x":1}"#, #"{"attempts":0}"#, "[]", ""] {
            #expect(api.ask("PATCH", "/v1/subscriptions/bot", body: wrong)?.0 == 400, "\(wrong)")
        }
        #expect(api.ask("PATCH", "/v1/subscriptions/none", body: change)?.0 == 404)
    }

    @Test("It begins anew from the place that is sought, also after a crash; what is parked stays so")
    func sought() throws {
        let (daemon, api) = try started()
        defer { daemon.kill() }
        let body = #"{"start":"first","filter":{"type":["message.posted"]},"order":"none"}"#
        #expect(api.ask("PUT", "/v1/subscriptions/bot", body: body)?.0 == 201)
        post(api, ["하나", "둘", "셋"])
        let first = try pull(api, count: 3)
        #expect(first.map(\.text) == ["하나", "둘", "셋"])
        ack(api, Array(first.dropFirst()))
        let park = #"{"deliveries":["\#(first[0].token)"],"reason":"나중에"}"#
        #expect(api.ask("POST", "/v1/subscriptions/bot/park", body: park)?.0 == 200)
        #expect(try drain(api) == [])
        for wrong in [#"{"start":"soon"}"#, "{}", #"{"start":"now","x":1}"#] {
            #expect(api.ask("POST", "/v1/subscriptions/bot/seek", body: wrong)?.0 == 400, "\(wrong)")
        }
        let seek = #"{"start":"first","reason":"답이 사라졌다"}"#
        #expect(api.ask("POST", "/v1/subscriptions/bot/seek", body: seek)?.0 == 200)
        daemon.kill()
        try daemon.start()
        #expect(try drain(api) == ["둘", "셋"])
        #expect(api.ask("GET", "/v1/subscriptions/bot/parked")?.1.first?["event"] as? String == first[0].event)
        post(api, ["넷"])
        #expect(api.ask("POST", "/v1/subscriptions/bot/seek", body: #"{"start":"now"}"#)?.0 == 200)
        post(api, ["다섯"])
        #expect(try drain(api) == ["다섯"], "now is what is not stored here yet")
        // Asked for before, of an older place: what is tried again is so once.
        let retry = #"{"events":["\#(first[0].event)"]}"#
        #expect(api.ask("POST", "/v1/subscriptions/bot/retry", body: retry)?.0 == 200)
        #expect(try drain(api) == ["하나"])
        #expect(api.ask("POST", "/v1/subscriptions/bot/seek", body: #"{"start":"first"}"#)?.0 == 200)
        #expect(try drain(api) == ["하나", "둘", "셋", "넷", "다섯"])
    }

    @Test(
        "An append acks deliveries once it is stored; of one that is refused none counts, and no ack undoes an append"
    )
    func appended() throws {
        let (daemon, api) = try started()
        defer { daemon.kill() }
        let body = #"{"start":"first","filter":{"type":["message.posted"]},"order":"none"}"#
        #expect(api.ask("PUT", "/v1/subscriptions/bot", body: body)?.0 == 201)
        post(api, ["하나", "둘", "셋"])
        let given = try pull(api, count: 3)
        func reply(_ tokens: [String], _ user: String = "kim") -> (Int, [[String: Any]], String)? {
            let query = tokens.map { "ack=\($0)" }.joined(separator: "&")
            return api.ask(
                "POST", "/v1/events?\(query)", body: #"{"type":"bot.replied","user":"\#(user)","data":{}}"#)
        }
        let done = try #require(reply([given[0].token, given[1].token]))
        #expect(done.0 == 200 && done.1.map { $0["type"] as? String } == ["appended", "acked", "end"])
        #expect(done.1[1]["done"] as? Int == 2 && (done.1[1]["late"] as? [String])?.isEmpty == true)
        #expect(reply([given[2].token], "")?.0 == 422)
        #expect(reply(["x"])?.1.first?["code"] as? String == "E_PARAMETER")
        #expect(api.ask("GET", "/v1/subscriptions/bot")?.1.first?["in_flight"] as? Int == 1)
        daemon.kill()
        try daemon.start()
        #expect(try pull(api, count: 1).map(\.text) == ["셋"], "the acks survive a crash of the daemon")
        #expect(api.ask("DELETE", "/v1/subscriptions/bot")?.0 == 204)
        let gone = try #require(reply([given[2].token]))
        #expect(gone.0 == 200 && gone.1[0]["type"] as? String == "appended")
        #expect(gone.1[1]["done"] as? Int == 0 && gone.1[1]["code"] as? String == "E_NOT_FOUND")
    }

    @Test("With home local each node delivers its own at once, and what the other has not done after 30 seconds")
    func local() throws {
        let (a, b) = try makePair()
        defer { for daemon in [a, b] { daemon.kill() } }
        let (here, there) = (APIClient(socket: a.store + "/api.sock"), APIClient(socket: b.store + "/api.sock"))
        let body = #"{"start":"now","filter":{"type":["message.posted"]},"home":"local"}"#
        #expect(here.ask("PUT", "/v1/subscriptions/bot", body: body)?.0 == 201)
        _ = try converge(a, b)
        post(here, ["이쪽 하나"], conversation: "a")
        post(there, ["저쪽 하나", "저쪽 둘"], conversation: "b")
        _ = try converge(a, b)
        let own = try pull(here, count: 1), others = try pull(there, count: 1)
        #expect(own.map(\.text) == ["이쪽 하나"] && others.map(\.text) == ["저쪽 하나"])
        ack(here, own)
        ack(there, others)
        // What no worker does there is done here, and once.
        let begin = ContinuousClock.now
        var late: [Delivered] = []
        while late.isEmpty, ContinuousClock.now - begin < .seconds(60) { late = try pull(here, wait: 5_000) }
        #expect(late.map(\.text) == ["저쪽 둘"])
        #expect(ContinuousClock.now - begin > .seconds(20))
        ack(here, late)
        Thread.sleep(forTimeInterval: 2.5)
        #expect(try pull(here).isEmpty && pull(there).isEmpty)
    }

    @Test("What one of two homes acked and the other set aside is parked at neither once they meet (INV-14)")
    func ackedAndParked() throws {
        let (a, b) = try makePair()
        defer { for daemon in [a, b] { daemon.kill() } }
        let (here, there) = (APIClient(socket: a.store + "/api.sock"), APIClient(socket: b.store + "/api.sock"))
        let body = #"{"start":"first","filter":{"type":["message.posted"]},"order":"none"}"#
        #expect(here.ask("PUT", "/v1/subscriptions/bot", body: body)?.0 == 201)
        post(here, ["이쪽이 함", "저쪽이 함", "아무도"])
        _ = try converge(a, b)
        #expect(try a.syncctl("peers", "pause", "b").code == 0)
        #expect(there.ask("POST", "/v1/subscriptions/bot/move")?.0 == 200)
        // Each takes itself for the home, sets aside what the other has done, and both the last one.
        let theirs = try pull(there, count: 3)
        let ours = try pull(here, count: 3)
        ack(there, theirs.filter { $0.text == "저쪽이 함" })
        ack(here, ours.filter { $0.text == "이쪽이 함" })
        for (api, all, done) in [(there, theirs, "저쪽이 함"), (here, ours, "이쪽이 함")] {
            let list = all.filter { $0.text != done }.map { "\"\($0.token)\"" }.joined(separator: ",")
            let body = #"{"deliveries":[\#(list)],"reason":"r"}"#
            #expect(api.ask("POST", "/v1/subscriptions/bot/park", body: body)?.0 == 200)
        }
        func parked(_ api: APIClient) -> Set<String> {
            let lines = api.ask("GET", "/v1/subscriptions/bot/parked")?.1 ?? []
            return Set(lines.compactMap { $0["event"] as? String })
        }
        // The old home answers of what is parked only as long as it takes itself for the home.
        #expect(parked(here).count == 2 && parked(there).count == 2)
        #expect(try a.syncctl("peers", "resume", "b").code == 0)
        let rest = Set(ours.filter { $0.text == "아무도" }.map(\.event))
        waitWhile(parked(there) != rest)
        #expect(parked(there) == rest)
        let done = ours.filter { $0.text != "아무도" }.map { "\"\($0.event)\"" }
        for event in done {
            let answer = there.ask("POST", "/v1/subscriptions/bot/retry", body: #"{"events":[\#(event)]}"#)
            #expect(answer?.0 == 404)
        }
        #expect(try pull(there, wait: 1_000).isEmpty)
    }

    @Test("A home that has lost what was done hears its peer before it hands anything out (INV-14)")
    func lost() throws {
        let (a, b) = try makePair()
        defer { for daemon in [a, b] { daemon.kill() } }
        let api = APIClient(socket: b.store + "/api.sock")
        let body = #"{"start":"first","filter":{"type":["message.posted"]},"order":"none"}"#
        #expect(api.ask("PUT", "/v1/subscriptions/bot", body: body)?.0 == 201)
        post(api, ["하나", "둘", "셋"])
        ack(api, try pull(api, count: 3).filter { $0.text != "셋" })
        _ = try converge(a, b)
        // A home tells once a second.
        Thread.sleep(forTimeInterval: 2.5)
        b.kill()
        for file in try FileManager.default.contentsOfDirectory(atPath: b.store) where file.hasPrefix("subs.db") {
            try FileManager.default.removeItem(atPath: b.store + "/" + file)
        }
        a.signal(SIGSTOP)
        try b.start()
        #expect(try pull(api, wait: 300).isEmpty)
        a.signal(SIGCONT)
        #expect(try pull(api, count: 1).map(\.text) == ["셋"])
    }
}

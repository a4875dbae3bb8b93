import Foundation
import Testing

/// Acks that come with the request for the next deliveries, as docs/operating/following.md has them.
struct PullTests {
    private func started() throws -> (DaemonProcess, APIClient) {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        let lines = (1...3).map { #"{"type":"message.posted","user":"kim","data":{"text":"질문 \#($0)"}}"# }
        #expect(api.ask("POST", "/v1/events", body: lines.joined(separator: "\n"))?.0 == 200)
        return (daemon, api)
    }

    private func make(_ api: APIClient, _ name: String, _ more: String = "") {
        let body = #"{"start":"first","filter":{"type":["message.posted"]}\#(more)}"#
        #expect(api.ask("PUT", "/v1/subscriptions/\(name)", body: body)?.0 == 201)
    }

    private struct Pulled {
        var status = 0
        var tokens: [String] = []
        var texts: [String] = []
        var done: Int?
        var late: [String]?
        var code: String?
    }

    private func pull(_ api: APIClient, _ name: String, ack: [String]? = nil) throws -> Pulled {
        let acks = ack.map { #","ack":[\#($0.map { "\"\($0)\"" }.joined(separator: ","))]"# } ?? ""
        let answer = try #require(
            api.ask("POST", "/v1/subscriptions/\(name)/pull", body: #"{"max":1,"wait_ms":500\#(acks)}"#))
        let object = try #require(answer.1.first)
        let deliveries = object["deliveries"] as? [[String: Any]] ?? []
        return Pulled(
            status: answer.0, tokens: deliveries.compactMap { $0["delivery"] as? String },
            texts: deliveries.compactMap {
                (($0["event"] as? [String: Any])?["data"] as? [String: Any])?["text"] as? String
            },
            done: object["done"] as? Int, late: object["late"] as? [String], code: object["code"] as? String)
    }

    @Test(
        "An ack counts at any time: of a parked event it takes it out, by each way to ack, and that holds after a crash (INV-14)"
    )
    func ackedWhileParked() throws {
        let (daemon, api) = try started()
        make(api, "bot", #","attempts":1,"ack_wait_ms":1000,"order":"none""#)
        func parked() -> [String] {
            (api.ask("GET", "/v1/subscriptions/bot/parked")?.1 ?? []).compactMap { $0["event"] as? String }
        }
        let body = #"{"max":3,"wait_ms":500}"#
        let given = api.ask("POST", "/v1/subscriptions/bot/pull", body: body)?.1.first?["deliveries"]
        let deliveries = try #require(given as? [[String: Any]])
        let tokens = deliveries.compactMap { $0["delivery"] as? String }
        let ids = deliveries.compactMap { ($0["event"] as? [String: Any])?["id"] as? String }
        #expect(tokens.count == 3 && ids.count == 3)
        let end = Date(timeIntervalSinceNow: 60)
        while parked().count < 3, Date() < end { usleep(100_000) }
        #expect(Set(parked()) == Set(ids))
        let acked = try #require(
            api.ask("POST", "/v1/subscriptions/bot/ack", body: #"{"deliveries":["\#(tokens[0])"]}"#))
        #expect(acked.1.first?["done"] as? Int == 1 && Set(parked()) == Set(ids.dropFirst()), "\(acked)")
        let retry = api.ask("POST", "/v1/subscriptions/bot/retry", body: #"{"events":["\#(ids[0])"]}"#)
        #expect(retry?.0 == 404, "it is done: \(String(describing: retry))")
        #expect(try pull(api, "bot", ack: [tokens[1]]).done == 1)
        #expect(parked() == [ids[2]])
        let line = #"{"type":"bot.replied","user":"kim","data":{"text":"답"}}"#
        let said = api.ask("POST", "/v1/events?ack=\(tokens[2])", body: line)
        #expect(said?.1.contains { $0["type"] as? String == "acked" && $0["done"] as? Int == 1 } == true)
        #expect(parked().isEmpty)
        // Said twice it is the same.
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        let again = api.ask("POST", "/v1/subscriptions/bot/ack", body: #"{"deliveries":[\#(list)]}"#)
        #expect(again?.1.first?["done"] as? Int == 3)
        daemon.kill()
        try daemon.start()
        #expect(parked().isEmpty)
        #expect(try pull(api, "bot").texts.isEmpty)
        #expect(api.ask("GET", "/v1/subscriptions/bot")?.1.first?["open"] as? Int == 0)
        daemon.kill()
    }

    @Test("Acks come with the next pull, are told in its answer, and survive a crash of the daemon")
    func ackedByPull() throws {
        let (daemon, api) = try started()
        make(api, "bot")
        let first = try pull(api, "bot")
        #expect(first.texts == ["질문 1"] && first.done == nil && first.late == nil)
        // A delivery that is named twice is one.
        let second = try pull(api, "bot", ack: first.tokens + first.tokens)
        #expect(second.texts == ["질문 2"] && second.done == 1 && second.late == [])
        daemon.kill()
        try daemon.start()
        // The first is done; the second was out, and its ack counts at any time.
        let third = try pull(api, "bot", ack: second.tokens + first.tokens)
        #expect(third.texts == ["질문 3"] && third.done == 2)
        let none = try pull(api, "bot", ack: third.tokens)
        #expect(none.status == 200 && none.texts.isEmpty && none.done == 1 && none.late == [])
        #expect(api.ask("GET", "/v1/subscriptions/bot")?.1.first?["open"] as? Int == 0)
        daemon.kill()
    }

    @Test("An ack that comes with a pull is late when another delivery is out, and none counts of a refused request")
    func lateAndRefused() throws {
        let (daemon, api) = try started()
        make(api, "bot", #","ack_wait_ms":2000"#)
        make(api, "other")
        let slow = try pull(api, "bot")
        Thread.sleep(forTimeInterval: 2.3)
        let quick = try pull(api, "bot")
        #expect(quick.texts == slow.texts && quick.tokens != slow.tokens)
        let refused = try pull(api, "other", ack: slow.tokens)
        #expect(refused.status == 400 && refused.code == "E_PARAMETER" && refused.tokens.isEmpty)
        #expect(try pull(api, "bot", ack: []).status == 400)
        #expect(try pull(api, "bot", ack: ["x"]).code == "E_PARAMETER")
        let next = try pull(api, "bot", ack: slow.tokens)
        #expect(next.late == slow.tokens && next.done == 1 && next.texts == ["질문 2"])
        daemon.kill()
    }

    @Test("HEAD on deliveries and on the feed hands nothing out, and nobody is there afterwards (INV-14)")
    func headed() throws {
        let (daemon, api) = try started()
        make(api, "bot", #","attempts":1"#)
        for _ in 0..<3 {
            #expect(api.ask("HEAD", "/v1/subscriptions/bot/deliveries")?.0 == 200)
            #expect(api.ask("HEAD", "/v1/changes", headers: ["Accept: text/event-stream"])?.0 == 200)
        }
        let state = api.ask("GET", "/v1/subscriptions/bot")?.1.first
        #expect(state?["in_flight"] as? Int == 0 && state?["workers"] as? Int == 0, "\(state ?? [:])")
        #expect(try pull(api, "bot").texts == ["질문 1"])
        #expect(daemon.terminate() == 0)
    }
}

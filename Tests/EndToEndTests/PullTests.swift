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

    @Test("Acks come with the next pull, are told in its answer, and survive a crash of the daemon")
    func ackedByPull() throws {
        let (daemon, api) = try started()
        make(api, "bot")
        let first = try pull(api, "bot")
        #expect(first.texts == ["질문 1"] && first.done == nil && first.late == nil)
        let second = try pull(api, "bot", ack: first.tokens)
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
}

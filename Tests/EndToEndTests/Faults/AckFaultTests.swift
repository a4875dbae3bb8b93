import Foundation
import Testing

/// What a full disk makes of acks (docs/operating/following.md).
struct AckFaultTests {
    @Test(
        "An ack that finds no room leaves nothing: its event comes again, unless the ack is repeated (INV-14)",
        .disabled(if: FaultInjector.isMissing, "no /usr/bin/gcc to make the faults with"))
    func noRoom() throws {
        let faults = try FaultInjector()
        let node = try DaemonProcess("n")
        try node.start(environment: faults.environment)
        let api = APIClient(socket: node.store + "/api.sock")
        let lines = (1...2).map { #"{"type":"message.posted","user":"kim","data":{"text":"\#($0)"}}"# }
        #expect(api.ask("POST", "/v1/events", body: lines.joined(separator: "\n"))?.0 == 200)
        let members = #"{"start":"first","ack_wait_ms":2000,"order":"none","filter":{"type":["message.posted"]}}"#
        #expect(api.ask("PUT", "/v1/subscriptions/bot", body: members)?.0 == 201)
        func pull(_ wait: Int, _ acks: String = "") throws -> (status: Int, tokens: [String], ids: [String]) {
            let body = #"{"max":2,"wait_ms":\#(wait)\#(acks)}"#
            let answer = try #require(api.ask("POST", "/v1/subscriptions/bot/pull", body: body))
            let all = answer.1.first?["deliveries"] as? [[String: Any]] ?? []
            let ids = all.compactMap { ($0["event"] as? [String: Any])?["id"] as? String }
            return (answer.0, all.compactMap { $0["delivery"] as? String }, ids)
        }
        let first = try pull(0)
        #expect(first.tokens.count == 2)
        let (one, two) = (first.tokens[0], first.tokens[1])
        func ack(_ token: String) -> Int? {
            api.ask("POST", "/v1/subscriptions/bot/ack", body: #"{"deliveries":["\#(token)"]}"#)?.0
        }
        try faults.fail("pwrite", of: "subs.db-wal", error: ENOSPC)
        #expect(ack(one) == 507)
        #expect(try pull(0, #","ack":["\#(two)"]"#).status == 507)
        let line = #"{"type":"bot.replied","user":"kim","data":{"text":"답"}}"#
        let said = api.ask("POST", "/v1/events?ack=\(two)", body: line)
        #expect(said?.0 == 200, "\(String(describing: said))")
        let acked = said?.1.first { $0["type"] as? String == "acked" }
        #expect(acked?["done"] as? Int == 0 && acked?["code"] as? String == "E_DISK", "\(String(describing: acked))")
        #expect(api.ask("GET", "/v1/subscriptions/bot")?.1.first?["open"] as? Int == 2)
        try faults.mend()
        // One of the two is said again.
        #expect(ack(one) == 200)
        let again = try pull(5_000)
        #expect(again.ids == [first.ids[1]], "\(again)")
        #expect(ack(again.tokens.first ?? "") == 200)
        #expect(api.ask("GET", "/v1/subscriptions/bot")?.1.first?["open"] as? Int == 0)
        node.kill()
    }
}

import Foundation
import Testing

@testable import syncd

/// Appends through the API, as many clients make them.
@Suite(.serialized)
struct AppendingTests {
    private static func message(_ client: Int, _ number: Int) -> String {
        #"{"type":"message.posted","user":"u-\#(client)","data":{"text":"\#(client) \#(number)"}}"# + "\n"
    }

    @Test("Many clients at once: each gets its own answer, positions are gapless, and all survives kill -9")
    func manyClients() throws {
        let daemon = try DaemonProcess("a")
        try daemon.start()
        let client = APIClient(socket: daemon.store + "/api.sock")
        let answers = Answers()
        DispatchQueue.concurrentPerform(iterations: 12) { number in
            for round in 0..<20 {
                switch round % 5 {
                case 3:
                    // Larger than what the loop takes, and with a line that is no event.
                    let many = (0..<60).map { Self.message(number, round * 100 + $0) }.joined()
                    let long = String(repeating: "x", count: 20_000)
                    let padding = #"{"type":"note","user":"u","data":{"text":"\#(long)"}}"#
                    answers.add(
                        number, client.ask("POST", "/v1/events?atomicity=each", body: many + "nonsense\n" + padding))
                case 4:
                    answers.add(number, client.ask("POST", "/v1/events?atomicity=nonsense", body: "{}"))
                default:
                    answers.add(number, client.ask("POST", "/v1/events", body: Self.message(number, round)))
                }
            }
        }
        let all = answers.all
        #expect(all.count == 240)
        var positions: [Int] = []
        var refused = 0
        for (status, lines) in all {
            if status == 400 {
                refused += 1
                continue
            }
            #expect(status == 200)
            #expect(lines.count == 1 || lines.count == 62)
            for line in lines where line["type"] as? String == "appended" {
                let position = try #require(line["position"] as? String)
                positions.append(try #require(Int(position)))
            }
            let rejected = lines.filter { $0["type"] as? String == "rejected" }
            #expect(rejected.count == (lines.count == 1 ? 0 : 1))
        }
        #expect(refused == 48)
        // The first event of a store is the node's own.
        #expect(positions.sorted() == Array(2...(1 + 12 * (3 * 4 + 4 * 61))))
        daemon.kill()
        try daemon.start()
        #expect(try daemon.status()["position"].map { "\($0)" } == "\(positions.count + 1)")
        #expect(daemon.terminate() == 0)
    }
}

/// What clients on several threads were told.
private final class Answers: @unchecked Sendable {
    private let lock = NSLock()
    private var found: [(Int, [[String: Any]])] = []

    func add(_ client: Int, _ answer: (Int, [[String: Any]], String)?) {
        guard let answer else { return }
        lock.withLock { found.append((answer.0, answer.1)) }
    }

    var all: [(Int, [[String: Any]])] { lock.withLock { found } }
}

/// Who commits a request: the API's loop, or the writer's thread.
struct LeadRuleTests {
    private let start: UInt64 = 1_000_000_000

    @Test("One request after another is committed by the loop; of several at once all but the first by the writer")
    func concurrency() {
        var rule = LeadRule()
        let answers = [1, 1, 3, 1, 1].map { requests in
            #expect(rule.isTurnNew)
            let led = (0..<requests).map { _ in rule.leads(now: start) }
            if led.contains(false) { rule.handedOver() }
            rule.turnEnded()
            if led.contains(false) { rule.answered() }
            return led
        }
        // After several the first of the next turn stands alone, and is not taken for a lone client.
        #expect(answers == [[true], [true], [true, false, false], [false], [true]])
    }

    @Test("While others wait for the writer nobody is taken for a lone client")
    func others() {
        var rule = LeadRule()
        rule.handedOver()
        rule.turnEnded()
        var answers: [Bool] = []
        for turn in 0..<6 {
            answers.append(rule.leads(now: start))
            rule.turnEnded()
            if turn == 3 { rule.answered() }
        }
        #expect(answers == [false, false, false, false, true, true])
    }

    @Test("A slow disk is left to the writer for as long as it deserves")
    func slowDisk() {
        var rule = LeadRule()
        func leads(at now: UInt64) -> Bool {
            defer { rule.turnEnded() }
            return rule.leads(now: now)
        }
        rule.led(from: start, to: start + LeadRule.patience)
        let isLeading = leads(at: start + LeadRule.patience)
        #expect(isLeading)
        let end = start + 2 * LeadRule.patience
        rule.led(from: start, to: end)
        let again = end + LeadRule.rest * (end - start)
        let answers = [again - 1, again].map(leads)
        #expect(answers == [false, true])
    }
}

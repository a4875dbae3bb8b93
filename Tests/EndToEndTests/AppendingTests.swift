import Access
import CommandLineKit
import Foundation
import SillokAPI
import Testing

@testable import EventStore
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
            // One line for each event, and the end.
            #expect(status == (lines.count == 2 ? 200 : 207))
            #expect(lines.count == 2 || lines.count == 63)
            #expect(lines.last?["type"] as? String == "end" && lines.last?["count"] as? Int == lines.count - 1)
            for line in lines where line["type"] as? String == "appended" {
                positions.append(try #require(line["position"] as? Int))
            }
            let rejected = lines.filter { $0["type"] as? String == "rejected" }
            #expect(rejected.count == (lines.count == 2 ? 0 : 1))
        }
        #expect(refused == 48)
        // The first event of a store is the node's own.
        #expect(positions.sorted() == Array(2...(1 + 12 * (3 * 4 + 4 * 61))))
        daemon.kill()
        try daemon.start()
        #expect(try daemon.status()["position"].map { "\($0)" } == "\(positions.count + 1)")
        #expect(daemon.terminate() == 0)
    }

    @Test("While the appends of one client are committed on the spot others are answered, too; all survives kill -9")
    func besideALoneClient() throws {
        let daemon = try DaemonProcess("a")
        try daemon.start()
        let client = APIClient(socket: daemon.store + "/api.sock")
        let (answers, others) = (Answers(), DispatchGroup())
        DispatchQueue.global().async(group: others) {
            for round in 0..<20 { answers.add(1, client.ask("POST", "/v1/events", body: Self.message(1, round))) }
        }
        let count = client.keepAsking("POST", "/v1/events", body: { Self.message(0, $0) }) { count in
            count >= 50 && others.wait(timeout: .now()) == .success
        }
        others.wait()
        #expect(answers.all.count == 20)
        #expect(answers.all.allSatisfy { $0.0 == 200 && $0.1.count == 2 })
        #expect(count >= 50)
        daemon.kill()
        try daemon.start()
        #expect(try daemon.status()["position"].map { "\($0)" } == "\(1 + 20 + count)")
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

    @Test("A client is taken for a lone one after some requests in a row; of several nobody is")
    func concurrency() {
        var rule = LeadRule()
        func requests(_ clients: UInt64...) -> [Bool] { clients.map { rule.leads($0, now: start) } }
        let first = [Bool](repeating: false, count: LeadRule.alone) + [true, true]
        let (lone, other) = (requests(1, 1, 1, 1, 1), requests(2, 2, 2, 2, 2))
        #expect(lone == first)
        #expect(other == first)
        let taking = requests(1, 2, 1, 2, 1, 1, 2, 2, 2, 1, 1, 1)
        #expect(!taking.contains(true))
        let left = requests(1)
        #expect(left == [true])
    }

    @Test("While others wait for the writer nobody is taken for a lone client")
    func others() {
        var rule = LeadRule()
        rule.handedOver()
        let waiting = (0..<10).map { _ in rule.leads(1, now: start) }
        rule.answered()
        let alone = (0..<LeadRule.alone).map { _ in rule.leads(1, now: start) }
        #expect(!(waiting + alone.dropLast()).contains(true))
        #expect(alone.last == true)
    }

    @Test("A disk that is always slow is left to the writer for as long as it deserves; one slow sync is forgiven")
    func slowDisk() {
        var rule = LeadRule()
        var now = start
        func leads(at time: UInt64) -> Bool { rule.leads(1, now: time) }
        for _ in 0..<LeadRule.alone { _ = leads(at: now) }
        func commit(taking took: UInt64) {
            rule.led(from: now, to: now + took)
            now += took
        }
        for took: UInt64 in [2, 0, 0, 2, 0, 200, 0, 1_000] {
            commit(taking: took * LeadRule.patience)
            let isLeading = leads(at: now)
            #expect(isLeading)
        }
        var slow = 0
        while leads(at: now), slow < 100 {
            commit(taking: 2 * LeadRule.patience)
            slow += 1
        }
        #expect((2..<10).contains(slow))
        let again = now + LeadRule.rest * 2 * LeadRule.patience
        let answers = [again - 1, again].map(leads)
        #expect(answers == [false, true])
        // It is quick again: nothing is held against it.
        now = again
        commit(taking: LeadRule.patience / 50)
        let isLeading = leads(at: now)
        #expect(isLeading)
    }
}

/// What a request's lines are answered with.
struct AppendBatchTests {
    private static let id = "0198e2c1-f3a0-7abc-8def-0123456789ab"
    private static let receipt = AppendReceipt(
        position: UInt64(Int64.max), dot: Dot(origin: OriginID(UUIDBits(high: 0x0f, low: .max)), seq: 10),
        id: EventID(UUIDBits(high: 0x0198_e2c1_f3a0_7abc, low: 0x8def_0123_4567_89ab)),
        hlc: HybridTime(milliseconds: 0x0198_e2c1_f3a0, counter: 3))

    private static func batch(
        _ lines: String..., as atomicity: Atomicity = .each, by role: Role = .app
    ) throws -> AppendBatch {
        let actor = try #require(EventActor(.socket, principal: "uid:1000"))
        return try AppendBatch(
            Array(lines.joined(separator: "\n").utf8), atomicity, derivesIDs: false, by: Caller(actor, [role]),
            NativeLineParser())
    }

    @Test("A request has no more lines than a batch has events: each that is refused has its answer, too (INV-9)")
    func tooManyLines() throws {
        let most = EventStore.maximumBatch
        for line in ["{}", "x", #"{"type":"note","user":"u","data":{}}"#] {
            #expect(try !Self.batch(Array(repeating: line, count: most).joined(separator: "\n \n")).isEmpty)
            #expect(throws: StoreError.batchTooLarge(count: most + 1)) {
                try Self.batch(Array(repeating: line, count: most + 1).joined(separator: "\n"))
            }
        }
    }

    @Test("Who comes second where two begin a conversation is told of the other's as of any of others (INV-13)")
    func begunMeanwhile() throws {
        let begin = #"{"type":"conversation.started","user":"u","subject":"conversation/c","data":{}}"#
        var batch = try Self.batch(begin, as: .whole, by: .user("u"))
        let rejected = [AppendOutcome.rejected(.begun(conversation: "c"))]
        for (own, status, code) in [([], 403, "E_AUTHOR"), (["c"], 409, "E_BEGUN")] {
            batch.own = TextSet(own)
            let answer = batch.answer(rejected)
            #expect(answer.status == status)
            #expect(String(decoding: answer.text, as: UTF8.self).contains(#""code":"\#(code)""#))
        }
    }

    private static func expected(_ type: String, _ number: Int) -> String {
        var line = JSONLine(type: type)
        line.add("line", number)
        line.add("position", receipt.position)
        line.add("id", receipt.id.description)
        line.add("origin", receipt.dot.origin.description)
        line.add("sequence", receipt.dot.seq)
        line.add("hlc", receipt.hlc.description)
        return line.text + "\n"
    }

    @Test("A byte order mark before the first line is passed over, as in a file; before another it is an error")
    func byteOrderMark() throws {
        let event = #"{"type":"note","user":"u","data":{}}"#
        #expect(try Self.batch("\u{feff}" + event, event).drafts.count == 2)
        #expect(try Self.batch(event, "\u{feff}" + event).drafts.count == 1)
        #expect(try Self.batch("\u{feff}").isEmpty)
    }

    @Test("Receipts are written as any other line of output")
    func receipts() throws {
        let event = #"{"type":"note","user":"u","data":{}}"#
        let batch = try Self.batch(event, "", event, event)
        #expect(batch.drafts.count == 3)
        let answer = batch.answer([
            .appended(Self.receipt), .already(Self.receipt), .rejected(.idReused(position: 7)),
        ])
        #expect(answer.status == 207)
        var rejected = JSONLine(type: "rejected")
        rejected.add("line", 4)
        rejected.add("code", "E_ID_REUSED")
        rejected.add("message", AppendRejection.idReused(position: 7).description)
        var end = JSONLine(type: "end")
        for (name, count) in [("count", 3), ("appended", 1), ("already", 1), ("rejected", 1)] { end.add(name, count) }
        #expect(
            String(decoding: answer.text, as: UTF8.self)
                == Self.expected("appended", 1) + Self.expected("already", 3) + rejected.text + "\n" + end.text + "\n"
        )
        #expect(Self.receipt.id.description == Self.id)
    }

    @Test("Who does not read everything is not told where the event stands that has the id")
    func places() throws {
        let batch = try Self.batch(#"{"type":"note","user":"u","data":{}}"#, by: .user("u"))
        let answer = batch.answer([.rejected(.idReused(position: 7))])
        let text = String(decoding: answer.text, as: UTF8.self)
        #expect(answer.status == 409 && text.contains(#""code":"E_ID_REUSED""#))
        #expect(!text.contains("position") && !text.contains("7"), "\(text)")
    }

    /// A client that looks at the status alone must not take a rejected request for stored (INV-1).
    @Test("What nothing was stored of is no success: 409 where another event stands in the way, else 422")
    func statuses() throws {
        let event = #"{"type":"note","user":"u","data":{}}"#
        let (one, two) = (try Self.batch(event, as: .whole), try Self.batch(event, event, as: .whole))
        #expect(one.answer([.appended(Self.receipt)]).status == 200)
        #expect(one.answer([.already(Self.receipt)]).status == 200)
        #expect(one.answer([.rejected(.idReused(position: 7))]).status == 409)
        #expect(one.answer([.rejected(.conversationMoved(expected: 1, actual: 2))]).status == 409)
        #expect(one.answer([.rejected(.invalid(.version))]).status == 422)
        let first: [AppendOutcome] = [.rejected(.batchRejected(index: 1)), .rejected(.idReused(position: 7))]
        #expect(two.answer(first).status == 409)
        let invalid: [AppendOutcome] = [.rejected(.batchRejected(index: 1)), .rejected(.invalid(.version))]
        #expect(two.answer(invalid).status == 422)
    }

    @Test(
        "A line that is no event has an answer in its place; of a whole request nothing is left",
        arguments: [false, true])
    func problems(isWhole: Bool) throws {
        let event = #"{"type":"note","user":"u","data":{}}"#
        let batch = try Self.batch(event, "nonsense", event, as: isWhole ? .whole : .each)
        #expect(batch.drafts.count == (isWhole ? 0 : 2))
        let answer = batch.answer(isWhole ? [] : [.appended(Self.receipt), .appended(Self.receipt)])
        #expect(answer.status == (isWhole ? 422 : 207))
        let lines = answer.text.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        let types = lines.map { $0.hasPrefix(#"{"type":"appended""#) }
        #expect(types == (isWhole ? [false, false, false, false] : [true, false, true, false]))
        #expect(lines[1].contains("E_JSON") || lines[1].contains(#""code":"E_"#))
        #expect(lines.filter { $0.contains(#""code":"E_BATCH""#) }.count == (isWhole ? 2 : 0))
    }
}

import CommandLineKit
import EventStore
import SillokAPI
import TestSupport
import Testing

@testable import syncd

/// How much is told live (INV-9).
struct LiveBudgetTests {
    private func item(_ author: String, _ id: EventID, _ text: String = "가") throws -> LiveItem {
        var line = JSONLine()
        line.add("kind", "delta")
        line.add("author", author)
        line.add("in_reply_to", id.description)
        line.add("n", 0)
        line.add("text", text)
        return try LiveItem(JSONObject(validating: line.utf8), conversation: "c")
    }

    private func id(_ number: Int) -> EventID { EventID(UUIDBits(high: 1, low: UInt64(number))) }

    @Test("Who begins thousands of replies takes no room from others, whose replies keep what they have had")
    func flood() throws {
        var budget = LiveBudget()
        let (begun, much) = (id(0), String(repeating: "a", count: 16 << 10))
        for number in 0..<3 {
            #expect(budget.refuses(try item("bot", begun, much), of: 1, now: 0) == nil, "\(number)")
        }
        for number in 0..<10_000 {
            let now = UInt64(number / 40)
            #expect(budget.refuses(try item("eve", id(number)), of: 2 + UInt64(number / 45), now: now) == nil)
        }
        #expect(budget.refuses(try item("bot", id(1)), of: 1, now: 300) == nil)
        #expect(budget.refuses(try item("bot", begun, much), of: 1, now: 300) == nil)
        #expect(budget.refuses(try item("bot", begun), of: 1, now: 300)?.code == .limit)
    }
}

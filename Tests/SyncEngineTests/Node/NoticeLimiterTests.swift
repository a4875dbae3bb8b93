import Testing

@testable import SyncEngine

struct NoticeLimiterTests {
    @Test("A flood of notices is a few lines, and one later that counts the rest")
    func flood() {
        var limiter = NoticeLimiter()
        var lines: [String] = []
        for index in 0..<1_000 {
            if let line = limiter.text("call \(index)", now: 100_000 + UInt64(index)) { lines.append(line) }
        }
        #expect(lines == (0..<5).map { "call \($0)" })
        #expect(limiter.text("later", now: 120_000) == "later (995 more like this were not logged)")
        #expect(limiter.text("again", now: 120_001) == "again")
    }

    @Test("Now and then is always told")
    func seldom() {
        var limiter = NoticeLimiter()
        for index in 0..<100 { #expect(limiter.text("x", now: UInt64(index) * 10_000) == "x") }
    }
}

import Foundation
import Testing

/// A daemon that is asked to end while many are asking it something.
struct OrderlyEndTests {
    @Test("Whoever comes while the daemon ends is told to come again, or nothing; never that it failed (INV-8)")
    func flooded() throws {
        let node = try SoakNode("n")
        var acknowledged = 0
        for round in 0..<4 {
            try node.start()
            try #require(node.waitUntilReady())
            let answers = Answers()
            let callers = (0..<8).map { number in
                let thread = Thread {
                    var index = 0
                    while !answers.isOver {
                        let id = "0198e2c4-0000-7000-8\(round)0\(number)-\(String(format: "%012d", index))"
                        let line = #"{"id":"\#(id)","type":"message.posted","user":"u","data":{"text":"말"}}"#
                        if let (status, _, _) = node.api.ask("POST", "/v1/events", body: line, seconds: 5) {
                            answers.add(status)
                        }
                        index += 1
                    }
                }
                thread.start()
                return thread
            }
            usleep(150_000)
            #expect(node.end() == 0)
            usleep(50_000)
            answers.isOver = true
            while callers.contains(where: { !$0.isFinished }) { usleep(5_000) }
            #expect(Set(answers.counts.keys).isSubset(of: [200, 503]), "\(answers.counts)")
            acknowledged += answers.counts[200] ?? 0
        }
        let stored = try node.syncctl("export").output.split(separator: "\n").count
        // What was stored without an answer may be more, but nothing that was acknowledged is missing.
        #expect(acknowledged > 0 && stored >= acknowledged + 1)
        #expect(try node.syncctl("verify").code == 0)
    }

    /// `@unchecked Sendable`: everything is guarded by `lock`.
    private final class Answers: @unchecked Sendable {
        private let lock = NSLock()
        private var found: [Int: Int] = [:]
        private var over = false

        var counts: [Int: Int] { lock.withLock { found } }
        var isOver: Bool {
            get { lock.withLock { over } }
            set { lock.withLock { over = newValue } }
        }

        func add(_ status: Int) { lock.withLock { found[status, default: 0] += 1 } }
    }
}

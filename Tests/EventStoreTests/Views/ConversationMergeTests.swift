import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What a conversation sums up is written behind with its timeline (D1): whatever has been merged, readers find the same.
struct ConversationMergeTests {
    /// Events of three origins: conversations that start, are renamed and talk, twins that take each other's place, and
    /// what cannot be read.
    private struct Script {
        var random: SplitMix64
        private var seqs = [UInt64](repeating: 0, count: 4)
        private var number = UInt64(0)

        init(seed: UInt64) { random = SplitMix64(state: seed) }

        mutating func next() -> Event {
            number += 1
            let from = Int.random(in: 1...3, using: &random)
            seqs[from] += 1
            let hlc = Int64.random(in: 1...40_000, using: &random)
            let conversation = "c-\(Int.random(in: 0..<25, using: &random))"
            // Every fifth event has the id of one before.
            let isTwin = Int.random(in: 0..<5, using: &random) == 0
            let id = isTwin ? UInt64.random(in: 1...number, using: &random) : number
            var (type, payload, unknown) = ("message.posted", #"{"text":"x"}"#, [UInt8]())
            switch Int.random(in: 0..<20, using: &random) {
            case 0: (type, payload) = ("conversation.started", #"{"title":"t\#(number)","category":"text"}"#)
            case 1: (type, payload) = ("conversation.renamed", #"{"title":"r\#(number)"}"#)
            case 2: (type, payload) = ("conversation.renamed", "{}")
            case 3: (type, payload) = ("note", "{}")
            case 4: unknown = [0xf8, 0x07, 0x01]
            default: break
            }
            // Imports have times in whole seconds: most rows are tied with another.
            let time = Bool.random(using: &random) ? Int64.random(in: 0..<10, using: &random) * 100 : nil
            return event(
                UInt64(from), seqs[from], hlc: hlc, id: id, type: type, time: time, conversation: conversation,
                user: "u-\(number % 7)", unknown: unknown, payload)
        }
    }

    @Test(
        "After any merges, crashes and reopenings the views are those that a rebuild gives (INV-6, INV-10)",
        arguments: 1...UInt64(cases(2, of: 6)))
    func equalsRebuild(seed: UInt64) throws {
        var script = Script(seed: seed)
        let log = try LogFixture()
        let generation = [5, 40, 300][Int(seed % 3)]
        var tails = ViewMemtables(generation: generation)
        var projector = try Projector(log.files, tails: tails)
        try projector.catchUp()
        for round in 0..<25 {
            try log.deliver((0..<Int.random(in: 1...40, using: &script.random)).map { _ in script.next() })
            while try projector.position < projector.top() {
                switch Int.random(in: 0..<6, using: &script.random) {
                case 0: #expect(throws: StoreError.self) { try projector.step(limit: 20, mayCommit: { false }) }
                case 1: try projector.merge(rows: Int.random(in: 1...30, using: &script.random))
                case 2:
                    tails = ViewMemtables(generation: generation)
                    projector = try Projector(log.files, tails: tails)
                default: try projector.step(limit: Int.random(in: 1...20, using: &script.random))
                }
            }
            for tails in [tails, ViewMemtables()] {
                try check(try ViewReader(log.files, tails: tails), &script.random)
            }
            guard round % 6 == 0 else { continue }
            let found = try projector.allDigests()
            #expect(try ViewReader(log.files).allDigests(log.files) == found)
            for generation in [1, 1_000_000] { #expect(try rebuilt(log, generation: generation) == found) }
        }
        while projector.pending > 0 { try projector.merge(rows: 7) }
        #expect(try rebuilt(log, generation: 1_000_000) == projector.allDigests())
        try checkSums(log)
    }

    /// Digests of new views, which stay in the tails or have all been merged.
    private func rebuilt(_ log: LogFixture, generation: Int) throws -> [ViewDigest] {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let projector = try Projector(
            log.files, path: folder.path + "/views.db", tails: ViewMemtables(generation: generation))
        while projector.position < log.top { try projector.step() }
        if generation == 1 { while projector.pending > 0 { try projector.merge() } }
        return try projector.allDigests()
    }

    /// The list has every conversation once and in order, whatever the size of its pages, and says what is said of each alone.
    private func check(_ reader: ViewReader, _ random: inout SplitMix64) throws {
        var wanted: [ConversationSummary] = []
        for number in 0..<25 {
            guard let summary = try reader.conversationSummary("c-\(number)") else { continue }
            #expect(try reader.conversationVersion("c-\(number)").version == summary.events)
            var listed = 0
            try reader.conversation("c-\(number)", TimelineQuery()) { _ in
                listed += 1
                return true
            }
            #expect(summary.events <= listed)
            if summary.events > 0 { wanted.append(summary) }
        }
        wanted.sort {
            ($0.lastTime, $0.lastHLC) == ($1.lastTime, $1.lastHLC)
                ? $0.conversation < $1.conversation : ($0.lastTime, $0.lastHLC) > ($1.lastTime, $1.lastHLC)
        }
        for limit in [1, Int.random(in: 2...8, using: &random), 100] {
            var found: [ConversationSummary] = []
            while true {
                let page = try reader.conversations(limit: limit, before: found.last?.place)
                guard !page.isEmpty else { break }
                found += page
            }
            #expect(found == wanted)
        }
    }

    /// Each row has the sum of the conversation's rows in the base; the index has the conversations that have any.
    private func checkSums(_ log: LogFixture) throws {
        let connection = try openForReading(log.files.views)
        var sums: [Int64: ConversationSum] = [:]
        try SortedTable.timeline.all(connection) { sums[$0.owner, default: ConversationSum()].add($0) }
        let known = try connection.all("SELECT conversation FROM conversation") { $0.int64(0) }
        for conversation in Set(sums.lazy.filter { $0.value.events > 0 }.map(\.key)).union(known) {
            let row = try ConversationRow.load(conversation, connection)
            #expect(row.sum == sums[conversation] ?? ConversationSum())
        }
        let counted = sums.values.filter { $0.events > 0 }.count
        #expect(
            try connection.integer("SELECT count(*) FROM conversation WHERE recent = last_time >> 12")
                == Int64(counted))
        #expect(try connection.integer("SELECT count(*) FROM conversation WHERE events = 0 AND recent NOTNULL") == 0)
    }

    @Test("A step writes no row of a conversation: bytes do not grow with how many it touches")
    func writtenBehind() throws {
        let log = try LogFixture()
        try log.deliver((1...2_000).map { event(1, $0, hlc: Int64($0), conversation: "c-\($0)") })
        let projector = try Projector(log.files)
        try projector.catchUp()
        while projector.pending > 0 { try projector.merge() }
        let connection = try openForReading(log.files.views)
        func sum() throws -> Int64? { try connection.integer("SELECT sum(events) FROM conversation") }
        #expect(try sum() == 2_000)
        try log.deliver((2_001...4_000).map { event(1, $0, hlc: Int64($0), conversation: "c-\($0 - 2_000)") })
        try projector.step()
        #expect(try sum() == 2_000)
        #expect(try ViewReader(log.files).conversationVersion("c-7").version == 2)
        while projector.pending > 0 { try projector.merge() }
        #expect(try sum() == 4_000)
        #expect(try ViewReader(log.files).conversationVersion("c-7").version == 2)
    }
}

import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Tables that are written behind: whatever is in the tail, in the table, or on its way, readers see each row once (D1).
struct TailTests {
    private struct Expected {
        var rows: [String: [UInt64]] = [:]
        /// Messages by conversation and user.
        var said: [String: [String: UInt64]] = [:]
        mutating func add(_ key: String, _ position: UInt64) { rows[key, default: []].append(position) }
    }

    @Test(
        "At every step of a merge, and after every restart, each row is read once, with and without what is in memory",
        arguments: 1...UInt64(cases(3, of: 6)))
    func everyStep(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let (folder, store) = try makeStore()
        let generation = [8, 30, 200][Int(seed % 3)]
        var tails = ViewMemtables(generation: generation)
        var projector = try Projector(store.files, tails: tails)
        try projector.catchUp()
        var expected = Expected()
        var isMergingSeen = false
        let reader = try ViewReader(StoreFiles(folder.path), tails: tails)
        var shared = reader
        let alone = try ViewReader(StoreFiles(folder.path))
        for step in 0..<80 {
            let drafts = (0..<Int.random(in: 1...25, using: &random)).map { number in
                EventDraft.json(
                    number % 5 == 4 ? "note" : "message.posted", #"{"text":"\#(step) \#(number)"}"#,
                    time: Int64.random(in: 0..<40, using: &random),
                    conversation: Bool.random(using: &random) ? "c-\(Int.random(in: 0..<9, using: &random))" : nil,
                    user: "u-\(Int.random(in: 0..<5, using: &random))")
            }
            let outcomes = try store.appendBlocking(drafts, atomicity: .each)
            for (draft, outcome) in zip(drafts, outcomes) {
                let position = try #require(outcome.receipt?.position)
                expected.add(draft.user, position)
                guard let conversation = draft.conversation else { continue }
                expected.add(conversation, position)
                if draft.type == "message.posted" {
                    expected.said[conversation, default: [:]][draft.user, default: 0] += 1
                }
            }
            switch Int.random(in: 0..<6, using: &random) {
            case 0: try projector.merge(rows: Int.random(in: 1...20, using: &random))
            case 1:
                tails = ViewMemtables(generation: generation)
                projector = try Projector(store.files, tails: tails)
                shared = try ViewReader(StoreFiles(folder.path), tails: tails)
            default: break
            }
            while try projector.position < projector.top() { try projector.step(limit: 7) }
            isMergingSeen = isMergingSeen || projector.isMerging
            for reader in [shared, alone] { try check(reader, expected, &random) }
        }
        #expect(isMergingSeen)
        let before = try projector.allDigests()
        while projector.pending > 0 { try projector.merge(rows: 50) }
        #expect(try projector.allDigests() == before)
        for reader in [shared, alone] { try check(reader, expected, &random) }
        let connection = try openForReading(StoreFiles(folder.path).views)
        for table in [SortedTable.timeline, .history] {
            #expect(try connection.integer("SELECT count(*) FROM \(table.name)_tail") == 0)
        }
    }

    private func check(_ reader: ViewReader, _ expected: Expected, _ random: inout SplitMix64) throws {
        for (key, positions) in expected.rows where Int.random(in: 0..<3, using: &random) == 0 {
            var query = TimelineQuery()
            let count = Int.random(in: 1...positions.count, using: &random)
            let isLast = Bool.random(using: &random)
            query.limit = isLast ? .last(count) : .first(count)
            var found: [StoredEvent] = []
            func take(_ entry: TimelineEntry) -> Bool {
                found.append(entry.stored)
                return true
            }
            if key.hasPrefix("u") {
                try reader.history(user: key, query, take)
            } else {
                try reader.conversation(key, query, take)
            }
            #expect(found.map(\.event.header.displayKey) == found.map(\.event.header.displayKey).sorted())
            #expect(Set(found.map(\.position)).count == count)
            #expect(Set(found.map(\.position)).isSubset(of: positions))
            if count == positions.count { #expect(found.map(\.position).sorted() == positions) }
        }
        for (conversation, said) in expected.said where Int.random(in: 0..<3, using: &random) == 0 {
            let found = try reader.participants(of: conversation).map { ($0.user, $0.messages) }
            #expect(Dictionary(uniqueKeysWithValues: found) == said)
        }
    }

    @Test("A long tail becomes short beside a trickle of events, too")
    func trickle() throws {
        let (folder, store) = try makeStore()
        let thread = ProjectorThread(store.files, top: 1)
        for _ in 0..<2 {
            _ = try store.appendBlocking(
                (0..<4_000).map { .message("m\($0)", user: "u-\($0 % 40)", conversation: "c") })
        }
        thread.logAdvanced(to: 8_001)
        #expect(thread.wait(for: 8_001, milliseconds: 60_000))
        let connection = try openForReading(StoreFiles(folder.path).views)
        func rows() throws -> Int {
            var rows = 0
            try SortedTable.history.pending(connection) { _ in rows += 1 }
            return rows
        }
        let deadline = Date(timeIntervalSinceNow: 60)
        var top = UInt64(8_001)
        while try rows() > 1_000, Date() < deadline {
            usleep(200_000)
            _ = try store.appendBlocking([.message("drop", user: "u-1", conversation: "c")])
            top += 1
            thread.logAdvanced(to: top)
        }
        #expect(try rows() < 1_000)
        thread.stop()
    }

    @Test("Tails are emptied when nothing happens, and memory with them (INV-9)")
    func idle() throws {
        let (folder, store) = try makeStore()
        let thread = ProjectorThread(store.files, top: 1)
        _ = try store.appendBlocking((0..<3_000).map { .message("m\($0)", user: "u-\($0 % 40)", conversation: "c") })
        thread.logAdvanced(to: 3_001)
        #expect(thread.wait(for: 3_001, milliseconds: 60_000))
        let connection = try openForReading(StoreFiles(folder.path).views)
        let deadline = Date(timeIntervalSinceNow: 60)
        while try connection.integer("SELECT count(*) FROM history_tail") != 0, Date() < deadline { usleep(20_000) }
        #expect(try connection.integer("SELECT count(*) FROM history_tail") == 0)
        var rows = 0
        try SortedTable.history.all(connection) { _ in rows += 1 }
        #expect(rows == 3_001)
        thread.stop()
    }
}

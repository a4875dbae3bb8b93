import Foundation
import TestSupport
import Testing

@testable import EventStore

struct ViewsReviewTests {
    private func digests(_ events: [Event]) throws -> [ViewDigest] {
        let log = try LogFixture()
        try log.deliver(events)
        return try log.digests()
    }

    @Test("Twins with the same content give the same views in both orders of arrival (INV-6)")
    func equalTwins() throws {
        let early = event(1, 1, hlc: 10, id: 5)
        let late = event(2, 1, hlc: 20, id: 5)
        let other = event(3, 1, hlc: 15)
        let expected = try digests([early, other, late])
        for order in [[late, other, early], [late, early, other], [other, late, early], [early, late, other]] {
            #expect(try digests(order) == expected)
        }
    }

    @Test("Twins in different conversations give the same views in both orders of arrival (INV-6)")
    func divergentTwins() throws {
        let early = event(1, 1, hlc: 10, id: 5, conversation: "c-1")
        let late = event(
            2, 1, hlc: 20, id: 5, type: "conversation.renamed", conversation: "c-2", #"{"title":"t"}"#)
        let one = try digests([early, late])
        let two = try digests([late, early])
        for (a, b) in zip(one, two) { #expect(a == b, "view \(a.view)") }
    }

    @Test("Twins whose header is of a later format leave no trace in counts, in both orders (INV-6, D13)")
    func futureTwins() throws {
        let early = event(1, 1, hlc: 10, id: 5, unknown: [0xf8, 0x01, 0x01])
        let late = event(2, 1, hlc: 20, id: 5, unknown: [0xf8, 0x01, 0x01])
        let plain = event(3, 1, hlc: 15)
        let one = try digests([plain, early, late])
        let two = try digests([plain, late, early])
        for (a, b) in zip(one, two) { #expect(a == b, "view \(a.view)") }
        let log = try LogFixture()
        try log.deliver([plain, late, early])
        _ = try log.digests()
        let summary = try ViewReader(log.files).conversationSummary("c")
        #expect(summary?.messages == 1 && summary?.events == 1)
    }

    @Test("The last entries after a cursor are those after the cursor")
    func lastAfter() throws {
        let log = try LogFixture()
        let events = (1...20).map { event(1, UInt64($0), hlc: Int64($0)) }
        try log.deliver(events)
        _ = try log.digests()
        var query = TimelineQuery()
        query.after = events[9].header.displayKey
        query.limit = .last(3)
        var seqs: [UInt64] = []
        try ViewReader(log.files).history(user: "u", query) { entry in
            seqs.append(entry.stored.event.header.dot.seq)
            return true
        }
        #expect(seqs == [18, 19, 20])
    }

    @Test("Ties of time and hlc between origins come in the order of origins, from any page (D7)")
    func ties() throws {
        let log = try LogFixture()
        let events = (1...700).map { event(UInt64(701 - $0), 1, hlc: 9) }
        try log.deliver(events)
        _ = try log.digests()
        let reader = try ViewReader(log.files)
        let expected = events.map(\.header.displayKey).sorted()
        func read(_ change: (inout TimelineQuery) -> Void) throws -> [DisplayKey] {
            var query = TimelineQuery()
            change(&query)
            var keys: [DisplayKey] = []
            try reader.conversation("c", query) { entry in
                keys.append(entry.stored.event.header.displayKey)
                return true
            }
            return keys
        }
        #expect(try read { _ in } == expected)
        #expect(try read { $0.limit = .last(650) } == Array(expected.suffix(650)))
        #expect(try read { $0.after = expected[333] } == Array(expected[334...]))
    }

    @Test("Conversations with equal last activity are listed in the same order on every node (D8)")
    func listOrder() throws {
        let a = event(1, 1, hlc: 9, conversation: "c-a")
        let b = event(2, 1, hlc: 9, conversation: "c-b")
        var lists: [[String]] = []
        for order in [[a, b], [b, a]] {
            let log = try LogFixture()
            try log.deliver(order)
            _ = try log.digests()
            lists.append(try ViewReader(log.files).conversations(limit: 10).map(\.conversation))
        }
        #expect(lists[0] == lists[1])
    }

    @Test("A damaged page in views.db leads to a rebuild, not to an endless error")
    func damagedPage() throws {
        let log = try LogFixture()
        try log.deliver((1...3_000).map { event(1, UInt64($0), hlc: Int64($0), conversation: "c-\($0)") })
        let expected = try log.digests()
        let handle = try #require(FileHandle(forUpdatingAtPath: log.files.views))
        let size = try handle.seekToEnd()
        for page in stride(from: UInt64(4_096 * 14), to: size, by: 4_096) {
            try handle.seek(toOffset: page)
            try handle.write(contentsOf: [UInt8](repeating: 0xee, count: 4_096))
        }
        try handle.close()
        try log.deliver([event(1, 3_001, hlc: 3_001, conversation: "c-9")])
        let thread = ProjectorThread(log.files, top: log.top)
        // The damage shows when the tails are merged, at the latest.
        let deadline = Date(timeIntervalSinceNow: 60)
        var found: [ViewDigest]?
        while found == nil, Date() < deadline {
            usleep(20_000)
            guard thread.wait(for: log.top, milliseconds: 4_000) else { continue }
            found = try? ViewReader(log.files).allDigests(log.files)
        }
        #expect(found?.count == expected.count, "\(String(describing: thread.lastError))")
        thread.stop()
    }

    @Test("Views of another log, or ahead of the log, are rebuilt; they are never ahead (INV-10)")
    func foreign() throws {
        let long = try LogFixture()
        try long.deliver((1...10).map { event(1, UInt64($0), hlc: Int64($0)) })
        _ = try long.digests()
        let short = try LogFixture()
        try short.deliver((1...4).map { event(1, UInt64($0), hlc: Int64($0)) })
        let expected = try short.digests()
        for file in [short.files.views, short.files.views + "-wal", short.files.views + "-shm"] {
            try? FileManager.default.removeItem(atPath: file)
        }
        try FileManager.default.copyItem(atPath: long.files.views, toPath: short.files.views)
        #expect(try Projector(short.files).isRebuilding)
        #expect(try short.digests() == expected)
    }

    @Test("Dropping the projector between batches resumes exactly, whatever the batch size (INV-10)")
    func resume() throws {
        let log = try LogFixture()
        var events: [Event] = []
        for number in UInt64(1)...60 {
            let type = number % 4 == 0 ? "profile.changed" : "message.posted"
            let seen = Dot(origin: origin((number + 1) % 3 + 1), seq: max(number / 3, 2) - 1)
            let payload = "{\"fields\":{\"f\(number % 2)\":\(number)},\"text\":\"x\"}"
            events.append(
                event(
                    number % 3 + 1, (number - 1) / 3 + 1, hlc: Int64(number), type: type,
                    dependencies: number % 5 == 0 ? [seen] : [], payload))
        }
        try log.deliver(events)
        let expected = try log.digests()
        for batch in [1, 7, 1_000] {
            let copy = try LogFixture()
            try copy.deliver([events[0]])
            _ = try copy.digests()
            try copy.deliver(Array(events.dropFirst()))
            for _ in 0..<(60 / batch + 1) { try Projector(copy.files).step(limit: batch) }
            for _ in 0..<(60 / batch + 1) { try Projector(copy.files).stepDeferred(limit: batch) }
            let projector = try Projector(copy.files)
            #expect(projector.position == 60 && projector.indexed == 60)
            #expect(try projector.allDigests() == expected)
        }
    }

    @Test("An interrupted rebuild goes on where it stopped")
    func interruptedRebuild() throws {
        let log = try LogFixture()
        try log.deliver((1...20).map { event(1, UInt64($0), hlc: Int64($0)) })
        #expect(try Projector(log.files).step(limit: 8) == 8)
        #expect(try Projector(log.files).position == 8)
    }

    @Test("Projector rate, plain events and twins", .enabled(if: ProcessInfo.processInfo.environment["RATE"] != nil))
    func rate() throws {
        let count = UInt64(ProcessInfo.processInfo.environment["RATE"] ?? "") ?? 1
        for isTwins in [false, true] {
            let log = try LogFixture()
            func events(_ origin: UInt64, _ offset: UInt64) -> [Event] {
                var made: [Event] = []
                for seq in 1...count {
                    let (conversation, user) = ("c-\(seq % 35_000)", "u-\(seq % 10_000)")
                    made.append(
                        event(
                            origin, seq, hlc: Int64(seq + offset), id: seq, conversation: conversation, user: user))
                }
                return made
            }
            try log.deliver(events(1, 0))
            let projector = try Projector(log.files)
            if isTwins {
                try projector.catchUp()
                try log.deliver(events(2, count))
            }
            let start = ContinuousClock.now
            try projector.catchUp()
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            print("RATE \(isTwins ? "twins" : "plain") \(Int(Double(count) / seconds)) events/s")
        }
    }
}

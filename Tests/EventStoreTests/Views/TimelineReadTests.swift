import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Pages of timelines against a plain sort by display key (D7).
struct TimelineReadTests {
    /// Three origins whose clocks tie often, some events dated before they were recorded, some after.
    private func store() throws -> (TemporaryFolder, Projector, [Event]) {
        var random = SplitMix64(state: 11)
        var log = SyntheticLog(origins: 3)
        for step in 0..<1_500 {
            let origin = step % 3
            // The last clock is one that only a broken or hostile peer has.
            let clock = origin == 2 && step > 1_400 ? (Int64(1) << 46) + Int64(step) : Int64(1_001 + step / 60)
            let time: Int64? =
                switch Int.random(in: 0..<4, using: &random) {
                case 0: Int64.random(in: -5..<30, using: &random)
                case 1: clock + 500
                case 2: step > 1_400 ? 1_020 : nil
                default: nil
                }
            log.append(
                .json(step % 7 == 0 ? "note" : "message.posted", #"{"text":"\#(step)"}"#, time: time), origin: origin,
                milliseconds: clock)
        }
        let (folder, projector) = try StoreMold().store(log.order { $0.randomElement(using: &random) ?? 0 })
        let all = log.events.joined().filter { $0.header.conversation == "c" }
            .sorted { $0.header.displayKey < $1.header.displayKey }
        return (folder, projector, all)
    }

    @Test(
        "Every limit, range, type and cursor gives what a sort by display key gives, of rows in the run and of others",
        arguments: [false, true])
    func bruteForce(isMerged: Bool) throws {
        let (folder, projector, all) = try store()
        while isMerged, projector.pending > 0 { try projector.merge() }
        let reader = try ViewReader(StoreFiles(folder.path))
        var random = SplitMix64(state: 3)
        for round in 0..<120 {
            reader.tailCapacity = round < 60 ? 10_000 : 100
            var query = TimelineQuery()
            var expected = all
            if round % 2 == 1 {
                let since = Int64.random(in: -10..<1_030, using: &random)
                var until = since + Int64.random(in: 0..<1_040, using: &random)
                // The border is where events are.
                if round % 4 == 3, let one = all.randomElement(using: &random) {
                    until = max(since, one.header.displayKey.time)
                }
                (query.since, query.until) = (since, until)
                expected = expected.filter { (since..<until).contains($0.header.displayKey.time) }
            }
            if round % 3 == 1 {
                query.types = ["note", "never.seen"]
                expected = expected.filter { $0.header.type == "note" }
            }
            if round % 4 >= 2, let cursor = all.randomElement(using: &random)?.header.displayKey {
                query.after = cursor
                expected = expected.filter { $0.header.displayKey > cursor }
            }
            let count = Int.random(in: 0..<1_600, using: &random)
            switch round % 5 {
            case 0, 1:
                query.limit = .first(count)
                expected = Array(expected.prefix(count))
            case 2, 3:
                query.limit = .last(count)
                expected = Array(expected.suffix(count))
            default: break
            }
            var found: [Dot] = []
            try reader.conversation("c", query) { entry in
                found.append(entry.stored.event.header.dot)
                return true
            }
            #expect(found == expected.map(\.header.dot), "\(query)")
        }
    }

    @Test("Reading stops when it is told to, and goes on at the cursor")
    func cursors() throws {
        let (folder, _, all) = try store()
        let reader = try ViewReader(StoreFiles(folder.path))
        var found: [Dot] = []
        var query = TimelineQuery()
        while true {
            var isMore = false
            try reader.history(user: "u", query) { entry in
                found.append(entry.stored.event.header.dot)
                query.after = entry.stored.event.header.displayKey
                isMore = true
                return found.count % 37 != 0
            }
            if !isMore { break }
        }
        #expect(found == all.map(\.header.dot))
    }
}

import TestSupport
import Testing

@testable import EventStore

/// When events came to a node: what `known_at` a time stands for.
struct ArrivalTests {
    private let key = SigningKey.generate()

    private func made(wall: Int64) throws -> MemoryLog {
        let image = try MemoryLog.make(key: key, name: "n", cluster: "c", wall: wall, seed: 1)
        return try MemoryLog(image, key: key, wall: wall, seed: 2)
    }

    private func drafts(_ count: Int) -> [EventDraft] {
        (0..<count).map { EventDraft(type: "message.posted", user: "u", payload: Array(#"{"n":\#($0)}"#.utf8)) }
    }

    @Test(
        "A time stands for what had been committed by then: exactly, or said to be so within a second",
        arguments: 1...UInt64(cases(6, of: 20)))
    func known(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        var wall: Int64 = 1_800_000_000_000
        let log = try made(wall: wall)
        var commits: [(wall: Int64, top: UInt64)] = []
        for _ in 0..<200 {
            wall += Int64.random(in: 0...(Bool.random(using: &random) ? 200 : 5_000), using: &random)
            let isRefused = Int.random(in: 0..<10, using: &random) == 0
            if isRefused { try log.refuse(.full, at: try log.reader.top() + 1) }
            let result = log.commit([.append(drafts(Int.random(in: 1...4, using: &random)))], wall: wall)
            if isRefused { try log.refuse(.full, at: nil) } else { _ = try result.get() }
            let top = try log.reader.top()
            if commits.last?.top != top { commits.append((wall, top)) }
        }
        let first = try #require(commits.first)
        var exact = 0
        for _ in 0..<500 {
            let time = Int64.random(in: first.wall...(wall + 3_000), using: &random)
            let found = try log.reader.known(at: time)
            let had = commits.last { $0.wall <= time }?.top ?? 0
            let soon = commits.last { $0.wall < time + 1_000 }?.top ?? 0
            #expect(
                found.isExact ? found.position == had : (had...soon).contains(found.position), "seed \(seed): \(time)"
            )
            exact += found.isExact ? 1 : 0
        }
        #expect(exact > 100)
        #expect(try log.reader.known(at: .max) == KnownPlace(position: try log.reader.top(), isExact: true))
        #expect(try log.reader.known(at: .min).position == 0)
    }

    @Test("A feed from a time has all that came since, and what came up to a second and more before it may come, too")
    func feed() throws {
        let start: Int64 = 1_800_000_000_000
        let log = try made(wall: start)
        var came: [Int64] = []
        for step: Int64 in [10_000, 10_340, 10_900, 11_100, 30_000] {
            _ = try log.commit([.append(drafts(1))], wall: start + step).get()
            came.append(start + step)
        }
        let top = try log.reader.top()
        for time in came.flatMap({ [$0 - 5, $0, $0 + 5] }) {
            let place = try log.reader.place(of: .time(time), durable: top).get()
            let first = came.firstIndex { $0 >= time }.map { UInt64($0) + 1 } ?? top
            #expect(place.position <= first, "\(time - start)")
        }
        #expect(try log.reader.place(of: .time(start + 29_000), durable: top).get().position == top - 1)
    }

    @Test("A log that did not keep it, as one of an earlier build, goes by when events were recorded, and says so")
    func earlier() throws {
        let log = try made(wall: 1_000_000)
        for second in 1...10 {
            _ = try log.commit([.append(drafts(2))], wall: 1_000_000 + Int64(second) * 10_000).get()
        }
        let connection = try Connection(image: log.image)
        try connection.execute("DROP TABLE arrival")
        let reader = LogReader(connection)
        #expect(try reader.known(at: 1_055_000) == KnownPlace(position: 11, isExact: false))
        #expect(try reader.known(at: 0).position == 0)
        // It is opened again by this build: what comes now is kept.
        let opened = try MemoryLog(connection.image, key: key, wall: 2_000_000, seed: 3)
        _ = try opened.commit([.append(drafts(1))], wall: 2_000_000).get()
        #expect(try opened.reader.known(at: 1_055_000) == KnownPlace(position: 11, isExact: false))
        #expect(try opened.reader.known(at: 2_005_000) == KnownPlace(position: 22, isExact: true))
    }

    @Test("A clock that is set back, and one that stands still, keep every time within the log")
    func oddClocks() throws {
        let log = try made(wall: 1_000_000)
        for wall in [1_000_000, 9_000_000, 2_000_000, 2_000_000, 2_001_000, 3_000_000] as [Int64] {
            _ = try log.commit([.append(drafts(1))], wall: wall).get()
        }
        #expect(try log.reader.known(at: 2_500_000).position >= 2)
        #expect(try log.reader.known(at: 9_500_000) == KnownPlace(position: 7, isExact: true))
        let rows = try Connection(image: log.image).integer("SELECT count(*) FROM arrival")
        #expect(rows == 5)
    }
}

import TestSupport
import Testing

@testable import EventStore

struct LogReplayTests {
    /// Enough events that several threads read; a few have payloads so large that a piece is cut in parts.
    private static let count = 6_000

    private func filled() throws -> (TemporaryFolder, EventStore) {
        let (folder, store) = try makeStore()
        var number = 0
        while number < Self.count {
            let drafts = (0..<1_000).map { index in
                let text = (number + index) % 500 == 0 ? String(repeating: "x", count: 200_000) : "m\(number + index)"
                return EventDraft.message(text, user: "u-\((number + index) % 800)", conversation: "c-\(index % 90)")
            }
            _ = try store.appendBlocking(drafts)
            number += 1_000
        }
        return (folder, store)
    }

    private func scanned(_ files: StoreFiles, after position: UInt64 = 0) throws -> [StoredEvent] {
        var events: [StoredEvent] = []
        try LogReader(files).scan(after: position, limit: .max) { event in
            events.append(event)
            return true
        }
        return events
    }

    private func replayed(_ replay: LogReplay) throws -> [StoredEvent] {
        var events: [StoredEvent] = []
        try replay.forEach { event in
            events.append(event)
            return true
        }
        return events
    }

    @Test("A replay is what one reader finds, whatever part of the log it is of")
    func ranges() throws {
        let (folder, store) = try filled()
        defer { withExtendedLifetime(folder) {} }
        let files = store.files
        let all = try scanned(files)
        let top = UInt64(all.count)
        #expect(top == UInt64(Self.count) + 1)
        #expect(try replayed(LogReplay(files, through: top)) == all)
        #expect(try replayed(LogReplay(files, after: 700, through: top - 3)) == Array(all[700..<Int(top) - 3]))
        #expect(try replayed(LogReplay(files, after: 1_023, through: 1_025)) == Array(all[1_023..<1_025]))
        #expect(try replayed(LogReplay(files, after: top, through: top)).isEmpty)
        #expect(try replayed(LogReplay(files, after: top + 9, through: top)).isEmpty)
        // More than there is: what is there.
        #expect(try replayed(LogReplay(files, after: 5_000, through: top + 5_000)) == Array(all[5_000...]))

        var first: [StoredEvent] = []
        try LogReplay(files, through: top).forEach { event in
            first.append(event)
            return first.count < 2_345
        }
        #expect(first == Array(all[..<2_345]))
    }

    @Test("What is appended meanwhile is not part of it; all threads see the same log")
    func appendedMeanwhile() throws {
        let (folder, store) = try filled()
        defer { withExtendedLifetime(folder) {} }
        let top = try LogReader(store.files).top()
        let parts = try LogReplay(store.files, through: top).parts {
            { (positions: inout [UInt64], event) in
                positions.append(event.position)
            }
        }
        var positions: [UInt64] = []
        while let part = try parts.next() {
            if positions.count < 3_000 { _ = try store.appendBlocking([.message("later", user: "u-1")]) }
            positions += part
            parts.giveBack(part)
        }
        #expect(positions == Array(1...top))
        #expect(try LogReader(store.files).top() > top)
    }

    @Test("Events at positions come in the order asked for, without those that are not there")
    func positions() throws {
        let (folder, store) = try filled()
        defer { withExtendedLifetime(folder) {} }
        let all = try scanned(store.files)
        let wanted = (0..<5_500).map { UInt64(($0 * 7_919) % Self.count + 1) }
        #expect(try replayed(LogReplay(store.files, at: wanted)) == wanted.map { all[Int($0) - 1] })
        #expect(try replayed(LogReplay(store.files, at: [])).isEmpty)
        #expect(try replayed(LogReplay(store.files, at: [9, 99_999, 3, 3, 0, 4])).map(\.position) == [9, 3, 3, 4])

        let reader = try LogReader(store.files)
        var found: [UInt64] = []
        let count = try reader.events(at: [5, 99_999, 6, 7, 8]) { event in
            #expect(event == all[Int(event.position) - 1])
            found.append(event.position)
            return found.count < 3
        }
        #expect(found == [5, 6, 7])
        #expect(count == 4)
    }

    @Test("Events at positions are as many as their payloads allow, and end before one that is not there")
    func positionsInSlices() throws {
        let (folder, store) = try filled()
        defer { withExtendedLifetime(folder) {} }
        let all = try scanned(store.files)
        let reader = try LogReader(store.files)
        let wanted = (0..<120).map { UInt64($0 * 40 + 1) }
        let whole = try reader.events(at: wanted, bytes: .max)
        #expect(whole.events == wanted.map { all[Int($0) - 1] })
        #expect(whole.dealtWith == 120)
        let bytes = whole.events[..<60].reduce(0) { $0 + ($1.event.payload?.count ?? 0) }
        #expect(try reader.events(at: wanted, bytes: bytes).events == Array(whole.events[..<60]))
        #expect(try reader.events(at: wanted, bytes: bytes + 1).dealtWith == 61)

        let gap = try reader.events(at: [5, 99_999, 6], bytes: .max)
        #expect(gap.events == [all[4]])
        #expect(gap.dealtWith > 1)
        #expect(try reader.events(at: [5, 99_999], bytes: .max).dealtWith == 2)
        #expect(try reader.events(at: [], bytes: 1).dealtWith == 0)
    }

    @Test("A gap in a damaged log is passed over, and no event comes twice")
    func gap() throws {
        let (folder, store) = try filled()
        defer { withExtendedLifetime(folder) {} }
        store.close()
        let connection = try Connection(path: store.files.log, mode: .write)
        try connection.execute("DELETE FROM event WHERE position > 1000 AND position <= 1100")
        let positions = try replayed(LogReplay(store.files, through: 6_001)).map(\.position)
        #expect(positions == Array(1...1_000) + Array(1_101...6_001))
    }

    @Test("Names are found however they are asked for: neighbours, strangers, many")
    func names() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        for start in stride(from: 0, to: 3_000, by: 1_000) {
            _ = try store.appendBlocking((start..<start + 1_000).map { .message("m", user: "user \($0)") })
        }
        let connection = try openForReading(store.files.log)
        var expected: [Int64: String] = [:]
        let select = try connection.statement("SELECT ref, text FROM name")
        while try select.step() { expected[select.int64(0)] = select.text(1) }
        #expect(expected.count > 3_000)
        var names = InternedStrings()
        for (ref, text) in expected.sorted(by: { ($0.key &* 7_919) % 3_001 < ($1.key &* 7_919) % 3_001 }) {
            #expect(try names.text(ref, on: connection) == text)
            #expect(try names.ref(text, on: connection) == ref)
            #expect(try names.ref(text, on: connection) == ref)
        }
        for ref in [0, -1, Int64.min, Int64.max, 1 << 17, Int64(expected.count) + 1] {
            #expect(throws: DatabaseError.damaged(.table("name"), "there is no name \(ref)")) {
                try names.text(ref, on: connection)
            }
        }
        #expect(try names.ref("nobody", on: connection) == nil)
    }

    @Test(
        "Numbers in a file that no writer stores are named, and end the reading of it (D22)",
        arguments: [
            ("time", Int64.min, "its time is out of range"),
            ("time", 253_402_300_800_000, "its time is out of range"),
            ("hlc", -1, "its hlc is out of range"), ("seq", .max, "its seq is out of range"),
            ("position", .max, "there is no such position"), ("position", 1 << 44, "there is no such position"),
            ("position", (1 << 44) - 1, "no event at positions 1025 to 2048"),
        ])
    func damagedNumbers(column: String, value: Int64, reason: String) throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        _ = try store.appendBlocking((0..<10).map { .message("\($0)", user: "u", conversation: "c") })
        store.close()
        let connection = try Connection(path: store.files.log, mode: .write)
        try connection.execute("UPDATE event SET \(column) = \(value) WHERE position = 11")
        let error = #expect(throws: StoreError.self) {
            let reader = try LogReader(store.files)
            _ = try replayed(LogReplay(store.files, through: reader.top()))
        }
        #expect("\(try #require(error))".contains(reason), "\(error.map { "\($0)" } ?? "")")
        // Who opens it for writing is told as well, or reads past it.
        if column != "time", value > 1 << 44 || value < 0 {
            #expect(throws: StoreError.self) { try EventStore(opening: store.files.folder) }
        }
    }
}

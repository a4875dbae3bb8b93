import TestSupport
import Testing

@testable import EventStore

/// A step reads its events a portion at a time; what it does must not show where the portions end.
struct ProjectorStepTests {
    private func filled(_ count: UInt64) throws -> LogFixture {
        let log = try LogFixture()
        try log.deliver(
            (1...count).map { seq in
                // Twins within portions, at their ends, and one after the other.
                let isTwin = [100, 1_024, 1_025, 1_026, 2_048, 2_049, 3_000].contains(seq)
                let id = isTwin ? (seq % 2 == 0 ? 50 : 60) : seq
                return event(
                    1, seq, hlc: Int64(10_000 + (isTwin ? seq % 7 : seq)), id: id,
                    type: seq % 5 == 0 ? "message.edited" : "message.posted", conversation: "c-\(seq % 30)",
                    user: "u-\(seq % 11)",
                    #"{"message":"\#(EventID(UUIDBits(high: 0x1d, low: 1)))","text":"\#(seq)"}"#)
            })
        return log
    }

    @Test("Views are the same in steps of any size, with twins wherever portions begin and end")
    func portions() throws {
        let log = try filled(3_100)
        let small = try log.digests(batch: 7)
        let large = try filled(3_100).digests(batch: 65_536)
        let odd = try filled(3_100).digests(batch: 1_025)
        #expect(small == large)
        #expect(small == odd)
    }

    @Test("A step takes as many events as it may, over several portions, in one transaction")
    func sizes() throws {
        let log = try LogFixture()
        try log.deliver((1...2_600).map { event(1, $0, hlc: Int64($0)) })
        let projector = try Projector(log.files)
        #expect(try projector.step(limit: 1_500) == 1_500)
        #expect(try projector.step() == 2_600)
        #expect(try projector.step() == 2_600)
    }

    @Test("A step ends when the views have read so many bytes that they should write them (INV-9)")
    func bytes() throws {
        let log = try LogFixture()
        let text = String(repeating: "x", count: 200_000)
        try log.deliver(
            (1...120).map { seq in
                event(
                    1, seq, hlc: Int64(seq), type: "message.edited",
                    #"{"message":"\#(EventID(UUIDBits(high: 1, low: seq)))","text":"\#(text)"}"#)
            })
        let projector = try Projector(log.files)
        let last = try projector.step()
        #expect(last > 60 && last < 120)
        try projector.catchUp()
        #expect(projector.position == 120)
    }

    @Test("Where the log cannot be read a step ends: what comes before is applied, and the views are kept")
    func unreadable() throws {
        let log = try LogFixture()
        try log.deliver((1...10).map { event(1, $0, hlc: Int64($0)) })
        let projector = try Projector(log.files)
        try projector.catchUp()
        try log.deliver((11...2_600).map { event(1, $0, hlc: Int64($0)) })
        let connection = try Connection(path: log.files.log, mode: .write)
        try connection.execute("UPDATE event SET type = 9999 WHERE position = 2500")
        let last = try projector.step()
        #expect(last > 1_000 && last < 2_500)
        for _ in 0..<3 { #expect(throws: StoreError.self) { while try projector.step() > 0 {} } }
        #expect(projector.position >= last && projector.position < 2_500)
        #expect(!projector.isRebuilding)
    }
}

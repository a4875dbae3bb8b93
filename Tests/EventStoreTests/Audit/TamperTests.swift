import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Changes made behind the store's back, each on a copy, and what the verifier says of them.
struct TamperTests {
    /// One change that must be found, and the event that must be named.
    struct Change: Sendable, CustomTestStringConvertible {
        let column: String
        let position: Int64
        /// The new value, an SQL expression over the old row.
        let value: String

        init(_ column: String, _ position: Int64, _ value: String) {
            self.column = column
            self.position = position
            self.value = value
        }
        var testDescription: String { "\(column) of \(position) = \(value)" }
    }

    private static let full = SampleStore.Position.full
    private static let dependent = SampleStore.Position.dependent
    private static let twin = SampleStore.Position.twin
    private static let erased = SampleStore.Position.erased
    private static let name = "(SELECT ref FROM name WHERE text = 'u-b')"

    static let changes: [Change] =
        // Values next to the right one, and other names.
        ["hlc", "time", "version", "leaf"].map { Change($0, full, "\($0) + 1") }
        + ["user", "conversation", "type", "author"].map { Change($0, full, name) }
        + ["user", "type", "actor"].map { Change($0, full, "99999") }
        + [
            Change("actor", full, name), Change("actor", full, "NULL"), Change("actor", full, "zeroblob(3)"),
            Change("actor", 21, "(SELECT other.actor FROM event AS other WHERE other.position = 20)"),
        ]
        // NULL for a value, and a value for NULL.
        + ["conversation", "time", "author", "cause", "version", "salt", "payload"].map { Change($0, full, "NULL") }
        + ["dependencies"].map { Change($0, dependent, "NULL") }
        + [Change("twin", twin, "NULL"), Change("digest", erased, "NULL"), Change("unknown", 304, "NULL")]
        + [
            Change("time", 21, "hlc >> 16"), Change("author", 21, "user"), Change("version", 21, "1"),
            Change("dependencies", 21, "x''"), Change("unknown", 21, "x''"), Change("cause", 21, "x'01'"),
            Change("twin", 21, "20"), Change("digest", 21, "zeroblob(32)"), Change("salt", erased, "zeroblob(16)"),
            Change("payload", erased, "'{}'"), Change("unknown", 21, "x'6801'"), Change("conversation", 301, "3"),
        ]
        // Wrong types, lengths and sizes. Where reading gives the same value, it is the type that was changed.
        + ["user", "hlc", "type", "leaf", "conversation", "time", "author", "version"].flatMap {
            [
                Change($0, full, "CAST(\($0) AS TEXT) || 'x'"), Change($0, full, "\($0) + 40.5"),
                Change($0, full, "zeroblob(9)"), Change($0, full, "-\($0)"),
                Change($0, full, "-9223372036854775807 - 1"),
                Change($0, full, "0x7fffffffffffffff"),
            ]
        }
        + ["id", "cause", "salt"].flatMap {
            [
                Change($0, full, "substr(\($0), 2)"), Change($0, full, "\($0) || x'00'"),
                Change($0, full, "CAST(\($0) AS TEXT)"), Change($0, full, "zeroblob(100000)"),
                Change($0, full, "1.5"),
            ]
        }
        + [
            Change("payload", full, "CAST(payload AS BLOB)"), Change("payload", full, "payload || ' '"),
            Change("payload", full, "CAST(x'7bff7d' AS TEXT)"), Change("payload", full, "'[]'"),
            Change("payload", full, "'{}' || hex(zeroblob(3000000))"), Change("payload", full, "''"),
            Change("version", full, "version + 4294967296"), Change("version", full, "0"),
            Change("digest", erased, "substr(digest, 2)"), Change("digest", erased, "zeroblob(32)"),
            Change("dependencies", dependent, "x'ffffffffffffffffffffff'"),
            Change("dependencies", dependent, "zeroblob(1000)"), Change("dependencies", dependent, "x'0201'"),
            Change("dependencies", dependent, "x'028500' || x'0301'"),
            Change("dependencies", dependent, "x'03010205'"),
            Change("dependencies", dependent, "x'0206' || x'0301'"), Change("dependencies", dependent, "'ab'"),
            Change("twin", twin, "21"), Change("twin", twin, "307"), Change("twin", twin, "-1"),
            Change("twin", twin, "'x'"), Change("twin", twin, "20.5"),
            Change("unknown", 304, "x'68'"), Change("unknown", 304, "x'0801'"), Change("unknown", 304, "'h'"),
        ]
        + ["seq", "origin"].flatMap {
            [
                Change($0, full, "\($0) + 1000"), Change($0, full, "-\($0)"), Change($0, full, "'x'"),
                Change($0, full, "0x7fffffffffffffff"), Change($0, full, "0"),
            ]
        }

    @Test("Every change of a column of an event names that event", arguments: changes)
    func column(_ change: Change) throws {
        let sample = try Self.sample.get()
        let table = "event WHERE position = \(change.position)"
        var applied = false
        let copy = try sample.damaged { connection in
            let before = try connection.integer(
                "SELECT count(*) FROM \(table) AND \(change.column) IS (\(change.value))")
            applied = before == 0
            do {
                try connection.execute(
                    "UPDATE event SET \(change.column) = \(change.value) WHERE position = \(change.position)")
            } catch let error as DatabaseError where error.isConstraint {
                // The schema itself refuses it to a hand that leaves the indexes in place.
                #expect(change.column == "twin" && change.value == "NULL")
                try connection.execute("DROP INDEX event_id")
                try connection.execute(
                    "UPDATE event SET \(change.column) = \(change.value) WHERE position = \(change.position)")
            }
        }
        #expect(applied, "the change changes nothing")
        let report = try verify(copy)
        #expect(!report.isIntact)
        if change.column == "twin", change.value == "NULL" {
            #expect(report.says(.index, "event_id is missing"), report.text)
            #expect(report.says(.twins, "has the id of the event at position 20"), report.text)
            #expect(report.names(position: change.position), report.text)
        } else if ["seq", "origin"].contains(change.column) {
            // Where the dot itself is gone the position and the id still name the event.
            #expect(report.findings.contains { $0.position == UInt64(change.position) }, report.text)
        } else if change.column == "id", !change.value.contains("TEXT") {
            #expect(report.findings.contains { $0.position == UInt64(change.position) && $0.dot != nil }, report.text)
        } else {
            #expect(report.names(position: change.position), report.text)
        }
    }

    /// Made once for all tests of this file; they only copy it.
    private static let sample = Result { try SampleStore() }

    @Test(
        "One flipped bit in any byte column of an event names that event",
        arguments: [
            ("payload", full), ("salt", full), ("id", full), ("cause", full), ("dependencies", dependent),
            ("unknown", 304), ("digest", erased), ("payload", 1), ("payload", 327), ("salt", 150),
        ])
    func bit(column: String, position: Int64) throws {
        var random = SplitMix64(state: UInt64(position) &* 31 &+ UInt64(column.utf8.count))
        for _ in 0..<6 {
            let copy = try Self.sample.get().damaged { connection in
                let select = try connection.statement("SELECT \(column) FROM event WHERE position = \(position)")
                #expect(try select.step())
                var bytes = select.bytes(0)
                select.reset()
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                let update = try connection.statement("UPDATE event SET \(column) = ? WHERE position = \(position)")
                if column == "payload" { try update.bind(1, text: bytes) } else { try update.bind(1, blob: bytes) }
                try update.run()
            }
            let report = try verify(copy)
            #expect(report.names(position: position), report.text)
        }
    }

    @Test("Damaged bytes inside interned texts name the first event, the count and the name")
    func name() throws {
        let sample = try Self.sample.get()
        var report = try sample.report(after: "UPDATE name SET text = 'u-9' WHERE text = 'u-3'")
        #expect(report.names(position: 3), report.text)
        #expect(report.count(of: .events) == 60, report.text)
        #expect(report.says(.names, "all 60 events that use name"), report.text)
        #expect(report.findings.count { $0.check == .events } == VerifyReport.maximumPerCheck)
        #expect(report.findingCount == report.counts.values.reduce(0, +) && report.findingCount >= 61)
        let first = try #require(report.findings.first { $0.check == .events })
        let id = try #require(first.eventID)
        #expect(first.description.hasPrefix("events: position 3, \(sample.own)/3, id \(id): header or payload"))
        report = try sample.report(after: "UPDATE name SET text = CAST(x'752dff' AS TEXT) WHERE text = 'doctor'")
        #expect(report.names(position: Self.full), report.text)
        report = try sample.report(after: "UPDATE name SET text = CAST(text AS BLOB) WHERE text = 'doctor'")
        #expect(report.says(.names, "is not a text"), report.text)
        report = try sample.report(after: "DELETE FROM name WHERE text = 'doctor'")
        #expect(report.names(position: Self.full), report.text)
        report = try sample.report(after: "UPDATE name SET ref = 77777 WHERE text = 'doctor'")
        #expect(report.names(position: Self.full), report.text)
        // A name that no event uses says nothing: the same store, as far as it can be read.
        report = try sample.report(after: "INSERT INTO name(text) VALUES('nobody')")
        #expect(report.isIntact, report.text)
    }
}

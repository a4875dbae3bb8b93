import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Views are proven by making them again, never believed (D21).
struct ViewsCheckTests {
    /// A log with something in every view; some rows merged, some in the tails.
    private func filled() throws -> LogFixture {
        let log = try LogFixture()
        let target = EventID(UUIDBits(high: 0x1d, low: 5))
        var events: [Event] = []
        for seq in UInt64(1)...400 {
            let (type, payload): (String, String) =
                switch seq % 8 {
                case 0:
                    (
                        "conversation.started",
                        #"{"title":"제목","category":"text","participants":["p"],"moderators":["m"]}"#
                    )
                case 1: ("profile.changed", #"{"fields":{"name":"김\#(seq)"}}"#)
                case 2: ("survey.answered", #"{"survey":"s","question":"q","rating":\#(seq % 5)}"#)
                case 3: ("message.edited", #"{"message":"\#(target)","text":"고침 \#(seq)"}"#)
                case 4: ("message.posted", #"{"text":7}"#)
                default: ("message.posted", #"{"text":"x"}"#)
                }
            events.append(
                event(
                    seq % 2 + 1, (seq + 1) / 2, hlc: 1_000 + Int64(seq), id: seq % 50 == 0 ? 7 : seq, type: type,
                    conversation: "c-\(seq % 5)", user: "u-\(seq % 3)",
                    cause: seq % 4 == 1 ? target : nil,
                    dependencies: seq == 301 ? [Dot(origin: origin(1), seq: 100)] : [], payload))
        }
        try log.deliver(events.sorted { $0.header.hlc < $1.header.hlc })
        let projector = try Projector(log.files, tails: ViewMemtables(generation: 150))
        while projector.position < 300 { try projector.step(through: 300, limit: 40) }
        while projector.pending > 0 { try projector.merge() }
        while projector.position < log.top { try projector.step() }
        return log
    }

    private func change(_ log: LogFixture, _ sql: String) throws {
        let connection = try Connection(path: log.files.views, mode: .write)
        try connection.execute(sql)
    }

    @Test("Views that go on while they are compared are compared to the end")
    func whileWritten() throws {
        let log = try filled()
        try Projector(log.files).catchUp()
        var seq = UInt64(0)
        var questions = 0
        let report = try ViewsCheck(log.files).run(
            isCancelled: {
                questions += 1
                return questions > 1_000
            },
            progress: { _, _ in
                guard seq < 3 else { return }
                seq += 1
                try? log.deliver([event(3, seq, hlc: 5_000 + Int64(seq), type: "message.posted", #"{"text":"말"}"#)])
                _ = try? Projector.catchUp(log.files)
            })
        #expect(
            seq > 0 && report.isIntact && report.position > 400, "\(report.position) \(report.differences)")
    }

    @Test("Views that nobody touched are what the log says, merged or not, and behind it")
    func intact() throws {
        let log = try filled()
        let report = try ViewsCheck(log.files).run()
        #expect(report.isIntact && report.position == 400 && report.rows > 800, "\(report.differences)")
        try log.deliver([event(3, 1, hlc: 5_000)])
        #expect(try ViewsCheck(log.files).run().position == 400)
        // With everything merged, too.
        try Projector(log.files).catchUp()
        let later = try ViewsCheck(log.files).run()
        #expect(later.isIntact && later.position == 401, "\(later.differences)")
    }

    /// A change of views.db with the view it is found in and a part of the words in which it is told.
    static let changes: [(sql: String, view: String, words: String)] = [
        (#"UPDATE profile SET value = '"위조"' WHERE maximal = 1"#, "profiles", "value is '\"위조\"', the log says"),
        (
            "UPDATE survey_count SET count = 999 WHERE value = '2'", "surveys",
            "survey 's', question 'q', value '2': count is 999"
        ),
        (
            "UPDATE conversation SET title = '위조' WHERE title NOTNULL", "conversations",
            "title is '위조', the log says '제목'"
        ),
        ("UPDATE conversation SET moderators = '[\"x\"]'", "conversations", "moderators is"),
        ("UPDATE conversation SET messages = messages + 1", "conversations", "messages is"),
        ("UPDATE conversation SET recent = 5 WHERE recent NOTNULL", "conversations", "recent is 5"),
        ("DELETE FROM conversation", "conversations", "events is"),
        ("UPDATE progress SET position = 999999", "progress", "position is 999999"),
        ("DELETE FROM progress", "progress", "rows is 0"), ("DROP TABLE progress", "progress", "rows is 0"),
        ("INSERT INTO progress SELECT * FROM progress", "progress", "rows is 2"),
        ("UPDATE timeline_merge SET merging = 401", "timeline", "merging is 401, the log says from"),
        ("UPDATE history_merge SET merging = applied - 1", "history", "merging is"),
        ("DELETE FROM timeline", "timeline", "missing"),
        ("DELETE FROM history_tail", "history", "missing"),
        ("INSERT INTO timeline_hidden SELECT 390", "timeline", "position 390"),
        ("UPDATE amendment SET author = author + 1", "messages", "author is"),
        ("UPDATE amendment SET position = 1", "messages", "position is 1"),
        ("DELETE FROM amendment WHERE edit = 1", "messages", "missing"),
        (
            "INSERT INTO amendment SELECT x'00', stamp, position, author, conversation, 0 FROM amendment LIMIT 1",
            "messages", "no such row"
        ),
        ("UPDATE member SET joined = 0", "participants", "joined is 0, the log says 1"),
        ("UPDATE speaker SET messages = messages + 1", "participants", "messages is"),
        ("DELETE FROM speaker", "participants", "messages is"),
        ("DELETE FROM quarantine WHERE position = 4", "quarantine", "missing"),
        ("UPDATE survey_answer SET user = user + 1", "surveys", "user is"),
        ("UPDATE clock SET seq = 7", "clocks", "seq is 7, the log says 100"),
        ("UPDATE contact_clock SET seq = 7", "contacts", "seq is 7, the log says 100"),
        ("UPDATE occupant SET words = words + 1", "rooms", "words is"),
        ("UPDATE own_room SET hour = hour + 1", "rooms", "hour is"),
        ("UPDATE people SET number = number + 1", "participants", "people is"),
        ("UPDATE occupant SET place = place + 1", "rooms", "place is"),
        ("UPDATE room SET hour = 7", "rooms", "hour is 7"), ("DELETE FROM room", "rooms", "missing"),
        (
            "CREATE TRIGGER t AFTER INSERT ON profile BEGIN DELETE FROM profile; END", "database",
            "type 'trigger', name 't'"
        ),
        ("DROP INDEX conversation_recent", "database", "name 'conversation_recent': missing"),
    ]

    @Test("Each change of views.db is found, and named", arguments: 0..<Self.changes.count)
    func changed(index: Int) throws {
        let change = Self.changes[index]
        let log = try filled()
        try self.change(log, change.sql)
        let report = try ViewsCheck(log.files).run()
        #expect(!report.isIntact)
        let found = report.differences.filter { $0.view == change.view && "\($0)".contains(change.words) }
        #expect(!found.isEmpty, "\(report.differences)")
        // Building them anew mends them.
        let projector = try Projector(log.files)
        try projector.beginRebuild()
        try projector.catchUp()
        #expect(try ViewsCheck(log.files).run().isIntact)
    }

    @Test(
        "A word that queries no longer find is found, though it stands in the index (D21)",
        arguments: [
            "DELETE FROM search_idx", "DELETE FROM search_idx WHERE pgno = (SELECT max(pgno) FROM search_idx)",
            "UPDATE search_idx SET term = CAST('zzzz' AS BLOB) WHERE pgno = (SELECT max(pgno) FROM search_idx)",
        ])
    func directory(sql: String) throws {
        // Words for several pages of the index: of one page none is looked up.
        let log = try LogFixture()
        try log.deliver(
            (UInt64(1)...2_000).map { number in
                event(
                    1, number, hlc: Int64(1_000 + number), type: "message.posted", #"{"text":"w\#(number * 7)x 말"}"#)
            })
        try Projector(log.files).catchUp()
        #expect(try ViewsCheck(log.files).run().isIntact)
        try changeByHand(log, sql)
        let report = try ViewsCheck(log.files).run()
        #expect(report.differences.contains { $0.view == "search" && "\($0)".contains("times is -") }, "\(report)")
    }

    /// By a program that SQLite does not keep from its own tables.
    private func changeByHand(_ log: LogFixture, _ sql: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c",
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()",
            log.files.views, sql,
        ]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    @Test(
        "What FTS5 keeps beside the words is compared, too (D21)",
        arguments: [
            ("UPDATE search_docsize SET sz = x'7f' WHERE id = 1", "position 1 (", "length is"),
            ("DELETE FROM search_docsize WHERE id = 1", "position 1 (", "missing"),
            ("INSERT INTO search_docsize VALUES(9999, x'01')", "position 9999", "no such row"),
            ("UPDATE search_config SET v = 7 WHERE k = 'automerge'", "setting 'automerge'", "value is 7"),
            ("INSERT INTO search_config VALUES('rank', 'bm25(9)')", "setting 'rank'", "no such row"),
            ("UPDATE search_data SET block = x'0102' WHERE id = 1", "setting 'totals'", "value is"),
        ])
    func besideTheWords(sql: String, row: String, words: String) throws {
        let log = try LogFixture()
        try log.deliver(
            (UInt64(1)...20).map { event(1, $0, hlc: Int64(1_000 + $0), type: "message.posted", #"{"text":"말"}"#) })
        try Projector(log.files).catchUp()
        #expect(try ViewsCheck(log.files).run().isIntact)
        try changeByHand(log, sql)
        let report = try ViewsCheck(log.files).run()
        #expect(
            report.differences.contains {
                $0.view == "search" && $0.row.contains(row) && "\($0)".contains(words)
            }, "\(report.differences)")
    }

    @Test(
        "Rows of a timeline that were changed within a block are found",
        arguments: [
            ("taken out", "missing"), ("added", "no such row"), ("said by another", "author is"),
            ("of another type", "type is"), ("hidden", "hidden is 1, the log says 0"),
        ])
    func blocks(kind: String, words: String) throws {
        let log = try filled()
        let connection = try Connection(path: log.files.views, mode: .write)
        let table = SortedTable.timeline
        let ref = try #require(try LogReader(log.files).ref("c-1"))
        let select = try connection.statement("\(table.allSQL)")
        var block: [SortedRow] = []
        while try select.step() {
            let rows = try table.rows(select, owner: select.int64(4))
            if rows[0].owner == ref, rows.count > block.count { block = rows }
        }
        select.reset()
        let index = block.count / 2
        let row = block[index]
        var tags = row.tags
        switch kind {
        case "taken out": block.remove(at: index)
        case "added":
            let row = SortedRow(owner: ref, time: row.time, hlc: row.hlc, position: 399, tags: tags)
            block = (block + [row]).sorted()
        case "hidden": block[index] = row.hidden
        default:
            if kind == "said by another" { tags.author = 3 } else { tags.kind += 4 }
            block[index] = SortedRow(
                owner: ref, time: row.time, hlc: row.hlc, position: row.position, tags: tags)
        }
        let changed = try #require(Block.filled(block).first)
        #expect(changed.rows == block)
        let key = changed.first
        try connection.run(
            "UPDATE timeline SET rows = ? WHERE conversation = ? AND time = ? AND hlc = ? AND position = ?",
            .blob(changed.bytes), .integer(ref), .integer(key.time), .integer(key.hlc),
            .integer(Int64(bitPattern: key.position)))
        #expect(connection.changes == 1)
        let report = try ViewsCheck(log.files).run()
        #expect(
            report.differences.contains {
                $0.view == "timeline" && "\($0)".contains(words) && "\($0)".contains("c-1")
            })
        // A row's place is given in forms for people: "time 2023-11-14T…Z, hlc 018bcfe5…-0007".
        let place = /time \d{4}-\d\d-\d\dT[\d:.]+Z, hlc [0-9a-f]{12}-[0-9a-f]{4}/
        let rows = report.differences.filter { $0.view == "timeline" }.map(\.row)
        #expect(rows.allSatisfy { $0.contains(place) }, "\(rows)")
    }

    @Test(
        "Each row that differs names the events that it is made of",
        arguments: [
            (#"UPDATE profile SET value = '"위조"' WHERE maximal = 1"#, "profile.changed"),
            ("UPDATE survey_count SET count = 999 WHERE value = '2'", "survey.answered"),
            ("UPDATE conversation SET title = '위조' WHERE title NOTNULL", "conversation.started"),
            ("UPDATE conversation SET messages = messages + 1", ""), ("DELETE FROM conversation", ""),
            ("DELETE FROM amendment", "message.edited"), ("DELETE FROM member", "conversation.started"),
            ("UPDATE speaker SET messages = 5", "message.posted"), ("DELETE FROM effect", ""),
        ])
    func eventsBehind(sql: String, type: String) throws {
        let log = try filled()
        try Projector(log.files).catchUp()
        try change(log, sql)
        let report = try ViewsCheck(log.files).run()
        let told = report.differences.filter { $0.view != "database" && $0.view != "digests" }
        #expect(!told.isEmpty)
        let reader = try LogReader(log.files)
        for difference in told {
            #expect(!difference.events.isEmpty && difference.events.count <= 10, "\(difference)")
            for position in difference.events {
                let header = try #require(try reader.event(at: position)).event.header
                #expect(type.isEmpty || header.type == type, "\(difference): \(header.type)")
            }
        }
    }

    @Test(
        "Bits of views.db that were turned over are found, or carry nothing that is read",
        arguments: 1...UInt64(cases(10, of: 40)))
    func bits(seed: UInt64) throws {
        let log = try filled()
        try Projector(log.files).catchUp()
        let expected = try ViewReader(log.files).allDigests(log.files)
        var bytes = try Data(contentsOf: URL(filePath: log.files.views))
        var random = SplitMix64(state: seed)
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        try bytes.write(to: URL(filePath: log.files.views))
        guard let report = try? ViewsCheck(log.files).run(), report.isIntact else { return }
        #expect(try ViewReader(log.files).allDigests(log.files) == expected, "byte \(place)")
    }
}

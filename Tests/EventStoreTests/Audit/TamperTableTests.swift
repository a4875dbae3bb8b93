import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Whole events moved, taken away or forged, and changes of the tables beside `event`.
struct TamperTableTests {
    private static let sample = Result { try SampleStore() }
    private let sample: SampleStore

    init() throws { sample = try Self.sample.get() }

    // MARK: Events

    @Test("Two events with exchanged positions, of one origin or of two, are both named")
    func swappedPositions() throws {
        func swap(_ a: Int64, _ b: Int64) -> String {
            """
            UPDATE event SET position = -1 WHERE position = \(a);
            UPDATE event SET position = \(a) WHERE position = \(b);
            UPDATE event SET position = \(b) WHERE position = -1;
            """
        }
        for (a, b) in [(Int64(40), Int64(41)), (40, 200), (1, 2)] {
            let report = try sample.report(after: swap(a, b))
            #expect(report.names(position: a) && report.names(position: b), report.text)
            #expect(report.count(of: .order) >= 2, report.text)
        }
        // Of two origins: the own event's dependencies say what had arrived before it.
        var report = try sample.report(after: swap(301, 302))
        #expect(report.names(position: 302), report.text)
        report = try sample.report(after: swap(307, 308))
        #expect(report.says(.order, "\(sample.own)/302"), report.text)
        // Two received events that did not know of each other: nothing signed says which of them came first, and either
        // order is one in which they may have arrived.
        // One of them is an erasure, whose place stands in table meta, too.
        report = try sample.report(
            after: swap(306, 307) + "UPDATE meta SET key = 'erasure 307' WHERE key = 'erasure 306'")
        #expect(report.isIntact, report.text)
    }

    @Test("Exchanged payloads name both events")
    func swappedPayloads() throws {
        let report = try sample.report(
            after: """
                UPDATE event SET (payload, salt) = (SELECT payload, salt FROM event AS other WHERE other.position =
                  CASE event.position WHEN 50 THEN 51 ELSE 50 END) WHERE position = 51;
                UPDATE event SET payload = '{"text":"말 51"}' WHERE position = 50;
                """)
        #expect(report.names(position: 50) && report.names(position: 51), report.text)
    }

    @Test("A deleted event leaves gaps that name it", arguments: [1, 150, 308])
    func deleted(position: Int64) throws {
        let report = try sample.report(after: "DELETE FROM event WHERE position = \(position)")
        #expect(report.says(.positions, "no event at position \(position)"), report.text)
        #expect(report.count(of: .order) >= 1 && !report.isIntact)
        if position == 1 { #expect(report.says(.order, "seq 1 is missing"), report.text) }
    }

    @Test("The last event, deleted, is missed by the head that speaks of it")
    func deletedLast() throws {
        var report = try sample.report(after: "DELETE FROM event WHERE position = \(sample.top)")
        #expect(
            report.says(.heads, "origin \(sample.own): the head at 321 speaks of events that are not here"),
            report.text)
        // The last event of an origin, in the middle of the log.
        report = try sample.report(after: "DELETE FROM event WHERE position = 307")
        #expect(report.says(.positions, "no event at position 307") && report.count(of: .heads) >= 1, report.text)
        #expect(report.says(.order, "dependencies"), report.text)
        // Every event.
        report = try sample.report(after: "DELETE FROM event")
        #expect(report.says(.positions, "the log is empty") && report.count(of: .origins) >= 3, report.text)
        // Without its head as well the store's mark knows that it was there, and the event before it carries no seal.
        report = try sample.report(
            after: "DELETE FROM event WHERE position = \(sample.top); DELETE FROM head WHERE origin = 1")
        #expect(report.says(.ends, "the log ends at position 326; the store's mark knows 327"), report.text)
        #expect(report.says(.ends, "origin \(sample.own) ends at seq 320"), report.text)
    }

    @Test("An inserted event is named")
    func inserted() throws {
        let columns =
            "user, conversation, time, hlc, type, author, cause, dependencies, version, unknown, leaf, salt, payload"
        func insert(position: Int64, seq: Int64) -> String {
            """
            INSERT INTO event(position, origin, seq, id, \(columns)) SELECT \(position), 1, \(seq), randomblob(16), \(columns)
            FROM event WHERE position = 100
            """
        }
        var report = try sample.report(after: insert(position: 328, seq: 322))
        #expect(report.names(position: 328) && report.unsigned == 1, report.text)
        report = try sample.report(after: insert(position: 0, seq: 322))
        #expect(report.says(.positions, "there is an event at position 0"), report.text)
        report = try sample.report(after: insert(position: -5, seq: 0))
        #expect(report.says(.positions, "position -5") && report.says(.order, "less than 1"), report.text)
        report = try sample.report(after: insert(position: Int64.max, seq: Int64.max))
        #expect(report.says(.positions, "no events at positions 328 to 9223372036854775806"), report.text)
        #expect(report.names(position: Int64.max), report.text)
    }

    @Test("An event changed together with its leaf, or with the tree above it, is still found")
    func recomputedLeaf() throws {
        let copy = try sample.damaged { connection in
            try connection.execute("UPDATE event SET payload = '{\"text\":\"아무 말\"}' WHERE position = 60")
            let reader = try LogReader(StoreFiles(connection.path.replacingOccurrences(of: "/log.db", with: "")))
            let event = try #require(try reader.event(at: 60)).event
            let leaf = EventRow.leafCheck(SHA256().leaf(of: event))
            try connection.execute("UPDATE event SET leaf = \(leaf) WHERE position = 60")
        }
        var report = try verify(copy)
        #expect(report.count(of: .tree) == 2 && report.count(of: .heads) == 1, report.text)
        #expect(report.says(.tree, "the tile over seqs 1 to 256 is not of these events"), report.text)
        #expect(
            report.says(.tree, "origin \(sample.own): the node of level 8 over seqs 1 to 256 is not"), report.text)
        #expect(report.says(.heads, "origin \(sample.own): the head at 321 has root"), report.text)
        let tree = try #require(report.origins.first { $0.origin == sample.own }?.root)
        // A hand that recomputes everything that needs no key is left with a signature that does not fit.
        let connection = try Connection(path: StoreFiles(copy.path).log, mode: .write)
        var range = MerkleRange()
        var node: Digest?
        try LogReader(StoreFiles(copy.path)).scan(after: 0, limit: 1_000) { stored in
            guard stored.event.header.dot.origin == sample.own else { return true }
            range.append(SHA256().leaf(of: stored.event), using: SHA256()) { level, _, hash in
                if level == 8 { node = hash }
            }
            return true
        }
        try connection.execute("UPDATE node SET hash = x'\(try #require(node))' WHERE origin = 1")
        try connection.execute("UPDATE head SET root = x'\(tree)' WHERE origin = 1")
        report = try verify(copy)
        #expect(range.root(using: SHA256()) == tree && report.count(of: .heads) == 1, report.text)
        #expect(report.says(.heads, "has a signature that is not that of node"), report.text)
        #expect(report.unsigned == 321)
    }

    // MARK: Other tables

    @Test(
        "Changes of table head name origin and size",
        arguments: [
            "root = substr(root, 1, 31) || x'00'", "root = zeroblob(31)", "root = 'x'", "hlc = hlc + 1",
            "hlc = CAST(hlc AS TEXT) || 'x'", "hlc = -1", "signature = substr(signature, 1, 63) || x'00'",
            "signature = x''", "signature = 7", "size = size - 1", "size = size + 1", "size = 0", "size = -1",
            "size = 'x'", "size = 5.5", "size = 0x7fffffffffffffff", "origin = 77", "origin = 'x'", "origin = 3.5",
        ])
    func head(assignment: String) throws {
        // The origin's own table row is 1; its head is at 321.
        let report = try sample.report(after: "UPDATE head SET \(assignment) WHERE origin = 1")
        #expect(report.findings.contains { $0.check == .heads }, report.text)
        let isMoved = assignment.hasPrefix("origin")
        #expect(report.says(.heads, isMoved ? "unknown ref" : "origin \(sample.own)"), report.text)
    }

    @Test("Deleted heads: all of them is a finding, the newest show as unsigned")
    func deletedHeads() throws {
        let report = try sample.report(after: "DELETE FROM head")
        #expect(report.unsigned == report.events && report.answer == .contradicted, report.text)
        #expect(report.says(.heads, "the head at 321, which the store's mark knows, is missing"), report.text)
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "n")
        let store = try EventStore(opening: folder.path)
        for _ in 0..<3 { _ = try store.appendBlocking((0..<4_000).map { .message("\($0)", user: "u") }) }
        store.close()
        let connection = try Connection(path: StoreFiles(folder.path).log, mode: .write)
        try connection.execute("DELETE FROM head WHERE size = 12001")
        let cut = try verify(folder)
        #expect(cut.unsigned > 0 && cut.unsigned < 12_001, cut.text)
        #expect(cut.counts == [.heads: 1] && cut.seal == .right, cut.text)
    }

    @Test(
        "Changes of table node name origin and range",
        arguments: [
            "hash = zeroblob(32)", "hash = substr(hash, 1, 31) || x'00'", "hash = substr(hash, 2)",
            "hash = CAST(hash AS TEXT)", "hash = 1", "level = 16", "level = 9", "level = 0", "level = -8",
            "level = 'x'", "level = 72", "number = 1", "number = -1", "number = 'x'", "number = 0.5",
            "number = 0x7fffffffffffffff", "origin = 2", "origin = 99", "origin = 'x'",
        ])
    func node(assignment: String) throws {
        let report = try sample.report(after: "UPDATE node SET \(assignment)")
        let range = "origin \(sample.own): the node of level 8 over seqs 1 to 256"
        #expect(report.says(.tree, range), report.text)
        if !assignment.hasPrefix("hash") { #expect(report.says(.tree, "covers no events here"), report.text) }
    }

    @Test(
        "Changes of table origin name the origin",
        arguments: [
            "id = randomblob(16)", "id = x'00'", "id = 'x'", "node = randomblob(32)", "node = x''", "node = 1",
            "key = randomblob(32)", "key = substr(key, 2)", "key = 'x'", "ref = 9",
        ])
    func origin(assignment: String) throws {
        let report = try sample.report(after: "UPDATE origin SET \(assignment) WHERE ref = 2")
        #expect(report.count(of: .origins) >= 1, report.text)
        let busan = "11110000-0000-4000-8000-000000000001"
        let isNamed =
            report.says(.origins, busan) || report.says(.origins, "row 2") || report.says(.origins, "ref 9")
            || report.says(.origins, "all 5 events")
        #expect(isNamed, report.text)
    }

    @Test("A forged key with its node does not fit the origin's first event")
    func forgedKey() throws {
        let key = SigningKey.generate().publicKey
        let report = try sample.report(
            after: """
                UPDATE origin SET key = x'\(hexText(key.rawBytes))', node = x'\(key.nodeID)' WHERE ref = 2
                """)
        #expect(report.says(.origins, "does not name node \(key.nodeID.short) and its key"), report.text)
        #expect(report.says(.heads, "has a signature that is not that of node"), report.text)
    }

    @Test(
        "Changes of table meta are found",
        arguments: [
            "UPDATE meta SET value = 'seoul-2' WHERE key = 'name'", "DELETE FROM meta WHERE key = 'name'",
            "UPDATE meta SET value = 2 WHERE key = 'origin'", "UPDATE meta SET value = 99 WHERE key = 'origin'",
            "UPDATE meta SET value = 'x' WHERE key = 'origin'", "UPDATE meta SET value = NULL WHERE key = 'origin'",
            "UPDATE meta SET value = -1 WHERE key = 'origin'", "UPDATE meta SET key = 'orogin' WHERE key = 'origin'",
            "UPDATE meta SET value = 'a b' WHERE key = 'cluster'", "UPDATE meta SET value = '' WHERE key = 'cluster'",
            "UPDATE meta SET value = CAST(x'ff' AS TEXT) WHERE key = 'cluster'", "DELETE FROM meta",
            "UPDATE meta SET value = value || '0' WHERE key = 'incarnation'",
            "UPDATE meta SET value = 'ABCDEF0123456789' WHERE key = 'incarnation'",
            "UPDATE meta SET value = 1 WHERE key = 'incarnation'", "UPDATE meta SET value = 7 WHERE key = 'file'",
            "UPDATE meta SET value = '2' WHERE key = 'reads'", "INSERT INTO meta VALUES(x'6f64', 'x')",
            "INSERT INTO meta VALUES('skew x', 5)", "INSERT INTO meta VALUES('erasure 5', NULL)",
        ])
    func meta(sql: String) throws {
        let report = try sample.report(after: sql)
        #expect(report.count(of: .origins) >= 1, report.text)
        #expect(report.says(.origins, "meta"), report.text)
    }

    @Test("A key of table meta that a later release may have is no contradiction, whatever its value")
    func laterSettings() throws {
        let report = try sample.report(after: "INSERT INTO meta VALUES('later', 5), ('SKEW x', '5')")
        #expect(report.isIntact && report.answer == .notCovered, report.text)
        #expect(report.notes.contains { $0.contains("SKEW x, later") }, "\(report.notes)")
    }

    @Test(
        "A seal of another type or length is none (INV-4)",
        arguments: ["'abcdefghijklmnop'", "zeroblob(15)", "1", "''"])
    func seals(value: String) throws {
        let report = try sample.report(after: "UPDATE event SET seal = \(value) WHERE position = 20")
        #expect(report.says(.seals, "column seal is neither NULL nor 16 bytes"), report.text)
        #expect(report.names(position: 20))
    }

    @Test(
        "Cluster and incarnation are settings of one store alone: another sound value cannot be told from the first")
    func unsignedSettings() throws {
        let report = try sample.report(
            after: """
                UPDATE meta SET value = 'other' WHERE key = 'cluster';
                UPDATE meta SET value = '0000000000000001' WHERE key = 'incarnation';
                """)
        #expect(report.isIntact, report.text)
    }

    @Test("What the file defines is compared with what it should: indexes, tables, triggers")
    func schema() throws {
        var report = try sample.report(after: "DROP INDEX event_dot")
        #expect(report.says(.index, "index event_dot is missing") && report.findingCount == 1, report.text)
        report = try sample.report(after: "DROP INDEX event_twin; CREATE INDEX event_twin ON event(twin)")
        #expect(report.says(.index, "index event_twin is not defined as it should be"), report.text)
        report = try sample.report(after: "CREATE TRIGGER forget AFTER INSERT ON event BEGIN DELETE FROM head; END")
        #expect(report.says(.database, "trigger forget does not belong here"), report.text)
        report = try sample.report(after: "DROP TABLE head")
        #expect(report.says(.database, "table head is missing"), report.text)
        report = try sample.report(after: "DROP TABLE event")
        #expect(report.says(.database, "table event is missing"), report.text)
        report = try sample.report(after: "ANALYZE")
        #expect(report.isIntact && report.remarks.isEmpty, report.text)
        report = try sample.report(after: "CREATE VIEW all_of_it AS SELECT * FROM event")
        #expect(report.says(.database, "view all_of_it does not belong here"), report.text)
    }

    @Test(
        "A table or an index that a later release may have added is no damage; but what is in a table no one vouches for"
    )
    func laterSchema() throws {
        let report = try sample.report(
            after: "CREATE TABLE blob(ref INTEGER PRIMARY KEY, bytes BLOB); CREATE INDEX event_user ON event(user)")
        #expect(report.isIntact && report.answer == .notCovered, report.text)
        #expect(report.notes.count == 1 && report.notes.contains { $0.hasPrefix("table blob is not known") })
        #expect(
            report.remarks.count == 1 && report.remarks.contains { $0.hasPrefix("index event_user is not known") })
    }

    @Test(
        "A key that flags an origin for its clock names one that is here, and has two numbers; another may say anything"
    )
    func skews() throws {
        let (own, other) = ("skew \(sample.own)", "skew \(OriginID.random())")
        for (key, value, isKnown) in [
            (own, "70000 1795700000000", true), (other, "70000 1795700000000", false), (own, "a secret", false),
            (own, "070000 1", false), ("skew a secret", "70000 1", false), (own.uppercased(), "70000 1", false),
        ] {
            let report = try sample.report(after: "INSERT INTO meta VALUES('\(key)', '\(value)')")
            #expect(report.isIntact && report.notes.contains { $0.contains(key) } != isKnown, report.text)
        }
    }
}

import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Bit by bit: whatever flips in the files of a store is noticed, or carries nothing (D21; RELIABILITY.md has the counts).
/// `SILLOK_TAMPER_STEP=1` tries every bit; otherwise some are tried.
struct TamperMatrixTests {
    /// What becomes of flipped bits.
    private struct Counts: CustomStringConvertible {
        /// Of those tried: `verify` exits 3, or 2, or cannot read the file at all.
        var contradicted = 0, notCovered = 0, refused = 0
        /// The next start refuses, or starts a new origin.
        var atStart = 0
        /// SQLite reads the same rows: free space, and what only SQLite counts in.
        var nothing = 0
        var unnoticed: [String] = []

        var description: String {
            "\(contradicted) contradicted, \(notCovered) not covered, \(refused) unreadable, \(atStart) at the next start, "
                + "\(nothing) carry nothing, \(unnoticed.count) unnoticed"
        }
    }

    private static var step: Int? {
        ProcessInfo.processInfo.environment["SILLOK_TAMPER_STEP"].flatMap { Int($0) }
    }

    /// All that a reader can get out of a log, but for what is named in RELIABILITY.md: seals that heads have taken the
    /// place of, and which release has looked through the log.
    private func content(_ folder: TemporaryFolder) throws -> [String] {
        let connection = try openForReading(StoreFiles(folder.path).log)
        try Schema.check(connection)
        var rows: [String] = []
        let event = EventRow.allColumns.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        let tables: [(columns: [String], rest: String)] = [
            (["type", "name", "tbl_name", "sql"], "sqlite_schema"),
            (["key", "value"], "meta WHERE key <> 'reads'"), (["ref", "text"], "name"),
            (["ref", "id", "node", "key"], "origin"), (["origin", "level", "number", "hash"], "node"),
            (["origin", "size", "root", "hlc", "signature"], "head"),
            (["origin", "size", "head", "root", "hlc", "signature", "proof"], "reach"), (event, "event NOT INDEXED"),
            (["origin", "seq"], "event INDEXED BY event_dot"),
            (["id"], "event INDEXED BY event_id WHERE twin IS NULL"),
        ]
        for (columns, rest) in tables {
            let list = columns.map { "quote(\($0))" }.joined(separator: "||','||")
            let select = try connection.statement("SELECT \(list) FROM \(rest) ORDER BY 1")
            while try select.step() { rows.append(select.text(0)) }
            select.reset()
        }
        return rows
    }

    /// All that stands in tables of the views, but for what is named in RELIABILITY.md: where a merge has ended, the number by
    /// which a process knows its own tails, and capitals in the name of an index's table. When a conversation began and ended is
    /// taken together with its tail, as readers take it.
    private func viewsContent(_ files: StoreFiles) throws -> [String] {
        let connection = try ViewDatabase.connect(files.views)
        var rows: [String] = []
        func read(_ sql: String) throws {
            let select = try connection.statement(sql)
            while try select.step() { rows.append(select.text(0)) }
            select.reset()
        }
        try read(
            "SELECT quote(type)||quote(name)||lower(quote(tbl_name))||quote(sql) FROM sqlite_schema ORDER BY type, name"
        )
        var tables: [String] = []
        let names = try connection.statement(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
        while try names.step() { tables.append(names.text(0)) }
        names.reset()
        for table in tables {
            var columns: [String] = []
            let info = try connection.statement("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
            while try info.step() {
                let name = info.text(0)
                switch name {
                case "epoch" where table.hasSuffix("_merge"): continue
                case "first_time", "first_hlc", "last_time", "last_hlc": continue
                case "owner", "time", "hlc", "position":
                    let isCursor = table.hasSuffix("_merge")
                    columns.append(isCursor ? "quote(iif(applied < merging, \(name), 0))" : "quote(\(name))")
                default: columns.append("quote(\(name))")
                }
            }
            info.reset()
            try read(
                "SELECT '\(table) '||\(columns.joined(separator: "||','||")) FROM \(table) NOT INDEXED ORDER BY 1")
        }
        let conversations = try ComparedRows.conversations(connection)
        while let row = try conversations.next() { rows.append("ends \(row.key) \(row.values.suffix(5))") }
        return rows
    }

    /// What a flipped bit of the views comes to: `verify --views` names it, or nothing is answered from such views.
    private func judgeViews(_ files: StoreFiles, _ original: [String], _ place: String, _ counts: inout Counts) throws
    {
        let report: ViewsReport
        do throws(StoreError) { report = try ViewsCheck(files).run() } catch {
            counts.refused += 1
            return
        }
        if !report.isIntact {
            counts.contradicted += 1
        } else if report.position < (try LogReader(files).top()) {
            counts.notCovered += 1
        } else if let now = try? viewsContent(files), now == original {
            counts.nothing += 1
        } else {
            let now = (try? viewsContent(files)) ?? []
            counts.unnoticed.append("\(place): \(now.filter { !original.contains($0) }.prefix(2))")
        }
    }

    /// What a flipped bit comes to.
    private func judge(_ folder: TemporaryFolder, _ original: [String], _ place: String, _ counts: inout Counts)
        throws
    {
        do throws(StoreError) {
            switch try Verifier(StoreFiles(folder.path)).run().answer {
            case .contradicted:
                counts.contradicted += 1
                return
            case .notCovered:
                counts.notCovered += 1
                return
            case .proven: break
            }
        } catch {
            counts.refused += 1
            return
        }
        if let now = try? content(folder), now == original {
            counts.nothing += 1
            return
        }
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
        guard let store = try? EventStore(opening: copy.path, surroundings: HostFingerprint(machine: nil, file: 1))
        else {
            counts.atStart += 1
            return
        }
        defer { store.close() }
        if store.originChange != nil {
            counts.atStart += 1
        } else {
            counts.unnoticed.append(place)
        }
    }

    /// Flips bits of a file of the store in `folder`.
    private func flips(_ folder: TemporaryFolder, _ name: String, samples: Int) throws -> Counts {
        let original = try content(folder)
        return try flips(folder, name, samples: samples) { place, counts in
            try judge(folder, original, place, &counts)
        }
    }

    private func flips(
        _ folder: TemporaryFolder, _ name: String, samples: Int, _ judge: (String, inout Counts) throws -> Void
    ) throws -> Counts {
        let path = folder.path + "/" + name
        let bytes = try #require(FileManager.default.contents(atPath: path))
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        var counts = Counts()
        let bits = bytes.count * 8
        // A prime step meets bits of all significances, in all parts.
        for bit in stride(from: 0, to: bits, by: Self.step ?? max(1, bits / samples) | 1) {
            try handle.seek(toOffset: UInt64(bit / 8))
            try handle.write(contentsOf: [bytes[bit / 8] ^ (1 << UInt8(bit % 8))])
            try judge("\(name) byte \(bit / 8) bit \(bit % 8)", &counts)
            try handle.seek(toOffset: UInt64(bit / 8))
            try handle.write(contentsOf: [bytes[bit / 8]])
        }
        print("TAMPER \(name): \(bits) bits: \(counts)")
        return counts
    }

    /// A store of two origins, with an erased event and a stored reach, as an orderly end leaves it.
    private func store() throws -> (TemporaryFolder, EventStore) {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "seoul-1")
        let store = try EventStore(opening: folder.path, surroundings: HostFingerprint(machine: nil, file: 1))
        _ = try store.appendBlocking((0..<6).map { .message("말 \($0)", user: "u-\($0 % 2)", conversation: "c") })
        var busan = ForeignOrigin(1, name: "busan-1")
        busan.add(.message("부산", user: "u-b"))
        try busan.send(to: store)
        _ = try store.appendBlocking([.message("끝", user: "u-1")])
        try store.flushBlocking()
        return (folder, store)
    }

    @Test("Of log.db no flipped bit goes unnoticed that carries something")
    func log() throws {
        let (folder, store) = try store()
        store.close()
        #expect(try verify(folder).answer == .proven)
        let counts = try flips(folder, "log.db", samples: 400)
        #expect(counts.unnoticed.isEmpty, "\(counts.unnoticed)")
        #expect(counts.contradicted > counts.nothing / 20)
    }

    @Test("Of log.db-wal no flipped bit goes unnoticed that carries something")
    func wal() throws {
        let (folder, store) = try store()
        let killed = TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path, toPath: killed.path)
        store.close()
        withExtendedLifetime(folder) {}
        #expect(try verify(killed).answer == .proven)
        let counts = try flips(killed, "log.db-wal", samples: 400)
        #expect(counts.unnoticed.isEmpty, "\(counts.unnoticed)")
        #expect(counts.contradicted > 0)
    }

    @Test("Of mark.json and of the witness no flipped bit goes unnoticed")
    func mark() throws {
        let (folder, store) = try store()
        store.close()
        let counts = try flips(folder, "mark.json", samples: 200)
        #expect(counts.unnoticed.isEmpty, "\(counts.unnoticed)")
        #expect(counts.notCovered > 0)
    }

    @Test("Of views.db no flipped bit goes unnoticed by verify --views that carries something (D21)")
    func views() throws {
        let (folder, store) = try store()
        let files = StoreFiles(folder.path)
        let message = EventID(UUIDBits(high: 0x1d, low: 5))
        _ = try store.appendBlocking([
            .json(
                "conversation.started", #"{"title":"제목","category":"text","participants":["p"],"moderators":["m"]}"#),
            .json("profile.changed", #"{"fields":{"name":"김"}}"#),
            .json("survey.answered", #"{"survey":"s","question":"q","rating":3}"#),
            .json("message.edited", #"{"message":"\#(message)","text":"고침"}"#),
            .json("message.posted", #"{"text":7}"#),
        ])
        store.close()
        // Some rows merged, some in the tails.
        do {
            let projector = try Projector(files, tails: ViewMemtables(generation: 8))
            while projector.position < 9 { try projector.step(through: 9, limit: 3) }
            while projector.pending > 0 { try projector.merge() }
            try projector.catchUp()
        }
        let mold = try #require(FileManager.default.contents(atPath: files.views))
        #expect(try ViewsCheck(files).run().isIntact && mold.count > 40_960)
        let original = try viewsContent(files)
        let counts = try flips(folder, "views.db", samples: 200) { place, counts in
            try judgeViews(files, original, place, &counts)
        }
        #expect(counts.unnoticed.isEmpty, "\(counts.unnoticed)")
        #expect(counts.contradicted > 0)
    }
}

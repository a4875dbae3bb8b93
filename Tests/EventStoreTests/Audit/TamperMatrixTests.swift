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
        let path = folder.path + "/" + name
        let original = try content(folder)
        let bytes = try #require(FileManager.default.contents(atPath: path))
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        var counts = Counts()
        let bits = bytes.count * 8
        // A prime step meets bits of all significances, in all parts.
        for bit in stride(from: 0, to: bits, by: Self.step ?? max(1, bits / samples) | 1) {
            try handle.seek(toOffset: UInt64(bit / 8))
            try handle.write(contentsOf: [bytes[bit / 8] ^ (1 << UInt8(bit % 8))])
            try judge(folder, original, "\(name) byte \(bit / 8) bit \(bit % 8)", &counts)
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
}

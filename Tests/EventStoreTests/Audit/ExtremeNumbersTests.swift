import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Numbers that no writer puts there, in each column of the log: readers and writers say so, and live (D22).
struct ExtremeNumbersTests {
    private static let sample = Result { try SampleStore() }

    @Test(
        "No number in any column ends a reader, a writer, a backup or a replay",
        arguments: [Int64.max, .min, 1 << 50])
    func anywhere(number: Int64) throws {
        let sample = try Self.sample.get()
        let log = try Connection(path: StoreFiles(sample.folder.path).log, mode: .read)
        let columns = try log.all(
            """
            SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
            WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY 1, c.cid
            """
        ) { ($0.text(0), $0.text(1)) }
        #expect(columns.count > 30)
        for (table, column) in columns {
            let folder = try sample.damaged { connection in
                let rows = try connection.integer("SELECT count(*) FROM \(table)") ?? 0
                try? connection.execute(
                    "UPDATE \(table) SET \(column) = \(number) WHERE rowid = (SELECT rowid FROM \(table) LIMIT 1 OFFSET \(rows / 2))"
                )
            }
            use(StoreFiles(folder.path))
        }
    }

    @Test(
        "A time of arrival, or its position, that cannot be is named, and hinders nobody who does not need it",
        arguments: [
            "time = \(Int64.min)", "time = \(Int64.max)", "time = 'noon'", "position = \(Int64.max)", "position = -1",
            "position = \(Int64(Limits.number) + 1)", "position = 329",
            // Where the next event comes to stand.
            "position = 328, time = 0",
        ])
    func arrivals(change: String) throws {
        let sample = try Self.sample.get()
        let folder = try sample.damaged {
            try $0.execute("UPDATE arrival SET \(change) WHERE position = (SELECT max(position) FROM arrival)")
        }
        let report = try verify(folder)
        #expect(report.says(.positions, "table arrival"), report.text)
        if !["-1", "'noon'", "329", "time = 0"].contains(where: change.hasSuffix) {
            #expect(throws: StoreError.self) { try LogReader(StoreFiles(folder.path)).known(at: WallClock.now) }
        }
        let store = try EventStore(opening: folder.path)
        defer { store.close() }
        #expect(try store.appendBlocking([.message("다음", user: "u")]).first?.receipt != nil)
    }

    private func use(_ files: StoreFiles) {
        _ = try? Verifier(files).run()
        if let log = try? LogReader(files) {
            for time in [Int64.min, 0, WallClock.now, .max] { _ = try? log.known(at: time) }
            for position in [UInt64(1), 20, 150, 308] { _ = try? log.event(at: position) }
        }
        if let source = try? BackupSource(files) {
            _ = try? source.extent()
            if let top = try? source.top() {
                _ = try? source.piece(after: 0, through: min(top, 1_000))
                _ = try? source.holes(after: 0, through: min(top, 1_000))
            }
        }
        _ = try? StoreReplay(files).make(in: files.folder + "/replayed")
        _ = try? Projector.catchUp(files)
        if let views = try? ViewReader(files) {
            _ = try? views.history(user: "u-1", TimelineQuery()) { _ in true }
        }
        if let store = try? EventStore(opening: files.folder) {
            _ = try? store.appendBlocking([.message("다음", user: "u-1")])
            store.close()
        }
    }
}

internal import Glibc

/// Puts a log together from pages. It begins as a copy of this node's own small log, so whatever the store keeps there
/// stays; table `event` and its indexes are made of the pages, and SQLite adds the small tables at the end.
///
/// Used by one thread at a time.
final class LogFileBuilder {
    private struct Roots {
        var event: UInt32 = 0
        var dot: UInt32 = 0
        var id: UInt32 = 0
        var name: UInt32 = 0
        var text: UInt32 = 0
    }

    private let folder: SnapshotFolder
    private let roots: Roots
    private let file: PageFile
    private var table: TableTreeBuilder
    private let ids: SortedRuns
    private let dots: SortedRuns
    /// The scratch database, for ``Sequencer``.
    let scratch: Connection

    /// Begins anew in `folder`.
    init(_ folder: SnapshotFolder) throws(DatabaseError) {
        self.folder = folder
        folder.removeParts()
        do {
            let own = try Connection(path: folder.files.log, mode: .read)
            // Goes for what is written: copies, of which one is synced when it is complete and the other never.
            try own.execute("PRAGMA synchronous = OFF")
            for path in [folder.log, folder.scratch] {
                let quoted = path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
                try own.execute("VACUUM INTO '\(quoted)'")
            }
        }
        do {
            let part = try Self.open(folder.log)
            roots = try Self.roots(part)
            try part.execute(
                "DELETE FROM event; DELETE FROM node; DELETE FROM head; DELETE FROM name; DELETE FROM origin;")
            try part.execute(Schema.added + "DELETE FROM arrival; DELETE FROM tile;")
        }
        scratch = try Self.open(folder.scratch)
        try scratch.execute(Self.empty)
        file = try PageFile(path: folder.log)
        table = TableTreeBuilder(file: file)
        ids = try SortedRuns(path: folder.ids)
        dots = try SortedRuns(path: folder.dots)
    }

    /// Leaves names and origins of a log alone.
    static let empty = "DELETE FROM event; DELETE FROM node; DELETE FROM head;" + Schema.added + "DELETE FROM tile;"

    /// Opens a file that is worth nothing until it is complete.
    private static func open(_ path: String) throws(DatabaseError) -> Connection {
        let connection = try Connection(path: path, mode: .write)
        try connection.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384;")
        return connection
    }

    /// Where table `event` and its indexes hang. A table with more indexes than this knows is not built here.
    private static func roots(_ connection: Connection) throws(DatabaseError) -> Roots {
        var roots = Roots()
        let select = try connection.statement(
            "SELECT name, rootpage FROM sqlite_schema WHERE tbl_name IN ('event', 'name')")
        defer { select.reset() }
        while try select.step() {
            let page = UInt32(truncatingIfNeeded: select.int64(1))
            switch select.text(0) {
            case "event": roots.event = page
            case "event_dot": roots.dot = page
            case "event_id": roots.id = page
            case "name": roots.name = page
            case "sqlite_autoindex_name_1": roots.text = page
            case "event_twin": break
            default:
                throw .misuse("a log with index \(select.text(0)) is not made page by page")
            }
        }
        guard roots.event > 1, roots.dot > 1, roots.id > 1, roots.name > 1, roots.text > 1 else {
            throw .damaged(.file(connection.path), "a table or an index is missing")
        }
        return roots
    }

    /// Adds rows, in the order of their positions.
    func add(_ rows: inout RowLeaves) throws(DatabaseError) {
        var table = table
        try file.append(&rows.leaves) { number, key throws(DatabaseError) in
            try table.add(leaf: number, lastKey: key)
        }
        self.table = table
        try ids.add(rows.ids)
        try dots.add(rows.dots)
    }

    /// The indexes of table `event`, and table `name` if all names were in memory: they are being built.
    struct Indexes {
        fileprivate let work: [IndexBuilder]
        fileprivate let twins: SortedRuns
        fileprivate let jobs: JobPool<DatabaseError>
        fileprivate let hasNames: Bool
    }

    /// All rows are here: begins to build what is made of them and of `names` alone, each index on `threads` threads.
    func beginIndexes(_ names: NameList?, threads: Int) throws(DatabaseError) -> Indexes {
        let twins = try SortedRuns(path: folder.twins)
        let work = [
            try IndexBuilder(.ids(twins: twins), ids, file: file, root: roots.id, most: threads),
            try IndexBuilder(.dots, dots, file: file, root: roots.dot, most: threads),
        ]
        var jobs = work.flatMap(\.jobs)
        let names = names.flatMap { $0.isLong ? nameWork(.memory($0)) : nil }
        if let names { jobs += names.jobs }
        // The thread that goes on from here takes part, too, once it has nothing else to do.
        return Indexes(
            work: work, twins: twins, jobs: JobPool(jobs, threads: threads - 1), hasNames: names != nil)
    }

    private func nameWork(_ source: NameWork.Source) -> NameWork {
        NameWork(file: file, source: source, tableRoot: roots.name, indexRoot: roots.text)
    }

    /// Completes the log; it is durable under `path` when this returns. The scratch database must be committed.
    ///
    /// - Parameters:
    ///   - wall: When all of it came.
    ///   - skews: Origins to be flagged for their clocks.
    func finish(
        _ indexes: Indexes, as path: String, wall: Int64, skews: [(origin: OriginID, skew: ClockSkew)]
    ) throws(DatabaseError) {
        let hasNames = try scratch.integer("SELECT max(ref) FROM fresh") ?? 0 >= NameWork.fewest
        if hasNames, !indexes.hasNames { indexes.jobs.add(nameWork(.database(folder.scratch)).jobs) }
        try indexes.jobs.finish()
        for index in indexes.work { try index.finish() }
        try table.finish(root: roots.event)
        try file.finish()
        do {
            let connection = try Self.open(folder.log)
            try addSmallTables(connection, hasNames: hasNames)
            try connection.run("INSERT INTO arrival(position, time) VALUES(1, ?)", .integer(wall))
            for (origin, skew) in skews {
                try Schema.setMeta("skew \(origin)", .text(skew.text), on: connection)
            }
        }
        try mark(indexes.twins)
        let descriptor = Glibc.open(folder.log, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0, fsync(descriptor) == 0, close(descriptor) == 0, rename(folder.log, path) == 0 else {
            throw .file(.system(path))
        }
        do { try SmallFile.syncFolder(of: path) } catch { throw .file(error) }
    }

    private func addSmallTables(_ connection: Connection, hasNames: Bool) throws(DatabaseError) {
        let quoted = folder.scratch.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        try connection.execute("ATTACH '\(quoted)' AS scratch")
        try connection.transaction { () throws(DatabaseError) in
            try connection.execute(
                """
                \(hasNames ? "" : "INSERT INTO main.name SELECT ref, text FROM scratch.fresh ORDER BY ref;")
                INSERT INTO main.origin SELECT * FROM scratch.origin ORDER BY ref;
                INSERT INTO main.node SELECT * FROM scratch.node ORDER BY origin, level, number;
                INSERT INTO main.tile SELECT * FROM scratch.tile ORDER BY position;
                INSERT INTO main.head SELECT * FROM scratch.head ORDER BY origin, size;
                INSERT OR REPLACE INTO main.reach SELECT * FROM scratch.reach ORDER BY origin;
                """)
        }
        try connection.execute("DETACH scratch")
    }

    /// Marks what has the id of an earlier event. The index on ids is complete without them; told of a change, SQLite would
    /// take the entry of the first such event for the changed one's and remove it. So it does not see that index meanwhile.
    private func mark(_ twins: SortedRuns) throws(DatabaseError) {
        guard twins.count > 0 else { return }
        let text = try Self.open(folder.log).hideSchema(of: "event_id")
        do {
            let connection = try Self.open(folder.log)
            let twins = try twins.sorted()
            try connection.transaction { () throws(DatabaseError) in
                let update = try connection.statement("UPDATE event SET twin = ? WHERE position = ?")
                try twins.merge { twin throws(DatabaseError) in
                    try update.bind(1, twin.b)
                    try update.bind(2, twin.a)
                    try update.run()
                }
            }
        }
        try Self.open(folder.log).restoreSchema(of: "event_id", on: "event", root: roots.id, sql: text)
    }
}

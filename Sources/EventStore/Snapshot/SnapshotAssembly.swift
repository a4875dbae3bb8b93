internal import Glibc

/// Puts a log together from pages. It begins as a copy of this node's own small log, so whatever the store keeps there
/// stays; table `event` and its indexes are made of the pages, and SQLite adds the small tables at the end.
///
/// Used by one thread at a time.
final class SnapshotAssembly {
    private struct Roots {
        var event: UInt32 = 0
        var dot: UInt32 = 0
        var id: UInt32 = 0
    }

    private let folder: SnapshotFolder
    private let roots: Roots
    private let file: PageFile
    private var table: TableTreeBuilder
    private let ids: IndexRuns
    private let dots: IndexRuns
    /// The scratch database, for ``SnapshotSequencer``.
    let scratch: Connection

    /// Begins anew in `folder`.
    init(_ folder: SnapshotFolder) throws(SQLiteError) {
        self.folder = folder
        folder.removeParts()
        do {
            let own = try Connection(path: folder.files.log, mode: .read)
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
        }
        scratch = try Self.open(folder.scratch)
        try scratch.execute("DELETE FROM event; DELETE FROM node; DELETE FROM head;")
        file = try PageFile(path: folder.log)
        table = TableTreeBuilder(file: file)
        ids = try IndexRuns(path: folder.ids)
        dots = try IndexRuns(path: folder.dots)
    }

    /// Opens a file that is worth nothing until it is complete.
    private static func open(_ path: String) throws(SQLiteError) -> Connection {
        let connection = try Connection(path: path, mode: .write)
        try connection.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384;")
        return connection
    }

    /// Where table `event` and its indexes hang. A table with more indexes than this knows is not built here.
    private static func roots(_ connection: Connection) throws(SQLiteError) -> Roots {
        var roots = Roots()
        let select = try connection.statement("SELECT name, rootpage FROM sqlite_schema WHERE tbl_name = 'event'")
        defer { select.reset() }
        while try select.step() {
            let page = UInt32(truncatingIfNeeded: select.int64(1))
            switch select.text(0) {
            case "event": roots.event = page
            case "event_dot": roots.dot = page
            case "event_id": roots.id = page
            case "event_twin": break
            default:
                throw SQLiteError(extendedCode: 1, message: "unknown index \(select.text(0))", context: "event")
            }
        }
        guard roots.event > 1, roots.dot > 1, roots.id > 1 else {
            throw SQLiteError(extendedCode: 11, message: "table event lacks an index", context: "event")
        }
        return roots
    }

    /// Adds rows, in the order of their positions.
    func add(_ rows: inout BuiltRows) throws(SQLiteError) {
        var table = table
        try file.append(&rows.leaves) { number, key throws(SQLiteError) in
            try table.add(leaf: number, lastKey: key)
        }
        self.table = table
        try ids.add(rows.ids)
        try dots.add(rows.dots)
    }

    /// Completes the log; it is durable under `path` when this returns. The scratch database must be committed.
    func finish(as path: String) throws(SQLiteError) {
        try table.finish(root: roots.event)
        let twins = try finishIndexes()
        try file.finish()
        do {
            let connection = try Self.open(folder.log)
            try addSmallTables(connection)
        }
        try mark(twins)
        let descriptor = Glibc.open(folder.log, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0, fsync(descriptor) == 0, close(descriptor) == 0, rename(folder.log, path) == 0 else {
            throw SQLiteError(extendedCode: 10, message: String(cString: strerror(errno)), context: path)
        }
        do { try SmallFile.syncFolder(of: path) } catch {
            throw SQLiteError(extendedCode: 10, message: error.description, context: path)
        }
    }

    private func addSmallTables(_ connection: Connection) throws(SQLiteError) {
        let quoted = folder.scratch.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        try connection.execute("ATTACH '\(quoted)' AS scratch")
        try connection.transaction { () throws(SQLiteError) in
            try connection.execute(
                """
                INSERT INTO main.name SELECT ref, text FROM scratch.name ORDER BY ref;
                INSERT INTO main.origin SELECT * FROM scratch.origin ORDER BY ref;
                INSERT INTO main.node SELECT * FROM scratch.node ORDER BY origin, level, number;
                INSERT INTO main.head SELECT * FROM scratch.head ORDER BY origin, size;
                """)
        }
        try connection.execute("DETACH scratch")
    }

    /// Marks what has the id of an earlier event. The index on ids is complete without them; told of a change, SQLite would
    /// take the entry of the first such event for the changed one's and remove it. So it does not see that index meanwhile.
    private func mark(_ twins: IndexRuns) throws(SQLiteError) {
        guard twins.count > 0 else { return }
        let text = try Self.open(folder.log).hideSchema(of: "event_id")
        do {
            let connection = try Self.open(folder.log)
            try connection.transaction { () throws(SQLiteError) in
                let update = try connection.statement("UPDATE event SET twin = ? WHERE position = ?")
                try twins.merge { twin throws(SQLiteError) in
                    try update.bind(1, twin.b)
                    try update.bind(2, twin.a)
                    try update.run()
                }
            }
        }
        try Self.open(folder.log).restoreSchema(of: "event_id", on: "event", root: roots.id, sql: text)
    }

    // MARK: Indexes

    /// Builds both indexes, each on a thread of its own, and returns the twins: position and position of the first.
    private func finishIndexes() throws(SQLiteError) -> IndexRuns {
        let work = IndexWork(
            file: file, ids: ids, dots: dots, idRoot: roots.id, dotRoot: roots.dot,
            twins: try IndexRuns(path: folder.twins))
        let failure = Lock<SQLiteError?>(nil)
        let thread = WorkerThread(name: "snapshot-index") {
            do throws(SQLiteError) { try work.buildDots() } catch { failure.withLock { $0 = error } }
        }
        var mine: SQLiteError?
        do throws(SQLiteError) { try work.buildIDs() } catch { mine = error }
        thread.join()
        if let error = failure.withLock({ $0 }) ?? mine { throw error }
        return work.twins
    }
}

/// The two indexes being built.
///
/// `@unchecked Sendable`: one thread touches `dots`, another `ids` and `twins`; the page file has a lock.
private final class IndexWork: @unchecked Sendable {
    private let file: PageFile
    private let ids: IndexRuns
    private let dots: IndexRuns
    private let idRoot: UInt32
    private let dotRoot: UInt32
    let twins: IndexRuns

    init(file: PageFile, ids: IndexRuns, dots: IndexRuns, idRoot: UInt32, dotRoot: UInt32, twins: IndexRuns) {
        self.file = file
        self.ids = ids
        self.dots = dots
        self.idRoot = idRoot
        self.dotRoot = dotRoot
        self.twins = twins
    }

    func buildDots() throws(SQLiteError) {
        var tree = IndexTreeBuilder(file: file)
        let entry = IndexRecord()
        try dots.merge { item throws(SQLiteError) in
            let count = entry.write(dot: item)
            try tree.add(UnsafeRawBufferPointer(start: entry.bytes, count: count))
        }
        try tree.finish(root: dotRoot)
    }

    func buildIDs() throws(SQLiteError) {
        var tree = IndexTreeBuilder(file: file)
        let entry = IndexRecord()
        var first: IndexEntry?
        var found: [IndexEntry] = []
        try ids.merge { item throws(SQLiteError) in
            if let first, first.a == item.a, first.b == item.b {
                found.append(IndexEntry(a: item.position, b: first.position, position: 0))
                if found.count == 4_096 { try flush(&found) }
                return
            }
            first = item
            let count = entry.write(id: item)
            try tree.add(UnsafeRawBufferPointer(start: entry.bytes, count: count))
        }
        try flush(&found)
        try tree.finish(root: idRoot)
    }

    private func flush(_ found: inout [IndexEntry]) throws(SQLiteError) {
        found.sort()
        try twins.add(found)
        found.removeAll(keepingCapacity: true)
    }
}

/// An entry of an index: a record with its length before it.
private final class IndexRecord {
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)

    deinit { bytes.deallocate() }

    func write(dot: IndexEntry) -> Int {
        var record = Record(bytes + 1)
        let numbers = [Int64(bitPattern: dot.a), Int64(bitPattern: dot.b), Int64(bitPattern: dot.position)]
        for number in numbers { record.integer(number) }
        record.headerEnded()
        for number in numbers { record.body(number) }
        return finish(record)
    }

    func write(id: IndexEntry) -> Int {
        var record = Record(bytes + 1)
        record.type(UInt64(16 * 2 + 12))
        record.integer(Int64(bitPattern: id.position))
        record.headerEnded()
        record.body(UUIDBits(high: id.a, low: id.b))
        record.body(Int64(bitPattern: id.position))
        return finish(record)
    }

    private func finish(_ record: Record) -> Int {
        _ = PageFormat.putVarint(UInt64(record.count), bytes, 0)
        return record.count + 1
    }
}

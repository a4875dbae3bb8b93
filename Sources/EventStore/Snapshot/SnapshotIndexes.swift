/// Builds the two indexes of table `event` that a snapshot needs, and finds the twins.
///
/// `@unchecked Sendable`: one thread touches `dots`, another `ids` and `twins`; the page file has a lock.
final class IndexWork: @unchecked Sendable {
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
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: 512, alignment: 16)
    /// Where the entry begins.
    private(set) lazy var start = bytes

    deinit { bytes.deallocate() }

    func write(dot: IndexEntry) -> Int {
        var record = Record(bytes + 1)
        let (origin, seq) = (Int64(bitPattern: dot.a), Int64(bitPattern: dot.b))
        let position = Int64(bitPattern: dot.position)
        record.integer(origin)
        record.integer(seq)
        record.integer(position)
        record.headerEnded()
        record.body(origin)
        record.body(seq)
        record.body(position)
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

    func write(text: UnsafeRawBufferPointer, ref: Int64) -> Int {
        var record = Record(bytes + 2)
        record.type(UInt64(text.count * 2 + 13))
        record.integer(ref)
        record.headerEnded()
        record.body(text)
        record.body(ref)
        // Two bytes for the length, whether it needs them or not: they are at the front, and one may be left out.
        guard record.count >= 0x80 else {
            let count = record.count
            _ = PageFormat.putVarint(UInt64(count), bytes, 1)
            start = bytes + 1
            return count + 1
        }
        _ = PageFormat.putVarint(UInt64(record.count), bytes, 0)
        start = bytes
        return record.count + 2
    }

    private func finish(_ record: Record) -> Int {
        _ = PageFormat.putVarint(UInt64(record.count), bytes, 0)
        return record.count + 1
    }
}

/// Builds table `name` and its index out of the scratch database.
struct NameWork: Sendable {
    /// With fewer names a tree might have one page only; SQLite inserts those.
    static let fewest: Int64 = 2_000

    let file: PageFile
    let scratch: String
    let tableRoot: UInt32
    let indexRoot: UInt32

    func buildTable() throws(SQLiteError) {
        let connection = try Connection(path: scratch, mode: .read)
        let select = try connection.statement("SELECT ref, text FROM fresh ORDER BY ref")
        defer { select.reset() }
        var tree = TableTreeBuilder(file: file)
        var run = LeafRun()
        run.empty(capacity: 1 << 20)
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: 512, alignment: 16)
        defer { bytes.deallocate() }
        while try select.step() {
            let ref = select.int64(0)
            let count = select.withBytes(1) { text in
                var record = Record(bytes)
                record.null()
                record.type(UInt64(text.count * 2 + 13))
                record.headerEnded()
                record.body(text)
                return record.count
            }
            run.add(ref, UnsafeRawBufferPointer(start: bytes, count: count))
            if run.bytes.count >= 1 << 20 { try flush(&run, &tree) }
        }
        try flush(&run, &tree)
        try tree.finish(root: tableRoot)
    }

    private func flush(_ run: inout LeafRun, _ tree: inout TableTreeBuilder) throws(SQLiteError) {
        run.finish()
        var changed = tree
        try file.append(&run) { number, key throws(SQLiteError) in try changed.add(leaf: number, lastKey: key) }
        tree = changed
        run.empty(capacity: 1 << 20)
    }

    func buildIndex() throws(SQLiteError) {
        let connection = try Connection(path: scratch, mode: .read)
        let select = try connection.statement("SELECT text, ref FROM fresh ORDER BY text")
        defer { select.reset() }
        var tree = IndexTreeBuilder(file: file)
        let entry = IndexRecord()
        while try select.step() {
            let ref = select.int64(1)
            let count = select.withBytes(0) { entry.write(text: $0, ref: ref) }
            try tree.add(UnsafeRawBufferPointer(start: entry.start, count: count))
        }
        try tree.finish(root: indexRoot)
    }
}

/// Runs jobs on threads of their own; the first error of one of them is thrown when all have ended.
func runSideBySide(_ jobs: [@Sendable () throws(SQLiteError) -> Void]) throws(SQLiteError) {
    let failure = Lock<SQLiteError?>(nil)
    let threads = jobs.map { job in
        WorkerThread(name: "snapshot-index") {
            do throws(SQLiteError) { try job() } catch { failure.withLock { $0 = $0 ?? error } }
        }
    }
    for thread in threads { thread.join() }
    if let error = failure.withLock({ $0 }) { throw error }
}

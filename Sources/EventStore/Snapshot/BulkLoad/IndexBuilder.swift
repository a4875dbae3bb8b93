/// Builds an index of table `event`, in parts by several threads, and finds the twins.
/// A part of the work on a snapshot's indexes.
typealias SnapshotJob = JobPool<DatabaseError>.Job

///
/// `@unchecked Sendable`: the twins are behind a lock, as is what has been built; all else does not change.
final class IndexBuilder: @unchecked Sendable {
    enum Kind {
        case dots
        /// An id stands once in its index. What has the id of an earlier event is added to `twins`.
        case ids(twins: SortedRuns)
    }

    /// A part of the index.
    private struct Part {
        /// Its first entry, which does not stand in a leaf; not of the first part.
        var first: [UInt8]?
        var leaves: IndexLeaves
    }

    private let file: PageFile
    private let entries: SortedEntries
    private let parts: [SortedEntries.Part]
    private let kind: Kind
    private let root: UInt32
    private let built = Lock<[Int: Part]>([:])

    /// - Parameters:
    ///   - most: How many parts at most.
    ///   - fewest: How many entries a part has, about, at least.
    init(
        _ kind: Kind, _ runs: SortedRuns, file: PageFile, root: UInt32, most: Int, fewest: Int = SortedEntries.fewest
    ) throws(DatabaseError) {
        self.kind = kind
        self.file = file
        self.root = root
        entries = try runs.sorted()
        parts = entries.parts(most: most, fewest: fewest)
    }

    /// What several threads may do at once; then ``finish()``.
    var jobs: [SnapshotJob] {
        var jobs: [SnapshotJob] = []
        for number in parts.indices {
            let job: SnapshotJob = { () throws(DatabaseError) in try self.build(number) }
            jobs.append(job)
        }
        return jobs
    }

    private func build(_ number: Int) throws(DatabaseError) {
        var part = Part(leaves: IndexLeaves(file: file))
        let record = IndexRecord()
        var last: IndexEntry?
        var twins: [IndexEntry] = []
        try entries.merge(parts[number]) { item throws(DatabaseError) in
            let count: Int
            switch kind {
            case .dots: count = record.write(dot: item)
            case .ids:
                if let last, last.a == item.a, last.b == item.b {
                    twins.append(IndexEntry(a: item.position, b: last.position, position: 0))
                    if twins.count == 4_096 { try flush(&twins) }
                    return
                }
                last = item
                count = record.write(id: item)
            }
            let entry = UnsafeRawBufferPointer(start: record.bytes, count: count)
            if number > 0, part.first == nil { part.first = Array(entry) } else { try part.leaves.add(entry) }
        }
        try flush(&twins)
        built.withLock { $0[number] = part }
    }

    private func flush(_ found: inout [IndexEntry]) throws(DatabaseError) {
        guard case .ids(let twins) = kind else { return }
        found.sort()
        try built.withLock { _ throws(DatabaseError) in try twins.add(found) }
        found.removeAll(keepingCapacity: true)
    }

    /// Puts the parts together.
    func finish() throws(DatabaseError) {
        let parts = built.withLock { built in self.parts.indices.compactMap { built[$0] } }
        var tree = IndexTreeBuilder(file: file)
        var leaves = parts.first?.leaves ?? IndexLeaves(file: file)
        for part in parts.dropFirst() {
            let first = part.first ?? []
            if part.leaves.isEmpty {
                let result = first.withUnsafeBytes { raw in Result { () throws(DatabaseError) in try leaves.add(raw) }
                }
                try result.get()
            } else {
                try tree.add(leaves, divider: first)
                leaves = part.leaves
            }
        }
        try tree.finish(leaves, root: root)
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

/// Builds table `name` and its index.
struct NameWork: Sendable {
    enum Source {
        case memory(NameList)
        /// The scratch database at this path.
        case database(String)
    }

    /// With fewer names a tree might have one page only; SQLite inserts those.
    static let fewest: Int64 = 2_000

    let file: PageFile
    let source: Source
    let tableRoot: UInt32
    let indexRoot: UInt32

    /// What two threads may do at once.
    var jobs: [SnapshotJob] { [buildTable, buildIndex] }

    private func buildTable() throws(DatabaseError) {
        var tree = TableTreeBuilder(file: file)
        var run = LeafRun()
        run.empty(capacity: 1 << 20)
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: 512, alignment: 16)
        defer { bytes.deallocate() }
        func add(_ ref: Int64, _ text: UnsafeRawBufferPointer) throws(DatabaseError) {
            var record = Record(bytes)
            record.null()
            record.type(UInt64(text.count * 2 + 13))
            record.headerEnded()
            record.body(text)
            run.add(ref, UnsafeRawBufferPointer(start: bytes, count: record.count))
            if run.bytes.count >= 1 << 20 { try flush(&run, &tree) }
        }
        switch source {
        case .memory(let names): try names.each(add)
        case .database(let path): try Self.select("ref, text FROM fresh ORDER BY ref", path, (ref: 0, text: 1), add)
        }
        try flush(&run, &tree)
        try tree.finish(root: tableRoot)
    }

    private func flush(_ run: inout LeafRun, _ tree: inout TableTreeBuilder) throws(DatabaseError) {
        run.finish()
        var changed = tree
        try file.append(&run) { number, key throws(DatabaseError) in try changed.add(leaf: number, lastKey: key) }
        tree = changed
        run.empty(capacity: 1 << 20)
    }

    private func buildIndex() throws(DatabaseError) {
        var leaves = IndexLeaves(file: file)
        let entry = IndexRecord()
        func add(_ ref: Int64, _ text: UnsafeRawBufferPointer) throws(DatabaseError) {
            let count = entry.write(text: text, ref: ref)
            try leaves.add(UnsafeRawBufferPointer(start: entry.start, count: count))
        }
        switch source {
        case .memory(let names): try names.eachByText(add)
        case .database(let path): try Self.select("text, ref FROM fresh ORDER BY text", path, (ref: 1, text: 0), add)
        }
        var tree = IndexTreeBuilder(file: file)
        try tree.finish(leaves, root: indexRoot)
    }

    private static func select(
        _ what: String, _ path: String, _ column: (ref: Int, text: Int),
        _ body: (Int64, UnsafeRawBufferPointer) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let connection = try Connection(path: path, mode: .read)
        let select = try connection.statement("SELECT " + what)
        defer { select.reset() }
        while try select.step() {
            let ref = select.int64(column.ref)
            let result = select.withBytes(column.text) { text in
                Result { () throws(DatabaseError) in try body(ref, text) }
            }
            try result.get()
        }
    }
}

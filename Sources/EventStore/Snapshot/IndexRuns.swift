internal import Glibc

/// What an index says of one row: two numbers it is sorted by, and where the row stands.
struct IndexEntry: Sendable, Comparable {
    var a: UInt64
    var b: UInt64
    var position: UInt64

    @inline(__always)
    static func < (left: IndexEntry, right: IndexEntry) -> Bool {
        if left.a != right.a { return left.a < right.a }
        if left.b != right.b { return left.b < right.b }
        return left.position < right.position
    }
}

extension [IndexEntry] {
    /// Ids are made in order of time and seqs ascend: mostly there is nothing to do.
    mutating func sortIfNeeded() {
        for index in indices.dropFirst() where self[index] < self[index - 1] { return sort() }
    }
}

/// Sorts index entries of any number: sorted runs go to a file and are merged from there. A run that continues the one before
/// becomes part of it.
final class IndexRuns {
    private let path: String
    private let descriptor: Int32
    /// Where each run begins, in entries.
    private var starts: [Int] = []
    private(set) var count = 0
    private var last: IndexEntry?

    init(path: String) throws(SQLiteError) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    private static func failure(_ path: String) -> SQLiteError {
        SQLiteError(
            extendedCode: errno == ENOSPC || errno == EDQUOT ? 13 : 10, message: String(cString: strerror(errno)),
            context: path)
    }

    /// Adds entries in ascending order.
    func add(_ entries: [IndexEntry]) throws(SQLiteError) {
        guard let first = entries.first else { return }
        if let last, last < first {} else { starts.append(count) }
        last = entries.last
        let size = MemoryLayout<IndexEntry>.stride
        let offset = count * size
        var done = 0
        while done < entries.count * size {
            let written = entries.withUnsafeBytes { raw in
                pwrite(descriptor, raw.baseAddress.map { $0 + done }, raw.count - done, off_t(offset + done))
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw Self.failure(path) }
            done += written
        }
        count += entries.count
    }

    /// Calls `body` with all entries in ascending order.
    func merge(_ body: (IndexEntry) throws(SQLiteError) -> Void) throws(SQLiteError) {
        guard count > 0 else { return }
        let bytes = count * MemoryLayout<IndexEntry>.stride
        guard let map = mmap(nil, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0), map != MAP_FAILED else {
            throw Self.failure(path)
        }
        defer { munmap(map, bytes) }
        let entries = UnsafeBufferPointer(start: map.assumingMemoryBound(to: IndexEntry.self), count: count)
        if starts.count == 1 {
            for entry in entries { try body(entry) }
            return
        }
        var heap = MergeHeap(entries, starts)
        while let entry = heap.next() { try body(entry) }
    }
}

/// A binary heap of cursors, the smallest entry on top.
private struct MergeHeap {
    private var cursors: [(entry: IndexEntry, at: Int, end: Int)] = []
    private let entries: UnsafeBufferPointer<IndexEntry>

    init(_ entries: UnsafeBufferPointer<IndexEntry>, _ starts: [Int]) {
        self.entries = entries
        for (index, start) in starts.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1] : entries.count
            cursors.append((entries[start], start, end))
        }
        for index in stride(from: cursors.count / 2, through: 0, by: -1) { sink(index) }
    }

    mutating func next() -> IndexEntry? {
        guard let top = cursors.first else { return nil }
        if top.at + 1 < top.end {
            cursors[0] = (entries[top.at + 1], top.at + 1, top.end)
        } else {
            let last = cursors.removeLast()
            if !cursors.isEmpty { cursors[0] = last }
        }
        sink(0)
        return top.entry
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var least = index
            for child in 2 * index + 1...2 * index + 2
            where child < cursors.count && cursors[child].entry < cursors[least].entry {
                least = child
            }
            if least == index { return }
            cursors.swapAt(index, least)
            index = least
        }
    }
}

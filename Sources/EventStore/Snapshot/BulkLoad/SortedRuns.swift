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
final class SortedRuns {
    private let path: String
    private let descriptor: Int32
    /// Where each run begins, in entries.
    private var starts: [Int] = []
    private(set) var count = 0
    private var last: IndexEntry?

    init(path: String) throws(DatabaseError) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(.system(path)) }
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// Adds entries in ascending order.
    func add(_ entries: [IndexEntry]) throws(DatabaseError) {
        guard let first = entries.first else { return }
        if let last, last < first {} else { starts.append(count) }
        last = entries.last
        let offset = count * MemoryLayout<IndexEntry>.stride
        guard entries.withUnsafeBytes({ SmallFile.write($0, to: descriptor, at: offset) }) else {
            throw .file(.system(path))
        }
        count += entries.count
    }

    /// The entries, when all are there.
    func sorted() throws(DatabaseError) -> SortedEntries { try SortedEntries(descriptor, path, count: count, starts) }
}

/// Sorted runs of entries, to be read in ascending order; parts of them by several threads at once.
///
/// `@unchecked Sendable`: the entries do not change any more.
final class SortedEntries: @unchecked Sendable {
    /// A part: what belongs to it of each run.
    typealias Part = [Range<Int>]

    /// Fewer entries are not worth a part.
    static let fewest = 1 << 14
    private let entries: UnsafeBufferPointer<IndexEntry>
    private let runs: [Range<Int>]

    fileprivate init(_ descriptor: Int32, _ path: String, count: Int, _ starts: [Int]) throws(DatabaseError) {
        runs = zip(starts, starts.dropFirst() + [count]).map { $0..<$1 }
        guard count > 0 else {
            entries = UnsafeBufferPointer(start: nil, count: 0)
            return
        }
        let bytes = count * MemoryLayout<IndexEntry>.stride
        guard let map = mmap(nil, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0), map != MAP_FAILED else {
            throw .file(.system(path))
        }
        entries = UnsafeBufferPointer(start: map.assumingMemoryBound(to: IndexEntry.self), count: count)
    }

    deinit {
        if let start = entries.baseAddress {
            munmap(UnsafeMutableRawPointer(mutating: start), entries.count * MemoryLayout<IndexEntry>.stride)
        }
    }

    /// Parts of about the same size, at most `most`; all entries of one come before those of the next, and entries that differ
    /// in their position only are in the same part.
    func parts(most: Int, fewest: Int) -> [Part] {
        let wanted = min(most, entries.count / fewest)
        guard wanted > 1 else { return [runs] }
        let distance = max(1, entries.count / 1_024)
        let samples = stride(from: 0, to: entries.count, by: distance).map { entries[$0] }.sorted()
        var parts: [Part] = []
        var rest = runs
        for number in 1..<wanted {
            let splitter = samples[number * samples.count / wanted]
            let ends = rest.map { firstIndex(in: $0, notBefore: splitter) }
            parts.append(zip(rest, ends).map { $0.lowerBound..<$1 })
            rest = zip(rest, ends).map { $1..<$0.upperBound }
        }
        return (parts + [rest]).filter { part in part.contains { !$0.isEmpty } }
    }

    private func firstIndex(in range: Range<Int>, notBefore splitter: IndexEntry) -> Int {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            let entry = entries[middle]
            if (entry.a, entry.b) < (splitter.a, splitter.b) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Calls `body` with the entries of a part in ascending order.
    func merge(_ part: Part, _ body: (IndexEntry) throws(DatabaseError) -> Void) throws(DatabaseError) {
        let part = part.filter { !$0.isEmpty }
        if part.count == 1 {
            for entry in entries[part[0]] { try body(entry) }
            return
        }
        var heap = MergeHeap(entries, part)
        while let entry = heap.next() { try body(entry) }
    }

    /// Calls `body` with all entries in ascending order.
    func merge(_ body: (IndexEntry) throws(DatabaseError) -> Void) throws(DatabaseError) { try merge(runs, body) }
}

/// A binary heap of cursors, the smallest entry on top.
private struct MergeHeap {
    private var cursors: [(entry: IndexEntry, at: Int, end: Int)] = []
    private let entries: UnsafeBufferPointer<IndexEntry>

    init(_ entries: UnsafeBufferPointer<IndexEntry>, _ runs: [Range<Int>]) {
        self.entries = entries
        for run in runs { cursors.append((entries[run.lowerBound], run.lowerBound, run.upperBound)) }
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

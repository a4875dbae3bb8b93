internal import CLinux
internal import Glibc

/// Appends pages to a SQLite database file that no connection has open (sqlite.org/fileformat2.html). Nothing in the file
/// refers to the new pages until ``setRoot(_:_:)`` and ``finish()`` say so.
///
/// SQLite's own inserts go through its virtual machine one row at a time and stop at some 300,000 rows a second; pages
/// can be filled by several threads and are only written here.
///
/// ## Concurrency model
/// Pages may be appended by several threads; everything is behind one lock.
final class PageFile: Sendable {
    static let pageSize = Connection.pageSize
    /// The page at 2^30, which SQLite locks and never uses.
    static let lockPage = UInt32(0x4000_0000 / pageSize) + 1
    /// Pages collected before they are written.
    private static let batch = 64
    /// Bytes that the disk is told to write at once.
    private static let stretch = 4 << 20

    private struct State {
        /// The number of the next page.
        var next: UInt32
        /// Pages with numbers below ``next`` that are not written yet, contiguous.
        var waiting: [UInt8] = []
        /// Up to here the kernel was told to write to the disk.
        var started = 0
    }

    private let path: String
    private let descriptor: Int32
    /// The page that is left out; another one in tests.
    private let skipped: UInt32
    private let state: Lock<State>

    /// Opens a database made by SQLite, whose pages have ``pageSize`` bytes and which no process has open.
    init(path: String, skipping skipped: UInt32 = lockPage) throws(DatabaseError) {
        self.path = path
        self.skipped = skipped
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(.system(path)) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size > 0, Int(status.st_size) % Self.pageSize == 0 else {
            close(descriptor)
            throw .damaged(.file(path), "it does not consist of whole pages")
        }
        state = Lock(State(next: UInt32(Int(status.st_size) / Self.pageSize) + 1))
    }

    deinit { close(descriptor) }

    /// Appends one page and returns its number.
    func append(_ page: [UInt8]) throws(DatabaseError) -> UInt32 {
        let (number, isFlushed) = try state.withLock { state throws(DatabaseError) in
            if state.next == skipped {
                try flush(&state)
                state.next += 1
            }
            state.waiting.append(contentsOf: page)
            state.next += 1
            let isFull = state.waiting.count >= Self.batch * Self.pageSize
            if isFull { try flush(&state) }
            return (state.next - 1, isFull)
        }
        if isFlushed { startWriting() }
        return number
    }

    /// Appends the pages of a run and calls `leaf` with the number and the last key of each leaf, in order.
    func append(
        _ run: inout LeafRun, leaf: (UInt32, Int64) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let first = try state.withLock { state throws(DatabaseError) in
            try flush(&state)
            if state.next == skipped { state.next += 1 }
            let first = state.next
            let spansSkipped = first < skipped && first + UInt32(run.pageCount) > skipped
            state.next += UInt32(run.pageCount) + (spansSkipped ? 1 : 0)
            return first
        }
        run.resolve { index in number(first, index) }
        // Up to the page that is left out, and what follows it.
        let before = first < skipped ? min(run.pageCount, Int(skipped - first)) : run.pageCount
        let cut = before * Self.pageSize
        try write(run.bytes[..<cut], at: first)
        if cut < run.bytes.count { try write(run.bytes[cut...], at: number(first, UInt32(before))) }
        for mark in run.leaves { try leaf(number(first, mark.page), mark.lastKey) }
        startWriting()
    }

    /// The number of the `index`-th page of a run that starts at `first`.
    private func number(_ first: UInt32, _ index: UInt32) -> UInt32 {
        let number = first + index
        return first < skipped && number >= skipped ? number + 1 : number
    }

    /// Replaces the page a tree hangs on.
    func setRoot(_ number: UInt32, _ page: [UInt8]) throws(DatabaseError) {
        try write(page[...], at: number)
    }

    /// Lets a page that was appended stand where another one was. Its own place becomes the first page of the free list.
    func move(_ number: UInt32, to place: UInt32) throws(DatabaseError) {
        try state.withLock { state throws(DatabaseError) in
            try flush(&state)
            var page = [UInt8](repeating: 0, count: Self.pageSize)
            var header = [UInt8](repeating: 0, count: 100)
            guard pread(descriptor, &page, page.count, off_t(number - 1) * off_t(Self.pageSize)) == page.count,
                pread(descriptor, &header, 100, 0) == 100
            else { throw .file(.system(path)) }
            try write(page[...], at: place)
            // A page of that list: the next one, and how many pages it names itself.
            let count = (36..<40).reduce(UInt32(0)) { $0 << 8 | UInt32(header[$1]) }
            page = Array(header[32..<36]) + [UInt8](repeating: 0, count: Self.pageSize - 4)
            try write(page[...], at: number)
            header.putBigEndian(number, at: 32)
            header.putBigEndian(count + 1, at: 36)
            guard pwrite(descriptor, header, 100, 0) == 100 else { throw .file(.system(path)) }
        }
    }

    /// Writes what waits and tells the database how many pages it has. SQLite may open it now.
    func finish() throws(DatabaseError) {
        try state.withLock { state throws(DatabaseError) in
            try flush(&state)
            var header = [UInt8](repeating: 0, count: 100)
            guard pread(descriptor, &header, 100, 0) == 100 else { throw .file(.system(path)) }
            let pages = state.next - 1
            let counter = (24..<28).reduce(UInt32(0)) { $0 << 8 | UInt32(header[$1]) } &+ 1
            header.putBigEndian(counter, at: 24)
            header.putBigEndian(pages, at: 28)
            header.putBigEndian(counter, at: 92)
            guard pwrite(descriptor, header, 100, 0) == 100 else { throw .file(.system(path)) }
        }
    }

    private func flush(_ state: inout State) throws(DatabaseError) {
        guard !state.waiting.isEmpty else { return }
        let first = state.next - UInt32(state.waiting.count / Self.pageSize)
        try write(state.waiting[...], at: first)
        state.waiting.removeAll(keepingCapacity: true)
    }

    private func write(_ bytes: ArraySlice<UInt8>, at number: UInt32) throws(DatabaseError) {
        let offset = Int(number - 1) * Self.pageSize
        guard bytes.withUnsafeBytes({ SmallFile.write($0, to: descriptor, at: offset) }) else {
            throw .file(.system(path))
        }
    }

    /// Lets the disk begin while pages are still being made: the sync at the end has little left to do.
    private func startWriting() {
        let range = state.withLock { state -> Range<Int>? in
            let end = Int(state.next - 1) * Self.pageSize - state.waiting.count
            guard end - state.started >= Self.stretch else { return nil }
            defer { state.started = end }
            return state.started..<end
        }
        guard let range else { return }
        sync_file_range(descriptor, off_t(range.lowerBound), off_t(range.count), 2)
    }
}

extension [UInt8] {
    /// Overwrites four bytes.
    mutating func putBigEndian(_ value: UInt32, at index: Int) {
        for byte in 0..<4 { self[index + byte] = UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * byte)) }
    }
}

/// Some leaves of a table's b-tree in ascending order of their keys, with the overflow pages of long rows, made by one
/// thread while others make theirs. Pages are numbered from 0 until ``PageFile`` knows where the run goes.
struct LeafRun: Sendable {
    struct Mark: Sendable {
        var page: UInt32
        var lastKey: Int64
    }

    private(set) var bytes: [UInt8] = []
    private(set) var leaves: [Mark] = []
    /// Where the bytes stand that name another page of the run.
    private var links: [Int] = []

    var pageCount: Int { bytes.count / PageFile.pageSize }

    /// Replaces the run's own page numbers by real ones.
    mutating func resolve(_ number: (UInt32) -> UInt32) {
        for link in links {
            let index = bytes[link..<link + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            bytes.putBigEndian(number(index), at: link)
        }
        links = []
    }

    // MARK: Filling

    /// The open leaf's page; `nil` before the first row.
    private var open: Int?
    private var cells = 0
    private var content = PageFile.pageSize
    private var lastKey = Int64(0)

    /// Begins anew in the same memory.
    ///
    /// - Parameter capacity: About how many bytes of rows will come.
    mutating func empty(capacity: Int) {
        bytes.removeAll(keepingCapacity: true)
        bytes.reserveCapacity(capacity + capacity / 8 + 4 * PageFile.pageSize)
        leaves.removeAll(keepingCapacity: true)
        links.removeAll(keepingCapacity: true)
        open = nil
    }

    /// Adds the row with this key, which is greater than the one before.
    mutating func add(_ key: Int64, _ record: UnsafeRawBufferPointer) {
        let local = Self.localSize(record.count)
        let head = PageFormat.varintSize(UInt64(record.count)) + PageFormat.varintSize(UInt64(bitPattern: key))
        let size = head + local + (local < record.count ? 4 : 0)
        if open == nil || content - (8 + 2 * cells) < size + 2 {
            closeLeaf()
            open = addPage()
            cells = 0
            content = PageFile.pageSize
        }
        let page = open ?? 0
        content -= size
        let start = page * PageFile.pageSize + content
        bytes.withUnsafeMutableBytes { raw in
            guard let base = raw.baseAddress else { return }
            var at = PageFormat.putVarint(UInt64(record.count), base, start)
            at = PageFormat.putVarint(UInt64(bitPattern: key), base, at)
            if let from = record.baseAddress { (base + at).copyMemory(from: from, byteCount: local) }
            let pointer = page * PageFile.pageSize + 8 + 2 * cells
            base.storeBytes(of: UInt16(truncatingIfNeeded: content).bigEndian, toByteOffset: pointer, as: UInt16.self)
        }
        cells += 1
        lastKey = key
        if local < record.count {
            addOverflow(UnsafeRawBufferPointer(rebasing: record[local...]), linkedFrom: start + head + local)
        }
    }

    /// Closes the last leaf.
    mutating func finish() {
        closeLeaf()
        open = nil
    }

    /// Not one for all: several threads would count their references to it.
    private let emptyPage = [UInt8](repeating: 0, count: PageFile.pageSize)

    private mutating func addPage() -> Int {
        bytes.append(contentsOf: emptyPage)
        return pageCount - 1
    }

    private mutating func closeLeaf() {
        guard let open else { return }
        let at = open * PageFile.pageSize
        bytes[at] = PageFormat.leafTable
        bytes[at + 3] = UInt8(truncatingIfNeeded: cells >> 8)
        bytes[at + 4] = UInt8(truncatingIfNeeded: cells)
        bytes[at + 5] = UInt8(truncatingIfNeeded: content >> 8)
        bytes[at + 6] = UInt8(truncatingIfNeeded: content)
        leaves.append(Mark(page: UInt32(open), lastKey: lastKey))
    }

    /// What does not fit a leaf goes to pages of its own, each naming the next.
    private mutating func addOverflow(_ rest: UnsafeRawBufferPointer, linkedFrom: Int) {
        var link = linkedFrom
        var done = 0
        while done < rest.count {
            let page = addPage()
            bytes.putBigEndian(UInt32(page), at: link)
            links.append(link)
            link = page * PageFile.pageSize
            let count = min(rest.count - done, PageFile.pageSize - 4)
            bytes.withUnsafeMutableBytes { raw in
                UnsafeMutableRawBufferPointer(rebasing: raw[link + 4..<link + 4 + count])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[done..<done + count]))
            }
            done += count
        }
    }

    /// How many bytes of a record of `count` bytes stand in the leaf itself (file format, section 1.6).
    static func localSize(_ count: Int) -> Int {
        let usable = PageFile.pageSize
        let most = usable - 35
        guard count > most else { return count }
        let least = (usable - 12) * 32 / 255 - 23
        let fitting = least + (count - least) % (usable - 4)
        return fitting <= most ? fitting : least
    }
}

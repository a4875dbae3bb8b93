/// The interior pages of a table's b-tree over leaves that come in ascending order of their keys. One open page for each
/// level, whatever the size.
struct TableTreeBuilder {
    private let file: PageFile
    /// Lowest first.
    private var levels: [TreePage] = []

    init(file: PageFile) { self.file = file }

    /// Hangs in the next leaf, whose last key is `key`.
    mutating func add(leaf number: UInt32, lastKey key: Int64) throws(DatabaseError) {
        try add(number, key, at: 0)
    }

    private mutating func add(_ child: UInt32, _ key: Int64, at level: Int) throws(DatabaseError) {
        if level == levels.count { levels.append(TreePage(isLeaf: false)) }
        var cell = [UInt8](repeating: 0, count: 13)
        cell.putBigEndian(child, at: 0)
        let count = cell.withUnsafeMutableBytes { raw in
            raw.baseAddress.map { PageFormat.putVarint(UInt64(bitPattern: key), $0, 4) } ?? 0
        }
        if !levels[level].fits(count) {
            // Two children go over, so that no page is left with one child and no key.
            let last = levels[level].pop()
            let middle = levels[level].pop()
            let number = try levels[level].close(
                type: PageFormat.interiorTable, rightmost: PageFormat.child(middle), in: file)
            try add(number, Self.key(middle), at: level + 1)
            last.withUnsafeBytes { levels[level].push($0) }
        }
        cell.withUnsafeBytes { levels[level].push(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Closes all pages; the topmost becomes page `root`. There must be one leaf at least.
    mutating func finish(root: UInt32) throws(DatabaseError) {
        var level = 0
        while level < levels.count {
            let last = levels[level].pop()
            guard levels[level].cells > 0 else {
                // A table of one leaf is that page, and nothing above it.
                guard levels.count == 1 else { throw .misuse("a level of a tree of pages has one page only") }
                return try file.move(PageFormat.child(last), to: root)
            }
            let isTop = level == levels.count - 1
            let number = try levels[level].close(
                type: PageFormat.interiorTable, rightmost: PageFormat.child(last), in: file, root: isTop ? root : nil)
            if !isTop { try add(number, Self.key(last), at: level + 1) }
            level += 1
        }
    }

    private static func key(_ cell: [UInt8]) -> Int64 {
        var value = UInt64(0)
        for (index, byte) in cell[4...].enumerated() {
            value = index == 8 ? value << 8 | UInt64(byte) : value << 7 | UInt64(byte & 0x7f)
        }
        return Int64(bitPattern: value)
    }
}

/// Leaves of an index's b-tree, over entries that come in ascending order. An entry is a record with its length before it,
/// short enough to stand in a page whole. In an index the entries between two leaves stand in their parent, and nowhere else.
struct IndexLeaves {
    private let file: PageFile
    /// Full leaves, and the entry that follows each.
    fileprivate private(set) var full: [(number: UInt32, divider: [UInt8])] = []
    fileprivate var open = TreePage(isLeaf: true)

    init(file: PageFile) { self.file = file }

    var isEmpty: Bool { open.cells == 0 }

    mutating func add(_ entry: UnsafeRawBufferPointer) throws(DatabaseError) {
        if !open.fits(entry.count) {
            let divider = open.pop()
            let number = try open.close(type: PageFormat.leafIndex, in: file)
            full.append((number, divider))
        }
        open.push(entry)
    }
}

/// An index's b-tree above its leaves.
struct IndexTreeBuilder {
    private let file: PageFile
    /// Lowest first.
    private var levels: [TreePage] = []

    init(file: PageFile) { self.file = file }

    /// Hangs in leaves, which have entries, and `divider`, an entry that lies before the leaves that follow.
    mutating func add(_ leaves: IndexLeaves, divider: [UInt8]) throws(DatabaseError) {
        for leaf in leaves.full { try add(leaf.number, leaf.divider, at: 0) }
        var last = leaves.open
        let number = try last.close(type: PageFormat.leafIndex, in: file)
        try add(number, divider, at: 0)
    }

    private mutating func add(_ child: UInt32, _ entry: [UInt8], at level: Int) throws(DatabaseError) {
        if level == levels.count { levels.append(TreePage(isLeaf: false)) }
        var cell = [UInt8](repeating: 0, count: 4) + entry
        cell.putBigEndian(child, at: 0)
        if !levels[level].fits(cell.count) {
            let last = levels[level].pop()
            let number = try levels[level].close(
                type: PageFormat.interiorIndex, rightmost: PageFormat.child(last), in: file)
            try add(number, Array(last[4...]), at: level + 1)
        }
        cell.withUnsafeBytes { levels[level].push($0) }
    }

    /// Hangs in the last leaves and closes all pages; the topmost becomes page `root`.
    mutating func finish(_ leaves: IndexLeaves, root: UInt32) throws(DatabaseError) {
        for leaf in leaves.full { try add(leaf.number, leaf.divider, at: 0) }
        var last = leaves.open
        var below = try last.close(type: PageFormat.leafIndex, in: file, root: levels.isEmpty ? root : nil)
        for level in levels.indices {
            below = try levels[level].close(
                type: PageFormat.interiorIndex, rightmost: below, in: file,
                root: level == levels.count - 1 ? root : nil)
        }
    }
}

/// The interior pages of a table's b-tree over leaves that come in ascending order of their keys. One open page for each
/// level, whatever the size.
struct TableTreeBuilder {
    private let file: PageFile
    /// Lowest first.
    private var levels: [TreePage] = []

    init(file: PageFile) { self.file = file }

    /// Hangs in the next leaf, whose last key is `key`.
    mutating func add(leaf number: UInt32, lastKey key: Int64) throws(SQLiteError) {
        try add(number, key, at: 0)
    }

    private mutating func add(_ child: UInt32, _ key: Int64, at level: Int) throws(SQLiteError) {
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
            let number = try levels[level].close(type: PageFormat.interiorTable, rightmost: Self.child(middle)) {
                page throws(SQLiteError) in try file.append(page)
            }
            try add(number, Self.key(middle), at: level + 1)
            last.withUnsafeBytes { levels[level].push($0) }
        }
        cell.withUnsafeBytes { levels[level].push(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Closes all pages; the topmost becomes page `root`. There must be two leaves at least.
    mutating func finish(root: UInt32) throws(SQLiteError) {
        var level = 0
        while level < levels.count {
            let last = levels[level].pop()
            guard levels[level].cells > 0 else {
                throw SQLiteError(extendedCode: 1, message: "a tree of one leaf", context: "pages")
            }
            let isTop = level == levels.count - 1
            let number = try levels[level].close(type: PageFormat.interiorTable, rightmost: Self.child(last)) {
                page throws(SQLiteError) in
                if isTop {
                    try file.setRoot(root, page)
                    return root
                }
                return try file.append(page)
            }
            if !isTop { try add(number, Self.key(last), at: level + 1) }
            level += 1
        }
    }

    private static func child(_ cell: [UInt8]) -> UInt32 { cell[..<4].reduce(0) { $0 << 8 | UInt32($1) } }

    private static func key(_ cell: [UInt8]) -> Int64 {
        var value = UInt64(0)
        for (index, byte) in cell[4...].enumerated() {
            value = index == 8 ? value << 8 | UInt64(byte) : value << 7 | UInt64(byte & 0x7f)
        }
        return Int64(bitPattern: value)
    }
}

/// An index's b-tree over entries that come in ascending order. An entry is a record with its length before it, short
/// enough to stand in a page whole.
struct IndexTreeBuilder {
    private let file: PageFile
    /// The leaf, then the interior pages.
    private var levels = [TreePage(isLeaf: true)]

    init(file: PageFile) { self.file = file }

    mutating func add(_ entry: UnsafeRawBufferPointer) throws(SQLiteError) {
        if !levels[0].fits(entry.count) {
            // In an index the entries between two leaves stand in their parent, and nowhere else.
            let divider = levels[0].pop()
            let number = try levels[0].close(type: PageFormat.leafIndex) { page throws(SQLiteError) in
                try file.append(page)
            }
            try add(number, divider, at: 1)
        }
        levels[0].push(entry)
    }

    private mutating func add(_ child: UInt32, _ entry: [UInt8], at level: Int) throws(SQLiteError) {
        if level == levels.count { levels.append(TreePage(isLeaf: false)) }
        var cell = [UInt8](repeating: 0, count: 4) + entry
        cell.putBigEndian(child, at: 0)
        if !levels[level].fits(cell.count) {
            let last = levels[level].pop()
            let number = try close(level, rightmost: last[..<4].reduce(0) { $0 << 8 | UInt32($1) }, root: nil)
            try add(number, Array(last[4...]), at: level + 1)
        }
        cell.withUnsafeBytes { levels[level].push($0) }
    }

    private mutating func close(_ level: Int, rightmost: UInt32?, root: UInt32?) throws(SQLiteError) -> UInt32 {
        let type = level == 0 ? PageFormat.leafIndex : PageFormat.interiorIndex
        return try levels[level].close(type: type, rightmost: rightmost) { page throws(SQLiteError) in
            if let root {
                try file.setRoot(root, page)
                return root
            }
            return try file.append(page)
        }
    }

    /// Closes all pages; the topmost becomes page `root`.
    mutating func finish(root: UInt32) throws(SQLiteError) {
        var below: UInt32?
        for level in levels.indices {
            below = try close(level, rightmost: below, root: level == levels.count - 1 ? root : nil)
        }
    }
}

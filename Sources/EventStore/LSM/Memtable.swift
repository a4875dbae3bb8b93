/// Rows of many owners in memory, packed: for each owner a chain from its newest row back to its oldest.
///
/// The newest row of an owner stands in a table as it is. Every row that comes leaves a record behind: how far back the record before it
/// in the chain begins, and the ``RowDifference`` to the row before, which tells of that one. These are eight to sixteen bytes for a row
/// of a live store, where a row as it is takes 64. A first row leaves a zero.
struct Memtable {
    private struct Newest {
        let row: SortedRow
        /// Where its record begins.
        let record: UInt32

        init(_ row: SortedRow, record: Int) { (self.row, self.record) = (row, UInt32(record)) }

        var owner: Int64 { row.owner }
    }

    /// Bytes of a block of records. Blocks of one size are reused for one another; a single array would be copied as it grows.
    private static let block = 1 << 16
    /// One for each owner, in the order in which they came.
    private var newest: [Newest] = []
    /// For a hash of an owner its number in `newest`, counted from 1, or in a place after it; 0 where there is none. At most half
    /// of a power of two are taken.
    private var places: [UInt32] = [0, 0]
    /// Records; a record stands whole in one block, and the last block is still being filled.
    private var full: [[UInt8]] = []
    private var filling: [UInt8] = []
    private var filled = 0
    /// How many rows there are.
    private(set) var count = 0
    /// The position of the row that came last.
    private(set) var last = UInt64(0)

    var owners: some Collection<Int64> { newest.lazy.map(\.owner) }

    /// About how many bytes of memory it takes: of an owner its newest row and its places, of which up to three quarters are empty.
    var bytes: Int { full.count * Self.block + filled + newest.count * (MemoryLayout<Newest>.stride + 32) }

    /// Adds a row with a greater position than all before.
    mutating func append(_ row: SortedRow) {
        if filled > filling.count - RowDifference.longest {
            if filled > 0 { full.append(filling) }
            filling = [UInt8](repeating: 0, count: Self.block)
            filled = 0
        }
        let record = full.count * Self.block + filled
        let place = place(of: row.owner)
        let number = Int(places[place])
        if number > 0 {
            let before = newest[number - 1]
            let earlier = before.row
            filled = filling.withUnsafeMutableBytes { raw in
                guard let start = raw.baseAddress else { return filled }
                var writer = RawWriter(start + filled)
                writer.varint(UInt64(record) - UInt64(before.record))
                RowDifference(from: earlier, to: row, telling: .earlier).write(.position, to: &writer)
                return filled + writer.count
            }
            newest[number - 1] = Newest(row, record: record)
        } else {
            filling[filled] = 0
            filled += 1
            newest.append(Newest(row, record: record))
            places[place] = UInt32(newest.count)
            if newest.count * 2 > places.count { spread() }
        }
        count += 1
        last = row.position
    }

    /// How many rows ahead the processor is asked for what an owner needs.
    private static let lookahead = 8

    /// Adds rows in order of position, greater than all before. Owners come in no order that a processor could foresee.
    mutating func append(_ rows: ArraySlice<SortedRow>) {
        for index in rows.indices {
            let (near, far) = (index + Self.lookahead, index + 2 * Self.lookahead)
            if far < rows.endIndex { fetchPlace(of: rows[far].owner) }
            if near < rows.endIndex { fetchNewest(of: rows[near].owner) }
            append(rows[index])
        }
    }

    private func fetchPlace(of owner: Int64) {
        places.withUnsafeBufferPointer { $0.baseAddress.map { prefetch($0 + slot(of: owner)) } }
    }

    private func fetchNewest(of owner: Int64) {
        let number = Int(places[slot(of: owner)])
        guard number > 0 else { return }
        newest.withUnsafeBufferPointer {
            $0.baseAddress.map { prefetch($0 + (number - 1), MemoryLayout<Newest>.stride) }
        }
    }

    /// Refs are numbers that this node gave one after the other: to multiply them (Knuth, "The Art of Computer Programming",
    /// vol. 3, §6.4) spreads them well, and is done at once.
    private func slot(of owner: Int64) -> Int {
        let hash = UInt64(bitPattern: owner) &* 0x9e37_79b9_7f4a_7c15
        return Int(hash >> UInt64(64 - places.count.trailingZeroBitCount))
    }

    /// Where the owner's number stands in `places`, or would.
    private func place(of owner: Int64) -> Int {
        var place = slot(of: owner)
        while places[place] != 0, newest[Int(places[place]) - 1].owner != owner {
            place = (place + 1) & (places.count - 1)
        }
        return place
    }

    private mutating func spread() {
        places = [UInt32](repeating: 0, count: places.count * 2)
        for index in newest.indices { places[place(of: newest[index].owner)] = UInt32(index + 1) }
    }

    /// Calls `body` with the owner's rows, newest first.
    func chain(_ owner: Int64, _ body: (SortedRow) -> Void) {
        guard var place = end(of: owner) else { return }
        repeat { body(place.row) } while back(&place)
    }

    /// The rows of several owners, each newest first. Their chains are walked side by side, so that the processor need not wait for
    /// one record before it fetches the next.
    func chains(_ owners: ArraySlice<Int64>) -> [[SortedRow]] {
        for owner in owners { fetchPlace(of: owner) }
        for owner in owners { fetchNewest(of: owner) }
        var chains = [[SortedRow]](repeating: [], count: owners.count)
        var walks: [(chain: Int, place: Place)] = []
        walks.reserveCapacity(owners.count)
        for (chain, owner) in owners.enumerated() {
            guard let place = end(of: owner) else { continue }
            fetch(place)
            walks.append((chain, place))
        }
        while !walks.isEmpty {
            var left = 0
            for index in walks.indices {
                var walk = walks[index]
                chains[walk.chain].append(walk.place.row)
                guard back(&walk.place) else { continue }
                fetch(walk.place)
                walks[left] = walk
                left += 1
            }
            walks.removeLast(walks.count - left)
        }
        return chains
    }

    /// A row, and the record that it left behind.
    private struct Place {
        var row: SortedRow
        var record: Int
    }

    /// The end of an owner's chain.
    private func end(of owner: Int64) -> Place? {
        let number = Int(places[place(of: owner)])
        return number > 0 ? Place(row: newest[number - 1].row, record: Int(newest[number - 1].record)) : nil
    }

    /// Goes to the row before; false at the first.
    private func back(_ place: inout Place) -> Bool {
        guard let step = step(place.record, after: place.row.tags) else { return false }
        place.row = place.row.preceding(step.difference)
        place.record -= step.back
        return true
    }

    private func fetch(_ place: Place) {
        withBlock(of: place.record) { raw in raw.baseAddress.map { prefetch($0 + place.record % Self.block) } }
    }

    private func withBlock<Result>(of record: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let block = record / Self.block
        return block < full.count ? full[block].withUnsafeBytes(body) : filling.withUnsafeBytes(body)
    }

    /// The record that begins at `index`: how far back the one before it begins, and how the rows differ; `nil` if it is that of a first
    /// row.
    private func step(_ index: Int, after tags: RowTags) -> (back: Int, difference: RowDifference)? {
        withBlock(of: index) { raw in
            var offset = index % Self.block
            guard let back = raw.varint(at: &offset), back > 0,
                let difference = RowDifference(raw, at: &offset, .position, beside: tags)
            else { return nil }
            return (Int(back), difference)
        }
    }
}

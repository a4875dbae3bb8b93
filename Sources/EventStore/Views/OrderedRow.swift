/// A row of a table of events in display order, one for each owner: a conversation or a user.
struct OrderedRow: Comparable {
    /// The ref of the conversation or user.
    let owner: Int64
    /// Display time, Unix milliseconds.
    let time: Int64
    /// ``HybridTime/ordered``.
    let hlc: Int64
    let position: UInt64

    /// Before every row: refs begin at 1.
    static let zero = OrderedRow(owner: 0, time: 0, hlc: 0, position: 0)

    /// Before every row of an owner.
    static func first(of owner: Int64) -> OrderedRow {
        OrderedRow(owner: owner, time: .min, hlc: .min, position: 0)
    }

    /// After every row of an owner.
    static func last(of owner: Int64) -> OrderedRow {
        OrderedRow(owner: owner, time: .max, hlc: .max, position: UInt64(Int64.max))
    }

    static func < (a: OrderedRow, b: OrderedRow) -> Bool {
        (a.owner, a.time, a.hlc, a.position) < (b.owner, b.time, b.hlc, b.position)
    }

    /// Whether only their dots tell which of them comes first.
    func isTied(with other: OrderedRow) -> Bool { time == other.time && hlc == other.hlc }
}

extension OrderedRow {
    /// Bytes of a row in a tail: its four fields, 64 bits each, little-endian.
    static let packedSize = 32

    /// Rows one after the other.
    static func pack(_ rows: ArraySlice<OrderedRow>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: rows.count * packedSize) { buffer, count in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            for row in rows {
                raw.storeBytes(of: row.owner.littleEndian, toByteOffset: count, as: Int64.self)
                raw.storeBytes(of: row.time.littleEndian, toByteOffset: count + 8, as: Int64.self)
                raw.storeBytes(of: row.hlc.littleEndian, toByteOffset: count + 16, as: Int64.self)
                raw.storeBytes(of: row.position.littleEndian, toByteOffset: count + 24, as: UInt64.self)
                count += packedSize
            }
        }
    }

    /// Calls `body` with the rows in `raw` whose owner is `owner`, or with all.
    static func unpack(_ raw: UnsafeRawBufferPointer, owner: Int64? = nil, _ body: (OrderedRow) -> Void) {
        var offset = 0
        while offset + packedSize <= raw.count {
            let found = Int64(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: Int64.self))
            if owner == nil || found == owner {
                body(
                    OrderedRow(
                        owner: found,
                        time: Int64(littleEndian: raw.loadUnaligned(fromByteOffset: offset + 8, as: Int64.self)),
                        hlc: Int64(littleEndian: raw.loadUnaligned(fromByteOffset: offset + 16, as: Int64.self)),
                        position: UInt64(
                            littleEndian: raw.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self))))
            }
            offset += packedSize
        }
    }
}

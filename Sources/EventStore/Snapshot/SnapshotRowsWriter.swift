/// Turns rows of table `event` into ``SnapshotRows``, column by column, without making events of them.
struct SnapshotRowsWriter {
    struct Extent {
        let ref: Int64
        let origin: OriginID
        let first: UInt64
        var count: UInt64
    }

    var rows: SnapshotRows
    private(set) var extents: [Extent] = []
    private(set) var names: PieceNames
    private var indexes: [Int64: Int] = [:]
    /// The origin of the row before, which is mostly that of the next.
    private var last: (ref: Int64, index: Int)?

    /// Bytes of the parts of a piece.
    struct Sizes {
        private let names: Int
        private let columns: Int
        private let ids: Int
        private let salts: Int
        private let payloads: Int

        init(_ rows: SnapshotRows = SnapshotRows(after: 0)) {
            (names, columns, ids) = (rows.names.count, rows.columns.count, rows.ids.count)
            (salts, payloads) = (rows.salts.count, rows.payloads.count)
        }

        fileprivate func reserve(_ rows: inout SnapshotRows) {
            func room(_ bytes: Int) -> Int { bytes + bytes / 16 }
            rows.names.reserveCapacity(room(names))
            rows.columns.reserveCapacity(room(columns))
            rows.ids.reserveCapacity(room(ids))
            rows.salts.reserveCapacity(room(salts))
            rows.payloads.reserveCapacity(room(payloads))
        }
    }

    init(after: UInt64, names: PieceNames, _ usual: Sizes) {
        rows = SnapshotRows(after: after)
        usual.reserve(&rows)
        self.names = names
    }

    /// Bytes of the message so far, with the heads that the runs may still bring.
    var size: Int { rows.size + extents.count * 400 + 1_024 }

    /// The most that the row the statement stands at can add.
    static func size(of row: Statement) -> Int {
        typealias Column = EventRow.Column
        let texts = 4 * (Limits.identifier + 2)
        return texts + 600 + row.count(Column.payload) + row.count(Column.unknown)
            + row.count(Column.dependencies) * 9
    }

    /// Adds the row the statement stands at; it selects ``EventRow/columns``.
    mutating func add(_ row: Statement, from reader: SnapshotReader) throws(SQLiteError) {
        typealias Flag = SnapshotRows.Flag
        typealias Column = EventRow.Column
        let position = row.uint64(Column.position)
        guard position == rows.last + 1 else {
            throw SQLiteError(extendedCode: 11, message: "no event at \(rows.last + 1)", context: "event")
        }
        // NULL reads as 0 or as no bytes; where that is a value too, the type is asked for.
        let (conversation, author) = (row.int64(Column.conversation), row.int64(Column.author))
        let (time, version) = (row.uint64(Column.time), row.uint64(Column.version))
        let hasConversation = conversation != 0
        let hasTime = time != 0 || !row.isNull(Column.time)
        let hasAuthor = author != 0
        let hasCause = row.count(Column.cause) > 0
        let hasDependencies = row.count(Column.dependencies) > 0
        let hasVersion = version != 0
        let hasUnknown = row.count(Column.unknown) > 0
        let isErased = row.count(Column.salt) == 0
        var flags: UInt8 = 0
        if hasConversation { flags |= Flag.conversation }
        if hasTime { flags |= Flag.time }
        if hasAuthor { flags |= Flag.author }
        if hasCause { flags |= Flag.cause }
        if hasDependencies { flags |= Flag.dependencies }
        if hasVersion { flags |= Flag.version }
        if hasUnknown { flags |= Flag.unknown }
        if isErased { flags |= Flag.erased }
        rows.columns.append(flags)
        rows.columns.appendVarint(UInt64(try run(row.int64(Column.origin), row.uint64(Column.seq), reader)))
        rows.columns.appendBigEndian(row.uint64(Column.hlc))
        rows.columns.appendVarint(try name(row.int64(Column.type), reader))
        rows.columns.appendVarint(try name(row.int64(Column.user), reader))
        if hasConversation { rows.columns.appendVarint(try name(conversation, reader)) }
        if hasTime { rows.columns.appendBigEndian(time) }
        if hasAuthor { rows.columns.appendVarint(try name(author, reader)) }
        if hasCause { row.withBytes(Column.cause) { rows.columns.append(contentsOf: $0) } }
        if hasDependencies { try addDependencies(row.bytes(Column.dependencies), reader) }
        if hasVersion { rows.columns.appendVarint(version) }
        if hasUnknown {
            row.withBytes(Column.unknown) { bytes in
                rows.columns.appendVarint(UInt64(bytes.count))
                rows.columns.append(contentsOf: bytes)
            }
        }
        row.withBytes(Column.id) { rows.ids.append(contentsOf: $0) }
        row.withBytes(isErased ? Column.digest : Column.salt) { rows.salts.append(contentsOf: $0) }
        if !isErased {
            row.withBytes(Column.payload) { bytes in
                rows.columns.appendVarint(UInt64(bytes.count))
                rows.payloads.append(contentsOf: bytes)
            }
        }
        rows.count += 1
    }

    /// The origin's number here.
    private mutating func run(
        _ ref: Int64, _ seq: UInt64, _ reader: SnapshotReader
    ) throws(SQLiteError) -> Int {
        if let last, last.ref == ref {
            extents[last.index].count += 1
            return last.index
        }
        if let index = indexes[ref] {
            extents[index].count += 1
            last = (ref, index)
            return index
        }
        let id = try reader.origin(ref)
        rows.runs.append(SnapshotRows.Run(origin: id, first: seq))
        extents.append(Extent(ref: ref, origin: id, first: seq, count: 1))
        indexes[ref] = extents.count - 1
        last = (ref, extents.count - 1)
        return extents.count - 1
    }

    private mutating func name(_ ref: Int64, _ reader: SnapshotReader) throws(SQLiteError) -> UInt64 {
        if let known = names.known(ref) { return known }
        return try names.number(ref, to: &rows.names, text: reader.texts)
    }

    private mutating func addDependencies(
        _ bytes: [UInt8], _ reader: SnapshotReader
    ) throws(SQLiteError) {
        var fields = ProtobufReader(bytes)
        var pairs: [Dot] = []
        while fields.index < fields.end {
            do throws(ProtobufError) {
                let ref = Int64(bitPattern: try fields.varint())
                let seq = try fields.varint()
                do throws(SQLiteError) {
                    pairs.append(Dot(origin: try reader.origin(ref), seq: seq))
                } catch {
                    throw ProtobufError.missing(field: UInt64(bitPattern: ref))
                }
            } catch {
                throw SQLiteError(extendedCode: 11, message: "dependencies: \(error)", context: "event")
            }
        }
        rows.columns.appendVarint(UInt64(pairs.count))
        for pair in pairs {
            pair.origin.bits.append(to: &rows.columns)
            rows.columns.appendVarint(pair.seq)
        }
    }
}

/// Reads a log's rows for a snapshot. A log only grows, so everything up to a position *is* a consistent snapshot: nothing
/// is copied aside, each piece is read in a short transaction of its own, and any piece can be read again later. Not
/// Sendable: one for each thread.
package final class SnapshotReader {
    let log: LogReader
    var connection: Connection { log.connection }
    private var origins: [Int64: OriginID] = [:]

    package init(_ files: StoreFiles) throws(StoreError) {
        log = try LogReader(files)
    }

    /// The last position.
    func top() throws(StoreError) -> UInt64 { try log.top() }

    /// The rows after `after` up to `through`, as many as fit `bytes`; one at least.
    package func rows(after: UInt64, through: UInt64, bytes: Int) throws(StoreError) -> SnapshotRows {
        do throws(SQLiteError) {
            try connection.execute("BEGIN")
            defer { connection.rollback() }
            var writer = SnapshotRowsWriter(after: after)
            let select = try connection.statement(
                """
                SELECT \(EventRow.columns) FROM event WHERE position > ? AND position <= ? ORDER BY position LIMIT ?
                """)
            defer { select.reset() }
            try select.bind(1, after)
            try select.bind(2, through)
            try select.bind(3, Int64(SnapshotRows.limit))
            while try select.step() {
                try writer.add(select) { ref throws(SQLiteError) in try origin(ref) }
                if writer.size >= bytes { break }
            }
            guard writer.rows.count > 0 else {
                throw SQLiteError(extendedCode: 11, message: "no event after \(after)", context: "event")
            }
            try addNames(&writer)
            try addHeads(&writer)
            return writer.rows
        } catch {
            throw StoreError(error)
        }
    }

    private func origin(_ ref: Int64) throws(SQLiteError) -> OriginID {
        if let known = origins[ref] { return known }
        let origin = try log.names.origin(ref, on: connection)
        origins[ref] = origin
        return origin
    }

    private func addNames(_ writer: inout SnapshotRowsWriter) throws(SQLiteError) {
        let select = try connection.statement("SELECT text FROM name WHERE ref = ?")
        defer { select.reset() }
        for ref in writer.refs {
            select.reset()
            try select.bind(1, ref)
            guard try select.step() else {
                throw SQLiteError(extendedCode: 11, message: "name \(ref) is missing", context: "name")
            }
            select.withBytes(0) { text in
                writer.rows.names.appendVarint(UInt64(text.count))
                writer.rows.names.append(contentsOf: text)
            }
        }
    }

    private func addHeads(_ writer: inout SnapshotRowsWriter) throws(SQLiteError) {
        let select = try connection.statement(
            "SELECT size, root, hlc, signature FROM head WHERE origin = ? AND size >= ? AND size < ? ORDER BY size")
        defer { select.reset() }
        for run in writer.extents.sorted(by: { $0.origin < $1.origin }) {
            select.reset()
            try select.bind(1, run.ref)
            try select.bind(2, run.first)
            try select.bind(3, run.first + run.count)
            while try select.step() {
                guard let root = select.digest(1) else { continue }
                writer.rows.heads.append(
                    SignedHead(
                        head: TreeHead(
                            origin: run.origin, size: select.uint64(0), root: root,
                            hlc: HybridTime(rawValue: select.uint64(2))),
                        signature: select.bytes(3)))
            }
        }
    }
}

/// Turns rows of table `event` into ``SnapshotRows``, column by column, without making events of them.
struct SnapshotRowsWriter {
    struct Extent {
        let ref: Int64
        let origin: OriginID
        let first: UInt64
        var count: UInt64
    }

    var rows: SnapshotRows
    /// Refs of names, in the order of their numbers here.
    private(set) var refs: [Int64] = []
    private(set) var extents: [Extent] = []
    private var names: [Int64: UInt64] = [:]
    private var indexes: [Int64: Int] = [:]
    /// The origin of the row before, which is mostly that of the next.
    private var last: (ref: Int64, index: Int)?

    init(after: UInt64) { rows = SnapshotRows(after: after) }

    /// With a guess of what names will take.
    var size: Int { rows.size + refs.count * 24 }

    /// Adds the row the statement stands at; it selects ``EventRow/columns``.
    mutating func add(
        _ row: Statement, _ origin: (Int64) throws(SQLiteError) -> OriginID
    ) throws(SQLiteError) {
        typealias Flag = SnapshotRows.Flag
        typealias Column = EventRow.Column
        let position = row.uint64(Column.position)
        guard position == rows.last + 1 else {
            throw SQLiteError(extendedCode: 11, message: "no event at \(rows.last + 1)", context: "event")
        }
        let hasConversation = !row.isNull(Column.conversation)
        let hasTime = !row.isNull(Column.time)
        let hasAuthor = !row.isNull(Column.author)
        let hasCause = !row.isNull(Column.cause)
        let hasDependencies = !row.isNull(Column.dependencies)
        let hasVersion = !row.isNull(Column.version)
        let hasUnknown = !row.isNull(Column.unknown)
        let isErased = !row.isNull(Column.digest)
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
        rows.columns.appendVarint(UInt64(try run(row.int64(Column.origin), row.uint64(Column.seq), origin)))
        rows.columns.appendBigEndian(row.uint64(Column.hlc))
        rows.columns.appendVarint(name(row.int64(Column.type)))
        rows.columns.appendVarint(name(row.int64(Column.user)))
        if hasConversation { rows.columns.appendVarint(name(row.int64(Column.conversation))) }
        if hasTime { rows.columns.appendBigEndian(row.uint64(Column.time)) }
        if hasAuthor { rows.columns.appendVarint(name(row.int64(Column.author))) }
        if hasCause { row.withBytes(Column.cause) { rows.columns.append(contentsOf: $0) } }
        if hasDependencies { try addDependencies(row.bytes(Column.dependencies), origin) }
        if hasVersion { rows.columns.appendVarint(row.uint64(Column.version)) }
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
        _ ref: Int64, _ seq: UInt64, _ origin: (Int64) throws(SQLiteError) -> OriginID
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
        let id = try origin(ref)
        rows.runs.append(SnapshotRows.Run(origin: id, first: seq))
        extents.append(Extent(ref: ref, origin: id, first: seq, count: 1))
        indexes[ref] = extents.count - 1
        last = (ref, extents.count - 1)
        return extents.count - 1
    }

    private mutating func name(_ ref: Int64) -> UInt64 {
        if let known = names[ref] { return known }
        let number = UInt64(refs.count)
        refs.append(ref)
        names[ref] = number
        return number
    }

    private mutating func addDependencies(
        _ bytes: [UInt8], _ origin: (Int64) throws(SQLiteError) -> OriginID
    ) throws(SQLiteError) {
        var reader = ProtobufReader(bytes)
        var pairs: [Dot] = []
        while reader.index < reader.end {
            do throws(ProtobufError) {
                let ref = Int64(bitPattern: try reader.varint())
                let seq = try reader.varint()
                do throws(SQLiteError) {
                    pairs.append(Dot(origin: try origin(ref), seq: seq))
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

extension [UInt8] {
    /// Protocol Buffers' varint: seven bits a byte, least significant first.
    mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

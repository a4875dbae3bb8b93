/// Reads a log's rows for a snapshot. A log only grows, so everything up to a position *is* a consistent snapshot: nothing
/// is copied aside, each piece is read in a short transaction of its own, and any piece can be read again later. Not
/// Sendable: one for each thread.
package final class SnapshotReader {
    package let log: LogReader
    var connection: Connection { log.connection }
    private var origins: [Int64: OriginID] = [:]
    /// The field of the actor met last; what follows is mostly the same one's.
    private var lastActor: (ref: Int64, field: [UInt8])?
    /// Not while a piece is being read, nor after one that could not be.
    private var writer: RowEncoder?

    package convenience init(_ files: StoreFiles) throws(StoreError) {
        self.init(try LogReader(files))
    }

    package init(_ log: LogReader) { self.log = log }

    /// Field 32 of a header, of the actor with this ref; nothing for 0.
    func actor(_ ref: Int64) throws(DatabaseError) -> [UInt8] {
        if ref == 0 { return [] }
        if let lastActor, lastActor.ref == ref { return lastActor.field }
        guard let actor = try log.names.actor(ref, on: connection) else {
            throw .damaged(.table("name"), "name \(ref) is no actor")
        }
        lastActor = (ref, actor.field)
        return actor.field
    }

    /// The last position.
    func top() throws(StoreError) -> UInt64 { try log.top() }

    /// Bytes of the log's file.
    package func fileSize() throws(StoreError) -> UInt64 {
        try mapped { () throws(DatabaseError) in
            let pages = try connection.integer("PRAGMA page_count") ?? 0
            return UInt64(clamping: pages * Int64(Connection.pageSize))
        }
    }

    /// The rows after `after` up to `through`, as many as fit `bytes`; one at least.
    package func rows(after: UInt64, through: UInt64, bytes: Int) throws(StoreError) -> SnapshotRows {
        do throws(DatabaseError) {
            try connection.execute("BEGIN")
            defer { connection.rollback() }
            var writer = self.writer.take() ?? RowEncoder()
            writer.begin(after: after)
            let select = try connection.statement(RowEncoder.select)
            defer { select.reset() }
            try select.bind(1, after)
            try select.bind(2, through)
            try select.bind(3, Int64(SnapshotRows.limit))
            while try select.step() {
                guard try writer.add(select, below: bytes, from: self) else { break }
            }
            guard !writer.isEmpty else {
                throw .damaged(.event(after + 1), "there is none at this position")
            }
            let rows = writer.rows(try heads(writer.extents))
            self.writer = consume writer
            return rows
        } catch {
            throw StoreError(error)
        }
    }

    func origin(_ ref: Int64) throws(DatabaseError) -> OriginID {
        if let known = origins[ref] { return known }
        let origin = try log.names.origin(ref, on: connection)
        origins[ref] = origin
        return origin
    }

    /// Passes on the names with refs from `ref` on, which may be any number that stands in a row.
    func texts(
        _ ref: Int64, _ count: Int, _ each: (Int64, UnsafeRawBufferPointer) -> Void
    ) throws(DatabaseError) {
        try connection.rows(
            "SELECT ref, text FROM name WHERE ref BETWEEN ? AND ? ORDER BY ref",
            [.integer(ref), .integer(ref + Int64(count - 1))]
        ) { row in row.withBytes(1) { each(row.int64(0), $0) } }
    }

    /// Gives back what is kept for the next piece.
    package func rest() { writer = nil }

    private func heads(_ extents: [RowEncoder.Extent]) throws(DatabaseError) -> [SignedHead] {
        var heads: [SignedHead] = []
        let select = try connection.statement(
            "SELECT size, root, hlc, signature FROM head WHERE origin = ? AND size >= ? AND size < ? ORDER BY size")
        defer { select.reset() }
        for run in extents.sorted(by: { $0.origin < $1.origin }) {
            select.reset()
            try select.bind(1, run.ref)
            try select.bind(2, run.first)
            try select.bind(3, run.first + run.count)
            while try select.step() {
                guard let root = select.digest(1) else { continue }
                heads.append(
                    SignedHead(
                        head: TreeHead(
                            origin: run.origin, size: select.uint64(0), root: root,
                            hlc: HybridTime(rawValue: select.uint64(2))),
                        signature: select.bytes(3)))
            }
        }
        return heads
    }
}

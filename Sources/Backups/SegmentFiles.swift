package import EventStore
internal import SyncEngine

/// The chunk of a piece: how many times of arrival (four bytes), each with position and time (eight bytes each), then the rows as
/// ``PackedRows`` has them.
enum PieceChunk {
    static func bytes(of piece: BackupPiece) -> [UInt8] {
        var out: [UInt8] = []
        out.appendBigEndian(UInt32(piece.arrivals.count))
        for arrival in piece.arrivals {
            out.appendBigEndian(arrival.position)
            out.appendBigEndian(arrival.time)
        }
        return out + PackedRows.bytes(of: piece.rows)
    }

    static func piece(in chunk: [UInt8], file: String) throws(BackupError) -> BackupPiece {
        func number(_ start: Int, _ count: Int) -> UInt64 {
            chunk[start..<start + count].reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard chunk.count > 4, case let count = Int(number(0, 4)), count <= (chunk.count - 4) / 16 else {
            throw .damaged(file: file, reason: "a piece is cut")
        }
        let rows: SnapshotRows
        do { rows = try PackedRows.rows(in: chunk[(4 + count * 16)...]) } catch {
            throw .damaged(file: file, reason: error.description)
        }
        var arrivals: [Arrival] = []
        var before = rows.after
        for start in stride(from: 4, to: 4 + count * 16, by: 16) {
            let arrival = Arrival(position: number(start, 8), time: Int64(bitPattern: number(start + 8, 8)))
            guard arrival.position > before, arrival.position <= rows.last, Limits.clock.contains(arrival.time) else {
                throw .damaged(file: file, reason: "a time of arrival of other rows")
            }
            before = arrival.position
            arrivals.append(arrival)
        }
        return BackupPiece(rows: rows, arrivals: arrivals)
    }
}

/// Writes a segment: counts what the manifest says of it. Not Sendable.
final class SegmentWriter {
    private let writer: ChunkWriter
    private let file: String
    private let after: UInt64
    private var last: UInt64
    private let leaves = RunningSHA256()
    private let holes = HoleTally()

    init(_ sink: any ByteSink, file: String, after: UInt64, key: StreamKey?) throws(BackupError) {
        self.file = file
        (self.after, last) = (after, after)
        writer = try ChunkWriter(sink, name: file, key: key)
    }

    var bytes: UInt64 { writer.bytes }

    func add(_ piece: BackupPiece, _ checked: CheckedRows) throws(BackupError) {
        for row in checked.list { leaves.add(row.leaf.bytes[...]) }
        holes.add(checked)
        last = piece.rows.last
        try writer.add(PieceChunk.bytes(of: piece))
    }

    func finish(erasures: UInt64) throws(BackupError) -> BackupManifest.Segment {
        let digest = try writer.finish()
        return BackupManifest.Segment(
            file: file, after: after, last: last, bytes: writer.bytes, digest: digest, leaves: leaves.finish(),
            erasures: erasures, holes: holes.finish())
    }
}

/// Reads a segment piece by piece, and at its end compares it with what a manifest says of it. Not Sendable.
package final class SegmentReader {
    private let reader: ChunkReader
    let file: String

    init(_ source: any ByteSource, file: String, key: StreamKey?) throws(BackupError) {
        self.file = file
        reader = try ChunkReader(source, name: file, key: key)
    }

    /// Reads bytes that may be a segment.
    package convenience init(_ bytes: [UInt8]) throws(BackupError) {
        try self.init(MemoryBytes(bytes), file: "segments/bytes", key: nil)
    }

    /// The next piece, not checked yet; `nil` behind the last one.
    package func next() throws(BackupError) -> BackupPiece? {
        guard let chunk = try reader.next() else { return nil }
        return try PieceChunk.piece(in: chunk, file: file)
    }

    /// How many bytes it had, and their SHA-256. Only behind its end.
    func finish() -> (bytes: UInt64, digest: Digest) { (reader.bytes, reader.finish()) }
}

package import EventStore

/// Rows of a log outside of frames, as backups have them: one byte, 1 where the rest is compressed as the body of a frame would be, else 0; then
/// the message `SnapshotRows`.
package enum PackedRows {
    /// The bytes of `rows`.
    package static func bytes(of rows: SnapshotRows) -> [UInt8] {
        var writer = ProtobufWriter()
        rows.write(to: &writer)
        if let packed = Compression.compress(writer.bytes) { return [1] + packed }
        return [0] + writer.bytes
    }

    /// Reads what ``bytes(of:)`` makes. The rows are not checked.
    package static func rows(in bytes: ArraySlice<UInt8>) throws(SnapshotError) -> SnapshotRows {
        guard let form = bytes.first, form <= 1 else { throw .malformed("rows in an unknown form") }
        do throws(WireError) {
            let rest = Array(bytes.dropFirst())
            let message = form == 1 ? try Compression.decompress(rest) : rest
            return try SnapshotRows(MessageReader("SnapshotRows", message))
        } catch {
            throw .malformed("\(error)")
        }
    }
}

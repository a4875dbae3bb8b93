internal import Backups
internal import EventStore

/// A repository comes back from a disk, or a machine, that others can write to.
func fuzzBackups(_ bytes: [UInt8]) throws {
    if let manifest = try? BackupManifest(bytes) {
        let again = manifest.bytes(signedWith: nil).dropLast(2)
        try promise(bytes.starts(with: again), "a manifest changes: \(String(decoding: bytes, as: UTF8.self))")
    }
    guard let reader = try? SegmentReader(bytes) else { return }
    var chain = RowChain()
    let sha = SHA256()
    while let piece = try? reader.next() {
        guard let rows = try? CheckedRows(piece.rows, using: sha) else { return }
        do throws(SnapshotError) { try chain.take(rows, using: sha) } catch { return }
        let sum = chain.progress(using: sha).reduce(0) { $0 + $1.size }
        try promise(sum == chain.position, "a chain of \(chain.position) rows has \(sum)")
    }
}

internal import Glibc

/// Whose log a snapshot is a copy of. Only of the same one can more be fetched later.
package struct SnapshotSender: Hashable, Sendable {
    package let cluster: String
    package let node: NodeID
    package let incarnation: UInt64

    package init(cluster: String, node: NodeID, incarnation: UInt64) {
        self.cluster = cluster
        self.node = node
        self.incarnation = incarnation
    }

    /// The first bytes of a spool: "sillok-spool-v1", node, incarnation, the cluster's name with its length.
    fileprivate var header: [UInt8] {
        var bytes = Array("sillok-spool-v1".utf8) + node.digest.bytes
        bytes.appendBigEndian(incarnation)
        bytes.appendBigEndian(UInt16(truncatingIfNeeded: cluster.utf8.count))
        return bytes + Array(cluster.utf8)
    }
}

/// The pieces of a snapshot as they came, found right and in order: what need not be fetched again after a broken
/// connection or the end of the process. It is not synced: what a power cut leaves of it is checked like what a peer
/// sends. Used by one thread at a time.
package final class SnapshotSpool {
    private let path: String
    private let descriptor: Int32
    private let start: Int
    private var end: Int

    /// Opens the spool of the store in `files`, or begins a new one if there is none or it is of another log.
    package init(_ files: StoreFiles, of sender: SnapshotSender) throws(StoreError) {
        let folder = SnapshotFolder(files: files)
        try folder.make()
        path = folder.spool
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(path) }
        let header = sender.header
        start = header.count
        end = start
        var found = [UInt8](repeating: 0, count: header.count)
        if pread(descriptor, &found, found.count, 0) == found.count, found == header { return }
        guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, header, header.count, 0) == header.count else {
            throw .system(path)
        }
    }

    deinit { close(descriptor) }

    /// Bytes free on the disk of the store in `files`.
    package static func freeBytes(_ files: StoreFiles) -> UInt64 { SnapshotFolder(files: files).freeBytes }

    /// Takes away all that an unfinished snapshot left in the store in `files`: its log has events now.
    package static func removeAll(_ files: StoreFiles) { SnapshotFolder(files: files).removeAll() }

    /// Takes away the spool of the store in `files`.
    package static func remove(_ files: StoreFiles) {
        unlink(SnapshotFolder(files: files).spool)
    }

    /// The next piece, from the beginning; `nil` at the end, or where a piece is damaged or was not written whole: from
    /// there on the spool is cut off.
    package func next() throws(StoreError) -> [UInt8]? {
        var head = [UInt8](repeating: 0, count: Self.headSize)
        if pread(descriptor, &head, head.count, off_t(end)) == head.count {
            let count = Int(head[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            if count > 0, count <= 16 << 20 {
                var piece = [UInt8](repeating: 0, count: count)
                if pread(descriptor, &piece, count, off_t(end + head.count)) == count,
                    head[4...].reduce(UInt64(0), { $0 << 8 | UInt64($1) }) == Self.checksum(piece)
                {
                    end += head.count + count
                    return piece
                }
            }
        }
        guard ftruncate(descriptor, off_t(end)) == 0 else { throw .system(path) }
        return nil
    }

    /// Adds a piece at the end; all there is must have been read.
    package func append(_ piece: [UInt8]) throws(StoreError) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(piece.count + Self.headSize)
        bytes.appendBigEndian(UInt32(piece.count))
        bytes.appendBigEndian(Self.checksum(piece))
        bytes.append(contentsOf: piece)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { raw in
                pwrite(descriptor, raw.baseAddress.map { $0 + done }, raw.count - done, off_t(end + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(path) }
            done += count
        }
        end += bytes.count
    }

    /// Length and checksum.
    private static let headSize = 12

    /// Tells what a disk has damaged from what a peer has sent; it is no proof of anything. Eight bytes at a time, each folded
    /// in by a 64 × 64 → 128 bit product (Wang Yi, wyhash, 2019).
    private static func checksum(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { raw in
            var sum = UInt64(raw.count) ^ 0x9e37_79b9_7f4a_7c15
            func fold(_ word: UInt64) {
                let product = (sum ^ 0xa076_1d64_78bd_642f).multipliedFullWidth(by: word ^ 0xe703_7ed1_a0b4_28db)
                sum = product.high ^ product.low
            }
            var index = 0
            while index + 8 <= raw.count {
                fold(UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
                index += 8
            }
            var rest = UInt64(0)
            while index < raw.count {
                rest = rest << 8 | UInt64(raw[index])
                index += 1
            }
            fold(rest)
            return sum
        }
    }

    /// Throws away what there is.
    package func restart() throws(StoreError) {
        guard ftruncate(descriptor, off_t(start)) == 0 else { throw .system(path) }
        end = start
    }
}

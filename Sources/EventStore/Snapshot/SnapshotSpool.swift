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

    /// The first bytes of a spool: "sillok-spool-v2", node, incarnation, the cluster's name with its length.
    fileprivate var header: [UInt8] {
        var bytes = Array("sillok-spool-v2".utf8) + node.digest.bytes
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
        descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
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

    /// A piece and what its owner says of it.
    package struct Piece: Hashable, Sendable {
        package let tag: UInt16
        package let bytes: [UInt8]

        package init(tag: UInt16, bytes: [UInt8]) {
            self.tag = tag
            self.bytes = bytes
        }
    }

    /// The next piece, from the beginning; `nil` at the end, or where a piece is damaged or was not written whole: from
    /// there on the spool is cut off.
    package func next() throws(StoreError) -> Piece? {
        var head = [UInt8](repeating: 0, count: Self.headSize)
        if pread(descriptor, &head, head.count, off_t(end)) == head.count {
            let count = Int(head[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            let tag = UInt16(head[4]) << 8 | UInt16(head[5])
            if count > 0, count <= 16 << 20 {
                var bytes = [UInt8](repeating: 0, count: count)
                if pread(descriptor, &bytes, count, off_t(end + head.count)) == count {
                    let piece = Piece(tag: tag, bytes: bytes)
                    if head == Self.head(of: piece) {
                        end += head.count + count
                        return piece
                    }
                }
            }
        }
        guard ftruncate(descriptor, off_t(end)) == 0 else { throw .system(path) }
        return nil
    }

    /// Adds a piece at the end; all there is must have been read.
    package func append(_ piece: Piece) throws(StoreError) {
        let head = Self.head(of: piece)
        try write(head, at: end)
        try write(piece.bytes, at: end + head.count)
        end += head.count + piece.bytes.count
    }

    private func write(_ bytes: [UInt8], at offset: Int) throws(StoreError) {
        guard bytes.withUnsafeBytes({ SmallFile.write($0, to: descriptor, at: offset) }) else { throw .system(path) }
    }

    /// Length, tag, two zero bytes, checksum.
    private static let headSize = 16

    private static func head(of piece: Piece) -> [UInt8] {
        var head: [UInt8] = []
        head.reserveCapacity(headSize)
        head.appendBigEndian(UInt32(piece.bytes.count))
        head.appendBigEndian(piece.tag)
        head.appendBigEndian(UInt16(0))
        head.appendBigEndian(checksum(piece))
        return head
    }

    /// Tells what a disk has damaged from what a peer has sent; it is no proof of anything. Eight bytes at a time, each folded
    /// in by a 64 × 64 → 128 bit product (Wang Yi, wyhash, 2019), in four chains side by side: each product waits for the
    /// one before it in its chain.
    private static func checksum(_ piece: Piece) -> UInt64 {
        @inline(__always)
        func fold(_ sum: UInt64, _ word: UInt64) -> UInt64 {
            let product = (sum ^ 0xa076_1d64_78bd_642f).multipliedFullWidth(by: word ^ 0xe703_7ed1_a0b4_28db)
            return product.high ^ product.low
        }
        return piece.bytes.withUnsafeBytes { raw in
            @inline(__always)
            func word(_ index: Int) -> UInt64 {
                UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            }
            let seed = UInt64(raw.count) << 16 ^ UInt64(piece.tag) ^ 0x9e37_79b9_7f4a_7c15
            var sums = (seed, seed &+ 1, seed &+ 2, seed &+ 3)
            var index = 0
            while index + 32 <= raw.count {
                sums.0 = fold(sums.0, word(index))
                sums.1 = fold(sums.1, word(index + 8))
                sums.2 = fold(sums.2, word(index + 16))
                sums.3 = fold(sums.3, word(index + 24))
                index += 32
            }
            var sum = fold(fold(fold(sums.0, sums.1), sums.2), sums.3)
            while index < raw.count {
                sum = fold(sum, UInt64(raw[index]))
                index += 1
            }
            return sum
        }
    }

    /// Throws away what there is.
    package func restart() throws(StoreError) {
        guard ftruncate(descriptor, off_t(start)) == 0 else { throw .system(path) }
        end = start
    }
}

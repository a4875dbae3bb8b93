internal import Glibc

/// Writes events with what proves them, piece by piece (FORMATS.md §10): header, salt, payload and audit path of each, the signed heads of
/// their origins, and who else holds those. Not Sendable.
package final class AnswerExport {
    /// How many events it is of.
    package let count: UInt64
    /// How many are written.
    package private(set) var written: UInt64 = 0
    /// Whether the node signs the whole: else no one can tell that an event was taken out of the file later.
    package var isSigned: Bool { builder.isSigned }

    private let builder: ReceiptBuilder
    private let reader: LogReader
    private let erasures: OwnErasures
    private let receipt: Receipt
    private let scope: AnswerScope
    private let isFiltered: Bool
    private let dots: [Dot]
    private let sha = SHA256()
    private let digest = RunningSHA256()
    private var paths: (head: TreeHead, paths: AuditPaths)?
    private var stage = Stage.beginning

    private enum Stage { case beginning, events, end, nothing }

    /// Most events and bytes of a piece.
    private static let piece = (events: 256, bytes: 1 << 20)

    /// - Parameters:
    ///   - positions: Where its events stand in the log, in any order.
    ///   - isFiltered: Whether those are only a part of the scope's.
    ///   - ownHead: A head of what this node has appended that may not be stored yet.
    /// - Throws: `E_BUSY` where no signed head covers one of the events yet; `E_STORE_FILE` where none ever will.
    package init(
        _ files: StoreFiles, _ scope: AnswerScope, at positions: [UInt64], isFiltered: Bool, key: SigningKey?,
        ownHead: SignedHead? = nil, time: Int64
    ) throws(StoreError) {
        reader = try LogReader(files)
        erasures = try OwnErasures(reader, key: key)
        (self.scope, self.isFiltered) = (scope, isFiltered)
        var dots: [Dot] = []
        dots.reserveCapacity(positions.count)
        for position in Set(positions) {
            dots.append(try mapped { [reader] () throws(DatabaseError) in try reader.dot(at: position) })
        }
        dots.sort()
        self.dots = dots
        count = UInt64(dots.count)
        builder = try ReceiptBuilder(files, key: key, ownHead: ownHead)
        receipt = try builder.receipt(at: time, of: Set(dots.map(\.origin)))
        let covered = Dictionary(uniqueKeysWithValues: receipt.heads.map { ($0.head.head.origin, $0.head.head.size) })
        let open = dots.filter { covered[$0.origin] ?? 0 < $0.seq }.count
        guard open == 0 else { throw Self.uncovered(open, of: dots.count, files) }
    }

    /// No daemon can run on a copy without the key, so none will sign what no head covers there.
    private static func uncovered(_ open: Int, of all: Int, _ files: StoreFiles) -> StoreError {
        let what = "no signed head covers \(open) of the \(all) events"
        guard access(files.key, F_OK) != 0, errno == ENOENT else {
            return .busy("\(what) yet: a running daemon signs what is new within a second")
        }
        return .badFile(
            "\(what), and none will: this is a copy without node.key",
            wayOut:
                "proofs of them from the node itself; or restore the backup to its end, which heads cover: without --to"
        )
    }

    /// The next bytes of the file, whole lines; `nil` when it is complete.
    package func next() throws(StoreError) -> [UInt8]? {
        var out: [UInt8] = []
        switch stage {
        case .beginning:
            ReceiptLine.answer(
                receipt.maker, scope, isFiltered: isFiltered, events: count, origins: UInt64(receipt.heads.count)
            ).write(to: &out)
            ReceiptBuilder.write(receipt.heads, to: &out)
            stage = dots.isEmpty ? .end : .events
        case .events:
            try writePiece(to: &out)
            if written == count { stage = .end }
        case .end:
            builder.end(count: count, digest.finish(), isAnswer: true).write(to: &out)
            stage = .nothing
            return out
        case .nothing: return nil
        }
        digest.add(out[...])
        return out
    }

    private func writePiece(to out: inout [UInt8]) throws(StoreError) {
        let end = min(dots.count, Int(written) + Self.piece.events)
        for dot in dots[Int(written)..<end] {
            guard let event = try reader.event(dot)?.event, let proof = try path(of: dot, event) else {
                throw .corrupt("event \(dot) is not what was stored: `syncctl verify` tells more")
            }
            try erasures.check(event)
            // What an earlier release could not read, and no start has read since, is a payload all the same.
            let encoded = EncodedEvent(header: event.header.canonicalBytes, body: event.body.judged)
            ReceiptLine.event(dot, encoded, proof: proof).write(to: &out)
            written += 1
            if out.count >= Self.piece.bytes { return }
        }
    }

    /// The audit path of an event; `nil` where it does not lead to the signed head.
    private func path(of dot: Dot, _ event: Event) throws(StoreError) -> [Digest]? {
        if paths?.head.origin != dot.origin {
            guard let head = receipt.heads.first(where: { $0.head.head.origin == dot.origin })?.head.head,
                let origin = try reader.origin(dot.origin)
            else { return nil }
            paths = (head, try AuditPaths(reader, origin: origin.ref, size: head.size, using: sha))
        }
        guard let (head, paths) = paths, let path = try paths.path(of: dot.seq) else { return nil }
        let isIncluded = MerkleProof.isIncluded(
            sha.leaf(of: event), index: dot.seq - 1, size: head.size, root: head.root, proof: path, using: sha)
        return isIncluded ? path : nil
    }
}

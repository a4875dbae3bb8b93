import Foundation
import TestSupport
import Testing

@testable import EventStore

/// The hlcs of an origin ascend strictly where neighbours' headers can be read (FORMATS.md §2; INV-3).
struct StampOrderTests {
    private let sha = SHA256()

    /// Six events, of which the fifth has the stamp of the fourth, or an earlier one.
    private func origin(back milliseconds: Int64 = 0) -> ForeignOrigin {
        var origin = ForeignOrigin(1, name: "wrong clock")
        for number in 2...4 { origin.add(.message("\(number)", user: "u")) }
        let last = origin.next().hlc.milliseconds - 1
        var header = origin.next()
        header.hlc = HybridTime(milliseconds: last - milliseconds, counter: 7)
        header.time = header.hlc.milliseconds
        origin.append(header.canonicalBytes, .present(salt: UUIDBits(high: 5, low: 5), payload: Array("{}".utf8)))
        origin.add(.message("6", user: "u"))
        return origin
    }

    /// A store that has it all the same: a release that did not ask has let it in.
    private func store(of origin: ForeignOrigin) throws -> (TemporaryFolder, EventStore) {
        let (folder, store) = try makeStore()
        var batch = VerifiedBatch()
        for item in origin.received {
            let event = Event(header: try EventHeader(received: item.header), body: item.body)
            batch.events.append(
                VerifiedEvent(
                    event: event, leaf: sha.leaf(of: event),
                    start: event.header.dot.seq == 1 ? OriginStart(event) : nil))
        }
        batch.heads = [origin.head(using: sha)]
        try blocking { store.ingest(batch, completion: $0) }
        return (folder, store)
    }

    @Test(
        "A peer's events are refused, all in one batch, in the next one and after a restart",
        arguments: [0, 1, 5_000])
    func fromPeers(back: Int64) throws {
        let origin = origin(back: back)
        let refused = IngestError.stampOrder(Dot(origin: origin.id, seq: 5))
        let cover = [Coverage(head: origin.head(using: sha), proof: [])]
        let (folder, store) = try makeStore()
        #expect(throws: refused) { try store.makeVerifierBlocking().verify(origin.received, cover) }
        let verifier = try store.makeVerifierBlocking()
        let first = [Coverage(head: origin.head(using: sha), proof: proof(from: 4, of: origin))]
        let batch = try verifier.verify(Array(origin.received[..<4]), first)
        try blocking { store.ingest(batch, completion: $0) }
        #expect(throws: refused) { try verifier.verify(Array(origin.received[4...]), cover) }
        #expect(throws: refused) { try store.makeVerifierBlocking().verify(Array(origin.received[4...]), cover) }
        store.close()
        let again = try EventStore(opening: folder.path)
        #expect(throws: refused) { try again.makeVerifierBlocking().verify(Array(origin.received[4...]), cover) }
        again.close()
    }

    private func proof(from size: UInt64, of origin: ForeignOrigin) -> [Digest] {
        let leaves = origin.received.map { sha.leaf(header: $0.header, payloadDigest: sha.payloadDigest($0.body)) }
        return MerkleProof.consistency(from: size, to: origin.tree.size, using: sha) { (level, index) throws(Never) in
            var range = MerkleRange()
            for leaf in leaves[Int(index) << level..<(Int(index) + 1) << level] { range.append(leaf, using: sha) }
            return range.root(using: sha)
        }
    }

    @Test("A log that has them contradicts; its snapshot, its backup's rows and its evidence are refused")
    func stored() throws {
        let origin = origin()
        let dot = Dot(origin: origin.id, seq: 5)
        let (folder, store) = try store(of: origin)
        store.close()
        let report = try verify(folder)
        #expect(report.says(.order, "its hlc") && report.findings.contains { $0.dot == dot }, report.text)
        #expect(report.findingCount == 1, report.text)
        let pieces = try SnapshotPieces(of: folder, bytes: 1 << 20)
        #expect(throws: SnapshotError.event(.stampOrder(dot))) { try pieces.build(in: makeEmptyStore()) }
        var chain = RowChain()
        #expect(throws: SnapshotError.event(.stampOrder(dot))) {
            for rows in pieces.pieces { try chain.take(try CheckedRows(rows, using: sha), using: sha) }
        }
        let export = try EvidenceExport(store.files)
        var file: [UInt8] = []
        while let piece = try export.next() { file += piece }
        let (other, archive) = try makeStore(name: "archive")
        defer { withExtendedLifetime(other) {} }
        let intake = try EvidenceImport(archive)
        #expect(throws: EvidenceError.refused(.stampOrder(dot))) {
            for line in file.split(separator: UInt8(ascii: "\n")) {
                let line = Array(line)
                try intake.take(line, 0..<line.count)
            }
        }
        archive.close()
    }

    @Test("A header that cannot be read has no stamp: its neighbours are not compared with it")
    func opaque() throws {
        var origin = ForeignOrigin(1, name: "later")
        var header = origin.next()
        header.hlc = HybridTime(rawValue: Limits.stamp)
        // A second type makes it opaque.
        origin.append(
            header.canonicalBytes + [0x32, 1, 0x61], .present(salt: UUIDBits(high: 1, low: 2), payload: [0x7b, 0x7d]))
        origin.add(.message("3", user: "u"))
        let (folder, store) = try makeStore()
        try origin.send(to: store)
        store.close()
        #expect(try verify(folder).isIntact)
        let empty = try makeEmptyStore()
        try SnapshotPieces(of: folder, bytes: 1 << 20).build(in: empty)
        // It is the last one when the store is opened again.
        var second = ForeignOrigin(2, name: "later")
        let last = second.next()
        second.append(
            last.canonicalBytes + [0x32, 1, 0x61], .present(salt: UUIDBits(high: 1, low: 2), payload: [0x7b, 0x7d]))
        let again = try EventStore(opening: folder.path)
        try second.send(to: again)
        second.add(.message("3", user: "u"))
        try second.send(to: again)
        again.close()
        #expect(try verify(folder).isIntact)
    }
}

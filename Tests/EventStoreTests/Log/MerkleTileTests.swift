import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Tiles: they are of the events, however those came, and a proof is the same with and without them (INV-3, INV-19).
struct MerkleTileTests {
    /// What table `tile` has.
    private func stored(_ folder: TemporaryFolder) throws -> [UInt64: [UInt8]] {
        let log = try Connection(path: StoreFiles(folder.path).log, mode: .read)
        let rows = try log.all("SELECT position, hashes FROM tile") { ($0.uint64(0), $0.bytes(1)) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    /// What it must have: made of the leaves alone.
    private func expected(_ folder: TemporaryFolder) throws -> [UInt64: [UInt8]] {
        let sha = SHA256()
        var open: [OriginID: [Digest]] = [:]
        var tiles: [UInt64: [UInt8]] = [:]
        for stored in try allEvents(folder) {
            let origin = stored.event.header.dot.origin
            open[origin, default: []].append(sha.leaf(of: stored.event))
            guard let leaves = open[origin], leaves.count == 256 else { continue }
            open[origin] = nil
            tiles[stored.position] = stride(from: 0, to: 256, by: 16).flatMap { first in
                var tree = MerkleRange()
                for leaf in leaves[first..<first + 16] { tree.append(leaf, using: sha) }
                return tree.root(using: sha).bytes
            }
        }
        return tiles
    }

    /// A closed store of `count` own events, appended as `sizes` say, with 300 of another node between them.
    private func makeLog(_ count: Int = 1_300, by sizes: [Int] = [1, 700, 16, 3]) throws -> TemporaryFolder {
        let (folder, made) = try makeStore()
        var store = made
        var busan = ForeignOrigin(1, name: "busan-1")
        var (done, turn, sent) = (0, 0, 0)
        while done < count {
            let size = min(sizes[turn % sizes.count], count - done)
            _ = try store.appendBlocking(
                (done..<done + size).map { .message("말 \($0)", user: "u-\($0 % 100)", conversation: "c") })
            done += size
            turn += 1
            guard turn % 2 == 0, sent < 300 else { continue }
            for number in 0..<100 { busan.add(.message("부산 \(number)", user: "u-b")) }
            try busan.send(after: sent, to: store)
            sent = busan.received.count
            // What has begun of a tile is found again.
            store.close()
            store = try EventStore(opening: folder.path)
        }
        store.close()
        return folder
    }

    @Test("Appended one by one and many at a time, with another node's between them and starts in the middle (INV-3)")
    func appended() throws {
        let folder = try makeLog()
        let tiles = try stored(folder)
        #expect(tiles.count == 6)
        #expect(try tiles == expected(folder))
        #expect(try verify(folder).isIntact)
    }

    @Test("A log that came as a snapshot has them at its own positions (INV-12)", arguments: [4_096, 1 << 20])
    func snapshot(bytes: Int) throws {
        let empty = try makeEmptyStore()
        try SnapshotPieces(of: try makeLog(), bytes: bytes).build(in: empty)
        try EventStore(opening: empty.path).close()
        let tiles = try stored(empty)
        #expect(tiles.count == 6)
        #expect(try tiles == expected(empty))
        #expect(try verify(empty).isIntact)
    }

    @Test("A log of an earlier release gets them in pauses, a few at a time, and none of changed events")
    func filled() throws {
        let folder = try makeLog(3_000, by: [500])
        let all = try stored(folder)
        let log = try Connection(path: StoreFiles(folder.path).log, mode: .write)
        try log.execute(
            "DROP TABLE tile; UPDATE event SET payload = '{\"text\":\"x\"}' WHERE seq = 300 AND origin = 1")
        #expect(all.count == 12)
        var counts: [Int] = []
        for _ in 0..<3 {
            let store = try EventStore(opening: folder.path)
            counts.append(try stored(folder).count)
            _ = try store.appendBlocking([.message("more", user: "u")])
            store.close()
        }
        counts.append(try stored(folder).count)
        #expect(counts[0] == 0 && counts[1] > 0 && counts[1] < 12 && counts[3] == 11, "\(counts)")
        let missing = Set(all.keys).subtracting(try stored(folder).keys)
        let damaged = try #require(try position(of: 512, log))
        #expect(missing == [damaged])
        #expect(try stored(folder).allSatisfy { all[$0.key] == $0.value })
        let report = try verify(folder)
        #expect(report.says(.events, "another leaf") && !report.says(.tree, "tile"), report.text)
    }

    private func position(of seq: Int64, _ log: Connection) throws -> UInt64? {
        try log.integer("SELECT position FROM event WHERE origin = 1 AND seq = ?", .integer(seq)).map { UInt64($0) }
    }

    @Test("Verify: a wrong tile and one of no events contradict, a missing one does not (INV-3)")
    func verified() throws {
        let folder = try makeLog()
        for (sql, words) in [
            (
                "UPDATE tile SET hashes = zeroblob(512) WHERE position = (SELECT min(position) FROM tile)",
                "tile over seqs 1 to 256"
            ),
            ("UPDATE tile SET hashes = substr(hashes, 1, 480)", "tile over seqs 1 to 256"),
            ("UPDATE tile SET hashes = CAST(hashes AS TEXT)", "tile over seqs 257 to 512"),
            ("UPDATE tile SET hashes = 1.5", "tile over seqs 1 to 256"),
            ("INSERT INTO tile VALUES(5, zeroblob(512))", "tile at position 5 covers no events"),
            ("INSERT INTO tile VALUES(99999, zeroblob(512))", "tile at position 99999 covers no events"),
            ("INSERT INTO tile VALUES(-1, zeroblob(512))", "tile at position -1 covers no events"),
            ("DELETE FROM tile WHERE position % 2 = 0", ""), ("DELETE FROM tile", ""), ("DROP TABLE tile", ""),
        ] {
            let copy = TemporaryFolder()
            try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
            try Connection(path: StoreFiles(copy.path).log, mode: .write).execute(sql)
            let report = try verify(copy)
            #expect(words.isEmpty ? report.isIntact : report.says(.tree, words), "\(sql): \(report.findings)")
        }
    }

    @Test("An audit path is the same with tiles and without, in trees of every shape (INV-19)")
    func paths() throws {
        let folder = try makeLog(700, by: [350])
        let tiled = try LogReader(StoreFiles(folder.path))
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
        try Connection(path: StoreFiles(copy.path).log, mode: .write).execute("DROP TABLE tile")
        let bare = try LogReader(StoreFiles(copy.path))
        let sha = SHA256()
        let origin = try #require(try tiled.origins().first { $0.ref == 1 })
        for size: UInt64 in [1, 15, 16, 17, 255, 256, 257, 511, 512, 600, 701] {
            let root = try tiled.root(of: origin.id, size: size)
            let one = try AuditPaths(tiled, origin: 1, size: size, using: sha)
            let other = try AuditPaths(bare, origin: 1, size: size, using: sha)
            var names = InternedStrings()
            let leaves = try MerkleStore(connection: tiled.connection, sha: sha)
                .leaves(origin: 1, from: 1, count: size, names: &names)
            for seq in (1...size).reversed() where seq % 7 < 2 || seq == size {
                let path = try #require(try one.path(of: seq))
                #expect(try other.path(of: seq) == path)
                #expect(
                    MerkleProof.isIncluded(
                        leaves[Int(seq) - 1], index: seq - 1, size: size, root: root, proof: path, using: sha))
            }
            #expect(try one.path(of: size + 1) == nil)
            #expect(try one.path(of: 0) == nil)
        }
    }

    @Test("Of a proof's events only their sixteen are read: what was changed beyond does not hinder it (INV-19)")
    func reads() throws {
        let folder = try makeLog(700, by: [350])
        let log = try Connection(path: StoreFiles(folder.path).log, mode: .write)
        let reader = try LogReader(StoreFiles(folder.path))
        let whole = try #require(try AuditPaths(reader, origin: 1, size: 701, using: SHA256()).path(of: 40))
        try log.execute("UPDATE event SET payload = '{}' WHERE origin = 1 AND seq = 49")
        #expect(try AuditPaths(reader, origin: 1, size: 701, using: SHA256()).path(of: 40) == whole)
        try log.execute("UPDATE event SET payload = '{}' WHERE origin = 1 AND seq = 48")
        #expect(try AuditPaths(reader, origin: 1, size: 701, using: SHA256()).path(of: 40) != whole)
    }

    @Test("What an earlier release left behind a log's end is replaced")
    func leftBehind() throws {
        let (folder, store) = try makeStore()
        store.close()
        try Connection(path: StoreFiles(folder.path).log, mode: .write)
            .execute("INSERT INTO tile VALUES(256, zeroblob(512))")
        let again = try EventStore(opening: folder.path)
        _ = try again.appendBlocking((0..<300).map { .message("\($0)", user: "u") })
        again.close()
        #expect(try stored(folder) == expected(folder))
    }
}

import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A complete log takes the old one's place when the store is opened, whole or not at all; the spool keeps what came.
struct SnapshotInstallTests {
    private func ready() throws -> (full: TemporaryFolder, empty: TemporaryFolder) {
        let (full, store) = try makeStore(name: "full")
        _ = try store.appendBlocking((0..<3_000).map { .message("\($0)", user: "u-\($0 % 9)") })
        store.close()
        let empty = try makeEmptyStore()
        try SnapshotPieces(of: full).build(in: empty)
        return (full, empty)
    }

    @Test("Until the store is opened, the old log is the log")
    func notYet() throws {
        let (_, empty) = try ready()
        #expect(try allEvents(empty).count == 1)
        #expect(try verify(empty).isIntact)
        try EventStore(opening: empty.path).close()
        #expect(try allEvents(empty).count == 3_002)
        #expect(!FileManager.default.fileExists(atPath: StoreFiles(empty.path).readyLog))
    }

    @Test("A start that ends between the installation and its first commit has lost nothing (INV-3)")
    func endedBetween() throws {
        let (full, empty) = try ready()
        let files = StoreFiles(empty.path)
        let hidden = files.readyLog + ".hidden"
        try FileManager.default.moveItem(atPath: files.readyLog, toPath: hidden)
        // What a run leaves that is killed.
        let run = try EventStore(opening: empty.path)
        let mark = try #require(try SmallFile.read(files.mark))
        run.close()
        try Data(mark).write(to: URL(fileURLWithPath: files.mark))
        try FileManager.default.moveItem(atPath: hidden, toPath: files.readyLog)
        // The next one installs the snapshot, and is refused.
        let key = try Data(contentsOf: URL(fileURLWithPath: files.key))
        try FileManager.default.removeItem(atPath: files.key)
        try FileManager.default.copyItem(atPath: StoreFiles(full.path).key, toPath: files.key)
        #expect(throws: StoreError.self) { try EventStore(opening: empty.path) }
        #expect(!FileManager.default.fileExists(atPath: files.readyLog))
        try key.write(to: URL(fileURLWithPath: files.key))
        let store = try EventStore(opening: empty.path)
        defer { store.close() }
        // That there is no WAL may cost a new origin; it is no damage.
        #expect(store.cut == nil)
    }

    @Test("What the WAL of the old log holds does not get into the new one")
    func oldWAL() throws {
        let (_, empty) = try ready()
        let files = StoreFiles(empty.path)
        // A process that was killed leaves its WAL: here a connection that is still open while the store is opened.
        let connection = try Connection(path: files.log, mode: .write)
        try connection.execute("PRAGMA journal_mode = WAL; INSERT INTO meta VALUES('left', 'over')")
        #expect(FileManager.default.fileExists(atPath: files.log + "-wal"))
        try EventStore(opening: empty.path).close()
        #expect(try verify(empty).isIntact)
        #expect(try allEvents(empty).count == 3_002)
    }

    @Test("While somebody reads what stands only in the old WAL nothing is replaced; later it is")
    func read() throws {
        let (_, empty) = try ready()
        let files = StoreFiles(empty.path)
        let writer = try Connection(path: files.log, mode: .write)
        try writer.execute("PRAGMA journal_mode = WAL; INSERT INTO meta VALUES('left', 'over')")
        let reader = try Connection(path: files.log, mode: .read)
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM meta WHERE key = 'left'") == 1)
        let error = #expect(throws: StoreError.self) { try EventStore(opening: empty.path) }
        #expect(error?.code == "E_BUSY")
        #expect(FileManager.default.fileExists(atPath: files.readyLog))
        #expect(try reader.integer("SELECT count(*) FROM event") == 1)
        try reader.execute("COMMIT")
        try EventStore(opening: empty.path).close()
        #expect(try allEvents(empty).count == 3_002)
    }

    @Test("A log of another store, and one that lacks events of this node, are thrown away")
    func unfit() throws {
        let (_, empty) = try ready()
        let other = try makeEmptyStore(name: "other")
        let files = (StoreFiles(empty.path), StoreFiles(other.path))
        try FileManager.default.copyItem(atPath: files.0.readyLog, toPath: files.1.readyLog)
        try EventStore(opening: other.path).close()
        #expect(try allEvents(other).count == 1)
        #expect(!FileManager.default.fileExists(atPath: files.1.readyLog))

        let hidden = files.0.readyLog + ".hidden"
        try FileManager.default.moveItem(atPath: files.0.readyLog, toPath: hidden)
        let store = try EventStore(opening: empty.path)
        _ = try store.appendBlocking([.message("meanwhile", user: "u")])
        store.close()
        try FileManager.default.moveItem(atPath: hidden, toPath: files.0.readyLog)
        try EventStore(opening: empty.path).close()
        #expect(try allEvents(empty).count == 2)
        #expect(!FileManager.default.fileExists(atPath: files.0.readyLog))

        for junk in [Data(), Data(repeating: 0x5a, count: 9_000)] {
            try junk.write(to: URL(filePath: files.0.readyLog))
            try EventStore(opening: empty.path).close()
            #expect(try allEvents(empty).count == 2 && !FileManager.default.fileExists(atPath: files.0.readyLog))
        }
    }

    @Test("While a snapshot is awaited nothing is stored; only a nearly empty log may wait for one")
    func hold() throws {
        let (_, store) = try makeStore()
        try store.beginSnapshotHold("wait")
        #expect(throws: StoreError.busy("wait")) { try store.appendBlocking([.message("x", user: "u")]) }
        store.endSnapshotHold()
        _ = try store.appendBlocking([.message("x", user: "u")])
        _ = try store.appendBlocking((0..<1_000).map { .message("\($0)", user: "u") })
        #expect { try store.beginSnapshotHold("wait") } throws: { error in
            if case .notEmpty? = error as? SnapshotError { true } else { false }
        }
        _ = try store.appendBlocking([.message("y", user: "u")])
        store.close()
    }

    @Test("A spool gives back what was put in, cuts off what is not whole, and belongs to one sender")
    func spool() throws {
        let empty = try makeEmptyStore()
        let files = StoreFiles(empty.path)
        let sender = SnapshotSender(cluster: "default", node: NodeID(SHA256().digest([1])), incarnation: 7)
        let pieces = [[1, 2, 3], [UInt8](repeating: 9, count: 70_000), [4]].map {
            SnapshotSpool.Piece(tag: UInt16($0.count % 500), bytes: $0)
        }
        let next = SnapshotSpool.Piece(tag: 26 << 8, bytes: [8])
        do {
            let spool = try SnapshotSpool(files, of: sender)
            #expect(try spool.next() == nil)
            for piece in pieces { try spool.append(piece) }
        }
        let file = try #require(FileHandle(forUpdatingAtPath: SnapshotFolder(files: files).spool))
        let end = try file.seekToEnd()
        try file.write(contentsOf: Data([0, 0, 1, 0, 5, 5]))
        do {
            let spool = try SnapshotSpool(files, of: sender)
            for piece in pieces { #expect(try spool.next() == piece) }
            #expect(try spool.next() == nil)
            #expect(try file.seekToEnd() == end)
            try spool.append(next)
        }
        do {
            let spool = try SnapshotSpool(files, of: sender)
            for piece in pieces + [next] { #expect(try spool.next() == piece) }
            #expect(try spool.next() == nil)
        }
        for other in [
            SnapshotSender(cluster: "other", node: sender.node, incarnation: 7),
            SnapshotSender(cluster: "default", node: NodeID(SHA256().digest([2])), incarnation: 7),
            SnapshotSender(cluster: "default", node: sender.node, incarnation: 8),
        ] {
            let spool = try SnapshotSpool(files, of: other)
            #expect(try spool.next() == nil)
            try spool.append(next)
        }
        #expect(try SnapshotSpool(files, of: sender).next() == nil)
    }
}

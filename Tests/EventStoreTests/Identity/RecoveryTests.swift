import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What a store does before it believes what the page cache says (INV-1).
struct RecoveryTests {
    /// A copy of a store that is open, as a killed process leaves it.
    private struct Killed {
        let folder = TemporaryFolder()
        var files: StoreFiles { StoreFiles(folder.path) }

        init(_ source: String) throws {
            try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
            for name in ["log.db", "log.db-wal", "node.key"] {
                try FileManager.default.copyItem(atPath: "\(source)/\(name)", toPath: folder.file(name))
            }
        }

        func size(_ path: String) -> Int {
            (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        }
    }

    private func fill(_ store: EventStore, _ count: Int) throws {
        for number in 0..<count { _ = try store.appendBlocking([.message("\(number) 말", user: "u-\(number % 7)")]) }
    }

    @Test("The frames of a WAL are those that SQLite takes: up to the last that commits, none behind a changed byte")
    func frames() throws {
        let (folder, store) = try makeStore()
        try fill(store, 30)
        let killed = try Killed(folder.path)
        let wal = killed.files.log + "-wal"
        func read() throws -> WALInspection? {
            try WALInspection(path: wal).flatMap { $0.end > 0 ? $0 : nil }
        }
        let whole = try #require(try read())
        #expect(whole.pageSize == 4_096 && whole.pages.count > 3 && (whole.end - 32) % 4_120 == 0)
        store.close()
        // As many frames as SQLite itself counts.
        let connection = try Connection(path: killed.files.log, mode: .write)
        _ = try connection.integer("SELECT count(*) FROM event")
        #expect(try connection.checkpoint().wal == (whole.end - 32) / 4_120)

        var bytes = try Data(contentsOf: URL(filePath: wal))
        bytes[32 + 4_120 * 10 + 700] ^= 1
        try bytes.write(to: URL(filePath: wal))
        let cut = try #require(try read())
        #expect(cut.end <= 32 + 4_120 * 10 && cut.end > 0)
        try Data(repeating: 0, count: 9_000).write(to: URL(filePath: wal))
        #expect(try read() == nil)
    }

    @Test("After a kill the whole WAL is in log.db, which alone has every event")
    func copied() throws {
        let (folder, store) = try makeStore()
        try fill(store, 50)
        let killed = try Killed(folder.path)
        store.close()
        #expect(try Recovery.run(killed.files) == nil)
        #expect(killed.size(killed.files.log + "-wal") == 0)
        #expect(try LogReader(killed.files).top() == 51)
        #expect(try Verifier(killed.files).run().isIntact)
    }

    @Test("Somebody who reads does not hold up the start; pages that were copied before are written again")
    func whileRead() throws {
        let (folder, store) = try makeStore()
        try fill(store, 20)
        let killed = try Killed(folder.path)
        store.close()
        let reader = try Connection(path: killed.files.log, mode: .read)
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM event") == 21)
        let writer = try Connection(path: killed.files.log, mode: .write)
        try writer.execute("PRAGMA wal_autocheckpoint = 0; CREATE TABLE later(n); INSERT INTO later VALUES(1);")
        #expect(try writer.checkpoint().copied > 0)
        #expect(writer.backfilledPages() > 0)
        let length = killed.size(killed.files.log + "-wal")
        let written = try changed(killed.files.log)
        usleep(20_000)
        let start = MonotonicClock.now
        #expect(try Recovery.run(killed.files) == nil)
        #expect(MonotonicClock.now - start < 5_000_000_000)
        #expect(killed.size(killed.files.log + "-wal") == length)
        // No more could be copied than before: this is what was copied then.
        #expect(try changed(killed.files.log) > written)
        try reader.execute("COMMIT")
        #expect(try Recovery.run(killed.files) == nil)
        #expect(killed.size(killed.files.log + "-wal") == 0)
        #expect(try LogReader(killed.files).top() == 21)
        #expect(try Verifier(killed.files).run().isIntact)
    }

    /// When a file was written last, nanoseconds.
    private func changed(_ path: String) throws -> Int {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
    }

    @Test("A store whose disk has failed says so at the next start, builds its views anew, and forgets it")
    func remembered() throws {
        let (folder, store) = try makeStore()
        try fill(store, 20)
        let killed = try Killed(folder.path)
        store.close()
        try Data("not views".utf8).write(to: URL(filePath: killed.files.views))
        DiskFailure(reason: "the sync of log.db-wal failed", at: 1_700_000_000_000).keep(killed.files)
        let again = try EventStore(opening: killed.folder.path, surroundings: .unknown)
        #expect(again.diskFailure == DiskFailure(reason: "the sync of log.db-wal failed", at: 1_700_000_000_000))
        #expect(!FileManager.default.fileExists(atPath: killed.files.views))
        #expect(DiskFailure(killed.files) == nil)
        #expect(again.failure == nil)
        again.close()
        #expect(try Verifier(killed.files).run().isIntact)
    }

    @Test(
        "A file of the failure that nobody can read is a failure; with it all of a log without WAL is written again")
    func unreadable() throws {
        let (folder, store) = try makeStore()
        try fill(store, 20)
        store.close()
        let files = StoreFiles(folder.path)
        try Data().write(to: URL(filePath: files.diskFailure))
        #expect(try Recovery.run(files) != nil)
        #expect(DiskFailure(files) == nil)
        #expect(try Verifier(files).run().isIntact)
    }

    @Test("After a failed sync the store says why it stores no more, leaves its WAL, and the next start knows")
    func failed() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "test")
        let files = StoreFiles(folder.path)
        let pem = try #require(try SmallFile.read(files.key))
        let key = try #require(SigningKey(pem: pem))
        let isBroken = Lock(false)
        let writer = try LogWriter(
            files: files, durability: .full, signer: HeadSigner(key: key), witness: nil, wall: { WallClock.now },
            waitForDisk: { _ throws(StoreError) in if isBroken.withLock({ $0 }) { throw .io("gone") } })
        let told = Lock<[StoreError]>([])
        writer.observeFailure { error in told.withLock { $0.append(error) } }
        let request = try #require(DraftValidation([.message("a", user: "u")], .each).request(nil))
        _ = try writer.appendBlocking(request)
        isBroken.withLock { $0 = true }
        let other = try #require(DraftValidation([.message("b", user: "u")], .each).request(nil))
        #expect(throws: StoreError.io("gone")) { try writer.appendBlocking(other) }
        isBroken.withLock { $0 = false }
        // Nothing a later sync says is believed.
        #expect(throws: StoreError.io("gone")) { try writer.appendBlocking(other) }
        #expect(writer.failure == .io("gone") && told.withLock { $0 } == [.io("gone")])
        writer.close()
        #expect(DiskFailure(files)?.reason == StoreError.io("gone").description)
        let size = try FileManager.default.attributesOfItem(atPath: files.log + "-wal")[.size] as? Int
        #expect(try #require(size) > 0, "the WAL was copied and thrown away")
    }
}

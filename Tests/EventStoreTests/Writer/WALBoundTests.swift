import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A reader that does not end, and the WAL that it keeps.
struct WALBoundTests {
    private func size(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    @Test("A program that holds the lock of those who write is named, and health says so until a commit succeeds")
    func locked() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) { store.close() } }
        let other = try Connection(path: store.files.log, mode: .write)
        try other.execute("BEGIN IMMEDIATE")
        let refused = StoreError.busy("this process itself holds the lock of those who write log.db")
        #expect(throws: refused) { try store.appendBlocking([.message("m", user: "u")]) }
        #expect(store.obstacle == refused)
        try other.execute("ROLLBACK")
        #expect(WALReaders.writer(of: store.files.log) == nil)
        _ = try store.appendBlocking([.message("m", user: "u")])
        #expect(store.obstacle == nil)
    }

    @Test(
        "The WAL grows while somebody reads an old state, who is named, and is short again soon after, without any commit",
        arguments: [CheckpointPolicy.most + 2_000, WALStanding.long + 1_000])
    func held(pages: Int) throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) { store.close() } }
        let wal = store.files.log + "-wal"
        _ = try store.appendBlocking([.message("first", user: "u")])
        let reader = try Connection(path: store.files.log, mode: .read)
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM event") == 2)
        let text = String(repeating: "말", count: 6_000)
        while size(wal) < Connection.walBytes(pages: pages) {
            _ = try store.appendBlocking((0..<200).map { .message("\($0) \(text)", user: "u") })
        }
        let isHeld = { store.wal.held != nil }
        waitWhile(every: 10_000, !isHeld())
        let standing = store.wal
        #expect(standing.held?.reader == "this process itself", "\(standing.text)")
        #expect(standing.bytes >= Connection.walBytes(pages: pages - 1_000) && !standing.isFull)
        try reader.execute("COMMIT")
        waitWhile(every: 10_000, size(wal) > 20 << 20)
        #expect(size(wal) < 20 << 20)
        #expect(store.wal.held == nil)
        _ = try store.appendBlocking([.message("last", user: "u")])
        #expect(try reader.integer("SELECT count(*) FROM event WHERE payload LIKE '%last%'") == 1)
    }

    @Test("While the WAL has its greatest length events are refused with the reason, and everything else goes on")
    func full() throws {
        var queue = WriteQueue(committer: nil)
        queue.walObstacle = "a reader, pid 7 (sqlite3)"
        let request = try #require(DraftValidation([.message("a", user: "u")], .each).request(nil))
        #expect(queue.refusal(of: .append(request) { _ in }) == .busy("a reader, pid 7 (sqlite3)"))
        #expect(queue.refusal(of: .flush { _ in }) == nil)
        #expect(queue.obstacle == .busy("a reader, pid 7 (sqlite3)"))
        queue.failure = .io("gone")
        #expect(queue.obstacle == .io("gone"))
        let standing = WALStanding("log.db-wal", pages: WALStanding.most, held: (312_000, "pid 7 (sqlite3)"))
        #expect(standing.isFull && standing.isProblem && standing.bytes <= 1 << 30)
        #expect(
            standing.text.contains("1023 MiB") && standing.text.contains("312 s")
                && standing.text.contains("pid 7 (sqlite3)"))
        #expect(!WALStanding("log.db-wal", pages: WALStanding.long, held: (2_000, nil)).isProblem)
        #expect(WALStanding("log.db-wal", pages: WALStanding.long, held: (10_000, nil)).isProblem)
    }

    @Test("Of several readers the one is named that sees least of the WAL")
    func oldest() throws {
        let folder = try TemporaryFolder.made()
        let path = try folder.write(Data(), to: "log.db")
        let shm = try folder.write(Data(), to: "log.db-shm")
        var entry = stat()
        #expect(stat(shm, &entry) == 0)
        let inode = entry.st_ino
        let locks = """
            1: POSIX  ADVISORY  READ 11 08:01:\(inode) 128 128
            2: POSIX  ADVISORY  READ 12 08:01:\(inode) 124 124
            3: POSIX  ADVISORY  READ 13 08:01:\(inode + 1) 125 125
            4: FLOCK  ADVISORY  WRITE 14 08:01:\(inode) 0 EOF
            5: POSIX  ADVISORY  READ 2147483646 08:01:\(inode) 126 127
            6: POSIX  ADVISORY  WRITE 15 08:01:\(inode) 123 123
            """
        let file = try folder.write(Data(locks.utf8), to: "locks")
        #expect(WALReaders.oldest(of: path, marks: [0, 900, 0, 20, 30], locks: file) == "pid 2147483646")
        #expect(WALReaders.oldest(of: path, marks: [0, 9, 0, 20, 30], locks: file)?.hasPrefix("pid 12") == true)
        #expect(WALReaders.oldest(of: folder.file("none.db"), locks: file) == nil)
        #expect(WALReaders.oldest(of: path, locks: folder.file("none")) == nil)
    }
}

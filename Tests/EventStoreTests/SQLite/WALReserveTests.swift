import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Room in the WAL for commits that are still to come.
struct WALReserveTests {
    private let folder = TemporaryFolder()
    private var database: String { folder.path + "/log.db" }
    private var wal: String { database + "-wal" }

    private func size(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    private func put(_ count: Int) throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try Data(repeating: 7, count: count).write(to: URL(fileURLWithPath: wal))
    }

    @Test("Pieces are added behind what is there, which stays as it is, until there is room for all")
    func pieces() throws {
        try put(1_000)
        var reserve = WALReserve(database: database, most: WALReserve.piece * 2)
        #expect(!reserve.isShort(WALReserve.piece / 4 - 1) && reserve.isShort(WALReserve.piece / 4))
        let first = reserve.extend()
        #expect(try #require(first).sync())
        #expect(size(wal) == WALReserve.piece + 1_000)
        #expect(!reserve.isComplete && !reserve.isShort(WALReserve.piece / 4) && reserve.isShort(WALReserve.piece))
        let second = reserve.extend()
        #expect(try #require(second).sync())
        #expect(size(wal) == WALReserve.piece * 2)
        #expect(reserve.isComplete && !reserve.isShort(WALReserve.piece * 2) && reserve.extend() == nil)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: wal))
        #expect(bytes.prefix(1_000).allSatisfy { $0 == 7 } && bytes.dropFirst(1_000).allSatisfy { $0 == 0 })
    }

    @Test("Nothing is added to a WAL that is not there, or is long enough")
    func nothing() throws {
        var missing = WALReserve(database: database, most: WALReserve.piece)
        #expect(missing.extend() == nil && missing.isComplete)
        try put(WALReserve.piece)
        var enough = WALReserve(database: database, most: WALReserve.piece)
        #expect(enough.extend() == nil && enough.isComplete && size(wal) == WALReserve.piece)
    }

    @Test("On a full disk nothing is added, then or later")
    func full() throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: wal, withDestinationPath: "/dev/full")
        var reserve = WALReserve(database: database, most: WALReserve.piece)
        #expect(reserve.extend() == nil && reserve.isComplete && !reserve.isShort(WALReserve.piece))
    }

    @Test("When nothing happens room is made; what is appended before and after it survives a crash")
    func crash() throws {
        try EventStore.create(in: folder.path, name: "test")
        let store = try EventStore(opening: folder.path)
        defer { store.close() }
        _ = try store.appendBlocking((0..<40).map { .message("\($0)", user: "u") })
        let started = MonotonicClock.now
        let length = Connection.walBytes(pages: CheckpointPolicy.due.upperBound + CheckpointPolicy.rest)
        while size(wal) < length, MonotonicClock.now - started < 60_000_000_000 { sleepMilliseconds(5) }
        #expect(size(wal) == length)
        for number in 40..<80 { _ = try store.appendBlocking([.message("\(number)", user: "u")]) }
        #expect(size(wal) == length)

        let copy = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
        for name in ["log.db", "log.db-wal", "node.key", "mark.json", "log.end"] {
            try FileManager.default.copyItem(atPath: "\(folder.path)/\(name)", toPath: "\(copy.path)/\(name)")
        }
        #expect(try LogReader(StoreFiles(copy.path)).top() == 81)
        let again = try EventStore(opening: copy.path, surroundings: .unknown)
        #expect(try again.appendBlocking([.message("80", user: "u")]).first?.receipt?.position == 82)
        again.close()
        #expect(size(copy.path + "/log.db-wal") == 0)
        #expect(try verify(copy).isIntact)
    }

    @Test("Commits that go on without a pause ask for room before they need it; what is not synced needs none")
    func stream() throws {
        try EventStore.create(in: folder.path, name: "test")
        let files = StoreFiles(folder.path)
        let pem = try #require(try SmallFile.read(files.key))
        let key = try #require(SigningKey(pem: pem))
        let committer = try Committer(
            files: files, durability: .full, signer: HeadSigner(key: key), wall: { WallClock.now })
        #expect(!committer.isReserveDue && !committer.isReserved)
        func append(_ bytes: Int) throws {
            let drafts = [EventDraft.message(String(repeating: "x", count: bytes), user: "u")]
            let request = try #require(DraftValidation(drafts, .whole).request(nil))
            _ = try committer.transactions.append(request).get()
        }
        try append(1_000)
        #expect(!committer.isReserveDue)
        while !committer.isReserveDue { try append(100_000) }
        #expect(size(wal) < WALReserve.piece)
        #expect(try #require(committer.extendReserve()).sync())
        #expect(!committer.isReserveDue && size(wal) > WALReserve.piece)
        let length = size(wal)
        while !committer.isReserveDue { try append(100_000) }
        #expect(size(wal) == length)

        let other = TemporaryFolder()
        try EventStore.create(in: other.path, name: "test")
        let quick = try Committer(
            files: StoreFiles(other.path), durability: .normal, signer: HeadSigner(key: key), wall: { WallClock.now })
        #expect(quick.isReserved && quick.extendReserve() == nil)
    }
}

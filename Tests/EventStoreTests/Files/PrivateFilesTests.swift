import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What other users of the machine can do with a store's files.
struct PrivateFilesTests {
    private func mode(_ path: String) throws -> UInt32 {
        var entry = stat()
        try #require(lstat(path, &entry) == 0, "\(path)")
        return entry.st_mode & 0o7777
    }

    @Test("Every file of a store is its owner's only, whatever the umask lets through (INV-13)")
    func modes() throws {
        let folder = TemporaryFolder()
        let before = umask(0)
        defer { umask(before) }
        try EventStore.create(in: folder.path, name: "test")
        let store = try EventStore(opening: folder.path)
        _ = try store.appendBlocking([.message("a", user: "u")])
        let projector = try Projector(store.files)
        try projector.catchUp()
        #expect(try mode(folder.path) == 0o700)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            #expect(try mode(folder.file(name)) == 0o600, "\(name)")
        }
        #expect(FileManager.default.fileExists(atPath: store.files.log + "-wal"))
        #expect(FileManager.default.fileExists(atPath: store.files.views + "-shm"))
        store.close()
    }

    @Test("What a backup brings is closed to others when it is opened; a group stays where the folder is open to it")
    func restored() throws {
        for (folderMode, fileMode, restored): (mode_t, UInt32, mode_t) in [
            (0o700, 0o600, 0o644), (0o750, 0o640, 0o644), (0o2750, 0o640, 0o664), (0o755, 0o640, 0o646),
        ] {
            let folder = TemporaryFolder()
            try EventStore.create(in: folder.path, name: "test")
            let first = try EventStore(opening: folder.path)
            try Projector.catchUp(first.files)
            first.close()
            chmod(folder.path, folderMode)
            let key = try mode(first.files.key)
            for path in [first.files.log, first.files.views, first.files.mark] { chmod(path, restored) }
            let store = try EventStore(opening: folder.path)
            _ = try store.appendBlocking([.message("a", user: "u")])
            let projector = try Projector(store.files)
            try projector.catchUp()
            // The views are made anew: their file is not as the node left it.
            for (path, expected) in [(store.files.log, fileMode), (store.files.views, 0o600)] {
                for suffix in ["", "-wal", "-shm"] {
                    #expect(try mode(path + suffix) == expected, "\(path)\(suffix)")
                }
            }
            #expect(try mode(store.files.key) == key)
            store.close()
        }
    }

    @Test("A pipe, a folder or a link to nowhere among the evidence keeps nobody from opening or proving a store")
    func evidence() throws {
        let (folder, store) = try makeStore()
        store.close()
        try FileManager.default.createDirectory(atPath: store.files.evidence, withIntermediateDirectories: true)
        for kind in ["cut", "witness"] {
            #expect(mkfifo(store.files.evidence + "/\(kind)-0123456789abcdef.json", 0o600) == 0)
        }
        #expect(mkfifo(store.files.evidence + "/fork-x.json", 0o600) == 0)
        #expect(mkdir(store.files.evidence + "/fork-y.json", 0o700) == 0)
        #expect(symlink("/nowhere", store.files.evidence + "/fork-z.json") == 0)
        let again = try EventStore(opening: folder.path)
        #expect(try ForkEvidence.list(again.files).isEmpty && CutEvidence.list(again.files).isEmpty)
        again.close()
        #expect(try Verifier(again.files).run().answer == .proven)
    }

    @Test("Where a pipe or a folder stands beside the log no verdict is given; a link to nowhere is nothing")
    func besideTheLog() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        store.close()
        for name in ["-wal", "-shm", "-journal"] {
            let path = store.files.log + name
            unlink(path)
            #expect(symlink("/nowhere", path) == 0)
            #expect(try Verifier(store.files).run().answer == .proven, "\(name)")
            unlink(path)
            #expect(mkfifo(path, 0o600) == 0)
            #expect(throws: StoreError.self, "\(name)") { try Verifier(store.files).run() }
            unlink(path)
            #expect(mkdir(path, 0o700) == 0)
            #expect(throws: StoreError.self, "\(name)") { try Verifier(store.files).run() }
            rmdir(path)
        }
    }

    @Test(
        "A folder that others can write to is refused with the command that mends it; one that they can read is not")
    func writable() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "test")
        for bits: mode_t in [0o770, 0o702, 0o1777] {
            chmod(folder.path, bits)
            let error = #expect(throws: StoreError.self) { try EventStore(opening: folder.path) }
            #expect(error?.code == "E_UNSAFE" && error?.description.contains("chmod go-w \(folder.path)") == true)
        }
        chmod(folder.path, 0o755)
        try EventStore(opening: folder.path).close()
        let other = try TemporaryFolder.made()
        chmod(other.path, 0o777)
        #expect(throws: StoreError.self) { try EventStore.create(in: other.path, name: "test") }
    }

    @Test("Who only looks who has a store open does not keep it from its owner")
    func looks() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "test")
        let files = StoreFiles(folder.path)
        let look = open(files.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(look, LOCK_SH | LOCK_NB) == 0)
        let looker = Thread {
            usleep(200_000)
            close(look)
        }
        looker.start()
        try EventStore(opening: folder.path).close()
        waitWhile(!looker.isFinished)
        // One who has it is told at once.
        let lock = try StoreLock(files, owner: "somebody")
        let start = MonotonicClock.now
        let error = #expect(throws: StoreError.self) { try StoreLock(files, owner: "a test") }
        #expect(error?.code == "E_LOCKED" && MonotonicClock.now - start < 5_000_000_000)
        withExtendedLifetime(lock) {}
    }

    @Test("A link in the place of a temporary file or of the lock is not followed")
    func links() throws {
        let folder = try TemporaryFolder.made()
        let victim = try folder.write(Data("precious".utf8), to: "victim")
        let link = folder.file("peers.json.tmp")
        #expect(symlink(victim, link) == 0)
        try SmallFile.replace(folder.file("peers.json"), with: Array("new".utf8), mode: 0o600)
        #expect(try SmallFile.read(folder.file("peers.json")) == Array("new".utf8))
        #expect(try SmallFile.read(victim) == Array("precious".utf8))
        #expect(!FileManager.default.fileExists(atPath: link))

        let files = StoreFiles(folder.path)
        #expect(symlink(victim, files.lock) == 0)
        let error = #expect(throws: StoreError.self) { try StoreLock(files, owner: "a test") }
        #expect(error?.code == "E_UNSAFE")
        #expect(try SmallFile.read(victim) == Array("precious".utf8))
    }

    @Test(
        "A pipe in the place of a database or its WAL is named at once, by who writes and who reads",
        .timeLimit(.minutes(5)), arguments: ["log.db", "log.db-wal", "views.db", "views.db-wal"])
    func databasePipes(name: String) throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([.message("m", user: "u")])
        try Projector(store.files).catchUp()
        store.close()
        let path = folder.file(name)
        unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        let refused = StoreError.unsafe("\(path) is no file: look at what stands there, and take it away")
        if name.hasPrefix("log") {
            #expect(throws: refused) { try EventStore(opening: folder.path) }
            #expect(throws: refused) { try LogReader(store.files).top() }
        } else {
            #expect(throws: refused) { try ViewReader(store.files) }
            let again = try EventStore(opening: folder.path)
            let thread = ProjectorThread(again.files, top: 2)
            let isFresh = thread.wait(for: 2, milliseconds: 1_000)
            #expect(isFresh || thread.lastError == refused)
            thread.stop()
            again.close()
        }
    }

    @Test(
        "A pipe, a folder or gigabytes in the place of a small file are refused at once", .timeLimit(.minutes(5)),
        arguments: ["peers.json", "node.key", "invitations.json", "lock"])
    func noFile(name: String) throws {
        let folder = try TemporaryFolder.made()
        let path = folder.file(name)
        func refused() -> String? {
            do throws(StoreError) {
                if name == "lock" {
                    _ = try StoreLock(StoreFiles(folder.path), owner: "a test")
                } else {
                    _ = try SmallFile.read(path)
                }
                return nil
            } catch {
                return error.code
            }
        }
        #expect(mkfifo(path, 0o600) == 0)
        #expect(refused() == "E_UNSAFE")
        #expect(StoreLock.owner(StoreFiles(folder.path)) == nil)
        unlink(path)
        #expect(mkdir(path, 0o700) == 0)
        #expect(refused() != nil)
        rmdir(path)
        try Data().write(to: URL(filePath: path))
        // Sparse: it takes no room.
        #expect(truncate(path, 3 << 30) == 0)
        #expect(refused() == "E_UNSAFE")
    }

    @Test("A schema from elsewhere may call nothing but what computes, and impossible cells are damage")
    func connections() throws {
        let folder = try TemporaryFolder.made()
        let path = folder.file("x.db")
        for mode in [Connection.Mode.write, .read, .immutable] {
            let connection = try Connection(path: path, mode: mode)
            #expect(try connection.integer("PRAGMA trusted_schema") == 0)
            #expect(try connection.integer("PRAGMA cell_size_check") == 1)
        }
    }
}

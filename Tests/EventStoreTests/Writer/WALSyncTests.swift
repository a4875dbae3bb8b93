import Foundation
import TestSupport
import Testing

@testable import EventStore

/// The one line that asks the kernel whether the disk has a commit.
struct WALSyncTests {
    @Test("What the kernel refuses to sync is an error of the disk (INV-1)")
    func refused() throws {
        let folder = try TemporaryFolder.made()
        // A pipe cannot be synced: EINVAL.
        #expect(mkfifo(folder.file("x-wal"), 0o600) == 0)
        let other = open(folder.file("x-wal"), O_RDWR)
        defer { close(other) }
        let wal = try WALSync(database: folder.file("x"))
        let error = #expect(throws: StoreError.self) { try wal.run(awake: false) }
        guard case .io(let what)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(what.contains("x-wal"))
    }

    @Test("A lack of room that a sync tells of is no refusal which may be tried again: what was written is gone")
    func full() {
        errno = ENOSPC
        #expect(StoreError.failedSync("log.db-wal").code == "E_IO")
        errno = EROFS
        #expect(StoreError.system("log.db").code == "E_READ_ONLY")
    }
}

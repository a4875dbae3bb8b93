import Foundation
import TestSupport
import Testing

@testable import EventStore
@testable import SyncEngine

/// The peers that were added with `syncctl`, as a file of the store.
struct PeersFileTests {
    @Test("It is its owner's only, whatever the umask lets through (INV-13)")
    func mode() throws {
        let folder = TemporaryFolder()
        let before = umask(0)
        defer { umask(before) }
        try EventStore.create(in: folder.path, name: "test")
        let files = StoreFiles(folder.path)
        try PeersFile.save([], files)
        var entry = stat()
        try #require(lstat(files.peers, &entry) == 0)
        #expect(entry.st_mode & 0o7777 == 0o600)
        #expect(try PeersFile.load(files).isEmpty)
    }
}

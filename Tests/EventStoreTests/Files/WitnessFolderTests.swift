import Foundation
import TestSupport
import Testing

@testable import EventStore

struct WitnessFolderTests {
    @Test("A witness folder of the store's owner is sound, whoever looks; one of another user is not")
    func owner() throws {
        guard geteuid() == 0 else { return print("skipped: only root gives files away") }
        let store = try TemporaryFolder.made()
        let witness = try TemporaryFolder.made()
        for path in [store.path, witness.path] {
            #expect(chmod(path, 0o700) == 0 && chown(path, 65_534, 65_534) == 0)
        }
        let files = StoreFiles(store.path)
        #expect(files.weakness(ofWitness: witness.path) == nil)
        #expect(chown(witness.path, 65_533, 65_533) == 0)
        #expect(files.weakness(ofWitness: witness.path)?.contains("another user") == true)
        #expect(chown(witness.path, 0, 0) == 0)
        #expect(files.weakness(ofWitness: witness.path) == nil)
    }
}

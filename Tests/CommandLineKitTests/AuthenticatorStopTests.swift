import EventStore
import TestSupport
import Testing

@testable import syncd

/// A daemon ends soon, whatever its views lack: on a full disk nothing is applied, and who reads tokens waits for that.
struct AuthenticatorStopTests {
    @Test("Where views do not come, commits of tokens do not queue readings that the end has to wait for")
    func stops() throws {
        let folder = try TemporaryFolder.made()
        let path = folder.file("store")
        try EventStore.create(in: path, name: "n")
        let store = try EventStore(opening: path)
        defer { store.close() }
        // It is told of no event, so that each reading waits as long as a reading may.
        let views = ProjectorThread(StoreFiles(folder.file("elsewhere")), top: 0)
        defer { views.stop() }
        let authenticator = try Authenticator(store, views, DaemonConfiguration.API(), TokenIssuers { _, _ in })
        for number in 0..<8 {
            let draft = EventDraft(
                type: "access.revoked", user: "node/\(store.identity.node)",
                payload: Array(#"{"credential":"c-\#(number)"}"#.utf8))
            _ = try #require(try store.recordBlocking([draft]).first?.receipt)
        }
        let start = ContinuousClock.now
        authenticator.stop()
        #expect(ContinuousClock.now - start < .seconds(8))
    }
}

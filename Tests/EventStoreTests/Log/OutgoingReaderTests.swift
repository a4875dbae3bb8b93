import TestSupport
import Testing

@testable import EventStore

struct OutgoingReaderTests {
    @Test("What sessions have not been told of does not leave, though it is committed and covered by a head")
    func notBeforeItIsTold() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path, durability: .normal)
        _ = try store.appendBlocking((0..<40).map { .message("\($0)", user: "u") })
        let reader = try OutgoingReader(store)
        let first = try reader.batch(
            after: 0, lacking: VersionVector(), limits: OutgoingLimits(through: 21))
        #expect(first.events.count == 21 && first.through == 21 && first.isAtTop)
        #expect(first.coverage.map(\.head.head.size) == [41] || first.coverage.map(\.head.head.size) == [21])
        let nothing = try reader.batch(
            after: first.through, lacking: VersionVector(first.advanced), limits: OutgoingLimits(through: 21))
        #expect(nothing.events.isEmpty && nothing.through == 21 && nothing.isAtTop)
        let rest = try reader.batch(
            after: nothing.through, lacking: VersionVector(first.advanced), limits: OutgoingLimits(through: 41))
        #expect(rest.events.count == 20 && rest.through == 41)
        store.close()
    }
}

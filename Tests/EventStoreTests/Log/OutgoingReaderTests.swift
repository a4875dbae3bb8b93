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

    @Test("What is committed while it is looked up what a peer lacks is not passed over (INV-12)")
    func committedBetweenReads() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path, durability: .normal)
        _ = try store.appendBlocking((0..<40).map { .message("\($0)", user: "u") })
        let log = BusyLog(try LogReader(store.files)) {
            _ = try? store.appendBlocking([.message("그사이", user: "u")])
        }
        let reader = OutgoingReader(log) { store.head() }
        let known = try log.reader.vector()
        let start = try reader.start(for: known)
        #expect(try log.reader.top() > 41)
        let batch = try reader.batch(after: start, lacking: known, limits: OutgoingLimits())
        #expect(UInt64(batch.events.count) == (try log.reader.top()) - 41)
        store.close()
    }
}

/// A log to which something is appended after each read.
private struct BusyLog: OutgoingLog {
    let reader: LogReader
    let grow: () -> Void

    init(_ reader: LogReader, grow: @escaping () -> Void) {
        self.reader = reader
        self.grow = grow
    }

    func top() throws(StoreError) -> UInt64 {
        defer { grow() }
        return try reader.top()
    }
    func vector() throws(StoreError) -> VersionVector {
        defer { grow() }
        return try reader.vector()
    }
    func event(_ dot: Dot) throws(StoreError) -> StoredEvent? { try reader.event(dot) }
    func scan(
        after position: UInt64, limit: Int, _ body: (StoredEvent) -> Bool
    ) throws(StoreError) -> UInt64 { try reader.scan(after: position, limit: limit, body) }
    func head(of origin: OriginID, atLeast size: UInt64, largest: Bool) throws(StoreError) -> SignedHead? {
        try reader.head(of: origin, atLeast: size, largest: largest)
    }
    func consistency(
        of origin: OriginID, from old: UInt64, to new: UInt64, using sha: SHA256
    ) throws(StoreError) -> [Digest] { try reader.consistency(of: origin, from: old, to: new, using: sha) }
    func reach(of origin: OriginID) throws(StoreError) -> Reach? { try reader.reach(of: origin) }
    func coverage(ofFirst old: UInt64, by reach: Reach, using sha: SHA256) throws(StoreError) -> Coverage? {
        try reader.coverage(ofFirst: old, by: reach, using: sha)
    }
}

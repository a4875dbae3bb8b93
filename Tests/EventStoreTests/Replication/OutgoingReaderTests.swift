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

    @Test(
        "Batches that are cut at a tiny limit are the whole log, one after the other (INV-12)",
        arguments: [200, 700, 3_000])
    func tinyFrames(frame: Int) throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path, durability: .normal)
        var foreign = ForeignOrigin(3, name: "f")
        for number in 0..<20 {
            _ = try store.appendBlocking([.message(String(repeating: "x", count: number * 17), user: "u")])
            foreign.add(.message("말 \(number)", user: "u"))
        }
        try foreign.send(to: store)
        let log = try LogReader(store.files)
        let reader = OutgoingReader(log) { store.head() }
        var (known, after) = (VersionVector(), UInt64(0))
        var dots: [Dot] = []
        while true {
            let batch = try reader.batch(
                after: after, lacking: known, limits: OutgoingLimits(bytes: 1 << 20, frame: frame))
            dots += try batch.events.map { try EventHeader(canonicalBytes: $0.header).dot }
            for dot in batch.advanced { known.advance(to: dot) }
            after = batch.through
            if batch.isAtTop { break }
            #expect(!batch.events.isEmpty)
        }
        var all: [Dot] = []
        _ = try log.scan(after: 0, limit: 1_000) { stored in
            all.append(stored.event.header.dot)
            return true
        }
        #expect(dots == all && all.count == 42 && after == 42)
        store.close()
    }

    @Test("A batch ends before the first event that no head covers, and waits there (INV-3)")
    func uncovered() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path, durability: .normal)
        var foreign = ForeignOrigin(3, name: "f")
        for number in 0..<5 { foreign.add(.message("\(number)", user: "u")) }
        try foreign.send(to: store)
        store.close()
        // As an earlier release left it: the last event has neither a head nor a reach.
        let connection = try Connection(path: store.files.log, mode: .write)
        let ref = try #require(try connection.integer("SELECT max(ref) FROM origin"))
        let sha = SHA256()
        try connection.execute("DELETE FROM head WHERE origin = \(ref)")
        try connection.execute("DELETE FROM reach WHERE origin = \(ref)")
        var shorter = MerkleRange()
        for item in foreign.received.dropLast() {
            shorter.append(sha.leaf(header: item.header, payloadDigest: sha.payloadDigest(item.body)), using: sha)
        }
        let head = TreeHead(origin: foreign.id, size: 5, root: shorter.root(using: sha), hlc: HybridTime(rawValue: 1))
        try MerkleStore(connection: connection, sha: sha).insertHead(
            SignedHead(signing: head, with: foreign.key), origin: ref)
        let reader = OutgoingReader(try LogReader(store.files)) { nil }
        let known = VersionVector([Dot(origin: store.identity.origin, seq: 1)])
        let batch = try reader.batch(after: 0, lacking: known, limits: OutgoingLimits())
        #expect(batch.advanced == [Dot(origin: foreign.id, seq: 5)])
        #expect(batch.through == 6 && batch.isAtTop)
    }

    @Test("A stored head of a size that no log can have is named as that, and vouches for nothing (D22)")
    func impossibleReach() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path, durability: .normal)
        var foreign = ForeignOrigin(3, name: "f")
        foreign.add(.message("1", user: "u"))
        try foreign.send(to: store)
        store.close()
        let connection = try Connection(path: store.files.log, mode: .write)
        let ref = try #require(try connection.integer("SELECT max(ref) FROM origin"))
        try connection.execute("DELETE FROM head WHERE origin = \(ref)")
        for size in [Int64.min + 1, 1 << 44] {
            try connection.execute(
                """
                INSERT OR REPLACE INTO reach(origin, size, head, root, hlc, signature, proof) \
                VALUES(\(ref), 2, \(size), zeroblob(32), 1, zeroblob(64), zeroblob(0))
                """)
            let findings = try Verifier(store.files).run().findings.map(\.description)
            #expect(findings.contains { $0.contains("states a size that no log has") }, "\(findings)")
            #expect(!findings.contains { $0.contains("column of the wrong kind") })
            let reader = OutgoingReader(try LogReader(store.files)) { nil }
            let known = VersionVector([Dot(origin: store.identity.origin, seq: 1)])
            let batch = try reader.batch(after: 0, lacking: known, limits: OutgoingLimits())
            #expect(batch.events.isEmpty && batch.through == 1)
        }
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
    func reach(of origin: OriginID) throws(StoreError) -> PendingCoverage? { try reader.reach(of: origin) }
    func coverage(ofFirst old: UInt64, by reach: PendingCoverage, using sha: SHA256) throws(StoreError) -> Coverage? {
        try reader.coverage(ofFirst: old, by: reach, using: sha)
    }
}

import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A log built from the pieces of a snapshot is as good as one that was written event by event.
struct SnapshotBuildTests {
    private static let sample = Result { try SampleStore() }

    @Test("Every kind of event arrives, and the log proves itself", arguments: [300, 4_096, 1 << 20])
    func everything(bytes: Int) throws {
        let sample = try Self.sample.get()
        let empty = try makeEmptyStore()
        try SnapshotPieces(of: sample.folder, bytes: bytes).build(in: empty)
        let store = try EventStore(opening: empty.path)
        store.close()

        let report = try verify(empty)
        #expect(report.isIntact, "\(report)")
        let sent = try allEvents(sample.folder)
        let received = try allEvents(empty)
        #expect(received.count == sent.count + 1)
        #expect(received.dropFirst().map(\.event) == sent.map(\.event))
        #expect(received.dropFirst().map(\.twinOf) == sent.map { $0.twinOf.map { $0 + 1 } })
        #expect(try !FileManager.default.contentsOfDirectory(atPath: empty.path).contains("snapshot"))
    }

    @Test("The store goes on as before: it appends, finds repeated ids, and keeps who it is")
    func goesOn() throws {
        let sample = try Self.sample.get()
        let empty = try makeEmptyStore()
        let identity = try StoreIdentity(try LogReader(StoreFiles(empty.path)))
        let key = try SmallFile.read(StoreFiles(empty.path).key)
        try SnapshotPieces(of: sample.folder).build(in: empty)
        let store = try EventStore(opening: empty.path)
        #expect(store.identity == identity)
        #expect(try SmallFile.read(StoreFiles(empty.path).key) == key)
        let repeated = EventDraft(
            id: SampleStore.fullID, type: "note.taken", time: 1_600_000_000_123, conversation: "c-full",
            user: "u-full", author: "doctor", cause: EventID(UUIDBits(high: 5, low: 6)), version: 2,
            payload: Array(#"{"text":"두통이 심해요","pain":7}"#.utf8))
        let outcomes = try store.appendBlocking([repeated, .message("new", user: "u-1", conversation: "c-1")])
        guard case .already(let receipt) = outcomes[0], case .appended(let new) = outcomes[1] else {
            Issue.record("\(outcomes)")
            return
        }
        store.close()
        // The file is another one, the log is the same: it is no copy, and no new origin is due.
        let again = try EventStore(opening: empty.path)
        #expect(again.identity == identity)
        again.close()
        #expect(receipt.position == UInt64(SampleStore.Position.full) + 1)
        #expect(new.position == sample.top + 2)
        #expect(try verify(empty).isIntact)
    }

    @Test("A head that speaks of more than came vouches for what came: it can be passed on, both ways (INV-12)")
    func reaches() throws {
        let (folder, store) = try makeStore(name: "full")
        let origin = store.identity.origin
        for number in 0..<12 {
            _ = try store.appendBlocking([.message("\(number)", user: "u-1", conversation: "c-1")])
        }
        store.close()
        let reader = try SnapshotReader(StoreFiles(folder.path))
        var cut = try SnapshotPieces(of: folder)
        cut.plan = SnapshotPlan(
            through: 6,
            progress: [
                OriginProgress(origin: origin, seq: 6, rootPrefix: try reader.log.root(of: origin, size: 6).prefix64)
            ])
        cut.pieces = [try reader.rows(after: 0, through: 6, bytes: 1 << 20)]
        cut.coverage = try reader.log.coverage(of: cut.plan, ownHead: nil)
        #expect(cut.coverage.first?.head.head.size == 13)

        let (second, third) = (try makeEmptyStore(), try makeEmptyStore())
        try cut.build(in: second)
        try EventStore(opening: second.path).close()
        #expect(try verify(second).isIntact)
        let log = try LogReader(StoreFiles(second.path))
        let batch = try OutgoingReader(log, ownHead: { nil })
            .batch(after: 0, lacking: VersionVector(), limits: OutgoingLimits())
        #expect(batch.advanced.contains(Dot(origin: origin, seq: 6)))
        #expect(batch.coverage.contains { $0.head.head.origin == origin && $0.head.head.size == 13 })

        try SnapshotPieces(of: second).build(in: third)
        try EventStore(opening: third.path).close()
        #expect(try verify(third).isIntact)
        #expect(try LogReader(StoreFiles(third.path)).vector()[origin] == 6)
        #expect(try LogReader(StoreFiles(third.path)).reach(of: origin)?.size == 6)
    }

    @Test("Rows longer than a page, and more pages than one interior page holds")
    func longRows() throws {
        let (folder, store) = try makeStore(name: "long")
        for size in [3_900, 4_000, 4_050, 4_100, 8_200, 70_000, 262_000] {
            _ = try store.appendBlocking([.message(String(repeating: "x", count: size), user: "u-\(size)")])
        }
        let text = String(repeating: "가나다", count: 400)
        for _ in 0..<2 {
            _ = try store.appendBlocking((0..<800).map { .message("\($0) \(text)", user: "u-\($0 % 7)") })
        }
        store.close()
        let empty = try makeEmptyStore()
        try SnapshotPieces(of: folder, bytes: 1 << 19).build(in: empty)
        try EventStore(opening: empty.path).close()
        let report = try verify(empty)
        #expect(report.isIntact, "\(report)")
        #expect(try allEvents(empty).dropFirst().map(\.event) == allEvents(folder).map(\.event))
    }

    @Test("Events that this release cannot read travel as they are (D13)")
    func poison() throws {
        let (folder, store) = try makeStore(name: "full")
        var origin = ForeignOrigin(1, name: "later")
        origin.add(.message("before", user: "u", conversation: "c"))
        let needs = Dot(origin: store.identity.origin, seq: 1)
        for poison in PoisonTests.Poison.allCases { poison.append(to: &origin, needs: [needs]) }
        let largest = origin.next(user: String(repeating: "u", count: Limits.header - 200))
        let salt = UUIDBits(high: 1, low: 2)
        origin.append(
            largest.canonicalBytes,
            .present(salt: salt, payload: [UInt8](repeating: 0x61, count: Limits.carriedPayload)))
        origin.append(
            origin.next(String(repeating: "t", count: 200)).canonicalBytes,
            .erased(payloadDigest: SHA256().digest([1])))
        origin.add(.message("after", user: "u", conversation: "c"))
        try origin.send(to: store)
        store.close()
        let empty = try makeEmptyStore()
        let pieces = try SnapshotPieces(of: folder, bytes: 1 << 20)
        // The largest row there can be fits a frame as it is.
        #expect(pieces.pieces.allSatisfy { $0.size < 1 << 20 })
        try pieces.build(in: empty)
        try EventStore(opening: empty.path).close()
        let report = try verify(empty)
        // No one can tell whose an event was whose header cannot be read and whose payload is gone.
        #expect(report.counts == [.erasures: 1], "\(report)")
        let sent = try allEvents(folder).map(\.event)
        #expect(try allEvents(empty).dropFirst().map(\.event) == sent)
        #expect(sent.count(where: { $0.header.isOpaque }) == 8)
        #expect(sent.count(where: { if case .unreadable = $0.body { true } else { false } }) == 7)
    }

    @Test("An origin whose clock is far ahead is flagged, as if its events had come one by one (D7)")
    func skew() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "ahead")
        let store = try EventStore(
            opening: folder.path, surroundings: HostFingerprint(machine: nil, file: nil),
            wall: { WallClock.now + 600_000 })
        _ = try store.appendBlocking([.message("tomorrow", user: "u")])
        let origin = store.identity.origin
        store.close()
        let empty = try makeEmptyStore()
        try SnapshotPieces(of: folder).build(in: empty)
        let opened = try EventStore(opening: empty.path)
        let receipt = try opened.appendBlocking([.message("now", user: "u")])
        opened.close()
        let flagged = try LogReader(StoreFiles(empty.path)).flaggedOrigins()
        #expect(flagged.map(\.origin) == [origin])
        guard case .appended(let own) = receipt[0] else { return #expect(Bool(false)) }
        #expect(own.hlc.milliseconds < WallClock.now + 60_000)
    }

    @Test("This node's own events come first, and are not stored twice when the peer has them too")
    func ownEvents() throws {
        let (folder, store) = try makeStore(name: "full")
        _ = try store.appendBlocking((0..<50).map { .message("\($0)", user: "u") })
        let (own, empty) = try makeStore(name: "own")
        _ = try empty.appendBlocking((0..<5).map { .message("own \($0)", user: "u") })
        try empty.flushBlocking()
        let batch = try OutgoingReader(empty).batch(after: 0, lacking: VersionVector(), limits: OutgoingLimits())
        let verified = try store.makeVerifierBlocking().verify(batch.events, batch.coverage)
        try blocking { store.ingest(verified, completion: $0) }
        _ = try store.appendBlocking((0..<50).map { .message("later \($0)", user: "u") })
        store.close()
        empty.close()
        let before = try allEvents(own)
        try SnapshotPieces(of: folder).build(in: own)
        try EventStore(opening: own.path).close()
        #expect(try verify(own).isIntact)
        let after = try allEvents(own)
        #expect(Array(after.prefix(before.count)) == before)
        #expect(after.count == 107)
    }

    @Test("The page that SQLite locks is left out")
    func lockPage() throws {
        for skipped in UInt32(20)..<60 {
            let folder = TemporaryFolder()
            try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
            let path = folder.path + "/pages.db"
            do {
                let connection = try Connection(path: path, mode: .write)
                try connection.execute("CREATE TABLE t(key INTEGER PRIMARY KEY, text TEXT)")
            }
            let file = try PageFile(path: path, skipping: skipped)
            var tree = TableTreeBuilder(file: file)
            var key = Int64(0)
            for _ in 0..<4 {
                var run = LeafRun()
                for _ in 0..<40 {
                    key += 1
                    let text = [UInt8](repeating: 0x61, count: key % 7 == 0 ? 9_000 : 500)
                    var record: [UInt8] = [4, 0]
                    let type = text.count * 2 + 13
                    record += [UInt8(0x80 | type >> 7 & 0x7f), UInt8(type & 0x7f)]
                    if type >= 1 << 14 {
                        record = [5, 0, UInt8(0x80 | type >> 14), UInt8(0x80 | type >> 7 & 0x7f), UInt8(type & 0x7f)]
                    }
                    (record + text).withUnsafeBytes { run.add(key, $0) }
                }
                run.finish()
                try file.append(&run) { number, last throws(DatabaseError) in
                    #expect(number != skipped)
                    try tree.add(leaf: number, lastKey: last)
                }
            }
            try tree.finish(root: 2)
            try file.finish()
            let connection = try Connection(path: path, mode: .read)
            let check = try connection.statement("PRAGMA integrity_check")
            #expect(try check.step())
            let verdict = check.text(0)
            check.reset()
            // The page that is left out here is an ordinary one to SQLite: it only misses it.
            #expect(
                verdict == "ok" || verdict == "Page \(skipped) is never used"
                    || verdict.hasSuffix("Page \(skipped) is never used"))
            #expect(try connection.integer("SELECT sum(length(text)) FROM t") == Int64(160 - 22) * 500 + 22 * 9_000)
        }
    }
}

import EventStore
import Foundation
import TestSupport
import Testing

@testable import SyncEngine

/// A full store that hands out its snapshot, and an empty one that takes it, without a network between them.
private final class Handover: Sendable {
    let full: TemporaryFolder
    let empty: TemporaryFolder
    let source: EventStore
    let target: EventStore
    let server: SnapshotServer
    let sender: SnapshotSender
    let offer: SnapshotOffer

    init(events: Int, minFree: UInt64 = 0) throws {
        (full, empty) = (TemporaryFolder(), TemporaryFolder())
        try EventStore.create(in: full.path, name: "full")
        try EventStore.create(in: empty.path, name: "empty")
        source = try EventStore(opening: full.path)
        target = try EventStore(opening: empty.path)
        let text = String(repeating: "어제부터 두통이 심해요 ", count: 40)
        for start in stride(from: 0, to: events, by: 1_000) {
            _ = try source.appendBlocking(
                (start..<min(start + 1_000, events)).map { number in
                    EventDraft(
                        type: "message.posted", user: "u-\(number % 97)",
                        payload: Array(#"{"text":"\#(number) \#(text)"}"#.utf8))
                })
        }
        try source.flushBlocking()
        server = SnapshotServer(store: source)
        sender = SnapshotSender(
            cluster: "default", node: source.identity.node, incarnation: source.identity.incarnation)
        let described = Monitor<SnapshotOffer?>(nil)
        server.describe { offer in
            described.update {
                $0 = offer
                return true
            }
        }
        offer = try #require(described.wait(milliseconds: 60_000) { $0 })
    }

    deinit {
        server.stop()
        source.close()
        target.close()
    }

    func makeIntake(minFree: UInt64 = 0) -> SnapshotReceiver {
        SnapshotReceiver(store: target, minFree: minFree, threads: 2, log: { _ in })
    }

    /// All parts after `after`, in order.
    ///
    /// - Parameters:
    ///   - prepared: Whether the first are read before they are asked for.
    ///   - compress: Whether the part of this number may be compressed.
    func parts(
        after: UInt64 = 0, prepared: Bool = false, compress: (Int) -> Bool = { _ in true }
    ) throws -> [SnapshotPart] {
        let feed = SnapshotFeed(server) { [source] in source.head() }
        if prepared { feed.prepare(offer) }
        var parts: [SnapshotPart] = []
        while parts.last?.isEnd != true {
            let request = SnapshotRead(
                offer: offer, after: parts.last?.last ?? after,
                parts: parts.last?.last == offer.through ? parts.count { $0.last == offer.through } - 1 : 0,
                bytes: 1 << 20, compress: compress(parts.count))
            parts.append(try wait { feed.read(request, completion: $0) }.get())
        }
        return parts
    }
}

/// Waits for a completion.
private func wait<Value: Sendable>(_ start: (@escaping @Sendable (Value) -> Void) -> Void) throws -> Value {
    let answer = Monitor<Value?>(nil)
    start { value in
        answer.update {
            $0 = value
            return true
        }
    }
    return try #require(answer.wait(milliseconds: 240_000) { $0 })
}

extension SnapshotReceiver {
    fileprivate func open(_ handover: Handover, _ offer: SnapshotOffer? = nil) throws -> Result<
        UInt64, SessionFailure
    > {
        try wait { open(offer ?? handover.offer, of: handover.sender, completion: $0) }
    }

    fileprivate func store(_ part: SnapshotPart) throws -> Result<SnapshotStored, SessionFailure> {
        try wait { store(part.frame, completion: $0) }
    }
}

@Suite(.serialized)
struct SnapshotReceiverTests {
    @Test(
        "What was read before the peer asked is what it gets, wherever it goes on",
        arguments: [0, 1, 256, 300, 1_400, 1_536, 2_999] as [UInt64])
    func prepared(after: UInt64) throws {
        let handover = try Handover(events: 3_000)
        let parts = try handover.parts(after: after, prepared: true)
        var last = after
        for part in parts where part.frame.type == MessageType.snapshotRows.rawValue {
            let rows = try SnapshotReception.rows(in: part.frame)
            #expect(rows.after == last && rows.last == part.last && rows.count > 0)
            last = part.last
        }
        #expect(last == handover.offer.through && parts.last?.isEnd == true)
    }

    @Test(
        "Cut after each piece, the transfer goes on where it was, and the log is whole in the end, compressed or not",
        arguments: [false, true])
    func resumes(isMixed: Bool) throws {
        let handover = try Handover(events: 6_000)
        let parts = try handover.parts { !isMixed || $0 % 2 == 1 }
        #expect(parts.count > 5)
        #expect(
            parts.contains { $0.frame.flags == 0 && $0.frame.type == MessageType.snapshotRows.rawValue } == isMixed)
        var done = UInt64(0)
        for (index, part) in parts.enumerated() {
            // As after the end of the process: nothing is left of the intake but its files.
            let intake = handover.makeIntake()
            #expect(try intake.open(handover).get() == done)
            let stored = try intake.store(part).get()
            if index < parts.count - 1 {
                #expect(stored == .rows(last: part.last))
                done = part.last
            } else {
                #expect(stored == .complete)
            }
            intake.stop()
        }
        handover.target.close()
        let opened = try EventStore(opening: handover.empty.path)
        let origin = handover.source.identity.origin
        #expect(try LogReader(opened.files).vector()[origin] == 6_001)
        opened.close()
        #expect(try Verifier(StoreFiles(handover.empty.path)).run().isIntact)
        #expect(try !FileManager.default.contentsOfDirectory(atPath: handover.empty.path).contains("snapshot"))
    }

    @Test("Called off, the store goes on at once, and what is offered next is taken up where the last attempt ended")
    func again() throws {
        let handover = try Handover(events: 2_000)
        let parts = try handover.parts()
        let intake = handover.makeIntake()
        // Cancelled before the answer to its opening.
        intake.open(handover.offer, of: handover.sender) { _ in }
        intake.drop(keepSpool: true)
        #expect(try intake.open(handover).get() == 0)
        #expect(try intake.store(parts[0]).get() == .rows(last: parts[0].last))
        intake.drop(keepSpool: true)
        _ = try handover.target.appendBlocking([EventDraft(type: "t", user: "u", payload: Array("{}".utf8))])
        #expect(try intake.open(handover).get() == parts[0].last)
        for part in parts.dropFirst() { _ = try intake.store(part).get() }
        intake.stop()
        #expect(FileManager.default.fileExists(atPath: handover.empty.path + "/log.ready"))
    }

    @Test("The log has grown since: what was fetched before is the beginning of the new snapshot too")
    func grown() throws {
        let handover = try Handover(events: 4_000)
        let first = handover.makeIntake()
        let parts = try handover.parts()
        #expect(try first.open(handover).get() == 0)
        for part in parts.prefix(2) { _ = try first.store(part).get() }
        first.stop()
        _ = try handover.source.appendBlocking([EventDraft(type: "t", user: "u", payload: Array("{}".utf8))])
        try handover.source.flushBlocking()
        let offer: SnapshotOffer = try #require(try wait { handover.server.describe($0) })
        #expect(offer.through == handover.offer.through + 1)
        let second = handover.makeIntake()
        #expect(try second.open(handover, offer).get() == parts[1].last)
        second.stop()
    }

    @Test("What is damaged in a spool is fetched again; one that is ahead of the offer makes the offer stale")
    func spool() throws {
        let handover = try Handover(events: 3_000)
        let parts = try handover.parts()
        let first = handover.makeIntake()
        _ = try first.open(handover).get()
        for part in parts.prefix(2) { _ = try first.store(part).get() }
        first.stop()
        let path = handover.empty.path + "/snapshot/spool"
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        let place = try file.seekToEnd() - 100
        try file.seek(toOffset: place)
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: place)
        try file.write(contentsOf: Data([byte ^ 0xff]))
        let second = handover.makeIntake()
        #expect(try second.open(handover).get() == parts[0].last)
        for part in parts.dropFirst().dropLast() { _ = try second.store(part).get() }
        second.stop()

        let plan = SnapshotPlan(
            through: 1,
            progress: [
                OriginProgress(
                    origin: handover.source.identity.origin, seq: 1,
                    rootPrefix: try LogReader(handover.source.files).root(
                        of: handover.source.identity.origin, size: 1
                    )
                    .prefix64)
            ])
        let old = SnapshotOffer(
            id: plan.id(node: handover.sender.node, incarnation: handover.sender.incarnation), through: 1, events: 1,
            bytes: 1, entries: plan.progress.map { VectorEntry(origin: $0.origin, seq: $0.seq, root: $0.rootPrefix) })
        let third = handover.makeIntake()
        guard case .failure(let failure) = try third.open(handover, old) else { throw Unexpected() }
        #expect(failure.code == .snapshot && failure.text.hasPrefix("E_SNAPSHOT_STALE"))
        // Refused is not received: the store goes on.
        _ = try handover.target.appendBlocking([EventDraft(type: "t", user: "u", payload: Array("{}".utf8))])
        third.stop()
    }

    @Test(
        "Offers of another cluster or another node, without room for them, or for a log that is not empty, are refused by name"
    )
    func refusedOffers() throws {
        let handover = try Handover(events: 50)
        func refusal(_ intake: SnapshotReceiver, _ offer: SnapshotOffer, _ sender: SnapshotSender) throws -> String {
            defer { intake.stop() }
            switch try wait({ intake.open(offer, of: sender, completion: $0) }) {
            case .success: return "taken"
            case .failure(let failure): return failure.text
            }
        }
        let sender = handover.sender
        let foreign = SnapshotSender(cluster: "other", node: sender.node, incarnation: sender.incarnation)
        #expect(try refusal(handover.makeIntake(), handover.offer, foreign).hasPrefix("E_SNAPSHOT_FOREIGN"))
        let imposter = SnapshotSender(
            cluster: "default", node: handover.target.identity.node, incarnation: sender.incarnation)
        #expect(try refusal(handover.makeIntake(), handover.offer, imposter).hasPrefix("E_SNAPSHOT_FOREIGN"))
        var more = handover.offer
        more.events += 1
        #expect(try refusal(handover.makeIntake(), more, sender).hasPrefix("E_SNAPSHOT_FOREIGN"))
        var huge = handover.offer
        huge.bytes = 1 << 62
        #expect(try refusal(handover.makeIntake(), huge, sender).hasPrefix("E_SNAPSHOT_SPACE"))
        #expect(
            try refusal(handover.makeIntake(minFree: .max), handover.offer, sender).hasPrefix("E_SNAPSHOT_SPACE"))
        let busy = handover.makeIntake()
        #expect(try busy.open(handover).get() == 0)
        #expect(try refusal(busy, handover.offer, sender).hasPrefix("E_SNAPSHOT_BUSY"))
        for start in stride(from: 0, to: 1_200, by: 600) {
            _ = try? handover.target.appendBlocking(
                (start..<start + 600).map { EventDraft(type: "t", user: "u\($0)", payload: Array("{}".utf8)) })
        }
        let deadline = Date().addingTimeInterval(60)
        while Date() < deadline,
            (try? handover.target.appendBlocking(
                (0..<1_200).map { EventDraft(type: "t", user: "u\($0)", payload: Array("{}".utf8)) })) == nil
        {
            usleep(20_000)
        }
        #expect(try refusal(handover.makeIntake(), handover.offer, sender).hasPrefix("E_SNAPSHOT_NOT_EMPTY"))
    }

    @Test("A flipped byte on the way is named, and rows beyond the offer are foreign")
    func flipped() throws {
        let handover = try Handover(events: 2_000)
        var parts = try handover.parts()
        let intake = handover.makeIntake()
        _ = try intake.open(handover).get()
        guard case .snapshotRows(var rows) = try Message(frame: parts[1].frame) else { throw Unexpected() }
        rows.payloads[rows.payloads.startIndex + 100] ^= 1
        parts[1] = SnapshotPart(
            frame: Message.snapshotRows(rows).frame(compress: true), last: parts[1].last, isEnd: false)
        var failures: [SessionFailure] = []
        for part in parts {
            if case .failure(let failure) = try intake.store(part) { failures.append(failure) }
        }
        #expect(failures.first?.code == .badProof)
        #expect(failures.first?.text.hasPrefix("E_SNAPSHOT_PROOF") == true)
        intake.drop(keepSpool: false)
        intake.stop()
        #expect(!FileManager.default.fileExists(atPath: handover.empty.path + "/log.ready"))
        #expect(!FileManager.default.fileExists(atPath: handover.empty.path + "/snapshot/spool"))

        let other = handover.makeIntake()
        _ = try other.open(handover).get()
        let garbled = Frame(type: MessageType.snapshotRows.rawValue, flags: 1, body: [0, 0, 0, 9, 1, 2, 3])
        guard case .failure(let malformed) = try other.store(SnapshotPart(frame: garbled, last: 0, isEnd: false))
        else { throw Unexpected() }
        #expect(malformed.code == .badFrame)
        other.stop()
    }

    @Test("Rows that end beyond the offer are refused, and so is all of it: nothing is put in place (INV-4)")
    func displaced() throws {
        let handover = try Handover(events: 50)
        var parts = try handover.parts()
        guard case .snapshotRows(var rows) = try Message(frame: parts[0].frame) else { throw Unexpected() }
        rows.after += 1
        parts[0] = SnapshotPart(
            frame: Message.snapshotRows(rows).frame(compress: false), last: rows.last, isEnd: false)
        let intake = handover.makeIntake()
        _ = try intake.open(handover).get()
        // All of it is on its way before the first answer.
        let answers = Monitor<[Result<SnapshotStored, SessionFailure>]>([])
        for part in parts {
            intake.store(part.frame) { result in
                answers.update {
                    $0.append(result)
                    return true
                }
            }
        }
        let all = try #require(answers.wait(milliseconds: 60_000) { $0.count >= parts.count ? $0 : nil })
        for result in all { #expect(throws: SessionFailure.self) { try result.get() } }
        intake.drop(keepSpool: false)
        intake.stop()
        #expect(!FileManager.default.fileExists(atPath: handover.empty.path + "/log.ready"))
    }
}

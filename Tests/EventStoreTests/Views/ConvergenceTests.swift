import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A store that exchanges events with others by hand.
private final class Replica {
    let folder = TemporaryFolder()
    let store: EventStore
    let projector: Projector

    init(_ name: String) throws {
        try EventStore.create(in: folder.path, name: name)
        store = try EventStore(opening: folder.path)
        projector = try Projector(store.files, tails: ViewMemtables(generation: 100))
    }

    func append(_ drafts: [EventDraft]) throws { _ = try store.appendBlocking(drafts) }

    /// Takes up to `limit` events that the other has and this one lacks.
    func pull(from other: Replica, limit: Int = 4_096) throws {
        let known = try LogReader(store.files).vector()
        let reader = try OutgoingReader(other.store)
        let batch = try reader.batch(
            after: try reader.start(for: known), lacking: known, limits: OutgoingLimits(events: limit))
        guard !batch.events.isEmpty else { return }
        let verified = try store.makeVerifierBlocking().verify(batch.events, batch.coverage)
        try blocking { store.ingest(verified, completion: $0) }
    }

    func digests() throws -> [ViewDigest] {
        try projector.catchUp()
        return try projector.allDigests()
    }
}

struct ConvergenceTests {
    private func randomDrafts(_ random: inout SplitMix64, ids: [EventID]) -> [EventDraft] {
        (0..<Int.random(in: 1...6, using: &random)).map { _ in
            let conversation = "c-\(Int.random(in: 0..<4, using: &random))"
            let user = "u-\(Int.random(in: 0..<4, using: &random))"
            let target = EventID(UUIDBits(high: 7, low: UInt64.random(in: 0..<20, using: &random)))
            let number = Int.random(in: 0..<5, using: &random)
            let (type, payload): (String, String) =
                switch Int.random(in: 0..<20, using: &random) {
                case 0:
                    (
                        "conversation.started",
                        #"{"title":"제목 \#(number)","category":"text","participants":["\#(user)","bot"]}"#
                    )
                case 1: ("conversation.renamed", #"{"title":"이름 \#(number)"}"#)
                case 2: ("participant.joined", "{}")
                case 3: ("participant.left", "{}")
                case 4, 5:
                    (
                        "profile.changed",
                        #"{"fields":{"name":"김\#(number)","lang":\#(number == 0 ? "null" : "\"ko\"")}}"#
                    )
                case 6: ("survey.answered", #"{"survey":"s","question":"q\#(number % 2)","rating":\#(number)}"#)
                case 7: ("survey.answered", #"{"survey":"s","question":"m","choices":["a","b\#(number)"]}"#)
                case 8: ("message.edited", #"{"message":"\#(target)","text":"고침 \#(number)"}"#)
                case 9: ("message.retracted", #"{"message":"\#(target)"}"#)
                case 10: ("profile.changed", #"{"fields":"not an object"}"#)
                case 11: (number < 3 ? "conversation.hidden" : "conversation.shown", "{}")
                case 12: ("message.read", #"{"upTo":"\#(target)"}"#)
                case 13: ("contact.added", #"{"contact":"u-\#(number)","name":"\#(user)"}"#)
                case 14: ("contact.removed", #"{"contact":"u-\#(number)"}"#)
                case 15: ("search.remembered", #"{"query":"말 \#(number)","scope":"users"}"#)
                case 16: ("search.forgotten", number == 0 ? #"{"all":true}"# : #"{"query":"말 \#(number)"}"#)
                default: ("message.posted", #"{"text":"안녕 \#(number)"}"#)
                }
            // A small pool of client-made ids, each always with the same content, makes twins.
            if let id = ids.randomElement(using: &random), type == "message.posted" {
                return EventDraft(
                    id: id, type: type, time: 1_000, conversation: "c-twin", user: "u-twin", cause: ids[0],
                    payload: Array(
                        #"{"text":"쌍둥이 \#(id)","attachments":[{"sha256":"\#(SHA256().digest(id.bytes))","bytes":1}]}"#
                            .utf8))
            }
            let time: Int64? = Bool.random(using: &random) ? Int64.random(in: 0..<10, using: &random) * 500 : nil
            return EventDraft(
                type: type, time: time, conversation: conversation, user: user, cause: number > 2 ? target : nil,
                payload: Array(payload.utf8))
        }
    }

    @Test("Equal vectors give equal views, whatever the order of arrival (INV-6)", arguments: 1...cases(4, of: 12))
    func orderOfArrival(seed: Int) throws {
        var random = SplitMix64(state: UInt64(seed))
        let replicas = [try Replica("a"), try Replica("b"), try Replica("c")]
        let ids = (0..<6).map { EventID(UUIDBits(high: 9, low: UInt64($0))) }
        for _ in 0..<60 {
            let one = replicas[Int.random(in: 0..<3, using: &random)]
            let other = replicas[Int.random(in: 0..<3, using: &random)]
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where one !== other: try one.pull(from: other, limit: Int.random(in: 1...30, using: &random))
            case 1: try one.projector.step(limit: Int.random(in: 1...9, using: &random))
            default: try one.append(randomDrafts(&random, ids: ids))
            }
        }
        for _ in 0..<3 {
            for one in replicas { for other in replicas where one !== other { try one.pull(from: other) } }
        }
        let vectors = try replicas.map { try LogReader($0.store.files).vector() }
        #expect(vectors[0] == vectors[1] && vectors[1] == vectors[2])
        let digests = try replicas.map { try $0.digests() }
        #expect(digests[0] == digests[1])
        #expect(digests[1] == digests[2])
        #expect(digests[0].allSatisfy { $0.rows > 0 })
        // Rebuilding in other batches gives the same (INV-10: nothing is passed over).
        try FileManager.default.removeItem(atPath: replicas[0].store.files.views)
        let rebuilt = try Projector(replicas[0].store.files)
        while try rebuilt.position < rebuilt.top() { try rebuilt.step(limit: 7) }
        try rebuilt.catchUp()
        #expect(try rebuilt.allDigests() == digests[0])
        #expect(!rebuilt.isRebuilding)

        let timelines = try replicas.map { replica in
            var texts: [String] = []
            let reader = try ViewReader(replica.store.files)
            for conversation in ["c-0", "c-1", "c-twin"] {
                try reader.conversation(conversation, TimelineQuery()) { entry in
                    texts.append("\(entry.stored.event.header.dot) \(entry.edits) \(entry.isRetracted)")
                    return true
                }
            }
            return texts
        }
        #expect(timelines[0] == timelines[1] && timelines[1] == timelines[2])
    }

    @Test("Concurrent profile writes stay visible until somebody who saw both writes again")
    func profileConflict() throws {
        let a = try Replica("a")
        let b = try Replica("b")
        func name(_ value: String) -> EventDraft {
            EventDraft(type: "profile.changed", user: "u-1", payload: Array(#"{"fields":{"name":"\#(value)"}}"#.utf8))
        }
        func field(_ replica: Replica) throws -> ProfileField? {
            try replica.projector.catchUp()
            return try ViewReader(replica.store.files).profile(user: "u-1").first
        }
        try a.append([name("처음")])
        try b.pull(from: a)
        #expect(try field(b)?.isConflict == false)
        try a.append([name("하늘")])
        usleep(3_000)
        try b.append([name("바다")])
        try a.pull(from: b)
        try b.pull(from: a)
        for replica in [a, b] {
            let found = try #require(try field(replica))
            #expect(found.winner.value == #""바다""#)
            #expect(found.isConflict && found.concurrent.map(\.value) == [#""하늘""#])
        }
        try a.append([name("정함")])
        try b.pull(from: a)
        for replica in [a, b] {
            let found = try #require(try field(replica))
            #expect(!found.isConflict && found.winner.value == #""정함""#)
        }
    }

    @Test("History pages equal a sort by display key, with every limit and range")
    func pages() throws {
        let replica = try Replica("a")
        var random = SplitMix64(state: 5)
        try replica.append(
            (0..<1_300).map { _ in
                EventDraft(
                    type: Bool.random(using: &random) ? "message.posted" : "note",
                    time: Int64.random(in: 0..<50, using: &random),
                    user: "u", payload: Array(#"{"text":"x"}"#.utf8))
            })
        try replica.projector.catchUp()
        var all: [StoredEvent] = []
        try LogReader(replica.store.files).scan(after: 1, limit: 5_000) { event in
            all.append(event)
            return true
        }
        all.sort { $0.event.header.displayKey < $1.event.header.displayKey }
        let reader = try ViewReader(replica.store.files)
        func read(_ change: (inout TimelineQuery) -> Void) throws -> [UInt64] {
            var query = TimelineQuery()
            change(&query)
            var positions: [UInt64] = []
            try reader.history(user: "u", query) { entry in
                positions.append(entry.stored.position)
                return true
            }
            return positions
        }
        let positions = all.map(\.position)
        #expect(try read { _ in } == positions)
        #expect(try read { $0.limit = .first(700) } == Array(positions.prefix(700)))
        #expect(try read { $0.limit = .last(777) } == Array(positions.suffix(777)))
        #expect(
            try read {
                $0.since = 10; $0.until = 20
            } == all.filter { (10..<20).contains($0.event.header.time) }.map(\.position))
        #expect(
            try read {
                $0.types = ["note"]; $0.limit = .last(9)
            } == Array(all.filter { $0.event.header.type == "note" }.map(\.position).suffix(9)))
        #expect(try read { $0.after = all[600].event.header.displayKey } == Array(positions[601...]))
        #expect(try reader.history(user: "nobody", TimelineQuery()) { _ in true } == false)
    }

    @Test("Survey counts are sums over distinct events, refused payloads are quarantined and stop nothing (INV-10)")
    func surveysAndQuarantine() throws {
        let replica = try Replica("a")
        func answer(_ payload: String) -> EventDraft {
            EventDraft(type: "survey.answered", user: "u", payload: Array(payload.utf8))
        }
        try replica.append([
            answer(#"{"survey":"s","question":"q","rating":7}"#),
            answer(#"{"survey":"s","question":"q","rating":7}"#),
            answer(#"{"survey":"s","question":"q","choice":"좋음"}"#), answer(#"{"survey":"s"}"#),
            answer(#"{"survey":"s","question":"q","rating":"7"}"#), .message("뒤", user: "u"),
        ])
        try replica.projector.catchUp()
        let reader = try ViewReader(replica.store.files)
        var counts: [String: UInt64] = [:]
        try reader.survey("s") { count in
            counts[count.value] = count.count
            return true
        }
        #expect(counts == ["7": 2, "좋음": 1])
        #expect(try reader.quarantine().map(\.position) == [5, 6])
        #expect(try reader.progress() == 7)
    }
}

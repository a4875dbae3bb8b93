import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Views are a function of the set of events (D8, INV-6), also where clocks tie, ids repeat with other content and
/// headers are of later releases.
struct ArrivalOrderTests {
    private func draft(_ random: inout SplitMix64, clock: Int64) -> EventDraft {
        func pick(_ count: UInt64) -> UInt64 { UInt64.random(in: 0..<count, using: &random) }
        let target = EventID(UUIDBits(high: 100 + pick(3), low: 2 + pick(30)))
        let id: EventID? = pick(4) == 0 ? EventID(UUIDBits(high: 9, low: pick(8))) : nil
        // Ties of time are common: imports have whole seconds.
        let time: Int64? = [nil, clock - Int64(pick(6)), 990 + Int64(pick(10))][Int(pick(3))]
        let conversation: String? = pick(8) == 0 ? nil : "c-\(pick(4))"
        let user = "u-\(pick(3))"
        let number = pick(4)
        let (type, payload): (String, String) =
            switch pick(20) {
            case 0:
                (
                    "conversation.started",
                    #"{"title":"제목 \#(number)","category":"text","participants":["p-\#(number)","bot"],"moderators":["u-\#(number)"]}"#
                )
            case 1: ("conversation.renamed", number == 0 ? "{}" : #"{"title":"이름 \#(number)"}"#)
            case 2: ("participant.joined", number == 0 ? #"{"user":"p-1"}"# : "{}")
            case 3: ("participant.left", "{}")
            case 4, 5: ("profile.changed", #"{"fields":{"name":"\#(number)","lang":\#(number == 0 ? "null" : "1")}}"#)
            case 6: ("survey.answered", #"{"survey":"s","question":"q\#(number % 2)","rating":\#(number)}"#)
            case 7: ("survey.answered", #"{"survey":"s","question":"m","choices":["a","b\#(number)","a"]}"#)
            case 8: ("message.edited", #"{"message":"\#(target)","text":"고침 \#(number)"}"#)
            case 9: ("message.retracted", #"{"message":"\#(target)"}"#)
            case 10: ("survey.answered", #"{"survey":7}"#)
            case 11: (number < 3 ? "conversation.hidden" : "conversation.shown", "{}")
            case 12: ("message.read", number == 0 ? "{}" : #"{"upTo":"\#(target)"}"#)
            case 13: ("contact.added", #"{"contact":"p-\#(number)","name":"\#(user)"}"#)
            case 14: ("contact.removed", #"{"contact":"p-\#(number)"}"#)
            case 15: ("search.remembered", #"{"query":"말 \#(number)","scope":"users"}"#)
            case 16: ("search.forgotten", number == 0 ? #"{"all":true}"# : #"{"query":"말 \#(number)"}"#)
            case 17:
                (
                    "message.posted",
                    #"{"text":"사진","attachments":[{"sha256":"\#(SHA256().digest([UInt8(number % 5)]))","bytes":1}]}"#
                )
            default: ("message.posted", #"{"text":"안녕 \#(number)"}"#)
            }
        var draft = EventDraft.json(type, payload, id: id, time: time, conversation: conversation, user: user)
        if pick(3) == 0 { draft.cause = target }
        return draft
    }

    private func log(seed: Int) -> SyntheticLog {
        var random = SplitMix64(state: UInt64(seed))
        var log = SyntheticLog(origins: 3)
        var clocks: [Int64] = [1_000, 1_000, 1_000]
        for _ in 0..<150 {
            let origin = Int.random(in: 0..<3, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                let other = Int.random(in: 0..<3, using: &random)
                log.exchange(
                    origin, from: other,
                    through: Int.random(in: 1...max(1, log.events[other].count), using: &random))
            }
            clocks[origin] += Int64.random(in: 1...2, using: &random)
            let future: [UInt8] = Int.random(in: 0..<12, using: &random) == 0 ? [0xa0, 0x01, 0x01] : []
            log.append(
                draft(&random, clock: clocks[origin]), origin: origin, milliseconds: clocks[origin],
                unknownFields: future)
        }
        return log
    }

    /// What people would see, in words that hold on every node.
    private func answers(_ folder: TemporaryFolder) throws -> [String] {
        let reader = try ViewReader(StoreFiles(folder.path))
        var out: [String] = []
        for summary in try reader.conversations(limit: 100) {
            out.append(
                """
                \(summary.conversation) \(summary.title ?? "-") \(summary.startedBy ?? "-") \(summary.events) \
                \(summary.messages) \(summary.firstTime) \(summary.lastTime)
                """)
            let participants = try reader.participants(of: summary.conversation)
            for participant in participants {
                out.append("\(participant.user) \(participant.messages) \(String(describing: participant.joined))")
            }
            // Read one by one they are the same, and as many as are kept to be.
            var paged: [Participant] = []
            while let next = try reader.participants(of: summary.conversation, after: paged.last?.user, limit: 1)
                .first
            { paged.append(next) }
            #expect(paged == participants)
            #expect(try reader.people(of: summary.conversation) == UInt64(participants.count))
            try reader.conversation(summary.conversation, TimelineQuery()) { entry in
                let history = entry.history
                let others = (history?.amendments ?? []).map { "\($0.id) \($0.author) \($0.counts)" }
                out.append(
                    "\(entry.stored.event.header.dot) \(entry.edited ?? "-") \(history?.retraction?.id.description ?? "-") \(others)"
                )
                return true
            }
        }
        var all = RoomQuery()
        all.isAll = true
        for user in ["u-0", "u-1", "u-2", "p-1", "bot"] {
            for room in try reader.rooms(of: user, all, limit: 50).rooms {
                out.append(
                    """
                    \(user) \(room.summary.conversation) \(room.unread) \(room.isHidden) \(room.people) \
                    \(room.last.map { "\($0.header.dot) \($0.text ?? $0.kind.rawValue)" } ?? "-")
                    """)
            }
            for contact in try reader.contacts(of: user, limit: 50) { out.append("\(contact)") }
            for search in try reader.recentSearches(of: user) { out.append("\(search.query) \(search.key)") }
        }
        for user in ["u-0", "u-1", "u-2"] {
            try reader.history(user: user, TimelineQuery()) { entry in
                out.append("\(entry.stored.event.header.dot)")
                return true
            }
            for field in try reader.profile(user: user) {
                out.append("\(field.name) \(field.winner.value) \(field.winner.dot) \(field.concurrent.map(\.dot))")
            }
        }
        try reader.survey("s") { count in
            out.append("\(count)")
            return true
        }
        return out
    }

    @Test("Any causal order gives the same digests and answers (INV-6)", arguments: 1...cases(2, of: 8))
    func anyOrder(seed: Int) throws {
        let mold = try StoreMold()
        let log = log(seed: seed)
        var random = SplitMix64(state: UInt64(seed) &* 977)
        // The extremes first: one origin as far as it goes, before the next.
        var choices: [([Int]) -> Int] = [{ $0.first ?? 0 }, { $0.last ?? 0 }]
        for _ in 0..<5 {
            var local = SplitMix64(state: random.next())
            choices.append { $0.randomElement(using: &local) ?? 0 }
        }
        var expected: (digests: [ViewDigest], answers: [String])?
        for (index, choose) in choices.enumerated() {
            let (folder, projector) = try mold.store(
                log.order(choose), limit: [65_536, 1, 7][index % 3], piece: [5, 2_048, 3][index % 3])
            let digests = try projector.allDigests()
            let found = (digests, try answers(folder))
            if let expected {
                for (mine, first) in zip(found.0, expected.digests) { #expect(mine == first, "order \(index)") }
                for (mine, first) in zip(found.1, expected.answers) { #expect(mine == first, "order \(index)") }
                #expect(found.1.count == expected.answers.count)
            } else {
                expected = found
                #expect(digests.allSatisfy { $0.rows > 0 })
            }
        }
    }

    @Test("Of twins the one recorded first counts, whichever came first, also where their texts differ (D6)")
    func twins() throws {
        let mold = try StoreMold()
        let id = EventID(UUIDBits(high: 9, low: 9))
        var log = SyntheticLog(origins: 2)
        log.append(
            .json("message.posted", #"{"text":"이른"}"#, id: id, conversation: "c", user: "u"), origin: 1,
            milliseconds: 2_000)
        log.append(
            .json("message.posted", #"{"text":"늦은"}"#, id: id, conversation: "c", user: "u"),
            origin: 0, milliseconds: 3_000)
        var digests: [[ViewDigest]] = []
        for choose in [{ $0.first ?? 0 }, { $0.last ?? 0 }] as [([Int]) -> Int] {
            let (folder, projector) = try mold.store(log.order(choose))
            digests.append(try projector.allDigests())
            let reader = try ViewReader(StoreFiles(folder.path))
            #expect(try reader.conversations(limit: 9).map(\.messages) == [1])
            var texts: [String?] = []
            try reader.history(user: "u", TimelineQuery()) { entry in
                texts.append(entry.stored.event.payload.flatMap { JSONObject(validated: $0).string("text") })
                return true
            }
            #expect(texts == ["이른"])
        }
        #expect(digests[0] == digests[1])
    }

    @Test("A twin of an event that a later release wrote takes nothing from counters twice (D13)")
    func futureTwin() throws {
        let mold = try StoreMold()
        let id = EventID(UUIDBits(high: 9, low: 9))
        var log = SyntheticLog(origins: 2)
        let answer = #"{"survey":"s","question":"q","choice":"a"}"#
        log.append(.json("survey.answered", answer), origin: 0, milliseconds: 1_500)
        log.append(
            .json("survey.answered", answer, id: id), origin: 0, milliseconds: 3_000,
            unknownFields: [0xa0, 0x01, 0x01])
        log.append(.json("survey.answered", answer, id: id), origin: 1, milliseconds: 2_000)
        var digests: [[ViewDigest]] = []
        for choose in [{ $0.first ?? 0 }, { $0.last ?? 0 }] as [([Int]) -> Int] {
            let (folder, projector) = try mold.store(log.order(choose))
            digests.append(try projector.allDigests())
            var counts: [UInt64] = []
            try ViewReader(StoreFiles(folder.path)).survey("s") { count in
                counts.append(count.count)
                return true
            }
            #expect(counts == [2])
        }
        #expect(digests[0] == digests[1])
    }
}

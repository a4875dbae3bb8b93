import Foundation
import TestSupport
import Testing

@testable import EventStore

/// The search finds what is shown now, the newest first (D8, D15, D24; docs/reference/VIEWS.md, "search").
struct SearchViewTests {
    private func reader(_ log: LogFixture, batch: Int = 65_536) throws -> ViewReader {
        _ = try log.digests(batch: batch)
        return try ViewReader(log.files)
    }

    /// What is found, as `seq of the event that is shown|kind|text with its words in brackets`.
    private func found(
        _ reader: ViewReader, _ words: String, limit: Int = 100, _ change: (inout SearchQuery) -> Void = { _ in }
    ) throws -> [String] {
        var query = SearchQuery(try SearchWords(words))
        change(&query)
        var all: [String] = []
        var bound: DisplayKey?
        repeat {
            let page = try reader.search(query, limit: limit, before: bound)
            #expect(page.hits.count <= limit)
            all += page.hits.map { "\($0.stored.event.header.dot.seq)|\($0.kind.rawValue)|\($0.marked)" }
            bound = page.next
        } while bound != nil
        return all
    }

    @Test(
        "A message that was edited thousands of times costs a search as much as it has edits, not as much as their square (INV-9)"
    )
    func manyEdits() throws {
        let log = try LogFixture()
        let count: UInt64 = 1_500
        try log.deliver(
            [event(1, 1, hlc: 10, #"{"text":"두통"}"#)]
                + (2...count).map { seq in
                    event(
                        1, seq, hlc: Int64(10 + seq), type: "message.edited",
                        #"{"message":"\#(event(1, 1, hlc: 10).header.id)","text":"두통 \#(seq)"}"#)
                })
        let reader = try reader(log)
        let start = ContinuousClock.now
        #expect(try found(reader, "두통") == ["1|message|[두통] \(count)"])
        // Half a minute where each edit is looked up for each.
        #expect(ContinuousClock.now - start < .seconds(15))
    }

    @Test("An edit in another history is found in that of its message, and in no other (D24)")
    func editsOfOthersHistories() throws {
        let log = try LogFixture()
        let message = event(1, 1, hlc: 10, type: "bot.replied", user: "kim", author: "bot", #"{"text":"처음"}"#)
        try log.deliver([
            message,
            event(
                1, 2, hlc: 20, type: "message.edited", user: "lee", author: "bot",
                #"{"message":"\#(message.header.id)","text":"두통 약"}"#),
            event(1, 3, hlc: 30, user: "lee", #"{"text":"두통"}"#),
        ])
        let reader = try reader(log)
        let own = ["1|reply|[두통] 약"]
        #expect(try found(reader, "두통") { $0.users = ["kim"] } == own)
        #expect(try found(reader, "두통") { ($0.users, $0.authors) = (["kim"], ["bot"]) } == own)
        #expect(try found(reader, "두통") { $0.users = ["lee"] } == ["3|message|[두통]"])
        #expect(try found(reader, "두통") { $0.users = ["kim", "lee"] }.count == 2)
        #expect(try found(reader, "두통") { ($0.users, $0.types) = (["kim"], ["survey.answered"]) }.isEmpty)
        #expect(try found(reader, "두통") { $0.users = ["nobody"] }.isEmpty)
        var query = SearchQuery(try SearchWords("두통"))
        query.users = ["kim"]
        #expect(try reader.ranked(query, limit: 9).page.hits.map(\.stored.event.header.dot.seq) == [1])
    }

    @Test("Messages, replies, comments, titles and names are found, each by what it says")
    func kinds() throws {
        let log = try LogFixture()
        try log.deliver([
            event(1, 1, hlc: 10, type: "conversation.started", #"{"title":"두통 상담"}"#),
            event(1, 2, hlc: 20, #"{"text":"어제부터 편두통이 심해요"}"#),
            event(1, 3, hlc: 30, type: "bot.replied", author: "bot", #"{"text":"두통은 언제부터인가요?"}"#),
            event(
                1, 4, hlc: 40, type: "survey.answered", conversation: nil,
                #"{"survey":"s","question":"q","rating":1,"comment":"두통이 나았다"}"#),
            event(1, 5, hlc: 50, type: "profile.changed", conversation: nil, #"{"fields":{"name":"김두통"}}"#),
            event(1, 6, hlc: 60, type: "note", #"{"text":"두통"}"#), event(1, 7, hlc: 70, #"{"text":"편지 두 통"}"#),
            event(1, 8, hlc: 80, #"{"text":5,"attachments":["두통"]}"#),
        ])
        let reader = try reader(log)
        #expect(
            try found(reader, "두통") == [
                "5|name|김[두통]", "4|comment|[두통]이 나았다", "3|reply|[두통]은 언제부터인가요?", "2|message|어제부터 편[두통]이 심해요",
                "1|title|[두통] 상담",
            ])
        #expect(try found(reader, "두통 -상담 -\"편두통\"", limit: 1).map { $0.first } == ["5", "4", "3"])
        #expect(try found(reader, "두 통") == ["7|message|편지 [두] [통]"] + found(reader, "두 통").dropFirst())
        #expect(try found(reader, #""두 통""#) == ["7|message|편지 [두 통]"])
        #expect(try found(reader, "두통") { $0.types = ["bot.replied"] } == ["3|reply|[두통]은 언제부터인가요?"])
        #expect(try found(reader, "두통") { $0.authors = ["u"] }.count == 4)
        #expect(try found(reader, "두통") { $0.authors = ["bot"] }.count == 1)
        #expect(try found(reader, "두통") { $0.conversations = ["c"] }.count == 3)
        #expect(try found(reader, "두통") { $0.users = ["nobody"] }.isEmpty)
        #expect(try found(reader, "두통") { $0.types = ["survey.answered"] }.map { $0.first } == ["4"])
        #expect(
            try found(reader, "두통") { $0.types = ["message.posted", "bot.replied"] }.map { $0.first } == ["3", "2"])
        #expect(try found(reader, "두통") { ($0.since, $0.until) = (20, 50) }.map { $0.first } == ["4", "3", "2"])
        #expect(try ViewsCheck(log.files).run().isIntact)
    }

    @Test("Only the text that stands is found: of edits, retractions, titles and names, whatever came first (D24)")
    func standing() throws {
        func target(_ seq: UInt64) -> EventID { EventID(UUIDBits(high: 1, low: seq)) }
        let events = [
            event(1, 1, hlc: 10, type: "conversation.started", #"{"title":"옛 이름","moderators":["mod"]}"#),
            event(1, 2, hlc: 20, #"{"text":"처음 글"}"#), event(1, 3, hlc: 30, #"{"text":"거둔 글"}"#),
            event(1, 4, hlc: 40, #"{"text":"남은 글"}"#),
            event(2, 1, hlc: 50, type: "message.edited", #"{"message":"\#(target(2))","text":"고친 글"}"#),
            event(2, 2, hlc: 60, type: "message.edited", #"{"message":"\#(target(2))","text":"다시 고친 글"}"#),
            event(2, 3, hlc: 70, type: "message.retracted", user: "mod", #"{"message":"\#(target(3))"}"#),
            event(
                2, 4, hlc: 80, type: "message.edited", user: "mallory", #"{"message":"\#(target(4))","text":"남의 글"}"#),
            event(2, 5, hlc: 90, type: "conversation.renamed", #"{"title":"새 이름"}"#),
            event(2, 6, hlc: 91, type: "profile.changed", #"{"fields":{"name":"김하나"}}"#),
            event(2, 7, hlc: 92, type: "profile.changed", #"{"fields":{"name":"김둘"}}"#),
        ]
        for order in [events, events.reversed(), Array(events[4...] + events[..<4])] {
            let log = try LogFixture()
            try log.deliver(order)
            let reader = try reader(log, batch: 3)
            #expect(try found(reader, "글") == ["2|message|다시 고친 [글]", "4|message|남은 [글]"])
            #expect(try found(reader, "이름") == ["5|title|새 [이름]"])
            #expect(try found(reader, "김") == ["7|name|[김]둘"])
            #expect(try found(reader, "처음").isEmpty && found(reader, "남의").isEmpty && found(reader, "거둔").isEmpty)
            #expect(try ViewsCheck(log.files).run().isIntact)
        }
    }

    @Test(
        "What a machine heard is found as such, under its name, until the message in which it was is taken back (D24)"
    )
    func heard() throws {
        let message = EventID(UUIDBits(high: 1, low: 1))
        let events = [
            event(1, 1, hlc: 10, #"{"attachments":[{"name":"a.m4a"}]}"#),
            event(1, 2, hlc: 20, type: "bot.transcribed", author: "bot", cause: message, #"{"text":"머리가 아파요"}"#),
            event(1, 3, hlc: 30, type: "bot.transcribed", author: "bot", #"{"text":"머리만"}"#),
            event(1, 4, hlc: 40, type: "bot.transcribed", author: "bot", cause: message, #"{"attachment":"머리"}"#),
        ]
        let retraction = event(2, 1, hlc: 50, type: "message.retracted", #"{"message":"\#(message)"}"#)
        for order in [events + [retraction], [retraction] + events.reversed()] {
            let before = try LogFixture()
            try before.deliver(order.filter { $0.header.type != retraction.header.type })
            #expect(try found(reader(before), "머리") == ["3|transcript|[머리]만", "2|transcript|[머리]가 아파요"])
            #expect(try found(reader(before), "머리") { $0.authors = ["bot"] }.count == 2)
            #expect(try found(reader(before), "머리") { $0.types = ["message.posted", "bot.replied"] }.isEmpty)
            let log = try LogFixture()
            try log.deliver(order)
            #expect(try found(reader(log), "머리") == ["3|transcript|[머리]만"])
            #expect(try ViewsCheck(log.files).run().isIntact)
        }
    }

    @Test("Of twins the one that counts is found, also if it arrives last (D6), and a rebuild finds the same (INV-6)")
    func twins() throws {
        let first = event(1, 1, hlc: 20, id: 7, #"{"text":"쌍둥이 하나"}"#)
        let second = event(2, 1, hlc: 10, id: 7, #"{"text":"쌍둥이 둘"}"#)
        for order in [[first, second], [second, first]] {
            let log = try LogFixture()
            try log.deliver(order)
            let reader = try reader(log, batch: 1)
            #expect(try found(reader, "쌍둥이") == ["1|message|[쌍둥이] 둘"])
            #expect(try reader.searchCount(SearchQuery(SearchWords("하나"))) == 0)
            #expect(try ViewsCheck(log.files).run().isIntact)
        }
    }

    @Test(
        "Pages come newest first by time, with ties, whatever the order of arrival, and miss nothing",
        arguments: 1...6)
    func pages(seed: Int) throws {
        var random = SplitMix64(state: UInt64(seed))
        let log = try LogFixture()
        var expected: [(DisplayKey, UInt64)] = []
        var events: [Event] = []
        for seq in UInt64(1)...3_000 {
            let time: Int64? =
                switch seed {
                case 1: nil
                case 2: 3_000 - Int64(seq)
                case 3: 5
                default: Int64.random(in: 0..<400, using: &random)
                }
            let isHit = Int.random(in: 0..<(seed % 2 == 0 ? 3 : 40), using: &random) == 0
            events.append(
                event(1, seq, hlc: 1_000 + Int64(seq / 3), time: time, #"{"text":"\#(isHit ? "있다" : "없네")"}"#))
            if isHit { expected.append((events[events.count - 1].header.displayKey, seq)) }
        }
        try log.deliver(events)
        let reader = try reader(log)
        expected.sort { $0.0 > $1.0 }
        for (limit, most) in [(20, 100_000), (500, 100_000), (7, 50)] {
            reader.mostRows = most
            let seqs = try found(reader, "있다", limit: limit).compactMap { UInt64($0.prefix { $0 != "|" }) }
            #expect(seqs == expected.map(\.1), "limit \(limit), rows \(most)")
        }
        let since = try found(reader, "있다") { ($0.since, $0.until) = (100, 300) }
        #expect(since.count == expected.count { (100..<300).contains($0.0.time) })
    }

    @Test("Who sees an edit and not the message that it changed does not find it (INV-13)")
    func unseenMessage() throws {
        let log = try LogFixture()
        let target = EventID(UUIDBits(high: 1, low: 1))
        try log.deliver([
            event(1, 1, hlc: 10, #"{"text":"숨긴 글"}"#),
            event(1, 2, hlc: 20, type: "message.edited", #"{"message":"\#(target)","text":"고친 글"}"#),
            event(1, 3, hlc: 30, #"{"text":"보이는 글"}"#),
        ])
        let reader = try reader(log)
        let query = SearchQuery(try SearchWords("글"))
        let isSeen = { (header: EventHeader) throws(StoreError) in header.dot.seq > 1 }
        #expect(try reader.search(query, limit: 9).hits.map(\.text) == ["보이는 글", "고친 글"])
        #expect(try reader.search(query, limit: 9, isSeen: isSeen).hits.map(\.text) == ["보이는 글"])
        #expect(try reader.ranked(query, limit: 9, isSeen: isSeen).page.hits.map(\.text) == ["보이는 글"])
    }

    @Test("Where a page ends does not tell when a hidden text was written; what is seen comes once (INV-13)")
    func veiled() throws {
        let log = try LogFixture()
        let (hour, minute) = (Int64(1) << 22, Int64(1) << 16)
        let seen: Set<UInt64> = [40, 2_400, 5_900]
        try log.deliver(
            (UInt64(1)...6_000).map { seq in
                event(1, seq, hlc: 1_000 + 7 * hour + Int64(seq) * 61_001, #"{"text":"쪽지 \#(seq)"}"#)
            })
        let reader = try reader(log)
        reader.mostRows = 2_500
        let query = SearchQuery(try SearchWords("쪽지"))
        let isSeen = { (header: EventHeader) throws(StoreError) in seen.contains(header.dot.seq) }
        for limit in [1, 2, 9] {
            var (bound, found, pages): (DisplayKey?, [UInt64], Int) = (nil, [], 0)
            repeat {
                let page = try reader.search(query, limit: limit, before: bound, isSeen: isSeen)
                found += page.hits.map(\.key.dot.seq)
                pages += 1
                if let next = page.next, page.hits.last?.key != next {
                    #expect(next.time % minute == 0 && next.dot.seq == 0 && next.hlc.rawValue == 0)
                    #expect(bound.map { next < $0 } ?? true)
                }
                bound = page.next
            } while bound != nil && pages < 100
            #expect(found == seen.sorted(by: >) && pages > 1, "limit \(limit): \(found), \(pages) pages")
        }
    }

    @Test("Text that looks like a tag of the store, or like the language of the index, is text")
    func forged() throws {
        let log = try LogFixture()
        let texts = [
            #"\u0001u1\u0002두통"#, #"\u0002두통"#, #"\u0001u1"#, #"두통\u0000감기"#, #"NEAR(두통 감기)"#,
            #"두통 OR 감기 AND NOT \"열\""#,
        ]
        try log.deliver(
            texts.enumerated().map { event(1, UInt64($0) + 1, hlc: Int64($0) * 10 + 10, #"{"text":"\#($1)"}"#) })
        let reader = try reader(log)
        func seqs(_ words: String, _ change: (inout SearchQuery) -> Void = { _ in }) throws -> Set<Character?> {
            Set(try found(reader, words, change).map(\.first))
        }
        #expect(try seqs("두통") == ["1", "2", "4", "5", "6"] && seqs("감기") == ["4", "5", "6"])
        #expect(try seqs("두통") { $0.users = ["u"] }.count == 5 && seqs("u") == ["1", "3"])
        #expect(try seqs("두통*").count == 5 && seqs("near(두통") == ["5"] && seqs("{text}:두통").isEmpty)
        #expect(try seqs("OR") == ["6"] && seqs(#""두통" NOT"#) == ["6"] && seqs("두통\u{0}감기").contains("4"))
        #expect(try seqs("\u{1}u1\u{2}두통") == ["1"])
        #expect(try ViewsCheck(log.files).run().isIntact)
    }

    @Test("Ranked, the text that the words fill most comes first, of equals the newest, whatever came first")
    func rank() throws {
        let events = [
            event(1, 1, hlc: 10, #"{"text":"두통"}"#), event(1, 2, hlc: 20, #"{"text":"두통 두통 두통"}"#),
            event(1, 3, hlc: 30, #"{"text":"어제는 비가 많이 와서 집에만 있었더니 두통이 심해졌어요"}"#),
            event(1, 4, hlc: 40, #"{"text":"두통"}"#),
            event(1, 5, hlc: 50, #"{"text":"감기"}"#),
        ]
        for order in [events, events.reversed()] {
            let log = try LogFixture()
            try log.deliver(order)
            let reader = try reader(log)
            func seqs(_ words: String, limit: Int = 9, _ change: (inout SearchQuery) -> Void = { _ in }) throws
                -> [UInt64]
            {
                var query = SearchQuery(try SearchWords(words))
                change(&query)
                let found = try reader.ranked(query, limit: limit)
                #expect(found.isWhole == (found.page.hits.count < limit))
                return found.page.hits.map(\.stored.event.header.dot.seq)
            }
            #expect(try seqs("두통") == [2, 4, 1, 3] && seqs("두통", limit: 3) == [2, 4, 1])
            #expect(try seqs("두통") { $0.users = ["u"] } == [2, 4, 1, 3])
            #expect(try seqs("두통 -비가") == [2, 4, 1] && seqs("심해졌어요 두통") == [3])
            #expect(try seqs("두통") { ($0.since, $0.until) = (20, 40) } == [2, 3])
        }
    }

    @Test("A rank goes on past texts that were taken back, and past what a reader does not see")
    func rankBeyond() throws {
        let log = try LogFixture()
        var events: [Event] = []
        for seq in UInt64(1)...200 { events.append(event(1, seq, hlc: Int64(seq) * 10, #"{"text":"두통"}"#)) }
        for seq in UInt64(101)...200 {
            let target = EventID(UUIDBits(high: 1, low: seq))
            events.append(
                event(
                    2, seq - 100, hlc: 5_000 + Int64(seq), type: "message.retracted", #"{"message":"\#(target)"}"#))
        }
        try log.deliver(events)
        let reader = try reader(log)
        let query = SearchQuery(try SearchWords("두통"))
        let found = try reader.ranked(query, limit: 5)
        #expect(found.page.hits.map(\.stored.event.header.dot.seq) == [100, 99, 98, 97, 96] && !found.isWhole)
        let odd = try reader.ranked(query, limit: 500) { header throws(StoreError) in header.dot.seq % 2 == 1 }
        #expect(odd.page.hits.count == 50 && odd.isWhole)
    }

    @Test(
        "A rank keeps what a reader sees, however many others fit better, in their rooms or in those of others (INV-13)"
    )
    func rankUnseen() throws {
        let log = try LogFixture()
        var events: [Event] = []
        for seq in UInt64(1)...9_000 {
            let isSeen = seq <= 3
            events.append(
                event(
                    1, seq, hlc: Int64(seq) * 10, conversation: seq % 2 == 0 && !isSeen ? "others" : "c",
                    user: seq == 2 ? "me" : "u", isSeen ? #"{"text":"두통이 심해요"}"# : #"{"text":"두통 두통"}"#))
        }
        try log.deliver(events)
        let reader = try reader(log)
        let query = SearchQuery(try SearchWords("두통"))
        var asked = 0
        func isSeen(_ header: EventHeader) throws(StoreError) -> Bool {
            asked += 1
            return header.dot.seq <= 3
        }
        let all = try reader.ranked(query, limit: 5, isSeen: isSeen)
        #expect(all.page.hits.map(\.key.dot.seq) == [3, 2, 1] && all.isWhole && asked >= 9_000)
        asked = 0
        let own = try reader.ranked(query, limit: 5, roomsOf: ["me"], isSeen: isSeen)
        #expect(
            own.page.hits.map(\.key.dot.seq) == [3, 2, 1] && own.isWhole && (4_500..<5_000).contains(asked),
            "\(asked)")
        asked = 0
        let none = try reader.ranked(query, limit: 5, roomsOf: ["stranger"], isSeen: isSeen)
        #expect(none.page.hits.isEmpty && none.isWhole && asked == 0)
    }

    @Test("A changed index is found by verify, and named (D21)")
    func tampering() throws {
        let log = try LogFixture()
        try log.deliver([event(1, 1, hlc: 10, #"{"text":"증거가 되는 글"}"#)])
        _ = try log.digests()
        let connection = try Connection(path: log.files.views, mode: .write)
        try SearchTokenizer.register(on: connection)
        let tags = [
            "u\(try #require(try LogReader(log.files).ref("u")))",
            "c\(try #require(try LogReader(log.files).ref("c")))",
        ]
        try connection.run(
            "INSERT INTO search(search, rowid, text) VALUES('delete', 1, ?)",
            .text(String(decoding: SearchTokenizer.indexed("증거가 되는 글".utf8, tags: tags), as: UTF8.self)))
        let report = try ViewsCheck(log.files).run()
        #expect(report.differences.contains { $0.view == "search" && $0.row.contains("증") }, "\(report.differences)")
    }
}

extension SearchHit {
    /// The text with its words in brackets.
    var marked: String {
        var bytes = Array(text.utf8)
        for range in ranges.reversed() {
            bytes.insert(UInt8(ascii: "]"), at: range.upperBound)
            bytes.insert(UInt8(ascii: "["), at: range.lowerBound)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

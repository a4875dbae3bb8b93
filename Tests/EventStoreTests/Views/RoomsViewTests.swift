import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Which rooms users have, and what stands in their lists (docs/reference/VIEWS.md, "rooms").
struct RoomsViewTests {
    private static let hour: Int64 = 1 << 22

    private func reader(_ events: [Event], batch: Int = 65_536) throws -> (LogFixture, ViewReader) {
        let log = try LogFixture()
        try log.deliver(events)
        _ = try log.digests(batch: batch)
        return (log, try ViewReader(log.files))
    }

    private func id(_ low: UInt64) -> EventID { EventID(UUIDBits(high: 0x1d, low: low)) }

    private func started(
        _ seq: UInt64, _ conversation: String, _ users: [String], hlc: Int64 = 10, more: String = ""
    ) -> Event {
        let names = users.map { "\"\($0)\"" }.joined(separator: ",")
        return event(
            1, seq, hlc: hlc, id: seq, type: "conversation.started", conversation: conversation, user: users[0],
            #"{"participants":[\#(names)]\#(more)}"#)
    }

    private func said(
        _ seq: UInt64, _ conversation: String, _ user: String, hlc: Int64, _ payload: String = #"{"text":"안녕"}"#,
        author: String? = nil
    ) -> Event {
        event(
            1, seq, hlc: hlc, id: seq, conversation: conversation, user: user, author: author, payload)
    }

    private func told(_ page: RoomPage) -> [String] { page.rooms.map(\.summary.conversation) }

    @Test(
        "The latest message comes first; its text is told, what is unread is counted, names are those of now (INV-6)")
    func list() throws {
        let (_, reader) = try reader([
            started(1, "old", ["kim", "lee"]), started(2, "new", ["kim", "park"]), started(3, "empty", ["kim"]),
            said(4, "new", "park", hlc: 20 + Self.hour), said(5, "old", "lee", hlc: 30 + 3 * Self.hour),
            said(6, "old", "lee", hlc: 40 + 3 * Self.hour, #"{"text":"마지막"}"#),
            event(
                1, 7, hlc: 50 + 3 * Self.hour, type: "profile.changed", conversation: nil, user: "lee",
                #"{"fields":{"name":"이하늘"}}"#),
        ])
        let page = try reader.rooms(of: "kim", limit: 10)
        #expect(told(page) == ["old", "new", "empty"] && page.next == nil)
        let first = try #require(page.rooms.first)
        #expect(first.last?.text == "마지막" && first.last?.header.author == "lee")
        #expect(first.unread == 2 && !first.hasMoreUnread && first.joined == true && first.people == 2)
        #expect(first.others == [RoomPerson(user: "lee", name: "이하늘")])
        #expect(page.rooms[2].last == nil && page.rooms[2].unread == 0)
        #expect(told(try reader.rooms(of: "lee", limit: 10)) == ["old"])
        #expect(try reader.rooms(of: "lee", limit: 10).rooms[0].unread == 0)
        #expect(try reader.rooms(of: "nobody", limit: 10).rooms.isEmpty)
    }

    @Test("What is read is told by an id alike on every node, though two gave it to one of theirs each (INV-6)")
    func readByAnIDOfTwo() throws {
        let begun = started(1, "c", ["kim", "lee", "park"])
        let first = event(1, 2, hlc: 20, id: 9, conversation: "c", user: "lee", #"{"text":"이것"}"#)
        let second = event(2, 1, hlc: 40, id: 9, conversation: "c", user: "park", #"{"text":"저것"}"#)
        let elsewhere = event(3, 1, hlc: 15, id: 9, conversation: "d", user: "park", #"{"text":"다른 곳"}"#)
        let others = [said(3, "c", "lee", hlc: 30), said(4, "c", "lee", hlc: 50)]
        let read = event(
            1, 5, hlc: 60, type: "message.read", conversation: "c", user: "kim", #"{"upTo":"\#(id(9))"}"#)
        for named in [[first, second, elsewhere], [second, elsewhere, first], [elsewhere, second, first]] {
            let (_, reader) = try reader([begun] + named + others + [read])
            let rooms = try reader.rooms(of: "kim", limit: 10).rooms
            #expect(rooms.first { $0.summary.conversation == "c" }?.unread == 3)
        }
    }

    @Test("A conversation whose messages stand in a user's history is a room of theirs, though no one named them")
    func chatbot() throws {
        let (_, reader) = try reader([
            said(1, "c", "kim", hlc: 10), said(2, "c", "kim", hlc: 20, author: "bot"),
            event(
                1, 3, hlc: 30, type: "conversation.started", conversation: "g", user: "kim", #"{"category":"image"}"#),
            event(1, 4, hlc: 40, type: "survey.answered", conversation: "s", user: "kim", #"{"survey":"s"}"#),
        ])
        #expect(Set(told(try reader.rooms(of: "kim", limit: 10))) == ["c", "g"])
        // A bot that answers everyone has no list of them all.
        #expect(try reader.rooms(of: "bot", limit: 10).rooms.isEmpty)
        var query = RoomQuery()
        query.category = "image"
        #expect(told(try reader.rooms(of: "kim", query, limit: 10)) == ["g"])
        query.category = nil
        query.match = TitleWords("없음")
        #expect(try reader.rooms(of: "kim", query, limit: 10).rooms.isEmpty)
    }

    @Test(
        "The text is that which stands: an edit counts, what was taken back is not told, a picture is one",
        arguments: [
            (#"{"text":"처음"}"#, [#"{"text":"고침"}"#], false, RoomMessage.Kind.text, "고침" as String?),
            (#"{"text":"처음"}"#, [], true, .retracted, nil),
            (#"{"attachments":[{"mediaType":"image/jpeg"}]}"#, [], false, .image, nil),
            (#"{"attachments":[{"mediaType":"AUDIO/mp4"}]}"#, [], false, .audio, nil),
            (#"{"attachments":[{"mediaType":"application/pdf"}]}"#, [], false, .file, nil),
            (#"{"text":"","attachments":[{"mediaType":"image/png"}]}"#, [], false, .image, nil),
            (#"{"text":"사진입니다","attachments":[{"mediaType":"image/png"}]}"#, [], false, .text, "사진입니다"),
        ] as [(String, [String], Bool, RoomMessage.Kind, String?)])
    func lastMessage(
        payload: String, edits: [String], isRetracted: Bool, kind: RoomMessage.Kind, text: String?
    ) throws {
        var events = [said(1, "c", "kim", hlc: 10, payload)]
        for edit in edits {
            let payload = edit.replacing("{", with: #"{"message":"\#(id(1))","#)
            events.append(event(1, UInt64(events.count + 1), hlc: 20, type: "message.edited", user: "kim", payload))
        }
        // A foreign edit changes nothing (D24).
        events.append(
            event(
                1, UInt64(events.count + 1), hlc: 25, type: "message.edited", user: "lee",
                #"{"message":"\#(id(1))","text":"남의 글"}"#))
        if isRetracted {
            events.append(
                event(
                    1, UInt64(events.count + 1), hlc: 30, type: "message.retracted", user: "kim",
                    #"{"message":"\#(id(1))"}"#))
        }
        let (_, reader) = try reader(events)
        let last = try #require(try reader.rooms(of: "kim", limit: 1).rooms.first?.last)
        #expect(last.kind == kind && last.text == text)
    }

    @Test("A text is cut after 80 characters, whole ones alone, however many bytes they have")
    func cut() {
        let family = "👨‍👩‍👧‍👦"
        #expect(RoomMessage.cut(String(repeating: "가", count: 81)) == String(repeating: "가", count: 80))
        #expect(RoomMessage.cut(String(repeating: "가", count: 80)).count == 80)
        // As many bytes as a text may have.
        #expect(RoomMessage.cut(String(repeating: family, count: 90)).count == 40)
        #expect(RoomMessage.cut("a" + String(repeating: "\u{301}", count: 100_000)) == "")
        #expect(RoomMessage.cut("한\r\n글") == "한\r\n글")
    }

    @Test(
        "Unread is what others said after the message that was read last; a mark for an unknown one counts by its own time"
    )
    func unread() throws {
        var events = [started(1, "c", ["kim", "lee"])]
        for seq in 2...9 {
            events.append(said(UInt64(seq), "c", seq % 2 == 0 ? "lee" : "kim", hlc: Int64(seq) * 100))
        }
        let unread = { (events: [Event]) throws -> Int? in
            try self.reader(events).1.rooms(of: "kim", limit: 1).rooms.first?.unread
        }
        #expect(try unread(events) == 4)
        func read(_ seq: UInt64, _ upTo: String, hlc: Int64, origin: UInt64 = 1) -> Event {
            event(origin, seq, hlc: hlc, type: "message.read", user: "kim", upTo)
        }
        let first = read(10, #"{"upTo":"\#(id(4))"}"#, hlc: 1_000)
        #expect(try unread(events + [first]) == 2)
        // The last that was said of it counts, whatever it names.
        #expect(try unread(events + [first, read(11, #"{"upTo":"\#(id(2))"}"#, hlc: 1_100)]) == 3)
        #expect(try unread(events + [first, read(1, #"{"upTo":"\#(id(2))"}"#, hlc: 900, origin: 2)]) == 2)
        #expect(try unread(events + [read(10, #"{"upTo":"\#(id(99))"}"#, hlc: 1_000)]) == 0)
        #expect(try unread(events + [read(10, #"{"upTo":"\#(id(99))"}"#, hlc: 650)]) == 1)
        // Another's mark is not theirs.
        let other = event(1, 10, hlc: 1_000, type: "message.read", user: "lee", #"{"upTo":"\#(id(9))"}"#)
        #expect(try unread(events + [other]) == 4)
        // Without upTo it is the cause.
        let cause = event(1, 10, hlc: 1_000, type: "message.read", user: "kim", cause: id(8), "{}")
        #expect(try unread(events + [cause]) == 0)
    }

    @Test("Over 1,000 unread messages are told as more than those")
    func manyUnread() throws {
        var events = [started(1, "c", ["kim", "lee"]), said(2, "c", "lee", hlc: 20)]
        for seq in 3...1_003 { events.append(said(UInt64(seq), "c", "lee", hlc: 20 + Int64(seq))) }
        let (log, reader) = try reader(events)
        var room = try #require(try reader.rooms(of: "kim", limit: 1).rooms.first)
        #expect(room.unread == 1_000 && room.hasMoreUnread)
        let read = event(1, 1_004, hlc: 2_000, type: "message.read", user: "kim", #"{"upTo":"\#(id(2))"}"#)
        try log.deliver([read])
        _ = try log.digests()
        room = try #require(try ViewReader(log.files).rooms(of: "kim", limit: 1).rooms.first)
        #expect(room.unread == 1_000 && room.hasMoreUnread)
        try log.deliver([event(1, 1_005, hlc: 2_001, type: "message.read", user: "kim", #"{"upTo":"\#(id(3))"}"#)])
        _ = try log.digests()
        room = try #require(try ViewReader(log.files).rooms(of: "kim", limit: 1).rooms.first)
        #expect(room.unread == 1_000 && !room.hasMoreUnread)
    }

    @Test("Unread is what the user saw of it, and so are the first words; who has left has no room (INV-13)")
    func seenInPart() throws {
        let events = [
            started(1, "c", ["lee"]), said(2, "c", "lee", hlc: 20, #"{"text":"처음"}"#),
            event(1, 3, hlc: 30, type: "participant.joined", user: "lee", #"{"user":"kim"}"#),
            said(4, "c", "lee", hlc: 40, #"{"text":"나중"}"#), said(5, "c", "kim", hlc: 50),
        ]
        let (_, reader) = try reader(events)
        var query = RoomQuery()
        query.withFirst = true
        for (seen, unread, first) in [
            (SeenOfRoom.all, 2, "처음"), (.nothing, 0, nil), (.some { $0.milliseconds >= 30 }, 1, "나중"),
            // Out and in again: what stood before is theirs, too.
            (.some { $0.milliseconds <= 20 || $0.milliseconds >= 50 }, 1, "처음"),
        ] as [(SeenOfRoom, Int, String?)] {
            let page = try reader.rooms(of: "kim", query, limit: 1) { _ in seen }
            #expect(page.rooms.first?.unread == unread && page.rooms.first?.first?.text == first)
        }
        let left = event(1, 6, hlc: 60, type: "participant.left", user: "kim", "{}")
        let (_, later) = try self.reader(events + [left, said(7, "c", "lee", hlc: 70)])
        query.isAll = true
        #expect(try later.rooms(of: "kim", query, limit: 1).rooms.isEmpty)
    }

    @Test("Who was there from the beginning is not looked for, and who came otherwise is")
    func askedFor() throws {
        let (_, reader) = try reader([
            started(1, "named", ["kim", "lee"]), started(2, "begun", ["kim"]), said(3, "none", "kim", hlc: 20),
            started(4, "let-in", ["lee"]),
            event(
                1, 5, hlc: 30, type: "participant.joined", conversation: "let-in", user: "lee", #"{"user":"kim"}"#),
            started(6, "again", ["lee"]), started(7, "again", ["kim"], hlc: 40),
            started(8, "own", ["lee"]), said(9, "own", "kim", hlc: 50),
            started(10, "dm-pfq3nbpckaz565fwfizerr2l4a", ["kim", "lee"]),
        ])
        var asked: Set<String> = []
        let page = try reader.rooms(of: "kim", limit: 10) { conversation in
            asked.insert(conversation)
            return .nothing
        }
        #expect(page.rooms.count == 7)
        #expect(asked == ["let-in", "again", "own", "dm-pfq3nbpckaz565fwfizerr2l4a"])
    }

    @Test(
        "A room that was hidden is in the list again when it was shown, or when all are asked for; the last word counts"
    )
    func hidden() throws {
        func word(_ type: String, _ seq: UInt64, hlc: Int64, user: String = "kim", origin: UInt64 = 1) -> Event {
            event(origin, seq, hlc: hlc, type: "conversation.\(type)", user: user, "{}")
        }
        let events = [said(1, "c", "kim", hlc: 10), word("hidden", 2, hlc: 20)]
        var all = RoomQuery()
        all.isAll = true
        for (more, isListed) in [
            ([], false), ([word("shown", 3, hlc: 30)], true), ([word("shown", 1, hlc: 15, origin: 2)], false),
            ([word("shown", 3, hlc: 30), word("hidden", 4, hlc: 40)], false),
        ] {
            let (_, reader) = try reader(events + more)
            #expect(try reader.rooms(of: "kim", limit: 5).rooms.isEmpty != isListed)
            #expect(try reader.rooms(of: "kim", all, limit: 5).rooms.map(\.isHidden) == [!isListed])
        }
        let (_, other) = try reader(events + [word("hidden", 3, hlc: 30, user: "lee")])
        #expect(try other.rooms(of: "lee", all, limit: 5).rooms.isEmpty)
    }

    @Test(
        "What is not of the form of FORMATS §5 is quarantined, and nothing stops (INV-10)",
        arguments: [
            ("message.read", #"{"upTo":"x"}"#, "c", "upTo is not an event id"),
            ("message.read", #"{"upTo":null}"#, "c", "upTo is not an event id"),
            ("message.read", "{}", "c", "upTo is missing"),
            ("message.read", #"{"upTo":"00000000-0000-001d-0000-000000000001"}"#, nil, "without a conversation"),
            ("conversation.hidden", "{}", nil, "without a conversation"),
            ("conversation.shown", "{}", nil, "without a conversation"),
            ("contact.added", "{}", nil, "contact is missing"), ("contact.added", #"{"contact":""}"#, nil, "missing"),
            ("contact.added", #"{"contact":"a","name":7}"#, nil, "name is not text"),
            ("contact.removed", #"{"contact":7}"#, nil, "contact is missing"),
            ("search.remembered", #"{"scope":"users"}"#, nil, "query is missing"),
            ("search.remembered", #"{"query":"a","scope":"rooms"}"#, nil, "scope is none"),
            ("search.forgotten", #"{"query":"a","all":true}"#, nil, "do not go together"),
            ("search.forgotten", "{}", nil, "query is missing"),
        ] as [(String, String, String?, String)])
    func malformed(type: String, payload: String, conversation: String?, reason: String) throws {
        let (_, reader) = try reader([
            event(1, 1, hlc: 10, type: type, conversation: conversation, user: "kim", payload),
            said(2, "c", "kim", hlc: 20),
        ])
        let refused = try #require(try reader.quarantine().first)
        #expect(refused.position == 1 && refused.reason.contains(reason))
        #expect(told(try reader.rooms(of: "kim", limit: 5)) == ["c"])
        #expect(try reader.contacts(of: "kim", limit: 5).isEmpty)
        #expect(try reader.recentSearches(of: "kim").isEmpty)
    }

    @Test("Pages have what one page has, each room once, in conversations small and large, merged or not")
    func pages() throws {
        var random = SplitMix64(state: 89)
        var events: [Event] = []
        var seq = UInt64(0)
        func next() -> UInt64 {
            seq += 1
            return seq
        }
        for number in 0..<90 {
            let others = number % 9 == 0 ? (0..<70).map { "u-\($0)" } : ["lee"]
            events.append(started(next(), "c-\(number)", ["kim"] + others, hlc: 10))
        }
        for step in 0..<900 {
            let conversation = "c-\(Int.random(in: 0..<80, using: &random))"
            let time = Int64(step) * Self.hour / Int64.random(in: 20...40, using: &random)
            let hlc = 20 + Int64(step) * Self.hour / 20
            let number = next()
            events.append(
                event(1, number, hlc: hlc, id: number, time: time, conversation: conversation, user: "lee"))
        }
        let (_, reader) = try reader(events)
        let whole = try reader.rooms(of: "kim", limit: 500)
        #expect(whole.rooms.count == 90 && whole.next == nil && Set(told(whole)).count == 90)
        let times = whole.rooms.map { ($0.last?.header.displayKey.time ?? 10) / Self.hour }
        #expect(times == times.sorted(by: >))
        for limit in [1, 7, 50] {
            var found: [String] = []
            var place: RoomPlace?
            repeat {
                let page = try reader.rooms(of: "kim", limit: limit, after: place)
                #expect(page.rooms.count <= limit)
                found += told(page)
                place = page.next
                #expect(place.map { RoomPlace(names: $0.names) == $0 } ?? true)
            } while place != nil
            #expect(found == told(whole))
        }
        // Within the hours the latest comes first.
        let keys = whole.rooms.compactMap { $0.last?.header.displayKey }
        #expect(keys == keys.sorted(by: >))
    }

    @Test(
        "Where no one is named, rooms stand by the user's own last message, each once, in memory or merged, in any order of arrival (D89)",
        arguments: [8, 64, 1 << 18])
    func ownRooms(generation: Int) throws {
        var random = SplitMix64(state: 90)
        var seqs: [UInt64: UInt64] = [:]
        var events: [Event] = []
        var last: [String: Int64] = [:]
        for number in 1...600 {
            let (conversation, user) = (
                "c-\(Int.random(in: 0..<70, using: &random))", number % 3 == 0 ? "lee" : "kim"
            )
            let (origin, hlc) = (UInt64.random(in: 1...3, using: &random), Int64(number) * Self.hour / 9)
            seqs[origin, default: 0] += 1
            events.append(
                event(
                    origin, seqs[origin] ?? 0, hlc: hlc, id: UInt64(number), conversation: conversation, user: user))
            if user == "kim" { last[conversation] = hlc / Self.hour }
        }
        seqs[1, default: 0] += 1
        // In one of them they are named: it goes by what anyone says there.
        events.append(started(seqs[1] ?? 0, "c-7", ["kim", "lee"], hlc: 600 * Self.hour / 9))
        last["c-7"] = 600 / 9
        var lists: [[String]] = []
        for isShuffled in [false, true] {
            let log = try LogFixture()
            // Of each origin in its order.
            var order = events
            if isShuffled {
                order = [1, 3, 2].flatMap { low in events.filter { $0.header.dot.origin == origin(low) } }
            }
            let projector = try Projector(log.files, tails: ViewMemtables(generation: generation))
            for start in stride(from: 0, to: order.count, by: 50) {
                try log.deliver(Array(order[start..<min(start + 50, order.count)]))
                try projector.step()
            }
            let reader = try ViewReader(log.files)
            let whole = try reader.rooms(of: "kim", limit: 500)
            #expect(told(whole).count == last.count && Set(told(whole)) == Set(last.keys))
            let hours = told(whole).compactMap { last[$0] }
            #expect(hours == hours.sorted(by: >))
            for limit in [1, 7] {
                var found: [String] = []
                var place: RoomPlace?
                repeat {
                    let page = try reader.rooms(of: "kim", limit: limit, after: place)
                    found += told(page)
                    place = page.next
                } while place != nil
                #expect(found == told(whole))
            }
            for conversation in last.keys.sorted() {
                let paged = try reader.participants(of: conversation, limit: 9)
                #expect(paged == (try reader.participants(of: conversation)))
                #expect(try reader.people(of: conversation) == UInt64(paged.count))
            }
            lists.append(told(whole))
            #expect(try ViewsCheck(log.files).run().isIntact)
        }
        #expect(lists[0] == lists[1])
    }

    @Test("Of more own rooms than are read at a time each is told once, at its later hour of run and tail (D89)")
    func manyOwnRooms() throws {
        var random = SplitMix64(state: 91)
        var seq = UInt64(0)
        var last: [String: Int64] = [:]
        func said(_ conversation: Int, hour: Int64) -> Event {
            seq += 1
            let name = "c-\(conversation)"
            last[name] = max(last[name] ?? .min, hour)
            return event(
                1, seq, hlc: 200 * Self.hour + Int64(seq), id: seq, time: hour * Self.hour + Int64(seq),
                conversation: name, user: "kim")
        }
        let log = try LogFixture()
        let projector = try Projector(log.files, tails: ViewMemtables())
        var numbers = Array(0..<1_300)
        numbers.shuffle(using: &random)
        try log.deliver(numbers.map { said($0, hour: Int64.random(in: 0...90, using: &random)) })
        try projector.step()
        while projector.pending > 0 { try projector.merge() }
        // Some are newer than what is in the run, some older, and some are in the tail alone.
        try log.deliver(
            (0..<400).map { _ in
                said(Int.random(in: 0..<1_400, using: &random), hour: Int64.random(in: 0...100, using: &random))
            })
        try projector.step()
        let reader = try ViewReader(log.files)
        let whole = try reader.rooms(of: "kim", limit: 1_500)
        #expect(told(whole).count == last.count && Set(told(whole)) == Set(last.keys))
        let hours = told(whole).compactMap { last[$0] }
        #expect(hours.count == last.count && zip(hours, hours.dropFirst()).allSatisfy { $0 >= $1 })
        var found: [String] = []
        var place: RoomPlace?
        repeat {
            let page = try reader.rooms(of: "kim", limit: 130, after: place)
            found += told(page)
            place = page.next
        } while place != nil
        #expect(found == told(whole))
    }

    @Test("One who is not named costs no row when they speak in another conversation (D89)")
    func speakersCostNothing() throws {
        let log = try LogFixture()
        let projector = try Projector(log.files)
        func changes() throws -> Int64 {
            try mapped { () throws(DatabaseError) in
                try projector.target.store.connection.integer("SELECT total_changes()") ?? 0
            }
        }
        try log.deliver((UInt64(1)...100).map { said($0, "c-\($0 % 10)", "u-0", hlc: 10) })
        try projector.step()
        let before = try changes()
        try log.deliver((UInt64(101)...1_100).map { said($0, "c-\($0 % 10)", "u-\($0 / 10)", hlc: 20) })
        try projector.step()
        // What a step writes, however many events it applies.
        #expect(try changes() - before < 40)
        #expect(told(try ViewReader(log.files).rooms(of: "u-50", limit: 20)).count == 10)
    }

    @Test("A message in a conversation of many writes a row of none of them (D89)")
    func writesFewRows() throws {
        let users = (0..<3_000).map { "u-\($0)" }
        let log = try LogFixture()
        try log.deliver([started(1, "big", users), started(2, "small", ["u-1", "u-2"])])
        let projector = try Projector(log.files)
        try projector.catchUp()
        func changes() throws -> Int64 {
            try mapped { () throws(DatabaseError) in
                try projector.target.store.connection.integer("SELECT total_changes()") ?? 0
            }
        }
        var before = try changes()
        for number in 0..<20 {
            try log.deliver([said(UInt64(number) + 3, "big", "u-5", hlc: Int64(number + 1) * 2 * Self.hour)])
            try projector.step()
        }
        #expect(try changes() - before < 20 * 30)
        before = try changes()
        // Of a small one all rows move, once for each hour.
        for number in 0..<20 {
            try log.deliver([said(UInt64(number) + 23, "small", "u-1", hlc: 50 * Self.hour + Int64(number))])
            try projector.step()
        }
        #expect(try changes() - before < 20 * 30)
        let reader = try ViewReader(log.files)
        #expect(told(try reader.rooms(of: "u-1", limit: 5)) == ["small", "big"])
        #expect(told(try reader.rooms(of: "u-2999", limit: 5)) == ["big"])
        #expect(try reader.rooms(of: "u-2999", limit: 5).rooms[0].people == 3_000)
    }

    @Test("Who takes part is read in pages, and each of them costs as much in a large conversation as in a small one")
    func participants() throws {
        let users = (0..<700).map { "u-\($0)" }
        var events = [started(1, "c", users)]
        for seq in 2...400 { events.append(said(UInt64(seq), "c", "u-\(seq % 50)", hlc: Int64(seq) * 10)) }
        events.append(said(401, "c", "guest", hlc: 5_000))
        events.append(event(1, 402, hlc: 5_001, type: "participant.left", user: "u-7", "{}"))
        events.append(event(1, 403, hlc: 5_002, type: "conversation.hidden", user: "reader", "{}"))
        let (_, reader) = try reader(events)
        let all = try reader.participants(of: "c")
        #expect(all.count == 701)
        #expect(try reader.people(of: "c") == 701)
        for limit in [1, 100, 1_000] {
            var found: [Participant] = []
            var page: [Participant] = []
            repeat {
                page = try reader.participants(of: "c", after: found.last?.user, limit: limit)
                found += page
            } while page.count == limit && found.count < 1_500
            #expect(found == all)
        }
        #expect(try reader.participant("u-7", of: "c")?.joined == false)
        #expect(try reader.participant("guest", of: "c").map { $0.joined == nil && $0.messages == 1 } == true)
        #expect(try reader.participant("reader", of: "c") == nil)
        #expect(try reader.keepsList("c") && !reader.keepsList("d"))
    }

    /// All that was recorded then, but for one conversation.
    private func seen(_ times: ClosedRange<Int64>) -> ViewReader.SeenInRoom {
        { conversation in conversation == "c-3" ? .nothing : .some { times.contains($0.milliseconds) } }
    }

    @Test(
        "What a user received is the dialogue of their rooms, in order, in pages of any length, as far as they saw it"
    )
    func received() throws {
        var random = SplitMix64(state: 5)
        var events: [Event] = []
        var wanted: [(key: DisplayKey, conversation: String)] = []
        for number in 0..<40 { events.append(started(UInt64(number) + 1, "c-\(number)", ["kim", "lee"])) }
        for number in 0..<600 {
            let conversation = "c-\(Int.random(in: 0..<40, using: &random))"
            let one = event(
                1, UInt64(number) + 41, hlc: 100 + Int64(number) * Self.hour / 9, id: UInt64(number) + 41,
                time: Int64(number) * Self.hour / Int64.random(in: 9...14, using: &random),
                conversation: conversation, user: number % 3 == 0 ? "kim" : "lee")
            events.append(one)
            if conversation != "c-3" { wanted.append((one.header.displayKey, conversation)) }
        }
        events.append(
            event(
                1, 700, hlc: 1 << 40, type: "message.read", conversation: "c-1", user: "kim", #"{"upTo":"\#(id(1))"}"#
            ))
        let (_, reader) = try reader(events)
        wanted.sort { $0.key > $1.key }
        for limit in [1, 13, 500] {
            var found: [DisplayKey] = []
            var bound: DisplayKey?
            repeat {
                let page = try reader.received(by: "kim", limit: limit, before: bound, seen: seen(.min ... .max))
                #expect(page.entries.count <= limit)
                found += page.entries.map(\.key)
                bound = page.next
            } while bound != nil && found.count < 1_000
            #expect(found == wanted.map(\.key))
        }
        // From joining to leaving.
        let some = wanted.filter { (200...1 << 25).contains($0.key.hlc.milliseconds) }
        var query = TimelineQuery()
        let page = try reader.received(by: "kim", query, limit: 500, seen: seen(200...1 << 25))
        #expect(page.entries.map(\.key) == some.map(\.key))
        query.authors = ["lee"]
        query.since = 1 << 24
        let lee = try reader.received(by: "kim", query, limit: 500, seen: seen(.min ... .max))
        #expect(lee.entries.allSatisfy { $0.stored.event.header.author == "lee" && $0.key.time >= 1 << 24 })
        #expect(lee.entries.count > 100)
    }

    @Test("An erased payload takes room and text away; who spoke is still known to have")
    func erased() throws {
        let header = said(2, "c", "kim", hlc: 20).header
        let gone = Event(header: header, body: .erased(payloadDigest: SHA256().digest([1])))
        let (_, reader) = try reader([said(1, "c", "lee", hlc: 10), gone])
        #expect(try reader.rooms(of: "kim", limit: 5).rooms.isEmpty)
        let room = try #require(try reader.rooms(of: "lee", limit: 5).rooms.first)
        #expect(room.last?.kind == .erased && room.last?.text == nil)
        #expect(try reader.participants(of: "c", limit: 5).map(\.user) == ["kim", "lee"])
    }
}

extension ViewReader {
    /// Of one who saw all of each.
    func rooms(
        of user: String, _ query: RoomQuery = RoomQuery(), limit: Int, after place: RoomPlace? = nil
    ) throws(StoreError) -> RoomPage { try rooms(of: user, query, limit: limit, after: place) { _ in .all } }
}

import CommandLineKit
import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// Importing again, elsewhere, or from a later export that overlaps, doubles nothing (INV-8, D63).
@Suite struct RepeatTests {
    private static let kakaotalk = """
        동아리 방 3 님과 카카오톡 대화
        저장한 날짜 : 2025년 10월 14일 오후 9:03

        2025년 10월 13일 오전 9:05
        2025년 10월 13일 오전 9:05, 홍길동 : 네
        2025년 10월 13일 오전 9:05, 홍길동 : 네
        2025년 10월 13일 오전 9:05, 김영희 : 네
        2025년 10월 13일 오전 9:06, 회원님 : 좋아요

        """
    private static let later = """
        2025년 10월 13일 오전 9:06, 회원님 : 좋아요
        2025년 10월 14일 오전 12:10
        2025년 10월 14일 오전 12:10, 홍길동 : 자정 뒤

        """

    private func outcomes(_ imported: Imported, in store: EventStore) throws -> (new: Int, already: Int, other: Int) {
        var counts = (new: 0, already: 0, other: 0)
        for outcome in try store.appendBlocking(imported.events, atomicity: .each) {
            switch outcome {
            case .appended: counts.new += 1
            case .already: counts.already += 1
            case .rejected: counts.other += 1
            }
        }
        return counts
    }

    private func makeStore() throws -> (TemporaryFolder, EventStore) {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "test")
        return (folder, try EventStore(opening: folder.path))
    }

    @Test("The same said twice in a minute is said twice; a later export adds what is new")
    func kakaotalk() throws {
        let folder = try TemporaryFolder.made()
        let first = try Imported(try folder.write(Self.kakaotalk, to: "chat.txt"))
        #expect(first.texts == ["네", "네", "네", "좋아요"])
        // In the order of the file, a millisecond each.
        #expect(
            first.events.map(\.moment).prefix(3) == [
                "2025-10-13T00:05:00.000Z", "2025-10-13T00:05:00.001Z", "2025-10-13T00:05:00.002Z",
            ])
        let (place, store) = try makeStore()
        defer { withExtendedLifetime(place) {} }
        #expect(try outcomes(first, in: store) == (4, 0, 0))
        #expect(try outcomes(first, in: store) == (0, 4, 0))
        let grown = try Imported(try folder.write(Self.kakaotalk + Self.later, to: "later.txt"))
        #expect(grown.texts.count == 6)
        #expect(try outcomes(grown, in: store) == (2, 4, 0))
    }

    @Test("The exporter is one user, whatever the file calls him")
    func me() throws {
        let folder = try TemporaryFolder.made()
        let path = try folder.write(Self.kakaotalk, to: "chat.txt")
        let unnamed = try Imported(path, as: nil, ImportOptions())
        #expect(unnamed.events.map(\.user) == ["kakaotalk:홍길동", "kakaotalk:홍길동", "kakaotalk:김영희", "kakaotalk:회원님"])
        let named = try Imported(path, as: nil, ImportOptions(me: "이철수", user: "cs"))
        #expect(named.events.map(\.user).last == "cs")
        #expect(named.events.map(\.id) == unnamed.events.map(\.id))
        #expect(named.events[0].conversation == "kakaotalk:동아리 방")
    }

    @Test("Times of another zone are another content under the same ids: nothing is doubled")
    func zones() throws {
        let folder = try TemporaryFolder.made()
        let path = try folder.write(
            "13/06/18, 21:25 - a: m\n13/06/18, 21:25 - b: m\n", to: "WhatsApp Chat with b.txt")
        let seoul = try Imported(path), utc = try Imported(path, as: nil, ImportOptions(zone: .fixed(seconds: 0)))
        #expect(seoul.events.map(\.id) == utc.events.map(\.id))
        #expect(seoul.events[0].conversation == "whatsapp:b")
        let (place, store) = try makeStore()
        defer { withExtendedLifetime(place) {} }
        #expect(try outcomes(seoul, in: store) == (2, 0, 0))
        #expect(try outcomes(utc, in: store) == (0, 0, 2))
    }

    @Test("An edit that a later export has is added; what was imported first stays")
    func telegram() throws {
        let folder = try TemporaryFolder.made()
        func export(_ text: String, _ edited: String) -> String {
            #"""
            {"name":"방","type":"private_group","id":77,"messages":[
            {"id":1,"type":"message","date_unixtime":"1700000000","from":"김","from_id":"user5","text":"\#(text)"\#(edited)},
            {"id":2,"type":"message","date_unixtime":"1700000060","from":"이","from_id":"user6","text":["a ",{"type":"bold","text":"b"}],"reply_to_message_id":1},
            {"id":3,"type":"service","date_unixtime":"1700000070","actor":"이","action":"pin_message","text":""}]}
            """#
        }
        let first = try Imported(try folder.write(export("하나", ""), to: "result.json"))
        #expect(first.counts == ["conversation.started": 1, "message.posted": 2])
        #expect(first.events[2].cause == first.events[1].id)
        #expect(first.texts == ["하나", "a b"])
        let (place, store) = try makeStore()
        defer { withExtendedLifetime(place) {} }
        #expect(try outcomes(first, in: store) == (3, 0, 0))
        let second = try Imported(
            try folder.write(export("둘", #","edited_unixtime":"1700000500""#), to: "result.json"))
        #expect(second.counts["message.edited"] == 1)
        // The posted message differs and stays; the edit is new.
        #expect(try outcomes(second, in: store) == (1, 2, 1))
        let edit = try #require(second.events.first { $0.type == "message.edited" })
        #expect(edit.text == "둘" && edit.cause == first.events[1].id)
    }

    @Test("One day of a channel, and then the whole export: the day goes by the channel's id, and is there once")
    func slack() throws {
        let folder = try TemporaryFolder.made()
        let day = folder.file("export/general/2023-11-14.json")
        try FileManager.default.createDirectory(
            atPath: folder.file("export/general"), withIntermediateDirectories: true)
        try Data(#"[{"type":"message","user":"U1","text":"하나","ts":"1700000000.000100"}]"#.utf8).write(
            to: URL(filePath: day))
        let alone = try Imported(day, as: .slack)
        #expect(alone.events.map(\.conversation) == ["slack:general"])
        #expect(alone.remarks.count == 1 && alone.remarks.allSatisfy { $0.contains("'general'") }, "\(alone.remarks)")
        try Data(#"[{"id":"C1","name":"general","created":1}]"#.utf8).write(
            to: URL(filePath: folder.file("export/channels.json")))
        let first = try Imported(day, as: .slack), whole = try Imported(folder.file("export"), as: .slack)
        #expect(first.events.map(\.conversation) == ["slack:C1"] && first.remarks.isEmpty && first.texts == ["하나"])
        let (place, store) = try makeStore()
        defer { withExtendedLifetime(place) {} }
        #expect(try outcomes(first, in: store) == (1, 0, 0))
        #expect(try outcomes(whole, in: store) == (1, 1, 0))
    }

    @Test("A line for fine-tuning is one conversation, however its blanks stand and in whatever file")
    func openai() throws {
        let folder = try TemporaryFolder.made()
        let one = #"{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}"#
        let same = #"{"messages": [ {"role": "user", "content": "q"}, {"role": "assistant", "content": "a"} ] }"#
        let first = try Imported(try folder.write(one + "\n", to: "a.jsonl"))
        let second = try Imported(try folder.write("\n" + same + "\n", to: "b.jsonl"), as: .openai)
        #expect(first.events == second.events)
        // A reply without a time of its own comes a millisecond after its question.
        #expect(first.events.map(\.time) == [0, 1])
        #expect(first.events[1].cause == first.events[0].id && first.events[1].author == "assistant")
    }
}

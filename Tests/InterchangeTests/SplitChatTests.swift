import CommandLineKit
import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// Chats of KakaoTalk: those that come in several files, and messages that look like lines of the service. Nothing of them is lost,
/// and nothing of them is there twice (INV-8).
@Suite struct SplitChatTests {
    private static func part(_ number: Int, _ lines: String, saved: String = "오후 9:03") -> String {
        """
        동아리 방 (3명)과 카카오톡 대화-\(number).txt
        저장한 날짜 : 2025. 10. 14. \(saved)

        2025년 10월 13일 월요일
        \(lines)

        """
    }
    private static let one = part(1, "2025. 10. 13. 오전 9:05, 홍길동 : 하나\n2025. 10. 13. 오전 9:06, 회원님 : ㅋㅋ")
    private static let two = part(2, "2025. 10. 13. 오전 9:06, 회원님 : ㅋㅋ\n2025. 10. 13. 오전 9:07, 홍길동 : 둘")

    private func ids(_ imported: Imported) -> [String] { imported.events.compactMap { $0.id?.description } }

    @Test("Said alike on both sides of the cut it is there twice: in one folder, and in files beside each other")
    func cut() throws {
        let folder = try TemporaryFolder.made()
        let first = try folder.write(Self.one, to: "Talk-1.txt"),
            second = try folder.write(Self.two, to: "Talk-2.txt")
        let whole = try Imported(folder.path, as: .kakaotalk)
        #expect(whole.texts == ["하나", "ㅋㅋ", "ㅋㅋ", "둘"] && Set(ids(whole)).count == 4 && whole.remarks.isEmpty)
        let apart = try ids(Imported(first)) + ids(Imported(second))
        #expect(apart == ids(whole))
        // In one piece it has the same ids, and stands in the same order.
        let lines = Self.one + Self.two.split(separator: "\n").suffix(2).joined(separator: "\n")
        let piece = try Imported(try folder.write(lines, to: "whole.txt"))
        #expect(
            piece.events.map(\.id) == whole.events.map(\.id) && piece.events.map(\.time) == whole.events.map(\.time))
    }

    @Test(
        "A part whose neighbour is not there says what is taken for one, and the way out; one of another day is no neighbour"
    )
    func alone() throws {
        let folder = try TemporaryFolder.made()
        let second = try folder.write(Self.two, to: "Talk-2.txt")
        let alone = try Imported(second)
        #expect(alone.texts == ["ㅋㅋ", "둘"])
        #expect(alone.remarks.count == 1)
        #expect(alone.remarks.first?.contains("part 2 of a chat, and part 1 is not beside it") == true)
        #expect(alone.remarks.first?.contains("2025-10-13T09:06") == true)
        _ = try folder.write(Self.one.replacingOccurrences(of: "9:03", with: "9:04"), to: "Talk-1.txt")
        #expect(try Imported(second).remarks.count == 1)
        // What lies beside it and is no chat refuses nothing.
        _ = try folder.write("\u{1}\n", to: "Talk-1.txt")
        #expect(try ids(Imported(second)) == ids(alone))
        #expect(try Imported(try folder.write(Self.one, to: "first.txt")).remarks.isEmpty)
    }

    @Test(
        "A part that its file's name alone numbers is told, too; a date and a room's own name are no numbers of parts"
    )
    func numberedByName() throws {
        let folder = try TemporaryFolder.made()
        let chat = Self.windows + "[홍길동] [오전 9:05] 네\n"
        for name in ["KakaoTalk_20251014_2103_11_234_방-2.txt", "Talk_2025.10.14 21_03-2.txt"] {
            let remarks = try Imported(try folder.write(chat, to: name)).remarks
            #expect(remarks.count == 1, "\(name)")
            #expect(remarks.first?.contains("is part 2 of a chat, and part 1 is not beside it") == true)
            #expect(remarks.first?.contains("2025-10-13T09:05") == true)
        }
        let room = chat.replacingOccurrences(of: "방 님과", with: "3-2 님과")
        let others = [
            ("방-1.txt", chat), ("방-2025-10-14.txt", chat), ("2025-10-14-21-03.txt", chat),
            ("KakaoTalk_3-2.txt", room),
        ]
        for (name, text) in others {
            #expect(try Imported(try folder.write(text, to: name)).remarks.isEmpty, "\(name)")
        }
    }

    @Test("A minute may go over three parts, in whatever order their names stand")
    func minute() throws {
        let folder = try TemporaryFolder.made()
        let laugh = "2025. 10. 13. 오전 9:06, 회원님 : ㅋㅋ"
        for number in 9...11 { _ = try folder.write(Self.part(number, laugh), to: "Talk-\(number).txt") }
        let all = try Imported(folder.path, as: .kakaotalk)
        #expect(Set(ids(all)).count == 3)
        #expect(try ids(Imported(folder.file("Talk-11.txt"))).allSatisfy(ids(all).contains))
    }

    @Test("What the release before has imported of parts is recognised, and only what it lost is new")
    func before() throws {
        let folder = try TemporaryFolder.made()
        _ = try folder.write(Self.one, to: "Talk-1.txt")
        _ = try folder.write(Self.two, to: "Talk-2.txt")
        let now = try ids(Imported(folder.path, as: .kakaotalk))
        // As that release has made them of the same files.
        let then = [
            "0199dcd0-de60-8e72-aa81-15fcf4c4d601", "0199dcd1-c8c0-8282-b021-24f9b722b65e",
            "0199dcd2-b320-86e5-b12c-5efed8266c59",
        ]
        #expect(then.allSatisfy(now.contains) && now.count == 4)
    }

    @Test("A text that begins with a mark that joins what stands before it is said, and is no line of the service")
    func joining() throws {
        let folder = try TemporaryFolder.made()
        for mark in ["\u{301}", "\u{200d}", "\u{fe0f}"] {
            let chat = Self.part(1, "2025. 10. 13. 오전 9:06, 김영희 : \(mark)둘\n2025. 10. 13. 오전 9:07, \(mark)이름 : 셋")
            let imported = try Imported(try folder.write(chat, to: "a.txt"))
            #expect(imported.texts == [mark + "둘", "셋"] && imported.passedOver == 0)
            #expect(imported.events.map { $0.object.string("name") } == ["김영희", mark + "이름"])
        }
    }

    // MARK: Lines of the service

    private static let windows = """
        방 님과 카카오톡 대화
        저장한 날짜 : 2025-10-14 21:03:11
        --------------- 2025년 10월 13일 월요일 ---------------

        """
    private static let quoting =
        windows + """
            [홍길동] [오전 9:05] 아까 이렇게 떴어

            김영희님이 나갔습니다.
            왜지?
            [김영희] [오전 9:06] 음
            김영희님이 나갔습니다.

            """

    @Test(
        "A line as the service writes it belongs to the message that goes on behind it; at its end it is passed over, and said"
    )
    func quoted() throws {
        let folder = try TemporaryFolder.made()
        let imported = try Imported(try folder.write(Self.quoting, to: "w.txt"))
        #expect(imported.texts == ["아까 이렇게 떴어\n\n김영희님이 나갔습니다.\n왜지?", "음"])
        #expect(imported.skipped == ["a line of the service: who came, left or was invited": 1])
        // The release before has cut the message there. It has the same id, so it is not there once more.
        #expect(
            ids(imported) == ["0199dcd0-de60-8ea8-94ab-ef543dfe2b5d", "0199dcd1-c8c0-84b5-b869-da856ea95d89"])
    }

    @Test(
        "Lines of the service one after another are none of a message, with blank lines and hidden messages between them"
    )
    func services() throws {
        let folder = try TemporaryFolder.made()
        let lines = """
            [홍길동] [오전 9:05] 안녕
            김영희님이 나갔습니다.

            채팅방 관리자가 메시지를 가렸습니다.
            이철수님이 들어왔습니다.
            --------------- 2025년 10월 14일 화요일 ---------------
            [홍길동] [오전 9:05] 둘

            """
        let imported = try Imported(try folder.write(Self.windows + lines, to: "w.txt"))
        #expect(imported.texts == ["안녕", "둘"] && imported.passedOver == 3)
    }
}

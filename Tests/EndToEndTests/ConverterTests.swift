import Converters
import Foundation
import TestSupport
import Testing

/// The real dialogue sets, each converted whole: exact counts, unique record ids, well-formed lines.
@Suite(.enabled(if: DataFolder.find() != nil, "needs the dialogue sets in ../shared/data"))
struct ConverterTests {
    /// What a set must give, as counted independently of this converter.
    struct Expectation: CustomTestStringConvertible, Sendable {
        var set: String
        var messages = 0
        var conversations = 0
        var profiles = 0
        var surveys = 0
        var skipped: [String: Int] = [:]

        var testDescription: String { self.set }
    }

    static let expectations = [
        Expectation(set: "ko_songys", messages: 23_646, conversations: 11_823),
        Expectation(set: "ko_hgtods", messages: 17_435, conversations: 1_595, profiles: 100),
        Expectation(set: "ko_xpersona", messages: 9_362, conversations: 599, profiles: 599),
        Expectation(set: "ko_nsmc", surveys: 564_806),
        Expectation(set: "en_sgd", messages: 312_250, conversations: 17_193),
        Expectation(
            set: "en_topical_chat", messages: 23_373, conversations: 1_078, surveys: 23_373 - 118 + 2 * 1_078 - 3,
            skipped: ["empty turn rating": 118, "empty conversation rating": 3]),
    ]

    /// The largest two of them take half a minute.
    static let tried = expectations.filter { $0.surveys + $0.messages < 100_000 || cases(0, of: 1) > 0 }

    @Test(arguments: tried)
    func wholeSet(_ expected: Expectation) throws {
        var ids: Set<String> = []
        var started: Set<String> = []
        var duplicates = 0
        var outOfPlace = 0
        let counts = try convert(expected.set) { line in
            if !ids.insert(line.recordID).inserted { duplicates += 1 }
            guard let conversation = line.conversation else { return }
            if line.type == .conversationStarted {
                if !started.insert(conversation).inserted { outOfPlace += 1 }
            } else if !started.contains(conversation) {
                outOfPlace += 1
            }
        }
        #expect(duplicates == 0)
        #expect(outOfPlace == 0, "a conversation starts once, before its other lines")
        #expect(counts.messages == expected.messages)
        #expect(counts.conversations == expected.conversations)
        #expect(counts.profiles == expected.profiles)
        #expect(counts.surveys == expected.surveys)
        #expect(counts.skipped == expected.skipped)
        #expect(counts.lines == ids.count)
        #expect(counts.lines == counts.messages + counts.conversations + counts.profiles + counts.surveys)
    }

    @Test(arguments: ConverterRegistry.all.map { $0.name })
    func linesAreJSONWithKeysInOrder(_ set: String) throws {
        let order = [
            "specversion", "type", "source", "recordid", "time", "subject", "user", "author", "cause", "data",
        ]
        var checked = 0
        _ = try convert(set, ConversionOptions(frames: true, limit: 3_000)) { line in
            var encoder = LineEncoder()
            encoder.append(line)
            #expect(encoder.bytes.last == UInt8(ascii: "\n"))
            #expect(encoder.bytes.filter { $0 < 0x20 }.count == 1, "one line feed and no other control character")
            let parsed = try JSONSerialization.jsonObject(with: Data(encoder.bytes))
            let object = try #require(parsed as? [String: Any])
            #expect(Set(object.keys).isSubset(of: order))
            #expect(object["specversion"] as? String == "1.0")
            #expect(object["type"] as? String == line.type.rawValue)
            #expect(object["source"] as? String == "/datasets/" + set)
            #expect(object["recordid"] as? String == line.recordID)
            #expect(object["subject"] as? String == line.conversation.map { "conversation/" + $0 })
            #expect(object["user"] as? String == line.user)
            #expect(object["author"] as? String == line.author)
            #expect((object["data"] as? [String: Any])?.count == line.data.count)
            let text = String(decoding: encoder.bytes, as: UTF8.self)
            let places = try order.filter { object[$0] != nil }
                .map { try #require(text.range(of: "\"\($0)\":")).lowerBound }
            #expect(places == places.sorted())
            checked += 1
        }
        #expect(checked == 3_000)
    }

    @Test(arguments: tried.map(\.set))
    func twoRunsAreEqual(_ set: String) throws {
        func digest() throws -> (Int, Int) {
            var hasher = Hasher()
            var encoder = LineEncoder()
            let counts = try convert(set, ConversionOptions(frames: true, limit: 20_000)) { line in
                encoder.append(line)
                encoder.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
                encoder.removeAll()
            }
            return (counts.lines, hasher.finalize())
        }
        let (first, second) = (try digest(), try digest())
        #expect(first == second)
        #expect(first.0 > 10_000)
    }

    @Test func quirksOfTheMusicDialoguesSurvive() throws {
        var texts: [String] = []
        _ = try convert("ko_hgtods") { line in
            if line.type == .messagePosted || line.type == .botReplied { texts.append(text(of: line)) }
        }
        #expect(texts.filter { $0 == "NULL" }.count == 66)
        #expect(texts.filter(\.isEmpty).count == 3)
        #expect(texts.filter { $0.utf8.contains(0x09) }.count == 34)
        #expect(texts.filter { $0.utf8.contains(0x0A) }.count == 43)
    }

    @Test func labelsOfTheQuestionsAreCounted() throws {
        var labels: [JSONValue: Int] = [:]
        _ = try convert("ko_songys") { line in
            guard line.type == .messagePosted, let label = line.data.first(where: { $0.name == "label" }) else {
                return
            }
            labels[label.value, default: 0] += 1
        }
        // 2,962 of the last in the file, and one more written with blanks behind it.
        #expect(labels == [.integer(0): 5_290, .integer(1): 3_570, .integer(2): 2_963])
    }

    @Test func firstReviewIsAnAnswerAtMidnightInKorea() throws {
        var lines: [NativeLine] = []
        let counts = try convert("ko_nsmc", ConversionOptions(limit: 1)) { lines.append($0) }
        #expect(counts.lines == 1)
        let line = try #require(lines.first)
        #expect(line.recordID == "10275182")
        #expect(line.time.description == "2015-08-24T15:00:00.000Z")
        #expect(line.user == "dhrl****")
        #expect(line.author == nil && line.conversation == nil)
        #expect(
            line.data == [
                JSONValue.Member("survey", .string("nsmc")), JSONValue.Member("question", .string("movie-10001")),
                JSONValue.Member("rating", .integer(10)),
                JSONValue.Member("comment", .string("전체관람가는 아닌것 같아요")),
            ])
    }

    @Test func framesComeOnlyWhenAskedFor() throws {
        for frames in [false, true] {
            _ = try convert("en_sgd", ConversionOptions(frames: frames, limit: 100)) { line in
                let isTurn = line.type != .conversationStarted
                #expect(line.data.contains { $0.name == "frames" } == (frames && isTurn))
            }
        }
    }

    @Test func aTurnIsRatedByThePartnerInTheSameConversation() throws {
        var speakers: [String: String] = [:]
        _ = try convert("en_topical_chat", ConversionOptions(limit: 2_000)) { line in
            if line.type == .messagePosted { speakers[line.recordID] = line.user }
            guard let message = line.data.first(where: { $0.name == "message" }) else { return }
            guard case .string(let rated) = message.value, let speaker = speakers[rated] else {
                Issue.record("\(line.recordID) rates no earlier turn")
                return
            }
            #expect(speaker != line.user)
            #expect(speaker.dropLast() == line.user.dropLast())
        }
        #expect(!speakers.isEmpty)
    }

    private func convert(
        _ set: String, _ options: ConversionOptions = ConversionOptions(), emit: (NativeLine) throws -> Void
    ) throws -> ConversionCounts {
        let folder = try #require(DataFolder.find())
        let converter = try #require(ConverterRegistry.converter(named: set))
        return try converter.init(options: options).convert(from: folder + "/" + set, emit: emit)
    }

    private func text(of line: NativeLine) -> String {
        guard case .string(let text) = line.data.first(where: { $0.name == "text" })?.value else { return "?" }
        return text
    }
}

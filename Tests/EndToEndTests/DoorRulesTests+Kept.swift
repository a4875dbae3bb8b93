import Foundation
import SillokAPI
import TestSupport
import Testing

/// What no scope opens: what users keep for themselves, and who has which subscription (INV-13).
extension DoorRulesTests {
    private static let kept = [
        "contact.added", "search.remembered", "message.read", "conversation.hidden",
    ]

    @Test("No scope opens contacts, searches, and what one has read and hides: they are the user's (INV-13)")
    func keptForOneself() throws {
        let (bob, ann) = (try token("u/bob", "user:bob"), try token("u/ann", "user:ann"))
        let everywhere = [
            try token("b/all", "bot:all", scope: "all"), try token("u/all", "user:all", scope: "all"),
        ]
        let programs = [try token("r", "reader"), try token("p", "app")]
        let ids = (0..<4).map { "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4f0\($0)" }
        let list = #"{"participants":["bob","ann"]}"#
        let lines = [
            line("conversation.started", "bob", in: "kept", list),
            line("contact.added", "bob", in: nil, id: ids[0], #"{"contact":"ann","name":"별명"}"#),
            line("search.remembered", "bob", in: nil, id: ids[1], #"{"query":"증상"}"#),
            line("message.read", "bob", in: "kept", id: ids[2], #"{"upTo":"\#(ids[0])"}"#),
            line("conversation.hidden", "bob", in: "kept", id: ids[3], "{}"),
        ]
        #expect(append(lines.joined(separator: "\n"), as: bob) == (200, []))
        /// Which of the four a caller comes by, by any way.
        func known(_ who: String) -> [Set<String>] {
            let lists = ["contacts", "searches", "conversations"].filter {
                api.ask("GET", "/v1/users/bob/\($0)", headers: [who])?.0 == 200
            }
            let single = zip(ids, Self.kept).filter { api.ask("GET", "/v1/events/\($0.0)", headers: [who])?.0 == 200 }
            let query = Self.kept.map { "type=\($0)" }.joined(separator: "&")
            let pages = ["/v1/changes?after=first&\(query)", "/v1/users/bob/history", "/v1/conversations/kept/rows"]
            let texts = pages.map { api.ask("GET", $0, headers: [who])?.2 ?? "" }
            return [Set(lists), Set(single.map(\.1))]
                + texts.map { text in Set(Self.kept.filter { text.contains("\"\($0)\"") }) }
        }
        let all = Set(Self.kept)
        let inIt: Set = ["message.read", "conversation.hidden"]
        for who in [bob] + programs {
            #expect(known(who) == [["contacts", "searches", "conversations"], all, all, all, inIt])
        }
        for who in everywhere { #expect(known(who) == [[], [], [], [], []]) }
        // Who takes part sees how far the others have read, and not what they hide.
        let seen: Set = ["message.read"]
        #expect(known(ann) == [[], seen, seen, [], seen])
    }

    @Test("Subscriptions of others are in no feed of a bot or user, and none is made that hands nothing out (INV-13)")
    func subscriptionsOfOthers() throws {
        let made = #"{"start":"now","filter":{"user":["u-secret"]}}"#
        #expect(api.ask("PUT", "/v1/subscriptions/one", body: made)?.0 == 201)
        func feed(_ who: String) throws -> String {
            try #require(api.ask("GET", "/v1/changes?after=first&type=*&limit=500", headers: [who])?.2)
        }
        for who in [try token("b/all", "bot:all", scope: "all"), try token("u/all", "user:all", scope: "all")] {
            #expect(try !feed(who).contains("u-secret"))
        }
        #expect(try feed(try token("r", "reader")).contains("u-secret"))
        for (method, filter, status) in [
            ("PUT", #""access.*""#, 400), ("PUT", #""access.read","access.granted""#, 400),
            ("PUT", #""access.read","note""#, 201), ("PATCH", #""access.*""#, 400), ("PATCH", #""note""#, 200),
        ] {
            let body = #"{\#(method == "PUT" ? #""start":"now","# : "")"filter":{"type":[\#(filter)]}}"#
            let answer = api.ask(method, "/v1/subscriptions/two", body: body)
            #expect(answer?.0 == status, "\(method) \(filter): \(answer?.2 ?? "")")
        }
    }

    @Test("A request whose lines are all refused has no more of them than one whose lines are taken (INV-9)")
    func refusedLines() throws {
        let eve = try token("u/eve", "user:eve")
        let most = String(repeating: "{}\n", count: 4_096)
        #expect(append(most, as: eve, "?atomicity=each").1.count == 4_096)
        #expect(append(most + "\n{}", as: eve) == (413, ["E_BATCH_SIZE"]))
        #expect(append(String(repeating: "{}\n", count: 2_790_000), as: eve) == (413, ["E_BATCH_SIZE"]))
    }

    @Test("Who lists attachments of others is told that they may not, and not that there is no list (INV-13)")
    func attachmentsOfOthers() throws {
        let ann = try token("u/ann", "user:ann")
        for query in ["?user=bob", "?conversation=nowhere", "?state=missing", ""] {
            let answer = try #require(api.ask("GET", "/v1/attachments\(query)", headers: [ann]))
            #expect(answer.0 == 404 && answer.2.contains("may list"), "\(query): \(answer.2)")
        }
        #expect(api.ask("GET", "/v1/attachments?user=ann", headers: [ann])?.0 == 200)
    }
}

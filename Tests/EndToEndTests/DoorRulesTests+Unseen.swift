import Foundation
import TestSupport
import Testing

/// What a caller does not see changes nothing of what they are told (INV-13).
extension DoorRulesTests {
    private static let queries = [
        "", "order=oldest", "author=own", "author=carol", "author=eve", "role=assistant", "type=message.posted",
        "limit=2",
        "limit=1&order=oldest",
    ]

    /// How each page of a conversation's rows ends, but for its cursor.
    private func pages(as who: String) throws -> [String] {
        try Self.queries.map { query in
            let lines = try #require(api.ask("GET", "/v1/conversations/g/rows?\(query)", headers: [who])?.1)
            let (end, ids) = (try #require(lines.last), lines.dropLast().map { $0["event"].map { "\($0)" } ?? "" })
            return "\(query): \(end["more"] ?? ""), \(end["cut"] ?? ""), \(end["next"] != nil), \(ids.map(\.count))"
        }
    }

    private func feed(_ query: String, as who: String, after: String = "first") throws -> [String: Any] {
        try #require(api.ask("GET", "/v1/changes?after=\(after)&\(query)", headers: [who])?.1.first)
    }

    @Test("What is said after a member was put out costs none of the bytes of their pages (INV-9, INV-13)")
    func unseenBytes() throws {
        let (eve, text) = (try putOut(), String(repeating: "y", count: 250_000))
        let edited = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e70"
        #expect(append(line("message.posted", "own", in: "h", #"{"text":"elsewhere"}"#)).0 == 200)
        let before = try pages(as: eve)
        for _ in 0..<6 {
            #expect(append(line("message.posted", "own", in: "g", #"{"text":"\#(text)"}"#)).0 == 200)
        }
        #expect(append(line("bot.replied", "own", in: "g", by: "m", #"{"text":"\#(text)"}"#)).0 == 200)
        #expect(try pages(as: eve) == before)
        // Nor what is done since to what they have seen.
        let lee = try token("u/lee", "user:lee")
        let list = #"{"participants":["own","lee"]}"#
        #expect(append(line("conversation.started", "own", in: "g2", list)).0 == 200)
        for number in 0..<3 {
            let id = number == 0 ? edited : nil
            #expect(append(line("message.posted", "own", in: "g2", id: id)).0 == 200)
        }
        #expect(append(line("participant.left", "own", in: "g2", #"{"user":"lee"}"#)).0 == 200)
        for _ in 0..<6 {
            let edit = #"{"message":"\#(edited)","text":"\#(text)"}"#
            #expect(append(line("message.edited", "own", in: "g2", edit)).0 == 200)
        }
        let page = try #require(api.ask("GET", "/v1/conversations/g2/rows?order=oldest", headers: [lee]))
        #expect(page.1.count == 6 && page.1.last?["more"] as? Bool == false, "\(page.1.last ?? [:])")
        #expect(!page.2.contains("yyy"))
    }

    @Test("Pages of changes end where others would that have none of what is hidden (INV-9, INV-13)")
    func unseenChanges() throws {
        let (eve, text) = (try putOut(), String(repeating: "y", count: 100_000))
        func told(_ query: String, after: String = "first") throws -> String {
            let page = try feed(query, as: eve, after: after)
            return "\((page["items"] as? [Any])?.count ?? -1) \(page["more"] as? Bool ?? true)"
        }
        let queries = ["conversation=g", "conversation=g&limit=4", "conversation=g&author=bob"]
        let before = try queries.map { try told($0) }
        #expect(before == ["3 false", "3 false", "0 false"])
        let last = try told("conversation=g", after: "last:2")
        #expect(last == "2 false")
        for _ in 0..<7 { #expect(append(line("message.posted", "bob", in: "g", #"{"text":"\#(text)"}"#)).0 == 200) }
        #expect(try queries.map { try told($0) } == before)
        #expect(try told("conversation=g", after: "last:2") == last)
        // Where more is shown than a page has, it goes on behind the last that is shown.
        let page = try feed("conversation=g&limit=2", as: eve)
        #expect((page["items"] as? [Any])?.count == 2 && page["more"] as? Bool == true)
        let cursor = try #require(page["cursor"] as? String)
        #expect(try told("conversation=g", after: cursor) == "1 false")
    }

    @Test("Of a search by rank those texts are kept that the caller sees, however well hidden ones fit (INV-13)")
    func unseenRank() throws {
        let eve = try putOut()
        let own = #"{"participants":["own","kim"]}"#
        #expect(append(line("conversation.started", "own", in: "k", own)).0 == 200)
        let kim = try token("u/kim", "user:kim")
        for _ in 0..<3 { #expect(append(line("message.posted", "own", in: "k", #"{"text":"사과 하나"}"#)).0 == 200) }
        #expect(append(line("participant.left", "own", in: "k", #"{"user":"kim"}"#)).0 == 200)
        let hidden = line("message.posted", "own", in: "k", #"{"text":"사과 사과"}"#)
        for _ in 0..<3 { #expect(append(Array(repeating: hidden, count: 1_500).joined(separator: "\n")).0 == 200) }
        // The index follows.
        waitWhile(api.ask("GET", "/v1/search?q=%EC%82%AC%EA%B3%BC&limit=1")?.1.last?["unindexed"] != nil)
        let found = try #require(
            api.ask("GET", "/v1/search?q=%EC%82%AC%EA%B3%BC&order=rank&limit=30", headers: [kim])?.1)
        #expect(found.count == 4 && found.last?["more"] as? Bool == false, "\(found.last ?? [:])")
        let none = api.ask("GET", "/v1/search?q=%EC%82%AC%EA%B3%BC&order=rank", headers: [eve])?.1
        #expect(none?.count == 1 && none?.last?["more"] as? Bool == false, "\(none ?? [])")
    }

    @Test("A word on who takes part shows no one what they had not seen, and takes nothing (INV-13)")
    func unseenWords() throws {
        let eve = try token("u/eve", "user:eve")
        func texts(_ conversation: String) -> Int? {
            let page = api.ask("GET", "/v1/conversations/\(conversation)/rows?order=oldest", headers: [eve])
            return page?.0 == 200 ? page.map { $0.2.components(separatedBy: #""text""#).count - 1 } : nil
        }
        #expect(append(line("conversation.started", "own", in: "l", #"{"participants":["own","bob"]}"#)).0 == 200)
        #expect(append(line("message.posted", "own", in: "l", #"{"text":"secret"}"#)).0 == 200)
        #expect(append(line("participant.left", "own", in: "l", #"{"user":"eve"}"#)).0 == 200)
        #expect(texts("l") == nil)
        // Nor where they say so themselves, on a node that had not heard of it: a program brings that here.
        #expect(append(line("message.posted", "eve", in: "l", #"{"text":"I was here"}"#)).0 == 200)
        #expect(append(line("participant.left", "eve", in: "l", "{}")).0 == 200)
        #expect(texts("l") == nil)
        for who in ["bob", "eve", "bob"] {
            #expect(append(line("message.posted", who, in: "n", #"{"text":"by \#(who)"}"#)).0 == 200)
        }
        #expect(texts("n") == 3)
        #expect(append(line("participant.joined", "bob", in: "n", #"{"user":"eve"}"#)).0 == 200)
        #expect(texts("n") == 3)
        #expect(append(line("participant.joined", "bob", in: "n", #"{"user":"kim"}"#)).0 == 200)
        let kim = try token("u/kim", "user:kim")
        let page = api.ask("GET", "/v1/conversations/n/rows?order=oldest", headers: [kim])
        #expect(page?.2.contains("by bob") == false)
        #expect(append(line("participant.left", "bob", in: "n", #"{"user":"eve"}"#)).0 == 200)
        #expect(append(line("message.posted", "bob", in: "n", #"{"text":"after"}"#)).0 == 200)
        #expect(texts("n") == 3)
        // However much of theirs was brought in since, and is shown before it.
        #expect(append(line("message.posted", "bob", in: "q", #"{"text":"by bob"}"#)).0 == 200)
        #expect(append(line("message.posted", "eve", in: "q", #"{"text":"by eve"}"#)).0 == 200)
        #expect(append(line("participant.joined", "bob", in: "q", #"{"user":"eve"}"#)).0 == 200)
        let old = line("message.posted", "eve", in: "q", #"{"text":"old"},"time":"2020-01-01T00:00:00Z""#)
        #expect(append(Array(repeating: old, count: 600).joined(separator: "\n")).0 == 200)
        let newest = api.ask("GET", "/v1/conversations/q/rows?limit=10", headers: [eve])
        #expect(newest?.2.contains("by bob") == true)
        // What a leave states of its time is told of no room.
        let early = line("participant.left", "bob", in: "o", #"{"user":"eve"},"time":"2020-01-01T00:00:00Z""#)
        let list = #"{"title":"secret","participants":["bob","eve"]}"#
        #expect(append(line("conversation.started", "bob", in: "o", list)).0 == 200)
        let rooms = { self.api.ask("GET", "/v1/users/eve/conversations", headers: [eve])?.2 ?? "" }
        #expect(rooms().contains("secret"))
        #expect(append(early).0 == 200)
        #expect(!rooms().contains("secret"))
    }

    @Test("A title is found by who is in the conversation: whether it was changed, no one else learns (INV-13)")
    func unseenTitles() throws {
        let (own, bob) = (try token("u/own", "user:own"), try token("u/bob", "user:bob"))
        let started = #"{"title":"급여","participants":["own","bob"]}"#
        #expect(append(line("conversation.started", "own", in: "t", started)).0 == 200)
        func titles(_ who: String) -> [String] {
            ["newest", "rank"].map { order in
                let hits = api.ask("GET", "/v1/search?q=%EA%B8%89%EC%97%AC&order=\(order)", headers: [who])?.1 ?? []
                return hits.compactMap { $0["kind"] as? String }.joined()
            }
        }
        #expect(titles(bob) == ["title", "title"])
        #expect(append(line("participant.left", "own", in: "t", #"{"user":"bob"}"#)).0 == 200)
        #expect(titles(bob) == ["", ""] && titles(own) == ["title", "title"])
        #expect(append(line("conversation.renamed", "own", in: "t", #"{"title":"감원"}"#)).0 == 200)
        #expect(titles(bob) == ["", ""] && titles(own) == ["", ""])
    }

    @Test("A user is told who has read what is theirs, and of no one else (INV-13, INV-17)")
    func unseenReaders() throws {
        let bob = try token("u/bob", "user:bob")
        let auditor = try token("a/park", "auditor")
        #expect(append(line("message.posted", "bob", in: "r"), line("message.posted", "own", in: "r")).0 == 200)
        let reads = ["/v1/conversations/r/rows", "/v1/search?q=drugs&user=bob&user=other", "/v1/users/other/history"]
        for read in reads {
            #expect(api.ask("GET", read, headers: [auditor, "Sillok-Reason: case 2"])?.0 == 200)
        }
        func told(_ who: String) throws -> [String] {
            try #require(api.ask("GET", "/v1/users/bob/readers", headers: [who])?.1).dropLast().map {
                "\($0["subject"] ?? "") \(($0["users"] as? [String] ?? []).joined(separator: " "))"
            }
        }
        #expect(try told(bob) == ["/v1/search bob", "/v1/conversations/r/rows bob"])
        let admin = try token("ops/kim", "admin")
        #expect(
            try told(admin) == [
                "/v1/search?q=drugs&user=bob&user=other bob other", "/v1/conversations/r/rows bob own",
            ])
        // How many reads of others lie between, and when they were, pages do not tell.
        let one = try #require(api.ask("GET", "/v1/users/bob/readers?limit=1", headers: [bob])?.1)
        #expect(one.count == 2 && one.last?["more"] as? Bool == true)
    }

    @Test(
        "Who was put out hears nothing that is said after it, told live or stored, whatever their filter (INV-13)",
        arguments: ["", "&type=message.posted"])
    func putOutWhileFollowing(filter: String) throws {
        let lee = try token("u/lee", "user:lee")
        let accept = "Accept: application/x-ndjson"
        let stream = HandRequest(daemon, "GET", "/v1/changes?after=now&live=1\(filter)", [accept, lee])
        #expect(stream.status(seconds: 5) == 200)
        for round in 0..<20 {
            let group = "g-\(round)"
            func post(_ type: String, _ data: String) -> Int { append(line(type, "own", in: group, data)).0 }
            #expect(post("conversation.started", #"{"participants":["own","lee"]}"#) == 200)
            #expect(post("message.posted", #"{"text":"seen"}"#) == 200)
            // They are known to take part by what they have heard.
            let heard = api.ask(
                "POST", "/v1/conversations/\(group)/live",
                body: #"{"kind":"delta","author":"own","in_reply_to":"\#(UUID())","n":0,"text":"heard"}"#)
            #expect(heard?.0 == 202, "\(heard?.2 ?? "")")
            #expect(post("participant.left", #"{"user":"lee"}"#) == 200)
            let told = api.ask(
                "POST", "/v1/conversations/\(group)/live",
                body: #"{"kind":"delta","author":"own","in_reply_to":"\#(UUID())","n":0,"text":"HIDDEN"}"#)
            #expect(told?.0 == 202)
            #expect(post("message.posted", #"{"text":"HIDDEN"}"#) == 200)
        }
        let text = stream.read(seconds: 3).text
        #expect(text.contains("seen") && !text.contains("HIDDEN"), "\(text.prefix(2_000))")
    }
}

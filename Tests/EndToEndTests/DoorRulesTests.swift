import Access
import EventStore
import Foundation
import SillokAPI
import TestSupport
import Testing

/// Who may write what, and who may read what, where it was looked at from outside: conversations that are begun late, histories of others,
/// and the access log (INV-13, INV-17).
@Suite(.serialized)
struct DoorRulesTests {
    let daemon: DaemonProcess
    let api: APIClient

    init() throws {
        daemon = try DaemonProcess("n")
        try daemon.start()
        api = APIClient(socket: daemon.store + "/api.sock")
    }

    func token(_ principal: String, _ roles: String..., scope: String = "own") throws -> String {
        let list = roles.map { "\"\($0)\"" }.joined(separator: ",")
        let answer = try #require(
            api.ask(
                "POST", "/v1/credentials",
                body: #"{"principal":"\#(principal)","roles":[\#(list)],"scope":"\#(scope)"}"#))
        try #require(answer.0 == 201, "\(answer)")
        return "Authorization: Bearer \(try #require(answer.1.first?["token"] as? String))"
    }

    func line(
        _ type: String, _ user: String, in conversation: String? = "c", by author: String? = nil, id: String? = nil,
        _ data: String = #"{"text":"말"}"#
    ) -> String {
        var line = #"{"type":"\#(type)","user":"\#(user)""#
        if let author { line += #","author":"\#(author)""# }
        if let conversation { line += #","subject":"conversation/\#(conversation)""# }
        if let id { line += #","id":"\#(id)""# }
        return line + #","data":\#(data)}"#
    }

    func append(
        _ lines: String..., as who: String? = nil, _ query: String = ""
    ) -> (Int, [String]) {
        let answer = api.ask(
            "POST", "/v1/events\(query)", body: lines.joined(separator: "\n"), headers: [who].compactMap(\.self))
        return (answer?.0 ?? 0, answer?.1.compactMap { $0["code"] as? String } ?? [])
    }

    private func status(_ target: String, as who: String) -> Int { api.ask("GET", target, headers: [who])?.0 ?? 0 }

    // MARK: Beginnings

    @Test(
        "A conversation that has events is begun by a program alone: no one in it makes themselves its moderator (INV-13)"
    )
    func takeover() throws {
        let kim = try token("u/kim", "user:kim")
        let bot = try token("b/m", "bot:m")
        let everywhere = try token("b/w", "bot:w", scope: "all")
        #expect(append(line("message.posted", "kim"), line("bot.replied", "kim", by: "m")).0 == 200)
        for (who, name) in [(kim, "kim"), (bot, "m"), (everywhere, "w")] {
            let started = line(
                "conversation.started", name, #"{"participants":["\#(name)"],"moderators":["\#(name)"]}"#)
            for query in ["", "?ids=derived", "?expect=c:2"] {
                let refused = append(started, as: who, query)
                #expect(refused == (409, ["E_BEGUN"]), "\(name) \(query) \(refused)")
            }
            // With other lines: alone it is refused, and for its sake all.
            let other = line("message.posted", name, in: "own-\(name)")
            let each = append(other, started, as: who, "?atomicity=each")
            #expect(each == (207, ["E_BEGUN"]), "\(name) \(each)")
            let whole = append(other, started, as: who)
            #expect(whole == (409, ["E_BATCH", "E_BEGUN"]), "\(name) \(whole)")
        }
        // Who is let in without a list puts no one out.
        #expect(append(line("participant.joined", "m", #"{"user":"m"}"#), as: bot).0 == 200)
        #expect(status("/v1/conversations/c/rows", as: kim) == 200)
        #expect(append(line("message.posted", "kim"), as: kim).0 == 200)
        // A program says how it began.
        let opening = line("conversation.started", "kim", #"{"participants":["kim","m"],"moderators":["kim"]}"#)
        #expect(append(opening).0 == 200)
        #expect(status("/v1/conversations/c/rows", as: kim) == 200)
    }

    @Test("A new conversation is begun together with what is said in it; said again, it is there (INV-8)")
    func beginnings() throws {
        let kim = try token("u/kim", "user:kim")
        let ids = ["0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e60"]
        let both = [
            line("conversation.started", "kim", in: "new", id: ids[0], #"{"participants":["kim","lee"]}"#),
            line("message.posted", "kim", in: "new", id: ids[1]),
        ]
        for _ in 0..<2 {
            let answer = append(both[0], both[1], as: kim)
            #expect(answer == (200, []), "\(answer)")
        }
        let again = append(both[0], line("message.posted", "kim", in: "new"), as: kim)
        #expect(again == (200, []), "\(again)")
        // The two of a direct conversation begin it also where a program has said something there before.
        let (direct, one) = ("dm-pfq3nbpckaz565fwfizerr2l4a", try token("u/u1", "user:u1"))
        #expect(append(line("message.posted", "u1", in: direct)).0 == 200)
        let moderated = line(
            "conversation.started", "u1", in: direct, #"{"participants":["u1","u2"],"moderators":["u1"]}"#)
        #expect(append(moderated, as: one) == (403, ["E_AUTHOR"]))
        let begun = line("conversation.started", "u1", in: direct, #"{"participants":["u1","u2"]}"#)
        #expect(append(begun, as: one) == (409, ["E_BEGUN"]))
        let opened = api.ask("POST", "/v1/direct/u2", headers: [one])
        #expect(opened?.0 == 201 && opened?.1.first?["conversation"] as? String == direct, "\(opened?.2 ?? "")")
    }

    @Test("Of two who speak with each other neither moderates, puts the other out, or lets a third in (INV-13)")
    func ofTwo() throws {
        let (one, two) = (try token("u/u3", "user:u3"), try token("u/u4", "user:u4"))
        let direct = DirectConversation("u3", "u4").id
        let moderated = #"{"participants":["u3","u4"],"moderators":["u3"]}"#
        #expect(append(line("conversation.started", "u3", in: direct, moderated), as: one) == (403, ["E_AUTHOR"]))
        #expect(api.ask("POST", "/v1/direct/u4", headers: [one])?.0 == 201)
        #expect(append(line("message.posted", "u4", in: direct), as: two).0 == 200)
        for (type, data) in [
            ("participant.left", #"{"user":"u4"}"#), ("participant.joined", #"{"user":"eve"}"#),
        ] {
            #expect(append(line(type, "u3", in: direct, data), as: one) == (403, ["E_AUTHOR"]), "\(type)")
        }
        // As other nodes may bring it: it changes nothing.
        let eve = try token("u/eve", "user:eve")
        #expect(append(line("participant.joined", "u3", in: direct, #"{"user":"eve"}"#)).0 == 200)
        #expect(append(line("participant.left", "u3", in: direct, #"{"user":"u4"}"#)).0 == 200)
        #expect(status("/v1/conversations/\(direct)/rows", as: eve) == 404)
        #expect(append(line("message.posted", "eve", in: direct), as: eve) == (403, ["E_AUTHOR"]))
        #expect(append(line("message.posted", "u4", in: direct), as: two).0 == 200)
        // Who leaves has it in their list no longer, until they come back.
        func rooms() -> Int {
            let lines = api.ask("GET", "/v1/users/u4/conversations", headers: [two])?.1 ?? []
            return lines.count { $0["conversation"] as? String == direct }
        }
        #expect(api.ask("POST", "/v1/direct/u3", headers: [two])?.0 == 201)
        #expect(rooms() == 1)
        #expect(append(line("participant.left", "u4", in: direct, #"{"user":"u4"}"#), as: two).0 == 200)
        #expect(rooms() == 0)
        #expect(api.ask("POST", "/v1/direct/u3", headers: [two])?.0 == 201)
        #expect(rooms() == 1)
        #expect(append(line("message.posted", "u4", in: direct), as: two).0 == 200)
    }

    @Test("Of two that begin one conversation at once the writer takes one (INV-13)")
    func racing() throws {
        let tokens = try (0..<4).map { try token("u/\($0)", "user:u\($0)") }
        let answers = Answers()
        for round in 0..<8 {
            let threads = tokens.enumerated().map { index, header in
                let started = line(
                    "conversation.started", "u\(index)", in: "race-\(round)", #"{"moderators":["u\#(index)"]}"#)
                return Thread { [api] in
                    let answer = api.ask("POST", "/v1/events", body: started, headers: [header])
                    answers.note(round, answer?.0 ?? 0)
                }
            }
            for thread in threads { thread.start() }
            waitWhile(answers.count(round) < tokens.count)
        }
        for round in 0..<8 {
            let found = answers.all(round)
            #expect(found.count(where: { $0 == 200 }) == 1 && found.count == 4, "\(round): \(found)")
            #expect(found.allSatisfy { [200, 403].contains($0) }, "\(round): \(found)")
        }
    }

    // MARK: Histories of others

    @Test(
        "A bot writes in the history of a user who has a part in its conversation, not of one whom it has made up a conversation for"
    )
    func histories() throws {
        let bot = try token("b/m", "bot:m")
        let everywhere = try token("b/w", "bot:w", scope: "all")
        #expect(
            append(line("message.posted", "kim", in: "real"), line("bot.replied", "kim", in: "real", by: "m")).0
                == 200)
        let invited = line("conversation.started", "admin", in: "invited", #"{"participants":["lee","m"]}"#)
        #expect(append(invited).0 == 200)
        let made = line("conversation.started", "m", in: "made", #"{"participants":["kim","lee","m"]}"#)
        #expect(append(made, as: bot).0 == 200)
        let profile = #"{"fields":{"name":"위조"}}"#
        for room in ["invented", "made"] {
            for (type, data) in [
                ("profile.changed", profile), ("survey.answered", #"{"survey":"s","question":"q","choice":"a"}"#),
                ("bot.replied", #"{"text":"x"}"#), ("conversation.hidden", "{}"),
            ] {
                let answer = append(line(type, "kim", in: room, by: "m", data), as: bot)
                #expect(answer == (403, ["E_AUTHOR"]), "\(room) \(type) \(answer)")
            }
        }
        #expect(
            append(
                line("profile.changed", "kim", in: "real", by: "m", #"{"fields":{"birthDate":"1990-01-01"}}"#),
                as: bot
            ).0 == 200)
        #expect(append(line("bot.replied", "kim", in: "real", by: "m"), as: bot).0 == 200)
        #expect(append(line("bot.replied", "lee", in: "invited", by: "m"), as: bot).0 == 200)
        #expect(api.ask("GET", "/v1/users/kim")?.2.contains("위조") == false)
        // What users keep, and how others are set up, is no bot's.
        for (who, name) in [(bot, "m"), (everywhere, "w")] {
            for (type, data) in [
                ("contact.added", #"{"contact":"x"}"#), ("contact.removed", #"{"contact":"x"}"#),
                ("search.remembered", #"{"query":"x"}"#), ("search.forgotten", #"{"all":true}"#),
                ("bot.configured", #"{"model":"x"}"#),
            ] {
                let answer = append(line(type, "kim", in: "real", by: name, data), as: who)
                #expect(answer == (403, ["E_AUTHOR"]), "\(name) \(type) \(answer)")
            }
            for user in [name, "bot/\(name)"] {
                let own = append(line("bot.configured", user, in: nil, by: name, #"{"model":"x"}"#), as: who)
                #expect(own.0 == 200, "\(user) \(own)")
            }
        }
    }

    // MARK: What is told

    @Test("Whether a conversation is there that is not the caller's, an expected version does not tell")
    func expectations() throws {
        let kim = try token("u/kim", "user:kim")
        #expect(append(line("message.posted", "lee", in: "hidden")).0 == 200)
        let own = line("message.posted", "kim", in: "own")
        for number in [1, 7, 99] {
            let answers = ["hidden", "nowhere"].map { append(own, as: kim, "?expect=\($0):\(number)") }
            #expect(answers.allSatisfy { $0 == (404, ["E_NOT_FOUND"]) }, "\(number): \(answers)")
        }
        #expect(append(own, as: kim, "?expect=own:0").0 == 200)
        #expect(append(own, as: kim, "?expect=own:9") == (409, ["E_VERSION"]))
    }

    @Test("Tokens and reads are told to auditors and admins alone, by whatever way they are asked for (INV-13)")
    func accessTypes() throws {
        let auditor = try token("a/park", "auditor")
        let reason = "Sillok-Reason: case 1"
        #expect(api.ask("GET", "/v1/users/kim/history", headers: [auditor, reason])?.0 == 200)
        let events = try #require(api.ask("GET", "/v1/events?limit=500"))
        let secret = events.1.filter { ($0["type"] as? String)?.hasPrefix("access.") == true }
        #expect(secret.count >= 2, "the owner sees them")
        let ids = secret.compactMap { $0["id"] as? String }
        let node = try daemon.node()
        let readers = [
            try token("r/r", "reader"), try token("p/app", "app"), try token("b/w", "bot:w", scope: "all"),
            try token("u/k", "user:kim", scope: "all"),
        ]
        let targets = [
            "/v1/events?limit=500", "/v1/changes?after=first&type=access.*&limit=500",
            "/v1/changes?after=first&type=access.read", "/v1/changes?after=first&limit=500",
            "/v1/users/node%2F\(node)/history", "/v1/access", "/v1/credentials", "/v1/users/lee/readers",
        ]
        for who in readers {
            for target in targets
                + ids.flatMap({ ["/v1/events/\($0)", "/v1/events/\($0)/why", "/v1/events/\($0)/proof"] })
            {
                let answer = api.ask("GET", target, headers: [who])
                let told = answer?.2.replacing(target, with: "") ?? ""
                #expect(!told.contains(#""type":"access."#) && !told.contains("case 1"), "\(target): \(told)")
                if let id = ids.first(where: target.contains) {
                    #expect([403, 404].contains(answer?.0 ?? 0), "\(id) \(target): \(answer?.0 ?? 0)")
                }
            }
            for page in ["", "?limit=1", "?type=access.read", "?type=nosuch"] {
                let history = api.ask("GET", "/v1/users/node%2F\(node)/history\(page)", headers: [who])
                #expect(history?.0 == 404 && history?.2.contains("cursor") == false, "\(page): \(history?.2 ?? "")")
            }
            let name = "s-\(readers.firstIndex(of: who) ?? 0)"
            let body = #"{"start":"first","filter":{"type":["access.*"]}}"#
            guard api.ask("PUT", "/v1/subscriptions/\(name)", body: body, headers: [who])?.0 == 201 else { continue }
            let pulled = api.ask("POST", "/v1/subscriptions/\(name)/pull", body: #"{"max":100}"#, headers: [who])
            #expect(pulled?.0 == 200 && pulled?.2.contains(#""type":"access."#) == false, "\(pulled?.2 ?? "")")
        }
        let feed = api.ask("GET", "/v1/changes?after=first&type=access.*&limit=500", headers: [auditor, reason])
        #expect(ids.allSatisfy { feed?.2.contains($0) == true }, "an auditor sees them")
    }

    /// Parameters that change how much of the same is told, or from when; all others change whose.
    private static let ofPages: Set = [
        "limit", "cursor", "after", "order", "sort", "wait_ms", "at_least", "live", "count", "depth", "since",
        "until",
        "as_of", "known_at",
    ]

    @Test("Two reads that differ in any parameter that changes whose data are read are both recorded (INV-17)")
    func reads() throws {
        let lines = [
            line("message.posted", "kim"), line("message.posted", "lee", in: "d"),
            line("survey.answered", "kim", #"{"survey":"s","question":"q","choice":"a"}"#),
        ]
        #expect(append(lines[0], lines[1], lines[2]).0 == 200)
        let id = try #require(
            api.ask("GET", "/v1/events?limit=500")?.1.first { $0["user"] as? String == "kim" }?["id"] as? String)
        let auditor = try token("a/park", "auditor")
        func recorded() -> Int { (api.ask("GET", "/v1/access?limit=500")?.1.count ?? 1) - 1 }
        var (count, tried) = (recorded(), 0)
        let values = ["conversation": "c", "user": "kim", "id": id, "survey": "s"]
        // Of these what is asked about is not what others have said.
        for route in RouteTable.all where route.method == "GET" && route.roles.contains(.auditor) {
            switch route.operation {
            case .getMe, .getStatus, .getReceipt, .listQuarantine, .listErasures, .getOpenAPI, .getAttachment:
                continue
            default: break
            }
            var target = route.path
            for (name, value) in values { target = target.replacing("{\(name)}", with: value) }
            target += "?"
            if route.operation == .followChanges { target += "after=first&" }
            if route.operation == .search { target += "q=x&" }
            for parameter in route.parameters where !Self.ofPages.contains(parameter.name) {
                var both = ["kim", "lee"]
                if case .choice(let all) = parameter.kind { both = Array(all.prefix(2)) }
                if parameter.name == "origin" { both = ["local", id] }
                if parameter.name == "offset" { both = ["%2B09:00", "%2B10:00"] }
                // These go with another.
                let beside = ["choice", "offset"].contains(parameter.name) ? "by=day&" : ""
                if route.operation == .search, parameter.name == "q" { continue }
                tried += 1
                for value in both {
                    let answer = api.ask(
                        "GET", target + beside + "\(parameter.name)=\(value)",
                        headers: [auditor, "Sillok-Reason: case \(tried)"])
                    let isRead = answer.map { $0.0 == 200 || $0.0 == 404 } ?? false
                    #expect(isRead, "\(target)\(parameter.name)=\(value): \(answer?.2 ?? "")")
                }
                let now = recorded()
                #expect(now == count + 2, "\(route.path) \(parameter.name): \(now - count) of 2 reads are recorded")
                count = now
            }
        }
        #expect(tried > 20, "\(tried)")
        // Who is concerned is named.
        #expect(status("/v1/events/\(id)", as: auditor) == 400)
        #expect(api.ask("GET", "/v1/events/\(id)", headers: [auditor, "Sillok-Reason: one"])?.0 == 200)
        #expect(api.ask("GET", "/v1/search?q=x&conversation=d", headers: [auditor, "Sillok-Reason: one"])?.0 == 200)
        let found = try #require(api.ask("GET", "/v1/access?limit=2")?.1)
        #expect(found[1]["users"] as? [String] == ["kim"] && found[0]["users"] as? [String] == ["lee"], "\(found)")
    }

    @Test("An edit behind a line with the id of another's message is refused as it is alone (INV-13)")
    func borrowed() throws {
        let (eve, id) = (try token("u/eve", "user:eve"), "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f")
        #expect(append(line("message.posted", "alice", id: id)).0 == 200)
        let edit = line("message.edited", "eve", in: "d", #"{"message":"\#(id)","text":"바꿈"}"#)
        for who in [eve, nil] {
            let answer = append(line("message.posted", "eve", in: "d", id: id), edit, as: who, "?atomicity=each")
            #expect(answer.1 == ["E_ID_REUSED", "E_NOT_AUTHOR"], "\(answer)")
        }
    }

    /// A conversation that eve was put out of.
    func putOut() throws -> String {
        let eve = try token("u/eve", "user:eve")
        let list = #"{"participants":["own","eve","bob"]}"#
        #expect(append(line("conversation.started", "own", in: "g", list)).0 == 200)
        #expect(append(line("message.posted", "own", in: "g")).0 == 200)
        #expect(append(line("participant.left", "own", in: "g", #"{"user":"eve"}"#)).0 == 200)
        return eve
    }

    @Test("Who was put out of a conversation gets no pages for what they do not see (INV-13)")
    func passedOver() throws {
        let eve = try putOut()
        for _ in 0..<3 { #expect(append(line("message.posted", "bob", in: "g")).0 == 200) }
        for query in ["order=oldest&author=bob", "author=bob", "order=oldest&type=message.posted", "order=oldest"] {
            var (next, rows, empty) = ("", 0, 0)
            while true {
                let page = try #require(
                    api.ask("GET", "/v1/conversations/g/rows?limit=1&\(query)\(next)", headers: [eve])?.1)
                rows += page.count - 1
                let more = page.last?["more"] as? Bool ?? false
                if more, page.count == 1 { empty += 1 }
                guard more, let cursor = page.last?["next"] as? String else { break }
                next = "&cursor=\(cursor)"
            }
            #expect(empty == 0, "\(query)")
            #expect(rows == (query.hasSuffix("bob") ? 0 : query.hasSuffix("posted") ? 1 : 3), "\(query): \(rows)")
        }
    }

    @Test("A page that passes rows over is no longer than others (INV-9)")
    func passedOverInBounds() throws {
        let (eve, text) = (try putOut(), String(repeating: "가", count: 66_000))
        for _ in 0..<10 {
            // Eve sees what a program says in her name, and none of the others.
            let own = (0..<3).map { _ in line("message.posted", "eve", in: "g", #"{"text":"\#(text)"}"#) }
            let others = (0..<60).map { _ in line("message.posted", "bob", in: "g") }
            #expect(append((own + others).joined(separator: "\n")).0 == 200)
        }
        let page = try #require(
            api.ask("GET", "/v1/conversations/g/rows?order=oldest&limit=63", headers: [eve]))
        #expect(page.2.utf8.count < 2_200_000, "\(page.2.utf8.count) bytes")
        #expect(page.1.last?["more"] as? Bool == true && page.1.last?["cut"] as? String == "bytes")
    }
}

/// Statuses of answers, round by round.
private final class Answers: @unchecked Sendable {
    private let lock = NSLock()
    private var statuses: [Int: [Int]] = [:]

    func note(_ round: Int, _ status: Int) { lock.withLock { statuses[round, default: []].append(status) } }
    func all(_ round: Int) -> [Int] { lock.withLock { statuses[round] ?? [] } }
    func count(_ round: Int) -> Int { all(round).count }
}

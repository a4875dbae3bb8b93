import Foundation
import TestSupport
import Testing

/// Erasure through the real programs: afterwards no byte of what was said is in any file of any node (INV-11).
@Suite(.serialized)
struct ErasureProgramTests {
    private static func word() -> String { "비밀\(UInt64.random(in: 1 << 60 ... .max))" }

    /// Events of every kind in the history of `u-1`, each with a word of its own.
    private static func lines(_ words: [String]) -> String {
        let id = UUID().uuidString.lowercased()
        func line(_ type: String, _ data: String, _ rest: String = "") -> String {
            #"{"type":"\#(type)","user":"u-1","subject":"conversation/c-1"\#(rest),"data":\#(data)}"#
        }
        return [
            line("conversation.started", #"{"title":"\#(words[0])","category":"text"}"#),
            line("message.posted", #"{"text":"\#(words[1])"}"#, #","id":"\#(id)""#),
            line("message.edited", #"{"text":"\#(words[2])"}"#, #","cause":"\#(id)""#),
            line("bot.replied", #"{"text":"> \#(words[1])\n\#(words[3])"}"#, #","author":"bot","cause":"\#(id)""#),
            line("profile.changed", #"{"fields":{"name":"\#(words[4])"}}"#),
            line("survey.answered", #"{"survey":"s","question":"q","rating":3,"comment":"\#(words[5])"}"#),
            #"{"type":"message.posted","user":"u-2","author":"u-1","subject":"conversation/c-2","data":{"text":"\#(words[6])"}}"#,
            #"{"type":"bot.replied","user":"u-3","author":"bot","cause":"\#(id)","subject":"conversation/c-3","#
                + #""data":{"text":"\#(words[7])"}}"#,
            #"{"type":"message.posted","user":"u-2","subject":"conversation/c-1","data":{"text":"남는 말"}}"#,
        ].joined(separator: "\n") + "\n"
    }

    private static let decided = [
        "--authored", "erase", "--replies", "erase", "--shared", "erase", "--reason", "요청 88", "--who", "kim",
    ]

    /// Orders it as programs do: a plan, then its confirmation.
    private func erase(_ node: DaemonProcess, _ what: [String] = ["user", "u-1"], _ decided: [String] = decided)
        throws
    {
        let path = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let planned = try Programs.syncctl(node.store, ["erase"] + what + decided + ["--plan", path])
        #expect(planned.code == 0, "\(planned.errors)")
        let done = try Programs.syncctl(node.store, ["erase"] + what + ["--confirm", path, "--json"])
        #expect(done.code == 0 && done.lines.last?["type"] as? String == "end", "\(done.errors)")
    }

    private func append(_ node: DaemonProcess, _ lines: String) throws {
        let result = try node.syncctl("append", "-", "--json", input: lines)
        #expect(result.code == 0, "\(result.errors)")
    }

    /// Waits until every erasure is applied at the node.
    private func applied(_ node: DaemonProcess, _ count: Int = 1) throws {
        for _ in 0..<600 {
            let lines = try node.syncctl("erase", "status", "--json").lines.filter {
                $0["type"] as? String == "erasure"
            }
            if lines.count == count, lines.allSatisfy({ $0["state"] as? String == "applied" }) { return }
            usleep(100_000)
        }
        Issue.record("not applied at \(node.name): \(try node.syncctl("erase", "status").output)")
    }

    /// What the auditors' verifier says; `nil` where Python or its one package is missing.
    private func proved(_ store: String) async throws -> Bool? {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Scripts/verify.py")
        let env = Tool(path: "/usr/bin/env", environment: ProcessInfo.processInfo.environment)
        let found = try await env.run(["python3", "-B", script.path, store])
        if found.code == 127 || found.errors.contains("ModuleNotFoundError") { return nil }
        if found.code != 0 { Issue.record("\(found.output)\(found.errors)") }
        return found.code == 0
    }

    @Test(
        "Erased at one node, all of it is gone from the files of both, verify passes, and the views are equal (INV-6, INV-11)"
    )
    func bothNodes() async throws {
        let (a, b) = try makePair()
        let words = (0..<16).map { _ in Self.word() }
        try append(a, Self.lines(Array(words[0..<8])))
        try append(b, Self.lines(Array(words[8...])))
        _ = try converge(a, b)
        #expect(Set(ByteScan.find(words, in: [a.store]).map { $0.prefix { $0 != " " } }).count == 16)
        let traces = ByteScan.traces(words)
        for node in [a, b] {
            let indexed = ByteScan.find(traces, in: [node.store]).filter { $0.contains("views.db") }
            #expect(Set(indexed.map { $0.prefix { $0 != " " } }).count == 16, "the search has them")
            // Of the two titles and the two names one stands; the first message, which was edited, is quoted.
            #expect(try words.filter { try node.syncctl("search", $0).code == 0 }.count == 14)
        }

        let dry = try a.syncctl("erase", "user", "u-1", "--dry-run", "--json")
        let parts = dry.lines.filter { $0["type"] as? String == "erasure_part" }
        #expect(
            dry.code == 0
                && Set(parts.compactMap { $0["part"] as? String }) == ["own", "authored", "replies", "shared"])
        #expect(try a.syncctl("erase", "user", "u-1", "--reason", "r", "--who", "w").code == 64)
        #expect(try a.syncctl("erase", "user", "nobody", "--dry-run").code == 1)
        // Of ids none is passed over: a typing mistake must not look like an erasure.
        let unknown = UUID().uuidString.lowercased()
        let known = try #require(try a.syncctl("tail", "--json").lines.last { $0["event"] != nil })
        let id = try #require((known["event"] as? [String: Any])?["id"] as? String)
        let mistyped = try a.syncctl("erase", "events", id, unknown, "--dry-run")
        #expect(mistyped.code == 1 && mistyped.errors.contains(unknown) && !mistyped.errors.contains(id))
        let api = APIClient(socket: a.store + "/api.sock")
        for target in [#""user":"nobody""#, #""events":["\#(id)","\#(unknown)"]"#] {
            let body = "{\(target),\"authored\":true,\"replies\":true,\"reason\":\"r\",\"who\":\"w\"}"
            #expect(api.ask("POST", "/v1/erasures", body: body)?.0 == 404, "\(target)")
        }
        // A plan is done as it stands, or not at all.
        let file = TemporaryFolder.unusedPath()
        #expect(try Programs.syncctl(a.store, ["erase", "user", "u-1"] + Self.decided + ["--plan", file]).code == 0)
        for more in [
            ["--authored", "keep"], ["--replies", "keep"], ["--shared", "keep"], ["--reason", "r"], ["--who", "w"],
        ] {
            let refused = try Programs.syncctl(a.store, ["erase", "user", "u-1", "--confirm", file] + more)
            #expect(refused.code == 64 && refused.errors.contains(more[0]), "\(refused)")
        }
        // A folder in its place is told as one.
        let folder = try Programs.syncctl(a.store, ["erase", "user", "u-1", "--confirm", a.store])
        #expect(folder.code == 66 && folder.errors.contains("is a folder, and a file is wanted"), "\(folder)")
        try FileManager.default.removeItem(atPath: file)
        try erase(a)
        // At the moment that the command has ended.
        #expect(ByteScan.find(traces, in: [a.store]).isEmpty)
        try applied(b)
        #expect(ByteScan.find(traces, in: [b.store]).isEmpty)
        _ = try converge(a, b)
        for node in [a, b] {
            for word in words { #expect(try node.syncctl("search", word).code == 1, "\(word)") }
            #expect(try node.syncctl("search", "남는 말").output.contains("[남는]"))
            #expect(try node.verified() == 0)
            #expect(try node.syncctl("verify").output.contains("but for"))
            #expect(try await proved(node.store) != false)
            #expect(try node.syncctl("history", "u-1", "--lang", "ko").output.contains("삭제됨"))
        }
        let status = try #require(try a.syncctl("erase", "status", "--json").lines.first)
        #expect(status["authored"] as? Bool == true && status["replies"] as? Bool != nil, "\(status)")
        #expect(
            (status["confirmed"] as? [[String: Any]])?.count == 1 && (status["waiting"] as? [String])?.isEmpty == true
        )
        let later = Self.word()
        try append(b, #"{"type":"message.posted","user":"u-1","data":{"text":"\#(later)"}}"# + "\n")
        _ = try converge(a, b)
        #expect(!ByteScan.find([later], in: [a.store]).isEmpty)
        #expect(a.terminate() == 0 && b.terminate() == 0)
        #expect(ByteScan.find(traces, in: [a.store, b.store]).isEmpty)
    }

    @Test(
        "With no daemon the command itself takes the bytes of attachments away, and says erased when they are gone (INV-11)"
    )
    func withoutDaemon() throws {
        let node = try DaemonProcess("n")
        try node.start()
        let folder = try TemporaryFolder.made()
        let words = [Self.word(), Self.word()]
        let digests = try words.map { word in
            let path = try folder.write(Data(word.utf8), to: "a")
            return try #require(
                node.syncctl("attachment", "put", path, "--json").lines.first?["sha256"] as? String)
        }
        for (user, digest) in zip(["u-1", "u-2"], digests) {
            try append(
                node,
                #"{"type":"message.posted","user":"\#(user)","data":{"text":"사진","attachments":[{"sha256":"\#(digest)","bytes":26,"mediaType":"text/plain"}]}}"#
                    + "\n")
        }
        try waitWhile(every: 50_000, node.syncctl("attachment", "list", "--json").lines.count < 3)
        #expect(node.terminate() == 0)
        #expect(!ByteScan.find([words[0]], in: [node.store]).isEmpty)
        try erase(node)
        #expect(ByteScan.find([words[0]], in: [node.store]).isEmpty)
        #expect(!ByteScan.find([words[1]], in: [node.store]).isEmpty)
        #expect(try node.syncctl("erase", "status", "--json").lines.first?["state"] as? String == "applied")
        // Under the id of what is erased nothing is stored, and that is said.
        let id = UUID().uuidString.lowercased()
        let line = #"{"type":"message.posted","user":"u-3","id":"\#(id)","data":{"text":"%"}}"# + "\n"
        try append(node, line.replacing("%", with: "먼저"))
        try erase(node, ["user", "u-3"])
        let again = try node.syncctl("append", "-", input: line.replacing("%", with: "다른 말"))
        #expect(again.code == 0 && again.output.hasPrefix("already") && again.errors.contains("erased"), "\(again)")
        try node.start()
        let told = try node.syncctl("append", "-", "--json", input: line.replacing("%", with: "다른 말"))
        #expect(told.lines.first?["type"] as? String == "already" && told.lines.first?["erased"] as? Bool == true)
        #expect(node.terminate() == 0)
    }

    @Test("A plan of which something is gone already is refused, and so are its types by any other way")
    func refused() throws {
        let node = try DaemonProcess("n")
        try node.start()
        try append(node, Self.lines((0..<8).map { _ in Self.word() }))
        let path = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let what = ["erase", "user", "u-1"]
        #expect(try Programs.syncctl(node.store, what + Self.decided + ["--plan", path]).code == 0)
        #expect(try Programs.syncctl(node.store, what + Self.decided + ["--up-to", "now"]).code == 64)
        let shown = try node.syncctl("history", "u-1", "--json").lines.compactMap { $0["event"] as? [String: Any] }
        try erase(node, ["events", #require(shown.last?["id"] as? String)], ["--reason", "r", "--who", "w"])
        for reach in ["plan", "now"] {
            let late = try Programs.syncctl(node.store, what + ["--confirm", path, "--up-to", reach])
            #expect(late.code == 75 && late.errors.contains("E_PLAN"), "\(late.errors)")
        }
        // Nor is there another answer where all of it is gone.
        let again = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: again) }
        #expect(try Programs.syncctl(node.store, what + Self.decided + ["--plan", again]).code == 0)
        #expect(try Programs.syncctl(node.store, what + ["--confirm", again]).code == 0)
        let twice = try Programs.syncctl(node.store, what + ["--confirm", again])
        #expect(twice.code == 75 && twice.errors.contains("E_PLAN"), "\(twice.errors)")
        let body = try String(contentsOfFile: again, encoding: .utf8)
        let answer = APIClient(socket: node.store + "/api.sock").ask("POST", "/v1/erasures", body: body)
        #expect(answer?.0 == 409 && answer?.1.first?["code"] as? String == "E_PLAN", "\(String(describing: answer))")
        // A plan of an earlier release names no vector.
        var plan = try #require(
            JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path))) as? [String: Any])
        plan["plan"] = "0123456789abcdef"
        try JSONSerialization.data(withJSONObject: plan).write(to: URL(filePath: path))
        let old = try Programs.syncctl(node.store, what + ["--confirm", path])
        #expect(old.code == 75 && old.errors.contains("E_PLAN"), "\(old.errors)")
        let forged = #"{"type":"user.erased","user":"u-1","data":{}}"# + "\n"
        #expect(try node.syncctl("append", "-", input: forged).errors.contains("E_RESERVED"))
        #expect(try node.syncctl("erase", "status", "--json").lines.count == 3)
    }

    @Test("Killed while it erases, the node goes on when it starts, and nothing is left (INV-11)")
    func killed() throws {
        let node = try DaemonProcess("n")
        try node.start()
        let words = (0..<6_000).map { _ in Self.word() }
        let lines = words.map { word in
            #"{"type":"message.posted","user":"u-1","subject":"conversation/c-1","data":{"text":"\#(word) 오래된 이야기"}}"#
        }
        for start in stride(from: 0, to: lines.count, by: 1_000) {
            try append(node, lines[start..<start + 1_000].joined(separator: "\n") + "\n")
        }
        let killer = Thread {
            for _ in 0..<400 {
                let position = try? node.syncctl("erase", "status", "--json").lines.first?["position"]
                if position != nil { break }
                usleep(2_000)
            }
            node.kill()
        }
        killer.start()
        let path = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let what = ["erase", "conversation", "c-1"]
        let decided = ["--reason", "r", "--who", "w"]
        #expect(try Programs.syncctl(node.store, what + decided + ["--plan", path]).code == 0)
        _ = try Programs.syncctl(node.store, what + ["--confirm", path])
        while killer.isExecuting { usleep(10_000) }
        for _ in 0..<4 {
            try node.start()
            usleep(UInt32.random(in: 1_000...80_000))
            node.kill()
        }
        try node.start()
        try applied(node)
        let left = ByteScan.find(ByteScan.traces(words), in: [node.store])
        #expect(left.isEmpty, "\(left.count): \(left.prefix(3))")
        #expect(try node.verified() == 0)
    }

    @Test("A node that was away and comes back with older events: they are gone on both sides (INV-6, INV-11)")
    func offline() throws {
        let (a, b) = try makePair()
        let words = (0..<24).map { _ in Self.word() }
        try append(a, Self.lines(Array(words[0..<8])))
        _ = try converge(a, b)
        let port = try a.port()
        #expect(b.terminate() == 0)
        try append(b, Self.lines(Array(words[8..<16])))
        usleep(5_000)
        try erase(a)
        let waiting = try a.syncctl("erase", "status", "--json").lines.first?["waiting"] as? [String]
        #expect(waiting?.count == 1)
        _ = port
        try b.start()
        try applied(b)
        let digest = try converge(a, b)
        #expect(!digest.isEmpty)
        // Replies of others are chosen by name: the one that no one had seen at the time of the plan stays, and is in the next plan.
        let left = ByteScan.find(ByteScan.traces(Array(words[0..<15])), in: [a.store, b.store])
        #expect(left.isEmpty, "\(left)")
        for node in [a, b] { #expect(try node.verified() == 0) }
    }

    @Test(
        "A node that begins with a snapshot has nothing of it, nor has one whose snapshot was taken from a node that has not erased"
    )
    func snapshot() throws {
        let (a, b) = (try DaemonProcess("a"), try DaemonProcess("b"))
        try a.start()
        let words = (0..<8).map { _ in Self.word() }
        try append(a, Self.lines(words))
        let filler = (0..<3_000).map {
            #"{"type":"message.posted","user":"u-\#($0 % 9 + 10)","data":{"text":"남는 말 \#($0)"}}"#
        }
        for start in stride(from: 0, to: filler.count, by: 1_000) {
            try append(a, filler[start..<start + 1_000].joined(separator: "\n") + "\n")
        }
        try erase(a)
        try b.start(isTalking: true, environment: ["SYNCD_PEERS__SNAPSHOT_AFTER": "1000"])
        #expect(try a.syncctl("peers", "add", "b", b.node()).code == 0)
        #expect(try b.syncctl("peers", "add", "a", "\(a.node())@127.0.0.1:\(a.port())").code == 0)
        try applied(b)
        _ = try converge(a, b)
        #expect(b.said.contains("is complete and proved"))
        #expect(ByteScan.find(ByteScan.traces(words), in: [a.store, b.store]).isEmpty)
        #expect(try b.verified() == 0)
    }

    @Test(
        "What a killed comparison of the views has left in TMPDIR goes when the daemon starts, and with an erasure (INV-11)"
    )
    func leftovers() throws {
        let (daemon, place) = (try DaemonProcess("n"), try TemporaryFolder.made())
        func leave(_ name: String) throws -> String {
            let left = place.path + "/sillok-views-" + name
            try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
            try Data("비밀".utf8).write(to: URL(filePath: left + "/views.db-wal"))
            return left
        }
        func awaitGone(_ path: String) {
            for _ in 0..<1_200 where FileManager.default.fileExists(atPath: path) { usleep(50_000) }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        let first = try leave("killed")
        try daemon.start(environment: ["TMPDIR": place.path])
        awaitGone(first)
        #expect(try daemon.syncctl("append", "--user", "u", "--text", "비밀").code == 0)
        let second = try leave("later")
        let plan = place.path + "/plan"
        for words in [["--reason", "r", "--who", "w", "--plan", plan], ["--confirm", plan]] {
            let erased = try Programs.syncctl(daemon.store, ["erase", "user", "u"] + words)
            #expect(erased.code == 0, "\(erased.errors)")
        }
        awaitGone(second)
        #expect(daemon.terminate() == 0)
    }
}

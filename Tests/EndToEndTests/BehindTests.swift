import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What `syncctl` answers when the one who keeps the views does not bring them up to date: all of it, or that it is not all (INV-6).
@Suite(.serialized)
struct BehindTests {
    private static let tool = Result { try Tool.named("syncctl") }
    /// A tool that finds no place for views of its own.
    private static var cramped: Tool {
        get throws {
            var tool = try tool.get()
            tool.environment["TMPDIR"] = "/nowhere"
            return tool
        }
    }

    private static func drafts(_ count: Int) -> [EventDraft] {
        (0..<count).map { number in
            EventDraft(
                type: "message.posted", conversation: "c", user: "u", payload: Array(#"{"text":"\#(number)"}"#.utf8))
        }
    }

    /// A store whose views lack three of its four events, and the writer that builds none.
    private func behind(_ folder: TemporaryFolder) async throws -> (store: String, writer: EventStore) {
        let (store, tool) = (folder.file("store"), try Self.tool.get())
        #expect(try await tool.run(["init", "--store", store, "--name", "n"]).code == 0)
        #expect(try await tool.run(["append", "-u", "u", "--text", "first", "--store", store]).code == 0)
        #expect(try await tool.run(["digest", "--store", store]).code == 0)
        let writer = try EventStore(opening: store)
        _ = try writer.appendBlocking(Self.drafts(3))
        return (store, writer)
    }

    @Test(
        "An answer from views that are behind says so: in its last line, by exit code 2, and in words that --quiet leaves",
        arguments: [
            ["history", "u"], ["history", "nobody"], ["conversations"], ["profile", "u"], ["survey"], ["rooms", "u"],
            ["search", "first"], ["replay", "--user", "u"], ["export", "--user", "u"],
            ["diff", "u", "--known-at", "1"],
        ])
    func told(words: [String]) async throws {
        let folder = try TemporaryFolder.made()
        let (store, writer) = try await behind(folder)
        defer { writer.close() }
        let tool = try Self.cramped
        let words = words + ["--store", store]
        async let forMachines = tool.run(words + ["--json", "-q"])
        async let forPeople = tool.run(words + ["-q", "--lang", "ko"])
        let (json, human) = try await (forMachines, forPeople)
        #expect(json.code == 2 && json.lines.last?.contains(#""behind":3}"#) == true, "\(json)")
        #expect(human.code == 2 && human.errors.contains("이벤트 3건이 이 결과에 빠져"), "\(human)")
    }

    @Test("Views of a log that is not long are built in a temporary place, and nothing is missing")
    func built() async throws {
        let folder = try TemporaryFolder.made()
        let (store, writer) = try await behind(folder)
        defer { writer.close() }
        let run = try await Self.tool.get().run(["history", "u", "--store", store, "--json", "-q"])
        #expect(run.code == 0 && run.errors.isEmpty, "\(run)")
        #expect(try run.events().count == 4 && run.lines.last?.contains("behind") == false, "\(run)")
        #expect(try await Self.tool.get().run(["digest", "--store", store]).code == 0)
    }

    @Test("A daemon that hangs is waited for ten seconds, once; then its files say all that it has acknowledged")
    func hanging() async throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let lines = (0..<40).map {
            #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"\#($0)"}}"#
        }
        #expect(try daemon.syncctl("append", "-", input: lines.joined(separator: "\n")).code == 0)
        daemon.signal(SIGSTOP)
        defer { daemon.signal(SIGCONT) }
        // Two questions: what the conversation is, and its events.
        let start = ContinuousClock.now
        let run = try daemon.syncctl("conversation", "c", "--json", "-q")
        let took = ContinuousClock.now - start
        #expect(run.code == 0 && run.lines.count == 41, "\(run)")
        #expect(took > .seconds(9) && took < .seconds(19), "\(took)")
        #expect(run.lines.last?["behind"] == nil)
    }

    @Test(
        "A position beyond the end of the log is refused: by files, by the daemon here, and by a node that is named")
    func beyond() async throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let lines = [
            #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"하나"}}"#,
            #"{"type":"survey.answered","user":"u","data":{"survey":"s","question":"q","rating":7}}"#,
        ]
        #expect(try daemon.syncctl("append", "-", input: lines.joined(separator: "\n")).code == 0)
        let api = APIClient(socket: daemon.store + "/api.sock")
        let top = try #require(api.ask("GET", "/v1/surveys")?.1.last?["position"] as? Int)
        let paths = [
            "users/u/history", "users/u", "conversations", "conversations/c", "conversations/c/rows", "surveys",
            "surveys/s",
        ]
        for path in paths {
            let refused = try #require(api.ask("GET", "/v1/\(path)?known_at=\(top + 1)"))
            #expect(refused.0 == 400 && refused.1.first?["code"] as? String == "E_POSITION", "\(path): \(refused)")
            #expect(api.ask("GET", "/v1/\(path)?known_at=\(top)")?.1.first?["code"] == nil, "\(path)")
        }
        let tool = try Self.tool.get()
        for place in [["--url", "unix:\(daemon.store)/api.sock"], ["--store", daemon.store], []] {
            if place.isEmpty { #expect(daemon.terminate() == 0) }
            for words in [
                ["history", "u"], ["conversation", "c"], ["profile", "u"], ["survey"], ["conversations"],
            ] {
                let words = words + (place.isEmpty ? ["--store", daemon.store] : place)
                // Its end adds events of the node itself.
                let run = try await tool.run(words + ["--known-at", "seq:\(top + 1_000)"])
                #expect(
                    run.code == 64 && run.errors.contains("[E_POSITION]") && run.lines.isEmpty, "\(words): \(run)")
                #expect(try await tool.run(words + ["--known-at", "\(top)"]).code <= 1, "\(words)")
            }
        }
    }

    @Test("What a named node does not have, or does not show, is nothing found: no word of files")
    func nothing() async throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let folder = try TemporaryFolder.made()
        #expect(try daemon.syncctl("append", "-u", "u", "--text", "하나").code == 0)
        let file = folder.file("token")
        #expect(try daemon.syncctl("tokens", "create", "bot/b", "--role", "bot:b", "--out", file).code == 0)
        let tool = try Self.tool.get()
        let node = ["--url", "unix:\(daemon.store)/api.sock"]
        let asked = [
            ["history", "nosuch"], ["conversation", "nosuch"], ["history", "u", "--token-file", file],
            ["conversation", "c", "--token-file", file], ["history", "u", "--type", "no.such"],
        ]
        for words in asked {
            let run = try await tool.run(words + node)
            #expect(run.code == 1 && run.errors.contains("no event of \(words[1]) matched"), "\(words): \(run)")
            let json = try await tool.run(words + node + ["--json"])
            #expect(json.code == 1 && json.lines.count == 1 && json.text.contains(#""count":0"#), "\(words): \(json)")
        }
        // Where the daemon here does not answer, that is no empty list either.
        daemon.kill()
        #expect(try daemon.syncctl("access").code == 69)
    }
}

import Foundation
import TestSupport
import Testing

/// What is refused is named, and the way out is one of the program that is used.
struct RefusalWordsTests {
    @Test("A time that is none is told as it is, without forms of the sentence that was not said")
    func times() async throws {
        let folder = try TemporaryFolder.made()
        let tool = try Tool.named("syncctl")
        let store = ["--store", folder.file("store")]
        #expect(try await tool.run(["init", "--name", "n"] + store).code == 0)
        let english = try await tool.run(["history", "u", "--since", "25:00"] + store)
        #expect(english.code == 64 && english.errors.contains("no such day or time of day"), "\(english)")
        #expect(!english.errors.contains("seq:"), "\(english)")
        let korean = try await tool.run(["history", "u", "--since", "25:00", "--lang", "ko"] + store)
        #expect(korean.errors.contains("시각은 없습니다") && !korean.errors.contains("seq:"), "\(korean)")
        #expect(try await tool.run(["history", "u", "--since", "soon"] + store).errors.contains(", seq:10412"))
    }

    @Test("A restore ends at a position that stands alone, too")
    func position() async throws {
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        #expect(try await tool.run(["init", "--name", "n"]).code == 0)
        for text in ["a", "b", "c"] { #expect(try await tool.run(["append", "-u", "u", "--text", text]).code == 0) }
        let backup = folder.file("backup")
        #expect(try await tool.run(["backup", "create", backup]).code == 0)
        let words = ["backup", "restore", backup, "--without-key", "--json"]
        for (name, place) in [("one", "2"), ("two", "seq:2")] {
            let run = try await tool.run(words + ["--into", folder.file(name), "--to", place])
            #expect(try run.code == 0 && run.objects().first?["position"] as? Int == 2, "\(run)")
        }
        #expect(try await tool.run(words + ["--into", folder.file("three"), "--to", "0"]).code == 64)
    }

    @Test("Roles, spans, parameters, headers and subscriptions that are none are named")
    func named() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let role = try daemon.syncctl("tokens", "create", "x/y", "--role", "app", "--role", "foo")
        #expect(role.code == 65 && role.errors.contains("'foo'"), "\(role)")
        let span = try daemon.syncctl("tokens", "create", "x/y", "--role", "app", "--valid", "99999999d")
        #expect(span.code == 64 && span.errors.contains("longer than 3650d"), "\(span)")
        for words in [["show", "nosuch"], ["parked", "nosuch"], ["delete", "nosuch"]] {
            let run = try Programs.syncctl(daemon.store, ["subscriptions"] + words)
            let isKnown = words[0] != "show"
            #expect(!isKnown || run.errors.contains("syncctl subscriptions create"), "\(run)")
            #expect(!run.errors.contains("PUT"), "\(run)")
        }
        let api = APIClient(socket: daemon.store + "/api.sock")
        for target in [
            "/v1/conversations?limit=5&match=a%00b", "/v1/conversations?match=%ff", "/v1/conversations?match=%4",
        ] {
            let refused = try #require(api.ask("GET", target))
            #expect(refused.0 == 400 && refused.2.contains("match: bad percent encoding"), "\(refused)")
        }
        let header = try #require(api.ask("GET", "/v1/changes?after=now", headers: ["Last-Event-ID: x"]))
        #expect(header.0 == 400 && header.2.contains("Last-Event-ID: none of the places"), "\(header)")
        let query = try #require(api.ask("GET", "/v1/changes?after=x"))
        #expect(query.0 == 400 && query.2.contains("after: none of the places"), "\(query)")
    }

    @Test("What programs read has no empty cell for zero, and no column without a name")
    func plain() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let lines = [
            #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"하나"}}"#,
            #"{"type":"survey.answered","user":"u","data":{"survey":"s","question":"q","rating":7}}"#,
        ]
        #expect(try daemon.syncctl("append", "-", input: lines.joined(separator: "\n")).code == 0)
        for words in [["rooms", "u"], ["survey", "s"]] {
            let run = try Programs.syncctl(daemon.store, words + ["--plain"])
            let rows = run.output.split(separator: "\n").map {
                $0.split(separator: "\t", omittingEmptySubsequences: false)
            }
            #expect(rows.count == 2 && rows[0].count == rows[1].count && !rows[0].contains(""), "\(run)")
            if words[0] == "rooms" { #expect(rows.last?[2] == "0", "\(run)") }
        }
    }
}

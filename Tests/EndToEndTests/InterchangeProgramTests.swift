import Foundation
import TestSupport
import Testing

/// What goes out of a store and comes into another, as users do it (docs/reference/FORMATS.md §4 and §8).
@Suite(.serialized, .timeLimit(.minutes(5)))
struct InterchangeProgramTests {
    private func makeStore(_ name: String) throws -> String {
        let store = TemporaryFolder.unusedPath()
        #expect(try Programs.syncctl(store, ["init", "--name", name]).code == 0)
        return store
    }

    private func file(_ text: String) throws -> String {
        let path = TemporaryFolder.unusedPath()
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private static let dialogue = (1...20).map {
        #"{"type":"message.posted","source":"/t","recordid":"\#($0)","subject":"conversation/c-\#($0 % 2)","user":"u-1","#
            + #""time":"2026-08-01T00:00:\#(10 + $0)Z","data":{"text":"말 \#($0)"}}"#
    }.joined(separator: "\n")

    /// Two stores that imported the same file apart and then got each other's events as evidence.
    private func exchanged() throws -> (String, String) {
        let (one, other) = (try makeStore("하나"), try makeStore("둘"))
        for store in [one, other] {
            #expect(try Programs.syncctl(store, ["import", "-"], input: Self.dialogue).code == 0)
        }
        let files = try [one, other].map { try file(try Programs.syncctl($0, ["export", "--evidence"]).output) }
        for (store, file) in [(one, files[1]), (other, files[0])] {
            let taken = try Programs.syncctl(store, ["import", "--evidence", file])
            #expect(taken.code == 0 && taken.output == "1 origin: 21 appended, 0 already there\n", "\(taken.errors)")
            // It lets go of the views in order: what belongs to whom stays proven.
            let proof = try Programs.syncctl(store, ["history", "u-1", "--proof"])
            #expect(proof.code != 75, "\(proof.errors)")
        }
        return (one, other)
    }

    private func withoutPosition(_ lines: [String]) -> [String] {
        lines.map { $0.replacing(/"position":"\d+",?/, with: "") }
    }

    @Test("A replay of two nodes with equal logs is the same but for positions; twins say what counts (INV-6)")
    func replays() throws {
        let (one, other) = try exchanged()
        func replay(_ store: String, _ scope: [String]) throws -> [String] {
            let run = try Programs.syncctl(store, ["replay", "--json"] + scope)
            #expect(run.code == 0)
            return run.output.split(separator: "\n").map(String.init)
        }
        let (here, there) = (try replay(one, ["--all"]), try replay(other, ["--all"]))
        #expect(here.count == 43 && withoutPosition(here) == withoutPosition(there))
        #expect(here.count { $0.contains(#""twinof":""#) } == 20)
        // Each names an event that is in the list, counts, and has the same id.
        let events = try Programs.syncctl(one, ["replay", "--all", "--json"]).lines
        for event in events {
            guard let counting = event["twinof"] as? String else { continue }
            let parts = counting.split(separator: "/").map(String.init)
            let target = try #require(
                events.first {
                    ($0["source"] as? String)?.hasSuffix(parts[0]) ?? false && $0["sequence"] as? String == parts[1]
                })
            #expect(target["id"] as? String == event["id"] as? String && target["twinof"] == nil)
        }
        let evidence = try [one, other].map { try Programs.syncctl($0, ["export", "--evidence"]).output }
        #expect(evidence[0] == evidence[1])
        // Known when only the own events were there: nothing was a twin.
        #expect(try !replay(one, ["--all", "--known-at", "21"]).contains { $0.contains("twinof") })
        for command in [["tail", "-n", "50", "--json"], ["export"]] {
            #expect(try Programs.syncctl(one, command).output.components(separatedBy: #""twinof":""#).count == 21)
        }
        let history = try Programs.syncctl(one, ["history", "u-1", "--json"]).output
        #expect(history.contains(#""source":"/nodes/"#) && !history.contains("twinof"))
    }

    @Test("The source names the origin's node by its id; what names a node is read as well")
    func source() throws {
        let store = try makeStore("서울")
        let status = try #require(try Programs.syncctl(store, ["status", "--json"]).lines.first)
        let name = "/nodes/\(status["node"] ?? "")/\(status["origin"] ?? "")"
        for command in [["tail", "--json"], ["replay", "--all", "--json"], ["export"], ["show", "1", "--json"]] {
            let line = try #require(try Programs.syncctl(store, command).lines.first)
            let event = line["event"] as? [String: Any] ?? line
            #expect(event["source"] as? String == name, "\(command)")
        }
        let old =
            #"{"id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f","type":"t","source":"/nodes/seoul%201/1b4e28ba-2fa1-11d2-883f-0016d3cca427","user":"u","data":{}}"#
        #expect(try Programs.syncctl(store, ["import", "-"], input: old).output.hasPrefix("1 line: 1 appended"))
    }

    @Test("An import passes twins over and counts them, so that the words that count are those that counted")
    func importedTwins() throws {
        let (one, _) = try exchanged()
        let exported = try Programs.syncctl(one, ["export"]).output
        let store = try makeStore("drei")
        let first = try Programs.syncctl(store, ["import", "-"], input: exported)
        #expect(first.code == 0)
        #expect(
            first.output
                == "42 lines: 20 appended, 0 already there, 0 rejected, 2 that only nodes write passed over, "
                + "20 twins passed over\n")
        let again = try Programs.syncctl(store, ["import", "-", "--json"], input: exported)
        #expect(again.lines.last?["already"] as? Int == 20 && again.lines.last?["twins"] as? Int == 20)
    }

    @Test("An import says that bytes that its lines name do not come with them, and where that is seen")
    func bytesOfLines() throws {
        let store = try makeStore("ohne")
        let (line, digest) = (Self.dialogue.prefix { $0 != "\n" }, String(repeating: "a", count: 64))
        let item = #"{"sha256":"\#(digest)","bytes":3,"mediaType":"text/plain"}"#
        let naming = line.replacingOccurrences(of: #""말 1""#, with: #""말","attachments":[\#(item)]"#)
        let plain = try Programs.syncctl(store, ["import", "-"], input: Self.dialogue)
        #expect(plain.code == 0 && !plain.errors.contains("attachment"))
        let other = try makeStore("mit")
        let first = try Programs.syncctl(other, ["import", "-"], input: naming)
        #expect(first.code == 0 && first.output == "1 line: 1 appended, 0 already there, 0 rejected\n")
        #expect(first.errors.contains("the lines name 1 attachment, whose bytes do not come with lines"))
        let again = try Programs.syncctl(other, ["import", "-", "--json"], input: naming)
        #expect(again.lines.last?["attachments"] as? Int == 1 && again.lines.last?["already"] as? Int == 1)
        let missing = try Programs.syncctl(other, ["attachment", "list", "--missing", "--json"])
        #expect(missing.lines.contains { $0["sha256"] as? String == digest }, "\(missing.output)")
    }

    @Test("Rejected lines are kept with number and reason; a byte order mark and blank lines are passed over")
    func rejects() throws {
        let store = try makeStore("test")
        let path = TemporaryFolder.unusedPath()
        let good = #"{"type":"t","source":"/t","recordid":"1","user":"u","data":{"a":1}}"#
        let lines = ["\u{feff}" + good, " \t", "not \"json\"", #"{"type":"t","user":"u","data":{},"color":1}"#, "\t"]
        let id = #"{"id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f","type":"t","user":"u","data":"#
        let input = (lines + [id + #"{"a":1}}"#, id + #"{"a":2}}"#]).joined(separator: "\r\n")
        let run = try Programs.syncctl(store, ["import", "-", "--rejects", path], input: input)
        #expect(run.code == 4 && run.output == "5 lines: 2 appended, 0 already there, 3 rejected\n", "\(run.errors)")
        let kept = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(kept.map { $0["line"] as? Int } == [3, 4, 7])
        #expect(kept.map { $0["code"] as? String } == ["E_LINE_JSON", "E_LINE_UNKNOWN", "E_ID_REUSED"])
        #expect(kept.map { $0["text"] as? String } == [lines[2], lines[3], id + #"{"a":2}}"#])
        // Mended, it is taken.
        let mended = try #require(kept[1]["text"] as? String).replacingOccurrences(of: #","color":1"#, with: "")
        #expect(try Programs.syncctl(store, ["import", "-", "--rejects", path], input: mended).code == 0)
        #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
        #expect(try Programs.syncctl(store, ["import", "-", "--rejects", "/no/such/folder/x"]).code == 73)
    }

    @Test("The file that is read is never the one for rejected lines, whatever it is called")
    func rejectsOfItself() throws {
        let store = try makeStore("test")
        let path = try file(Self.dialogue)
        let (linked, hard) = (TemporaryFolder.unusedPath(), TemporaryFolder.unusedPath())
        try FileManager.default.createSymbolicLink(atPath: linked, withDestinationPath: path)
        try FileManager.default.linkItem(atPath: path, toPath: hard)
        for name in [path, linked, hard] {
            let run = try Programs.syncctl(store, ["import", path, "--rejects", name])
            #expect(run.code == 64 && run.errors.contains("[E_USAGE]"), "\(run.errors)")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.dialogue)
        }
        #expect(try Programs.syncctl(store, ["import", path, "--rejects", path + ".bad"]).code == 0)
    }

    @Test("Two workers that reply to one message make one reply, with its user, conversation and cause")
    func replies() throws {
        let store = try makeStore("test")
        let message = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
        _ = try Programs.syncctl(
            store, ["append", "-u", "u-1029", "--conversation", "c-88", "--id", message, "--text", "두통이 심해요"])
        func reply(_ text: String, _ to: String = message) throws -> Programs.Result {
            try Programs.syncctl(
                store, ["append", "--reply-to", to, "--author", "medibot", "--text", text, "--json"])
        }
        let first = try reply("언제부터요?")
        #expect(first.lines.first?["type"] as? String == "appended")
        #expect(first.lines.first?["id"] as? String == "0198e2c4-77aa-80a6-bf76-bef8caa642f3")
        #expect(try reply("언제부터요?").lines.first?["type"] as? String == "already")
        #expect(try reply("어디가요?").lines.first?["code"] as? String == "E_ID_REUSED")
        #expect(
            try reply("요약", message + ":summary").lines.first?["id"] as? String
                == "0198e2c4-77aa-8f8d-b1b7-dac69e64b078")
        let stored = try #require(
            try Programs.syncctl(store, ["show", "0198e2c4-77aa-80a6-bf76-bef8caa642f3", "--json"]).lines.first)
        #expect(stored["type"] as? String == "bot.replied" && stored["user"] as? String == "u-1029")
        #expect(stored["subject"] as? String == "conversation/c-88" && stored["author"] as? String == "medibot")
        #expect(stored["cause"] as? String == message)
        let unknown = try Programs.syncctl(
            store, ["append", "--reply-to", "0198e2c4-77aa-7c01-8b1e-000000000000", "--author", "b", "--text", "x"])
        #expect(unknown.code == 1 && unknown.errors.contains("E_NO_EVENT"))
        for extra in [["--cause", message], ["--user", "u"], ["--id", message], ["--conversation", "c"]] {
            let run = try Programs.syncctl(
                store, ["append", "--reply-to", message, "--author", "b", "--text", "x"] + extra)
            #expect(run.code == 64)
        }
        #expect(try Programs.syncctl(store, ["append", "--reply-to", message, "--text", "x"]).code == 64)
    }

    @Test("A store with a changed payload gives no evidence: exit code 3, with the event, and no whole file")
    func changedStore() throws {
        let store = try makeStore("test")
        _ = try Programs.syncctl(store, ["import", "-"], input: Self.dialogue)
        let path = store + "/log.db"
        var log = try Data(contentsOf: URL(filePath: path))
        let place = try #require(log.range(of: Data("말 7".utf8)))
        log.replaceSubrange(place, with: Data("딴 7".utf8))
        try log.write(to: URL(filePath: path))
        let export = try Programs.syncctl(store, ["export", "--evidence"])
        #expect(export.code == 3 && export.errors.contains("is not what was stored"), "\(export.errors)")
        #expect(export.lines.last?["type"] as? String != "end")
    }

    @Test(
        "Evidence that was changed ends with 3 and names the event; one that was cut with 65; a daemon's store is left alone"
    )
    func badEvidence() throws {
        let store = try makeStore("test")
        _ = try Programs.syncctl(store, ["import", "-"], input: Self.dialogue)
        let evidence = try Programs.syncctl(store, ["export", "--evidence"])
        #expect(evidence.code == 0 && evidence.lines.last?["type"] as? String == "end")
        #expect(evidence.lines.last?["count"] as? Int == 21)
        let archive = try makeStore("archive")
        let changed = evidence.output.replacingOccurrences(of: "말 7", with: "딴 말")
        let refused = try Programs.syncctl(archive, ["import", "--evidence", "-"], input: changed)
        #expect(refused.code == 3 && refused.errors.contains("E_EVIDENCE_PROOF"), "\(refused.errors)")
        let cut = evidence.output.split(separator: "\n").dropLast().joined(separator: "\n")
        let short = try Programs.syncctl(archive, ["import", "--evidence", "-", "--json"], input: cut)
        #expect(short.code == 65 && short.errors.contains("E_EVIDENCE_CUT"))
        let torn = try Programs.syncctl(
            archive, ["import", "--evidence", "-"], input: String(evidence.output.dropLast(300)))
        #expect(torn.code == 65 && torn.errors.contains("E_EVIDENCE_CUT"), "\(torn.errors)")
        var lines = evidence.output.split(separator: "\n")
        lines.swapAt(1, 2)
        let swapped = try Programs.syncctl(
            archive, ["import", "--evidence", "-"], input: lines.joined(separator: "\n"))
        #expect(swapped.code == 3, "\(swapped.errors)")
        #expect(try Programs.syncctl(archive, ["import", "--evidence", "-"], input: "nonsense\n").code == 65)
        let plain = try Programs.syncctl(archive, ["import", "-"], input: evidence.output).errors
        #expect(plain.contains("import --evidence") && !plain.contains("the same command goes on"), "\(plain)")
        let whole = try Programs.syncctl(archive, ["import", "--evidence", "-", "--json"], input: evidence.output)
        #expect(whole.code == 0 && whole.lines.last?["origins"] as? Int == 1)
        #expect(try Programs.syncctl(archive, ["verify"]).code == 0)
        #expect(try Programs.syncctl(archive, ["import", "-"], input: evidence.output).errors.contains("E_EVIDENCE"))
        for option in [["--batch", "5"], ["--dry-run"], ["--rejects", "/tmp/x"]] {
            #expect(try Programs.syncctl(archive, ["import", "--evidence", "-"] + option).code == 64)
        }
        #expect(try Programs.syncctl(store, ["export", "--evidence", "--after", "3"]).code == 64)
        #expect(try Programs.syncctl(store, ["export", "--origin", "x"]).code == 64)

        let daemon = try DaemonProcess("busy")
        try daemon.start()
        let busy = try Programs.syncctl(daemon.store, ["import", "--evidence", "-"], input: evidence.output)
        #expect(busy.code == 75 && busy.errors.contains("stop syncd"), "\(busy.errors)")
    }
}

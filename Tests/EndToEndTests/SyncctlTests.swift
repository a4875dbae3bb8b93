import CommandLineKit
import Foundation
import TestSupport
import Testing

@testable import syncctl

/// The CLI as its users run it.
@Suite(.serialized)
struct SyncctlTests {
    private func makeStore() throws -> String {
        let store = TemporaryFolder.unusedPath()
        #expect(try Programs.syncctl(store, ["init", "--name", "test"]).code == 0)
        return store
    }

    @Test("The commands do not contradict each other, and each has help with an example")
    func table() throws {
        #expect(Syncctl.table.contradictions() == [])
        for command in Syncctl.table.commands {
            #expect(!command.examples.isEmpty, "\(command.name)")
            let help = try Programs.syncctl(
                "/nowhere", command.name.split(separator: " ").map(String.init) + ["--help"])
            #expect(help.code == 0 && help.output.contains("Examples:"), "\(command.name)")
        }
    }

    @Test("An import reports bad lines with number and reason, takes the rest, and adds nothing the second time")
    func imports() throws {
        let store = try makeStore()
        let lines = """
            {"type":"message.posted","source":"/t","recordid":"1","user":"u-1","time":"2026-08-01T00:00:00Z","data":{"text":"안녕하세요"}}
            not json
            {"type":"message.posted","source":"/t","recordid":"2","user":"u-1","data":{"text":"hello"},"color":"red"}
            {"type":"message.posted","source":"/t","recordid":"3","user":"u-1","data":{"text":"hello"}}
            {"type":"message.posted","source":"/t","recordid":"4","user":"","data":{"text":"hello"}}
            """
        let first = try Programs.syncctl(store, ["import", "-"], input: lines)
        #expect(first.code == 4)
        #expect(first.output == "5 lines: 2 appended, 0 already there, 3 rejected\n")
        for number in [2, 3, 5] { #expect(first.errors.contains("line \(number):")) }
        let again = try Programs.syncctl(store, ["import", "-", "--json"], input: lines)
        #expect(
            again.code == 4 && again.lines.last?["already"] as? Int == 2 && again.lines.last?["appended"] as? Int == 0
        )
        #expect(try Programs.syncctl(store, ["import", "/no/such/file"]).code == 66)
        #expect(try Programs.syncctl(store, ["import", "-"], input: "nonsense\n").code == 65)
    }

    @Test("Bad input is named, and nothing of it is stored")
    func badInput() throws {
        let store = try makeStore()
        func append(_ arguments: String...) throws -> Programs.Result {
            try Programs.syncctl(store, ["append"] + arguments)
        }
        let long = String(repeating: "가", count: 3_414)
        #expect(try append("-u", "u", "--conversation", long, "--text", "x").errors.contains("E_IDENTIFIER"))
        #expect(try append("-u", "u", "--data", "{").errors.contains("E_PAYLOAD_JSON"))
        #expect(try append("-u", "u", "--data", "[1]").code == 65)
        #expect(try append("--text", "x").code == 64)
        #expect(try append("-u", "u", "--text", "x", "--id", "zz").code == 64)
        let big = #"{"type":"t","user":"u","data":{"a":"\#(String(repeating: "x", count: 262_144))"}}"#
        let refused = try Programs.syncctl(store, ["import", "-", "--json"], input: big)
        #expect(refused.lines.first?["code"] as? String == "E_PAYLOAD_SIZE")
        #expect(try Programs.syncctl(store, ["status", "--json"]).lines.first?["position"] as? Int == 1)
        #expect(try Programs.syncctl("/no/such/store", ["history", "u"]).code == 66)
        #expect(try Programs.syncctl(store, ["histroy", "u"]).errors.contains("did you mean"))
        #expect(try Programs.syncctl(store, ["history", "u", "--since", "someday"]).code == 64)
    }

    @Test("What is exported and imported elsewhere keeps ids, times and payloads")
    func roundTrip() throws {
        let (one, other) = (try makeStore(), try makeStore())
        _ = try Programs.syncctl(
            one,
            [
                "append", "-u", "u-1", "--conversation", "c-1", "--time", "2026-08-01 09:00 UTC", "--text",
                "한글 😀 \"따옴표\"",
            ])
        _ = try Programs.syncctl(
            one, ["append", "-u", "u-2", "--author", "bot", "--type", "bot.replied", "--text", "답"])
        let exported = try Programs.syncctl(one, ["export"]).output
        #expect(try Programs.syncctl(other, ["import", "-"], input: exported).code == 0)
        func essence(_ store: String) throws -> [String] {
            try Programs.syncctl(store, ["export"]).lines.compactMap { line in
                guard line["type"] as? String != "origin.started" else { return nil }
                let data = line["data"] as? [String: Any]
                return
                    "\(line["id"] ?? "") \(line["time"] ?? "") \(line["user"] ?? "") \(line["author"] ?? "") \(data?["text"] ?? "")"
            }
        }
        #expect(try essence(one) == essence(other))
        #expect(try essence(one).count == 2)
    }

    @Test("Hostile text is made visible, and JSON answers end with a line that says so")
    func hostile() throws {
        let store = try makeStore()
        _ = try Programs.syncctl(
            store, ["append", "-u", "u-1", "--data", #"{"text":"\u001b[31mred\u202eabc\nsecond"}"#])
        let history = try Programs.syncctl(store, ["history", "u-1"])
        #expect(history.code == 0)
        #expect(!history.output.contains("\u{1b}[31m") && !history.output.contains("\u{202e}"))
        #expect(history.output.split(separator: "\n").count == 2)
        #expect(try Programs.syncctl(store, ["history", "u-1", "--json"]).lines.last?["type"] as? String == "end")
        #expect(try Programs.syncctl(store, ["history", "nobody"]).code == 1)
    }
}

import Foundation
import TestSupport
import Testing

/// What reading commands print, in every form, is what Tests/Golden/syncctl has. With SILLOK_WRITE_GOLDEN=1 it is written there.
struct GoldenOutputTests {
    private static let commands: [(file: String, words: [String])] = [
        ("history", ["history", "haneul"]), ("conversation", ["conversation", "headache"]),
        ("conversations", ["conversations"]), ("profile", ["profile", "haneul"]), ("surveys", ["survey"]),
        ("survey", ["survey", "satisfaction"]), ("tail", ["tail", "-n", "3"]), ("show", ["show", "7"]),
        ("replay", ["replay", "--conversation", "headache", "--as-of", "2026-08-01 11:01"]),
        ("export", ["export", "--user", "haneul", "--role", "all"]),
    ]
    private static let forms: [[String]] = [
        ["--human"], ["--human", "--lang", "ko"], ["--human", "--full"], ["--plain"], ["--csv"], ["--json"],
    ]

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
        path: "../Golden/syncctl")

    @Test("Each command prints what its golden file has", arguments: commands.map(\.file))
    func golden(file: String) async throws {
        let store = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = store.file("store")
        #expect(try await tool.run(["init", "--name", "seoul-1"]).code == 0)
        let sample = Self.folder.appending(path: "../../../Examples/sample.ndjson")
        #expect(try await tool.run(["import", sample.path]).code == 0)
        // An edit, a retraction, an edit that does not count; and text that is hostile to spreadsheets and terminals.
        let more = Self.folder.appending(path: "../more.ndjson")
        #expect(try await tool.run(["import", more.path]).code == 0)
        let words = try #require(Self.commands.first { $0.file == file }).words
        var text = ""
        for form in Self.forms {
            if form.contains("--full"),
                ["conversations", "profile", "survey", "surveys", "show", "export"].contains(file)
            {
                continue
            }
            let run = try await tool.run(words + form)
            #expect(run.code == 0, "\(run.errors)")
            text += "$ syncctl \((words + form).joined(separator: " "))\n" + Self.settled(run.errors, "! ")
            // CSV ends its lines with CR LF; a golden file does not.
            text += Self.settled(run.text.replacingOccurrences(of: "\r\n", with: "\n"), "")
        }
        let path = Self.folder.appending(path: "\(file).txt")
        if ProcessInfo.processInfo.environment["SILLOK_WRITE_GOLDEN"] == "1" {
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: path)
        }
        let golden = try String(contentsOf: path, encoding: .utf8)
        for (line, expected) in zip(text.split(separator: "\n"), golden.split(separator: "\n")) where line != expected
        {
            Issue.record("\(file):\n  \(line)\n  \(expected)")
            break
        }
        #expect(text.count == golden.count)
    }

    /// Without what differs from one store to the next: ids of nodes and origins, stamps, digests, when it was recorded and by whom.
    private static func settled(_ text: String, _ mark: String) -> String {
        let rules = [
            (#"[0-9a-f]{64}"#, "HASH"), (#"sillok:[^"]*/[0-9a-f-]{36}"#, "sillok:ORIGIN"),
            (#""hlc":"[^"]*""#, #""hlc":"HLC""#), (#""(recorded|recordedtime)":"[^"]*""#, #""$1":"TIME""#),
            (#""leaf":"[^"]*""#, #""leaf":"LEAF""#), (#""source":"[^"]*""#, #""source":"SOURCE""#),
            (#"(file|socket):uid:\d+"#, "$1:uid:N"),
            (#"(?m)^(recorded|hlc|origin|leaf|기록 시각|오리진|HLC|리프 해시) .*$"#, "$1 …"),
            (#""node":"[^"]*""#, #""node":"NODE""#), (#"[0-9a-f]{8}-[0-9a-f-]{27}/(\d+)"#, "ORIGIN/$1"),
        ]
        var out = text
        for (pattern, replacement) in rules {
            out = out.replacingOccurrences(of: pattern, with: replacement, options: .regularExpression)
        }
        guard !mark.isEmpty else { return out }
        // How far long work is depends on the machine.
        return out.split(separator: "\n").filter { !$0.contains(#""type":"progress""#) }.map { mark + $0 + "\n" }
            .joined()
    }
}

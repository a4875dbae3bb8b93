import Foundation
import TestSupport
import Testing

/// What a newcomer does: the commands of the README, one after the other in one shell, and its bot.
@Suite(.serialized)
struct ReadmeTests {
    private struct Step {
        var command: String
        /// The lines that the README shows after it.
        var shown: [String] = []
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized.path

    /// The commands behind `$ ` in blocks that are indented by four, with what they print.
    private func steps(_ readme: String) -> [Step] {
        var steps: [Step] = []
        var isBlock = false
        for line in readme.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            guard line.hasPrefix("    ") else {
                isBlock = isBlock && line.isEmpty
                continue
            }
            let text = String(line.dropFirst(4))
            if text.hasPrefix("$ ") {
                isBlock = true
                steps.append(Step(command: String(text.dropFirst(2).replacing(/\x20+#\x20.*/, with: ""))))
            } else if isBlock, let last = steps.last, last.command.count(where: { $0 == "'" }) % 2 == 1 {
                // A text in quotation marks goes on.
                steps[steps.count - 1].command += "\n" + text
            } else if isBlock {
                steps[steps.count - 1].shown.append(text)
            }
        }
        return steps
    }

    /// Ids, times, numbers and spaces are other ones each time.
    private func shape(_ line: String) -> String {
        line.replacing(/[0-9a-f]{8}-[0-9a-f-]{27}/, with: "ID").replacing(/[0-9]+m?s\b/, with: "TIME").replacing(
            /[0-9]+/, with: "N"
        ).replacing(
            /\x20+/, with: " "
        )
        .trimmingCharacters(in: .whitespaces)
    }

    private static func isEndless(_ command: String) -> Bool {
        command.hasPrefix("syncctl tail -f") || command.hasPrefix("curl -sN")
    }

    private func script(_ steps: [Step], bot: String, port: Int) -> String {
        var lines = [
            // A test's children may have signals blocked.
            "trap 'kill -9 $(jobs -p) 2>/dev/null' EXIT",
            "ready() { for i in {1..200}; do \"$@\" >/dev/null 2>&1 && return; sleep 0.1; done; echo \"never: $*\"; }",
        ]
        for (index, step) in steps.enumerated() {
            var command = step.command.replacing("127.0.0.1:7460", with: "127.0.0.1:\(port)")
            lines.append("echo '@@ \(index)'")
            if let end = command.range(of: " &", options: .backwards), command.hasSuffix(" &") {
                command.replaceSubrange(end, with: " >>daemons.log 2>&1 &")
                let store = command.contains("--dev second") ? "--store second " : ""
                lines.append("\(command)\nready syncctl \(store)status\necho '@= 0'")
                continue
            }
            // Those that never end are stopped.
            if Self.isEndless(command) { command += " & last=$!; sleep 2; kill -9 $last; true" }
            // A head comes a moment after what it covers; who types is slower.
            if command.hasPrefix("syncctl verify") { lines.append("sleep 2") }
            lines.append("{ \(command)\n} 2>&1\necho \"@= $?\"")
        }
        return
            (lines + [
                "cat >bot.py <<'END'\n\(bot)\nEND", "python3 bot.py >bot.log 2>&1 &",
                "ready bash -c 'syncctl subscriptions | grep -q medibot'",
                "syncctl append --user u-7 --conversation c-7 --text '안녕하세요'",
                "ready bash -c \"syncctl --store second conversation c-7 | grep -q '들었습니다: 안녕하세요'\"",
                "echo '@@ bot'", "syncctl --store second conversation c-7", "echo '@= 0'", "cat bot.log",
            ]).joined(separator: "\n")
    }

    @Test(
        "With the README alone: in ten minutes two nodes with the same digests, what it shows comes, and its bot answers at the other node"
    )
    func newcomer() async throws {
        let readme = try String(contentsOfFile: Self.root + "/README.md", encoding: .utf8)
        let bot = try #require(
            readme.split(separator: "```python\n").last?.split(separator: "```").first.map(String.init))
        let steps = steps(readme).filter { !$0.command.hasPrefix("make build") }
        #expect(steps.count > 15)
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/Examples", withDestinationPath: Self.root + "/Examples")
        let programs = URL(filePath: try Tool.named("syncctl").path).deletingLastPathComponent().path
        var shell = Tool(path: "/bin/bash")
        shell.environment = [
            "PATH": "\(programs):/usr/bin:/bin", "TZ": "UTC", "LANG": "C.UTF-8", "HOME": folder.path,
            "PYTHONPATH": Self.root + "/clients/python", "PYTHONDONTWRITEBYTECODE": "1",
        ]
        let began = ContinuousClock.now
        let run = try await shell.run(
            ["-c", script(steps, bot: bot, port: try freePort())], in: folder.path)
        let took = ContinuousClock.now - began
        print("A newcomer's way with the README, with built programs: \(took.formatted(.units(allowed: [.seconds])))")
        #expect(took < .seconds(600))

        var parts: [String: (lines: [String], code: String)] = [:]
        var current = ""
        for line in run.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("@@ ") {
                current = String(line.dropFirst(3))
            } else if line.hasPrefix("@= ") {
                parts[current, default: ([], "")].code = String(line.dropFirst(3))
            } else {
                parts[current, default: ([], "")].lines.append(line)
            }
        }
        for (index, step) in steps.enumerated() {
            let part = try #require(parts["\(index)"], "\(step.command): \(run.text) \(run.errors)")
            let isMissing = part.lines.contains { $0.contains("jq: command not found") }
            #expect(part.code == "0" || isMissing, "\(step.command): \(part)")
            let found = Set(part.lines.map(shape))
            for line in step.shown {
                #expect(found.contains(shape(line)), "\(step.command): \(line) is not in \(part.lines)")
            }
        }
        let answer = parts["bot"]?.lines.joined(separator: "\n") ?? ""
        #expect(answer.contains("들었습니다: 안녕하세요"), "\(run.text.suffix(2_000)) \(run.errors)")
    }
}

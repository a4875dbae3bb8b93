import Foundation
import TestSupport
import Testing

/// `tail --url`: the feed of a node, as `tail` shows the files.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RemoteTailTests {
    private func append(_ text: String, to daemon: DaemonProcess, by user: String = "u") {
        let line =
            #"{"type":"message.posted","user":"\#(user)","subject":"conversation/c-\#(user)","data":{"text":"\#(text)"}}"#
        #expect(APIClient(socket: daemon.store + "/api.sock").ask("POST", "/v1/events", body: line)?.0 == 200)
    }

    private func wait(until condition: () -> Bool) -> Bool {
        waitWhile(!condition())
        return condition()
    }

    @Test("It prints what tail of the files prints, in all forms and with filters")
    func same() async throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        for number in 0..<15 { append("글 \(number)", to: daemon, by: number % 3 == 0 ? "kim" : "park") }
        let tool = try Tool.named("syncctl")
        let url = "unix:\(daemon.store)/api.sock"
        for words in [
            [], ["-n", "3"], ["--json"], ["--csv", "-n", "20"], ["--plain"], ["--user", "kim"],
            ["--json", "--since", "2020-01-01"],
            ["--conversation", "c-park", "-n", "2"], ["--type", "note"], ["--ids", "--full"],
        ] {
            let files = try await tool.run(["tail", "--store", daemon.store] + words)
            let node = try await tool.run(["tail", "--url", url] + words)
            #expect(node.text == files.text && node.code == files.code, "\(words): \(node)")
        }
        let many = try await tool.run(["tail", "--url", url, "-n", "1001"])
        #expect(many.code == 64, "\(many)")
    }

    @Test(
        "A follower loses nothing and repeats nothing when the daemon is killed and started anew; its place goes on")
    func restart() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        append("0", to: daemon)
        let cursor = TemporaryFolder.unusedPath()
        let process = Process()
        process.executableURL = Programs.folder.appending(path: "syncctl")
        let words = [
            "tail", "--url", "unix:\(daemon.store)/api.sock", "--cursor-file", cursor, "--from-start", "--json",
        ]
        process.arguments = words + ["-f"]
        let output = TemporaryFolder.unusedPath()
        #expect(FileManager.default.createFile(atPath: output, contents: nil))
        let file = try FileHandle(forWritingTo: URL(filePath: output))
        process.standardOutput = file
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            for path in [cursor, output] { try? FileManager.default.removeItem(atPath: path) }
        }
        func texts() -> [String] {
            let said = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
            return said.matches(of: /"text":"(\d+)"/).map { String($0.output.1) }
        }
        #expect(wait { texts() == ["0"] }, "\(texts())")
        for round in 1...3 {
            append("\(round * 10)", to: daemon)
            daemon.kill()
            try daemon.start()
            append("\(round * 10 + 1)", to: daemon)
        }
        #expect(wait { texts().count >= 7 }, "\(texts())")
        #expect(texts() == ["0", "10", "11", "20", "21", "30", "31"])
        // What is printed is printed before its place is kept: who is killed between the two prints it again (at least once).
        func later() throws -> Int {
            let copy = TemporaryFolder.unusedPath()
            defer { try? FileManager.default.removeItem(atPath: copy) }
            try FileManager.default.copyItem(atPath: cursor, toPath: copy)
            return try Programs.syncctl(daemon.store, ["tail", "--cursor-file", copy, "--json"]).lines.count
        }
        #expect(wait { (try? later()) == 1 })  // the line of the end
        // Other signals may be blocked in the thread that started it, and so in it.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        append("40", to: daemon)
        // The place is of use at the files, too.
        let there = try Programs.syncctl(daemon.store, ["tail", "--cursor-file", cursor, "--json"])
        #expect(there.code == 0 && there.lines.count == 2, "\(there)")
    }

    @Test("Where to begin: the last of those that are wanted, or a time")
    func places() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        for number in 0..<9 { append("\(number)", to: daemon, by: number % 2 == 0 ? "kim" : "park") }
        func count(_ query: String) -> Int? {
            (api.ask("GET", "/v1/changes?" + query)?.1.first?["items"] as? [Any])?.count
        }
        #expect(count("after=last:3") == 3 && count("after=last:0") == 0 && count("after=last:1000") == 9)
        #expect(count("after=last:3&user=kim") == 3 && count("after=last:1&user=kim&type=note") == 0)
        #expect(count("after=last:1000&type=*") == 10)
        #expect(count("after=2020-01-01T00:00:00Z") == 9 && count("after=2100-01-01T00:00:00Z") == 0)
        #expect(api.ask("GET", "/v1/changes?after=last:1001")?.0 == 400)
        #expect(api.ask("GET", "/v1/changes?after=last:x")?.0 == 400)
    }
}

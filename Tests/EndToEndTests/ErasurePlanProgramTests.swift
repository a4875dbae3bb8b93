import Foundation
import TestSupport
import Testing

/// A plan is done as it was seen, however much its user writes meanwhile (INV-11, D14).
@Suite(.serialized)
struct ErasurePlanProgramTests {
    private let path = TemporaryFolder.unusedPath()
    private static let decided = [
        "--authored", "erase", "--replies", "keep", "--reason", "the user's wish", "--who", "kim",
    ]
    private static let what = ["erase", "user", "u-1"]

    private static func word() -> String { "비밀\(UInt64.random(in: 1 << 60 ... .max))" }

    private static func line(_ word: String) -> String {
        #"{"type":"message.posted","user":"u-1","subject":"conversation/c-1","data":{"text":"\#(word)"}}"#
    }

    /// Waits until no file of the node has any of it.
    private func gone(_ words: [String], _ node: DaemonProcess) throws {
        let traces = ByteScan.traces(words)
        for _ in 0..<100 {
            if ByteScan.find(traces, in: [node.store]).isEmpty { return }
            usleep(100_000)
        }
        Issue.record("\(ByteScan.find(traces, in: [node.store])) at \(node.name)")
    }

    private func append(_ node: DaemonProcess, _ words: [String]) throws {
        let lines = words.map { Self.line($0) + "\n" }.joined()
        #expect(try node.syncctl("append", "-", "--json", input: lines).code == 0)
    }

    private func plan(_ node: DaemonProcess) throws {
        let planned = try Programs.syncctl(node.store, Self.what + Self.decided + ["--plan", path])
        #expect(planned.code == 0, "\(planned.errors)")
    }

    /// Members of the line that says what was erased, and what was said to people.
    private func confirm(_ node: DaemonProcess, _ more: String...) throws -> (line: [String: Any], errors: String) {
        let done = try Programs.syncctl(node.store, Self.what + ["--confirm", path, "--json"] + more)
        #expect(done.code == 0, "\(done.errors)")
        return (done.lines.first { $0["type"] as? String == "erased" } ?? [:], done.errors)
    }

    @Test(
        "While the user writes all the time what was planned goes from every file, what is newer stays and is counted; up to now it goes (INV-11)",
        arguments: [nil, "now"])
    func writing(upTo reach: String?) async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (a, b) = try makePair()
        let words = (0..<40).map { _ in Self.word() }
        try append(a, words)
        _ = try converge(a, b)
        let client = APIClient(socket: a.store + "/api.sock")
        let isDone = DispatchSemaphore(value: 0)
        let written = Task.detached {
            var written: [String] = []
            while isDone.wait(timeout: .now() + .milliseconds(2)) == .timedOut {
                let word = Self.word()
                if client.ask("POST", "/v1/events", body: Self.line(word))?.0 == 200 { written.append(word) }
            }
            return written
        }
        usleep(300_000)
        try plan(a)
        usleep(300_000)
        let (done, errors) = try reach.map { try confirm(a, "--up-to", $0) } ?? confirm(a)
        isDone.signal()
        let later = await written.value
        #expect(later.count > 20)
        let count = try #require(done[reach == nil ? "left" : "more"] as? Int)
        #expect(count > 0 && done[reach == nil ? "more" : "left"] == nil, "\(done)")
        if reach == nil {
            #expect(
                errors.contains(
                    "syncctl erase user u-1 --authored erase --replies keep --reason 'the user'\\\\''s wish'"),
                "\(errors)")
        }
        _ = try converge(a, b)
        #expect(ByteScan.find(ByteScan.traces(words), in: [a.store]).isEmpty)
        try gone(words, b)
        // Of what came meanwhile the first go, too, and the last stay.
        let shown = try a.syncctl("history", "u-1", "--last", "9999", "--json").output
        let kept = later.map { shown.contains($0) }
        #expect(kept == kept.sorted { !$0 && $1 } && kept.last == true && kept.first == false)
        if reach == nil { #expect(kept.count { $0 } >= count) }
        for node in [a, b] { #expect(try node.verified() == 0) }
    }

    @Test(
        "What comes late from a peer, with an older stamp than the plan, was not seen: it stays, and the next plan has it (INV-6, INV-11)"
    )
    func late() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (a, b) = try makePair()
        let (before, late, after) = (Self.word(), Self.word(), (0..<5).map { _ in Self.word() })
        try append(a, [before])
        _ = try converge(a, b)
        #expect(b.terminate() == 0)
        try append(b, [late])
        usleep(5_000)
        try append(a, after)
        try plan(a)
        try b.start()
        _ = try converge(a, b)
        #expect(try confirm(a).line["left"] as? Int == 1)
        _ = try converge(a, b)
        let words = [before] + after
        for node in [a, b] {
            try gone(words, node)
            #expect(try node.syncctl("search", late).code == 0)
            #expect(try node.verified() == 0)
        }
        try plan(a)
        #expect(try confirm(a).line["left"] as? Int == 0)
        _ = try converge(a, b)
        for node in [a, b] {
            try gone([late], node)
            #expect(try node.verified() == 0)
        }
    }

    @Test("With no daemon, too, and over the API: a plan is done as it was seen (INV-11)")
    func otherWays() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let node = try DaemonProcess("n")
        #expect(try node.syncctl("init", "--name", "n").code == 0)
        let words = (0..<4).map { _ in Self.word() }
        try append(node, [words[0]])
        try plan(node)
        try append(node, [words[1]])
        let korean = try Programs.syncctl(node.store, Self.what + ["--confirm", path, "--lang", "ko"])
        #expect(korean.code == 0 && korean.errors.contains("1건이 더 들어왔고"), "\(korean.errors)")
        #expect(ByteScan.find([words[0]], in: [node.store]).isEmpty)
        #expect(!ByteScan.find([words[1]], in: [node.store]).isEmpty)
        try node.start()
        let api = APIClient(socket: node.store + "/api.sock")
        let order = #""user":"u-1","reason":"r","who":"w""#
        func ask(_ more: String) -> (Int, [String: Any])? {
            api.ask("POST", "/v1/erasures", body: "{\(order),\(more)}").map { ($0.0, $0.1.last ?? [:]) }
        }
        let plan = try #require(ask(#""dry_run":true"#)?.1["plan"] as? String)
        try append(node, [words[2]])
        #expect(ask(#""plan":"\#(plan)","up_to":"then""#)?.0 == 400)
        let done = try #require(ask(#""plan":"\#(plan)""#))
        #expect(done.0 == 202 && done.1["left"] as? Int == 1, "\(done)")
        // What is gone does not go again.
        try gone([words[1]], node)
        #expect(ask(#""plan":"\#(plan)""#)?.0 == 409)
        let next = try #require(ask(#""dry_run":true"#)?.1["plan"] as? String)
        try append(node, [words[3]])
        let all = try #require(ask(#""plan":"\#(next)","up_to":"now""#))
        #expect(all.0 == 202 && all.1["more"] as? Int == 1, "\(all)")
        try gone(words, node)
        #expect(try node.verified() == 0)
    }
}

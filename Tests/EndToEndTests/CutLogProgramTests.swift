import Foundation
import TestSupport
import Testing

/// A log that was cut, from the finding to its end, with the real programs.
@Suite(.timeLimit(.minutes(5)))
struct CutLogProgramTests {
    /// Flips a bit in the sixth-last commit of a WAL (https://sqlite.org/fileformat2.html#the_write_ahead_log).
    private func cut(_ path: String) throws {
        var wal = try Data(contentsOf: URL(filePath: path))
        let frame = 24 + 4_096
        func word(_ offset: Int) -> [UInt8] { Array(wal[offset..<offset + 4]) }
        var commits: [Int] = []
        var offset = 32
        while offset + frame <= wal.count, word(offset + 8) == word(16) {
            if word(offset + 4) != [0, 0, 0, 0] { commits.append(offset) }
            offset += frame
        }
        wal[try #require(commits.dropLast(5).last) + 124] ^= 1
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.write(contentsOf: wal)
        try handle.close()
    }

    /// What the auditors' verifier says; `nil` where Python or its one package is missing.
    private func prove(_ store: String) async throws -> Tool.Run? {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Scripts/verify.py")
        let env = Tool(path: "/usr/bin/env", environment: ProcessInfo.processInfo.environment)
        let found = try await env.run(["python3", "-B", script.path, store])
        return found.code == 127 || found.errors.contains("ModuleNotFoundError") ? nil : found
    }

    @Test(
        "A copy of a store that has gone on is a sound copy: its witness speaks of the store, and no command says damaged"
    )
    func copyOfAStore() async throws {
        let node = try DaemonProcess("n")
        let outside = TemporaryFolder.unusedPath()
        let copy = TemporaryFolder.unusedPath()
        defer { for path in [outside, copy] { try? FileManager.default.removeItem(atPath: path) } }
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
        let environment = ["SYNCD_STORAGE__WITNESS": outside]
        try node.start(environment: environment)
        #expect(try node.syncctl("append", "--user", "u", "--text", "one").code == 0)
        #expect(node.terminate() == 0)
        try FileManager.default.copyItem(atPath: node.store, toPath: copy)
        #expect(try Programs.syncctl(copy, ["verify"]).code == 0)
        if let proven = try await prove(copy) { #expect(proven.code == 0, "\(proven)") }
        try node.start(environment: environment)
        #expect(try node.syncctl("append", "--user", "u", "--text", "two").code == 0)
        #expect(node.terminate() == 0)
        let verified = try Programs.syncctl(copy, ["verify"])
        #expect(verified.code == 2 && verified.output.contains("this is a copy of a store"), "\(verified.output)")
        if let proven = try await prove(copy) {
            #expect(proven.code == 2 && proven.text.contains("this is a copy of a store"), "\(proven)")
        }
        let checked = try Programs.syncctl(copy, ["doctor"])
        #expect(checked.code != 3 && !checked.output.contains("LOG_CUT"), "\(checked.output)")
        #expect(try Programs.syncctl(node.store, ["verify"]).code == 0)
    }

    @Test("A cut log counts for verify until it is settled; then it is told, and proven, also after another start")
    func settled() async throws {
        let node = try DaemonProcess("n")
        try node.start()
        for number in 1...8 { #expect(try node.syncctl("append", "--user", "u", "--text", "\(number)").code == 0) }
        node.kill()
        try cut(node.store + "/log.db-wal")
        try node.start()
        let found = try node.syncctl("doctor", "--json").lines.first { $0["code"] as? String == "LOG_CUT" }
        let name = try #require(found?["subject"] as? String)
        #expect(try node.syncctl("verify").code == 3)
        #expect(try node.syncctl("doctor", "settle", "LOG_CUT", "--note", "the disk was replaced").code == 0)
        #expect(try node.syncctl("doctor", "--all").output.contains("the disk was replaced"))
        for isRunning in [true, false] {
            if !isRunning { #expect(node.terminate() == 0) }
            // What is left of the old origin behind its last head stays unsigned: the node knows that there was more.
            let verified = try node.syncctl("verify")
            #expect([0, 2].contains(verified.code) && verified.output.contains("\(name), settled at"), "\(verified)")
        }
        let text = try String(contentsOfFile: node.store + "/evidence/\(name).json", encoding: .utf8)
        #expect(text.contains(#""settled":"#))
        if let proven = try await prove(node.store) {
            #expect([0, 2].contains(proven.code) && proven.text.contains("settled: \(name)"), "\(proven)")
        }
        // The views of a node that was killed lack what settles it for a moment: also the first question finds it.
        for _ in 0..<4 {
            try node.start()
            #expect(try node.syncctl("doctor", "--all").output.contains("the disk was replaced"))
            #expect(try !node.syncctl("doctor").output.contains("LOG_CUT"))
            node.kill()
        }
        try node.start()
        #expect(node.terminate() == 0)
    }

    @Test(
        "A lost witness is told by the log, doctor and verify, until it is settled; a folder that is not there, too")
    func lostWitness() async throws {
        let node = try DaemonProcess("n")
        let outside = try TemporaryFolder.made()
        let environment = ["SYNCD_STORAGE__WITNESS": outside.path]
        try node.start(isTalking: true, environment: environment)
        #expect(try node.syncctl("append", "--user", "u", "--text", "a").code == 0)
        #expect(node.terminate() == 0)
        #expect(try node.verified() == 0)
        let file = try #require(try FileManager.default.contentsOfDirectory(atPath: outside.path).first)
        try Data("{}".utf8).write(to: URL(filePath: outside.file(file)))
        #expect(try node.syncctl("verify").code == 2)
        #expect(try node.syncctl("doctor").output.contains("WITNESS (warning)"))
        try node.start(isTalking: true, environment: environment)
        #expect(node.said.contains("WITNESS_LOST"))
        #expect(try node.syncctl("append", "--user", "u", "--text", "b").code == 0)
        #expect(node.terminate() == 0)
        try node.start(isTalking: true, environment: environment)
        #expect(try node.syncctl("doctor").output.contains("WITNESS_LOST"))
        #expect(try node.syncctl("verify").code == 2)
        #expect(try node.syncctl("doctor", "settle", "WITNESS_LOST").code == 0)
        #expect(node.terminate() == 0)
        #expect(try node.verified() == 0)
        // Elsewhere, where nothing is.
        let nowhere = outside.path + "-nowhere"
        try node.start(isTalking: true, environment: ["SYNCD_STORAGE__WITNESS": nowhere])
        #expect(node.said.contains("the folder of the witness \(nowhere) is not there"))
        #expect(node.terminate() == 0)
        let configuration = try outside.write(
            Data(#"{storage: {dir: "\#(outside.path)", witness: "\#(nowhere)"}}"#.utf8), to: "c.json5")
        let checked = try await Tool.named("syncd").run(["--config", configuration, "--check-config"])
        #expect(checked.text.contains("there is no folder \(nowhere)"), "\(checked)")
    }
}

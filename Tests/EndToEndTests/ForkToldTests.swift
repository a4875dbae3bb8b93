import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What a store with a proof of a fork says, and one with something strange in place of a proof.
@Suite(.serialized)
struct ForkToldTests {
    /// A store whose origin has a second history, with the proof of it.
    private func forked() throws -> (TemporaryFolder, ForkEvidence) {
        let folder = try TemporaryFolder.made()
        let (here, there) = (folder.file("a"), folder.file("b"))
        func draft(_ text: String) -> EventDraft {
            EventDraft(type: "message.posted", user: "u", payload: Array(#"{"text":"\#(text)"}"#.utf8))
        }
        try EventStore.create(in: here, name: "n")
        let first = try EventStore(opening: here, surroundings: .unknown)
        _ = try first.appendBlocking([draft("같은 말")])
        first.close()
        try FileManager.default.copyItem(atPath: here, toPath: there)
        let stores = try [here, there].map { try EventStore(opening: $0, surroundings: .unknown) }
        let dot = Dot(origin: stores[0].identity.origin, seq: 3)
        let branches = try stores.enumerated().map { index, store in
            _ = try store.appendBlocking([draft("말 \(index)")])
            try store.flushBlocking()
            return try #require(try LogReader(store.files).branch(at: dot, ownHead: store.head()))
        }
        let evidence = try #require(ForkEvidence(dot, branches[0], branches[1], key: stores[0].key.publicKey))
        #expect(try stores[0].keep(evidence))
        for store in stores { store.close() }
        return (folder, evidence)
    }

    @Test("status ends with 3 where doctor does; verify names the fork, and proves the store all the same")
    func told() async throws {
        let (folder, evidence) = try forked()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("a")
        #expect(try await tool.run(["doctor"]).code == 3)
        #expect(try await tool.run(["status"]).code == 3)
        #expect(try await tool.run(["status", "--json"]).code == 3)
        let verified = try await tool.run(["verify"])
        #expect(verified.code == 0 && verified.lines.last?.hasPrefix("VERIFIED") == true, "\(verified.text)")
        #expect(verified.lines.last?.contains("1 fork proven") == true, "\(verified.text)")
        #expect(verified.text.contains("evidence/\(evidence.name).json"), "\(verified.text)")
        let line = try await tool.run(["verify", "--json"]).objects().first { $0["type"] as? String == "fork" }
        #expect(line?["seq"] as? Int == 3 && line?["origin"] as? String == evidence.origin.description)
        // A proof that was changed proves nothing, and contradicts.
        let path = folder.file("a/evidence/\(evidence.name).json")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let digest = evidence.branches[0].payloadDigest.description
        let other = String(digest.reversed())
        try Data(text.replacingOccurrences(of: digest, with: other).utf8).write(to: URL(filePath: path))
        let damaged = try await tool.run(["verify"])
        #expect(damaged.code == 3 && damaged.lines.last?.hasPrefix("DAMAGED") == true, "\(damaged.text)")
        // Settled, by the name of the proof, it counts no more.
        try Data(text.utf8).write(to: URL(filePath: path))
        #expect(try await tool.run(["doctor", "settle", "FORK"]).code == 0)
        #expect(try await tool.run(["status"]).code == 0)
    }

    @Test("A pipe in the folder of proofs stops nobody")
    func pipe() async throws {
        let (folder, _) = try forked()
        for name in ["fork-x.json", "cut-x.json"] { #expect(mkfifo(folder.file("a/evidence/" + name), 0o600) == 0) }
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("a")
        #expect(try await tool.run(["verify"]).code == 0)
        #expect(try await tool.run(["doctor"]).code == 3)
        #expect(try await tool.run(["append", "--user", "u", "--text", "x"]).code == 0)
    }
}

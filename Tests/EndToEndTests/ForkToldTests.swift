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
        let digest = String(try #require(text.firstMatch(of: /"payload_digest":"([0-9a-f]{64})"/)).1)
        let other = String(digest.reversed())
        try Data(text.replacingOccurrences(of: digest, with: other).utf8).write(to: URL(filePath: path))
        let damaged = try await tool.run(["verify"])
        #expect(damaged.code == 3 && damaged.lines.last?.hasPrefix("DAMAGED") == true, "\(damaged.text)")
        // Settled, by the name of the proof, it counts no more.
        try Data(text.utf8).write(to: URL(filePath: path))
        #expect(try await tool.run(["doctor", "settle", "FORK"]).code == 0)
        #expect(try await tool.run(["status"]).code == 0)
    }

    @Test("A fork that only heads prove is told like any other, with how many events they are of (INV-3)")
    func ofHeads() async throws {
        let (folder, event) = try forked()
        let stores = try ["a", "b"].map { try EventStore(opening: folder.file($0), surroundings: .unknown) }
        try FileManager.default.removeItem(atPath: folder.file("a/evidence/\(event.name).json"))
        let branches = try stores.map { store in
            let head = try #require(store.head())
            return ForkBranch(root: head.head.root, of: Coverage(head: head, proof: []))
        }
        let key = stores[0].key.publicKey
        let evidence = try #require(ForkEvidence(event.dot, branches[0], branches[1], key: key))
        #expect(try stores[0].keep(evidence))
        for store in stores { store.close() }
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("a")
        #expect(try await tool.run(["doctor"]).code == 3)
        #expect(try await tool.run(["status"]).code == 3)
        let verified = try await tool.run(["verify"])
        #expect(verified.code == 0 && verified.lines.last?.contains("1 fork proven") == true, "\(verified.text)")
        let what = "differ within the first 3 events: evidence/\(evidence.name).json"
        #expect(verified.text.contains(what), "\(verified.text)")
        let line = try #require(try await tool.run(["forks", "--json"]).objects().first)
        #expect(line["sequence"] as? Int == 3 && line["at"] is NSNull, "\(line)")
        let told = line["branches"] as? [[String: Any]] ?? []
        #expect(told.count { $0["here"] as? Bool == true } == 1, "\(told)")
        #expect(try await tool.run(["doctor", "settle", "FORK"]).code == 0)
        #expect(try await tool.run(["status"]).code == 0)
    }

    @Test(
        "forks lists what is proven, the same of the files and of a node; a cursor goes on behind it",
        .timeLimit(.minutes(5)))
    func listed() async throws {
        let (folder, evidence) = try forked()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("a")
        let lines = try await tool.run(["forks", "--json"]).objects()
        #expect(lines.count == 2 && lines[0]["name"] as? String == evidence.name && lines[0]["sequence"] as? Int == 3)
        #expect(lines[0]["origin"] as? String == evidence.origin.description && lines[0]["at"] is String)
        let branches = lines[0]["branches"] as? [[String: Any]] ?? []
        #expect(branches.count == 2 && branches.count { $0["here"] as? Bool == true } == 1, "\(branches)")
        let table = try await tool.run(["forks"])
        #expect(table.code == 0 && table.text.contains(evidence.name), "\(table.text)")
        #expect(try await tool.run(["forks", "--store", folder.file("a"), "--lang", "ko"]).text.hasPrefix("오리진"))

        let daemon = try DaemonProcess("n")
        try FileManager.default.copyItem(atPath: folder.file("a"), toPath: daemon.store)
        try daemon.start()
        let far = try await tool.run(["forks", "--json", "--url", "unix:\(daemon.store)/api.sock"])
        #expect(far.code == 0, "\(far.errors)")
        #expect(try far.objects().first?["name"] as? String == evidence.name)
        let api = APIClient(socket: daemon.store + "/api.sock")
        let page = try #require(api.ask("GET", "/v1/forks?limit=1"))
        #expect(page.0 == 200 && page.1.count == 2 && page.1[1]["more"] as? Bool == false, "\(page)")
        #expect(api.ask("GET", "/v1/forks?cursor=00")?.0 == 400)
        let token = folder.file("token")
        for (role, status) in [("auditor", 0), ("operator", 0), ("app", 77)] {
            try? FileManager.default.removeItem(atPath: token)
            let made = try daemon.syncctl("tokens", "create", "p/\(role)", "--role", role, "--out", token)
            #expect(made.code == 0, "\(made)")
            let asked = try await tool.run([
                "forks", "--json", "--url", "unix:\(daemon.store)/api.sock", "--token-file", token,
            ])
            #expect(asked.code == status, "\(role): \(asked.errors)")
        }
        #expect(daemon.terminate() == 0)
        // A store without a proof.
        tool.environment["SYNCCTL_STORE"] = folder.file("c")
        #expect(try await tool.run(["init", "--name", "n"]).code == 0)
        let none = try await tool.run(["forks"])
        #expect(none.code == 0 && none.text.isEmpty && none.errors.contains("no fork is proven here"))
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

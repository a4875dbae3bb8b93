import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What a daemon and `syncctl` say of views that are wrong, or not finished (D21, INV-6).
struct ProvenViewsTests {
    @Test("A running daemon finds a view that was changed by hand, names it, and builds the views anew")
    func changed() throws {
        let node = try DaemonProcess("a")
        try node.start(isTalking: true, environment: ["SYNCD_VERIFY__VIEWS": "1"])
        let profile = #"{"fields":{"name":"지우"}}"#
        #expect(try node.syncctl("append", "-u", "u-1", "--type", "profile.changed", "--data", profile).code == 0)
        #expect(eventually { differences(node) == 0 })
        let views = try Connection(path: node.store + "/views.db", mode: .write)
        try views.execute(#"UPDATE profile SET value = '"위조"' WHERE maximal = 1"#)
        #expect(eventually { node.said.contains("the views contradict the log in 1 places") })
        #expect(node.said.contains("위조"))
        #expect(eventually { differences(node) == 0 })
        #expect(try node.syncctl("profile", "u-1").output.contains("지우"))
        #expect(node.terminate() == 0)
    }

    @Test("A view that was changed after kill -9 is found by the next start and built anew; no proof is given of it")
    func changedAfterKill() async throws {
        let node = try DaemonProcess("a")
        try node.start()
        for number in 0..<3 {
            #expect(try node.syncctl("append", "-u", "u-1", "--conversation", "c", "--text", "m\(number)").code == 0)
        }
        #expect(try node.syncctl("history", "u-1", "--proof").code == 0)
        #expect((try node.status())["views_unproven"] == nil)
        node.kill()
        // An event is withheld from the user.
        do {
            let views = try Connection(path: node.store + "/views.db", mode: .write)
            try views.execute("DELETE FROM history_tail WHERE first = (SELECT max(first) FROM history_tail)")
        }
        let syncctl = try Tool.named("syncctl")
        let offline = try await syncctl.run(["history", "u-1", "--proof", "--store", node.store])
        #expect(offline.code == 75, "\(offline.text) \(offline.errors)")
        #expect(offline.errors.contains("syncctl verify --views"))
        #expect(try await syncctl.run(["verify", "--views", "--store", node.store]).code == 3)
        #expect(try await syncctl.run(["history", "u-1", "--proof", "--store", node.store]).code == 75)
        try node.start(isTalking: true)
        // None is short, however early it comes.
        var counts: [Int] = []
        let isGiven = eventually {
            guard let answer = try? node.syncctl("history", "u-1", "--proof"), answer.code == 0 else { return false }
            counts.append(answer.output.components(separatedBy: "\"type\":\"event\"").count - 1)
            return true
        }
        #expect(isGiven && !counts.isEmpty && counts.allSatisfy { $0 == 3 }, "\(counts)")
        #expect(node.said.contains("a process was killed that had the views open"))
        #expect(node.said.contains("the views contradict the log"))
        let proof = try node.syncctl("history", "u-1", "--proof")
        #expect(proof.output.components(separatedBy: "\"type\":\"event\"").count == 4, "\(proof.output)")
        // A head that only the daemon had would be gone with it.
        #expect(eventually { (try? node.syncctl("verify").code) == 0 })
        node.kill()
        let compared = try await syncctl.run(["verify", "--views", "--store", node.store])
        #expect(compared.code == 0, "\(compared.text)")
        let again = try await syncctl.run(["history", "u-1", "--proof", "--store", node.store])
        #expect(again.code == 0, "\(again.errors)")
    }

    @Test("Exit code, last line and JSON of verify --views say the same of a view that was changed")
    func verdict() async throws {
        let folder = try TemporaryFolder.made()
        let store = folder.file("store")
        let syncctl = try Tool.named("syncctl")
        #expect(try await syncctl.run(["init", "--store", store, "--name", "n"]).code == 0)
        let profile = ["append", "-u", "u", "--type", "profile.changed", "--data", #"{"fields":{"name":"지우"}}"#]
        #expect(try await syncctl.run(profile + ["--store", store]).code == 0)
        #expect(try await syncctl.run(["profile", "u", "--store", store]).code == 0)
        let verify = ["verify", "--views", "--store", store]
        let fine = try await syncctl.run(verify)
        #expect(fine.code == 0 && fine.lines.last?.hasPrefix("VERIFIED") == true, "\(fine.text)")
        let views = try Connection(path: store + "/views.db", mode: .write)
        try views.execute(#"UPDATE profile SET value = '"위조"' WHERE maximal = 1"#)
        let text = try await syncctl.run(verify)
        #expect(text.code == 3 && text.lines.last?.hasPrefix("VIEWS CONTRADICT THE LOG") == true, "\(text.text)")
        let json = try await syncctl.run(verify + ["--json"])
        let objects = try json.objects()
        let end = try #require(objects.last)
        #expect(json.code == 3 && end["intact"] as? Bool == false && end["answer"] as? String == "contradicted")
        #expect(end["views"] as? String == "contradicted" && end["count"] as? Int == objects.count - 1)
    }

    private func differences(_ node: DaemonProcess) -> Int? {
        ((try? node.status())?["views_proven"] as? [String: Any])?["differences"] as? Int
    }

    private func eventually(_ holds: () -> Bool) -> Bool {
        waitWhile(every: 100_000, !holds())
        return holds()
    }

    @Test("While the views lack events, digest says how many and exits with 2: nothing can be compared yet")
    func incomplete() async throws {
        let folder = try TemporaryFolder.made()
        let store = folder.file("store")
        let syncctl = try Tool.named("syncctl")
        #expect(try await syncctl.run(["init", "--store", store, "--name", "n"]).code == 0)
        #expect(try await syncctl.run(["digest", "--store", store]).code == 0)
        // A writer that builds no views.
        let writer = try EventStore(opening: store)
        let drafts = (0..<3).map { number in
            EventDraft(
                type: "message.posted", conversation: "c", user: "u", payload: Array(#"{"text":"\#(number)"}"#.utf8))
        }
        _ = try writer.appendBlocking(drafts)
        // There is no place to build them in.
        var cramped = syncctl
        cramped.environment["TMPDIR"] = "/nowhere"
        let plain = try await cramped.run(["digest", "--store", store])
        #expect(plain.code == 2)
        #expect(plain.text.contains("incomplete: the views lack 3 events"))
        let json = try await cramped.run(["digest", "--store", store, "--json"])
        #expect(json.code == 2)
        #expect(json.lines.last?.contains(#""complete":false,"behind":3"#) == true)
        writer.close()
        #expect(try await syncctl.run(["digest", "--store", store]).code == 0)
    }

    @Test("Without a word of configuration, the witness stands beside the store (D12)")
    func witness() async throws {
        let shown = try await Tool.named("syncd").run(["--print-config"])
        #expect(shown.lines.contains(#"storage.witness: "beside"  // built-in"#))
        let node = try DaemonProcess("a")
        let outside = node.store + "-witness"
        defer { try? FileManager.default.removeItem(atPath: outside) }
        try node.start(environment: ["SYNCD_STORAGE__WITNESS": "beside"])
        #expect(node.terminate() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside).isEmpty == false)
    }
}

import Foundation
import TestSupport
import Testing

/// What a backup holds and what comes back, through the real programs (docs/operating/backup.md): the bytes of attachments, and what was
/// erased since.
@Suite(.serialized)
struct BackupContentsTests {
    private let folder: TemporaryFolder
    private var repository: String { folder.file("repository") }

    init() throws { folder = try TemporaryFolder.made() }

    private func syncctl(_ arguments: String...) throws -> Programs.Result {
        try Programs.syncctl(folder.file("nowhere"), arguments)
    }

    /// What the auditors' verifier says; `nil` where Python or its one package is missing.
    private func prove(_ store: String) async throws -> Tool.Run? {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Scripts/verify.py")
        let env = Tool(path: "/usr/bin/env", environment: ProcessInfo.processInfo.environment)
        let found = try await env.run(["python3", "-B", script.path, store])
        return found.code == 127 || found.errors.contains("ModuleNotFoundError") ? nil : found
    }

    private func create(_ node: DaemonProcess, _ more: String...) throws -> [String: Any] {
        let run = try Programs.syncctl(node.store, ["backup", "create", repository, "--json"] + more)
        #expect(run.code == 0, "\(run.output)\(run.errors)")
        return run.lines.first ?? [:]
    }

    /// Puts bytes, and appends a message of `user` that names them.
    private func post(_ node: DaemonProcess, _ text: String, user: String) throws -> String {
        let path = try folder.write(Data(text.utf8), to: "file-\(UInt64.random(in: 0 ... .max))")
        let put = try node.syncctl("attachment", "put", path, "--json")
        let digest = try #require(put.lines.first?["sha256"] as? String, "\(put.errors)")
        let run = try node.syncctl(
            "append", "--user", user, "--conversation", "c", "--type", "message.posted", "--data",
            #"{"text":"사진","attachments":[{"sha256":"\#(digest)","bytes":\#(text.utf8.count),"mediaType":"text/plain"}]}"#
        )
        #expect(run.code == 0, "\(run.errors)")
        return digest
    }

    private func erase(_ node: DaemonProcess, _ user: String) throws {
        let plan = folder.file("plan-\(user)")
        let planned = try node.syncctl(
            "erase", "user", user, "--authored", "erase", "--replies", "erase", "--reason", "요청", "--who", "kim",
            "--plan",
            plan)
        #expect(planned.code == 0, "\(planned.errors)")
        #expect(try node.syncctl("erase", "user", user, "--confirm", plan).code == 0)
    }

    private func bytes(_ store: String, _ digest: String) -> Data? {
        FileManager.default.contents(atPath: "\(store)/attachments/\(digest.prefix(2))/\(digest)")
    }

    @Test(
        "Attachments come back from a backup, each kept once, whole, and gone with what was erased (INV-1, INV-4, INV-11)",
        arguments: [false, true])
    func attachments(isSealed: Bool) throws {
        let key = try folder.write(Data((0..<32).map { String(format: "%02x", $0) }.joined().utf8), to: "key")
        let options = isSealed ? ["--key-file", key] : []
        func run(_ arguments: String...) throws -> Programs.Result {
            try Programs.syncctl(folder.file("nowhere"), ["backup"] + arguments + options)
        }
        func create(_ node: DaemonProcess, _ more: String...) throws -> [String: Any] {
            let run = try Programs.syncctl(node.store, ["backup", "create", repository, "--json"] + more + options)
            #expect(run.code == 0, "\(run.output)\(run.errors)")
            return run.lines.first ?? [:]
        }
        let node = try DaemonProcess("seoul")
        try node.start()
        let word = "비밀\(UInt64.random(in: 1 << 60 ... .max))"
        let large = String(repeating: "가나다 ", count: 300_000)
        let texts = ["고양이", large, word]
        let digests = try zip(texts, ["kim", "kim", "lee"]).map { try post(node, $0, user: $1) }
        let first = try create(node)
        #expect(first["attachments"] as? Int == 3 && first["attachments_added"] as? Int == 3, "\(first)")
        func files() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: repository + "/attachments").filter {
                $0.utf8.count > 60
            }
        }
        #expect(try files().count == 3)
        // Which bytes these are an encrypted repository does not tell.
        let isTold = try digests.contains { digest in try files().contains { $0.contains(digest) } }
        #expect(isTold == !isSealed)
        #expect(ByteScan.find([word], in: [repository]).isEmpty == isSealed)
        let again = try create(node)
        #expect(again["attachments"] as? Int == 3 && again["attachments_added"] as? Int == 0, "\(again)")
        #expect(try run("verify", repository).code == 0)
        #expect(try run("drill", repository, "--scratch", folder.path).code == 0)
        let restored = try run("restore", repository, "--into", folder.file("r"), "--json")
        #expect(
            restored.code == 0 && restored.lines.first?["attachments"] as? Int == 3,
            "\(restored.output)\(restored.errors)")
        for (text, digest) in zip(texts, digests) { #expect(bytes(folder.file("r"), digest) == Data(text.utf8)) }
        #expect(try Programs.syncctl(folder.file("r"), ["attachment", "verify"]).code == 0)
        // A changed byte is found, and the rest comes back all the same.
        let victim = repository + "/attachments/" + (try #require(try files().first))
        let good = try Data(contentsOf: URL(filePath: victim))
        var bad = good
        bad[bad.count / 2] ^= 1
        try bad.write(to: URL(filePath: victim))
        let found = try run("verify", repository)
        #expect(found.code == 3 && found.output.contains("attachments/"), "\(found.output)")
        #expect(try run("drill", repository, "--scratch", folder.path).code == 3)
        let partly = try run("restore", repository, "--into", folder.file("partly"))
        #expect(partly.code == 2 && partly.errors.contains("attachment"), "\(partly.output)\(partly.errors)")
        #expect(digests.filter { bytes(folder.file("partly"), $0) != nil }.count == 2)
        // The next full backup finds it, and puts it right.
        #expect(try create(node, "--anew")["attachments_added"] as? Int == 1)
        #expect(try run("verify", repository).code == 0)
        try FileManager.default.removeItem(atPath: victim)
        #expect(try run("verify", repository).code == 3)
        #expect(try create(node)["attachments_added"] as? Int == 1)
        #expect(try run("verify", repository).code == 0)
        // What was erased is in no backup after the next one.
        try erase(node, "lee")
        let last = try create(node)
        #expect(last["attachments"] as? Int == 2, "\(last)")
        #expect(try files().count == 2 && ByteScan.find([word], in: [repository]).isEmpty)
        #expect(try run("verify", repository).code == 0)
        // Pruned with the backups that name them.
        #expect(try run("prune", repository, "--keep", "1").code == 0)
        #expect(try files().count == 2)
        node.kill()
    }

    @Test("A stream carries attachments, the next one those that came since; both together restore them all")
    func streams() throws {
        let node = try DaemonProcess("seoul")
        try node.start()
        var digests: [String] = []
        for number in 1...2 {
            digests.append(try post(node, "그림 \(number)", user: "kim"))
            let run = try node.syncctl(
                "backup", "create", "--to-command", "cat > '\(folder.file("s\(number)"))'", "--base",
                folder.file("base"),
                "--json")
            #expect(run.code == 0 && run.lines.first?["attachments_added"] as? Int == 1, "\(run.output)\(run.errors)")
        }
        let all = "cat '\(folder.file("s1"))' '\(folder.file("s2"))'"
        let restored = try syncctl("backup", "restore", "--from-command", all, "--into", folder.file("r"), "--json")
        #expect(
            restored.code == 0 && restored.lines.first?["attachments"] as? Int == 2,
            "\(restored.output)\(restored.errors)")
        for (index, digest) in digests.enumerated() {
            #expect(bytes(folder.file("r"), digest) == Data("그림 \(index + 1)".utf8))
        }
        #expect(
            try syncctl(
                "backup", "restore", "--from-command", "cat '\(folder.file("s2"))'", "--into", folder.file("x")
            ).code != 0)
        node.kill()
    }

    @Test(
        "A backup that is older than an erasure comes back sound and without it, with no peer around; the drill says the same (INV-4, INV-11)"
    )
    func olderThanErasure() async throws {
        let word = "비밀\(UInt64.random(in: 1 << 60 ... .max))"
        let node = try DaemonProcess("seoul")
        try node.start()
        for number in 0..<5 {
            #expect(try node.syncctl("append", "--user", "lee", "--text", "\(word) \(number)").code == 0)
            #expect(try node.syncctl("append", "--user", "kim", "--text", "남는 말 \(number)").code == 0)
        }
        let before = try #require(try create(node)["id"] as? String)
        try erase(node, "lee")
        #expect(try node.syncctl("append", "--user", "lee", "--text", "다시").code == 0)
        _ = try create(node)
        node.kill()
        for (name, options) in [("old", ["--backup", before]), ("cut", ["--to", "seq:11"])] {
            for more in [[], ["--without-key"]] {
                let into = folder.file(name + "\(more.count)")
                let restored = try Programs.syncctl(
                    folder.file("nowhere"),
                    ["backup", "restore", repository, "--into", into, "--json"] + options + more)
                #expect(
                    restored.code == 0 && restored.lines.first?["erased_later"] as? Int == 5,
                    "\(restored.output)\(restored.errors)")
                let verified = try Programs.syncctl(into, ["verify"])
                #expect(
                    [0, 2].contains(verified.code) && !verified.output.contains("DAMAGED"),
                    "\(name): \(verified.output)")
                #expect(ByteScan.find([word], in: [into]).isEmpty)
                if let proven = try await prove(into) { #expect(proven.code != 3, "\(proven)") }
                let kept = try Data(contentsOf: URL(filePath: into + "/erasures.ndjson"))
                try Data(kept.dropLast(40)).write(to: URL(filePath: into + "/erasures.ndjson"))
                if let proven = try await prove(into) { #expect(proven.code == 3, "\(proven)") }
                try kept.write(to: URL(filePath: into + "/erasures.ndjson"))
            }
        }
        let drill = try syncctl("backup", "drill", repository, "--backup", before, "--json", "--scratch", folder.path)
        #expect(drill.code == 0 && drill.lines.first?["erased_later"] as? Int == 5, "\(drill.output)\(drill.errors)")
        // The node records it once more, and has nothing to be told by peers.
        let restored = try DaemonProcess("seoul")
        try FileManager.default.moveItem(atPath: folder.file("old0"), toPath: restored.store)
        try restored.start()
        waitWhile(every: 100_000, FileManager.default.fileExists(atPath: restored.store + "/erasures.ndjson"))
        #expect(!FileManager.default.fileExists(atPath: restored.store + "/erasures.ndjson"))
        #expect(try restored.verified() == 0)
        let history = try restored.syncctl("history", "lee", "--json")
        #expect(!history.output.contains(word))
        #expect(try restored.syncctl("erase", "status", "--json").output.contains("요청"))
        restored.kill()
    }
}

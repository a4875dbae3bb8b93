import Foundation
import TestSupport
import Testing

/// Receipts, witnesses and proven answers with real programs: two daemons, an auditor, and lies (INV-18, INV-19).
@Suite(.timeLimit(.minutes(5)))
struct ReceiptProgramTests {
    /// What the auditors' verifier says; `nil` where Python or its one package is missing.
    private func prove(_ arguments: String...) async throws -> Tool.Run? {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Scripts/verify.py")
        let env = Tool(path: "/usr/bin/env", environment: ProcessInfo.processInfo.environment)
        let found = try await env.run(["python3", "-B", script.path] + arguments)
        return found.code == 127 || found.errors.contains("ModuleNotFoundError") ? nil : found
    }

    private func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    @Test("Two nodes witness each other unasked; a log is held to a receipt, and every lie about it is exit 3")
    func held() async throws {
        let (a, b) = try makePair()
        defer {
            a.kill()
            b.kill()
        }
        let folder = try TemporaryFolder.made()
        for number in 0..<20 {
            #expect(try a.syncctl("append", "--user", "u-1", "--text", "안녕 \(number) 👋").code == 0)
        }
        #expect(try b.syncctl("append", "--user", "u-2", "--text", "부산").code == 0)
        _ = try converge(a, b)
        let file = folder.path + "/today.receipt"
        let made = try a.syncctl("receipt", "--wait", "1", "--timeout", "30s", "--out", file)
        #expect(made.code == 0, "\(made.errors)")
        // An auditor's file is not written over: the older it is, the more it proves.
        let again = try a.syncctl("receipt", "--out", file)
        #expect(again.code == 73 && again.errors.contains("is there already"), "\(again)")
        // Nor is a link that leads nowhere replaced.
        let link = folder.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path + "/away/receipt")
        #expect(try a.syncctl("receipt", "--out", link).code == 73)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == folder.path + "/away/receipt")
        #expect(try a.syncctl("receipt", "--wait", "2", "--timeout", "1s").code == 75)
        let busan = try b.node()
        let checked = try a.syncctl("check-proof", file, "--witness", busan)
        #expect(checked.code == 0 && checked.output.contains(busan), "\(checked.output) \(checked.errors)")
        // Its own origins a node does not cosign: of a file with no others its word says nothing.
        let (alone, store) = (folder.path + "/alone.receipt", folder.path + "/alone")
        #expect(try Programs.syncctl(store, ["init"]).code == 0)
        #expect(try Programs.syncctl(store, ["receipt", "--out", alone]).code == 0)
        let first = try String(contentsOfFile: alone, encoding: .utf8).firstMatch(of: /"node":"([0-9a-f]{64})"/)
        let node = String(try #require(first).output.1)
        let unmet = try a.syncctl("check-proof", alone, "--witness", node)
        #expect(unmet.code == 2 && unmet.errors.contains("E_RECEIPT_WITNESS"), "\(unmet.errors)")
        let shown = try a.syncctl("receipt", "--lang", "ko")
        #expect(shown.output.contains("sillok/") && shown.output.contains("공동 서명: "), "\(shown.output)")
        // From the files, the same heads: what was cosigned is kept.
        let port = try a.port()
        #expect(a.terminate() == 0)
        let resting = try a.syncctl("receipt", "--json")
        #expect(resting.code == 0 && resting.output.contains("\u{2014} \(busan)"), "\(resting.output)")
        let before = folder.path + "/before"
        try FileManager.default.copyItem(atPath: a.store, toPath: before)
        try a.start(port: port)
        #expect(try a.syncctl("append", "--user", "u-1", "--text", "later").code == 0)
        let later = folder.path + "/later.receipt"
        #expect(try a.syncctl("receipt", "--wait", "1", "--timeout", "30s", "--out", later).code == 0)
        #expect(a.terminate() == 0)
        for receipt in [file, later] {
            let verified = try a.syncctl("verify", "--since", receipt)
            #expect(verified.code == 0 && verified.output.contains("the log says the same"), "\(verified.output)")
            if let proven = try await prove(a.store, "--since", receipt) { #expect(proven.code == 0, "\(proven)") }
        }
        // Put back to the copy: shorter than the later receipt, and than what b holds once it has spoken.
        let back = try Programs.syncctl(before, ["verify", "--since", later])
        #expect(back.code == 3 && back.output.contains("knows"), "\(back.output)")
        #expect(try Programs.syncctl(before, ["verify", "--since", file]).code != 3)
        if let proven = try await prove(before, "--since", later) { #expect(proven.code == 3, "\(proven)") }
        if let proven = try await prove(before, "--since", file) { #expect(proven.code != 3, "\(proven)") }
        // What the node has signed was here, whatever node made the receipt.
        let peers = folder.path + "/peer.receipt"
        _ = try b.syncctl("receipt", "--out", peers)
        let held = try Programs.syncctl(before, ["verify", "--since", peers])
        #expect(held.code == 3 && held.output.contains("peer.receipt knows"), "\(held.output)")
        if let proven = try await prove(before, "--since", peers) { #expect(proven.code == 3, "\(proven)") }
        for suffix in ["", "-wal", "-shm"] {
            let (kept, put) = (a.store + "/cosigned.db" + suffix, before + "/cosigned.db" + suffix)
            try? FileManager.default.removeItem(atPath: put)
            if FileManager.default.fileExists(atPath: kept) {
                try FileManager.default.copyItem(atPath: kept, toPath: put)
            }
        }
        let told = try Programs.syncctl(before, ["verify"])
        #expect(told.code == 3 && told.output.contains(busan.prefix(12)), "\(told.output)")
        // Against the store of the peer: nothing contradicts. Against one of another cluster nothing is said.
        #expect(try b.syncctl("verify", "--since", later).code != 3)
        let other = folder.path + "/other"
        #expect(try Programs.syncctl(other, ["init", "--name", "x", "--cluster", "other"]).code == 0)
        let stranger = try Programs.syncctl(other, ["verify", "--since", file])
        #expect(stranger.code == 65 && stranger.errors.contains("E_RECEIPT_OTHER"), "\(stranger.errors)")
        if let proven = try await prove(other, "--since", file) { #expect(proven.code == 66, "\(proven)") }
        // A receipt that was changed.
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try write(text.replacing("\"cluster\":\"default\"", with: "\"cluster\":\"defauld\""), to: file)
        #expect(try a.syncctl("verify", "--since", file).code == 3)
        #expect(try a.syncctl("check-proof", file).code == 3)
        if let proven = try await prove(a.store, "--since", file) { #expect(proven.code == 3, "\(proven)") }
    }

    @Test("An answer is proven anywhere; an event changed, dropped, added or moved is exit 3, in both programs")
    func answers() async throws {
        let node = try DaemonProcess("n")
        try node.start()
        defer { node.kill() }
        let folder = try TemporaryFolder.made()
        for number in 0..<30 {
            let user = "u-\(number % 3)"
            #expect(
                try node.syncctl("append", "--user", user, "--conversation", "c", "--text", "두통 \(number)").code == 0)
        }
        defer { withExtendedLifetime(folder) {} }
        let file = folder.path + "/u-1.proof"
        let made = try node.syncctl("history", "u-1", "--proof")
        #expect(made.code == 0, "\(made.errors)")
        try write(made.output, to: file)
        let checked = try node.syncctl("check-proof", file)
        #expect(checked.code == 0 && checked.output.contains("10 events of user u-1"), "\(checked.output)")
        if let proven = try await prove("--proof", file) { #expect(proven.code == 0, "\(proven)") }
        let korean = try node.syncctl("check-proof", file, "--lang", "ko")
        #expect(korean.output.contains("증명됨") && korean.output.contains("증명하지 않은 것"), "\(korean.output)")
        #expect(try node.syncctl("conversation", "c", "--last", "5", "--proof").output.contains(#""filtered":true"#))
        #expect(try node.syncctl("show", "7", "--proof").code == 0)
        #expect(try node.syncctl("history", "u-1", "--proof", "--csv").code == 64)
        var lines = made.output.split(separator: "\n").map(String.init)
        let first = try #require(lines.firstIndex { $0.contains(#""type":"event""#) })
        lines[first] = lines[first].replacing("두통", with: "두퉁")
        let changed = lines
        lines = made.output.split(separator: "\n").map(String.init)
        let dropped = lines[..<first] + lines[(first + 1)...]
        let moved = lines[..<first] + [lines[first + 1], lines[first]] + lines[(first + 2)...]
        let cut = lines.dropLast()
        let twice = lines[...first] + lines[first...]
        for lie in [changed[...], dropped, moved, cut, twice] {
            try write(lie.map { $0 + "\n" }.joined(), to: file)
            let found = try node.syncctl("check-proof", file)
            #expect(found.code == 3 && found.errors.contains("E_RECEIPT_FALSE"), "\(found.errors)")
            #expect(found.errors.contains("ask who made it for the file once more"), "\(found.errors)")
            if let proven = try await prove("--proof", file) { #expect(proven.code == 3, "\(proven)") }
        }
        // The last line ends, as all do.
        try write(String(made.output.dropLast()), to: file)
        let unended = try node.syncctl("check-proof", file)
        #expect(unended.code == 3 && unended.errors.contains("E_RECEIPT_FALSE"), "\(unended.output)\(unended.errors)")
        if let proven = try await prove("--proof", file) { #expect(proven.code == 3, "\(proven)") }
        // Lines that say the same and are not the bytes that were signed: another space, a member more, line ends of another system.
        let spaced = lines[..<first] + [lines[first].replacing(#","seq""#, with: #", "seq""#)] + lines[(first + 1)...]
        let more =
            lines[..<first] + [lines[first].replacing(#","seq""#, with: #","x":1,"seq""#)] + lines[(first + 1)...]
        let ended = lines[..<first] + [lines[first] + "\r"] + lines[(first + 1)...]
        for lie in [spaced, more, ended, lines[..<first] + [""] + lines[first...]] {
            try write(lie.map { $0 + "\n" }.joined(), to: file)
            #expect(try node.syncctl("check-proof", file).code == 3)
            if let proven = try await prove("--proof", file) { #expect(proven.code == 3, "\(proven)") }
        }
        try write("\u{feff}" + made.output, to: file)
        #expect(try node.syncctl("check-proof", file).code == 65)
        if let proven = try await prove("--proof", file) { #expect(proven.code == 66, "\(proven)") }
        try write("안녕\n", to: file)
        #expect(try node.syncctl("check-proof", file).code == 65)
        if let proven = try await prove("--proof", file) { #expect(proven.code == 66, "\(proven)") }
    }
}

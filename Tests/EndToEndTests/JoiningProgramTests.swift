import EventStore
import Foundation
import Testing

/// Joining, peers and doctor with real processes.
@Suite(.serialized)
struct JoiningProgramTests {
    private func state(_ node: DaemonProcess, _ peer: String) throws -> String? {
        try node.syncctl("peers", "--json").lines.first { $0["name"] as? String == peer }?["state"] as? String
    }

    private func until(_ seconds: Int = 60, _ condition: () throws -> Bool) rethrows -> Bool {
        for _ in 0..<seconds * 10 {
            if try condition() { return true }
            usleep(100_000)
        }
        return try condition()
    }

    @Test("One line printed on one node lets another in: the rest happens by itself, restarts included")
    func joins() throws {
        let (a, b) = (try DaemonProcess("a"), try DaemonProcess("b"))
        try a.start()
        try b.start()
        let port = try a.port()
        _ = try a.syncctl("append", "-u", "haneul", "--conversation", "c", "--text", "먼저")
        let invited = try a.syncctl("peers", "invite", "--name", "busan-1", "--quiet")
        #expect(invited.code == 0 && invited.errors.isEmpty)
        let line = invited.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(line.hasPrefix("sillok://\(try a.node())@127.0.0.1:\(port)/default/a/"))

        let joined = try b.syncctl("peers", "join", "-", "--json", input: line + "\n")
        #expect(joined.code == 0, "\(joined)")
        #expect(joined.lines.first?["type"] as? String == "joined")
        _ = try converge(a, b)
        #expect(try state(a, "busan-1") == "connected")
        #expect(try state(b, "a") == "connected")

        // It was for one node, and the secret is nowhere any more.
        let c = try DaemonProcess("c")
        try c.start()
        let second = try c.syncctl("peers", "join", line)
        #expect(second.code == 77, "\(second)")
        #expect(second.errors.contains("UNKNOWN_PEER"))
        #expect(try c.syncctl("peers", "list", "--json").lines.map { $0["type"] as? String } == ["end"])
        let token = line.split(separator: "/")[4]
        for file in ["peers.json", "invitations.json"] {
            for node in [a, b] {
                let text = (try? String(contentsOfFile: node.store + "/" + file, encoding: .utf8)) ?? ""
                #expect(!text.contains(token), "\(file)")
            }
        }
        let pending = try a.syncctl("peers", "--json").lines.filter { $0["type"] as? String == "pending" }
        #expect(pending.map { $0["node"] as? String } == [try c.node()])
        #expect(try a.syncctl("peers").output.contains("Not let in: \(try c.node())"))

        // Both remember.
        #expect(a.terminate() == 0 && b.terminate() == 0)
        try a.start(port: port)
        try b.start()
        _ = try b.syncctl("append", "-u", "haneul", "--conversation", "c", "--text", "다시")
        _ = try converge(a, b)

        // Pausing, pinging, removing.
        let pings = try b.syncctl("peers", "ping", "a", "-c", "2", "--json")
        #expect(pings.code == 0 && pings.lines.count == 3)
        #expect(pings.lines.first?["rtt_us"] as? Int ?? 0 > 0)
        #expect(try a.syncctl("peers", "pause", "busan-1").code == 0)
        #expect(try state(a, "busan-1") == "paused")
        #expect(try a.syncctl("peers", "ping", "busan-1").code == 69)
        #expect(try until { try b.syncctl("doctor").output.contains("To do: its operator has paused the exchange") })
        _ = try b.syncctl("append", "-u", "haneul", "--conversation", "c", "--text", "못 들음")
        #expect(a.terminate() == 0)
        try a.start(port: port)
        #expect(try state(a, "busan-1") == "paused")
        #expect(try a.syncctl("digest").output != b.syncctl("digest").output)
        #expect(try a.syncctl("peers", "resume", "busan-1").code == 0)
        _ = try converge(a, b)
        #expect(try a.syncctl("peers", "remove", "busan-1").code == 0)
        #expect(try until { try b.syncctl("peers").output.contains("UNKNOWN_PEER") })
        #expect(try a.syncctl("peers", "pause", "busan-1").code == 1)
    }

    @Test("Invitations that cannot be used say why; a node without a daemon joins at its next start")
    func refusals() throws {
        let (a, b) = (try DaemonProcess("a"), try DaemonProcess("b"))
        try a.start()
        try b.start()
        let line = try a.syncctl("peers", "invite").output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try a.syncctl("peers", "join", line).errors.contains("this node itself"))
        #expect(try b.syncctl("peers", "join", String(line.dropLast(3))).code == 65)
        #expect(try b.syncctl("peers", "join", "hello").code == 65)
        let short = try a.syncctl("peers", "invite", "--valid", "1s").output.trimmingCharacters(
            in: .whitespacesAndNewlines)
        sleep(2)
        let expired = try b.syncctl("peers", "join", short)
        #expect(expired.code == 78 && expired.errors.contains("expired"))
        #expect(try a.syncctl("peers", "invite", "--valid", "8d").code == 64)
        #expect(try a.syncctl("peers", "invite", "--address", "nowhere").code == 64)
        // No one answers there; what was tried is taken back.
        let dead = try a.syncctl("peers", "invite", "--address", "127.0.0.1:1").output.trimmingCharacters(
            in: .whitespacesAndNewlines)
        #expect(try b.syncctl("peers", "join", dead).code == 69)
        #expect(try b.syncctl("peers", "--json").lines.count == 1)
        // The first address is dead, the second one is right.
        let port = try a.port()
        let two = try a.syncctl("peers", "invite", "--address", "127.0.0.1:1", "--address", "127.0.0.1:\(port)")
            .output
        #expect(try b.syncctl("peers", "join", two).code == 0)
        _ = try converge(a, b)
        // A known peer stays what it was when another address of it is dead.
        #expect(a.terminate() == 0)
        let known = try String(contentsOfFile: b.store + "/peers.json", encoding: .utf8)
        #expect(known.contains("127.0.0.1:\(port)"))
        #expect(try b.syncctl("peers", "join", dead).code == 69)
        #expect(try String(contentsOfFile: b.store + "/peers.json", encoding: .utf8) == known)
        try a.start(port: port)

        let c = try DaemonProcess("c")
        #expect(try Programs.syncctl(c.store, ["init", "--name", "c"]).code == 0)
        #expect(try c.syncctl("peers", "invite").errors.contains("no daemon"))
        #expect(try c.syncctl("peers", "invite", "--address", "127.0.0.1:7460").output.hasPrefix("sillok://"))
        #expect(try c.syncctl("peers", "join", line).code == 0)
        try c.start()
        _ = try converge(a, c)
        #expect(try until { try !String(contentsOfFile: c.store + "/peers.json", encoding: .utf8).contains("token") })
    }

    @Test("A copied store: its daemon starts a new origin, the peer names the double, doctor says what to do")
    func doctor() throws {
        let (a, b) = try makePair()
        _ = try a.syncctl("append", "-u", "u", "--conversation", "c", "--text", "같이")
        _ = try converge(a, b)
        let healthy = try a.syncctl("doctor", "--json")
        #expect(healthy.code == 0)
        #expect(healthy.lines.map { $0["code"] as? String ?? "end" } == ["NO_WITNESS", "end"])

        // A copy with a branch of its own: as if a whole machine had been cloned and both had gone on.
        // The store says its name, and the copy has the same.
        let x = try DaemonProcess("a")
        try FileManager.default.createDirectory(atPath: x.store, withIntermediateDirectories: true)
        #expect(a.terminate() == 0)
        for name in ["log.db", "log.db-wal", "node.key", "mark.json", "log.end", "peers.json"] {
            guard FileManager.default.fileExists(atPath: a.store + "/" + name) else { continue }
            try FileManager.default.copyItem(atPath: a.store + "/" + name, toPath: x.store + "/" + name)
        }
        let clone = try EventStore(opening: x.store, surroundings: HostFingerprint(machine: nil, file: nil))
        for number in 0..<3 {
            _ = try clone.appendBlocking([
                EventDraft(type: "message.posted", user: "u", payload: Array(#"{"text":"갈라진 \#(number)"}"#.utf8))
            ])
        }
        clone.close()
        let bPort = try b.port()
        try a.start()
        _ = try a.syncctl("append", "-u", "u", "--conversation", "c", "--text", "남은 쪽")
        #expect(try b.syncctl("peers", "add", "a", "\(a.node())@127.0.0.1:\(a.port())").code == 0)
        _ = try converge(a, b)

        #expect(a.terminate() == 0)
        try x.start()
        #expect(try x.syncctl("peers", "add", "b", "\(b.node())@127.0.0.1:\(bPort)").code == 0)
        #expect(try until { try b.syncctl("doctor").output.contains("FORK") })
        let sick = try b.syncctl("doctor", "--json")
        #expect(sick.code == 3)
        #expect(sick.lines.contains { $0["code"] as? String == "FORK" && $0["severity"] as? String == "integrity" })
        #expect(try b.syncctl("status").output.contains("FORK"))
        #expect(try until { try x.syncctl("doctor").code == 3 })
        let evidence = try FileManager.default.contentsOfDirectory(atPath: b.store + "/evidence")
        #expect(evidence.count == 1 && evidence[0].hasPrefix("fork-"))
        // The copy had noticed by itself that it is one.
        let own = try x.syncctl("doctor", "--json").lines
        #expect(own.contains { $0["code"] as? String == "NEW_ORIGIN" })
        #expect(try [b, x].allSatisfy { try $0.verified() == 0 })

        // Both at once: the double is named on all sides.
        try a.start()
        #expect(try a.syncctl("peers", "add", "b", "\(b.node())@127.0.0.1:\(bPort)").code == 0)
        #expect(try until { try b.syncctl("doctor").output.contains("DUPLICATE_NODE_ID") })
        #expect(try until { try a.syncctl("doctor").output.contains("DUPLICATE_NODE_ID") })

        // The way out that the manual gives: what only the copy has goes over, once.
        let mine = try x.syncctl("export")
        #expect(x.terminate() == 0 && b.terminate() == 0)
        try b.start(port: bPort)
        let moved = try a.syncctl("import", "-", "--json", input: mine.output)
        #expect(moved.lines.last?["appended"] as? Int == 3, "\(moved)")
        // Without a daemon doctor and status read the same from the files.
        _ = b.terminate()
        let offline = try b.syncctl("doctor", "--json")
        #expect(offline.code == 3 && offline.lines.contains { $0["code"] as? String == "FORK" })
        #expect(try b.syncctl("status").code == 3)
        #expect(chmod(b.store + "/node.key", 0o644) == 0)
        #expect(try b.syncctl("doctor", "--plain").output.contains("KEY_MODE"))
    }

    @Test("A rewound disk is noticed at start by the witness, without any peer")
    func witness() throws {
        let a = try DaemonProcess("a")
        let outside = a.store + "-witness"
        defer { try? FileManager.default.removeItem(atPath: outside) }
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
        let environment = ["SYNCD_STORAGE__WITNESS": outside]
        try a.start(environment: environment)
        _ = try a.syncctl("append", "-u", "u", "--text", "하나")
        #expect(a.terminate() == 0)
        func contents(_ suffix: String) -> Data? {
            FileManager.default.contents(atPath: a.store + "/log.db" + suffix)
        }
        let old = ["", "-wal"].map { ($0, contents($0)) }
        func ends() throws -> [(URL, Data)] {
            try ["/mark.json", "/log.end"].map { URL(fileURLWithPath: a.store + $0) }
                .map { ($0, try Data(contentsOf: $0)) }
        }
        let oldEnds = try ends()
        try a.start(environment: environment)
        for _ in 0..<3 { _ = try a.syncctl("append", "-u", "u", "--text", "둘") }
        #expect(a.terminate() == 0)
        for (suffix, data) in old {
            // In place: a rewound disk keeps its inodes.
            let path = a.store + "/log.db" + suffix
            guard let data else {
                try? FileManager.default.removeItem(atPath: path)
                continue
            }
            if contents(suffix) == nil { try Data().write(to: URL(fileURLWithPath: path)) }
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: data)
            try handle.close()
        }
        try? FileManager.default.removeItem(atPath: a.store + "/log.db-shm")
        // With mark and log.end set back, too, as of a whole disk, only the witness knows.
        let newEnds = try ends()
        for (file, data) in oldEnds { try data.write(to: file) }
        let stopped = try a.syncctl("doctor", "--json")
        #expect(stopped.code == 3)
        let cut = try #require(stopped.lines.first { $0["code"] as? String == "LOG_CUT" })
        #expect((cut["text"] as? String)?.contains("the witness in \(outside) knows") == true, "\(cut)")
        for (file, data) in newEnds { try data.write(to: file) }
        try a.start(environment: environment)
        let findings = try a.syncctl("doctor", "--json")
        #expect(findings.code == 3)
        #expect(findings.lines.contains { $0["code"] as? String == "LOG_CUT" })
        let finding = try #require(findings.lines.first { $0["code"] as? String == "AMNESIA" })
        #expect((finding["text"] as? String)?.contains("2 of at least 5 events") == true, "\(finding)")
        #expect((finding["text"] as? String)?.contains("3 of its own events are not back yet") == true)
        #expect(try a.syncctl("append", "-u", "u", "--text", "셋").code == 0)
        let verified = try a.syncctl("verify")
        // Until a peer has brought back what the mark knows.
        #expect(verified.code == 3 && verified.output.contains("the store's mark knows"), "\(verified.output)")
    }
}

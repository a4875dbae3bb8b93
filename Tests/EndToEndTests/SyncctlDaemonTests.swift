import EventStore
import Foundation
import TestSupport
import Testing

/// `syncctl` on a store whose daemon runs: the real one, and made-up ones that misbehave.
struct SyncctlDaemonTests {
    private let folder: TemporaryFolder
    private let tool: Tool

    init() throws {
        folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        self.tool = tool
    }

    @Test func theRealDaemonTakesAppendsAndPeers() async throws {
        let daemon = Process()
        daemon.executableURL = URL(fileURLWithPath: try Tool.named("syncd").path)
        daemon.arguments = ["--dev", "--data-dir", folder.file("store"), "--node-name", "dev"]
        daemon.standardError = FileHandle.nullDevice
        daemon.standardOutput = FileHandle.nullDevice
        async let ended: Void = Tool.finish(daemon)
        var status = try await tool.run(["status", "-q"])
        // Until it is there, and its views are.
        for _ in 0..<3_000
        where status.code != 0 || !status.text.hasPrefix("syncd ") || status.text.contains("being rebuilt") {
            try await Task.sleep(for: .milliseconds(20))
            status = try await tool.run(["status", "-q"])
        }
        #expect(status.text.contains(" on dev · ok\n"), "\(status.text) \(status.errors)")

        let lines = (0..<3_000).map { index in
            #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"줄 \#(index) \#(String(repeating: "x", count: 600))"}}"#
        }
        let input = Data((lines + ["bad"]).joined(separator: "\n").utf8)
        #expect(
            try await tool.run(["import", "-"], input: input).text
                == "3001 lines: 3000 appended, 0 already there, 1 rejected\n")
        #expect(
            try await tool.run(["import", "-"], input: input).text
                == "3001 lines: 0 appended, 3000 already there, 1 rejected\n")
        let expecting = ["append", "--user", "u", "--conversation", "c", "--text", "다음", "--expect", "3000"]
        #expect(try await tool.run(expecting).text.hasPrefix("appended position 3002 "))
        #expect(try await tool.run(expecting).code == 4)
        let last = try await tool.run(["history", "u", "--last", "1", "--json"]).events()
        #expect(last.first?.text == "다음")

        let node = String(repeating: "cd", count: 32)
        #expect(try await tool.run(["peers", "add", "away", node]).code == 0)
        #expect(try await tool.run(["status"]).code == 2, "a peer is away")
        #expect(try await tool.run(["peers", "list", "--json"]).objects().first?["node"] as? String == node)
        #expect(try await tool.run(["peers", "remove", "away"]).code == 0)
        #expect(try await tool.run(["peers", "remove", "away"]).code == 1)
        daemon.terminate()
        try await ended
        #expect(try await tool.run(["verify"]).code == 0)
    }

    @Test func aBusyDaemonIsAskedAgain() async throws {
        let fake = try await FakeDaemon(folder) { count, request in
            if count == 1 {
                return FakeDaemon.answer(
                    503, #"{"type":"error","v":1,"code":"E_BUSY","message":"busy"}"#, header: "Retry-After: 1")
            }
            #expect(request.hasPrefix("POST /v1/events?atomicity=each HTTP/1.1\r\n"))
            #expect(request.contains(#""data":{"text":"안녕"}"#))
            return FakeDaemon.answer(
                200,
                #"{"type":"appended","v":1,"line":1,"position":2,"id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f","origin":"o","sequence":2,"hlc":"h"}"#
            )
        }
        let run = try await tool.run(["append", "--user", "u", "--text", "안녕"])
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.text == "appended position 2 id 0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f\n")
        #expect(fake.requests == 2)
    }

    @Test(arguments: [
        (FakeDaemon.answer(200, "nonsense"), Int32(76), "[E_PROTOCOL]"),
        (FakeDaemon.answer(200, ""), 76, "[E_PROTOCOL]"),
        (FakeDaemon.answer(507, #"{"type":"error","v":1,"code":"E_DISK","message":"full"}"#), 73, "[E_DISK]"),
        (FakeDaemon.answer(500, #"{"type":"error","v":1,"code":"E_IO","message":"the disk"}"#), 74, "[E_IO]"),
        (FakeDaemon.answer(403, "<html>"), 77, "[E_HTTP_403]"),
        ("", 69, "[E_UNREACHABLE]"),
    ])
    func aBrokenDaemonIsReported(answer: String, code: Int32, name: String) async throws {
        let fake = try await FakeDaemon(folder) { _, _ in answer }
        let run = try await tool.run(["append", "--user", "u", "--text", "x"])
        #expect(run.code == code, "\(run.errors)")
        #expect(run.errors.contains(name), "\(run.errors)")
        #expect(fake.requests == 1)
    }

    @Test("What views answer comes from the daemon, page after page")
    func reads() async throws {
        let fake = try await FakeDaemon(folder) { count, request in
            let line = #"{"type":"survey","v":1,"survey":"s\#(count)","answers":\#(count)}"#
            let more = count == 1 ? #""more":true,"next":"a/b""# : #""more":false"#
            #expect(request.hasPrefix("GET /v1/surveys?limit=500\(count == 1 ? "" : "&cursor=a%2Fb") HTTP/1.1\r\n"))
            let end = #"{"type":"end","v":1,"count":1,"position":9,\#(more)}"#
            return FakeDaemon.answer(200, line + "\n" + end + "\n")
        }
        let run = try await tool.run(["survey", "--plain"])
        #expect(run.text == "SURVEY\tANSWERS\ns1\t1\ns2\t2\n", "\(run.errors)")
        #expect(fake.requests == 2)
    }

    @Test("Where few match a list looks at so many and says that it was cut; --all looks at all of them (INV-9)")
    func longList() async throws {
        let fake = try await FakeDaemon(folder) { _, request in
            let page = request.firstMatch(of: /cursor=([0-9]+)/).flatMap { Int($0.1) } ?? 1
            let more = page < 150 ? #""more":true,"cut":"rows","next":"\#(page + 1)""# : #""more":false"#
            return FakeDaemon.answer(200, #"{"type":"end","v":1,"count":0,"position":9,\#(more)}"# + "\n")
        }
        for (words, most) in [(["conversations"], 100_000), (["rooms", "u"], 200_000)] {
            var before = fake.requests
            let cut = try await tool.run(words + ["--match", "x", "--json"])
            #expect(cut.code == 2, "\(cut.errors)")
            #expect(try cut.objects().last?["cut"] as? String == "rows")
            #expect(cut.errors.contains("cut here: \(most) were looked at"))
            #expect(fake.requests - before == 100)
            before = fake.requests
            let all = try await tool.run(words + ["--match", "x", "--all", "--json"])
            #expect(all.code == 1 && fake.requests - before == 150)
            #expect(try all.objects().last?["cut"] == nil)
        }
    }

    @Test("A later page of a daemon that hangs is waited for as long as the first", .timeLimit(.minutes(5)))
    func hangingLater() async throws {
        let fake = try await FakeDaemon(folder) { count, _ in
            // Longer than a page is waited for.
            if count > 1 { sleep(15) }
            let line = #"{"type":"survey","v":1,"survey":"s\#(count)","answers":\#(count)}"#
            return FakeDaemon.answer(
                200, line + "\n" + #"{"type":"end","v":1,"count":1,"position":9,"more":true,"next":"a"}"# + "\n")
        }
        let start = ContinuousClock.now
        let run = try await tool.run(["survey", "--plain"])
        let took = ContinuousClock.now - start
        #expect(run.code == 75 && run.errors.contains("[E_TIMEOUT]"), "\(run.code) \(run.errors)")
        #expect(took < .seconds(14) && fake.requests == 2, "\(took)")
    }

    @Test("Where the daemon cannot answer a question now, the files do", arguments: [503, 404, 400, 0])
    func readsOfFiles(status: Int) async throws {
        let fake = try await FakeDaemon(folder) { _, _ in status == 0 ? "" : FakeDaemon.answer(status, "") }
        let run = try await tool.run(["history", "u", "--json"])
        #expect(run.code == 1, "\(run.errors)")
        #expect(run.text == #"{"type":"end","v":1,"count":0,"user":"u"}"# + "\n")
        #expect(run.errors.contains("there is no user u"))
        #expect(fake.requests == 1)
    }

    @Test("An answer without its last line is no answer")
    func cutReads() async throws {
        let line = #"{"type":"survey","v":1,"survey":"s","answers":1}"#
        let fake = try await FakeDaemon(folder) { _, _ in FakeDaemon.answer(200, line + "\n") }
        let run = try await tool.run(["survey"])
        #expect(run.code == 76 && run.errors.contains("[E_PROTOCOL]") && run.text.isEmpty, "\(run.errors)")
        #expect(fake.requests == 1)
    }

    @Test func aDaemonThatIsGoneLeavesTheStoreReadable() async throws {
        try EventStore.create(in: folder.file("store"), name: "n")
        let files = StoreFiles(folder.file("store"))
        let lock = try StoreLock(files, owner: "syncd pid 1 socket \(folder.file("nobody.sock"))")
        let append = try await tool.run(["append", "--user", "u", "--text", "x"])
        #expect(append.code == 69)
        #expect(append.errors.contains("[E_UNREACHABLE]"))
        let status = try await tool.run(["status"])
        #expect(status.code == 2)
        #expect(status.text.contains("DEGRADED"))
        #expect(try await tool.run(["tail", "--json"]).code == 0)
        withExtendedLifetime(lock) {}
    }

    @Test func aStoreInOtherHandsIsLocked() async throws {
        try EventStore.create(in: folder.file("store"), name: "n")
        let lock = try StoreLock(StoreFiles(folder.file("store")), owner: "somebody")
        let run = try await tool.run(["append", "--user", "u", "--text", "x"])
        #expect(run.code == 75)
        #expect(run.errors.contains("in use by somebody"))
        #expect(run.errors.contains("[E_LOCKED]"))
        // Reading goes on: without views they are built elsewhere.
        let history = try await tool.run(["tail"])
        #expect(history.code == 0)
        withExtendedLifetime(lock) {}
    }

    @Test func staleViewsSayWhatIsMissing() async throws {
        try EventStore.create(in: folder.file("store"), name: "n")
        _ = try await tool.run(["append", "--user", "u", "--text", "seen"])
        _ = try await tool.run(["history", "u"])
        let store = try EventStore(opening: folder.file("store"))
        let unseen = EventDraft(type: "message.posted", user: "u", payload: Array(#"{"text":"unseen"}"#.utf8))
        _ = try await store.append([unseen])
        store.close()
        // A daemon that holds the store and does not bring its views up to date.
        let lock = try StoreLock(StoreFiles(folder.file("store")), owner: "syncd pid 1 socket /nowhere")
        var cramped = tool
        cramped.environment["TMPDIR"] = "/nowhere"
        let history = try await cramped.run(["history", "u", "--json"])
        #expect(history.code == 2)
        #expect(try history.events().compactMap(\.text) == ["seen"])
        #expect(history.errors.contains("the newest 1 events are missing"))
        withExtendedLifetime(lock) {}
        _ = consume lock
        #expect(try await tool.run(["history", "u", "--json"]).objects().count == 3)
    }
}

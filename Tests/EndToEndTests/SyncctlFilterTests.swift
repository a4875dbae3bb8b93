import Foundation
import TestSupport
import Testing

/// The filters that reading commands share: the daemon, the files and the log without an index give the same answer.
struct SyncctlFilterTests {
    private static let events = """
        {"id":"0198e2c4-77aa-7c01-8b1e-000000000001","type":"conversation.started","time":"2026-08-01T02:00:00Z","subject":"conversation/c","user":"u","data":{"title":"두통"}}
        {"id":"0198e2c4-77aa-7c01-8b1e-000000000002","type":"message.posted","time":"2026-08-01T02:01:00Z","subject":"conversation/c","user":"u","data":{"text":"어제부터 아파요"}}
        {"id":"0198e2c4-77aa-7c01-8b1e-000000000003","type":"bot.replied","time":"2026-08-01T02:02:00Z","subject":"conversation/c","user":"u","author":"medibot","data":{"text":"언제부터요?"}}
        {"id":"0198e2c4-77aa-7c01-8b1e-000000000004","type":"message.posted","time":"2026-08-01T15:03:00Z","subject":"conversation/d","user":"u","data":{"text":"다음 날"}}
        {"id":"0198e2c4-77aa-7c01-8b1e-000000000005","type":"message.posted","time":"2026-08-01T02:04:00Z","subject":"conversation/c","user":"v","author":"guide","data":{"text":"late in the log"}}
        {"id":"0198e2c4-77aa-7c01-8b1e-000000000006","type":"message.edited","time":"2026-08-01T02:05:00Z","subject":"conversation/c","user":"u","cause":"0198e2c4-77aa-7c01-8b1e-000000000002","data":{"text":"그저께부터 아파요"}}

        """

    private static let filters: [[String]] = [
        [], ["--role", "user"], ["--role", "assistant"], ["--role", "all", "--last", "2"], ["--author", "medibot"],
        ["--author", "medibot", "--author", "guide"], ["--type", "message.posted", "--first", "1"],
        ["--since", "2026-08-01 11:01", "--until", "2026-08-01 11:04"], ["--since", "8월 2일"],
        ["--until", "2026. 8. 2."],
        ["--since", "seq:3", "--until", "seq:6"], ["--known-at", "4"], ["--known-at", "seq:6", "--role", "user"],
        ["--since", "2026-08-01", "--until", "2026-08-01"],
        ["--role", "user", "--author", "u", "--since", "@1785549660"],
    ]

    @Test("A filter means the same through the daemon and on the files")
    func daemonAndFiles() async throws {
        let node = try DaemonProcess("n")
        try node.start()
        defer { node.kill() }
        let imported = try Programs.syncctl(node.store, ["import", "-"], input: Self.events)
        #expect(imported.code == 0, "\(imported.errors)")
        func answers() throws -> [String] {
            var all: [String] = []
            // Every filter with every command; the forms in turn, because they do not depend on the filter.
            let forms = ["--json", "--plain", "--csv"]
            let commands = [["history", "u"], ["conversation", "c"], ["history", "u", "--conversation", "c"]]
            for (number, filter) in Self.filters.enumerated() {
                for (index, command) in commands.enumerated() {
                    let run = try Programs.syncctl(node.store, command + filter + [forms[(number + index) % 3]])
                    #expect(run.code <= 1, "\(command) \(filter): \(run.errors)")
                    all.append(run.output)
                }
            }
            return all
        }
        let told = try answers()
        node.kill()
        let read = try answers()
        #expect(told == read)
        #expect(Set(told).count > 20)
    }

    @Test("Every reader takes the filters, and an index finds what a scan finds")
    func readers() async throws {
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        #expect(try await tool.run(["init", "--name", "n"]).code == 0)
        #expect(try await tool.run(["import", "-"], input: Data(Self.events.utf8)).code == 0)
        func ids(_ words: [String]) async throws -> Set<String> {
            let objects = try await tool.run(words + ["--json"]).objects()
            return Set(objects.compactMap { (($0["event"] as? [String: Any]) ?? $0)["id"] as? String })
        }
        for filter in Self.filters where !filter.contains("--last") && !filter.contains("--first") {
            let scanned = try await ids(["replay", "--user", "u", "--scan"] + filter)
            #expect(try await ids(["replay", "--user", "u"] + filter) == scanned, "\(filter)")
            #expect(try await ids(["history", "u"] + filter) == scanned, "\(filter)")
            if filter.contains("--known-at") { continue }
            #expect(try await ids(["export", "--user", "u"] + filter) == scanned, "\(filter)")
            #expect(try await ids(["tail", "--user", "u", "-n", "100"] + filter) == scanned, "\(filter)")
            let all = try await ids(["replay", "--all"] + filter)
            #expect(try await ids(["export"] + filter) == all, "\(filter)")
            #expect(try await ids(["tail", "-n", "100"] + filter) == all, "\(filter)")
        }
        #expect(try await ids(["tail", "--since", "2026-08-01", "--author", "medibot"]).count == 1)
        #expect(try await ids(["tail", "--since", "2026-08-01", "--until", "2026-08-03"]).count == 6)
        let evidence = try await tool.run(["export", "--evidence", "--since", "1h"])
        #expect(evidence.code == 64 && evidence.errors.contains("--evidence does not go with --since"))
    }

    @Test("The range that was understood is told once: on standard error, and in JSON in the last line")
    func range() async throws {
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        #expect(try await tool.run(["init", "--name", "n"]).code == 0)
        #expect(try await tool.run(["import", "-"], input: Data(Self.events.utf8)).code == 0)
        let words = ["--since", "2026년 8월 1일", "--until", "2026-08-02 00:00"]
        for command in [["history", "u"], ["conversation", "c"], ["tail"], ["replay", "--all"], ["export"]] {
            for form in ["--human", "--plain"] where command != ["export"] {
                let run = try await tool.run(command + words + [form])
                #expect(run.errors == "syncctl: 2026-08-01 00:00 to 2026-08-02 00:00 (Asia/Seoul)\n", "\(command)")
            }
            #expect(try await tool.run(command + words + ["--quiet"]).errors == "")
            let run = try await tool.run(command + words + ["--json"])
            #expect(!run.errors.contains("to 2026-08-02"), "\(run.errors)")
            let range = try run.objects().last?["range"] as? [String: String]
            #expect(
                range == ["since": "2026-07-31T15:00:00.000Z", "until": "2026-08-01T15:00:00.000Z"], "\(command)")
            #expect(try await tool.run(command + ["--json"]).objects().last?["range"] == nil)
        }
        let asOf = try await tool.run(["replay", "--all", "--as-of", "2026-08-01 11:03", "--utc"])
        #expect(asOf.errors.hasSuffix("syncctl: as of 2026-08-01 11:03 (UTC)\n"))
        let reversed = try await tool.run(["history", "u", "--since", "2026-08-02", "--until", "2026-08-01"])
        #expect(
            reversed.code == 64
                && reversed.errors.contains("--since 2026-08-02 00:00 is after --until 2026-08-01 00:00"))
        for position in ["seq:8", "seq:x", "seq:", "seq:99999999999999999999", "seq:-1"] {
            #expect(try await tool.run(["history", "u", "--since", position]).code == 64, "\(position)")
            #expect(try await tool.run(["replay", "--all", "--known-at", position]).code == 64, "\(position)")
        }
        #expect(try await tool.run(["show", "seq:3"]).text == tool.run(["show", "3"]).text)
    }

    @Test("Shells are told names soon, and nothing else")
    func names() async throws {
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        func names(_ words: String...) async throws -> [String] {
            let run = try await tool.run(["--complete"] + words)
            #expect(run.code == 0 && run.errors == "")
            return run.lines
        }
        #expect(try await names("users", "") == [])
        #expect(try await tool.run(["init", "--name", "n"]).code == 0)
        #expect(try await tool.run(["import", "-"], input: Data(Self.events.utf8)).code == 0)
        #expect(try await names("users", "").sorted() == ["guide", "medibot", "u", "v"])
        #expect(try await names("users", "me") == ["medibot"])
        #expect(try await names("users", "", folder.file("nowhere")) == [])
        #expect(try await names("conversations", "").sorted() == ["c", "d"])
        #expect(try await names("types", "bot") == ["bot.replied"])
        #expect(try await names("subscriptions", "") == [])
        #expect(try await names("nonsense") == [])
        let node = String(repeating: "ab", count: 32)
        #expect(try await tool.run(["peers", "add", "busan-1", node]).code == 0)
        #expect(try await names("peers", "b") == ["busan-1"])
    }
}

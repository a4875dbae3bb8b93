import CommandLineKit
import EventStore
import Foundation
import Glibc
import SillokAPI
import TestSupport
import Testing

@testable import SyncEngine
@testable import syncd

/// What a server's operator has to do with: files of configuration, a new reading of them, systemd, figures.
@Suite struct OperatingTests {
    private static func settings(_ words: [String]) throws -> Settings {
        guard case .run(let arguments) = try Syncd.table.parse(words) else {
            throw CommandFailure(code: "E_USAGE", "\(words)", exitCode: .usage)
        }
        return try Settings(arguments)
    }

    @Test("conf.d is read by name behind the file, and a problem names its file")
    func folder() throws {
        let folder = try TemporaryFolder.made()
        try FileManager.default.createDirectory(atPath: folder.file("conf.d"), withIntermediateDirectories: true)
        let file = try folder.write(Data("{log: {level: 'debug'}, storage: {dir: '/a'}}".utf8), to: "syncd.json5")
        _ = try folder.write(Data("{storage: {dir: '/b', min_free: '1GiB'}}".utf8), to: "conf.d/20-b.conf")
        _ = try folder.write(Data("{storage: {dir: '/c'}}".utf8), to: "conf.d/10-c.conf")
        _ = try folder.write(Data("nonsense".utf8), to: "conf.d/.10-c.conf.swp.conf")
        _ = try folder.write(Data("nonsense".utf8), to: "conf.d/30-x.conf.dpkg-old")
        let settings = try Self.settings(["--config", file])
        #expect(settings.configuration.storage.dir == "/b")
        #expect(settings.configuration.log.level == .debug)
        #expect("\(settings.loaded.origin(of: "storage.dir"))" == folder.file("conf.d/20-b.conf:1:17"))
        #expect(try Self.settings(["--config", file, "--data-dir", "/f"]).configuration.storage.dir == "/f")
        _ = try folder.write(Data("{storage: {min_fre: '1GiB'}}".utf8), to: "conf.d/40-d.conf")
        let failure = #expect(throws: CommandFailure.self) { try Self.settings(["--config", file]) }
        #expect(failure?.exitCode == .configuration)
        #expect(
            failure?.what
                == folder.file("conf.d/40-d.conf:1:12: unknown key 'storage.min_fre'; did you mean 'min_free'?"))
    }

    @Test(
        "docs/operating/configuration.md has every key, with what is built in, its flag, and whether a running daemon takes it"
    )
    func page() throws {
        let page = try String(contentsOfFile: "docs/operating/configuration.md", encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let effective = LoadedConfiguration().effective()
        for (setting, value) in zip(ConfigurationSetting.all, effective) {
            let flag = setting.flag.map { "`\($0)`" } ?? ""
            let row = "| `\(setting.path)` | `\(value.value)` | \(flag) | \(setting.isReloadable ? "yes" : "") | "
            #expect(rows.contains { $0.hasPrefix(row) }, "no row begins with \(row)")
        }
        #expect(rows.count == ConfigurationSetting.all.count)
    }

    @Test("A reload takes all that has changed, or nothing of it")
    func reload() throws {
        let folder = try TemporaryFolder.made()
        func read(_ text: String) throws -> Settings {
            try Self.settings(["--config", try folder.write(Data(text.utf8), to: "c.json5")])
        }
        let present = try read("{log: {level: 'info'}}").configuration
        #expect(try Reload(from: present, to: read("{}")).changes.isEmpty)
        let taken = try Reload(from: present, to: read("{log: {level: 'debug'}, storage: {min_free: '3GiB'}}"))
        #expect(taken.changes.map(\.path) == ["storage.min_free", "log.level"])
        #expect(taken.changes[0].description.hasPrefix("storage.min_free: \"2GiB\" is \"3GiB\" now (/"))
        #expect(taken.configuration.storage.minFree == 3 << 30)
        let changed = try read("{log: {level: 'debug'}, api: {max_body: '1MiB'}}")
        let failure = #expect(throws: CommandFailure.self) { try Reload(from: present, to: changed) }
        #expect(failure?.what.contains("api.max_body") == true && failure?.what.contains("log.level") == false)
    }

    @Test("Variables of systemd that are meant for another process are passed over")
    func manager() {
        let mine = getpid()
        func manager(_ environment: [String: String]) -> ServiceManager { ServiceManager(environment: environment) }
        #expect(manager([:]).watchdog == nil && manager([:]).given.isEmpty)
        #expect(manager(["WATCHDOG_USEC": "3000000"]).watchdog == 3_000_000_000)
        #expect(manager(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "\(mine)"]).watchdog == 3_000_000_000)
        #expect(manager(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"]).watchdog == nil)
        #expect(manager(["WATCHDOG_USEC": "x"]).watchdog == nil && manager(["WATCHDOG_USEC": "0"]).watchdog == nil)
        #expect(manager(["WATCHDOG_USEC": "\(UInt64.max)"]).watchdog != nil)
        #expect(manager(["LISTEN_FDS": "1", "LISTEN_PID": "1"]).given.isEmpty)
        #expect(manager(["LISTEN_FDS": "1"]).given.isEmpty)
        #expect(manager(["LISTEN_FDS": "-1", "LISTEN_PID": "\(mine)"]).given.isEmpty)
    }

    @Test("The watchdog gets its sign twice within its time, and none once the loop or the writer stands still")
    func watchdog() {
        let second: UInt64 = 1_000_000_000
        var signs = SignsOfLife(every: 8 * second, now: 0)
        #expect(signs.pause == 1_000)
        var given: [UInt64] = []
        // Both get on until 20 s.
        for now in 1...40 {
            let now = UInt64(now) * second
            if signs.isDue(proven: min(now, 20 * second), now: now) { given.append(now / second) }
        }
        #expect(given == [3, 6, 9, 12, 15, 18, 21])
        // A time shorter than two looks is no time, but ends nothing.
        var short = SignsOfLife(every: 1_000, now: 0)
        let isDue = short.isDue(proven: 0, now: 0)
        #expect(isDue)
        var none = SignsOfLife(every: nil, now: 0)
        #expect(!none.isDue(proven: 0, now: 100 * second) && none.pause == 1_000)
    }

    @Test("A loop that does not answer and a writer that does not get on are named")
    func heart() {
        let second: UInt64 = 1_000_000_000
        let heart = Heartbeat(now: 0)
        heart.look(WriterPulse(isIdle: false, last: 7), now: 1 * second) { _ in }
        #expect(heart.silent(now: 9 * second).isEmpty)
        heart.look(WriterPulse(isIdle: false, last: 7), now: 9 * second) { _ in Issue.record("asked twice") }
        let silent = heart.silent(now: 12 * second)
        #expect(silent.count == 2 && silent[0].hasPrefix("api: ") && silent[1].hasPrefix("writer: "))
        heart.look(WriterPulse(isIdle: false, last: 8), now: 12 * second) { _ in }
        #expect(heart.silent(now: 13 * second).map { $0.prefix(4) } == ["api:"])
        heart.look(WriterPulse(isIdle: true, last: 8), now: 40 * second) { _ in }
        #expect(heart.silent(now: 41 * second).map { $0.prefix(4) } == ["api:"])
        #expect(heart.lastProven == 0)
    }

    @Test("Each state is told once, and its end with how long it took")
    func health() {
        var log = HealthLog()
        let second: UInt64 = 1_000_000_000
        #expect(log.look(.init(), now: 0).isEmpty)
        let full = HealthLog.State(refusals: ["disk: 1 MiB free"], problems: ["wal: long"])
        #expect(log.look(full, now: second).map { "\($0)" }.count == 2)
        let fuller = HealthLog.State(refusals: ["disk: 0 MiB free"], problems: ["wal: longer"])
        #expect(log.look(fuller, now: 5 * second).isEmpty)
        // Another reason is no other state.
        let both = HealthLog.State(refusals: ["disk: 0 MiB free", "store: full"], problems: ["wal: longer"])
        let other = HealthLog.State(refusals: ["store: full"], problems: ["wal: longer"])
        #expect(log.look(both, now: 6 * second).isEmpty && log.look(other, now: 7 * second).isEmpty)
        let ends = log.look(.init(), now: 91 * second)
        #expect(ends.map(\.text) == ["appends are taken again, after 90 s", "wal: over, after 90 s"])
        #expect(ends.map(\.code) == ["APPENDS_TAKEN", "PROBLEM_OVER"])
        #expect(ends.allSatisfy { $0.fields.contains(.duration(milliseconds: 90_000)) })
    }

    @Test("Metrics in both formats")
    func formats() {
        var times = DurationHistogram()
        for milliseconds: UInt64 in [0, 1, 2, 99, 20_000] { times.note(milliseconds * 1_000_000) }
        func text(_ form: MetricsText.Form) -> [Substring] {
            var text = MetricsText(form)
            text.gauge("a", "A.", [([("peer", "x\"\\\n")], 1.5)])
            text.gauge("none", "None.", [])
            text.counter("b", "B.", 3)
            text.histogram("c_seconds", "C.", [([("route", "/v1")], times)])
            text.end()
            return String(decoding: text.bytes, as: UTF8.self).split(separator: "\n")
        }
        let plain = text(.plain)
        #expect(plain.contains(#"a{peer="x\"\\\n"} 1.5"#))
        #expect(plain.contains("# TYPE b_total counter") && plain.contains("b_total 3"))
        #expect(plain.contains(#"c_seconds_bucket{route="/v1",le="0.001"} 2"#))
        #expect(plain.contains(#"c_seconds_bucket{route="/v1",le="10"} 4"#))
        #expect(plain.contains(#"c_seconds_bucket{route="/v1",le="+Inf"} 5"#))
        #expect(
            plain.contains(#"c_seconds_count{route="/v1"} 5"#)
                && plain.contains(#"c_seconds_sum{route="/v1"} 20.102"#))
        #expect(!plain.contains { $0.contains("none") })
        let open = text(.open)
        #expect(open.contains("# TYPE b counter") && open.contains("b_total 3") && open.last == "# EOF")
        #expect(open.contains(#"c_seconds_bucket{route="/v1",le="10.0"} 4"#))
        let prometheus =
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75"
        #expect(MetricsText.Form(accept: prometheus) == .open)
        #expect(MetricsText.Form(accept: nil) == .plain && MetricsText.Form(accept: "text/plain, */*") == .plain)
    }

    @Test("Callers cannot make up labels")
    func labels() {
        func name(_ path: String) -> String {
            let segments = path.split(separator: "/").map(String.init)
            let request = HTTPRequest(
                method: "GET", path: path, segments: segments, query: [], headers: [], body: [], peer: nil)
            return RouteName.of(request)
        }
        #expect(name("/v1/events") == "/v1/events" && name("/v1/status") == "/v1/status")
        #expect(name("/v1/conversations/c-1/rows") == "/v1/conversations/{}/rows")
        #expect(name("/v1/users/kim@example.org") == "/v1/users/{}")
        #expect(name("/v1/kim@example.org") == "other" && name("/x") == "other" && name("/v1") == "other")
        #expect(name("/v1/later/x/parts") == "other")
        let meters = Meters()
        for number in 0..<500 {
            let request = HTTPRequest(
                method: "GET", path: "/v1/x",
                segments: ["v1", String(repeating: "x", count: number % 24 + 1), "\(number)"],
                query: [], headers: [], body: [], peer: nil)
            meters.note(request, HTTPAnswered(status: 200, body: [], nanoseconds: 5))
        }
        #expect(meters.figures.times.count <= 65)
    }

    @Test("An append that failed is counted by its code")
    func failures() {
        let meters = Meters()
        let request = HTTPRequest(
            method: "POST", path: "/v1/events", segments: ["v1", "events"], query: [], headers: [], body: [],
            peer: nil)
        func answer(_ status: Int, _ body: String) {
            meters.note(request, HTTPAnswered(status: status, body: Array(body.utf8), nanoseconds: 2_000_000))
        }
        answer(200, #"{"type":"appended"}"#)
        answer(507, #"{"type":"error","v":1,"code":"E_DISK","message":"x"}"#)
        answer(207, #"{"type":"appended"}"# + "\n" + #"{"type":"rejected","code":"E_TYPE"}"#)
        answer(503, "nonsense")
        answer(400, #"{"code":"patient said: <b>"}"#)
        #expect(meters.figures.failures == ["E_DISK": 1, "E_TYPE": 1, "HTTP_503": 1, "HTTP_400": 1])
        #expect(meters.figures.appends.counts[1] == 1 && meters.figures.appends.sum == 2_000_000)
    }
}

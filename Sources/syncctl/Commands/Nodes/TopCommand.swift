internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

enum TopCommand {
    static let entry = Subcommand(
        Command(
            "top", "What a node does now, renewed each second", group: "Nodes",
            options: [
                .value("interval", "SECONDS", "So long between two looks (default: 1)."),
                .value("looks", "N", "End after so many looks."),
            ],
            examples: [
                .init("syncctl top", "until q or Ctrl-C"),
                .init("syncctl top --url https://busan:7461 --json", "an object each second"),
                .init("syncctl top --looks 1 --plain", "one look, for a script"),
            ],
            discussion: """
                It asks for the figures of GET /metrics, which cost the node some milliseconds, and shows how they have changed. \
                Times are of the last ten looks. A node that does not answer is asked again.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let client = try DaemonClient.required(by: session, to: "tell what it does")
        let interval = try usage { try session.arguments.integer("interval", in: 1...3_600) } ?? 1
        let count = try usage { try session.arguments.integer("looks", in: 1...1_000_000_000) } ?? .max
        var readings = [try MetricsReading(client)]
        let isScreen =
            session.form == .human && session.terminal.isTerminal(.output) && !session.terminal.isAccessible
        let screen = isScreen ? Screen() : nil
        defer { screen?.close() }
        var shown = 0
        while shown < count {
            // The first look comes soon.
            if Pause.wait(milliseconds: shown == 0 && isScreen ? 300 : interval * 1_000, screen) == .quit { break }
            var problem: String?
            do throws(CommandFailure) {
                readings.append(try MetricsReading(client))
            } catch {
                if [.usage, .notPermitted].contains(error.exitCode) { throw error }
                problem = error.what
            }
            readings = readings.suffix(11)
            shown += 1
            guard problem == nil, let frame = Frame(readings) else {
                if let problem, let screen { screen.draw([session.text(.noAnswer, problem)]) }
                if let problem, screen == nil { session.say(.noAnswer, problem) }
                continue
            }
            if session.isJSON {
                try session.output.line(frame.json(at: WallClock.now))
                try session.output.flush()
            } else if let screen {
                let terminal = Terminal.current()
                screen.draw(frame.lines(session, client.owner, width: terminal.width))
            } else {
                if shown > 1 { try session.output.line() }
                for line in frame.lines(session, client.owner, width: session.width) { try session.output.line(line) }
                try session.output.flush()
            }
        }
        screen?.close()
        try session.end(count: shown)
        return .success
    }
}

/// What has happened between two looks.
private struct Frame {
    private let rates: [(name: String, wording: Wording, value: Double, isSize: Bool)]
    /// Seconds: of half, and of 99 of 100.
    private let times: [(name: String, wording: Wording, half: Double?, most: Double?)]
    private let states: [(name: String, wording: Wording, value: Double, isSize: Bool)]
    private let routes: [(String, Double)]
    private let peers: [NodeRow]
    private let subscriptions: [NodeRow]
    private static let mostRoutes = 8

    init?(_ readings: [MetricsReading]) {
        guard let now = readings.last, let before = readings.dropLast().last, let first = readings.first else {
            return nil
        }
        let sources = now.rates("syncd_events_appended_total", by: "source", since: before)
        func of(_ source: String) -> Double { sources.first { $0.0 == source }?.1 ?? 0 }
        rates = [
            ("events_per_s", .eventsPerSecond, of("local") + of("peer"), false),
            ("peer_events_per_s", .peerEventsPerSecond, of("peer"), false),
            ("append_bytes_per_s", .bytesPerSecond, now.rate("syncd_append_bytes_total", since: before), true),
            ("requests_per_s", .requestsPerSecond, now.rate("syncd_http_requests_total", since: before), false),
            ("deliveries_per_s", .deliveriesPerSecond, now.rate("syncd_deliveries_total", since: before), false),
        ]
        func time(_ name: String, _ wording: Wording, _ metric: String) -> (String, Wording, Double?, Double?) {
            (
                name, wording, now.quantile(0.5, of: metric, since: first),
                now.quantile(0.99, of: metric, since: first)
            )
        }
        times = [
            time("append", .appendTime, "syncd_append_duration_seconds"),
            time("fsync", .syncTime, "syncd_fsync_duration_seconds"),
            time("follower", .followerTime, "syncd_commit_to_follower_duration_seconds"),
        ]
        states = [
            ("events", .events, now.value("syncd_log_position") ?? 0, false),
            ("views_behind", .viewsLag, now.value("syncd_views_behind_events") ?? 0, false),
            ("connections", .connections, now.value("syncd_api_connections") ?? 0, false),
            ("followers", .followers, now.sum("syncd_followers"), false),
            ("followers_slow", .slowFollowers, now.value("syncd_followers_slow") ?? 0, false),
            ("memory_bytes", .memory, now.value("process_resident_memory_bytes") ?? 0, true),
        ]
        routes = now.rates("syncd_http_requests_total", by: "route", since: before).filter { $0.1 > 0 }
        peers = NodeRow.peers(now).sorted { ($1["lacks"], $0.name) < ($0["lacks"], $1.name) }
        subscriptions = NodeRow.subscriptions(now).sorted { ($1["behind"], $0.name) < ($0["behind"], $1.name) }
    }

    func json(at time: Int64) -> JSONLine {
        var line = JSONLine(type: "top")
        line.add("time", Timestamp.text(time))
        for (name, _, value, _) in rates + states { line.add(number: value, as: name) }
        for (name, _, half, most) in times {
            for (share, value) in [("half", half), ("99", most)] {
                if let value { line.add(number: value, as: "\(name)_\(share)_s") }
            }
        }
        line.addObject("routes_per_s") { line in
            for (route, rate) in routes { line.add(number: rate, as: route) }
        }
        for (kind, rows) in [("peers", peers), ("subscriptions", subscriptions)] {
            line.addArray(kind) { array in
                for row in rows { array.addObject { row.write(to: &$0) } }
            }
        }
        return line
    }

    func lines(_ session: Session, _ owner: String, width: Int?) -> [String] {
        func value(_ value: Double, _ isSize: Bool, isRate: Bool) -> String {
            isSize ? Figures.size(value) : isRate ? Figures.rate(value) : Figures.grouped(value)
        }
        func time(_ seconds: Double?) -> String {
            guard let seconds else { return "-" }
            guard seconds.isFinite else { return "> 10 s" }
            return seconds < 1 ? "≤ \(Figures.rate(seconds * 1_000)) ms" : "≤ \(Figures.rate(seconds)) s"
        }
        var cells = rates.map { (session.shown($0.wording), value($0.value, $0.isSize, isRate: true)) }
        cells += times.map { (session.shown($0.wording), "\(time($0.half)) · \(time($0.most))") }
        let right = states.map { (session.shown($0.wording), value($0.value, $0.isSize, isRate: false)) }
        var table = TextTable([.left(""), .right(""), .left(""), .right("")])
        for index in 0..<max(cells.count, right.count) {
            let left = index < cells.count ? cells[index] : ("", "")
            let other = index < right.count ? right[index] : ("", "")
            table.add([.init(left.0), .init(left.1), .init("   " + other.0), .init(other.1)])
        }
        let color = session.usesColor
        var lines = [Sanitizer.line("\(owner) · \(session.clock(WallClock.now))")]
        lines += table.aligned(width: width, color: color).dropFirst()
        for table in [NodeRow.table(ofPeers: peers, session), NodeRow.table(ofSubscriptions: subscriptions, session)]
        where !table.isEmpty {
            lines += [""] + table.aligned(width: width, color: color)
        }
        var shown = TextTable([.left(session.heading(.route)), .right(session.heading(.requestsPerSecond))])
        for (route, rate) in routes.prefix(Self.mostRoutes) { shown.add([.init(route), .init(Figures.rate(rate))]) }
        if !shown.isEmpty { lines += [""] + shown.aligned(width: width, color: color) }
        return lines
    }
}

/// Waits, and hears whether the user wants to leave.
private enum Pause {
    enum End {
        case over, quit
    }

    static func wait(milliseconds: Int, _ screen: Screen?) -> End {
        let end = MonotonicClock.now + UInt64(milliseconds) * 1_000_000
        while true {
            let now = MonotonicClock.now
            guard now < end else { return .over }
            let left = Int32(clamping: (end - now) / 1_000_000 + 1)
            guard let screen else {
                sleep(milliseconds: Int(left))
                continue
            }
            if screen.isQuitWanted(within: left) { return .quit }
        }
    }
}

/// The whole terminal: another page than the one with the user's commands, which comes back at the end however that comes.
private final class Screen {
    private var before = termios()
    private let hasKeys: Bool
    private var isOpen = true

    init() {
        hasKeys = tcgetattr(0, &before) == 0
        if hasKeys {
            var raw = before
            raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
            tcsetattr(0, TCSANOW, &raw)
        }
        Self.write("\u{1b}[?1049h\u{1b}[?25l")
        Interrupt.watchEnd()
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        Self.write("\u{1b}[?25h\u{1b}[?1049l")
        if hasKeys { tcsetattr(0, TCSANOW, &before) }
    }

    /// Shows the lines that find room.
    func draw(_ lines: [String]) {
        let rows = Terminal.current().rows ?? 24
        let room = lines.prefix(max(1, rows - 1))
        Self.write("\u{1b}[H" + room.map { $0 + "\u{1b}[K\r\n" }.joined() + "\u{1b}[J")
    }

    /// Whether `q`, Ctrl-C or Ctrl-D comes in time, or a signal to end.
    func isQuitWanted(within milliseconds: Int32) -> Bool {
        var descriptor = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        let found = poll(&descriptor, hasKeys ? 1 : 0, milliseconds)
        if Interrupt.isRequested { return true }
        guard found > 0 else { return false }
        var key: UInt8 = 0
        guard read(0, &key, 1) == 1 else { return true }
        return [UInt8(ascii: "q"), UInt8(ascii: "Q"), 3, 4].contains(key)
    }

    private static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

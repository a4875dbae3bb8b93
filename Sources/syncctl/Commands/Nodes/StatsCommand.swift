internal import CommandLineKit
internal import EventStore
internal import Glibc

enum StatsCommand {
    static let entry = Subcommand(
        Command(
            "stats", "What a node holds and how it does, in numbers", group: "Nodes", options: [OutputForm.csvOption],
            examples: [
                .init("syncctl stats", "counts, files, peers and subscriptions"),
                .init("syncctl stats --url https://busan:7461 --json", "those of another node, as one object"),
                .init("syncctl stats --csv >> sizes.csv", "a line for each figure"),
            ],
            discussion: """
                A running node tells its own figures, the same as GET /metrics. Where none runs they are those of the files, \
                without peers and subscriptions. Neither reads the log. 'syncctl top' shows what happens now.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let statistics =
            switch try NodeOrFiles(session) {
            case .daemon(let client): try Statistics(client)
            case .files(let files): try Statistics(files)
            }
        try statistics.show(session)
        return .success
    }
}

/// What a node, or a store, has in numbers.
struct Statistics {
    /// A number with its name for programs and its name for people.
    private struct Figure {
        let name: String
        let wording: Wording
        let value: UInt64
        var isSize = false
    }

    private let title: String
    private let isRunning: Bool
    private var figures: [Figure] = []
    private var files: [(name: String, bytes: UInt64)] = []
    private var peers: [NodeRow] = []
    private var subscriptions: [NodeRow] = []

    /// The views whose rows people count, by their names.
    private static let views: [(view: String, name: String, wording: Wording)] = [
        ("conversations", "conversations", .conversations), ("participants", "participants", .participants),
        ("profiles", "profile_fields", .profileFields), ("surveys", "survey_answers", .answers),
        ("messages", "amendments", .amendments),
    ]

    init(_ client: DaemonClient) throws(CommandFailure) {
        let reading = try MetricsReading(client)
        isRunning = true
        title = "\(client.owner) · \(reading.all("syncd_build_info").first?.label("version") ?? "")"
        func add(_ name: String, _ wording: Wording, _ metric: String, isSize: Bool = false) {
            guard let value = reading.count(metric) else { return }
            figures.append(Figure(name: name, wording: wording, value: value, isSize: isSize))
        }
        add("events", .events, "syncd_log_position")
        add("origins", .origins, "syncd_log_origins")
        add("users", .users, "syncd_users")
        for (view, name, wording) in Self.views {
            guard let rows = reading.value("syncd_view_rows", "view", view) else { continue }
            figures.append(Figure(name: name, wording: wording, value: UInt64(rows)))
        }
        add("quarantined", .quarantined, "syncd_quarantined_events")
        add("views_behind", .viewsLag, "syncd_views_behind_events")
        add("events_last_minute", .lastMinute, "syncd_events_last_minute")
        add("connections", .connections, "syncd_api_connections")
        let followers = UInt64(reading.sum("syncd_followers"))
        figures.append(Figure(name: "followers", wording: .followers, value: followers))
        add("followers_slow", .slowFollowers, "syncd_followers_slow")
        add("memory_bytes", .memory, "process_resident_memory_bytes", isSize: true)
        add("free_bytes", .freeSpace, "syncd_store_free_bytes", isSize: true)
        files = reading.all("syncd_file_bytes").map { ($0.label("file"), UInt64($0.value)) }
        peers = NodeRow.peers(reading)
        subscriptions = NodeRow.subscriptions(reading)
    }

    init(_ store: StoreFiles) throws(CommandFailure) {
        isRunning = false
        let reader = try stored { try LogReader(store) }
        let identity = try stored { try StoreIdentity(reader) }
        title = "\(identity.name) · \(store.folder)"
        let top = try stored { try reader.top() }
        figures.append(Figure(name: "events", wording: .events, value: top))
        let origins = try stored { try reader.origins() }.count
        figures.append(Figure(name: "origins", wording: .origins, value: UInt64(origins)))
        // Views that are not there are not built for this.
        if let views = try? ViewReader(store), let digests = try? views.digests() {
            if let users = try? views.userCount() {
                figures.append(Figure(name: "users", wording: .users, value: users))
            }
            for (view, name, wording) in Self.views {
                guard var rows = digests.first(where: { $0.view == view })?.rows else { continue }
                if view == "conversations" { rows = (try? views.conversationCount()) ?? rows }
                figures.append(Figure(name: name, wording: wording, value: rows))
            }
            if let quarantined = try? views.quarantined() {
                figures.append(Figure(name: "quarantined", wording: .quarantined, value: quarantined))
            }
            if let progress = try? views.progress() {
                figures.append(Figure(name: "views_behind", wording: .viewsLag, value: top - min(top, progress)))
            }
        }
        files = ["log.db", "log.db-wal", "views.db", "views.db-wal"].compactMap { name in
            var status = stat()
            return stat(store.folder + "/" + name, &status) == 0 ? (name, UInt64(status.st_size)) : nil
        }
    }

    // MARK: Answers

    func show(_ session: Session) throws(CommandFailure) {
        switch session.form {
        case .json: try json(session)
        case .csv:
            try session.output.write(CSVLine.record([.text("figure"), .text("value")]))
            for (name, value) in flat { try session.output.write(CSVLine.record([.text(name), .number(value)])) }
        case .plain:
            try session.output.line("FIGURE\tVALUE")
            for (name, value) in flat { try session.output.line("\(Sanitizer.plain(name))\t\(value)") }
        case .human: try text(session)
        }
    }

    /// Every number with a name of its own: `peer.busan.lacks`.
    private var flat: [(String, String)] {
        var all = figures.map { ($0.name, String($0.value)) }
        all += files.map { ("file.\($0.name)", String($0.bytes)) }
        for (kind, rows) in [("peer", peers), ("subscription", subscriptions)] {
            for row in rows {
                all += row.values.map { ("\(kind).\(row.name).\($0.name)", Figures.number($0.value)) }
            }
        }
        return all
    }

    private func json(_ session: Session) throws(CommandFailure) {
        var line = JSONLine(type: "stats")
        line.add("running", isRunning)
        for figure in figures { line.add(figure.name, figure.value) }
        line.addObject("files") { line in
            for file in files { line.add(file.name, file.bytes) }
        }
        for (kind, rows) in [("peers", peers), ("subscriptions", subscriptions)] where isRunning {
            line.addArray(kind) { array in
                for row in rows { array.addObject { row.write(to: &$0) } }
            }
        }
        try session.output.line(line)
        try session.end(count: 1)
    }

    private func text(_ session: Session) throws(CommandFailure) {
        try session.output.line(Sanitizer.line(title))
        var table = TextTable([.left(""), .right("")])
        for figure in figures {
            let value = figure.isSize ? Figures.size(Double(figure.value)) : Figures.grouped(figure.value)
            table.add([.init("  " + session.shown(figure.wording)), .init(value)])
        }
        for file in files { table.add([.init("  \(file.name)"), .init(Figures.size(Double(file.bytes)))]) }
        for row in table.aligned(width: session.width, color: session.usesColor).dropFirst() {
            try session.output.line(row)
        }
        for table in [NodeRow.table(ofPeers: peers, session), NodeRow.table(ofSubscriptions: subscriptions, session)]
        where !table.isEmpty {
            try session.output.line()
            try session.print(table)
        }
    }
}

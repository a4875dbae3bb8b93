internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

/// What hands events to bots (docs/operating/following.md): making, looking, setting right. All of it is done by the running daemon.
enum SubscriptionsCommand {
    private static let name = Command.Argument("name", "What it is called.", names: "subscriptions")

    private static let filters: [Command.Option] = [
        .value(
            "type", "TYPE", "Only this type; message.* is all that begin so.", repeatable: true, names: "types"),
        .value("user", short: "u", "USER", "Only this user's history.", repeatable: true, names: "users"),
        .value("author", "USER", "Only what this user or bot has written.", repeatable: true, names: "users"),
        .value("conversation", "ID", "Only this conversation.", repeatable: true, names: "conversations"),
    ]

    static let list = Subcommand(
        Command(
            "subscriptions", "Who hands events to bots, and how far the work is", group: "Bots",
            examples: [.init("syncctl subscriptions", "each with what is open, out and behind")],
            discussion: """
                OPEN: events that are wanted, were looked at and are not done; OUT: those that workers have now. BEHIND: events of the log \
                that were not looked at, because no worker has asked. The home of a subscription knows these; other nodes \
                show a dash.
                """), run: runList)

    static let create = Subcommand(
        Command(
            "subscriptions create", "Makes a subscription", group: "Bots", arguments: [name],
            options: [.value("start", "WHERE", "now (default), first, a time, or a vector.")] + filters + [
                .value("late-ms", "N", "Pass over what happened so long before it was recorded."),
                .value("ack-wait-ms", "N", "How long a delivery may take (default: 30000)."),
                .value("attempts", "N", "After so many an event is parked (default: 5)."),
                .value("home", "WHERE", "single (default): one node delivers; local: each node its own events."),
            ],
            examples: [
                .init("syncctl subscriptions create medibot --type message.posted", "from now on"),
                .init("syncctl subscriptions create copy --start first", "everything"),
            ]), run: runCreate)

    static let change = Subcommand(
        Command(
            "subscriptions change", "Changes a subscription's filters and limits", group: "Bots", arguments: [name],
            options: filters + [
                .value("ack-wait-ms", "N", "How long a delivery may take."),
                .value("attempts", "N", "After so many an event is parked."),
            ],
            examples: [
                .init(
                    "syncctl subscriptions change medibot --type 'message.*'",
                    "what is not stored here yet is handed out by it")
            ],
            discussion: """
                What is not given stays. Filters replace all filters there are. What is stored here now is handed out by \
                the old ones.
                """), run: runChange)

    static let seek = Subcommand(
        Command(
            "subscriptions seek", "Begins anew from another place", group: "Bots",
            arguments: [name, .init("start", "now, first, a time, or a vector.")],
            examples: [
                .init("syncctl subscriptions seek copy first --reason 'the copy was lost'", "everything again")
            ],
            discussion: """
                What was done is handed out again if it lies behind the place. What is parked stays so. --reason is stored with it.
                """),
        run: { (session) throws(CommandFailure) in
            try confirm("sought", .subscriptionSought, session) { name throws(CommandFailure) in
                var body = JSONLine()
                body.add("start", try start(session.arguments.positional("start") ?? "", "start", session))
                if let reason = session.arguments.value("reason") { body.add("reason", reason) }
                let request = ClientRequest(
                    method: "POST", target: path(name, "seek"), body: body.utf8, contentType: "application/json")
                _ = try ask(session, request)
            }
        })

    static let delete = Subcommand(
        Command(
            "subscriptions delete", "Ends a subscription", group: "Bots", arguments: [name],
            examples: [.init("syncctl subscriptions delete medibot", "its events stay")]),
        run: { (session) throws(CommandFailure) in
            try confirm("deleted", .subscriptionDeleted, session) { name throws(CommandFailure) in
                _ = try ask(session, ClientRequest(method: "DELETE", target: path(name)))
            }
        })

    static let move = Subcommand(
        Command(
            "subscriptions move", "Makes this node the home of a subscription", group: "Bots", arguments: [name],
            examples: [.init("syncctl subscriptions move medibot", "when its home is gone, or to be stopped")]),
        run: { (session) throws(CommandFailure) in
            try confirm("moved", .subscriptionMoved, session) { name throws(CommandFailure) in
                _ = try ask(session, ClientRequest(method: "POST", target: path(name, "move"), body: []))
            }
        })

    static let parked = Subcommand(
        Command(
            "subscriptions parked", "Events that were set aside, and why", group: "Bots", arguments: [name],
            examples: [.init("syncctl subscriptions parked medibot", "with the error that its worker told last")]),
        run: runParked)

    static let retry = Subcommand(
        Command(
            "subscriptions retry", "Hands out parked events once more", group: "Bots",
            arguments: [name, .init("events", "Their ids.", count: .repeating(atLeast: 1))],
            examples: [
                .init(
                    "syncctl subscriptions retry medibot 0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f",
                    "when its cause is mended")
            ]), run: runRetry)

    // MARK: Running

    private static func runList(_ session: Session) throws(CommandFailure) -> ExitCode {
        let lines = try list(session, path())
        var table = TextTable([
            .left(session.heading(.name)), .left(session.heading(.home)), .right(session.heading(.open)),
            .right(session.heading(.out)), .right(session.heading(.behind)), .left(session.heading(.wants)),
        ])
        for line in lines {
            if session.isJSON { try session.output.line(copy(line)) }
            let wants = line.object("definition")?.object("filter")?.strings("type") ?? []
            var cells = [line.string("name") ?? "", String(line.string("home")?.prefix(8) ?? "")]
            for name in ["open", "in_flight", "behind"] { cells.append(line.integer(name).map(String.init) ?? "-") }
            cells.append(wants.isEmpty ? session.shown(.isOfAll) : wants.joined(separator: " "))
            table.add(cells.map { .init(Sanitizer.line($0)) })
        }
        if lines.isEmpty { session.say(.noSubscriptions) }
        if !session.isJSON, !lines.isEmpty { try session.print(table) }
        try session.end(count: lines.count)
        return .success
    }

    private static func runCreate(_ session: Session) throws(CommandFailure) -> ExitCode {
        let name = session.arguments.positional("name") ?? ""
        var body = JSONLine()
        body.add("start", try start(session.arguments.value("start") ?? "now", "--start", session))
        try add(
            [("late-ms", "late_ms"), ("ack-wait-ms", "ack_wait_ms"), ("attempts", "attempts")], session, to: &body)
        if let home = session.arguments.value("home") { body.add("home", home) }
        let request = ClientRequest(
            method: "PUT", target: path(name), body: body.utf8, contentType: "application/json")
        let answer = try ask(session, request)
        return try show(answer, answer.status == 201 ? .subscriptionMade : .subscriptionThere, name, session)
    }

    private static func runChange(_ session: Session) throws(CommandFailure) -> ExitCode {
        let name = session.arguments.positional("name") ?? ""
        var body = JSONLine()
        try add([("ack-wait-ms", "ack_wait_ms"), ("attempts", "attempts")], session, to: &body)
        let request = ClientRequest(
            method: "PATCH", target: path(name), body: body.utf8, contentType: "application/json")
        return try show(try ask(session, request), .subscriptionChanged, name, session)
    }

    /// A place as the daemon reads it: times may be said as in all commands.
    private static func start(_ text: String, _ name: String, _ session: Session) throws(CommandFailure) -> String {
        guard !["now", "first"].contains(text), VersionVector(text: text) == nil else { return text }
        return Timestamp.text(try session.time(named: name, text, more: ", now, first, <origin>/<seq>"))
    }

    /// The members of a definition that the options name.
    private static func add(
        _ numbers: [(option: String, member: String)], _ session: Session, to body: inout JSONLine
    ) throws(CommandFailure) {
        var filter = JSONLine()
        var isFiltered = false
        for member in ["type", "user", "author", "conversation"] {
            let values = session.arguments.values(member)
            guard !values.isEmpty else { continue }
            isFiltered = true
            filter.add(member, values)
        }
        if isFiltered { body.addRaw("filter", filter.utf8[...]) }
        for (option, member) in numbers {
            let number = try usage { try session.arguments.integer(option, in: 0...Int.max) }
            if let number { body.add(member, number) }
        }
    }

    private static func show(
        _ answer: ClientRequest.Answer, _ told: Wording, _ name: String, _ session: Session
    ) throws(CommandFailure) -> ExitCode {
        try session.line(Sanitizer.line(session.shown(told, name)), "subscription") { line in
            for member in JSONObject(validated: answer.body) where !["type", "v"].contains(member.name) {
                line.addRaw(member.name, member.value.raw)
            }
        }
        try session.end(count: 1)
        return .success
    }

    private static func runParked(_ session: Session) throws(CommandFailure) -> ExitCode {
        let lines = try list(session, path(session.arguments.positional("name") ?? "", "parked"))
        var table = TextTable([
            .left(session.heading(.event)), .right(session.heading(.attempts)), .left(session.headingOfTimes(.at)),
            .left(session.heading(.reason)), .left(session.heading(.error)),
        ])
        for line in lines {
            if session.isJSON { try session.output.line(copy(line)) }
            let attempts = line.integer("attempts").map(String.init) ?? ""
            let cells = [
                line.string("event") ?? "", attempts, session.clock(line.moment("at")), line.string("reason") ?? "",
                line.string("error") ?? "",
            ]
            table.add(cells.map { .init(Sanitizer.line($0)) })
        }
        if lines.isEmpty { session.say(.nothingParked) }
        if !session.isJSON, !lines.isEmpty { try session.print(table) }
        try session.end(count: lines.count)
        return .success
    }

    private static func runRetry(_ session: Session) throws(CommandFailure) -> ExitCode {
        try confirm("retried", .subscriptionRetried, session) { name throws(CommandFailure) in
            var body = JSONLine()
            body.add("events", session.arguments.positionals("events"))
            let request = ClientRequest(
                method: "POST", target: path(name, "retry"), body: body.utf8, contentType: "application/json")
            _ = try ask(session, request)
        }
    }

    // MARK: The daemon

    private static func path(_ parts: String...) -> String {
        parts.reduce(Route.subscriptions.path) { $0 + "/" + percentEncoded($1) }
    }

    private static func ask(
        _ session: Session, _ request: ClientRequest
    ) throws(CommandFailure) -> ClientRequest.Answer {
        let daemon = try DaemonClient.required(by: session, to: "hand out events")
        return try hinted(session) { () throws(CommandFailure) in try daemon.ask(request) }
    }

    /// What is done about a subscription or a parked event that is not there, in words of this program.
    private static func hinted<Answer>(
        _ session: Session, _ body: () throws(CommandFailure) -> Answer
    ) throws(CommandFailure) -> Answer {
        do throws(CommandFailure) { return try body() } catch {
            var failure = error
            switch ErrorCode(rawValue: error.code) {
            case .notFound where session.arguments.positional("name") != nil:
                failure.hint = "syncctl subscriptions has their names; syncctl subscriptions create NAME makes one"
            case .notParked:
                failure.hint = "syncctl subscriptions parked NAME has those that are parked"
            default: break
            }
            throw failure
        }
    }

    private static func list(_ session: Session, _ target: String) throws(CommandFailure) -> [JSONObject] {
        let daemon = try DaemonClient.required(by: session, to: "hand out events")
        return try hinted(session) { () throws(CommandFailure) in try daemon.lines(target) }
    }

    private static func copy(_ object: JSONObject) -> JSONLine {
        var line = JSONLine(type: object.string("type") ?? "")
        for member in object where !["type", "v"].contains(member.name) {
            line.addRaw(member.name, member.value.raw)
        }
        return line
    }

    private static func confirm(
        _ type: String, _ told: Wording, _ session: Session, _ body: (String) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> ExitCode {
        let name = session.arguments.positional("name") ?? ""
        try body(name)
        try session.line(Sanitizer.line(session.shown(told, name)), type) { $0.add("name", name) }
        try session.end(count: 1)
        return .success
    }
}

internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SillokClient

/// What opens the API to programs and people (docs/operating/access.md). All of it is done by the running daemon.
enum TokensCommand {
    static let list = Subcommand(
        Command(
            "tokens", "Tokens that were given, and what they may do", group: "Access",
            examples: [.init("syncctl tokens", "their secrets are kept by no one but their holders")],
            discussion: """
                A token that a trusted node of the cluster has given is listed, too: it counts here. One for admin or operator counts at \
                its own node alone; elsewhere its state is 'elsewhere'. Where a revocation has lost its payload, none of the tokens that were \
                given before it counts, for it may be theirs: their state is 'doubtful'. Exit code 2 then, and where a token is missing \
                because what gave it has lost its payload.
                """),
        run: runList)

    static let create = Subcommand(
        Command(
            "tokens create", "Gives a token", group: "Access",
            arguments: [.init("principal", "Whom it is for, as bot/medibot.")],
            options: [
                .value(
                    "role", "ROLE",
                    "user:ID, bot:ID, app, reader, auditor, operator or admin.", repeatable: true),
                .flag("all", "A user or bot of all conversations, not only of its own."),
                .value("valid", "SPAN", "For so long, as 90d (default: until it is revoked)."),
                .value("out", "FILE", "Writes the token there, mode 0600, and not to the terminal."),
            ],
            examples: [
                .init("syncctl tokens create bot/medibot --role bot:medibot --all --out medibot.token", "for a bot"),
                .init("syncctl tokens create auditor/park --role auditor --valid 30d", "for an audit"),
            ],
            discussion: """
                The token is shown once. Nodes keep its SHA-256. All nodes of the cluster know it, but for the roles admin and operator, \
                which count at this node alone. A token for one of these two has no other roles: make a second one for them.
                """), run: runCreate)

    static let revoke = Subcommand(
        Command(
            "tokens revoke", "Takes a token back, for good", group: "Access",
            arguments: [.init("credential", "Its 16 digits: those in the middle of the token.")],
            examples: [.init("syncctl tokens revoke 9f3c0a11d2e4b567", "its streams end within a second")]),
        run: runRevoke)

    private static func runList(_ session: Session) throws(CommandFailure) -> ExitCode {
        let daemon = try DaemonClient.required(by: session, to: "tell its tokens")
        var lost: Int64 = 0
        let lines = try daemon.lines(Route.credentials.path, ended: { lost = $0.integer("lost") ?? 0 })
        var table = TextTable([
            .left(session.heading(.credential)), .left(session.heading(.principal)), .left(session.heading(.roles)),
            .left(session.heading(.scope)), .left(session.heading(.state)), .left(session.headingOfTimes(.until)),
        ])
        for line in lines {
            if session.isJSON { try session.print(line) }
            var cells = [line.string("credential") ?? "", line.string("principal") ?? ""]
            cells.append((line.strings("roles") ?? []).joined(separator: " "))
            cells += ["scope", "state"].map { Self.shown(line.string($0) ?? "", session) }
            cells.append(line["until"] == nil ? "" : session.clock(line.moment("until")))
            table.add(cells.map { .init(Sanitizer.line($0)) })
        }
        if lines.isEmpty { session.say(.noTokens) }
        if !session.isJSON, !lines.isEmpty { try session.print(table) }
        if lost > 0 { session.remark(.tokensLost, session.counted(UInt64(clamping: lost), .event)) }
        try session.end(count: lines.count) { if lost > 0 { $0.add("lost", lost) } }
        return lost > 0 ? .degraded : .success
    }

    /// What the daemon says of a token, in the language of the answer.
    private static func shown(_ word: String, _ session: Session) -> String {
        switch word {
        case "valid": session.shown(.isValid)
        case "revoked": session.shown(.isRevoked)
        case "expired": session.shown(.isExpired)
        case "elsewhere": session.shown(.isElsewhere)
        case "doubtful": session.shown(.isDoubtful)
        case "all": session.shown(.isOfAll)
        case "own": session.shown(.isOfOwn)
        default: word
        }
    }

    private static func runCreate(_ session: Session) throws(CommandFailure) -> ExitCode {
        let arguments = session.arguments
        var body = JSONLine()
        body.add("principal", arguments.positional("principal") ?? "")
        body.add("roles", arguments.values("role"))
        if arguments.flag("all") { body.add("scope", "all") }
        if let text = arguments.value("valid") {
            do throws(TimeSpan.Failure) {
                body.add("valid_s", try TimeSpan.milliseconds(text) / 1_000)
            } catch {
                throw usageFailure(
                    "--valid '\(text)' is \(error == .tooLong ? "longer than 3650d" : "no span, as 90d")")
            }
        }
        guard !arguments.values("role").isEmpty else {
            throw usageFailure(
                "no --role: what may it do?", hint: "user:ID, bot:ID, app, reader, auditor, operator, admin")
        }
        let daemon = try DaemonClient.required(by: session, to: "give tokens")
        let file = try arguments.value("out").map { name throws(CommandFailure) in try TokenFile(name) }
        let made: (line: JSONObject, token: String, id: String)
        do throws(CommandFailure) {
            made = try given(try daemon.post(Route.credentials.path, body))
            try file?.write(made.token)
        } catch {
            file?.remove()
            throw error
        }
        if session.isJSON {
            var line = JSONLine(type: "credential")
            for member in made.line where !["type", "v"].contains(member.name) {
                if file == nil || member.name != "token" { line.addRaw(member.name, member.value.raw) }
            }
            try session.output.line(line)
        } else if let file {
            try session.output.line(session.shown(.tokenIn, made.id, file.name))
        } else {
            try session.output.line(made.token)
            session.say(.isShownOnce, made.id)
        }
        try session.end(count: 1)
        return .success
    }

    /// The token and its name, as the daemon gives them.
    private static func given(
        _ answer: JSONObject
    ) throws(CommandFailure) -> (line: JSONObject, token: String, id: String) {
        guard let token = answer.string("token"), let id = answer.string("credential") else {
            throw DaemonClient.misunderstood("no token")
        }
        return (answer, token, id)
    }

    private static func runRevoke(_ session: Session) throws(CommandFailure) -> ExitCode {
        let id = session.arguments.positional("credential") ?? ""
        let daemon = try DaemonClient.required(by: session, to: "take tokens back")
        _ = try daemon.ask(ClientRequest(method: "DELETE", target: Route.credentials.path(id)))
        try session.line(Sanitizer.line(session.shown(.tokenRevoked, id)), "revoked") { $0.add("credential", id) }
        try session.end(count: 1)
        return .success
    }
}

/// Where a token is written: a file that is not there yet, made before the token is, for its owner alone.
private struct TokenFile {
    let name: String
    private let descriptor: Int32

    init(_ name: String) throws(CommandFailure) {
        self.name = name
        descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(
                code: "E_IO", "cannot make \(name): \(String(cString: strerror(errno)))",
                hint: "another name; a token never overwrites a file", exitCode: .cannotCreate)
        }
    }

    func write(_ token: String) throws(CommandFailure) {
        let text = token + "\n"
        let count = text.utf8.withContiguousStorageIfAvailable { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count == text.utf8.count, fsync(descriptor) == 0 else {
            throw CommandFailure(
                code: "E_IO", "cannot write \(name): \(String(cString: strerror(errno)))",
                hint: "the token was given all the same: syncctl tokens, and revoke it", exitCode: .ioError)
        }
        close(descriptor)
    }

    /// Nothing, or not all, stands in it.
    func remove() { unlink(name) }
}

/// Who the node takes the caller for.
enum WhoamiCommand {
    static let entry = Subcommand(
        Command(
            "whoami", "Who the node takes you for, and what you may do", group: "Access",
            examples: [
                .init("syncctl whoami --url https://seoul.example:7461 --token-file medibot.token", "of a token")
            ]),
        run: { (session) throws(CommandFailure) in
            let daemon = try DaemonClient.required(by: session, to: "tell who you are")
            let caller = try daemon.get(Route.me.path)
            if session.isJSON {
                try session.print(caller)
            } else {
                try session.output.line(Sanitizer.line(caller.string("actor") ?? ""))
                let roles = caller.strings("roles") ?? []
                let told: Wording = caller.string("scope") == "all" ? .rolesEverywhere : .rolesAre
                let names = Sanitizer.line(roles.joined(separator: " "))
                try session.output.line(roles.isEmpty ? session.shown(.noRoles) : session.shown(told, names))
            }
            try session.end(count: 1)
            return .success
        })
}

/// The access log.
enum AccessCommand {
    static let entry = Subcommand(
        Command(
            "access", "Who has read what, as far as reads are recorded", group: "Access",
            options: [
                .value("user", short: "u", "USER", "Only reads that concern this user."),
                .value("last", short: "n", "N", "How many, the newest first (default: 50)."),
            ],
            examples: [.init("syncctl access --user u-1029", "who has looked at this user")],
            discussion: """
                Reads of auditors are recorded before they are answered. Reads of programs, and of files, are not: who may do that sees \
                everything. A record that has lost its payload is told to each who asks, and the exit code is 2.
                """),
        run: { (session) throws(CommandFailure) in
            let limit = try usage { try session.arguments.integer("last", in: 1...100_000) } ?? 50
            let daemon = try DaemonClient.required(by: session, to: "tell who has read what")
            let route = session.arguments.value("user").map { ReadRoute.readers(user: $0) } ?? .access
            var table = TextTable([
                .left(session.headingOfTimes(.at)), .left(session.heading(.reader)), .left(session.heading(.subject)),
                .left(session.heading(.reason)),
            ])
            var (count, lost) = (0, 0)
            _ = try DaemonPages(client: daemon).lines(route, [], limit: limit, hasFiles: false) {
                line throws(CommandFailure) in
                count += 1
                let isLost = line.bool("lost") == true
                if isLost { lost += 1 }
                if session.isJSON { return try session.print(line) }
                let cells = [
                    session.clock(line.moment("at")), line.string("actor") ?? "",
                    isLost ? session.shown(.readLost) : line.string("subject") ?? "", line.string("reason") ?? "",
                ]
                table.add(cells.map { .init(Sanitizer.line($0)) })
            }
            if count == 0 { session.say(.noReads) }
            if !session.isJSON, count > 0 { try session.print(table) }
            if lost > 0 { session.remark(.readsLost, session.counted(UInt64(lost), .event)) }
            try session.end(count: count) { if lost > 0 { $0.add("lost", lost) } }
            return lost > 0 ? .degraded : .success
        })
}

internal import CommandLineKit
internal import EventStore
internal import Interchange
internal import SillokAPI

/// What was said, in a form that others read: `export --format`.
struct FormatExport {
    static let options: [Command.Option] = [
        .value(
            "format", "NAME", "Native lines, messages, lines for fine-tuning, questions with answers, or a page.",
            allowed: ["cloudevents", "csv", "openai", "dialogues", "html"]),
        .value("context", "N", "openai: a line for each answer, with at most the N messages before it."),
        .value(
            "survey", "NAME[=VALUE]",
            "dialogues: answers of this survey (default: satisfaction). With VALUE, openai and dialogues: only what was answered so."
        ),
        .value("timezone", "ZONE", "html: in which times are shown (default: this machine's)."),
    ]
    /// Options of the native form alone.
    private static let native = (
        values: ["after", "through", "origin", "type", "role", "author"], flags: ["evidence", "csv", "json", "plain"]
    )

    private let session: Session
    private let format: String
    private let writer: any ConversationWriter
    private let reads: Reads
    /// `nil` where the files are elsewhere, or may not be read.
    private let erasures: OwnErasures?
    private let query: TimelineQuery
    private let range: TimeRange

    /// `nil`: the native form is wanted.
    init?(_ session: Session) throws(CommandFailure) {
        let arguments = session.arguments
        let format = arguments.value("format") ?? "cloudevents"
        let belonging = ["openai": ["context", "survey"], "dialogues": ["survey"], "html": ["timezone"]]
        for option in ["context", "survey", "timezone"] where arguments.value(option) != nil {
            guard belonging[format]?.contains(option) ?? false else {
                throw usageFailure("--\(option) does not go with --format \(format)")
            }
        }
        guard format != "cloudevents" else { return nil }
        let (values, flags) = Self.native
        if let option = values.first(where: { !arguments.values($0).isEmpty }) ?? flags.first(where: arguments.flag) {
            throw usageFailure(
                "--\(option) does not go with --format \(format)",
                hint: "--user, --conversation, --since and --until do")
        }
        if format == "html", arguments.value("conversation") == nil || arguments.value("user") != nil {
            throw usageFailure("--format html writes one conversation", hint: "--conversation ID")
        }
        self.session = session
        self.format = format
        let reads = try Reads(session)
        self.reads = reads
        erasures = reads.isElsewhere ? nil : (try? reads.log()).flatMap { try? OwnErasures($0) }
        let selection = try EventSelection(session)
        (query, range) = (selection.query, selection.range)
        writer = try Self.writer(format, session, reads)
    }

    private static func writer(
        _ format: String, _ session: Session, _ reads: Reads
    ) throws(CommandFailure) -> any ConversationWriter {
        let arguments = session.arguments
        var survey: SurveyWish?
        if let text = arguments.value("survey") {
            survey = SurveyWish(text: text)
            let hasValue = survey?.value != nil || format == "dialogues"
            guard survey != nil, hasValue else {
                throw usageFailure("--survey '\(text)'", hint: "NAME=VALUE, as satisfaction=dissatisfied")
            }
        }
        switch format {
        case "csv": return MessagesCSV()
        case "openai":
            let context = try usage { try arguments.integer("context", in: 1...1_000) }
            return OpenAILines(context: context, survey)
        case "dialogues": return DialoguesCSV(survey ?? SurveyWish("satisfaction"))
        default:
            var (zone, zoneName) = (session.zone, session.zoneName)
            if let name = arguments.value("timezone") {
                guard let found = name == "UTC" ? .utc : ZoneDirectory.system.zone(named: name) else {
                    throw usageFailure("--timezone '\(name)': there is no such zone", hint: "a name as Asia/Seoul")
                }
                (zone, zoneName) = (found, name)
            }
            return ConversationPage(
                .init(
                    language: session.language, zone: zone, zoneName: zoneName, now: session.now,
                    name: { user in Self.name(of: user, reads) },
                    picture: { reads.attachment($0, most: ConversationPage.longestPicture) }))
        }
    }

    /// What a user's profile says; profiles that may not be read are none.
    private static func name(of user: String, _ reads: Reads) -> String? {
        guard let fields = try? reads.profile(of: user) else { return nil }
        for name in ["displayName", "name"] {
            let field = fields.first { $0.string("name") == name }
            if let text = field?.string("value"), !text.isEmpty { return text }
        }
        return nil
    }

    func run() throws(CommandFailure) -> ExitCode {
        range.tell(session)
        let (user, named) = (session.arguments.value("user"), session.arguments.value("conversation"))
        if format == "html", let named, try reads.conversation(named) == nil {
            session.say(.noConversation, named)
            return .nothingFound
        }
        try session.output.write(writer.begin())
        if let named {
            try write(named, of: user)
        } else if let user, format == "csv" {
            try write(.user(user), [])
        } else {
            for conversation in try conversations(of: user) { try write(conversation, of: user) }
        }
        for (reason, count) in writer.leftOut.sorted(by: { $0.key < $1.key }) {
            session.remark(.leftOut, String(count), session.translated(reason))
        }
        if writer.written == 0 { session.say(.noEventsMatched) }
        return writer.written == 0 && format != "html" ? .nothingFound : .success
    }

    /// Those of a user, in the order in which the user came to them, or else all, the latest active first.
    private func conversations(of user: String?) throws(CommandFailure) -> [String] {
        var found: [String] = []
        var known: Set<String> = []
        func add(_ conversation: String) {
            if known.insert(conversation).inserted { found.append(conversation) }
        }
        if let user {
            var query = query
            query.types = DialogueRole.all.types
            try reads.timeline(.user(user), query) { row throws(CommandFailure) in
                if let conversation = try entry(row).stored.event.header.conversation { add(conversation) }
            }
            return found
        }
        var newest: Int64?
        let take = { (line: JSONObject) throws(CommandFailure) in
            newest = newest ?? line.moment("last_time")
            if let conversation = line.string("conversation") { add(conversation) }
        }
        try reads.conversations(limit: .max, take)
        // What was said meanwhile has moved its conversation to the front, perhaps past the place that was read.
        let (start, before) = (newest, known.count)
        try reads.conversations(limit: min(before, 5_000)) { line throws(CommandFailure) in
            if line.moment("last_time") >= start ?? 0 { try take(line) }
        }
        return found
    }

    private func write(_ id: String, of user: String?) throws(CommandFailure) {
        var conversation = ExportedConversation(id)
        let owner = user.map { TimelineOwner.user($0) } ?? .conversation(id)
        var scope = query
        scope.conversations = user == nil ? [] : [id]
        if format == "html", let (summary, participants) = try reads.conversation(id) {
            conversation.title = summary.string("title")
            conversation.startedBy = summary.string("started_by")
            conversation.messages = UInt64(clamping: summary.integer("messages") ?? 0)
            conversation.firstTime = summary.moment("first_time")
            conversation.lastTime = summary.moment("last_time")
            conversation.participants = participants.filter { $0.bool("joined") ?? true }.compactMap {
                $0.string("user")
            }
        }
        if let wish = writer.survey {
            // They may have been said before the part that is wanted.
            var context = scope
            (context.since, context.until) = (nil, nil)
            context.types = SurveyAnswers.contextTypes
            try reads.timeline(owner, context) { row throws(CommandFailure) in
                conversation.answers.note(try entry(row))
            }
            scope.types = SurveyAnswers.types
            try reads.timeline(owner, scope) { row throws(CommandFailure) in
                conversation.answers.take(try entry(row), wish)
            }
            if let value = wish.value, !conversation.answers.has(value) { return }
        }
        try session.output.write(writer.begin(conversation))
        try write(owner, scope.conversations)
        try session.output.write(writer.end())
    }

    private func write(_ owner: TimelineOwner, _ conversations: [String]) throws(CommandFailure) {
        var query = query
        query.types = writer.types
        query.conversations = conversations
        try reads.timeline(owner, query) { row throws(CommandFailure) in
            let bytes = writer.add(try entry(row))
            if !bytes.isEmpty { try session.output.write(bytes) }
        }
    }

    private func entry(_ row: TimelineRow) throws(CommandFailure) -> TimelineEntry {
        let entry = try decoded(row)
        try stored { try erasures?.check(entry.stored.event) }
        return entry
    }

    private func decoded(_ row: TimelineRow) throws(CommandFailure) -> TimelineEntry {
        switch row {
        case .entry(let entry, _): return entry
        case .line(let line):
            guard let entry = TimelineEntry(line) else { throw DaemonClient.misunderstood("no event") }
            return entry
        }
    }
}

internal import CommandLineKit
internal import EventStore
internal import Interchange
internal import SillokAPI

/// What was said, in a form that others read: `export --format` and `dialogues`.
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
        .value("out", "FILE", "html: writes the page there, and large pictures beside it; the file must not exist."),
        .flag("proof", "html: with what proves the events, in a file beside the one of --out."),
    ]
    /// Options of the native form alone.
    private static let native = (
        values: ["after", "through", "origin", "type", "role", "author"], flags: ["evidence", "csv", "json", "plain"]
    )

    private let session: Session
    private let writer: any ConversationWriter
    private let output: ByteOutput
    /// Of a page.
    private let page: PageExport?
    private let reads: Reads
    /// `nil` where the files are elsewhere, or may not be read.
    private let erasures: OwnErasures?
    private let query: TimelineQuery
    let range: TimeRange

    /// `nil`: the native form is wanted.
    static func asked(_ session: Session) throws(CommandFailure) -> FormatExport? {
        let arguments = session.arguments
        let format = arguments.value("format") ?? "cloudevents"
        let belonging = [
            "openai": ["context", "survey"], "dialogues": ["survey"], "html": ["timezone", "out", "proof"],
        ]
        let given = ["context", "survey", "timezone", "out"].filter { arguments.value($0) != nil }
        for option in given + (arguments.flag("proof") ? ["proof"] : []) {
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
        let reads = try Reads(session)
        guard format == "html" else { return try FormatExport(session, reads, try writer(format, session)) }
        let erasures = try erasures(reads)
        let page = try page(session, reads, erasures, try TimeRange(session))
        return try FormatExport(session, reads, page.page, page, erasures)
    }

    /// Of the part that the session's options name.
    init(_ session: Session, _ reads: Reads, _ writer: any ConversationWriter) throws(CommandFailure) {
        try self.init(session, reads, writer, nil, Self.erasures(reads))
    }

    private init(
        _ session: Session, _ reads: Reads, _ writer: any ConversationWriter, _ page: PageExport?,
        _ erasures: OwnErasures?
    ) throws(CommandFailure) {
        (self.session, self.reads, self.writer, self.page) = (session, reads, writer, page)
        self.erasures = erasures
        range = try TimeRange(session)
        var query = TimelineQuery()
        (query.since, query.until) = (range.since, range.until)
        self.query = query
        // A page alone may go to a file.
        output = try ByteOutput(session, to: page == nil ? nil : session.arguments.value("out"))
    }

    private static func writer(
        _ format: String, _ session: Session
    ) throws(CommandFailure) -> any ConversationWriter {
        switch format {
        case "csv": return MessagesCSV()
        case "openai":
            let context = try usage { try session.arguments.integer("context", in: 1...1_000) }
            return OpenAILines(context: context, try survey(session, needsValue: true))
        default: return Dialogues(try survey(session) ?? SurveyWish("satisfaction"))
        }
    }

    private static func page(
        _ session: Session, _ reads: Reads, _ erasures: OwnErasures?, _ range: TimeRange
    ) throws(CommandFailure) -> PageExport {
        var (zone, zoneName) = (session.zone, session.zoneName)
        if let name = session.arguments.value("timezone") {
            guard let found = name == "UTC" ? .utc : ZoneDirectory.system.zone(named: name) else {
                throw usageFailure("--timezone '\(name)': there is no such zone", hint: "a name as Asia/Seoul")
            }
            (zone, zoneName) = (found, name)
        }
        var settings = ConversationPage.Settings(
            language: session.language, zone: zone, zoneName: zoneName, now: session.now
        ) { user in name(of: user, reads, erasures) }
        (settings.since, settings.until) = (range.since, range.until)
        return try PageExport(session, reads, settings, of: session.arguments.value("conversation") ?? "")
    }

    /// What `--survey` asks for.
    static func survey(_ session: Session, needsValue: Bool = false) throws(CommandFailure) -> SurveyWish? {
        guard let text = session.arguments.value("survey") else { return nil }
        guard let wish = SurveyWish(text: text), wish.value != nil || !needsValue else {
            throw usageFailure("--survey '\(text)'", hint: "NAME=VALUE, as satisfaction=dissatisfied")
        }
        return wish
    }

    /// What this node lets go; `nil` where another one is asked.
    private static func erasures(_ reads: Reads) throws(CommandFailure) -> OwnErasures? {
        guard !reads.isElsewhere else { return nil }
        return try stored { try OwnErasures(reads.log()) }
    }

    /// What a user's profile says; profiles that may not be read are none, and what another hand has put back is not said.
    private static func name(of user: String, _ reads: Reads, _ erasures: OwnErasures?) -> String? {
        guard let field = (try? reads.profile(of: user))?.first(where: { $0.string("name") == "name" }) else {
            return nil
        }
        if let erasures {
            guard let position = field.integer("position").map({ UInt64(clamping: $0) }),
                let event = (try? reads.log().event(at: position)) ?? nil, (try? erasures.check(event.event)) != nil
            else { return nil }
        }
        return field.string("value").flatMap { $0.isEmpty ? nil : $0 }
    }

    func run() throws(CommandFailure) -> ExitCode {
        range.tell(session)
        let (user, named) = (session.arguments.value("user"), session.arguments.value("conversation"))
        if page != nil, let named, try reads.conversation(named) == nil {
            session.say(.noConversation, named)
            return .nothingFound
        }
        try output.write(writer.begin())
        if let named {
            try write(named, of: user)
        } else if let user, writer is MessagesCSV {
            try write(.user(user), [])
        } else {
            for conversation in try conversations(of: user) { try write(conversation, of: user) }
        }
        try output.finish()
        for (reason, count) in writer.leftOut.sorted(by: { $0.key < $1.key }) {
            session.remark(.leftOut, String(count), session.translated(reason))
        }
        if writer.written == 0 { session.say(.noEventsMatched) }
        return writer.written == 0 && page == nil ? .nothingFound : page?.code ?? .success
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
        if page != nil, let (summary, participants) = try reads.conversation(id) {
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
        try output.write(writer.begin(conversation))
        if let page, page.isProven, query != TimelineQuery() {
            // What the head says may have been said before the part that is wanted, or after it.
            var head = TimelineQuery()
            head.types = ConversationPage.typesOfHead
            try reads.timeline(owner, head) { row throws(CommandFailure) in page.page.note(try entry(row)) }
        }
        try write(owner, scope.conversations)
        try page?.prove(query)
        try output.write(writer.end())
    }

    private func write(_ owner: TimelineOwner, _ conversations: [String]) throws(CommandFailure) {
        var query = query
        query.types = writer.types
        query.conversations = conversations
        try reads.timeline(owner, query) { row throws(CommandFailure) in
            let bytes = writer.add(try entry(row))
            if let failure = page?.pictures.failure { throw failure }
            if !bytes.isEmpty { try output.write(bytes) }
        }
    }

    private func entry(_ row: TimelineRow) throws(CommandFailure) -> TimelineEntry {
        let entry = try decoded(row)
        guard let erasures else { return entry }
        try stored { try erasures.check(entry.stored.event) }
        // What was done to it has words, too.
        for id in entry.history?.events ?? [] {
            let found = try stored { try reads.log().events(id: id) }
            for event in found { try stored { try erasures.check(event.event) } }
        }
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

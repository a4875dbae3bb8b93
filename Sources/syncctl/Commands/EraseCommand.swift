internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

/// Erases for good what a user has said, what was said in a conversation, or single events (docs/operating/erasure.md). Shows what goes
/// before anything does, and asks for the name of it.
enum EraseCommand {
    private static let options: [Command.Option] = [
        .value("who", "NAME", "Who asked for it: it is part of the record."),
        .flag("dry-run", "Only shows what would go."),
        .value("plan", "FILE", "Writes what was decided there, for --confirm; nothing is erased."),
        .value("confirm", "FILE", "Erases what the plan in this file lists, and nothing that has come since."),
        .value(
            "up-to", "MOMENT", "With --confirm: erases what has come since the plan, too (now; default: plan).",
            allowed: ErasurePlan.Reach.allCases.map(\.rawValue)),
    ]
    private static let discussion = """
        Payload and salt of the events go from every file of this node, and of every node that hears of it. That they were, who wrote \
        them, when, in which conversation and of which type stays, so that what was signed can still be proved. Copies outside of the \
        nodes' folders, as backups and exports, are yours to find. Who is erased may go on writing: what comes while you look stays, and it says \
        how much that is.
        """

    static let user = Subcommand(
        Command(
            "erase user", "Erases for good what is in a user's history", group: "Administration",
            arguments: [.init("user", "Whose.")],
            options: [
                .value(
                    "authored", "WHAT", "What the user has written in the histories of others.",
                    allowed: ["erase", "keep"]),
                .value("replies", "WHAT", "What others have written in reply.", allowed: ["erase", "keep"]),
                .value(
                    "shared", "WHAT",
                    "Who takes part in conversations with others, their titles, and what was taken back of others.",
                    allowed: ["erase", "keep"]),
            ] + options,
            examples: [
                .init("syncctl erase user u-1029 --dry-run", "what would go, and what has to be decided"),
                .init(
                    "syncctl erase user u-1029 --authored erase --replies keep --reason 'request 88' --who kim",
                    "asks for the name before it does so"),
            ],
            discussion: discussion)
    ) { session throws(CommandFailure) in
        try run(session, .user(session.arguments.positional("user") ?? ""))
    }

    static let conversation = Subcommand(
        Command(
            "erase conversation", "Erases for good what was said in a conversation", group: "Administration",
            arguments: [.init("conversation", "Which one.")], options: options,
            examples: [.init("syncctl erase conversation c-88 --dry-run", "what would go")], discussion: discussion)
    ) { session throws(CommandFailure) in
        try run(session, .conversation(session.arguments.positional("conversation") ?? ""))
    }

    static let events = Subcommand(
        Command(
            "erase events", "Erases for good what single events say", group: "Administration",
            arguments: [.init("id", "Ids of events.", count: .repeating(atLeast: 1))], options: options,
            examples: [.init("syncctl erase events 0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f --dry-run", "what would go")],
            discussion: discussion)
    ) { session throws(CommandFailure) in
        var ids: [EventID] = []
        for text in session.arguments.positionals("id") {
            guard let id = EventID(text: text) else { throw usageFailure("'\(text)' is no id of an event") }
            ids.append(id)
        }
        return try run(session, .events(ids))
    }

    private static func run(_ session: Session, _ target: ErasurePlan.Target) throws(CommandFailure) -> ExitCode {
        let files = try StoreLocation.find(for: session).files
        if let path = session.arguments.value("plan") { try StoreLocation.requireOutside(path) }
        let planned = try planned(session, target)
        var progress = Progress("plan", unit: "events", style: session.style())
        let plan = try stored {
            // What no plan of this release is holds no more.
            let seen = planned?.plan.flatMap { ErasurePlan.Seen(text: $0) }
            return try ErasurePlan(target, LogReader(files), upTo: seen?.vector, at: seen?.moment) {
                progress.update(done: $0, total: $1)
            }
        }
        progress.finish(done: plan.top, total: plan.top)
        guard plan.missing.isEmpty else {
            let ids = plan.missing.map(\.description).joined(separator: ", ")
            throw CommandFailure(
                code: ErrorCode.notFound.rawValue, "no event that can be erased has the id \(ids)",
                why: "Nothing was erased.", hint: "syncctl history UID --ids shows them", exitCode: .nothingFound)
        }
        let contacts = planned == nil ? try Self.contacts(session, target, files) : []
        try show(session, plan, planned, contacts)
        // Also where all of it is erased by now.
        if let planned, !planned.holds(plan) { throw changed }
        let withShared = (planned.map(\.shared) ?? choice(session, .shared)) != false
        guard !plan.isEmpty(planned?.reach ?? .plan, withShared: withShared) else {
            if contacts.isEmpty { session.say(.eraseNothing) }
            let copies = try stored { try CutEvidence.copies(files) }
            if !copies.isEmpty { session.say(.eraseCopies, copies.joined(separator: ", "), files.evidence) }
            try session.end(count: contacts.count)
            return .nothingFound
        }
        if session.arguments.flag("dry-run") {
            try session.end(count: ErasureLines.lines(plan).count + contacts.count)
            return .success
        }
        var order = if let planned { planned } else { try decided(session, target) }
        let undecided = order.undecided(plan)
        guard undecided.isEmpty else {
            let options = undecided.map { "--\($0.rawValue)" }
            let choices = options.map { "\($0) erase|keep" }.joined(separator: ", ")
            throw usageFailure(
                "there are such events, and nobody has said what becomes of them: \(options.joined(separator: ", "))",
                hint: planned == nil ? choices : "they have come since: another plan decides it: \(choices)")
        }
        if let path = session.arguments.value("plan") {
            order.plan = plan.seen.text
            var bytes: [UInt8] = []
            order.line.write(to: &bytes)
            try stored { try SmallFile.replace(path, with: bytes, mode: 0o600) }
            try session.end(count: ErasureLines.lines(plan).count + contacts.count)
            return .success
        }
        if planned == nil { try confirm(session, order) }
        // What was shown goes.
        order.plan = plan.seen.text
        return try erase(session, order, plan, files, told: contacts.count)
    }

    /// What others keep of a user as their contact: it is in no history of the user, and no part of a plan.
    private static func contacts(
        _ session: Session, _ target: ErasurePlan.Target, _ files: StoreFiles
    ) throws(CommandFailure) -> [StoredEvent] {
        guard case .user(let name) = target else { return [] }
        let views = try FreshViews.open(session, files)
        return try stored { try views.contactEntries(naming: name) }
    }

    /// What there is, counted, and what becomes of it.
    private static func show(
        _ session: Session, _ plan: ErasurePlan, _ planned: ErasureOrder?, _ contacts: [StoredEvent]
    ) throws(CommandFailure) {
        let lines = ErasureLines.lines(plan) + contacts.map(ErasureLines.line(contact:))
        if session.isJSON {
            for line in lines { try session.output.line(line) }
            return
        }
        var table = TextTable([
            .left(session.heading(.erasePart)), .left(session.heading(.type)), .right(session.heading(.events)),
            .left(session.heading(.eraseBecomes)),
        ])
        for part in ErasurePlan.Part.allCases {
            let goes: Bool? =
                switch part {
                case .own: true
                case .authored: planned.map(\.authored) ?? choice(session, part)
                case .replies: planned.map(\.replies) ?? choice(session, part)
                case .shared: planned.map(\.shared) ?? choice(session, part)
                }
            for (type, count) in (plan.counts[part] ?? [:]).sorted(by: { $0.key < $1.key }) {
                table.add([
                    .init(session.shown(wording(part, plan.target))), .init(Sanitizer.line(type)),
                    .init(String(count)),
                    .init(session.shown(goes.map { $0 ? .eraseGoes : .eraseKept } ?? .eraseOpen)),
                ])
            }
        }
        if !contacts.isEmpty {
            table.add([
                .init(session.shown(.erasePartContacts)), .init("contact.added"), .init(String(contacts.count)),
                .init(session.shown(.eraseOpen)),
            ])
        }
        if !lines.isEmpty { try session.print(table) }
        guard session.form == .human, !lines.isEmpty else { return }
        if !contacts.isEmpty {
            let ids = contacts.map(\.event.header.id.description).joined(separator: " ")
            try session.output.line(session.shown(.eraseContacts, "syncctl erase events \(ids)"))
        }
        try session.output.line(
            session.shown(.erasePlan, String(plan.conversations), String(plan.nodes.count), String(plan.gone)))
        try session.output.line(session.shown(.eraseStays))
    }

    private static func wording(_ part: ErasurePlan.Part, _ target: ErasurePlan.Target) -> Wording {
        switch (part, target) {
        case (.authored, _): .erasePartAuthored
        case (.replies, _): .erasePartReplies
        case (.shared, _): .erasePartShared
        case (.own, .user): .erasePartHistory
        case (.own, _): .erasePartNamed
        }
    }

    /// What was decided when a plan was made; `nil` where none is to be confirmed.
    private static func planned(
        _ session: Session, _ target: ErasurePlan.Target
    ) throws(CommandFailure) -> ErasureOrder? {
        guard let path = session.arguments.value("confirm") else {
            guard !session.has("up-to") || session.arguments.value("up-to") == nil else {
                throw usageFailure("--up-to goes with --confirm: what is shown now goes up to now")
            }
            return nil
        }
        let said = ["authored", "replies", "shared", "reason", "who", "plan"].filter { name in
            session.has(name) && session.arguments.value(name) != nil
        }
        guard said.isEmpty else {
            throw usageFailure(
                "--confirm does what its plan says, and nothing else: leave out --\(said.joined(separator: ", --"))",
                hint: "for another decision make another plan: --plan FILE")
        }
        // What stands there is the user's, and no file of a store: it is told what it is.
        _ = try InputFile(regular: path)
        guard let bytes = try stored({ try SmallFile.read(path) }), let object = try? JSONObject(validating: bytes)
        else { throw usageFailure("--confirm \(path): no plan is there") }
        var order: ErasureOrder
        do { order = try ErasureOrder(object) } catch { throw usageFailure("--confirm \(path): \(error.text)") }
        guard order.target == target else { throw usageFailure("--confirm \(path): that plan is about another") }
        guard order.plan != nil else { throw usageFailure("--confirm \(path): no plan is there") }
        if let reach = session.arguments.value("up-to").flatMap({ ErasurePlan.Reach(rawValue: $0) }) {
            order.reach = reach
        }
        return order
    }

    /// What was decided by options.
    private static func decided(
        _ session: Session, _ target: ErasurePlan.Target
    ) throws(CommandFailure) -> ErasureOrder {
        var order = ErasureOrder(
            target: target, authored: choice(session, .authored), replies: choice(session, .replies),
            reason: session.arguments.value("reason") ?? "", who: session.arguments.value("who") ?? "")
        order.shared = choice(session, .shared)
        do { try order.check() } catch {
            throw usageFailure(error.text, hint: "--reason TEXT and --who NAME; --dry-run shows what would go")
        }
        return order
    }

    private static func choice(_ session: Session, _ part: ErasurePlan.Part) -> Bool? {
        session.has(part.rawValue) ? session.arguments.value(part.rawValue).map { $0 == "erase" } : nil
    }

    private static var changed: CommandFailure {
        CommandFailure(
            code: ErrorCode.planChanged.rawValue, "what the plan lists is not what is here",
            why: "It is a plan of another id, some of it is erased, or older events have come. Nothing was erased.",
            hint: "look at it again: --dry-run; then a new --plan", exitCode: .tryAgain)
    }

    /// The name, typed at a terminal.
    private static func confirm(_ session: Session, _ order: ErasureOrder) throws(CommandFailure) {
        guard session.terminal.isTerminal(.input), session.terminal.isTerminal(.error) else {
            throw usageFailure(
                "nobody is here to confirm it", hint: "--plan FILE, and then the same with --confirm FILE")
        }
        let name =
            switch order.target {
            case .user(let name), .conversation(let name): name
            case .events(let ids): String(ids.count)
            }
        // What goes is seen before anyone is asked.
        try session.output.flush()
        Output.message(session.text(.eraseConfirm, Sanitizer.line(name)))
        guard readLine() == name else { throw usageFailure("that is another name: nothing was erased") }
    }

    /// Records it, and waits until nothing is left in the files of this node.
    private static func erase(
        _ session: Session, _ order: ErasureOrder, _ plan: ErasurePlan, _ files: StoreFiles, told: Int
    ) throws(CommandFailure) -> ExitCode {
        guard let erasures = order.erasures(plan) else { throw changed }
        let (event, position): (String, UInt64)
        // What has come since the plan.
        var later = order.later(plan)
        if let daemon = try DaemonClient.running(files) {
            let answer = try daemon.post(Route.erasures.path, order.line)
            event = answer.string("event") ?? ""
            position = UInt64(clamping: answer.integer("position") ?? 0)
            later = UInt64(clamping: answer.integer(order.laterName) ?? 0)
            try waitUntilErased(position, files, session)
        } else {
            (event, position) = try stored {
                let store = try EventStore(opening: files.folder, owner: "syncctl pid \(getpid())")
                defer { store.close() }
                let author = Appender.actor?.principal ?? "uid:\(geteuid())"
                let recorded = try store.eraseBlocking(
                    erasures, author: author, actor: Appender.actor, planned: plan.top)
                guard let outcomes = recorded else { throw changed }
                try store.finishErasures()
                guard let receipt = outcomes.first?.receipt else { throw usageFailure("the erasure was not taken") }
                return (receipt.id.description, receipt.position)
            }
            let views = try FreshViews.open(session, files)
            // No daemon is here that would do it.
            try stored { try AttachmentUpkeep.catchUp(files, views) }
            guard try stored({ try files.areCleared(views.log) }) else {
                throw CommandFailure(
                    code: "E_NO_DAEMON", "the erasure is recorded, and something of it is still in the store's files",
                    hint: "start syncd: it goes on; 'syncctl erase status' tells how far it is", exitCode: .tryAgain)
            }
        }
        try session.line(session.shown(.eraseDone, event), "erased") { line in
            line.add("event", event)
            line.add("position", position)
            line.add("plan", plan.seen.text)
            line.add(order.laterName, later)
        }
        if later > 0 { tell(session, order, later) }
        try session.end(count: ErasureLines.lines(plan).count + told + 1)
        return .success
    }

    /// As a shell reads it.
    private static func quoted(_ text: String) -> String {
        let plain = text.utf8.allSatisfy { byte in
            byte >= 0x80 || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "-")
        }
        return plain && !text.isEmpty ? text : "'\(text.replacing(scalar: "'", with: "'\\''"))'"
    }

    /// What has come since the plan, and what to do about it.
    private static func tell(_ session: Session, _ order: ErasureOrder, _ later: UInt64) {
        guard order.reach == .plan else { return session.say(.eraseMore, String(later)) }
        var words: [String]
        switch order.target {
        case .user(let name): words = ["user", quoted(name)]
        case .conversation(let name): words = ["conversation", quoted(name)]
        case .events(let ids): words = ["events"] + ids.map(\.description)
        }
        let choices = [
            ("authored", order.authored), ("replies", order.replies), ("shared", order.shared),
        ]
        for (option, choice) in choices {
            if let choice { words += ["--\(option)", choice ? "erase" : "keep"] }
        }
        words += ["--reason", quoted(order.reason), "--who", quoted(order.who), "--plan", "FILE"]
        session.say(.eraseLeft, String(later), Sanitizer.line("syncctl erase \(words.joined(separator: " "))"))
    }

    /// Waits for the daemon.
    private static func waitUntilErased(
        _ position: UInt64, _ files: StoreFiles, _ session: Session
    ) throws(CommandFailure) {
        let reader = try stored { try LogReader(files) }
        let start = MonotonicClock.now
        var isTold = false
        while true {
            let isDone = try stored {
                try reader.erasedThrough() >= position && files.areCleared(reader)
            }
            if isDone { return }
            guard StoreLock.owner(files) != nil else {
                throw CommandFailure(
                    code: "E_NO_DAEMON", "the erasure is recorded, and syncd has ended before it was done",
                    hint: "start syncd: it goes on; 'syncctl erase status' tells how far it is", exitCode: .tryAgain)
            }
            if !isTold, MonotonicClock.now - start > 10_000_000_000 {
                isTold = true
                session.say(.eraseWaits)
            }
            sleep(milliseconds: 100)
        }
    }
}

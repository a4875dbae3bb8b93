internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum DiffCommand {
    static let entry = Subcommand(
        Command(
            "diff", "What a page showed at two moments, and what had changed", group: "Read",
            arguments: [.init("user", "Whose history.", count: .optional, names: "users")],
            options: [
                .value("conversation", "ID", "This conversation.", names: "conversations"),
                .flag("profile", "The user's profile instead of the history."),
                .value("known-at", "PLACE", knownHelp, repeatable: true),
                .value("as-of", "TIME", timeHelp, repeatable: true),
                EventSelection.ids,
            ],
            examples: [
                .init("syncctl diff u-1029 --known-at 10412 --known-at 10800", "what this node learned meanwhile"),
                .init("syncctl diff --conversation c-88 --known-at '2026-08-01 09:00'", "what is different now"),
                .init("syncctl diff u-1029 --profile --as-of 2026-07-01 --as-of 2026-08-01", "fields that were set"),
            ],
            discussion: """
                Events that were added, messages that were edited or taken back, edits by others beside them, events in whose \
                place the same event of another node counts, and events that were erased. What was erased is told by its header: \
                what it said is gone from every moment. --known-at goes by what had arrived here, --as-of by when things \
                happened. Given once, the page is compared with what it shows now. Exit code 1 when nothing had changed.
                """), run: run)

    private static let knownHelp =
        "What this node's log had at this position (10412 or seq:10412), or at this time; twice, the earlier one first."
    private static let timeHelp = "What had happened by then; twice, the earlier one first."

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let owner = try owner(session)
        let views = try FreshViews.open(session)
        let moments = try Moments(session, views.log)
        if !session.isJSON { session.say(moments.text(session)) }
        let count: Int
        switch owner {
        case .user(let user) where session.arguments.flag("profile"):
            count = try fields(of: user, moments, views, session)
        default: count = try events(of: owner, moments, views, session)
        }
        try session.end(count: count) { line in
            switch owner {
            case .user(let user): line.add("user", user)
            case .conversation(let id): line.add("conversation", id)
            }
            line.addObject("from") { moments.earlier.add(to: &$0) }
            line.addObject("to") { moments.later.add(to: &$0) }
        }
        if count == 0 { session.say(.nothingChanged) }
        return count == 0 ? .nothingFound : .success
    }

    private static func owner(_ session: Session) throws(CommandFailure) -> TimelineOwner {
        let arguments = session.arguments
        switch (arguments.positional("user"), arguments.value("conversation"), arguments.flag("profile")) {
        case (let user?, nil, _): return .user(user)
        case (nil, let conversation?, false): return .conversation(conversation)
        default:
            throw usageFailure(
                "one user, with --profile or without, or one --conversation", hint: "syncctl diff --help")
        }
    }

    private static func events(
        of owner: TimelineOwner, _ moments: Moments, _ views: ViewReader, _ session: Session
    ) throws(CommandFailure) -> Int {
        let lines = try stored { try EventLines(views.log) }
        var table = ChangeTable(session)
        var count = 0
        var failure: CommandFailure?
        try stored {
            try views.differences(of: owner, from: moments.earlier, to: moments.later) { change throws(StoreError) in
                count += 1
                let line = session.isJSON ? JSONLine(change, try lines.object(change.after.stored).bytes) : nil
                do throws(CommandFailure) {
                    if let line { try session.output.line(line) } else { try table.print(change) }
                } catch {
                    failure = error
                }
                return failure == nil
            }
        }
        if let failure { throw failure }
        try table.finish()
        return count
    }

    private static func fields(
        of user: String, _ moments: Moments, _ views: ViewReader, _ session: Session
    ) throws(CommandFailure) -> Int {
        let changes = try stored {
            try views.profileDifferences(of: user, from: moments.earlier, to: moments.later)
        }
        var table = TextTable([
            .left(session.heading(.field)), .left(session.heading(.wasBefore)), .left(session.heading(.isAfter)),
            .left(session.heading(.setBy)), .whole(session.headingOfTimes(.time)),
        ])
        for change in changes {
            if session.isJSON {
                try session.output.line(JSONLine(change))
                continue
            }
            let last = (change.after ?? change.before)?.winner
            table.add([
                .init((change.after ?? change.before)?.name ?? ""), .init(text(change.before)),
                .init(text(change.after)), .init(change.after?.winner.author ?? ""),
                .init(change.after == nil ? "" : session.clock(last?.time ?? 0)),
            ])
        }
        if !table.isEmpty { try session.print(table) }
        return changes.count
    }

    private static func text(_ field: ProfileField?) -> String {
        guard let field else { return "" }
        let values = [field.winner.value] + field.concurrent.map(\.value).filter { $0 != field.winner.value }
        return values.map { JSONObject(validated: Array(#"{"v":\#($0)}"#.utf8))["v"].map(EventText.text) ?? $0 }
            .joined(separator: " | ")
    }
}

/// The two moments of a comparison.
private struct Moments {
    let earlier: PointInTime
    let later: PointInTime

    init(_ session: Session, _ log: LogReader) throws(CommandFailure) {
        let known = session.arguments.values("known-at")
        let times = session.arguments.values("as-of")
        guard known.isEmpty != times.isEmpty, known.count + times.count <= 2 else {
            throw usageFailure(
                "one or two moments, with --known-at or with --as-of",
                hint: "syncctl diff u-1029 --known-at 10412 --known-at 10800")
        }
        let top = try stored { try log.top() }
        var moments: [PointInTime] = []
        for text in known {
            var moment = PointInTime()
            moment.knownAt = try Self.position(text, session, log, top)
            moments.append(moment)
        }
        for text in times {
            var moment = PointInTime()
            moment.asOf = try Self.time(text, session, log, top)
            moments.append(moment)
        }
        var now = PointInTime()
        // What comes meanwhile is not part of it.
        now.knownAt = top
        (earlier, later) = (moments[0], moments.count > 1 ? moments[1] : now)
        let isInOrder = (earlier.knownAt ?? 0, earlier.asOf ?? .min) <= (later.knownAt ?? 0, later.asOf ?? .max)
        guard isInOrder else {
            throw usageFailure("the first moment is after the second", hint: "the earlier one first")
        }
    }

    /// The position that a place or a time means; it must be there.
    private static func position(
        _ text: String, _ session: Session, _ log: LogReader, _ top: UInt64
    ) throws(CommandFailure) -> UInt64 {
        let digits = text.hasPrefix(Session.positionMark) ? text.dropFirst(Session.positionMark.count) : text[...]
        guard let position = UInt64(digits) else {
            let time = try session.time("known-at", text)
            return try stored { try log.known(at: time).position }
        }
        guard position <= top else {
            throw CommandFailure(
                code: "E_POSITION", "--known-at \(position): the log ends at position \(top)",
                hint: "a position up to \(top)", exitCode: .usage)
        }
        return position
    }

    private static func time(
        _ text: String, _ session: Session, _ log: LogReader, _ top: UInt64
    ) throws(CommandFailure) -> Int64 {
        guard text.hasPrefix(Session.positionMark) else { return try session.time("as-of", text) }
        let position = UInt64(text.dropFirst(Session.positionMark.count)) ?? 0
        let event = try stored { try log.event(at: position) }
        guard let event else {
            throw CommandFailure(
                code: "E_POSITION", "--as-of \(text): there is no event at this position",
                hint: "a position from 1 to \(top)", exitCode: .usage)
        }
        return event.event.header.displayKey.time
    }

    /// How they were understood.
    func text(_ session: Session) -> String {
        func text(_ moment: PointInTime) -> String {
            if let asOf = moment.asOf { return session.text(.asOf, session.moment(asOf), session.zoneName) }
            return session.text(.knownAt, String(moment.knownAt ?? 0))
        }
        return "\(text(earlier)) -> \(text(later))"
    }
}

/// Changes as rows, printed as they come.
private struct ChangeTable {
    private let session: Session
    private let message: MessageText
    private var rows: [[TextTable.Cell]] = []

    /// Rows whose widest cells decide together.
    private static let together = 1_000

    init(_ session: Session) { (self.session, message) = (session, MessageText(session)) }

    mutating func print(_ change: TimelineChange) throws(CommandFailure) {
        let header = change.after.stored.event.header
        let kinds = change.kinds.map { session.shown($0.wording) }.joined(separator: ", ")
        var cells: [TextTable.Cell] = [
            .init(kinds, style: change.kinds.contains(.added) ? .green : .yellow), .init(session.clock(header.time)),
            .init(EventText.who(header)), .init(header.type), .init(message.summary(change.after)),
        ]
        if session.arguments.flag("ids") { cells.insert(.init(header.id.description), at: 2) }
        rows.append(cells)
        if let before = change.before, !change.kinds.contains(.erased), change.kinds != [.beside] {
            var cells: [TextTable.Cell] = [
                .init("  " + session.shown(.stoodBefore)), "", "", "", .init(message.summary(before)),
            ]
            if session.arguments.flag("ids") { cells.insert("", at: 2) }
            rows.append(cells)
        }
        if rows.count >= Self.together { try finish() }
    }

    mutating func finish() throws(CommandFailure) {
        guard !rows.isEmpty else { return }
        var columns: [TextTable.Column] = [
            .whole(session.heading(.change)), .whole(session.headingOfTimes(.time)),
            .left(session.heading(.who)), .left(session.heading(.type)), .left(session.heading(.text)),
        ]
        if session.arguments.flag("ids") { columns.insert(.whole(session.heading(.id)), at: 2) }
        var table = TextTable(columns)
        for row in rows { table.add(row) }
        try session.print(table)
        rows = []
    }
}

extension TimelineChange.Kind {
    fileprivate var wording: Wording {
        switch self {
        case .added: .changeAdded
        case .edited: .changeEdited
        case .retracted: .changeRetracted
        case .beside: .changeBeside
        case .twin: .changeTwin
        case .erased: .changeErased
        }
    }
}

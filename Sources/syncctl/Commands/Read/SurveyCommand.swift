internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum SurveyCommand {
    static let entry = Subcommand(
        Command(
            "survey", "Answers of a survey, counted", group: "Read",
            arguments: [.init("name", "Which survey; without one all are listed.", count: .optional)],
            options: [
                .value("question", "ID", "Only this question."),
                .value(
                    "by", "WHAT", "Count for each day, bot, version of a persona, or conversation.",
                    allowed: SurveyGrouping.allCases.map(\.rawValue)),
                .value("choice", "VALUE", "With --by: only this answer."),
            ] + EventSelection.times + TimeRange.moments + [OutputForm.csvOption],
            examples: [
                .init("syncctl survey", "which surveys there are"),
                .init("syncctl survey pain", "how often each answer was given"),
                .init("syncctl survey satisfaction --by day --since 2026-11-01", "the same for each day"),
                .init(
                    "syncctl survey satisfaction --by conversation --choice dissatisfied",
                    "in which conversations that was answered"),
            ],
            discussion: "Exit code 1 when there is no such survey."), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let reads = try Reads(session)
        let range = try TimeRange(session)
        range.tell(session)
        guard let name = session.arguments.positional("name") else {
            return try list(reads.surveys(at: range.moment), range, session)
        }
        if let by = session.arguments.value("by").flatMap(SurveyGrouping.init) {
            return try groups(of: name, by, reads, range, session)
        }
        if session.arguments.value("choice") != nil || range.since != nil || range.until != nil {
            throw usageFailure("--choice, --since and --until go with --by")
        }
        let lines = try reads.survey(name, question: session.arguments.value("question"), at: range.moment)
        let counts = lines.map { SurveyCount($0, survey: name) }
        if session.isJSON {
            for line in lines { try session.print(line) }
        } else if session.isCSV {
            let csv = MemberCSV(columns: ["survey", "question", "value", "count"])
            try session.output.write(csv.header)
            for line in lines { try session.output.write(csv.record(line)) }
        } else if !counts.isEmpty {
            try print(counts, session)
        }
        try session.end(count: counts.count, range) { line in
            line.add("survey", name)
            line.add("answers", counts.reduce(0) { $0 + $1.count })
        }
        if counts.isEmpty { session.say(.noAnswers, name) }
        return counts.isEmpty ? .nothingFound : .success
    }

    private static func groups(
        of name: String, _ grouping: SurveyGrouping, _ reads: Reads, _ range: TimeRange, _ session: Session
    ) throws(CommandFailure) -> ExitCode {
        guard range.moment.isNow else {
            throw usageFailure("--by does not go with --as-of and --known-at", hint: "--until TIME")
        }
        var query = SurveyQuery(by: grouping)
        (query.question, query.choice) = (session.arguments.value("question"), session.arguments.value("choice"))
        (query.since, query.until) = (range.since, range.until)
        query.offset = Int64(session.zone.offset(session.now)) * 1_000
        let lines = try reads.survey(name, query, offset: session.offset)
        let csv = MemberCSV(columns: ["group", "question", "value", "count"])
        var table = TextTable([
            .left(session.heading(.group)), .left(session.heading(.question)), .left(session.heading(.answer)),
            .right(session.heading(.count)),
        ])
        if session.isCSV { try session.output.write(csv.header) }
        var previous: String?
        for line in lines {
            if session.isJSON { try session.print(line) }
            if session.isCSV { try session.output.write(csv.record(line)) }
            let group = line.string("group") ?? session.shown(.noGroup)
            let isRepeated = session.form == .human && previous == group
            table.add([
                .init(isRepeated ? "" : group), .init(line.string("question") ?? ""),
                .init(line.string("value") ?? ""), .init(line["count"]?.numberText ?? ""),
            ])
            previous = group
        }
        if !session.isJSON, !session.isCSV, !lines.isEmpty { try session.print(table) }
        try session.end(count: lines.count, range) { line in
            line.add("survey", name)
            line.add("by", grouping.rawValue)
        }
        if lines.isEmpty { session.say(.noAnswers, name) }
        return lines.isEmpty ? .nothingFound : .success
    }

    private static func list(
        _ surveys: [JSONObject], _ range: TimeRange, _ session: Session
    ) throws(CommandFailure) -> ExitCode {
        var table = TextTable([.left(session.heading(.survey)), .right(session.heading(.answers))])
        let csv = MemberCSV(columns: ["survey", "answers"])
        if session.isCSV { try session.output.write(csv.header) }
        for survey in surveys {
            if session.isJSON { try session.print(survey) }
            if session.isCSV { try session.output.write(csv.record(survey)) }
            table.add([.init(survey.string("survey") ?? ""), .init(survey["answers"]?.numberText ?? "")])
        }
        if !session.isJSON, !session.isCSV, !surveys.isEmpty { try session.print(table) }
        try session.end(count: surveys.count, range)
        if surveys.isEmpty { session.say(.noSurveys) }
        return surveys.isEmpty ? .nothingFound : .success
    }

    /// A table of all questions; bars show the share of the question's answers, a `#` for 5 %.
    private static func print(_ counts: [SurveyCount], _ session: Session) throws(CommandFailure) {
        var totals: [String: UInt64] = [:]
        for count in counts { totals[count.question, default: 0] += count.count }
        var columns: [TextTable.Column] = [
            .left(session.heading(.question)), .left(session.heading(.answer)), .right(session.heading(.count)),
            .right(session.heading(.share)),
        ]
        // Programs have the number.
        let hasBars = session.form == .human
        if hasBars { columns.append(.left("")) }
        var table = TextTable(columns)
        var previous: String?
        for count in inOrder(counts) {
            let share = Double(count.count) / Double(max(1, totals[count.question] ?? 1))
            let isRepeated = session.form == .human && previous == count.question
            let bar = String(repeating: "#", count: Int((share * 20).rounded(.up)))
            let cells: [TextTable.Cell] = [
                .init(isRepeated ? "" : count.question), .init(count.value), .init(String(count.count)),
                .init("\(Int((share * 100).rounded()))%"),
            ]
            table.add(hasBars ? cells + [.init(bar, style: .cyan)] : cells)
            previous = count.question
        }
        try session.print(table)
    }

    /// By question; ratings by number, other answers by how often they were given.
    private static func inOrder(_ counts: [SurveyCount]) -> [SurveyCount] {
        counts.sorted { a, b in
            if a.question != b.question { return a.question < b.question }
            if let x = Double(a.value), let y = Double(b.value), x != y { return x < y }
            if a.count != b.count { return a.count > b.count }
            return a.value < b.value
        }
    }
}

extension SurveyCount {
    fileprivate init(_ line: JSONObject, survey: String) {
        self.init(
            survey: survey, question: line.string("question") ?? "", value: line.string("value") ?? "",
            count: line.integer("count").map(UInt64.init(clamping:)) ?? 0)
    }
}

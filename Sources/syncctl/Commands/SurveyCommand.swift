internal import CommandLineKit
internal import EventStore

enum SurveyCommand: Subcommand {
    static let command = Command(
        "survey", "Surveys, or the answers to one by question.", group: "READ",
        arguments: [.init("name", "The survey; without it all are listed.", count: .optional)],
        options: [.value("question", "QUESTION", "Only this question.")],
        examples: [
            .init("syncctl survey", "which surveys there are"),
            .init("syncctl survey satisfaction", "how often each answer was given"),
        ])

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let views = try context.views()
        guard let name = context.arguments.positional("name") else { return try list(views, context) }
        var counts: [SurveyCount] = []
        var isCut = false
        try stored { () throws(StoreError) in
            try views.survey(name, question: context.arguments.value("question")) { count in
                isCut = counts.count >= 10_000 && context.form == .human
                if !isCut { counts.append(count) }
                return !isCut
            }
        }
        if context.form == .json {
            for count in counts { try context.output.line(json(count)) }
        } else if !counts.isEmpty {
            try context.show(table(counts))
        }
        if isCut { context.remark("only the first 10,000 rows are shown; --json and --plain show all") }
        try context.end(counts.count)
        if counts.isEmpty { context.remark("no answers to survey \(name)") }
        return counts.isEmpty ? .nothingFound : .success
    }

    private static func list(_ views: ViewReader, _ context: Context) throws(CommandFailure) -> ExitCode {
        let surveys = try stored { () throws(StoreError) in try views.surveys() }
        var table = TextTable([.left("SURVEY"), .right("ANSWERS")])
        for survey in surveys {
            if context.form == .json {
                var line = JSONLine(type: "survey")
                line.add("survey", survey.survey)
                line.add("answers", survey.answers)
                try context.output.line(line)
            } else {
                table.add([.init(survey.survey), .init(String(survey.answers))])
            }
        }
        if context.form != .json, !surveys.isEmpty { try context.show(table) }
        try context.end(surveys.count)
        return surveys.isEmpty ? .nothingFound : .success
    }

    /// Bars of `#`, a share of the question's answers each.
    private static func table(_ counts: [SurveyCount]) -> TextTable {
        var totals: [String: UInt64] = [:]
        for count in counts { totals[count.question, default: 0] += count.count }
        var table = TextTable([
            .left("QUESTION"), .left("ANSWER"), .right("COUNT"), .right("SHARE"), .left(""),
        ])
        for count in counts {
            let total = max(totals[count.question] ?? 1, 1)
            table.add([
                .init(count.question), .init(count.value), .init(String(count.count)),
                .init("\((count.count * 100 + total / 2) / total)%"),
                .init(String(repeating: "#", count: Int((count.count * 30 + total - 1) / total))),
            ])
        }
        return table
    }

    private static func json(_ count: SurveyCount) -> JSONLine {
        var line = JSONLine(type: "count")
        line.add("survey", count.survey)
        line.add("question", count.question)
        line.add("value", count.value)
        line.add("count", count.count)
        return line
    }
}

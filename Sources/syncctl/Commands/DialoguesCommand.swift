internal import CommandLineKit
internal import EventStore
internal import Interchange

enum DialoguesCommand {
    static let entry = Subcommand(
        Command(
            "dialogues", "Questions and their answers, with what users thought of them", group: "Read",
            options: [
                .value("user", short: "u", "USER", "Only this user's history.", names: "users"),
                .value("conversation", "ID", "Only this conversation.", names: "conversations"),
            ] + EventSelection.times + [
                .value(
                    "survey", "NAME[=VALUE]",
                    "Answers of this survey (default: satisfaction). With VALUE: only what was answered so."),
                OutputForm.csvOption,
            ],
            examples: [
                .init("syncctl dialogues --csv > pairs.csv", "all of them, for a spreadsheet"),
                .init("syncctl dialogues --survey satisfaction=dissatisfied", "those that did not help"),
            ],
            discussion: """
                The question of an answer is its cause, else the last message of a person before it; both as they stand \
                now. 'syncctl export --format dialogues' writes the same records as --csv. Exit code 1 when nothing matched.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let survey = try FormatExport.survey(session) ?? SurveyWish("satisfaction")
        var table = TextTable([
            .whole(session.headingOfTimes(.time)), .whole(session.heading(.conversation)),
            .left(session.heading(.user)), .left(session.heading(.asked)), .left(session.heading(.replied)),
            .right(session.heading(.seconds)), .left(session.heading(.satisfaction)),
        ])
        let writer =
            switch session.form {
            case .csv: Dialogues(survey)
            case .json: Dialogues(survey, header: "") { line($0).text + "\n" }
            case .human, .plain:
                Dialogues(survey, header: "") { dialogue in
                    table.add(cells(dialogue, session))
                    return ""
                }
            }
        let export = try FormatExport(session, try Reads(session), writer)
        let code = try export.run()
        if !table.isEmpty { try session.print(table) }
        try session.end(count: writer.written, export.range)
        return code
    }

    private static func cells(_ dialogue: Dialogue, _ session: Session) -> [TextTable.Cell] {
        [
            .init(session.clock(dialogue.asked)), .init(dialogue.conversation ?? "-"), .init(dialogue.user),
            .init(dialogue.question), .init(dialogue.answer), .init(dialogue.seconds),
            .init(dialogue.satisfaction ?? ""),
        ]
    }

    private static func line(_ dialogue: Dialogue) -> JSONLine {
        var line = JSONLine(type: "dialogue")
        line.add("conversation", dialogue.conversation)
        line.add("user", dialogue.user)
        line.add("bot", dialogue.bot)
        line.add("asked", Timestamp.text(dialogue.asked))
        line.add("question", dialogue.question)
        line.add("answered", Timestamp.text(dialogue.answered))
        line.add("answer", dialogue.answer)
        line.addRaw("seconds", dialogue.seconds)
        line.add("satisfaction", dialogue.satisfaction)
        line.add("reason", dialogue.reason)
        line.add("comment", dialogue.comment)
        line.add("question_id", dialogue.questionID.description)
        line.add("answer_id", dialogue.answerID.description)
        return line
    }
}

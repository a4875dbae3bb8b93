internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum VerifyCommand {
    static let entry = Subcommand(
        Command(
            "verify", "Proves that nothing in the store was changed", group: "Trust",
            options: [
                .value("since", "RECEIPT", "Also that the log goes on from this receipt.", repeatable: true),
                ViewsVerification.option, ViewsVerification.eventsOption, ActorsVerification.option,
                UserVerification.option,
                .flag("daemon", "Has the daemon do it, and does not wait: 'status' tells how it ended."),
            ],
            examples: [
                .init("syncctl verify", "hashes every event again and checks every signature"),
                .init("syncctl verify --store /media/copy --json", "a copy, for a program"),
                .init("syncctl verify --since june.receipt", "nothing that the receipt tells of is gone or another"),
                .init("syncctl verify --views", "also everything that queries answer from"),
                .init("syncctl verify --views --diff", "with the events behind each row that differs"),
                .init("syncctl verify --actors", "also whether the tokens that events name were granted"),
                .init("syncctl verify --user u-1029", "one user's events, without reading those of others"),
                .init("syncctl verify --daemon --url https://busan:7461", "of a node elsewhere, by its own daemon"),
            ],
            discussion: """
                Reads only, needs no daemon and no key, and may run while the store is written. Exit code 0 when \
                everything is proven, 2 when not all is covered by a signed head yet, 3 when something contradicts.
                """), run: run)

    /// What cannot even be read as a store is damaged, too.
    static func damage(_ error: CommandFailure) -> CommandFailure {
        guard error.code == StoreError.corrupt("").code else { return error }
        var failure = error
        failure.hint = "a peer or a backup has a good copy (operating/trouble.md, \"Damage\")"
        failure.exitCode = .integrityFailure
        return failure
    }

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        if let user = session.arguments.value("user") { return try UserVerification.run(user, session) }
        if session.arguments.flag("daemon") { return try askDaemon(session) }
        let files = try StoreLocation.find(for: session).files
        let views = session.arguments.flag("views") ? try ViewsVerification.run(files, session) : nil
        let actors = session.arguments.flag("actors") ? try ActorsVerification.run(files, session) : nil
        let known = try KnownElsewhere(files, session)
        let start = MonotonicClock.now
        var progress = Progress("verify", unit: "events", style: session.style())
        let report: VerifyReport
        do throws(StoreError) {
            let verifier = Verifier(files, known: known.heads, ends: known.ends, unread: known.unread)
            report = try verifier.run { done, total in
                progress.update(done: done, total: total)
            }
        } catch {
            throw damage(CommandFailure(error))
        }
        progress.finish(done: report.events, total: report.top)
        let milliseconds = Int64((MonotonicClock.now - start) / 1_000_000)
        let verdict = Verdict(report: report, views: views, actors: actors)
        if session.isJSON {
            try json(verdict, known, milliseconds, session)
        } else {
            for line in text(verdict, known, milliseconds, session) {
                try session.output.line(Sanitizer.line(line))
            }
        }
        return switch verdict.answer {
        case .proven: .success
        case .notCovered: .degraded
        case .contradicted: .integrityFailure
        }
    }

    private static func askDaemon(_ session: Session) throws(CommandFailure) -> ExitCode {
        let arguments = session.arguments
        for other in ["views", "diff", "actors"] where arguments.flag(other) {
            throw usageFailure("--daemon does not go with --\(other): the daemon verifies the log alone")
        }
        guard arguments.values("since").isEmpty else {
            throw usageFailure("--daemon does not go with --since: a receipt is compared here")
        }
        let answer = try DaemonClient.required(by: session, to: "verify within itself")
            .post(Route.verifications.path)
        let position = UInt64(clamping: answer.integer("position") ?? 0)
        try session.line(session.shown(.verifyAsked, String(position)), "verifying") { line in
            line.add("position", position)
        }
        try session.end(count: 1)
        return .success
    }

    /// A remark below the checks, with what it is.
    static func remark(_ label: Wording, _ text: String, _ session: Session) -> String {
        "  " + DisplayWidth.pad(session.shown(label), to: 13) + text
    }

    private static func text(
        _ verdict: Verdict, _ known: KnownElsewhere, _ milliseconds: Int64, _ session: Session
    ) -> [String] {
        let report = verdict.report
        func remark(_ label: Wording, _ text: String) -> String { Self.remark(label, text, session) }
        var lines = [session.shown(.checkedEvents, String(report.events), String(report.top))]
        for check in VerifyCheck.allCases {
            let count = report.count(of: check)
            let state = session.shown(count == 0 ? .checkPassed : .checkFailed)
            let detail = count == 0 ? session.shown(check.meaning) : session.counted(count, .finding)
            lines.append(
                "  " + DisplayWidth.pad(check.rawValue, to: 11) + DisplayWidth.pad(state, to: 8) + detail)
        }
        lines += report.findings.map { "  ! \($0)" }
        let hidden = report.findingCount - UInt64(report.findings.count)
        if hidden > 0 { lines.append("  ! " + session.shown(.moreHidden, String(hidden))) }
        if report.erased > 0 {
            lines.append(remark(.notCovered, session.shown(.erasedUncovered, String(report.erased))))
        }
        if report.unsigned > 0 {
            let seal = report.seal.wording.map { session.shown($0) } ?? ""
            lines.append(remark(.notCovered, session.shown(.unsignedUncovered, String(report.unsigned)) + seal))
        }
        lines += report.notes.map { remark(.notCovered, session.translated($0)) }
        lines += report.remarks.map { remark(.remarkOf, session.translated($0)) }
        lines += known.texts(report, session)
        lines.append(remark(.notCovered, session.shown(.cutUncovered)))
        for origin in report.origins {
            let root = origin.root.map { String($0.description.prefix(16)) } ?? session.shown(.isUnknown)
            let line = session.shown(
                .originLine, origin.origin.description, origin.node.short, String(origin.size),
                String(origin.headSize), root)
            lines.append(remark(.rowOrigin, line))
        }
        lines += report.forks.map {
            let line = $0.namesEvent ? Wording.forkLine : .forkOfHeadsLine
            return remark(.rowFork, session.shown(line, $0.origin.description, String($0.seq), $0.name))
        }
        return lines + [verdict.text(session) + "   " + session.shown(.tookTime, TimeSpan.text(milliseconds))]
    }

    private static func json(
        _ verdict: Verdict, _ known: KnownElsewhere, _ milliseconds: Int64, _ session: Session
    ) throws(CommandFailure) {
        let report = verdict.report
        for finding in report.findings {
            var line = JSONLine(type: "finding")
            line.add("check", finding.check.rawValue)
            if let position = finding.position { line.add("position", position) }
            if let dot = finding.dot { line.add("event", dot.description) }
            if let id = finding.eventID { line.add("id", id.description) }
            line.add("message", finding.message)
            try session.output.line(line)
        }
        for origin in report.origins {
            var line = JSONLine(type: "origin")
            line.add("origin", origin.origin.description)
            line.add("node", origin.node.description)
            line.add("size", origin.size)
            line.add("signed", origin.headSize)
            line.add("root", origin.root?.description)
            try session.output.line(line)
        }
        for fork in report.forks {
            var line = JSONLine(type: "fork")
            line.add("origin", fork.origin.description)
            line.add("seq", fork.seq)
            line.add("proof", "evidence/\(fork.name).json")
            try session.output.line(line)
        }
        let lines =
            report.findings.count + report.origins.count + report.forks.count + (verdict.views?.lines ?? 0)
            + (verdict.actors?.lines ?? 0)
        try session.end(count: lines) { line in
            line.add("intact", verdict.answer != .contradicted)
            line.add("answer", verdict.answer.rawValue)
            if let views = verdict.views { line.add("views", views.answer.rawValue) }
            if let actors = verdict.actors { line.add("actors", actors.answer.rawValue) }
            line.add("position", report.top)
            line.add("events", report.events)
            line.add("erased", report.erased)
            line.add("unsigned", report.unsigned)
            line.add("seal", report.seal.rawValue)
            line.add("notes", report.notes)
            line.add("remarks", report.remarks)
            line.add("since", known.receipts.map(\.path))
            line.addObject("findings") { object in
                for check in VerifyCheck.allCases { object.add(check.rawValue, report.count(of: check)) }
            }
            line.add("took_ms", milliseconds)
        }
    }
}

/// What a verification comes to: exit code, last line and JSON say the same.
private struct Verdict {
    let report: VerifyReport
    /// `nil` if they were not asked for.
    let views: ViewsVerification.Outcome?
    let actors: ActorsVerification.Outcome?

    /// The worst of them.
    var answer: VerifyAnswer {
        let answers = [report.answer, views?.answer ?? .proven, actors?.answer ?? .proven]
        if answers.contains(.contradicted) { return .contradicted }
        return answers.contains(.notCovered) ? .notCovered : .proven
    }

    /// Says no more than was proved.
    func text(_ session: Session) -> String {
        let places = session.counted(views?.differences ?? 0, .place)
        let range = report.top == 0 ? session.shown(.emptyLog) : session.shown(.positionsTo, String(report.top))
        let but = report.erased > 0 ? session.shown(.butErased, String(report.erased)) : ""
        let forks =
            report.forks.isEmpty ? "" : session.shown(.forksProven, session.counted(report.forks.count, .fork))
        switch answer {
        case .contradicted where report.isIntact && views?.answer != .contradicted:
            return session.shown(.actorsContradict, range)
        case .contradicted where report.isIntact: return session.shown(.viewsContradictOnly, places, range)
        case .contradicted:
            let found = session.shown(.isDamaged, session.counted(report.findingCount, .finding))
            return found + (views?.answer == .contradicted ? session.shown(.andViewsContradict, places) : "")
        case .notCovered:
            let lacking = views?.answer == .notCovered ? session.shown(.notAllViews) : ""
            return session.shown(.notAllCovered, range, but, String(report.unsigned), lacking, forks)
        case .proven: return session.shown(.isVerified, range, but, forks)
        }
    }
}

extension VerifyCheck {
    /// What holds when the check found nothing.
    fileprivate var meaning: Wording {
        switch self {
        case .database: .meansDatabase
        case .index: .meansIndex
        case .positions: .meansPositions
        case .order: .meansOrder
        case .events: .meansEvents
        case .names: .meansNames
        case .tree: .meansTree
        case .heads: .meansHeads
        case .origins: .meansOrigins
        case .twins: .meansTwins
        case .ends: .meansEnds
        case .seals: .meansSeals
        case .erasures: .meansErasures
        }
    }
}

extension TailSeal {
    /// What follows the count of unsigned events.
    fileprivate var wording: Wording? {
        switch self {
        case .none: nil
        case .present: .sealedUnchecked
        case .right: .sealedRight
        }
    }
}

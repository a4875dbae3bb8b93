internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// What `verify --actors` adds: whether the tokens that events name were granted.
enum ActorsVerification {
    static let option = Command.Option.flag(
        "actors", "Also compares who had events appended with the tokens that were granted.")

    struct Outcome {
        let answer: VerifyAnswer
        /// Lines of JSON that were printed.
        let lines: Int
    }

    private static let page = 4_096

    /// Prints what was found.
    static func run(_ files: StoreFiles, _ session: Session) throws(CommandFailure) -> Outcome {
        let reader = try stored { try LogReader(files) }
        let top = try stored { try reader.top() }
        var progress = Progress("actors", unit: "events", style: session.style())
        var audit = ActorsAudit()
        var position: UInt64 = 0
        while position < top {
            let next = try stored {
                try reader.scan(after: position, limit: page) { event in
                    if event.position <= top { audit.take(event) }
                    return true
                }
            }
            guard next > position else { break }
            position = next
            progress.update(done: min(position, top), total: top)
        }
        progress.finish(done: top, total: top)
        if session.isJSON { try json(audit, session) } else { try text(audit, session) }
        let isGranted = audit.findings.isEmpty
        return Outcome(
            answer: isGranted ? .proven : .contradicted, lines: session.isJSON ? audit.findings.count + 1 : 0)
    }

    private static func text(_ audit: ActorsAudit, _ session: Session) throws(CommandFailure) {
        for finding in audit.findings {
            let text = session.shown(
                .actorLine, "\(finding.actor)", session.counted(finding.events, .event), String(finding.position),
                session.shown(finding.problem.wording))
            try session.output.line(Sanitizer.line("  ! " + text))
        }
        if audit.hidden > 0 {
            try session.output.line("  ! " + session.shown(.actorsHidden, session.counted(audit.hidden, .event)))
        }
        let rest = session.shown(.actorsRest, String(audit.asserted), String(audit.nameless))
        try session.output.line(
            audit.findings.isEmpty
                ? session.shown(.actorsVerified, session.counted(audit.checked, .event), rest)
                : session.shown(.actorsAgainst, session.counted(audit.findings.count, .finding), rest))
    }

    private static func json(_ audit: ActorsAudit, _ session: Session) throws(CommandFailure) {
        for finding in audit.findings {
            var line = JSONLine(type: "actor")
            line.add("actor", finding.actor.text)
            line.add("problem", finding.problem.rawValue)
            line.add("events", finding.events)
            line.add("position", finding.position)
            try session.output.line(line)
        }
        var line = JSONLine(type: "actors")
        line.add("checked", audit.checked)
        line.add("asserted", audit.asserted)
        line.add("nameless", audit.nameless)
        line.add("findings", audit.findings.count)
        line.add("hidden", audit.hidden)
        try session.output.line(line)
    }
}

extension ActorsAudit.Problem {
    fileprivate var wording: Wording {
        switch self {
        case .neverGranted: .tokenNeverGranted
        case .otherPrincipal: .tokenOfOther
        case .over: .tokenOver
        case .revoked: .tokenTakenBack
        case .author: .tokenNoAuthor
        }
    }
}

internal import CommandLineKit
internal import EventStore

enum VerifyCommand {
    static let entry = Subcommand(
        Command(
            "verify", "Proves that nothing in the store was changed", group: "Trust",
            options: [ViewsVerification.option],
            examples: [
                .init("syncctl verify", "hashes every event again and checks every signature"),
                .init("syncctl verify --store /media/copy --json", "a copy, for a program"),
                .init("syncctl verify --views", "also everything that queries answer from"),
            ],
            discussion: """
                Reads only, needs no daemon and no key, and may run while the store is written. Exit code 0 when \
                everything is proven, 2 when not all is covered by a signed head yet, 3 when something contradicts.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let files = try StoreLocation.find(for: session).files
        let views = session.arguments.flag("views") ? try ViewsVerification.run(files, session) : .success
        let start = MonotonicClock.now
        var progress = Progress("verify", unit: "events", style: session.style())
        let report = try stored {
            try Verifier(files).run { done, total in progress.update(done: done, total: total) }
        }
        progress.finish(done: report.events, total: report.top)
        let milliseconds = Int64((MonotonicClock.now - start) / 1_000_000)
        if session.isJSON {
            try json(report, milliseconds, session)
        } else {
            for line in text(report, milliseconds) { try session.output.line(Sanitizer.line(line)) }
        }
        let log: ExitCode =
            switch report.answer {
            case .proven: .success
            case .notCovered: .degraded
            case .contradicted: .integrityFailure
            }
        return views.rawValue > log.rawValue ? views : log
    }

    private static func text(_ report: VerifyReport, _ milliseconds: Int64) -> [String] {
        var lines = ["Checked \(report.events) events (log fixed at position \(report.top))"]
        for check in VerifyCheck.allCases {
            let count = report.count(of: check)
            let state = count == 0 ? "ok" : "FAILED"
            let detail = count == 0 ? check.meaning : EventText.count(count, "finding")
            lines.append(
                "  " + DisplayWidth.pad(check.rawValue, to: 11) + DisplayWidth.pad(state, to: 8) + detail)
        }
        lines += report.findings.map { "  ! \($0)" }
        let hidden = report.findingCount - UInt64(report.findings.count)
        if hidden > 0 { lines.append("  ! and \(hidden) more") }
        if report.erased > 0 {
            lines.append(
                "  not covered  what \(report.erased) erased events said; their headers and digests are proved")
        }
        if report.unsigned > 0 {
            lines.append(
                "  not covered  \(report.unsigned) events that no signed head speaks of yet" + report.seal.text)
        }
        lines += report.notes.map { "  not covered  \($0)" }
        lines += report.remarks.map { "  note         \($0)" }
        lines.append(
            "  not covered  a newest part cut off with all that knows of it: compare the roots with a peer's")
        for origin in report.origins {
            lines.append(
                "  origin       \(origin.origin) node \(origin.node.short) size \(origin.size) signed to "
                    + "\(origin.headSize) root \(origin.root.map { String($0.description.prefix(16)) } ?? "unknown")")
        }
        return lines + [verdict(report) + "   took \(TimeSpan.text(milliseconds))"]
    }

    /// The last line says no more than was proved.
    private static func verdict(_ report: VerifyReport) -> String {
        guard report.isIntact else { return "DAMAGED  \(report.findingCount) findings" }
        let range = report.top == 0 ? "an empty log" : "positions 1..\(report.top)"
        let but = report.erased > 0 ? " but for \(report.erased) erased" : ""
        guard report.answer == .notCovered else { return "VERIFIED  \(range)\(but)" }
        return "NOT ALL COVERED  \(range)\(but), \(report.unsigned) unsigned"
    }

    private static func json(
        _ report: VerifyReport, _ milliseconds: Int64, _ session: Session
    ) throws(CommandFailure) {
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
        try session.end(count: report.findingCount) { line in
            line.add("intact", report.isIntact)
            line.add("answer", report.answer.rawValue)
            line.add("position", report.top)
            line.add("events", report.events)
            line.add("erased", report.erased)
            line.add("unsigned", report.unsigned)
            line.add("seal", report.seal.rawValue)
            line.add("notes", report.notes)
            line.add("remarks", report.remarks)
            line.addObject("findings") { object in
                for check in VerifyCheck.allCases { object.add(check.rawValue, report.count(of: check)) }
            }
            line.add("took_ms", milliseconds)
        }
    }
}

extension VerifyCheck {
    /// What holds when the check found nothing.
    fileprivate var meaning: String {
        switch self {
        case .database: "a sound database of the right tables"
        case .index: "indexes agree with their tables"
        case .positions: "gapless from 1"
        case .order: "each origin's sequence is gapless; causes stand before their effects"
        case .events: "every event has the hash it was stored with"
        case .names: "every interned text is one"
        case .tree: "Merkle nodes are those of the events"
        case .heads: "every signature is valid and speaks of these events"
        case .origins: "each origin belongs to the node it names"
        case .twins: "repeated ids are marked, and nothing else is"
        case .ends: "it reaches as far as mark, witness and WAL know, and says the same"
        case .seals: "what no head covers yet of its own events carries the node's seal"
        case .erasures: "what lost its payload was erased by an event that says so"
        }
    }
}

extension TailSeal {
    /// What follows the count of unsigned events.
    fileprivate var text: String {
        switch self {
        case .none: ""
        case .present: "; its own are sealed, which only its key could check"
        case .right: "; its own carry this node's seal"
        }
    }
}

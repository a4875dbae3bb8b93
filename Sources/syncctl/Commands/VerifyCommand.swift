internal import CommandLineKit
internal import EventStore

enum VerifyCommand: Subcommand {
    static let command = Command(
        "verify", "Proves the log from its files: events, order, trees, signatures.", group: "TRUST",
        examples: [.init("syncctl verify --store ./copy", "also of a copy, without a daemon")],
        discussion: """
            Every event is hashed again and every Merkle root and signature checked. Damage is named event by event, and \
            the exit code is 3.
            """)

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let files = try context.storeFiles()
        var progress = Progress("Verifying", unit: "events", style: context.progressStyle)
        let started = MonotonicClock.now
        let report = try stored { () throws(StoreError) in
            try Verifier(files).run { done, total in progress.update(done: done, total: total) }
        }
        progress.finish(done: report.events, total: report.top)
        let seconds = Double(MonotonicClock.now - started) / 1e9
        if context.form == .json {
            try json(report, context)
        } else {
            try show(report, seconds, context)
        }
        return report.isIntact ? .success : .integrityFailure
    }

    private static func show(_ report: VerifyReport, _ seconds: Double, _ context: Context) throws(CommandFailure) {
        try context.output.line("Checked \(report.events) events (top fixed at position \(report.top))")
        for check in VerifyCheck.allCases {
            let count = report.count(of: check)
            let state = count == 0 ? "ok" : "\(count) findings"
            try context.output.line("  \(DisplayWidth.pad(check.rawValue, to: 12))\(state)")
        }
        for origin in report.origins {
            try context.output.line(
                "  origin \(origin.origin) of node \(origin.node.short): \(origin.size) events, signed to "
                    + "\(origin.headSize)")
        }
        if report.erased > 0 {
            try context.output.line("  not covered: what \(report.erased) erased events said (their digests are)")
        }
        if report.unsigned > 0 {
            try context.output.line(
                "  not covered: \(report.unsigned) newest events that no signed head speaks of yet")
        }
        for finding in report.findings { try context.output.line("  " + Sanitizer.line(finding.description)) }
        let hidden = report.findingCount - UInt64(report.findings.count)
        if hidden > 0 { try context.output.line("  and \(hidden) more findings") }
        let tenths = Int(seconds * 10)
        let verdict = report.isIntact ? "VERIFIED" : "DAMAGED"
        try context.output.line("\(verdict)  positions 1..\(report.top)   took \(tenths / 10).\(tenths % 10) s")
    }

    private static func json(_ report: VerifyReport, _ context: Context) throws(CommandFailure) {
        for finding in report.findings {
            var line = JSONLine(type: "finding")
            line.add("check", finding.check.rawValue)
            if let position = finding.position { line.addExact("position", position) }
            line.add("origin", finding.dot?.origin.description)
            if let dot = finding.dot { line.addExact("sequence", dot.seq) }
            line.add("id", finding.eventID?.description)
            line.add("message", finding.message)
            try context.output.line(line)
        }
        for origin in report.origins {
            var line = JSONLine(type: "origin")
            line.add("origin", origin.origin.description)
            line.add("node", origin.node.description)
            line.addExact("size", origin.size)
            line.add("root", origin.root?.description)
            line.addExact("signed", origin.headSize)
            try context.output.line(line)
        }
        try context.end(Int(report.events)) { line in
            line.add("intact", report.isIntact)
            line.add("findings", report.findingCount)
            line.add("erased", report.erased)
            line.add("unsigned", report.unsigned)
            line.addExact("top", report.top)
        }
    }
}

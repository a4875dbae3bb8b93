internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// What `verify --views` adds: the views are made again from the log and compared.
enum ViewsVerification {
    static let option = Command.Option.flag("views", "Also makes the views again from the log, and compares them.")
    static let eventsOption = Command.Option.flag(
        "diff", "With --views: the events behind each row that differs.")

    /// What was found of the views, for the last line of the answer.
    struct Outcome {
        /// Not all covered if there are no views, or they are behind.
        let answer: VerifyAnswer
        /// Places in which they contradict the log.
        var differences: UInt64 = 0
        /// Lines of JSON that were printed.
        var lines = 0
    }

    /// Prints what was found.
    static func run(_ files: StoreFiles, _ session: Session) throws(CommandFailure) -> Outcome {
        let top = try stored { try LogReader(files).top() }
        var progress = Progress("views", unit: "events", style: session.style())
        let report: ViewsReport
        letGo(files)
        let mark = ViewsMark(files)
        let standing = mark?.standing
        do throws(StoreError) {
            report = try ViewsCheck(files).run(progress: { done, total in progress.update(done: done, total: total) })
        } catch {
            guard case .busy(let why) = error else { throw CommandFailure(error) }
            session.say(.viewsIncomparable, why)
            return Outcome(answer: .notCovered)
        }
        progress.finish(done: report.position, total: report.position)
        // A daemon does so itself; who may not write the store leaves it as it is.
        if report.isIntact, let standing, StoreLock.owner(files) == nil { try? mark?.prove(since: standing) }
        let lacking = top - min(top, report.position)
        let log = session.arguments.flag("diff") ? try stored { try LogReader(files) } : nil
        if session.isJSON {
            try json(report, lacking, log, session)
        } else {
            try text(report, lacking, log, session)
        }
        return Outcome(
            answer: report.isIntact ? lacking == 0 ? .proven : .notCovered : .contradicted, differences: report.count,
            lines: session.isJSON ? report.differences.count + 1 : 0)
    }

    /// Closes in order what a killed process had open: only of a file that no process has open can be told that it was compared. Who may not
    /// write the store leaves it as it is.
    private static func letGo(_ files: StoreFiles) {
        guard StoreLock.owner(files) == nil, ViewsMark(files)?.isUnproven == true,
            let lock = try? StoreLock(files, owner: "syncctl verify")
        else { return }
        defer { withExtendedLifetime(lock) {} }
        _ = try? Projector.catchUp(files)
    }

    private static func text(
        _ report: ViewsReport, _ lacking: UInt64, _ log: LogReader?, _ session: Session
    ) throws(CommandFailure) {
        for difference in report.differences {
            try session.output.line(Sanitizer.line("  ! \(session.shown(.rowViews)) \(difference)"))
            for event in try events(behind: difference, log) {
                try session.output.line(Sanitizer.line("      \(line(event, session))"))
            }
        }
        let hidden = report.count - UInt64(report.differences.count)
        if hidden > 0 { try session.output.line("  ! " + session.shown(.moreHidden, String(hidden))) }
        if lacking > 0 {
            let text = session.shown(.viewsUnread, session.counted(lacking, .event))
            try session.output.line(VerifyCommand.remark(.notCovered, text, session))
        }
        let verdict =
            report.isIntact
            ? session.shown(.viewsVerified, session.counted(report.rows, .row), String(report.position))
            : session.shown(.viewsContradict, session.counted(report.count, .place))
        try session.output.line(verdict)
    }

    /// The events that a row is made of.
    private static func events(
        behind difference: ViewDifference, _ log: LogReader?
    ) throws(CommandFailure) -> [StoredEvent] {
        guard let log else { return [] }
        var events: [StoredEvent] = []
        for position in difference.events {
            if let event = try stored({ try log.event(at: position) }) { events.append(event) }
        }
        return events
    }

    private static func line(_ stored: StoredEvent, _ session: Session) -> String {
        let header = stored.event.header
        let parts = [
            "\(stored.position)", session.clock(header.time), EventText.who(header), header.type,
            header.id.description, EventText.summary(stored.event, in: session.outputLanguage),
        ]
        return parts.joined(separator: "  ")
    }

    private static func json(
        _ report: ViewsReport, _ lacking: UInt64, _ log: LogReader?, _ session: Session
    ) throws(CommandFailure) {
        let lines = try log.map { log throws(CommandFailure) in try stored { try EventLines(log) } }
        for difference in report.differences {
            var line = JSONLine(type: "difference")
            line.add("view", difference.view)
            line.add("row", difference.row)
            line.add("field", difference.field)
            line.add("found", difference.found)
            line.add("expected", difference.expected)
            if let lines {
                var objects: [[UInt8]] = []
                for event in try events(behind: difference, log) {
                    objects.append(try stored { try lines.object(event).bytes })
                }
                line.addRaw(
                    "events", "[\(objects.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ","))]")
            }
            try session.output.line(line)
        }
        var line = JSONLine(type: "views")
        line.add("intact", report.isIntact)
        line.add("position", report.position)
        line.add("rows", report.rows)
        line.add("differences", report.count)
        line.add("behind", lacking)
        try session.output.line(line)
    }
}

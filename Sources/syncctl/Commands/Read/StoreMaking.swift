internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// `replay --into`: a store made anew of the events of another, and what comparing the two says.
enum StoreMaking {
    private enum Comparison: String {
        case equal, differ
        /// The log went on.
        case notCompared = "not_compared"
    }

    static func run(_ session: Session, isAll: Bool) throws(CommandFailure) -> ExitCode {
        let arguments = session.arguments
        let selection = try EventSelection(session)
        let isNarrow =
            selection.hasScope || !selection.types.isEmpty || !selection.authors.isEmpty
            || selection.range.since != nil || selection.range.until != nil || selection.range.asOf != nil
        guard isAll, !isNarrow, arguments.value("speed") ?? "max" == "max", arguments.value("order") != "time" else {
            throw usageFailure(
                "--into replays all events in the order of the log",
                hint: "syncctl replay --all --into DIR")
        }
        // Between two heads the end of a log is nobody's word: `verify` would call such a store forged.
        guard selection.range.known == nil else {
            throw usageFailure(
                "--into makes the whole log anew, not that of --known-at",
                hint: "syncctl backup create REPOSITORY; syncctl backup restore REPOSITORY --into DIR --to PLACE")
        }
        let folder = arguments.value("into") ?? ""
        guard !folder.isEmpty else { throw usageFailure("--into: the empty text names no folder") }
        let location = try StoreLocation.find(for: session)
        let source = try location.reader()
        let through = try stored { try source.top() }
        guard through > 0 else { throw usageFailure("there is no event to replay") }
        try StoreLocation.requireOutside(folder)
        selection.range.tell(session)
        guard let report = try make(folder, location.files, through, session) else {
            session.say(.replayEnded, folder)
            return .interrupted
        }
        return try compare(report, folder, location.files, session)
    }

    /// `nil` if it was interrupted.
    private static func make(
        _ folder: String, _ files: StoreFiles, _ through: UInt64, _ session: Session
    ) throws(CommandFailure) -> StoreReplay.Report? {
        Interrupt.watchEnd()
        var progress = Progress("replay", unit: "events", style: session.style())
        do throws(StoreError) {
            let report = try StoreReplay(files, through: through).make(in: folder) { position in
                progress.update(done: position, total: through)
                return !Interrupt.isRequested
            }
            progress.finish(done: report.position, total: through)
            return report
        } catch {
            if case .closed = error, Interrupt.isRequested { return nil }
            var failure = CommandFailure(error)
            // Something is in the folder: it cannot be made.
            if case .badFile = error { failure.exitCode = .cannotCreate }
            throw failure
        }
    }

    private static func compare(
        _ report: StoreReplay.Report, _ folder: String, _ files: StoreFiles, _ session: Session
    ) throws(CommandFailure) -> ExitCode {
        let roots: Comparison = report.differing.isEmpty ? .equal : .differ
        let old = try FreshViews.open(session, files, isIndexed: true)
        let new = try FreshViews.open(session, StoreFiles(folder), isIndexed: true)
        let digests = (try stored { try old.digests() }, try stored { try new.digests() })
        // Asked for last: what came meanwhile is in the views.
        let isWhole = try stored { try old.indexed() } == report.position
        let views: Comparison = isWhole ? digests.0 == digests.1 ? .equal : .differ : .notCompared
        for origin in report.differing where !session.isJSON {
            session.remark(.rootDiffers, "\(origin)")
        }
        try session.line(
            Sanitizer.line(session.shown(.replayedInto, String(report.position), folder)), "replayed"
        ) { line in
            line.add("folder", folder)
            line.add("position", report.position)
            line.add("origins", report.origins.count)
            line.add("roots", roots.rawValue)
            line.add("views", views.rawValue)
        }
        if !session.isJSON {
            for (label, outcome) in [(Wording.replayedRoots, roots), (.replayedViews, views)] {
                let wording: Wording =
                    switch outcome {
                    case .equal: .isEqual
                    case .differ: .isOther
                    case .notCompared: .isNotCompared
                    }
                try session.output.line("\(session.shown(label)): \(session.shown(wording))")
            }
        }
        try session.end(count: 1)
        return roots == .differ || views == .differ ? .integrityFailure : .success
    }
}

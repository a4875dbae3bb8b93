internal import EventStore
internal import Glibc

/// Proves the views from time to time by making them again from the log (D21), on a thread that lets every other thread go first. Views
/// that contradict the log are built anew.
final class ViewsAudit: Sendable {
    /// How the last one ended.
    struct Outcome: Sendable {
        /// Unix milliseconds.
        let time: Int64
        let position: UInt64
        let rows: UInt64
        let differences: UInt64
        /// The first of them.
        let difference: String?
    }

    private struct State {
        var isStopping = false
        /// A process was killed that had the views open, and they were not compared since.
        var isOwed: Bool
        var outcome: Outcome?

        /// How long until the next one begins, milliseconds; `nil`: there is none.
        func pause(period: Int) -> Int? { isOwed ? ViewsAudit.retry : period > 0 ? period : nil }
    }

    private let files: StoreFiles
    private let state: Monitor<State>
    private let thread: WorkerThread?

    /// How long after one that is owed and could not be made, as without room for it, the next one begins, milliseconds.
    private static let retry = 60_000

    /// - Parameters:
    ///   - isOwed: Whether a process was killed that had the views open: then one begins at once.
    ///   - seconds: From the end of one to the next; 0: none but that.
    init(
        _ files: StoreFiles, _ views: ProjectorThread, isOwed: Bool, every seconds: UInt64, _ log: Logger
    ) {
        self.files = files
        let period = Int(min(seconds, 1 << 31)) * 1_000
        let state = Monitor(State(isOwed: isOwed))
        self.state = state
        guard isOwed || period > 0 else {
            thread = nil
            return
        }
        if isOwed {
            log.info(
                "a process was killed that had the views open: they are compared with the log now, and no proof of a history is given before",
                "VIEWS_UNPROVEN")
        }
        thread = WorkerThread(name: "views-audit") {
            // On Linux a thread's own.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
            var pause = isOwed ? 0 : period
            while state.wait(milliseconds: pause, for: { $0.isStopping ? true : nil }) == nil {
                Self.run(files, views, state, log)
                guard let next = state.withLock({ $0.pause(period: period) }) else { return }
                pause = next
            }
        }
    }

    /// Whether it is not known that the views follow from the log, since a process was killed that had them open.
    var isOwed: Bool { state.withLock { $0.isOwed } && ViewsMark(files)?.isUnproven == true }

    /// How the last one ended, if there was one.
    var outcome: Outcome? { state.withLock { $0.outcome } }

    /// Breaks off the one under way.
    func stop() {
        state.wakeAll { $0.isStopping = true }
        thread?.join()
    }

    private static func run(
        _ files: StoreFiles, _ views: ProjectorThread, _ state: Monitor<State>, _ log: Logger
    ) {
        let report: ViewsReport
        do throws(StoreError) {
            let mark = ViewsMark(files)
            let standing = mark?.standing
            report = try ViewsCheck(files).run(isCancelled: { state.withLock { $0.isStopping } })
            if report.isIntact, let standing { try mark?.prove(since: standing) }
        } catch {
            if !state.withLock({ $0.isStopping }) {
                log.warning("the views could not be proven: \(error)", "VIEWS_NOT_PROVEN")
            }
            return
        }
        let first = report.differences.first.map { "\($0)" }
        state.withLock { state in
            state.outcome = Outcome(
                time: WallClock.now, position: report.position, rows: report.rows, differences: report.count,
                difference: first)
        }
        guard let first else {
            state.withLock { $0.isOwed = false }
            return log.info(
                "views proven to position \(report.position): \(report.rows) rows are what the log says",
                "VIEWS_PROVEN", LogLine.Field("position", report.position))
        }
        log.warning(
            "the views contradict the log in \(report.count) places and are built anew; the first: \(first)",
            "VIEWS_CONTRADICT", LogLine.Field("places", report.count))
        views.rebuild()
    }
}

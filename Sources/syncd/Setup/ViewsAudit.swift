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
        var outcome: Outcome?
    }

    private let state: Monitor<State>
    private let thread: WorkerThread?

    /// - Parameter seconds: From the end of one to the next; 0: never.
    init(_ files: StoreFiles, _ views: ProjectorThread, every seconds: UInt64, _ log: Logger) {
        let state = Monitor(State())
        self.state = state
        guard seconds > 0 else {
            thread = nil
            return
        }
        thread = WorkerThread(name: "views-audit") {
            // On Linux a thread's own.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
            let pause = Int(min(seconds, 1 << 31)) * 1_000
            while state.wait(milliseconds: pause, for: { $0.isStopping ? true : nil }) == nil {
                Self.run(files, views, state, log)
            }
        }
    }

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
            report = try ViewsCheck(files).run(isCancelled: { state.withLock { $0.isStopping } })
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

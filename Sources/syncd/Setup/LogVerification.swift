internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SyncEngine

/// Proves the log from time to time, and when it is asked to, as `syncctl verify` does: on one thread that lets every other thread go
/// first, and as a guest of the writer, which waits for none of it.
///
/// ## Concurrency model
/// One thread; all that others see stands behind one monitor.
final class LogVerification: Sendable {
    private struct State {
        var isStopping = false
        /// Asked for, and not begun yet.
        var isWanted = false
        /// When the one under way began, Unix milliseconds.
        var began: Int64?
        var record: VerificationRecord?
    }

    /// Seconds from the end of one to the next; 0: only when asked.
    let period: UInt64
    private let state: Monitor<State>
    /// What ends the one under way.
    private let term = AnswerTerm(page: .max, whole: .max)
    private let thread: WorkerThread

    /// The first one waits for so long after a start, milliseconds: others have more to do then.
    private static let patience: Int64 = 60_000

    init(_ files: StoreFiles, every seconds: UInt64, _ log: Logger) {
        period = min(seconds, 1 << 31)
        let (state, term, span) = (
            Monitor(State(record: VerificationRecord(files))), term, period == 0 ? nil : Int64(period) * 1_000
        )
        self.state = state
        thread = WorkerThread(name: "log-verify") {
            // On Linux a thread's own.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
            var pause = span.map { Self.pause($0, after: state.withLock { $0.record?.ended }) }
            while Self.waits(pause, state) {
                Self.run(files, state, term, log)
                pause = span.map { Int($0) }
            }
        }
    }

    /// How the last one ended; a new start knows it, too.
    var record: VerificationRecord? { state.withLock { $0.record } }

    /// When the one under way began, Unix milliseconds.
    var began: Int64? { state.withLock { $0.began } }

    /// That the log is not what it was, until one finds that it is.
    func notices(_ files: StoreFiles) -> [NodeNotice] {
        guard let record, record.answer == .contradicted else { return [] }
        return [NodeNotice.contradicted(record, files)]
    }

    /// One more, at once or when the one under way has ended.
    func ask() { state.wakeAll { $0.isWanted = true } }

    /// Breaks off the one under way.
    func stop() {
        state.wakeAll { $0.isStopping = true }
        term.cancel()
        thread.join()
    }

    /// How long until the first one, milliseconds: a period behind the last one of an earlier run.
    private static func pause(_ span: Int64, after ended: Int64?) -> Int {
        guard let ended else { return Int(min(span, patience)) }
        return Int(min(span, max(ended + span - WallClock.now, patience)))
    }

    /// Waits for so long, milliseconds, or until one is asked for; false once it is to stop.
    private static func waits(_ milliseconds: Int?, _ state: Monitor<State>) -> Bool {
        let goesOn = state.wait(milliseconds: milliseconds) { state -> Bool? in
            if state.isStopping { return false }
            guard state.isWanted else { return nil }
            state.isWanted = false
            return true
        }
        return goesOn ?? true
    }

    private static func run(_ files: StoreFiles, _ state: Monitor<State>, _ term: AnswerTerm, _ log: Logger) {
        let began = WallClock.now
        state.withLock { $0.began = began }
        defer { state.withLock { $0.began = nil } }
        do throws(StoreError) {
            let told = KnownHead.told(to: files)
            let report = try Verifier(files, known: told.heads, unread: told.unread, threads: 1).run(asGuest: term)
            let last = state.withLock { $0.record }
            let record = VerificationRecord(report, began: began, ended: WallClock.now, after: last)
            state.withLock { $0.record = record }
            tell(record, log)
            try record.keep(files)
        } catch {
            guard !term.isCancelled else { return }
            log.warning("the log could not be verified, or the outcome not kept: \(error)", "LOG_NOT_VERIFIED")
        }
    }

    private static func tell(_ record: VerificationRecord, _ log: Logger) {
        let what = "the log to position \(record.position), \(record.events) events"
        switch record.answer {
        case .proven: log.info("verified \(what)", "LOG_VERIFIED", LogLine.Field("position", record.position))
        case .notCovered:
            let why = record.note ?? "no signed head speaks of \(record.unsigned) of them yet"
            log.info(
                "verified \(what): nothing contradicts; \(why)", "LOG_VERIFIED",
                LogLine.Field("position", record.position))
        case .contradicted:
            log.error(
                "LOG_DAMAGED: \(what): \(record.findings) findings; the first: \(record.finding ?? "")",
                "LOG_DAMAGED", LogLine.Field("findings", record.findings))
        }
    }
}

extension NodeNotice {
    fileprivate static func contradicted(_ record: VerificationRecord, _ files: StoreFiles) -> NodeNotice {
        NodeNotice(
            .logDamaged, .integrity, subject: files.log,
            "the log to position \(record.position) was verified: \(record.findings) findings; the first: "
                + (record.finding ?? ""),
            action:
                "'syncctl verify' names them all: operating/trouble.md, 'Damage'; 'syncctl verify --daemon' when it is "
                + "mended", at: record.ended, .state)
    }
}

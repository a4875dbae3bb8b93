/// Keeps the views of an open store up to date.
///
/// ## Concurrency model
/// Its thread owns the projector with its connections. Others tell it of commits and wait for positions through one
/// monitor. ``BatchingDelay`` says when it takes up what they told it. While the thread sleeps, a thread that has committed few events
/// for which a reader waits, and is idle, borrows the projector and applies them: to wake the thread takes
/// a third of the time that it then needs. It does most of that while the disk writes them (``logWritten(to:sync:)``).
package final class ProjectorThread: Sendable {
    private struct State {
        var top: UInt64
        var applied: UInt64 = 0
        /// The last position that the deferred views have applied, too.
        var indexed: UInt64 = 0
        /// ``Projector/isTidy``.
        var isTidy = true
        var lastError: StoreError?
        /// ``Projector/distrust``.
        var distrust: String?
        var isRebuilding = false
        /// Everything is to be applied anew.
        var mustRebuild = false
        /// How many events are quarantined in the views that readers see.
        var quarantined: UInt64 = 0
        /// How many threads wait for a position.
        var readers = 0
        /// How many threads wait for a position of the deferred views.
        var searchers = 0
        var pace = BatchingDelay()
        var deferral = DeferredPace()
        /// Whether the thread sleeps until a step is due, and need not be told of each commit before that.
        var isGathering = false
        var isStopping = false
        /// The projector, while the thread sleeps and has not lent it.
        var projector: Projector?
        var isLent = false
        /// Whether the thread has woken meanwhile, and waits for it.
        var isMissed = false
        /// Whether the WAL became long while the projector was lent.
        var isCopyDue = false
        /// When the tails are emptied if nothing comes, nanoseconds of the monotonic clock.
        var idleFrom: UInt64 = 0
        /// Whether they are empty.
        var isResting = false
        /// The file that readers see; `nil` while there is none.
        var held: HeldFiles?
        /// Copies a WAL that has become long; `nil` while it is not.
        var longWAL: Checkpointer?

        /// How many events the views lack.
        var pending: UInt64 { top - min(top, applied) }

        /// When the events that are not applied yet are due.
        var due: UInt64 { pace.due(pending: pending, isAwaited: readers > 0) }

        /// Takes the projector, if a reader waits for the few events up to `position` and the thread sleeps.
        mutating func lend(through position: UInt64) -> Projector? {
            let isFit = readers > 0 && position <= applied + ProjectorThread.few && !mustRebuild && !isStopping
            guard isFit, let projector, !projector.isRebuilding, !projector.isMerging else { return nil }
            (self.projector, isLent) = (nil, true)
            return projector
        }

        /// How far the projector is. What views under construction refuse is not told.
        mutating func take(from projector: Projector) {
            applied = projector.position
            indexed = projector.indexed
            isTidy = projector.isTidy
            isRebuilding = projector.isRebuilding || mustRebuild
            held = isRebuilding ? nil : projector.held
            longWAL = projector.longWAL
            if !projector.isRebuilding { quarantined = projector.quarantined }
        }

        /// How many events the deferred views lack that the others have.
        var unindexed: UInt64 { applied - min(applied, indexed) }

        /// When a step of the deferred views is due; `nil` if they lack nothing, and have put nothing off.
        var deferredDue: UInt64? {
            if isRebuilding { return nil }
            return deferral.due(pending: unindexed, isAwaited: searchers > 0, isTidy: isTidy)
        }

        /// What they do then.
        var deferredStep: Next {
            !isTidy && (unindexed == 0 || searchers == 0 && deferral.owed > 0) ? .tidyDeferred : .applyDeferred
        }

        /// Whether a step of the deferred views may go on: not while the others are waited for, nor beside them for longer than their share.
        func mayDefer(since start: UInt64, _ now: UInt64) -> Bool {
            if isStopping || mustRebuild || pending > 0 && readers > 0 { return false }
            if pending == 0, searchers > 0 || deferral.isQuiet(now) { return true }
            return now - start < DeferredPace.share
        }

        /// A step has been made.
        mutating func stepped(_ projector: Projector, from start: UInt64, to end: UInt64) {
            take(from: projector)
            deferral.applied(at: end)
            pace.stepped(from: start, to: end)
            lastError = nil
            idleFrom = end + ProjectorThread.idleNanoseconds
        }
    }

    /// Most events that a thread applies which is not the projector's.
    private static let few: UInt64 = 16

    /// How long nothing comes before the tails are emptied.
    private static let idleNanoseconds: UInt64 = 1_000_000_000
    /// How long nothing comes before a tail of more rows than ``longTail`` is made shorter: beside a trickle of events there is never a
    /// second of quiet.
    private static let quietNanoseconds: UInt64 = 50_000_000
    /// Rows of each tail that are moved at a time. While events come it is a millisecond or two: one for which a reader waits
    /// comes behind them.
    private static let mergedRows = (quiet: 5_000, busy: 500)
    /// Rows that another process reads through in less than a millisecond.
    private static let longTail = 4_096

    /// What readers in this process look into.
    package let tails: ViewMemtables
    private let state: Monitor<State>
    private let thread: WorkerThread

    /// Starts following the log of `files`, which is at least at `top`.
    ///
    /// - Parameters:
    ///   - distrusted: Told why the views that are there are not believed, on the projector's thread.
    ///   - renewed: Told what becomes of views of another release, on the same.
    package init(
        _ files: StoreFiles, top: UInt64, tails: ViewMemtables = ViewMemtables(),
        distrusted: @escaping @Sendable (String) -> Void = { _ in },
        renewed: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.tails = tails
        let state = Monitor(State(top: top))
        self.state = state
        thread = WorkerThread(name: "projector") { [tails] in
            Self.run(files, tails, state) { current in
                if let distrust = current.distrust { distrusted(distrust) }
                if let renewal = current.renewal { renewed(renewal) }
            }
        }
    }

    /// Follows the commits of `store`. Returns the observer's token.
    package func observe(_ store: EventStore) -> Int {
        store.observeCommits(
            { [self] notice in
                logAdvanced(to: notice.top, isFollowedUp: notice.isFollowedUp)
                if notice.isHealed { rebuild() }
            },
            written: { [self] top, sync in logWritten(to: top, sync: sync) },
            afterwards: { [self] in applyHere() })
    }

    /// The log has events up to `position`. Any thread; does not wait.
    ///
    /// - Parameter isFollowedUp: Whether ``applyHere()`` comes soon.
    package func logAdvanced(to position: UInt64, isFollowedUp: Bool = false) {
        state.wake { state in
            guard position > state.top else { return [] }
            state.top = position
            return !isFollowedUp && (!state.isGathering || state.due == 0) ? .workers : []
        }
    }

    /// The log has few events more, up to `position`, which the disk is writing. If a reader waits for them, and the thread sleeps,
    /// applies them before it calls `sync`, and commits if that says that they are durable.
    func logWritten(to position: UInt64, sync: () -> Bool) {
        let borrowed = state.withLock { state in
            state.pending == 0 && position > state.top ? state.lend(through: position) : nil
        }
        if let borrowed { apply(borrowed, through: position, mayCommit: sync) }
    }

    /// Applies few events for which a reader waits, on the calling thread if the projector's sleeps; else wakes that, if it is
    /// time.
    func applyHere() {
        var borrowed: Projector?
        var top = UInt64(0)
        state.wake { state in
            top = state.top
            guard state.pending > 0 else { return [] }
            borrowed = state.lend(through: top)
            return borrowed == nil && (!state.isGathering || state.due == 0) ? .workers : []
        }
        if let borrowed { apply(borrowed, through: top) { true } }
    }

    /// Applies with a projector that was lent, and gives it back.
    private func apply(_ projector: Projector, through top: UInt64, mayCommit: () -> Bool) {
        let start = MonotonicClock.now
        // What went wrong the thread will meet, too.
        let isDone = (try? projector.step(through: top, mayCommit: mayCommit)) != nil
        let end = MonotonicClock.now
        state.wake { state in
            state.isLent = false
            guard isDone else { return .workers }
            state.projector = projector
            state.stepped(projector, from: start, to: end)
            state.top = max(state.top, state.isRebuilding ? 0 : state.applied)
            state.isCopyDue = projector.isCopyDue
            let isMore =
                state.isMissed || state.pending > 0 || state.searchers > 0 || state.isCopyDue || projector.isMerging
                || state.isResting
            return isMore || state.mustRebuild || state.isStopping ? [.workers, .readers] : .readers
        }
    }

    /// The last position of the log that it has been told of.
    package var top: UInt64 { state.withLock { $0.top } }
    /// The last position that searches find.
    package var indexed: UInt64 { state.withLock { $0.indexed } }
    /// The last position applied; readers see it only once ``isRebuilding`` is over.
    package var applied: UInt64 { state.withLock { $0.applied } }
    /// What keeps it from applying more, if anything does.
    package var lastError: StoreError? { state.withLock { $0.lastError } }
    /// Why the views that were there at the start were not believed and built anew, if so.
    package var distrust: String? { state.withLock { $0.distrust } }
    /// Whether the views are built anew.
    package var isRebuilding: Bool { state.withLock { $0.isRebuilding } }

    /// How long the WAL of the views is, and who keeps it so; `nil` unless it is long.
    package var wal: WALStanding? { state.withLock { $0.longWAL }?.standing }

    /// Whether a reader waits for a position.
    var isAwaited: Bool { state.withLock { $0.readers > 0 } }

    /// How many events are quarantined (D13).
    package var quarantined: UInt64 { state.withLock { $0.quarantined } }

    /// Applies the whole log anew beside the present views, which stay until that is done: to try again what was refused.
    /// Any thread; does not wait.
    package func rebuild() {
        state.wakeAll { state in
            state.mustRebuild = true
            state.isRebuilding = true
            state.held = nil
        }
    }

    /// What has become of `views.db`, if it is no longer the file that is open; new views are begun then. To be asked from time to time.
    package func findLoss() -> String? {
        guard let loss = state.withLock({ $0.held })?.loss else { return nil }
        rebuild()
        return loss
    }

    /// Waits until readers see everything up to `position`; until then nothing is gathered. Returns false when that takes
    /// longer, or when the thread is told to stop.
    package func wait(for position: UInt64, milliseconds: Int) -> Bool {
        state.wake { state in
            state.readers += 1
            return state.isGathering ? .workers : []
        }
        defer {
            state.withLock { $0.readers -= 1 }
        }
        return state.wait(as: .readers, milliseconds: milliseconds) { state in
            if !state.isRebuilding, state.applied >= position { return true }
            return state.isStopping ? false : nil
        } ?? false
    }

    /// Waits until searches find everything up to `position`, which goes first until then. Returns false when that takes longer, or when the
    /// thread is told to stop.
    package func waitUntilIndexed(_ position: UInt64, milliseconds: Int) -> Bool {
        state.wake { state in
            state.searchers += 1
            return state.indexed < position ? .workers : []
        }
        defer {
            state.withLock { $0.searchers -= 1 }
        }
        return state.wait(as: .readers, milliseconds: milliseconds) { state in
            if !state.isRebuilding, state.indexed >= position { return true }
            return state.isStopping ? false : nil
        } ?? false
    }

    /// Ends the thread after the batch under way.
    package func stop() {
        state.wakeAll { $0.isStopping = true }
        thread.join()
    }

    private static func run(
        _ files: StoreFiles, _ tails: ViewMemtables, _ state: Monitor<State>, _ opened: (Projector) -> Void
    ) {
        var projector: Projector?
        var pause = 50
        while !state.withLock({ $0.isStopping }) {
            do throws(StoreError) {
                let current: Projector
                if let projector { current = projector } else { current = try Projector(files, tails: tails) }
                if projector == nil {
                    state.withLock { $0.distrust = current.distrust ?? $0.distrust }
                    opened(current)
                }
                projector = current
                try follow(current, state)
                pause = 50
            } catch {
                projector = nil
                state.wakeAll { $0.lastError = error }
                // Disk full, busy: try again, less and less often.
                _ = state.wait(milliseconds: pause) { $0.isStopping ? true : nil }
                pause = min(pause * 2, 5_000)
            }
        }
        state.withLock { $0.projector = nil }
        Projector.close(&projector)
    }

    private enum Next {
        /// Up to the position of which it has been told: what another commit has written since may not be durable yet.
        case apply(UInt64)
        /// Views that follow the others.
        case applyDeferred
        /// What they have put off.
        case tidyDeferred
        case copyBack
        case merge
        case rest
        case rebuild
        case stop
    }

    /// Applies what is new, in steps as large as ``BatchingDelay`` lets them become; empties the tails when nothing happens.
    private static func follow(_ projector: Projector, _ state: Monitor<State>) throws(StoreError) {
        // Views that are fresh from the start have to be told too: a reader may be waiting for them already.
        state.wakeAll { state in
            state.take(from: projector)
            state.idleFrom = MonotonicClock.now + idleNanoseconds
            state.isResting = false
        }
        while true {
            let next = state.wait { state -> Waiting<Next> in
                state.isMissed = state.isLent
                if state.isLent { return .forever }
                let found = Self.next(&state, projector)
                if case .done = found { state.projector = nil } else { state.projector = projector }
                return found
            }
            switch next {
            case .stop: return
            case .rebuild:
                do throws(StoreError) { try projector.beginRebuild() } catch {
                    // It was asked for, and is tried again.
                    state.withLock { $0.mustRebuild = true }
                    throw error
                }
            case .copyBack: try projector.copyBack()
            case .merge:
                let isQuiet = state.withLock { $0.deferral.isQuiet(MonotonicClock.now) }
                try projector.merge(rows: isQuiet ? mergedRows.quiet : mergedRows.busy)
            case .rest: try projector.release()
            case .apply(let top):
                let start = MonotonicClock.now
                try projector.step(through: top)
                let end = MonotonicClock.now
                state.wake { state in
                    state.stepped(projector, from: start, to: end)
                    return .readers
                }
                try projector.copyBack()
            case .tidyDeferred:
                let start = MonotonicClock.now
                try projector.tidyDeferred()
                let end = MonotonicClock.now
                state.withLock { state in
                    state.take(from: projector)
                    state.deferral.tidied(from: start, to: end)
                }
                try projector.copyBack()
            case .applyDeferred:
                let start = MonotonicClock.now
                try projector.stepDeferred {
                    giveWay()
                    return state.withLock { $0.mayDefer(since: start, MonotonicClock.now) }
                }
                let end = MonotonicClock.now
                state.wake { state in
                    state.take(from: projector)
                    state.deferral.stepped(from: start, to: end)
                    return .readers
                }
                try projector.copyBack()
            }
            // What kept it from going on is over, also where nothing new is to be applied.
            state.withLock { $0.lastError = nil }
        }
    }

    /// What the thread is to do now.
    private static func next(_ state: inout State, _ projector: Projector) -> Waiting<Next> {
        state.take(from: projector)
        state.isGathering = false
        if state.isStopping { return .done(.stop) }
        if state.mustRebuild {
            (state.mustRebuild, state.isResting) = (false, false)
            return .done(.rebuild)
        }
        if state.top > state.applied || projector.isRebuilding {
            let now = MonotonicClock.now
            let deferredDue = state.deferredDue ?? .max
            state.isResting = false
            if state.readers == 0, state.deferral.isOverdue(now, deferredDue) { return .done(state.deferredStep) }
            state.isGathering = !projector.isRebuilding && now < state.due
            if state.isGathering {
                return deferredDue <= now ? .done(state.deferredStep) : .until(min(state.due, deferredDue))
            }
            return .done(.apply(state.top))
        }
        let now = MonotonicClock.now
        let copyDue = projector.copyDue ?? .max
        if state.isCopyDue || copyDue <= now {
            state.isCopyDue = false
            return .done(.copyBack)
        }
        let deferredDue = state.deferredDue ?? .max
        // Rows that are being moved are fewer than what is to be indexed, and in memory.
        if projector.isMerging, state.searchers == 0 { return .done(.merge) }
        if deferredDue <= now {
            state.isResting = false
            return .done(state.deferredStep)
        }
        if projector.isMerging { return .done(.merge) }
        if now < state.idleFrom {
            state.isResting = false
            guard projector.pending > longTail else { return .until(min(state.idleFrom, copyDue, deferredDue)) }
            let quiet = state.idleFrom - idleNanoseconds + quietNanoseconds
            return now < quiet ? .until(min(quiet, copyDue, deferredDue)) : .done(.merge)
        }
        if deferredDue < .max { return .until(min(deferredDue, copyDue)) }
        if state.isResting { return copyDue < .max ? .until(copyDue) : .forever }
        guard projector.pending == 0 else { return .done(.merge) }
        state.isResting = true
        return .done(.rest)
    }
}

/// Keeps the views of an open store up to date.
///
/// ## Concurrency model
/// Its thread owns the projector with its connections. Others tell it of commits and wait for positions through one
/// monitor. ``StepPace`` says when it takes up what they told it.
package final class ProjectorThread: Sendable {
    private struct State {
        var top: UInt64
        var applied: UInt64 = 0
        var lastError: StoreError?
        var isRebuilding = false
        /// Somebody wants everything applied anew.
        var mustRebuild = false
        /// How many events are quarantined in the views that readers see.
        var quarantined: UInt64 = 0
        /// How many threads wait for a position.
        var readers = 0
        var pace = StepPace()
        /// Whether the thread sleeps until a step is due, and need not be told of each commit before that.
        var isGathering = false
        var isStopping = false

        /// When the events that are not applied yet are due.
        var due: UInt64 { pace.due(pending: top - min(top, applied), isAwaited: readers > 0) }

        /// How far the projector is. Of views under construction nobody is told what they refuse.
        mutating func take(from projector: Projector) {
            applied = projector.position
            isRebuilding = projector.isRebuilding || mustRebuild
            if !projector.isRebuilding { quarantined = projector.quarantined }
        }
    }

    /// How long nothing comes before the tails are emptied.
    private static let idleNanoseconds: UInt64 = 1_000_000_000

    /// What readers in this process look into.
    package let tails: ViewTails
    private let state: Monitor<State>
    private let thread: Lock<WorkerThread?>

    /// Starts following the log of `files`, which is at least at `top`.
    package init(_ files: StoreFiles, top: UInt64, tails: ViewTails = ViewTails()) {
        self.tails = tails
        let state = Monitor(State(top: top))
        self.state = state
        thread = Lock(nil)
        let started = WorkerThread(name: "projector") { [tails] in Self.run(files, tails, state) }
        thread.withLock { $0 = started }
    }

    /// The log has events up to `position`. Any thread; does not wait.
    package func logAdvanced(to position: UInt64) {
        state.update { state in
            guard position > state.top else { return false }
            state.top = position
            return !state.isGathering || state.due == 0
        }
    }

    /// The last position of the log that it has been told of.
    package var top: UInt64 { state.withLock { $0.top } }
    /// The last position applied; readers see it only once ``isRebuilding`` is over.
    package var applied: UInt64 { state.withLock { $0.applied } }
    /// What keeps it from applying more, if anything does.
    package var lastError: StoreError? { state.withLock { $0.lastError } }
    /// Whether the views are built anew.
    package var isRebuilding: Bool { state.withLock { $0.isRebuilding } }

    /// How many events are quarantined (D13).
    package var quarantined: UInt64 { state.withLock { $0.quarantined } }

    /// Applies the whole log anew beside the present views, which stay until that is done: to try again what was refused.
    /// Any thread; does not wait.
    package func rebuild() {
        state.update { state in
            state.mustRebuild = true
            state.isRebuilding = true
            return true
        }
    }

    /// Waits until readers see everything up to `position`; until then nothing is gathered. Returns false when that takes
    /// longer, or when the thread is told to stop.
    package func wait(for position: UInt64, milliseconds: Int) -> Bool {
        state.update { state in
            state.readers += 1
            return state.isGathering
        }
        defer {
            state.update { state in
                state.readers -= 1
                return false
            }
        }
        return state.wait(milliseconds: milliseconds) { state in
            if !state.isRebuilding, state.applied >= position { return true }
            return state.isStopping ? false : nil
        } ?? false
    }

    /// Ends the thread after the batch under way.
    package func stop() {
        state.update { state in
            state.isStopping = true
            return true
        }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    private static func run(_ files: StoreFiles, _ tails: ViewTails, _ state: Monitor<State>) {
        var projector: Projector?
        var pause = 50
        while !state.withLock({ $0.isStopping }) {
            do throws(StoreError) {
                let current: Projector
                if let projector { current = projector } else { current = try Projector(files, tails: tails) }
                projector = current
                try follow(current, state)
                pause = 50
            } catch {
                projector = nil
                state.update { state in
                    state.lastError = error
                    return true
                }
                // Disk full, busy: try again, less and less often.
                _ = state.wait(milliseconds: pause) { $0.isStopping ? true : nil }
                pause = min(pause * 2, 5_000)
            }
        }
    }

    private enum Next {
        case apply
        case merge
        case rest
        case rebuild
        case stop
    }

    /// Applies what is new, in steps as large as ``StepPace`` lets them become; empties the tails when nothing happens.
    private static func follow(_ projector: Projector, _ state: Monitor<State>) throws(StoreError) {
        // Views that are fresh from the start have to be told too: somebody may be waiting for them already.
        state.update { state in
            state.take(from: projector)
            return true
        }
        var idleFrom = MonotonicClock.now + idleNanoseconds
        var isResting = false
        while true {
            let next = state.wait { state -> Waiting<Next> in
                state.take(from: projector)
                state.isGathering = false
                if state.isStopping { return .done(.stop) }
                if state.mustRebuild {
                    state.mustRebuild = false
                    return .done(.rebuild)
                }
                if state.top > state.applied || projector.isRebuilding {
                    state.isGathering = !projector.isRebuilding && MonotonicClock.now < state.due
                    if state.isGathering { return .until(state.due) }
                    return .done(.apply)
                }
                if projector.isMerging { return .done(.merge) }
                if isResting { return .forever }
                if MonotonicClock.now < idleFrom { return .until(idleFrom) }
                return .done(projector.pending == 0 ? .rest : .merge)
            }
            switch next {
            case .stop: return
            case .rebuild:
                isResting = false
                try projector.beginRebuild()
            case .merge: try projector.merge()
            case .rest:
                projector.release()
                isResting = true
            case .apply:
                isResting = false
                let start = MonotonicClock.now
                try projector.step()
                let end = MonotonicClock.now
                state.update { state in
                    state.take(from: projector)
                    state.pace.stepped(from: start, to: end)
                    state.lastError = nil
                    return true
                }
                projector.copyBack()
                idleFrom = end + idleNanoseconds
            }
        }
    }
}

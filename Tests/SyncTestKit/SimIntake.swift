internal import EventStore
internal import SyncEngine

/// The simulator's counterpart of `SnapshotReceiver`: one thread that receives a snapshot for an empty store.
final class SimIntake {
    private struct Reception {
        let build: SimBuild
        var rules: SnapshotReception
    }

    private enum State {
        case idle, opening
        case receiving(Reception)
        case proving, complete
    }

    private unowned let node: SimNode
    private var state = State.idle
    private var jobs: [() -> Void] = []
    /// Whether the thread is busy with a job, or blocked in the middle of one.
    private var isBusy = false
    private var isBlocked = false

    private var sim: Simulation { node.sim }

    init(node: SimNode) { self.node = node }

    private func submit(_ job: @escaping () -> Void) {
        jobs.append(job)
        if !isBusy { work() }
    }

    private func work() {
        isBusy = !jobs.isEmpty
        guard isBusy else { return }
        let job = jobs.removeFirst()
        node.schedule(after: node.store.verifyTime) { [self] in
            job()
            if !isBlocked { work() }
        }
    }

    /// The job that was blocked is done.
    private func unblock() {
        isBlocked = false
        work()
    }

    // MARK: Opening

    func open(
        _ offer: SnapshotOffer, of sender: SnapshotSender,
        completion: @escaping (Result<UInt64, SessionFailure>) -> Void
    ) {
        submit { [self] in
            guard case .idle = state else {
                return completion(.failure(SessionFailure(SnapshotError.busy("another snapshot is being received"))))
            }
            state = .opening
            do throws(SnapshotError) {
                try SnapshotReception.check(offer, of: sender, cluster: node.identity.cluster)
            } catch {
                return refuse(error, completion)
            }
            isBlocked = true
            node.store.beginHold { [self] refusal in
                defer { unblock() }
                if let refusal { return refuse(refusal, completion) }
                do throws(SnapshotError) {
                    let (reception, last) = try begin(offer, sender)
                    state = .receiving(reception)
                    completion(.success(last))
                } catch {
                    node.store.endHold()
                    refuse(error, completion)
                }
            }
        }
    }

    private func refuse(_ error: SnapshotError, _ completion: (Result<UInt64, SessionFailure>) -> Void) {
        state = .idle
        completion(.failure(SessionFailure(error)))
    }

    /// Begins a log, and brings it to where it was when the last attempt ended.
    private func begin(
        _ offer: SnapshotOffer, _ sender: SnapshotSender
    ) throws(SnapshotError) -> (Reception, last: UInt64) {
        if node.spool?.sender != sender { node.spool = SimSpool(sender: sender) }
        do throws(SnapshotError) {
            let build = try SimBuild(of: node)
            var last = UInt64(0)
            for piece in node.spool?.pieces ?? [] {
                let rows = try SnapshotReception.rows(in: piece)
                try build.add(rows)
                last = rows.last
            }
            let rules: SnapshotReception
            do throws(SnapshotError) { rules = try SnapshotReception(offer, resuming: last) } catch {
                node.spool = nil
                throw error
            }
            if last > 0 {
                sim.coverage.count(.snapshotsResumed)
                sim.note { "\(self.node.name): goes on with a snapshot after \(last)" }
            }
            return (Reception(build: build, rules: rules), sim.has(.resumesTooFar) && last > 0 ? last + 1 : last)
        } catch {
            if case .stale = error { throw error }
            sim.note { "\(self.node.name): what an earlier attempt left cannot be used: \(error)" }
            sim.coverage.count(.spoolsRefused)
            node.spool = SimSpool(sender: sender)
            let rules = try SnapshotReception(offer, resuming: 0)
            return (Reception(build: try SimBuild(of: node), rules: rules), 0)
        }
    }

    // MARK: Receiving

    func store(_ frame: Frame, completion: @escaping (Result<SnapshotStored, SessionFailure>) -> Void) {
        submit { [self] in
            guard case .receiving(var reception) = state else {
                return completion(.failure(SessionFailure(SnapshotError.busy("it was called off"))))
            }
            do throws(SnapshotError) {
                if frame.type == MessageType.snapshotRows.rawValue {
                    let rows = try SnapshotReception.rows(in: frame)
                    try reception.build.add(rows)
                    try reception.rules.placed(through: rows.last)
                    try node.store.writeAside()
                    node.spool?.pieces.append(frame)
                    return completion(.success(.rows(last: rows.last)))
                }
                let coverage = try reception.rules.take(proof: frame)
                state = .receiving(reception)
                guard let coverage else { return completion(.success(.proof)) }
                prove(reception, coverage, completion)
            } catch {
                completion(.failure(SessionFailure(error)))
            }
        }
    }

    /// Takes a while, and the thread does nothing else meanwhile.
    private func prove(
        _ reception: Reception, _ coverage: [Coverage],
        _ completion: @escaping (Result<SnapshotStored, SessionFailure>) -> Void
    ) {
        state = .proving
        isBlocked = true
        node.schedule(after: node.store.commitTime * sim.random.pick(1...100)) { [self] in
            defer { unblock() }
            do throws(SnapshotError) {
                let file = try reception.build.finish(coverage, reception.rules.offer)
                try node.store.writeAside()
                node.ready = SimNode.Ready(file: file, offer: reception.rules.offer)
                node.spool = nil
                state = .complete
                if node.mayCrash(before: "telling that a snapshot is complete") { return }
                completion(.success(.complete))
            } catch {
                state = .receiving(reception)
                completion(.failure(SessionFailure(error)))
            }
        }
    }

    func drop(keepSpool: Bool) {
        let isDropped = takeReception(keepSpool)
        submit { [self] in
            // It was just being opened, or was being proved in vain.
            if !isDropped { _ = takeReception(keepSpool) }
        }
    }

    private func takeReception(_ keepSpool: Bool) -> Bool {
        guard case .receiving = state else { return false }
        state = .idle
        if !keepSpool { node.spool = nil }
        node.store.endHold()
        sim.coverage.count(.snapshotsDropped)
        return true
    }
}

/// The pieces of a snapshot as they came. A power cut takes some of the last ones.
struct SimSpool {
    let sender: SnapshotSender
    var pieces: [Frame] = []

    func afterPowerCut(_ random: inout SimRandom) -> SimSpool {
        SimSpool(sender: sender, pieces: Array(pieces.prefix(random.pick(0...pieces.count))))
    }
}

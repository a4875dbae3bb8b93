internal import EventStore
internal import SyncEngine

// Snapshots in the simulated shell: what `PeerLink` does about them, and opening the log that was received.

extension SimPeerLink {
    func performSnapshot(_ effect: SessionEffect, _ effects: inout [SessionEffect]) {
        switch effect {
        case .describeSnapshot(let id):
            store.describeSnapshot { [self] offer in
                if offer != nil { sim.coverage.count(.snapshotsOffered) }
                input { $0.snapshotDescribed(id, offer, now: $1, effects: &$2) }
            }
        case .readSnapshot(let id, let request):
            if sim.troubles(self) { return }
            store.readSnapshot(request) { [self] result in
                input { $0.snapshotRead(id, result, now: $1, effects: &$2) }
            }
        case .openSnapshot(let id, let offer):
            guard let sender = takesSnapshot() else {
                let busy = SessionFailure(SnapshotError.busy("another snapshot is being received"))
                return session.snapshotOpened(id, .failure(busy), now: node.moment, effects: &effects)
            }
            node.intake.open(offer, of: sender) { [self] result in snapshotOpened(id, offer, result) }
        case .storeSnapshot(let id, let frame):
            if sim.troubles(self) { return }
            node.intake.store(frame) { [self] result in snapshotStored(id, result) }
        case .dropSnapshot(let failure):
            sim.coverage.count(.snapshotsRefused)
            sim.checks.refusedSnapshot(failure, from: link.other(side), by: node)
            tell(.refused(failure))
        default: break
        }
    }
}

extension SimNode {
    /// A complete log that was received as a snapshot, and waits to take the old one's place.
    struct Ready {
        let file: SimFile
        let offer: SnapshotOffer
    }

    func snapshotPolicy(for peer: NodeID) -> SnapshotPolicy {
        guard sim.draws(.snapshots), disguise != .olderVersion else { return SnapshotPolicy() }
        var policy = mesh.snapshotPolicy(for: peer, offers: true, after: sim.snapshots.after)
        policy.window = sim.snapshots.window
        return policy
    }

    /// The daemon takes leave, closes the store and opens it again, all within the same process.
    func reopen() {
        input { $0.stopped(effects: &$2) }
        crash(isPowerCut: sim.isFaulty && sim.random.chance(sim.snapshots.trouble))
        if sim.isFaulty, sim.draws(.restore), sim.random.chance(sim.snapshots.trouble) { sim.setBack(self) }
        sim.schedule(after: sim.random.pick(10_000...500_000)) { [self] in start() }
    }

    /// Done when the store is opened: the log that waits takes the old one's place, if it fits. False: the process is dead.
    func install() -> Bool {
        guard let waiting = ready else { return true }
        guard store.isFitting(waiting.file) || sim.has(.dropsOwnEvents) else {
            sim.note { "\(self.name): the log that was received does not fit any more" }
            sim.coverage.count(.snapshotsOutdated)
            ready = nil
            return true
        }
        // Whenever it ends, there is one whole log under the name.
        let isInterrupted = sim.isFaulty && sim.random.chance(sim.snapshots.trouble)
        if isInterrupted {
            sim.coverage.count(.installsInterrupted)
            sim.schedule(after: sim.random.pick(100_000...8_000_000)) { [self] in start() }
        }
        if isInterrupted, sim.random.chance(0.5) { return false }
        sim.checks.installed(self, waiting, over: store.log)
        sim.coverage.reached(.snapshots)
        sim.note { "\(self.name): its log is the snapshot now" }
        ready = nil
        spool = nil
        let fault = store.diskFault
        install(waiting.file, isFullyDurable: store.isFullyDurable)
        store.diskFault = fault
        return !isInterrupted
    }
}

/// How a run deals with snapshots.
struct SimSnapshots {
    /// An empty node takes one from a peer that has so many events more.
    let after: UInt64
    let window: UInt64
    /// Bytes of a piece.
    let piece: Int
    /// How likely something happens at each piece.
    let trouble: Double

    init(_ random: inout SimRandom) {
        after = random.pick(1...30)
        window = random.pick([2 << 10, 16 << 10, 1 << 20])
        piece = random.pick([300, 1_000, 4_000, 30_000])
        trouble = random.pick([0, 0.02, 0.1, 0.2])
    }
}

extension Simulation {
    /// What may happen at any piece, on either side. True: the process of `link` is dead.
    func troubles(_ link: SimPeerLink) -> Bool {
        guard isFaulty, random.chance(snapshots.trouble) else { return false }
        let node = link.node
        let other = link.link.other(link.side)
        switch random.pick(0...11) {
        case 0, 1: link.link.cut("cut in the middle of a snapshot")
        case 2: fell(node, isPowerCut: false)
        case 3: fell(node, isPowerCut: true)
        case 4: fell(other, isPowerCut: random.chance(0.5))
        case 5: append(node, random.pick(1...3), .plain)
        case 6: append(other, random.pick(1...3), .plain)
        case 7...10 where draws(.restore): restore(node, 0)
        case 11 where draws(.restore): restore(other, 0.5)
        default: link.link.pipes[link.side].isDead = true
        }
        return !node.isUp
    }

    private func fell(_ node: SimNode, isPowerCut: Bool) {
        guard node.isUp else { return }
        node.crash(isPowerCut: isPowerCut)
        schedule(after: random.pick(100_000...40_000_000)) { node.start() }
    }
}

package import EventStore
internal import SyncEngine

/// A simulated node: a process with a store, a clock and peers, that can be killed and started again.
package final class SimNode {
    let index: Int
    /// Under which index its peers know it: a clone is known as its original.
    let knownAs: Int
    package let name: String
    let key: SigningKey
    package let id: NodeID
    package private(set) var identity: StoreIdentity
    private var disk: SimStore?
    var store: SimStore {
        guard let disk else { preconditionFailure("\(name) has no store yet") }
        return disk
    }
    unowned let sim: Simulation

    /// Counts processes: what an earlier one had planned does not happen.
    private(set) var epoch = 0
    private(set) var isUp = false
    private(set) var isPaused = false
    private var deferred: [() -> Void] = []
    /// Who is let in, and whether this node calls it.
    var peers: [Int: Bool] = [:]
    var mesh: Mesh
    /// Links with a session.
    var sessions: [LinkID: SimPeerLink] = [:]
    /// As `NodeCore.lastHeard`.
    var lastHeard: [NodeID: UInt64] = [:]
    /// Links that have none yet.
    var connections: [LinkID: SimLink] = [:]
    /// What clients wait for.
    var waits: [UInt64: VersionVector] = [:]
    /// Calls that are under way, each with a number.
    var calls: [NodeID: UInt64] = [:]
    private(set) lazy var intake = SimIntake(node: self)
    /// What was committed and the node's loop has not been told.
    private var inbox = CommitInbox()
    /// On the disk: the pieces of an unfinished snapshot, and a finished one.
    var spool: SimSpool?
    var ready: Ready?

    /// Microseconds at which this machine's monotonic clock was 0.
    let bootedAt = UInt64(0)
    /// Milliseconds this node's wall clock is off.
    var clockOffset: Int64 = 0
    /// How much faster it runs, in millionths.
    var clockDrift: Int64 = 0
    /// The greatest wall clock it ever had.
    private(set) var highestWall = Int64(0)

    /// What its peers get instead of what it says.
    var disguise = Disguise.honest
    /// Left for good.
    var isRetired = false
    var reader = SimFollower()
    /// Proofs of forks, as the store's folder keeps them.
    var evidence: [ForkEvidence] = []
    /// Its subscriptions, while the process runs.
    private(set) var desk: SimDesk?
    /// What is done of subscriptions, beside the log.
    var kept = SimKept()
    /// What nodes tell each other beside events.
    var shared = SharedTable()
    /// Earlier states of the store, as a backup would have them.
    private(set) var backups: [SimFile] = []

    init(index: Int, knownAs: Int, name: String, key: SigningKey, sim: Simulation) {
        self.index = index
        self.knownAs = knownAs
        self.name = name
        self.key = key
        self.sim = sim
        id = key.publicKey.nodeID
        identity = StoreIdentity(
            node: id, name: name, cluster: "sim", origin: OriginID(sim.random.uuid()),
            incarnation: sim.random.next())
        mesh = Mesh(SyncSession.Local(identity, software: "sim"), key: key.publicKey, peers: [], seed: 0)
    }

    // MARK: Clocks and threads

    package var wall: Int64 {
        let wall = sim.wall + clockOffset + Int64(sim.now / 1_000) * clockDrift / 1_000_000
        highestWall = max(highestWall, wall)
        return wall
    }

    var moment: Moment { Moment(monotonic: (sim.now - bootedAt) / 1_000, wall: wall) }

    /// Runs `body` then, if this process still lives; a stopped process does it when it goes on.
    func schedule(at time: UInt64, _ body: @escaping () -> Void) {
        let epoch = epoch
        sim.schedule(at: time) { [self] in
            guard isUp, self.epoch == epoch else { return }
            whenAwake(body)
        }
    }

    func schedule(after time: UInt64, _ body: @escaping () -> Void) { schedule(at: sim.now + time, body) }

    func whenAwake(_ body: @escaping () -> Void) {
        guard isUp else { return }
        if isPaused { deferred.append(body) } else { body() }
    }

    func pause() { isPaused = true }

    func resume() {
        guard isPaused else { return }
        isPaused = false
        let late = deferred
        deferred = []
        let epoch = epoch
        for body in late where isUp && self.epoch == epoch {
            if isPaused { deferred.append(body) } else { body() }
        }
    }

    // MARK: Life

    /// Makes a store with the node's key, an origin and its first event, then what there is in a copy of another node's log.
    func format(isFullyDurable: Bool, over copy: VerifiedBatch? = nil) {
        backups = []
        spool = nil
        ready = nil
        if copy == nil { evidence = [] }
        kept = SimKept()
        do throws(StoreError) {
            let (file, whose) = try made(over: copy)
            identity = whose
            install(file, isFullyDurable: isFullyDurable)
            if sim.draws(.snapshots) { backups = [file] }
            sim.checks.committed(self, before: SimLog(own: identity.origin), after: file.log)
        } catch {
            sim.violate("format", "\(name): \(error)")
        }
    }

    private func made(over copy: VerifiedBatch?) throws(StoreError) -> (SimFile, StoreIdentity) {
        let sha = SHA256()
        let image = try MemoryLog.make(key: key, name: name, cluster: "sim", wall: wall, seed: sim.random.next())
        guard let copy else { return try SimFile.read(image, using: sha) }
        let log = try MemoryLog(image, key: key, wall: wall, seed: sim.random.next())
        do throws(MemoryLog.Refusal) { _ = try log.commit([.ingest(copy)], wall: wall).get() } catch {
            throw error.error
        }
        return try SimFile.read(log.image, using: sha)
    }

    func install(_ file: SimFile, isFullyDurable: Bool) {
        let store = SimStore(node: self, file: file, isFullyDurable: isFullyDurable)
        disk = store
        if sim.draws(.slowStore) {
            sim.coverage.reached(.slowStore)
            store.commitTime = sim.random.pick(1_000...80_000)
            store.verifyTime = sim.random.pick(100...20_000)
            store.noticeTime = sim.random.pick(50...40_000)
        }
    }

    /// The node appends to another origin from now on.
    func appends(to origin: OriginID) {
        identity = StoreIdentity(
            node: id, name: name, cluster: "sim", origin: origin, incarnation: identity.incarnation)
    }

    /// Takes over who it is from another store: a copied data directory.
    func assume(_ other: SimNode) {
        identity = other.identity
        evidence = other.evidence
        highestWall = max(highestWall, other.highestWall)
    }

    func start() {
        guard !isUp, !isRetired, install() else { return }
        let fault = store.diskFault
        install(store.file, isFullyDurable: store.isFullyDurable)
        store.diskFault = fault
        guard let standing = store.open() else { return }
        isUp = true
        epoch += 1
        isPaused = false
        deferred = []
        // A restored copy may be from before an origin was started.
        appends(to: store.log.own)
        let seen = CommitNotice(top: standing.top, advanced: standing.advanced.map(sim.mutated))
        let progress = LocalVector(seen, positions: store.lastPositions)
        intake = SimIntake(node: self)
        inbox = CommitInbox()
        if progress.entries.count > 1 { spool = nil }
        sim.note { "\(self.name): starts with \(standing.top) events" }
        let local = SyncSession.Local(
            identity, software: "sim", forked: Set(evidence.map(\.origin)), run: sim.random.next() | 1,
            isVolatile: !store.isFullyDurable)
        mesh = Mesh(local, key: key.publicKey, peers: known, seed: sim.random.next())
        (sessions, connections, calls, waits) = ([:], [:], [:], [:])
        shared = SharedTable()
        desk = sim.draws(.subscriptions) ? SimDesk(node: self) : nil
        input { $0.opened(progress, now: $1, effects: &$2) }
        follow()
    }

    /// The process dies; `isPowerCut` takes with it what was not on the disk.
    func crash(isPowerCut: Bool) {
        guard isUp else { return }
        sim.note { "\(self.name): \(isPowerCut ? "power cut" : "killed")" }
        let left = store.afterCrash(isPowerCut: isPowerCut)
        if isPowerCut {
            spool = spool?.afterPowerCut(&sim.random)
            kept.lose()
        }
        isUp = false
        if isPowerCut, left.log.top < store.log.top { sim.checks.forgot(self, keeping: left.log) }
        sim.died(self, silently: isPowerCut)
        install(left, isFullyDurable: store.isFullyDurable)
    }

    /// A crash between two effects, if that fault is on. True: the process is dead.
    func mayCrash(before what: String) -> Bool {
        guard sim.isFaulty, sim.draws(.crashBetweenEffects), sim.random.chance(0.002) else { return false }
        sim.coverage.reached(.crashBetweenEffects)
        sim.note { "\(self.name): dies before \(what)" }
        crash(isPowerCut: false)
        sim.schedule(after: sim.random.pick(100_000...8_000_000)) { [self] in start() }
        return true
    }

    /// A commit is durable.
    func committed(_ notice: CommitNotice) {
        if sim.random.chance(0.3) { backups.append(store.file) }
        if sim.random.chance(0.2) { store.sync() }
        let seen = CommitNotice(
            top: notice.top, advanced: notice.advanced.map(sim.mutated), events: notice.events)
        desk?.advanced(notice.events.map(\.event.header.type))
        let course = inbox.put(seen)
        schedule(after: store.noticeTime) { [self] in
            switch course {
            case .kept: break
            case .due: takeCommits()
            case .job:
                inbox.arrived()
                logAdvanced(seen)
                takeCommits()
            }
            follow()
        }
    }

    /// The loop learns what was kept for it, and says whether it has to hear of the next commits at once.
    func takeCommits() {
        for notice in inbox.take(watching: !sessions.isEmpty || !waits.isEmpty) { logAdvanced(notice) }
    }

    private func logAdvanced(_ notice: CommitNotice) {
        store.committed(notice)
        if !sim.has(.deafSession) { for link in mesh.links { sessions[link]?.logAdvanced(notice) } }
        input { $0.logAdvanced(notice, now: $1, effects: &$2) }
    }

    private func follow() { reader.follow(self) }

    func dismantle() {
        (sessions, connections) = ([:], [:])
        deferred = []
        backups = []
        desk = nil
        lastHeard = [:]
        disk = nil
    }
}

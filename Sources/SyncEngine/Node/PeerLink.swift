internal import EventStore

/// One link with its session: the shell that performs the session's effects.
///
/// ## Concurrency model
/// Belongs to the loop's thread. The store's work is done by ``StoreWorkers``, whose answers are posted back.
final class PeerLink: SessionShell {
    let id: LinkID
    let node: NodeID
    var session: SyncSession
    private let link: TLSLink
    /// Told what concerns other links.
    private weak let core: SyncNode.Core?
    private let loop: EventLoop
    private let workers: StoreWorkers
    private let snapshots: SnapshotEndpoint
    /// Reads what was committed just now.
    private let live: OutgoingReader
    /// How much of the loop's time is left for storing.
    private let share: LeadShare
    private var feed: SnapshotFeed?
    private var timer: TimerToken?
    private var armedFor: UInt64?
    private(set) var isClosed = false
    private var pings: [(at: UInt64, completion: (Duration?) -> Void)] = []
    private var pongsSeen = UInt64(0)
    var isGreeted = false
    /// ``SharedTable/revision`` up to which the peer was told.
    private var sharedTold: UInt64 = 0
    /// Whether the peer was asked for attachments, once it was known that it answers.
    private var asksForAttachments = false
    /// Whether nothing is read from the peer until some of what it asked for is done (``LinkAccount/isFull``).
    private(set) var isHeldBack = false
    /// Since when a frame has been coming in, monotonic milliseconds.
    private var partialSince: UInt64?
    /// A frame of 1 MiB may take so long, over a line of 4 KiB a second; a peer that sends it more slowly is not alive.
    private static let longestFrame: UInt64 = 300_000
    /// Bytes a second: pieces of a snapshot go as they are over a line faster than this, which is as fast as a processor
    /// compresses. There fewer bytes save no time, and zstd would be a fifth of the work of both sides.
    private static let fastLine: UInt64 = 512 << 20

    init(core: SyncNode.Core, id: LinkID, link: TLSLink, node: NodeID, session: SyncSession) {
        self.id = id
        self.link = link
        self.node = node
        self.session = session
        self.core = core
        loop = core.loop
        workers = core.workers
        snapshots = core.snapshots
        live = core.live
        share = core.share
    }

    static func now() -> Moment { Moment(monotonic: MonotonicClock.now / 1_000_000, wall: WallClock.now) }

    /// Takes over an open link and says hello.
    ///
    /// - Parameter first: The peer's first frame, if it came already.
    func start(_ first: Frame? = nil) {
        link.letIn()
        link.onFrame = { [weak self] type, flags, body in
            self?.partialSince = nil
            let frame = Frame(type: type, flags: flags, body: body)
            self?.input { $0.frameReceived(frame, now: $1, effects: &$2) }
        }
        link.onPartialFrame = { [weak self] in self?.partialFrame() }
        link.onViolation = { [weak self] fault in self?.stop(SessionFailure(fault)) }
        link.onClose = { [weak self] end in self?.linkEnded(end) }
        input { $0.started(now: $1, effects: &$2) }
        if let first { input { $0.frameReceived(first, now: $1, effects: &$2) } }
        link.resumeReading()
    }

    /// A large frame over a slow line is no silence.
    private func partialFrame() {
        let now = Self.now()
        let since = partialSince ?? now.monotonic
        partialSince = since
        if now.monotonic - since < Self.longestFrame { session.heard(at: now) }
    }

    /// Asks for a sign of life; `completion` gets the time there and back, or `nil` when the link ends.
    func ping(_ completion: @escaping (Duration?) -> Void) {
        guard !isClosed, session.hello != nil else { return completion(nil) }
        pings.append((MonotonicClock.now, completion))
        probe()
    }

    private func answerPings(_ isAlive: Bool) {
        let asked = pings
        pings = []
        for ping in asked {
            ping.completion(isAlive ? .nanoseconds(Int64(clamping: MonotonicClock.now - ping.at)) : nil)
        }
    }

    var now: Moment { Moment(monotonic: Self.now().monotonic, wall: workers.store.wall()) }

    func willInput() {
        // That nothing is heard from it is not its fault.
        if isHeldBack { session.heard(at: now) }
    }

    func settle() {
        if session.pongs != pongsSeen {
            pongsSeen = session.pongs
            answerPings(true)
        }
        holdBack()
        arm()
        tellShared()
        guard !asksForAttachments, session.takesAttachments, !isClosed else { return }
        asksForAttachments = true
        workers.attachments.opened(node)
        wantAttachments()
    }

    /// There may be attachments to ask the peer for.
    func wantAttachments() {
        guard asksForAttachments, !isClosed else { return }
        input { $0.attachmentsWanted(now: $1, effects: &$2) }
    }

    /// A link that ended while it was chosen what to ask its peer for will not ask: others may.
    private func letGo(of place: AttachmentPlaceWanted) {
        guard isClosed else { return }
        workers.attachments.letGo(of: place.digest, node)
        core?.wantAttachments()
    }

    /// Tells the peer what nodes have told since it was told last.
    func tellShared() {
        guard !isClosed, let core, core.shared.revision > sharedTold, session.takesShared else { return }
        let values = core.shared.values(after: sharedTold)
        sharedTold = core.shared.revision
        for value in values { input { $0.share(value, now: $1, effects: &$2) } }
    }

    func tell(_ body: (inout Mesh, Moment, inout [Mesh.Effect]) -> Void) { core?.input(body) }

    func ownSize(of origin: OriginID) -> UInt64 { workers.store.ownSize(of: origin) }

    /// Reads on from the peer only while its account has room: TCP holds back who sends faster than the store's threads work.
    private func holdBack() {
        let isFull = session.account.isFull
        guard isFull != isHeldBack, !isClosed else { return }
        isHeldBack = isFull
        if isFull { link.pauseReading() } else { link.resumeReading() }
    }

    func perform(_ effect: SessionEffect, _ effects: inout [SessionEffect]) {
        switch effect {
        case .send(let frame, let lane):
            link.send(
                type: frame.type, flags: frame.flags, body: frame.body, priority: lane == .control ? .control : .data)
        case .allowBodies(let bytes): link.maximumBody = bytes
        case .read(let id, let request):
            // What is in memory need not go through another thread.
            if let frame = try? StoreWork.read(request, live) {
                return session.eventsRead(id, .success(frame), now: now, effects: &effects)
            }
            let this = loop.bind(self)
            workers.read(request) { result in
                this.post { $0.input { $0.eventsRead(id, result, now: $1, effects: &$2) } }
            }
        case .store(let id, let frame):
            let this = loop.bind(self)
            store(frame) { result in this.post { $0.stored(id, result) } }
        case .inspect(let id, let question):
            let this = loop.bind(self)
            workers.inspect(question) { result in
                this.post { link in
                    link.inspected(id, result)
                    if case .success(.nextAttachment(let place?)) = result { link.letGo(of: place) }
                }
            }
        case .report(let report): learnt(report)
        case .shared(let value): core?.heard(value, from: node)
        case .describeSnapshot(let id):
            let this = loop.bind(self)
            snapshots.server.describe { offer in
                this.post { link in
                    link.input { $0.snapshotDescribed(id, offer, now: $1, effects: &$2) }
                    if let offer, case .offered = link.session.snapshot.role { link.snapshotFeed.prepare(offer) }
                }
            }
        case .readSnapshot(let id, var request):
            if let rate = link.deliveryRate, rate >= Self.fastLine { request.compress = false }
            let this = loop.bind(self)
            snapshotFeed.read(request) { result in
                this.post { $0.input { $0.snapshotRead(id, result, now: $1, effects: &$2) } }
            }
        case .openSnapshot(let id, let offer):
            guard let sender = takesSnapshot() else {
                let busy = SessionFailure(SnapshotError.busy("another snapshot is being received"))
                return session.snapshotOpened(id, .failure(busy), now: now, effects: &effects)
            }
            let this = loop.bind(self)
            snapshots.intake.open(offer, of: sender) { result in
                this.post { $0.snapshotOpened(id, offer, result) }
            }
        case .storeSnapshot(let id, let frame):
            let this = loop.bind(self)
            snapshots.intake.store(frame) { result in
                this.post { $0.snapshotStored(id, result) }
            }
        case .dropSnapshot(let failure): tell(.refused(failure))
        case .close(let end):
            link.close(afterFlush: .seconds(2))
            finish(end)
        }
    }

    /// Verifies and stores events: here if they come alone, else on threads of their own.
    private func store(
        _ frame: Frame, completion: @escaping @Sendable (Result<StoredFrame, SessionFailure>) -> Void
    ) {
        let start = MonotonicClock.now
        guard link.hasReadAll, share.mayLead(now: start),
            workers.storeLeading(frame, completion: completion)
        else { return workers.store(frame, completion: completion) }
        share.led(from: start, to: MonotonicClock.now)
    }

    private var snapshotFeed: SnapshotFeed {
        let feed = feed ?? SnapshotFeed(snapshots.server, ownHead: workers.ownHead)
        self.feed = feed
        return feed
    }

    /// One timer follows the session's next deadline. It is not moved for every frame: when it fires too early the
    /// session does nothing and it is armed again.
    private func arm() {
        guard !isClosed, let deadline = session.nextDeadline else { return }
        if let armedFor, armedFor <= deadline { return }
        timer?.cancel()
        armedFor = deadline
        let current = Self.now().monotonic
        let wait = Duration.milliseconds(deadline > current ? deadline - current : 0)
        timer = loop.schedule(after: wait) { [weak self] in
            guard let self else { return }
            armedFor = nil
            input { $0.timerFired(now: $1, effects: &$2) }
        }
    }

    private func linkEnded(_ end: LinkEnd) {
        session.linkLost(end.description)
        if end == .slowPeer {
            finish(.failed(SessionFailure(.slowPeer, end.description)))
        } else {
            finish(.linkLost(end.description))
        }
    }

    private func finish(_ end: SessionEnd) {
        guard !isClosed else { return }
        isClosed = true
        if asksForAttachments { workers.attachments.lost(node) }
        timer?.cancel()
        link.onFrame = nil
        answerPings(false)
        core?.ended(self, end)
    }
}

extension SessionFailure {
    /// A breach of the rules of framing, in the words of the protocol.
    fileprivate init(_ fault: LinkEnd) {
        if case .frameTooLarge = fault {
            self.init(.frameTooLarge, fault.description)
        } else {
            self.init(.badFrame, fault.description)
        }
    }
}

/// When the loop that serves all peers does a worker's job itself: what comes alone is done sooner without the change of
/// thread, but the others wait for it. So it does so for a quarter of the time at most; after a slow disk it rests for long.
///
/// Not Sendable; there is one for each loop.
final class LeadShare {
    /// For how many times as long as it took the next are left to the worker.
    static let rest: UInt64 = 3

    private var restsUntil: UInt64 = 0

    /// Whether to do what has come, at nanoseconds of the monotonic clock.
    func mayLead(now: UInt64) -> Bool { now >= restsUntil }

    /// A job that was done on the loop began and ended at these times.
    func led(from start: UInt64, to end: UInt64) { restsUntil = end + Self.rest * (end - start) }
}

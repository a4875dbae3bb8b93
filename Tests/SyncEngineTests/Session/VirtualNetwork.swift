import EventStore

@testable import SyncEngine

/// Sessions of many nodes over links with a bandwidth and a latency, in virtual time: an hour takes a second, and every run
/// is the same. Logs hold dots, dependencies and sizes only; what counts here is who sends what, when.
final class VirtualNetwork {
    /// Microseconds.
    private(set) var clock: UInt64 = 1_000_000_000
    private var agenda = Agenda()
    private(set) var nodes: [VirtualNode] = []
    private(set) var links: [Pair: VirtualLink] = [:]
    /// Milliseconds of every answered Ping, by its sender.
    private(set) var roundTrips: [Int: [UInt64]] = [:]

    struct Pair: Hashable {
        let from: Int
        let to: Int
    }

    var now: Moment { Moment(monotonic: clock / 1_000, wall: 1_760_000_000_000 + Int64(clock / 1_000)) }

    @discardableResult
    func addNode(features: Features = VirtualNode.all, limits: WireLimits = WireLimits()) -> VirtualNode {
        let node = VirtualNode(index: nodes.count, features: features, limits: limits)
        nodes.append(node)
        return node
    }

    func after(_ microseconds: UInt64, _ body: @escaping () -> Void) {
        agenda.add(at: clock + microseconds, body)
    }

    /// Lets time pass.
    func run(milliseconds: UInt64) {
        let end = clock + milliseconds * 1_000
        while let (time, body) = agenda.next(until: end) {
            clock = time
            body()
        }
        clock = end
    }

    /// Lets time pass until `condition` holds, looked at every millisecond. False if it does not within `limit`.
    func run(until condition: () -> Bool, limit: UInt64 = 60_000) -> Bool {
        for _ in 0..<limit {
            if condition() { return true }
            run(milliseconds: 1)
        }
        return condition()
    }

    // MARK: Links

    /// Connects two nodes.
    /// - Parameter bandwidth: Bytes in a second, each way.
    /// - Parameter latency: Microseconds, each way.
    func connect(_ a: Int, _ b: Int, bandwidth: Double = 125_000_000, latency: UInt64 = 200) {
        for pair in [Pair(from: a, to: b), Pair(from: b, to: a)] {
            links[pair] = VirtualLink(bandwidth: bandwidth, latency: latency)
        }
        for pair in [Pair(from: a, to: b), Pair(from: b, to: a)] {
            nodes[pair.from].attach(to: nodes[pair.to])
            input(pair) { $0.started(now: $1, effects: &$2) }
        }
    }

    /// Breaks the connection of two nodes; both notice at once.
    func disconnect(_ a: Int, _ b: Int) {
        for pair in [Pair(from: a, to: b), Pair(from: b, to: a)] {
            links[pair]?.isCut = true
            links[pair] = nil
            ended(pair, "cut")
        }
    }

    /// Nothing passes any more from `a` to `b`, and no one is told.
    func silence(_ a: Int, _ b: Int) { links[Pair(from: a, to: b)]?.isCut = true }

    private func ended(_ pair: Pair, _ reason: String) {
        guard var session = nodes[pair.from].sessions.removeValue(forKey: pair.to) else { return }
        session.linkLost(reason)
        gone(nodes[pair.from], pair.to)
        nodes[pair.from].ended(session, with: pair.to)
    }

    private func gone(_ node: VirtualNode, _ other: Int) {
        node.plan.closed(nodes[other].local.node, now: now.monotonic)
        after(0) { [self] in tellWants(node) }
    }

    // MARK: Inputs and effects

    private func input(_ pair: Pair, _ body: (inout SyncSession, Moment, inout [SessionEffect]) -> Void) {
        guard var session = nodes[pair.from].sessions.removeValue(forKey: pair.to) else { return }
        var effects: [SessionEffect] = []
        body(&session, now, &effects)
        let news = session.takeNews()
        nodes[pair.from].sessions[pair.to] = session
        for effect in effects { perform(effect, pair) }
        arm(pair)
        let node = nodes[pair.from]
        guard let session = node.sessions[pair.to] else { return }
        let milliseconds = now.monotonic
        if news.hasOpened {
            node.plan.opened(session.remote, news.announced, own: session.remoteOrigin, now: milliseconds)
        } else if news.hasRestated {
            node.plan.restated(session.remote, news.announced, now: milliseconds)
        } else if !news.announced.isEmpty {
            node.plan.announced(session.remote, news.announced, now: milliseconds)
        }
        if news.hasDelivered { node.plan.delivered(session.remote, now: milliseconds) }
        for dot in news.needs { node.plan.needed(dot, by: session.remote) }
        node.plan.dropped(news.dropped, from: session.remote)
        tellWants(node)
    }

    /// Says to the peers of `node` what its plan has changed, and lets the plan look at the time while it waits.
    private func tellWants(_ node: VirtualNode) {
        for change in node.plan.takeChanges() {
            guard let other = nodes.first(where: { $0.local.node == change.peer }) else { continue }
            input(Pair(from: node.index, to: other.index)) {
                $0.want(take: change.take, leave: change.leave, now: $1, effects: &$2)
            }
        }
        guard node.plan.isWaiting, !node.isTicking else { return }
        node.isTicking = true
        after(SourcePlan.interval * 1_000) { [self] in
            node.isTicking = false
            node.plan.tick(now: now.monotonic)
            tellWants(node)
        }
    }

    private func perform(_ effect: SessionEffect, _ pair: Pair) {
        let node = nodes[pair.from]
        switch effect {
        case .allowBodies, .shared: break
        case .send(let frame, let lane):
            guard let link = links[pair] else { return }
            node.note(sent: frame)
            link.enqueue(frame, lane)
            pass(link, pair)
        case .read(let id, let request):
            let serial = node.serial(pair.to)
            after(node.readMicroseconds) { [self] in
                guard node.serial(pair.to) == serial else { return }
                input(pair) { $0.eventsRead(id, .success(node.read(request)), now: $1, effects: &$2) }
            }
        case .store(let id, let frame):
            let serial = node.serial(pair.to)
            after(node.storeMicroseconds) { [self] in
                let stored = node.store(frame, at: clock)
                if node.serial(pair.to) == serial {
                    input(pair) { $0.eventsStored(id, stored.result, now: $1, effects: &$2) }
                }
                if let notice = stored.notice { committed(node, notice) }
            }
        case .inspect(let id, let question):
            let serial = node.serial(pair.to)
            after(1_000) { [self] in
                guard node.serial(pair.to) == serial, case .roots(let dots) = question else { return }
                let entries = dots.map {
                    VectorEntry(origin: $0.origin, seq: $0.seq, root: VirtualNode.root($0.origin, $0.seq))
                }
                input(pair) { $0.inspected(id, .success(.roots(entries)), now: $1, effects: &$2) }
            }
        case .report(let report): node.reports.append(report)
        // Nodes here neither offer snapshots nor ask for them.
        case .describeSnapshot, .readSnapshot, .openSnapshot, .storeSnapshot, .dropSnapshot: break
        case .close(let end):
            node.closed[pair.to] = end
            gone(node, pair.to)
            if let session = node.sessions[pair.to] { node.ended(session, with: pair.to) }
            node.sessions[pair.to] = nil
        }
    }

    private func committed(_ node: VirtualNode, _ notice: CommitNotice) {
        node.plan.advanced(notice.advanced.map { Dot(origin: $0.origin, seq: $0.seq) }, now: now.monotonic)
        for other in node.sessions.keys.sorted() {
            input(Pair(from: node.index, to: other)) { $0.logAdvanced(notice, now: $1, effects: &$2) }
        }
        tellWants(node)
    }

    /// `node` appends events of `origin` (default: its own).
    func append(_ node: Int, _ count: Int, bytes: Int = 200, origin: OriginID? = nil, commit: Int = 1_000) {
        var rest = count
        while rest > 0 {
            committed(
                nodes[node], nodes[node].append(min(rest, commit), bytes: bytes, origin: origin, at: clock))
            rest -= min(rest, commit)
        }
    }

    /// One timer for each session follows its next deadline.
    private func arm(_ pair: Pair) {
        let node = nodes[pair.from]
        guard let deadline = node.sessions[pair.to]?.nextDeadline else { return }
        if let armed = node.armed[pair.to], armed <= deadline, armed * 1_000 > clock { return }
        node.armed[pair.to] = deadline
        let serial = node.serial(pair.to)
        let wait = deadline * 1_000 > clock ? deadline * 1_000 - clock : 1_000
        after(wait) { [self] in
            guard node.serial(pair.to) == serial, node.armed[pair.to] == deadline else { return }
            node.armed[pair.to] = nil
            input(pair) { $0.timerFired(now: $1, effects: &$2) }
        }
    }

    // MARK: Transfer

    /// Hands frames to the wire while little is ahead of them; what is handed over cannot be overtaken any more.
    private func pass(_ link: VirtualLink, _ pair: Pair) {
        while let frame = link.next(at: clock) {
            let start = max(clock, link.freeAt)
            let end = start + UInt64(Double(frame.count) / link.bandwidth * 1_000_000)
            link.freeAt = end
            // Parts of a long frame show that the peer is alive.
            for heard in stride(from: start + 1_000_000, to: end, by: 1_000_000) {
                agenda.add(at: heard + link.latency) { [self] in
                    if !link.isCut {
                        input(Pair(from: pair.to, to: pair.from)) { session, now, _ in session.heard(at: now) }
                    }
                }
            }
            agenda.add(at: end + link.latency) { [self] in
                guard !link.isCut else { return }
                link.delivered(frame)
                nodes[pair.to].note(received: frame)
                defer {
                    if frame.type == MessageType.pong.rawValue,
                        let time = nodes[pair.to].sessions[pair.from]?.roundTrip
                    {
                        roundTrips[pair.to, default: []].append(time)
                    }
                }
                input(Pair(from: pair.to, to: pair.from)) { $0.frameReceived(frame, now: $1, effects: &$2) }
            }
        }
        if let time = link.refillTime(at: clock), !link.isRefilling {
            link.isRefilling = true
            agenda.add(at: time) { [self] in
                link.isRefilling = false
                pass(link, pair)
            }
        }
    }
}

/// One direction of a connection.
final class VirtualLink {
    let bandwidth: Double
    let latency: UInt64
    var isCut = false
    var freeAt: UInt64 = 0
    var isRefilling = false
    private var control: [Frame] = []
    private var data: [Frame] = []
    /// Bytes delivered, by type of frame.
    private(set) var bytes: [UInt8: Int] = [:]
    /// Most bytes that waited.
    private(set) var deepest = 0
    private var waiting = 0
    /// As in a TLSLink.
    private let writeAhead = 64 << 10

    init(bandwidth: Double, latency: UInt64) {
        self.bandwidth = bandwidth
        self.latency = latency
    }

    var total: Int { bytes.values.reduce(0, +) }

    func enqueue(_ frame: Frame, _ lane: Lane) {
        if lane == .control { control.append(frame) } else { data.append(frame) }
        waiting += frame.count
        deepest = max(deepest, waiting)
    }

    func delivered(_ frame: Frame) { bytes[frame.type, default: 0] += frame.count }

    private func ahead(at clock: UInt64) -> Double {
        freeAt > clock ? Double(freeAt - clock) / 1_000_000 * bandwidth : 0
    }

    func next(at clock: UInt64) -> Frame? {
        guard ahead(at: clock) <= Double(writeAhead) else { return nil }
        let frame =
            !control.isEmpty ? control.removeFirst() : !data.isEmpty ? data.removeFirst() : nil
        waiting -= frame?.count ?? 0
        return frame
    }

    func refillTime(at clock: UInt64) -> UInt64? {
        guard !(control.isEmpty && data.isEmpty) else { return nil }
        let excess = ahead(at: clock) - Double(writeAhead)
        return clock + UInt64(max(0, excess) / bandwidth * 1_000_000) + 1
    }
}

/// What is to happen, in order of time, then of being added: a binary heap.
private struct Agenda {
    private var heap: [(time: UInt64, order: UInt64, body: () -> Void)] = []
    private var count: UInt64 = 0

    mutating func add(at time: UInt64, _ body: @escaping () -> Void) {
        count += 1
        heap.append((time, count, body))
        var child = heap.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func next(until end: UInt64) -> (UInt64, () -> Void)? {
        guard let first = heap.first, first.time <= end else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, least) {
                least = child
            }
            if least == parent { break }
            heap.swapAt(parent, least)
            parent = least
        }
        return (first.time, first.body)
    }

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        (heap[a].time, heap[a].order) < (heap[b].time, heap[b].order)
    }
}

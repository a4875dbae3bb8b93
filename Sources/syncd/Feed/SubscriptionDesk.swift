internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import Subscriptions
internal import SyncEngine

/// The subscriptions of this node, those who ask for deliveries, and what they are given. Used by one thread, that of ``SubscriptionHub``.
///
/// The log is read for a subscription only when a worker asks: one that no one works on costs nothing.
final class SubscriptionDesk {
    /// A subscription at its home.
    struct Running {
        var record: SubscriptionRecord
        var machine: SubscriptionMachine
        /// All up to here was looked at.
        var position: UInt64
        /// Of the machine, when its state was put away, and when an event told of it.
        var saved: UInt64 = 0
        var placed: UInt64 = 0
        var told: UInt64 = 0
        var placedAt = SubscriptionDesk.now
        /// When it was made, Unix milliseconds.
        var made: Int64 = 0
        var ahead = SubscriptionAhead()
    }

    /// One who waits for deliveries.
    struct Pull {
        let name: String
        let caller: Caller
        let exchange: HTTPExchange
        let most: Int
        /// Monotonic milliseconds.
        let until: UInt64
        /// What came of the acks that came with it, as members of the answer.
        var acked: String?
    }

    /// One who is given deliveries as long as it stays.
    struct Stream {
        let name: String
        let caller: Caller
        let stream: HTTPStream
        let window: Int
        let isEventStream: Bool
        var isFull = false
        var wrote: UInt64
    }

    /// An answer that waits until the state it speaks of is put away.
    struct Promise {
        enum Answer {
            case body([UInt8])
            /// Deliveries: they are given when what came before is put away.
            case pull(UInt64, Pull)
            /// What was appended with acks, and what came of these.
            case appended(AckedDeliveries, @Sendable (AckedDeliveries) -> AppendAnswer)
        }

        let exchange: HTTPExchange
        let answer: Answer
        /// What does not count if it cannot be put away.
        var acks: Acks?
    }

    /// Acks that a request has brought, and how their events were open before.
    struct Acks {
        let name: String
        var taken: [(dot: Dot, open: SubscriptionMachine.Open?)] = []
    }

    /// Most who wait or have a stream.
    private static let mostWorkers = 2_048
    private static let heartbeat: UInt64 = 15_000
    private static let backlog = 256 << 10
    /// How often the other nodes are told what is done, while something gets done.
    private static let placing: UInt64 = 21_600_000

    let store: EventStore
    let reader: EventReader
    private let authenticator: Authenticator
    private let later: @Sendable (UInt64) -> Void
    /// The daemon's log.
    let tell: @Sendable (LogLine) -> Void
    private let run = UInt64.random(in: 1 ... .max)
    private var readers: OpenReaders
    private var log: LogReader?
    private var lines: EventLines?
    var values: NamedValues?
    /// As they were read last.
    var records: SubscriptionRecords?
    var running: [String: Running] = [:]
    var pulls: [UInt64: Pull] = [:]
    var streams: [UInt64: Stream] = [:]
    var promises: [Promise] = []
    /// Subscriptions whose pulls wait only now.
    var begun: Set<String> = []
    var isUnsynced = false
    var keys: [NodeID: VerifyingKey] = [:]
    var lastTold: UInt64 = 0
    /// Peers may still tell what is done: until then nothing is handed out of what lacks it.
    var isHearing = true
    /// Since when it hears, and when a peer was last not connected, monotonic milliseconds.
    let began = SubscriptionDesk.now
    var met = SubscriptionDesk.now
    /// Places of which this node had kept nothing.
    var blank: Set<EventID> = []
    /// Values of other nodes to be passed on.
    var accepted: [SharedState] = []
    /// Values of which the log does not say yet whether they count.
    var unjudged: [SharedState] = []
    /// When the disk was last asked to have what was put away, monotonic milliseconds.
    var lastSync: UInt64 = 0
    /// When it was last asked what nodes have written about subscriptions.
    var lastLook: UInt64 = 0

    var troubles = SubscriptionTroubles()
    /// Events were set aside, or are handed out again, since that was told.
    var isParkingNew = true
    /// Why, by subscription.
    var parkingReasons: [String: String] = [:]

    /// - Parameters:
    ///   - tell: The daemon's log.
    ///   - later: Told of a stream whose client has taken what was there.
    init(
        _ store: EventStore, _ projector: ProjectorThread, _ authenticator: Authenticator,
        tell: @escaping @Sendable (LogLine) -> Void, later: @escaping @Sendable (UInt64) -> Void
    ) {
        (self.store, self.authenticator) = (store, authenticator)
        (self.later, self.tell) = (later, tell)
        reader = EventReader(Freshness(store.files, projector: projector))
        readers = OpenReaders(Freshness(store.files))
    }

    static var now: UInt64 { MonotonicClock.now / 1_000_000 }

    /// Whether time matters: someone waits, or something is out.
    var isActive: Bool {
        !pulls.isEmpty || !streams.isEmpty || isUnsynced || running.values.contains { $0.machine.nextDeadline != nil }
            || running.values.contains { $0.saved != $0.machine.revision || $0.told != $0.machine.revision }
            || !unjudged.isEmpty
    }

    /// Whether commits are of interest.
    var isWaiting: Bool { !pulls.isEmpty || !streams.isEmpty }

    // MARK: Coming and going

    /// Whether one more may wait.
    var hasPlace: Bool {
        let soon = promises.count { if case .pull = $0.answer { true } else { false } }
        return pulls.count + streams.count + soon < Self.mostWorkers
    }

    /// A worker has gone.
    func leave(_ id: UInt64) {
        pulls[id] = nil
        promises.removeAll { if case .pull(id, _) = $0.answer { true } else { false } }
        guard let stream = streams.removeValue(forKey: id) else { return }
        running[stream.name]?.machine.left(id, now: Self.now)
        serve(stream.name, durable: nil)
    }

    /// Lets those go whose credential has ended.
    func reconsider() {
        let reason = Authenticator.noLonger
        for (id, pull) in pulls where !authenticator.stands(pull.caller) {
            pulls[id] = nil
            pull.exchange.refuse(.unauthenticated, reason)
        }
        for (id, stream) in streams where !authenticator.stands(stream.caller) {
            close(id, stream, reason)
            running[stream.name]?.machine.left(id, now: Self.now)
        }
    }

    /// The client of a stream has taken what was there.
    func drained(_ id: UInt64, durable: UInt64) {
        guard streams[id] != nil, let name = streams[id]?.name else { return }
        streams[id]?.isFull = false
        serve(name, durable: durable)
    }

    /// The daemon stops.
    func close() {
        putAway()
        for pull in pulls.values { pull.exchange.refuse(.closed) }
        for (id, stream) in streams { close(id, stream, "the node stops") }
        (pulls, streams, running) = ([:], [:], [:])
    }

    // MARK: Handing out

    /// The names of those for whom someone waits.
    var wanted: Set<String> { Set(pulls.values.map(\.name)).union(streams.values.map(\.name)) }

    /// Gives waiting workers what there is. Returns whether there may be more in the log.
    ///
    /// - Parameter durable: How far the log may be read; `nil`: what was looked at is enough.
    @discardableResult
    func serve(_ name: String, durable: UInt64?) -> Bool {
        guard running[name] != nil else { return false }
        let now = Self.now
        running[name]?.machine.tick(now: now)
        setAside(name)
        let demand = self.demand(name)
        var hasMore = false
        do throws(StoreError) {
            if demand > 0, let durable { hasMore = try look(name, durable: durable, demand: demand) }
            for (id, stream) in streams.sorted(by: { $0.key < $1.key }) where stream.name == name && !stream.isFull {
                try give(to: id, stream, now: now)
            }
            for (id, pull) in pulls.sorted(by: { $0.key < $1.key }) where pull.name == name {
                try give(to: id, pull, now: now, isOver: !hasMore && now >= pull.until)
            }
        } catch {
            for (id, pull) in pulls where pull.name == name {
                pulls[id] = nil
                pull.exchange.refuse(error)
            }
            for (id, stream) in streams where stream.name == name {
                stream.stream.note(error)
                close(id, stream, error.told)
            }
        }
        return hasMore && self.demand(name) > 0
    }

    /// How many more deliveries could go to those who wait.
    private func demand(_ name: String) -> Int {
        guard let one = running[name], !isHeldBack(one.record) else { return 0 }
        let asked = pulls.values.filter { $0.name == name }.reduce(0) { $0 + $1.most }
        return streams.filter { $0.value.name == name && !$0.value.isFull }
            .reduce(asked) { $0 + max(0, $1.value.window - one.machine.inFlight(of: $1.key)) }
    }

    private func look(_ name: String, durable: UInt64, demand: Int) throws(StoreError) -> Bool {
        let log = try currentLog()
        running[name]?.machine.note(durable, now: Self.now)
        guard var one = running[name],
            case let isShort = one.machine.deliverable < demand,
            isShort || one.machine.isBacklogDue(through: one.position, isShort: false)
        else { return false }
        running[name] = nil
        defer { running[name] = one }
        let before = one.position
        // What is behind has waited longest: it is not left to a time when others have nothing.
        let isBehind = try one.machine.lookBack(
            in: log, through: before, isShort: isShort, as: store.identity.node, now: Self.now)
        guard isShort else { return isBehind }
        let (position, retries) = try one.machine.look(
            at: log, after: one.position, through: durable, as: store.identity.node, now: Self.now)
        if !retries.isEmpty {
            let records = try allRecords()
            let nodes = Dictionary(uniqueKeysWithValues: try log.origins().map { ($0.id, $0.node) })
            for retry in retries {
                guard let node = nodes[retry.event.header.dot.origin], records.isHome(node, of: one.record.id) else {
                    continue
                }
                try one.machine.heed(retry, of: one.record, in: log, now: Self.now)
            }
        }
        one.position = position
        return isBehind || one.position < durable && one.position > before
    }

    private func give(to id: UInt64, _ stream: Stream, now: UInt64) throws(StoreError) {
        let out = running[stream.name]?.machine.inFlight(of: id) ?? 0
        guard case let room = stream.window - out, room > 0 else { return }
        let objects = try deliveries(stream.name, room, to: id, now: now)
        guard !objects.isEmpty else { return }
        var bytes: [UInt8] = []
        for object in objects { stream.append(delivery: object, to: &bytes) }
        streams[id]?.wrote = now
        guard stream.stream.write(bytes) else { return leave(id) }
        guard stream.stream.backlog > Self.backlog else { return }
        streams[id]?.isFull = true
        stream.stream.write([]) { [later] in later(id) }
    }

    private func give(to id: UInt64, _ pull: Pull, now: UInt64, isOver: Bool) throws(StoreError) {
        let objects = try deliveries(pull.name, pull.most, to: id, now: now)
        guard !objects.isEmpty || isOver else { return }
        pulls[id] = nil
        var body = Array(#"{"deliveries":["#.utf8)
        for (index, object) in objects.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += object
        }
        body += Array("]\(pull.acked.map { "," + $0 } ?? "")}\n".utf8)
        pull.exchange.reply(status: 200, contentType: "application/json", body: body)
    }

    private func deliveries(
        _ name: String, _ most: Int, to worker: UInt64, now: UInt64
    ) throws(StoreError) -> [[UInt8]] {
        let log = try currentLog()
        guard let record = running[name]?.record, !isHeldBack(record),
            let given = running[name]?.machine.give(most, to: worker, now: now), !given.isEmpty
        else { return [] }
        let lines = try lines(of: log)
        let wall = WallClock.now
        var objects: [[UInt8]] = []
        for delivery in given {
            guard let stored = try log.event(at: delivery.position) else {
                throw .corrupt("event \(delivery.position) is not there")
            }
            let token = DeliveryToken(
                subscription: record.id, run: run, number: delivery.number, dot: delivery.dot)
            let age = max(0, wall - stored.event.header.hlc.milliseconds)
            var object = Array(
                #"{"delivery":"\#(token.text)","attempt":\#(delivery.attempt),"age_ms":\#(age),"event":"#.utf8)
            object += try lines.object(stored).bytes
            object.append(UInt8(ascii: "}"))
            objects.append(object)
        }
        return objects
    }

    /// The number of a delivery in its run; 0 of one of an earlier run, which is not out any more.
    func number(_ token: DeliveryToken) -> UInt64 { token.run == run ? token.number : 0 }

    /// Stores that events are set aside; then they are done.
    func setAside(_ name: String) {
        guard let parkings = running[name]?.machine.takeParkings(), let record = running[name]?.record else { return }
        for parking in parkings {
            do throws(StoreError) {
                guard let stored = try currentLog().event(parking.dot) else {
                    throw .corrupt("event \(parking.dot) is not there")
                }
                let draft = record.draft(
                    parking: parking, event: stored.event.header.id, at: store.identity.node)
                let proof = try self.record(draft, visible: false).dot
                running[name]?.machine.parked(parking.dot, by: proof, now: Self.now)
                isParkingNew = true
                parkingReasons[name] = parking.reason
            } catch {
                running[name]?.machine.notParked(parking.dot, now: Self.now)
            }
        }
    }

    // MARK: Time

    /// Deliveries end, pauses are over, those who have waited long enough are answered.
    func tick(durable: UInt64) {
        let now = Self.now
        for name in running.keys.sorted() {
            let isDue = (running[name]?.machine.nextDeadline).map { $0 <= now } ?? false
            let isOver = pulls.values.contains { $0.name == name && $0.until <= now }
            if isDue || isOver { serve(name, durable: durable) }
            if let one = running[name], now >= one.placedAt + Self.placing { place(name) }
        }
        for (id, stream) in streams where !stream.isFull && now >= stream.wrote + Self.heartbeat {
            var bytes: [UInt8] = []
            stream.append(.heartbeat, to: &bytes)
            streams[id]?.wrote = now
            if !stream.stream.write(bytes) { leave(id) }
        }
    }

    // MARK: The log

    /// The log as it is in the folder now. A snapshot may have taken its place: then positions are others.
    func currentLog() throws(StoreError) -> LogReader {
        let current = try readers.currentLog()
        guard current !== log else { return current }
        let isAnother = log != nil
        (log, lines) = (current, nil)
        guard isAnother else { return current }
        for (name, one) in running { try begin(name, one.record, [one.machine.state], parked: [:], current) }
        return current
    }

    /// A machine that goes on where the one before was, with what is known. What was out comes again.
    func begin(
        _ name: String, _ record: SubscriptionRecord, _ known: [SubscriptionState], parked: [Dot: ParkedEvent],
        _ log: LogReader
    ) throws(StoreError) {
        guard let one = running[name] else { return }
        var machine = try SubscriptionMachine(record, known, parked: parked, log, as: store.identity.node)
        machine.follow(one.machine)
        running[name] = Running(
            record: record, machine: machine, position: try machine.start(in: log), made: one.made)
    }

    private func lines(of log: LogReader) throws(StoreError) -> EventLines {
        if let lines { return lines }
        let made = try EventLines(log)
        lines = made
        return made
    }
}

extension SubscriptionDesk.Stream {
    func append(delivery object: [UInt8], to out: inout [UInt8]) {
        if isEventStream { out += "event: delivery\ndata: ".utf8 }
        out += object
        out += (isEventStream ? "\n\n" : "\n").utf8
    }

    func append(_ control: FeedControl, to out: inout [UInt8]) {
        let face = isEventStream ? FeedRequest.Face.eventStream : .lines
        // A comment keeps the connection: there is no place to move.
        if isEventStream, case .heartbeat = control { return out += ":\n\n".utf8 }
        face.append(control, nil, nil, to: &out)
    }
}

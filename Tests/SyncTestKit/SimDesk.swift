internal import EventStore
internal import Subscriptions
internal import SyncEngine

/// The simulator's counterpart of `SubscriptionDesk` and `SubscriptionHub`: the one thread that has a node's subscriptions. Machine, records,
/// states and tables are the real ones; what is played is the thread, the file of what is done, and the clients.
final class SimDesk {
    struct Running {
        var record: SubscriptionRecord
        var machine: SubscriptionMachine
        var position: UInt64
        var saved: UInt64 = 0
        var told: UInt64 = 0
    }

    /// Waits once for deliveries, or stays.
    struct Worker {
        let name: String
        /// Of a stream: how many may be out at a time.
        let most: Int
        let isStream: Bool
        let until: UInt64
        let answer: ([SimDelivery]) -> Void
    }

    private static let silence: UInt64 = 30_000_000
    private static let gathering: UInt64 = 5_000
    private static let period: UInt64 = 100_000

    private unowned let node: SimNode
    private let run: UInt64
    private var jobs: [(@escaping () -> Void) -> Void] = []
    private var isBusy = false
    private var records = SubscriptionRecords()
    private var folded = 0
    var running: [String: Running] = [:]
    private var workers: [UInt64: Worker] = [:]
    private var promises: [() -> Void] = []
    private var isTicking = false
    private var isPuttingAway = false
    private var hasNews = false
    private var lastLook = UInt64(0)
    private var lastSync = UInt64(0)
    private var lastTold = UInt64(0)
    private var heardAt: [NodeID: UInt64] = [:]
    private var unjudged: [SharedState] = []
    /// They will be parked no more, as soon as that is stored.
    private var freeing: Set<Dot> = []
    /// Small ones in some runs: then conversations are behind.
    private var bounds: SubscriptionMachine.Bounds { work.bounds }

    private var sim: Simulation { node.sim }
    private var work: SimWork { sim.work }
    private var now: UInt64 { node.moment.monotonic }
    private var wanted: [String] { Set(workers.values.map(\.name)).sorted() }

    init(node: SimNode) {
        self.node = node
        run = node.sim.work.random.next() | 1
    }

    // MARK: The thread

    /// A job ends when it calls what it is given: it may have to wait for the disk.
    private func submit(_ job: @escaping (@escaping () -> Void) -> Void) {
        jobs.append(job)
        if !isBusy { turn() }
    }

    private func turn() {
        isBusy = !jobs.isEmpty
        guard isBusy else { return }
        jobs.removeFirst()({ [self] in
            follow()
            turn()
        })
    }

    /// As `SubscriptionHub.follow`: whether time matters, and whether something is to be put away.
    private func follow() {
        let isActive =
            !workers.isEmpty || node.kept.isUnsynced || !unjudged.isEmpty || hasNews && !running.isEmpty
            || running.values.contains {
                $0.machine.nextDeadline != nil || $0.saved != $0.machine.revision || $0.told != $0.machine.revision
            }
        if isActive, !isTicking {
            isTicking = true
            node.schedule(after: Self.period) { [self] in submit { self.tick($0) } }
        }
        if !promises.isEmpty, !isPuttingAway {
            isPuttingAway = true
            node.schedule(after: Self.gathering) { [self] in
                submit { done in
                    self.isPuttingAway = false
                    self.putAway()
                    done()
                }
            }
        }
    }

    private func tick(_ done: @escaping () -> Void) {
        isTicking = false
        let isSecond = sim.now / 1_000_000 != lastSync / 1_000_000
        serve(wanted) { [self] in
            guard isSecond else { return done() }
            lastSync = sim.now
            look()
            putAway()
            node.kept.sync()
            share()
            done()
        }
    }

    /// There are new events.
    func advanced(_ types: some Sequence<String>) {
        let isNews = types.contains { $0.hasPrefix("subscription.") }
        if isNews { hasNews = true }
        guard !workers.isEmpty || isNews else { return }
        submit { done in self.serve(self.wanted, done) }
    }

    // MARK: What the log says

    /// All that the log tells, without doing anything about it.
    func readRecords() -> SubscriptionRecords {
        let log = node.store.log
        var found: [(EventHeader, JSONObject, NodeID)] = []
        for stored in log.events.dropFirst(folded) where stored.event.header.type.hasPrefix("subscription.") {
            let header = stored.event.header
            guard let writer = log.key(of: header.dot.origin)?.nodeID, header.user == "node/\(writer)",
                let payload = stored.event.payload
            else { continue }
            found.append((header, JSONObject(validated: payload), writer))
        }
        folded = log.events.count
        if !found.isEmpty { records.update(found) }
        return records
    }

    func allRecords() -> SubscriptionRecords {
        let records = readRecords()
        for (_, one) in running.sorted(by: { $0.key < $1.key }) {
            guard let record = records.record(one.record.id), record.place == one.record.place else { continue }
            free(record, [record.admit(one.machine.state)] + records.told(record))
        }
        for (name, one) in running.sorted(by: { $0.key < $1.key }) {
            guard let record = records.all[name], record.id == one.record.id else {
                end(name)
                continue
            }
            guard record.home != one.record.home, record.definition.home == .single else {
                do throws(StoreError) { try renew(name, record, one) } catch { end(name) }
                continue
            }
            putAway()
            place(one)
            end(name)
        }
        return records
    }

    /// What is parked here or elsewhere and known to be acked by a machine that runs here.
    func acked(_ record: SubscriptionRecord) -> [Dot] {
        guard let one = running[record.name], let log = try? node.store.logReader() else { return [] }
        return (try? readRecords().acked(record, [record.admit(one.machine.state)], in: log)) ?? []
    }

    /// As `SubscriptionDesk.free`, but for the time that it takes to store it.
    private func free(_ record: SubscriptionRecord, _ states: [SubscriptionState]) {
        guard records.isHome(node.id, of: record.id), let log = try? node.store.logReader(),
            let acked = try? records.acked(record, states, in: log),
            case let dots = acked.filter({ freeing.insert($0).inserted }), !dots.isEmpty
        else { return }
        sim.coverage.count(.freedEvents, dots.count)
        let proofs = records.proofs(of: dots, record.id)
        self.record(record.draft(retrying: dots, parkedBy: proofs, done: true, at: node.id)) { [self] _ in
            freeing.subtract(dots)
        }
    }

    /// As `SubscriptionDesk.renew`.
    private func renew(_ name: String, _ record: SubscriptionRecord, _ one: Running) throws(StoreError) {
        guard record != one.record else { return }
        let isSamePlace = record.place == one.record.place
        if isSamePlace, record.definition.order == one.record.definition.order,
            record.isRight(for: one.machine) || sim.has(.keepsOldFilter)
        {
            running[name]?.record = record
            running[name]?.machine.change(to: record)
            return
        }
        sim.coverage.count(.lookedAtAgain)
        let log = try node.store.logReader()
        let parked = records.parked(record.id)
        let states = isSamePlace ? [record.admit(one.machine.state)] : known(record)
        var machine = try SubscriptionMachine(record, states, parked: parked, log, as: node.id, bounds: bounds)
        machine.follow(one.machine)
        running[name] = Running(record: record, machine: machine, position: try machine.start(in: log))
    }

    private func known(_ record: SubscriptionRecord) -> [SubscriptionState] {
        [node.kept.value(record.place).map(record.admit), records.placed(record)].compactMap { $0 }
    }

    private func end(_ name: String) {
        running[name] = nil
        for (id, worker) in workers.sorted(by: { $0.key < $1.key }) where worker.name == name {
            workers[id] = nil
            worker.answer([])
        }
    }

    /// An event tells the others what is done.
    private func place(_ one: Running) {
        work.checkDone(one.machine.state, of: one.record, at: node, "places")
        record(one.record.draft(placing: one.machine.state, at: node.id)) { _ in }
    }

    private func record(_ draft: EventDraft, _ completion: @escaping (Dot?) -> Void) {
        var draft = draft
        draft.id = EventID(work.random.uuid())
        node.store.record(draft, completion: completion)
    }

    private func start(_ record: SubscriptionRecord) -> Bool {
        guard running[record.name] == nil else { return true }
        do throws(StoreError) {
            let log = try node.store.logReader()
            let known = known(record)
            free(record, known + records.told(record))
            let parked = records.parked(record.id)
            let machine = try SubscriptionMachine(
                record, known, parked: parked, log, as: node.id, bounds: bounds)
            running[record.name] = Running(record: record, machine: machine, position: try machine.start(in: log))
            sim.note { "\(self.node.name): is home of \(record.name), term \(record.term)" }
            return true
        } catch {
            return false
        }
    }

    // MARK: Requests

    func ask(_ name: String, _ action: SimRequest, _ answer: @escaping (SimAnswer) -> Void) {
        submit { [self] done in
            if sim.now - lastLook >= 1_000_000 { look() }
            if case .make(let definition) = action { return make(name, definition, done) }
            guard let record = running[name]?.record ?? allRecords().all[name] else {
                answer(.missing)
                return done()
            }
            guard !record.isHome(node.id) else { return act(action, record, answer, done) }
            guard action.isMove || action.isWork && isSilent(record.home) else {
                answer(.elsewhere(record.home))
                return done()
            }
            self.record(record.draft(movingTo: node.id)) { [self] dot in
                if dot != nil { work.moved(isTakenOver: !action.isMove) }
                guard dot != nil, let moved = allRecords().all[name], moved.home == node.id else {
                    answer(.failed)
                    return done()
                }
                act(action, moved, answer, done)
            }
        }
    }

    private func make(_ name: String, _ definition: SubscriptionDefinition, _ done: @escaping () -> Void) {
        guard allRecords().all[name] == nil else { return done() }
        record(SubscriptionRecord.draft(name, definition, at: node.id)) { _ in done() }
    }

    private func isSilent(_ home: NodeID) -> Bool {
        let link = node.mesh.current.first { $0.node == home }?.link
        if let last = link.flatMap({ node.sessions[$0]?.session.lastHeard }) ?? node.lastHeard[home] {
            heardAt[home] = sim.now - min(sim.now, (now - min(now, last)) * 1_000)
        }
        let last = heardAt[home] ?? sim.now
        heardAt[home] = last
        return sim.now - last >= Self.silence
    }

    private func act(
        _ action: SimRequest, _ record: SubscriptionRecord, _ answer: @escaping (SimAnswer) -> Void,
        _ done: @escaping () -> Void
    ) {
        guard start(record) else {
            answer(.failed)
            return done()
        }
        let name = record.name
        switch action {
        case .make, .move:
            answer(.settled)
            done()
        case .pull(let worker, let most, let wait, let given):
            workers[worker] = Worker(
                name: name, most: most, isStream: false, until: sim.now + wait * 1_000, answer: given)
            serve([name], done)
        case .stream(let worker, let window, let given):
            running[name]?.machine.joined(worker)
            workers[worker] = Worker(name: name, most: window, isStream: true, until: .max, answer: given)
            serve([name], done)
        case .retry: retry(record, answer, done)
        case .change(let members):
            let object = JSONObject(validated: Array(members.utf8))
            guard let definition = try? record.definition.changed(by: object), definition != record.definition else {
                answer(.missing)
                return done()
            }
            set(record.draft(changingTo: definition, through: node.store.log.vector, at: node.id), name, answer, done)
        case .seek(let start):
            let here = node.store.log.vector
            set(record.draft(seeking: start, through: here, reason: "r", at: node.id), name, answer, done)
        case .settle(let how, let deliveries): settle(how, deliveries, record, answer, done)
        }
    }

    private func settle(
        _ how: SimSettling, _ deliveries: [SimDelivery], _ record: SubscriptionRecord,
        _ answer: @escaping (SimAnswer) -> Void, _ done: @escaping () -> Void
    ) {
        let name = record.name
        func number(_ one: SimDelivery) -> UInt64 { one.run == run ? one.number : 0 }
        if case .ack = how {
            for one in deliveries where one.subscription == record.id {
                let mark = { self.node.store.log.event(one.dot).map { ConversationMark(of: $0.event.header) } }
                guard let ack = running[name]?.machine.ack(one.dot, number: number(one), now: now, mark: mark) else {
                    continue
                }
                if ack != .refused { work.acked(one, isLate: ack == .late) }
            }
            promises.append { answer(.settled) }
            return serve([name], done)
        }
        for one in deliveries { running[name]?.machine.heard(one.dot, number(one)) }
        guard deliveries.allSatisfy({ running[name]?.machine.isCurrent($0.dot, number($0)) == true }) else {
            sim.coverage.count(.staleDeliveries)
            answer(.stale)
            return done()
        }
        for one in deliveries {
            switch how {
            case .ack: break
            case .release(let delay):
                running[name]?.machine.release(one.dot, number: one.number, delay: delay, error: "e", now: now)
            case .extend: running[name]?.machine.extend(one.dot, number: one.number, now: now)
            case .park: running[name]?.machine.park(one.dot, number: one.number, reason: "no", now: now)
            }
        }
        promises.append { answer(.settled) }
        serve([name], done)
    }

    private func set(
        _ draft: EventDraft, _ name: String, _ answer: @escaping (SimAnswer) -> Void, _ done: @escaping () -> Void
    ) {
        record(draft) { [self] dot in
            _ = allRecords()
            answer(dot == nil ? .failed : .settled)
            serve([name], done)
        }
    }

    private func retry(
        _ record: SubscriptionRecord, _ answer: @escaping (SimAnswer) -> Void, _ done: @escaping () -> Void
    ) {
        let records = allRecords()
        let parked = records.parked(record.id).keys.sorted()
        guard running[record.name] != nil, !parked.isEmpty else {
            answer(.missing)
            return done()
        }
        let chosen = Array(parked.prefix(work.random.pick(1...3)))
        let proofs = records.proofs(of: chosen, record.id)
        self.record(record.draft(retrying: chosen, parkedBy: proofs, at: node.id)) { [self] dot in
            if let dot, let log = try? node.store.logReader(), let stored = try? log.event(dot) {
                try? running[record.name]?.machine.heed(stored, of: record, in: log, now: now)
            }
            promises.append { answer(.settled) }
            serve([record.name], done)
        }
    }

    /// The connection of a worker has ended.
    func leave(_ id: UInt64) {
        submit { [self] done in
            guard let worker = workers.removeValue(forKey: id), worker.isStream else { return done() }
            running[worker.name]?.machine.left(id, now: now)
            serve([worker.name], done)
        }
    }

    // MARK: Handing out

    private func serve(_ names: [String], _ done: @escaping () -> Void) {
        guard let name = names.first else { return done() }
        let rest = { [self] in serve(Array(names.dropFirst()), done) }
        guard running[name] != nil else { return rest() }
        running[name]?.machine.tick(now: now)
        setAside(running[name]?.machine.takeParkings() ?? [], name) { [self] in
            do throws(StoreError) { try handOut(name) } catch { end(name) }
            rest()
        }
    }

    private func setAside(
        _ parkings: [SubscriptionMachine.Parking], _ name: String, _ done: @escaping () -> Void
    ) {
        guard let parking = parkings.first else { return done() }
        let rest = { [self] in setAside(Array(parkings.dropFirst()), name, done) }
        guard let record = running[name]?.record, let stored = node.store.log.event(parking.dot) else {
            return rest()
        }
        if sim.has(.parksUnsaid) {
            running[name]?.machine.parked(parking.dot, by: parking.dot, now: now)
            return rest()
        }
        self.record(record.draft(parking: parking, event: stored.event.header.id, at: node.id)) { [self] dot in
            if let dot {
                running[name]?.machine.parked(parking.dot, by: dot, now: now)
            } else {
                running[name]?.machine.notParked(parking.dot, now: now)
            }
            rest()
        }
    }

    private func handOut(_ name: String) throws(StoreError) {
        let log = try node.store.logReader()
        let asking = workers.filter { $0.value.name == name }.sorted { $0.key < $1.key }
        while try look(name, log, asking) {}
        guard let record = running[name]?.record else { return }
        for (id, worker) in asking {
            let out = running[name]?.machine.inFlight(of: id) ?? 0
            let given =
                running[name]?.machine.give(worker.isStream ? worker.most - out : worker.most, to: id, now: now) ?? []
            for one in given { work.handed(one, of: record, at: node) }
            guard !given.isEmpty || sim.now >= worker.until else { continue }
            if !worker.isStream { workers[id] = nil }
            worker.answer(
                given.map { SimDelivery(subscription: record.id, run: run, number: $0.number, dot: $0.dot) })
        }
    }

    /// As `SubscriptionDesk.look`.
    private func look(
        _ name: String, _ log: LogReader, _ asking: [(key: UInt64, value: Worker)]
    ) throws(StoreError) -> Bool {
        running[name]?.machine.note(node.store.log.top, now: now)
        guard var one = running[name] else { return false }
        let demand = asking.reduce(0) { sum, worker in
            sum
                + (worker.value.isStream
                    ? max(0, worker.value.most - one.machine.inFlight(of: worker.key))
                    : worker.value.most)
        }
        let isShort = one.machine.deliverable < demand
        guard isShort || one.machine.isBacklogDue(through: one.position, isShort: false) else { return false }
        let before = one.position
        let isBehind = try one.machine.lookBack(in: log, through: before, isShort: isShort, as: node.id, now: now)
        if one.machine.countBehind > 0 { sim.coverage.count(.conversationsBehind) }
        guard isShort else {
            running[name] = one
            return isBehind
        }
        let (position, retries) = try one.machine.look(
            at: log, after: before, through: node.store.log.top, as: node.id, now: now)
        for retry in retries {
            guard let writer = node.store.log.key(of: retry.event.header.dot.origin)?.nodeID,
                allRecords().isHome(writer, of: one.record.id)
            else { continue }
            try one.machine.heed(retry, of: one.record, in: log, now: now)
        }
        one.position = position
        guard running[name] != nil else { return false }
        running[name] = one
        return isBehind || position < node.store.log.top && position > before
    }

    // MARK: What is kept, and what nodes tell each other

    private func putAway() {
        for (name, one) in running.sorted(by: { $0.key < $1.key }) where one.saved != one.machine.revision {
            work.checkDone(one.machine.state, of: one.record, at: node, "keeps")
            node.kept.put(one.record.place, one.machine.state)
            running[name]?.saved = one.machine.revision
        }
        let waiting = promises
        promises = []
        for promise in waiting { promise() }
    }

    private func share() {
        var values: [SharedState] = []
        for (name, one) in running.sorted(by: { $0.key < $1.key }) where one.told != one.machine.revision {
            lastTold = max(lastTold + 1, UInt64(max(node.wall, 0)))
            values.append(
                SharedState(
                    key: one.record.place.bits, node: node.id, number: lastTold, value: one.machine.state.bytes,
                    signing: node.key))
            running[name]?.told = one.machine.revision
        }
        if !values.isEmpty { node.share(values) }
    }

    /// As `SubscriptionHub.look`.
    private func look() {
        lastLook = sim.now
        guard hasNews, !running.isEmpty || !unjudged.isEmpty else { return }
        hasNews = false
        let records = allRecords()
        for (name, one) in running.sorted(by: { $0.key < $1.key }) {
            if let placed = records.placed(one.record) {
                running[name]?.machine.learn(one.record.admit(placed), now: now)
            }
        }
        judge(records)
    }

    func heard(_ value: SharedState) {
        submit { [self] done in
            unjudged = unjudged.suffix(1_023) + [value]
            judge(records)
            if !unjudged.isEmpty { hasNews = true }
            done()
        }
    }

    private func judge(_ records: SubscriptionRecords) {
        let values = unjudged
        unjudged = []
        var accepted: [SharedState] = []
        for value in values {
            switch take(value, records) {
            case nil: unjudged.append(value)
            case true?: accepted.append(value)
            case false?: sim.coverage.count(.forgedStates)
            }
        }
        if !accepted.isEmpty { node.share(accepted) }
    }

    /// As `SubscriptionDesk.take`; `nil` if the log does not say yet whether it counts.
    private func take(_ value: SharedState, _ records: SubscriptionRecords) -> Bool? {
        let place = EventID(value.key)
        guard let id = records.subscription(placedBy: place),
            records.isHome(value.node, of: id) || sim.has(.believesAnyone)
        else { return nil }
        let log = node.store.log
        let key = log.originIDs.lazy.compactMap { log.key(of: $0) }.first { $0.nodeID == value.node }
        guard let key else { return nil }
        guard value.isValid(for: key), let state = SubscriptionState(bytes: value.value) else {
            return false
        }
        let vector = log.vector
        guard state.needs.entries.allSatisfy(vector.contains) else { return nil }
        guard let record = allRecords().record(id), record.place == place else { return true }
        let told = record.admit(state)
        free(record, [told])
        if running[record.name] != nil {
            running[record.name]?.machine.learn(told, now: now)
        } else {
            var both = [node.kept.value(place).map(record.admit) ?? told, told]
            free(record, [both[0]])
            if let reader = try? node.store.logReader() { SubscriptionState.complete(&both, from: reader) }
            both[0].merge(both[1])
            node.kept.put(place, both[0])
        }
        return true
    }
}

/// A node's file of what is done, beside its log.
struct SimKept {
    private var values: [EventID: [UInt8]] = [:]
    private var synced: [EventID: [UInt8]] = [:]
    private(set) var isUnsynced = false

    func value(_ id: EventID) -> SubscriptionState? { values[id].flatMap { SubscriptionState(bytes: $0) } }

    mutating func put(_ id: EventID, _ state: SubscriptionState) {
        values[id] = state.bytes
        isUnsynced = true
    }

    mutating func sync() { (synced, isUnsynced) = (values, false) }

    /// The machine lost its power: what was not on the disk is gone.
    mutating func lose() { (values, isUnsynced) = (synced, false) }
}

package import EventStore

/// One subscription at its home: what is open, what is out at which worker, what comes next. A pure value: time and events are told to it,
/// and what is to be stored is asked of it (D9).
///
/// The events of a key come one at a time, in the order of the log; the next one is given when the one before is done, to the worker that
/// asks next. A conversation with more than its share is *behind*: what it has besides is looked at later, by itself.
/// From the third attempt on an event is given to a worker that has nothing else, so that what kills a worker is known.
package struct SubscriptionMachine: Sendable {
    /// Most events that are open: more are not looked at before some are done (INV-9).
    package static let capacity = Bounds().capacity
    /// From this attempt on an event goes alone.
    private static let lone = 3

    enum Status {
        case waiting
        case out(number: UInt64, worker: UInt64, until: UInt64)
        case parking
    }

    struct Entry {
        let key: ByteText
        let mark: ConversationMark
        let position: UInt64
        let isRetried: Bool
        /// It is for another home until then, monotonic milliseconds.
        let notBefore: UInt64
        var attempts: Int
        var status = Status.waiting
        /// When it was handed out last.
        var given: UInt64 = 0
        /// What the worker said when it gave it back.
        var error: String?
    }

    struct Load {
        var dots: Set<Dot> = []
        var isLone = false
    }

    package private(set) var definition: SubscriptionDefinition
    let bounds: Bounds
    var looked: LookedAt
    var early: Set<Dot> = []
    var entries: [Dot: Entry] = [:]
    /// Open events of an earlier state with their attempts: they take their places when the log is looked at again, so that what stands
    /// before them in this log comes before them (INV-16).
    var pending: [Dot: (attempts: Int, mark: ConversationMark)] = [:]
    /// Of conversations that are behind: up to where each was looked at.
    var cursors: [ConversationMark: UInt64] = [:]
    var reached: [(position: UInt64, at: UInt64)] = []
    /// What is behind stands here or before.
    var backlogEnd: UInt64 = 0
    /// How many events of each conversation are open.
    private(set) var held: [ConversationMark: Int] = [:]
    /// What other homes have told to be done, for events that were not looked at here yet.
    private var told = SubscriptionState()
    /// Twins that are done when the event is done whose content they have.
    private var followers: [Dot: [Dot]] = [:]
    /// Events that say what was parked: who is told the state must have them, too.
    package internal(set) var needs: VersionVector
    /// The log is to be looked at from here on, for the sake of what was open; `nil`: nothing was.
    package internal(set) var firstOpen: UInt64?
    var lines: [ByteText: DotLine] = [:]
    /// Keys whose first event may be given now, in turn.
    var ready = Queue<ByteText>()
    /// Keys whose first event has to wait, the soonest last.
    var delayed: [(at: UInt64, key: ByteText)] = []
    /// When deliveries end; those that ended before are passed over.
    var deadlines = Queue<(at: UInt64, dot: Dot, number: UInt64)>()
    var workers: [UInt64: Load] = [:]
    private var loneTurn = LoneTurn()
    /// Workers that have let a delivery run out: until they are heard again they get one event now and then.
    var silent: [UInt64: SilentWorker] = [:]
    /// Workers that ask by staying.
    private var staying: Set<UInt64> = []
    private var lastNumber: UInt64 = 0
    private(set) var openCount = 0
    /// To be taken by the shell.
    var parkings: [Parking] = []
    /// Grows with each change of ``state``.
    package internal(set) var revision: UInt64 = 0
    /// What came of the deliveries.
    package var tally = DeliveryTally()

    /// A machine over what was kept.
    ///
    /// - Parameters:
    ///   - events: Of each dot that is open or retried in `state`: its key and position here; those that are not here are missing.
    ///   - here: What this log has; `nil`: all that `state` speaks of.
    package init(
        _ definition: SubscriptionDefinition, _ state: SubscriptionState,
        events: [Dot: (key: ByteText, position: UInt64)], here: VersionVector? = nil, bounds: Bounds = Bounds()
    ) {
        (self.definition, self.bounds) = (definition, bounds)
        // What is not here will be looked at when it comes.
        var through: [OriginID: UInt64] = [:]
        for entry in state.through.entries { through[entry.origin] = entry.seq }
        for open in state.open where events[open.dot] == nil {
            through[open.dot.origin] = min(through[open.dot.origin] ?? 0, open.dot.seq - 1)
        }
        // A conversation that is behind goes on in this log: all that was left of it must be here.
        for place in state.looked.places {
            guard let seq = here?[place.from.origin], let last = through[place.from.origin] else { continue }
            through[place.from.origin] = min(seq, last)
        }
        looked = state.looked
        looked.clip(to: VersionVector(through.filter { $0.value > 0 }.map { Dot(origin: $0.key, seq: $0.value) }))
        if looked != state.looked { told = state }
        early = Set(state.early)
        needs = state.needs
        for mark in looked.behind.keys { cursors[mark] = 0 }
        // The last attempt of an event may have been under way when the process ended.
        func attempts(_ open: SubscriptionState.Open) -> Int { min(open.attempts, definition.attempts - 1) }
        for open in state.open where looked.through.contains(open.dot) {
            guard let event = events[open.dot] else { continue }
            let mark = open.mark ?? ConversationMark(key: event.key)
            pending[open.dot] = (attempts(open), mark)
            // It takes its place among those that were left.
            guard cursors[mark] == nil else { continue }
            firstOpen = min(firstOpen ?? event.position, event.position)
        }
        let retried = state.retried.compactMap { open in events[open.dot].map { (open, $0) } }
        for (open, event) in retried.sorted(by: { $0.1.position < $1.1.position }) {
            insert(
                open.dot, event.key, open.mark ?? ConversationMark(key: event.key), event.position,
                attempts: attempts(open), isRetried: true)
        }
    }

    // MARK: Events

    /// The next event of the log, of which none of its origin was left out.
    ///
    /// - Parameters:
    ///   - isWanted: Whether it is to be handed out; if not it is done.
    ///   - first: A wanted event before it with the same content: when that is done this is, too.
    ///   - notBefore: It is for another home until then, monotonic milliseconds.
    package mutating func look(
        at header: EventHeader, position: UInt64, isWanted: Bool, twinOf first: Dot? = nil, notBefore: UInt64 = 0
    ) {
        let dot = header.dot
        let mark = ConversationMark(of: header)
        if leave(dot, of: mark, position: position, isWanted: isWanted) { return }
        let attempts = pending.removeValue(forKey: dot)?.attempts
        if attempts == nil {
            guard !looked.through.contains(dot) else { return }
            looked.through.advance(to: dot)
        }
        take(header, mark, position, attempts: attempts, isWanted: isWanted, twinOf: first, notBefore: notBefore)
    }

    /// The event was looked at now: it is open, or done.
    ///
    /// - Parameter attempts: Of one that was open before; `nil` of others.
    mutating func take(
        _ header: EventHeader, _ mark: ConversationMark, _ position: UInt64, attempts: Int?, isWanted: Bool,
        twinOf first: Dot?, notBefore: UInt64
    ) {
        let dot = header.dot
        revision += 1
        // One that is tried again was set aside, wherever that was: it stays in its line.
        guard early.remove(dot) == nil, isWanted || attempts != nil, entries[dot] == nil, !told.isDone(dot, of: mark)
        else { return }
        var key = definition.key(of: header)
        if let first {
            guard let other = entries[first], !other.isRetried else { return }
            followers[first, default: []].append(dot)
            key = other.key
        }
        insert(dot, key, mark, position, attempts: attempts ?? 0, isRetried: false, notBefore: notBefore)
    }

    /// A parked event is handed out once more, in a line of its own.
    package mutating func retry(_ header: EventHeader, position: UInt64, now: UInt64) {
        guard entries[header.dot]?.isRetried != true else { return }
        // It may be open here, and is done all the same: another home has set it aside, and will tell so.
        pending[header.dot] = nil
        finish(header.dot, now: now)
        revision += 1
        let mark = ConversationMark(of: header)
        insert(header.dot, definition.key(of: header), mark, position, attempts: 0, isRetried: true)
    }

    /// Another home has told what is done: that need not be done here.
    package mutating func learn(_ state: SubscriptionState, now: UInt64) {
        let (still, early) = (Set(state.open.map(\.dot)), Set(state.early))
        // No worker of this node has said so.
        let tally = tally
        for (dot, mark) in openDots
        where early.contains(dot) || state.looked.contains(dot, of: mark) && !still.contains(dot) {
            _ = ack(dot, number: 0, now: now)
        }
        self.tally = tally
        for entry in state.needs.entries { needs.advance(to: entry) }
        told.merge(state)
    }

    /// A line beside that of a key.
    static func aside(_ key: ByteText) -> ByteText { ByteText("retried " + key.text) }

    mutating func insert(
        _ dot: Dot, _ key: ByteText, _ mark: ConversationMark, _ position: UInt64, attempts: Int, isRetried: Bool,
        notBefore: UInt64 = 0
    ) {
        let key = isRetried ? Self.aside(key) : key
        entries[dot] = Entry(
            key: key, mark: mark, position: position, isRetried: isRetried, notBefore: notBefore, attempts: attempts)
        if !isRetried { count(1, of: mark) }
        lines[key, default: DotLine()].dots.append(dot)
        // Its time may be over: the next tick finds that.
        if lines[key]?.head == dot { begin(key, at: notBefore, now: 0) }
    }

    private mutating func count(_ change: Int, of mark: ConversationMark) {
        openCount += change
        let count = held[mark, default: 0] + change
        held[mark] = count == 0 ? nil : count
    }

    /// Its members were changed, and all that was looked at lay before that. What is out stays out.
    package mutating func change(to record: SubscriptionRecord) {
        var state = SubscriptionState()
        record.note(&state)
        definition = record.definition
        // Those who told it may not have known of the change: it comes again rather than never.
        told = SubscriptionState()
        for entry in state.needs.entries { needs.advance(to: entry) }
        revision += 1
    }

    /// Goes on where another one of this subscription was: with its figures, and numbers that it has not given.
    package mutating func follow(_ other: SubscriptionMachine) {
        (tally, lastNumber, reached) = (other.tally, other.lastNumber, other.reached)
        for worker in other.staying { joined(worker) }
    }

    // MARK: Workers

    /// A worker stays: it is given events until it leaves. Others ask once.
    package mutating func joined(_ worker: UInt64) { staying.insert(worker) }

    /// Hands out up to `most` events.
    package mutating func give(_ most: Int, to worker: UInt64, now: UInt64) -> [Given] {
        tick(now: now)
        var given: [Given] = []
        var isHeldUp = false
        let isProbe = silent[worker] != nil
        guard workers[worker]?.isLone != true, silent[worker]?.mayTry(now) != false else { return [] }
        let most = isProbe ? min(most, inFlight(of: worker) == 0 ? 1 : 0) : most
        var passed = 0
        while given.count < most, let key = ready.first {
            guard let dot = lines[key]?.head, var entry = entries[dot] else {
                ready.removeFirst()
                continue
            }
            // What was tried before is for others: a dead worker takes one attempt of an event, and not all.
            if isProbe, entry.attempts > 0 {
                passed += 1
                if passed > ready.count { break }
                ready.removeFirst()
                ready.append(key)
                continue
            }
            let isLone = entry.attempts + 1 >= Self.lone
            // Who asks for one at a time keeps nothing from others.
            let isCostly = isLone && staying.contains(worker) && most + inFlight(of: worker) > 1
            if isCostly, now < loneTurn.next {
                ready.removeFirst()
                begin(key, at: loneTurn.next, now: now)
                continue
            }
            if isCostly { (isHeldUp, loneTurn.since) = (true, loneTurn.since ?? now) }
            // Those behind it wait until the worker has nothing else.
            if isLone, !(given.isEmpty && inFlight(of: worker) == 0) { break }
            ready.removeFirst()
            lastNumber += 1
            entry.attempts += 1
            entry.given = now
            let until = now + definition.ackWait
            entry.status = .out(number: lastNumber, worker: worker, until: until)
            entries[dot] = entry
            deadlines.append((until, dot, lastNumber))
            workers[worker, default: Load()].dots.insert(dot)
            given.append(Given(dot: dot, position: entry.position, attempt: entry.attempts, number: lastNumber))
            if isLone {
                workers[worker]?.isLone = true
                if isCostly { loneTurn.dot = dot }
                break
            }
        }
        if isProbe { silent[worker]?.trial = given.first?.number }
        if !isHeldUp, loneTurn.dot == nil { loneTurn.since = nil }
        if given.contains(where: { $0.attempt > 1 }) { revision += 1 }
        return given
    }

    /// The work is done, at whatever time and by which delivery that is said.
    ///
    /// - Parameters:
    ///   - number: Of the delivery; 0 of one of an earlier run.
    ///   - mark: Of which conversation the event is, if it is here.
    package mutating func ack(
        _ dot: Dot, number: UInt64, now: UInt64, mark: () -> ConversationMark? = { nil }
    ) -> Ack {
        heard(dot, number)
        guard let entry = entries[dot] else {
            if pending.removeValue(forKey: dot) != nil {
                revision += 1
                return .done
            }
            guard !early.contains(dot), !isLookedAt(dot, mark) else { return .notOpen }
            guard early.count < Self.capacity else { return .refused }
            revision += 1
            early.insert(dot)
            return .notOpen
        }
        var (isLate, isInTime) = (false, false)
        if case .out(let current, _, _) = entry.status { (isLate, isInTime) = (current != number, current == number) }
        if isInTime { tally.noteAck(after: now - min(now, entry.given)) } else { tally.note(.late) }
        finish(dot, now: now)
        return isLate ? .late : .done
    }

    /// The worker gives it back. False if this is not its current delivery.
    ///
    /// - Parameter isUntried: It has not come to it, for a reason that is none of the event's: that was no attempt.
    @discardableResult
    package mutating func release(
        _ dot: Dot, number: UInt64, delay: UInt64?, error: String?, isUntried: Bool = false, now: UInt64
    ) -> Bool {
        heard(dot, number)
        guard isCurrent(dot, number) else { return false }
        if let error { entries[dot]?.error = error }
        let pause = delay ?? definition.pause(after: entries[dot]?.attempts ?? 1)
        if isUntried { entries[dot]?.attempts -= 1 }
        takeBack(dot, .released, notBefore: now + pause, now: now)
        return true
    }

    /// The worker needs longer. False if this is not its current delivery.
    @discardableResult
    package mutating func extend(_ dot: Dot, number: UInt64, now: UInt64) -> Bool {
        heard(dot, number)
        guard isCurrent(dot, number), case .out(_, let worker, _)? = entries[dot]?.status else { return false }
        let until = now + definition.ackWait
        entries[dot]?.status = .out(number: number, worker: worker, until: until)
        deadlines.append((until, dot, number))
        return true
    }

    /// A worker says something of a delivery, current or not: it is alive.
    package mutating func heard(_ dot: Dot, _ number: UInt64) {
        guard !silent.isEmpty, number > 0 else { return }
        if case .out(number, let worker, _)? = entries[dot]?.status { silent[worker] = nil }
        if let late = silent.first(where: { $0.value.numbers.contains(number) }) { silent[late.key] = nil }
    }

    /// A worker has gone: what it had is for others, at once or after a pause.
    package mutating func left(_ worker: UInt64, now: UInt64) {
        silent[worker] = nil
        staying.remove(worker)
        for dot in (workers[worker]?.dots ?? []).sorted() {
            let pause = definition.pause(afterEnd: entries[dot]?.attempts ?? 1)
            takeBack(dot, .left, notBefore: now + pause, now: now)
        }
        workers[worker] = nil
    }

    /// Time has passed: deliveries end that were not answered, pauses are over.
    package mutating func tick(now: UInt64) {
        while let due = deadlines.first, due.at <= now {
            deadlines.removeFirst()
            guard case .out(due.number, let worker, due.at)? = entries[due.dot]?.status else { continue }
            if staying.contains(worker) {
                var known =
                    silent[worker]
                    ?? SilentWorker(
                        since: due.at, wait: definition.ackWait, isLone: workers[worker]?.isLone == true)
                known.missed(due.number, at: due.at)
                silent[worker] = known
            }
            takeBack(due.dot, .expired, notBefore: now, now: now)
        }
        while let due = delayed.last, due.at <= now {
            delayed.removeLast()
            ready.append(due.key)
        }
    }

    /// Whether this delivery is out.
    package func isCurrent(_ dot: Dot, _ number: UInt64) -> Bool {
        if case .out(number, _, _)? = entries[dot]?.status { true } else { false }
    }

    /// It is not out any more.
    private mutating func takeBack(
        _ dot: Dot, _ outcome: DeliveryTally.Outcome, notBefore: UInt64, now: UInt64
    ) {
        guard let entry = entries[dot] else { return }
        guard entry.attempts < definition.attempts else { return setAside(dot, reason: outcome.reason, now: now) }
        tally.note(outcome)
        unload(dot, now: now)
        entries[dot]?.status = .waiting
        revision += 1
        begin(entry.key, at: notBefore, now: now)
    }

    mutating func unload(_ dot: Dot, now: UInt64) {
        guard case .out(_, let worker, _)? = entries[dot]?.status else { return }
        loneTurn.end(dot, now)
        workers[worker]?.dots.remove(dot)
        if workers[worker]?.dots.isEmpty == true { workers[worker] = nil }
    }

    /// The first event of a key may be given from then on.
    mutating func begin(_ key: ByteText, at time: UInt64, now: UInt64) {
        guard time > now else { return ready.append(key) }
        let index = delayed.firstIndex { $0.at < time } ?? delayed.count
        delayed.insert((time, key), at: index)
    }

    /// It is done; the next one of its key is due.
    mutating func finish(_ dot: Dot, now: UInt64) {
        guard let entry = entries[dot] else { return }
        unload(dot, now: now)
        entries[dot] = nil
        if !entry.isRetried { count(-1, of: entry.mark) }
        revision += 1
        defer { for twin in followers.removeValue(forKey: dot) ?? [] { finish(twin, now: now) } }
        guard var line = lines[entry.key] else { return }
        guard line.head == dot else {
            // It was not its turn: an ack of an earlier run. What stands before the first is gone, and may be the same event.
            if let index = line.dots[line.first...].firstIndex(of: dot) { line.dots.remove(at: index) }
            lines[entry.key] = line
            return
        }
        if case .waiting = entry.status { withdraw(entry.key) }
        line.removeFirst()
        lines[entry.key] = line.head == nil ? nil : line
        if let next = line.head { begin(entry.key, at: entries[next]?.notBefore ?? 0, now: now) }
    }

    /// Its first event was waiting to be given and is done.
    private mutating func withdraw(_ key: ByteText) {
        ready.removeAll { $0 == key }
        delayed.removeAll { $0.key == key }
    }
}

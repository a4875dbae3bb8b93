internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import Subscriptions
internal import SyncEngine

// Which subscriptions there are, what of them is done, and who is told of it: the log, `subs.db`, the other nodes.
extension SubscriptionDesk {
    /// All subscriptions, as the log tells of them now.
    func allRecords() throws(StoreError) -> SubscriptionRecords {
        var found = try readRecords()
        var isFreed = false
        for one in running.values {
            guard let record = found.record(one.record.id), record.place == one.record.place else { continue }
            if try free(record, [record.admit(one.machine.state)] + found.told(record), found) { isFreed = true }
        }
        if isFreed { found = try readRecords() }
        for (name, one) in running {
            guard let record = found.all[name], record.id == one.record.id else {
                end(name, "the subscription is gone")
                continue
            }
            guard record.home != one.record.home, record.definition.home == .single else {
                try renew(name, record, one, found)
                continue
            }
            // What is done here the new home learns at once, and this node when it is home again.
            putAway()
            place(name)
            end(name, "the subscription has moved to node \(record.home)")
        }
        return found
    }

    private func readRecords() throws(StoreError) -> SubscriptionRecords {
        var found = records ?? SubscriptionRecords()
        try reader.fresh { views throws(StoreError) in try found.update(views) }
        records = found
        return found
    }

    /// What one home has set aside and another has acked is parked no more. Homes say so before they put the two together: then nothing tells
    /// them apart. Returns whether there was such.
    private func free(
        _ record: SubscriptionRecord, _ states: [SubscriptionState], _ records: SubscriptionRecords
    ) throws(StoreError) -> Bool {
        guard records.isHome(store.identity.node, of: record.id) else { return false }
        let acked = try records.acked(record, states, in: try currentLog())
        // Where it cannot be stored they stay parked, which loses nothing.
        return (try? free(acked, of: record, records)) ?? false
    }

    /// Stores that these are parked no more.
    func free(
        _ dots: [Dot], of record: SubscriptionRecord, _ records: SubscriptionRecords
    ) throws(StoreError) -> Bool {
        guard !dots.isEmpty else { return false }
        let proofs = records.proofs(of: dots, record.id)
        _ = try self.record(
            record.draft(retrying: dots, parkedBy: proofs, done: true, at: store.identity.node), visible: true)
        isParkingNew = true
        return true
    }

    /// Its members were changed, or its place was set.
    private func renew(
        _ name: String, _ record: SubscriptionRecord, _ one: Running, _ records: SubscriptionRecords
    ) throws(StoreError) {
        guard record != one.record else { return }
        let isSamePlace = record.place == one.record.place
        if isSamePlace, record.definition.order == one.record.definition.order, record.isRight(for: one.machine) {
            running[name]?.record = record
            running[name]?.machine.change(to: record)
            return
        }
        let parked = records.parked(record.id)
        let known = isSamePlace ? [record.admit(one.machine.state)] : try known(record, records)
        try begin(name, record, known, parked: parked, try currentLog())
        if !isSamePlace { try openValues().put([(one.record.place.description, nil)]) }
    }

    /// What this node has kept, and what others have told, since its place was set.
    private func known(
        _ record: SubscriptionRecord, _ records: SubscriptionRecords
    ) throws(StoreError) -> [SubscriptionState] {
        [try kept(record), records.placed(record)].compactMap { $0 }
    }

    /// What this node has kept of it.
    private func kept(_ record: SubscriptionRecord) throws(StoreError) -> SubscriptionState? {
        let bytes = try openValues().value(record.place.description)
        return bytes.flatMap { SubscriptionState(bytes: $0) }.map(record.admit)
    }

    /// Whether peers may know that some of it is done, and this node would not.
    func isHeldBack(_ record: SubscriptionRecord) -> Bool { isHearing && blank.contains(record.place) }

    func record(_ name: String) throws(StoreError) -> SubscriptionRecord? {
        if let one = running[name] { return one.record }
        return try allRecords().all[name]
    }

    /// Runs a subscription whose home this is.
    func start(_ record: SubscriptionRecord, isNew: Bool = false) throws(StoreError) {
        guard running[record.name] == nil else { return }
        let log = try currentLog()
        var records = try allRecords()
        if unjudged.contains(where: { $0.key == record.place.bits }) {
            try judge()
            records = try readRecords()
        }
        if !isNew, try kept(record) == nil { blank.insert(record.place) }
        let known = try known(record, records)
        if try free(record, known + records.told(record), records) { records = try readRecords() }
        let machine = try SubscriptionMachine(
            record, known, parked: records.parked(record.id), log, as: store.identity.node)
        isParkingNew = true
        let made = try log.event(record.dot)?.event.header.hlc.milliseconds ?? 0
        running[record.name] = Running(
            record: record, machine: machine, position: try machine.start(in: log), made: made)
    }

    /// Another home has told what is done: that need not be done here.
    func learn(_ name: String, _ state: SubscriptionState) {
        guard let state = running[name]?.record.admit(state) else { return }
        running[name]?.machine.learn(state, now: Self.now)
    }

    // MARK: What nodes tell each other

    /// What the subscriptions that run here have done since it was told last.
    func news(_ wall: Int64) -> [SharedState] {
        var values: [SharedState] = []
        for (name, one) in running where one.told != one.machine.revision {
            running[name]?.told = one.machine.revision
            // More than any peer takes in would end its session: it is told by the log alone then.
            guard case let value = one.machine.state.bytes, value.count <= SharedState.longest else { continue }
            lastTold = max(lastTold + 1, UInt64(max(wall, 0)))
            values.append(
                SharedState(
                    key: one.record.place.bits, node: store.identity.node, number: lastTold, value: value,
                    signing: store.key))
        }
        return values
    }

    /// Takes in what was told, as far as the log says whether it counts.
    func judge() throws(StoreError) {
        var values = unjudged[...]
        unjudged = []
        defer { unjudged += values }
        while let value = values.first {
            if try !take(value) { unjudged.append(value) }
            values.removeFirst()
        }
    }

    /// What a node has told about a subscription. It counts if the node has signed it and was its home (INV-15).
    ///
    /// - Returns: false if the log does not say yet whether it was.
    func take(_ value: SharedState) throws(StoreError) -> Bool {
        let place = EventID(value.key)
        guard let known = records, let id = known.subscription(placedBy: place), known.isHome(value.node, of: id)
        else {
            return false
        }
        guard let key = try key(of: value.node) else { return false }
        guard value.isValid(for: key), let state = SubscriptionState(bytes: value.value) else { return true }
        // What was parked is done where the event is that says so: it may still be on its way, or never come.
        let here = try currentLog().vector()
        guard state.needs.entries.allSatisfy(here.contains) else { return false }
        // It may know of changes that were not read here yet.
        let records = try allRecords()
        guard let record = records.record(id), record.place == place else { return true }
        _ = try free(record, [record.admit(state)], records)
        if running[record.name] != nil {
            learn(record.name, state)
        } else {
            let told = record.admit(state)
            let kept = try kept(record)
            if kept == nil { blank.insert(place) }
            var both = [kept ?? told, told]
            _ = try free(record, [both[0]], records)
            SubscriptionState.complete(&both, from: try currentLog())
            both[0].merge(both[1])
            try openValues().put([(place.description, both[0].bytes)])
            isUnsynced = true
        }
        // Its own word comes back to a node that has lost its memory: what it says next must be later.
        if value.node == store.identity.node { lastTold = max(lastTold, value.number) }
        accepted.append(value)
        return true
    }

    private func key(of node: NodeID) throws(StoreError) -> VerifyingKey? {
        if let key = keys[node] { return key }
        for origin in try currentLog().origins() { keys[origin.node] = origin.key }
        return keys[node]
    }

    /// Stores an event that tells what is done, for other nodes.
    func place(_ name: String) {
        guard let one = running[name], one.placed != one.machine.revision else { return }
        let draft = one.record.draft(placing: one.machine.state, at: store.identity.node)
        guard (try? record(draft, visible: false)) != nil else { return }
        running[name]?.placed = one.machine.revision
        running[name]?.placedAt = Self.now
    }

    func openValues() throws(StoreError) -> NamedValues {
        if let values { return values }
        let opened = try NamedValues(path: store.files.subscriptions)
        values = opened
        return opened
    }

    /// Stores an event of this node's own, and waits until the views have it.
    func record(_ draft: EventDraft, visible: Bool) throws(StoreError) -> AppendReceipt {
        guard let receipt = try store.recordBlocking([draft]).first?.receipt else {
            throw .fault("an event of this node was not taken")
        }
        // Who asks next sees it.
        if visible { _ = try reader.fresh { views throws(StoreError) in try views.progress() } }
        return receipt
    }

    /// It is no more, or not here: its workers are told.
    func end(_ name: String, _ reason: String) {
        running[name] = nil
        troubles.forget(name)
        for (id, pull) in pulls where pull.name == name {
            pulls[id] = nil
            pull.exchange.refuse(.notFound, reason)
        }
        for (id, stream) in streams where stream.name == name { close(id, stream, reason) }
    }

    func close(_ id: UInt64, _ stream: Stream, _ reason: String) {
        streams[id] = nil
        var bytes: [UInt8] = []
        stream.append(.closing(reason), to: &bytes)
        stream.stream.write(bytes)
        stream.stream.end()
    }

    /// Puts away what has changed, and answers those who wait for it.
    func putAway() {
        var changed: [(name: String, bytes: [UInt8]?)] = []
        for one in running.values where one.saved != one.machine.revision {
            changed.append((one.record.place.description, one.machine.state.bytes))
        }
        let waiting = promises
        promises = []
        do throws(StoreError) {
            if !changed.isEmpty {
                try openValues().put(changed)
                isUnsynced = true
            }
            for (name, one) in running { running[name]?.saved = one.machine.revision }
            for promise in waiting {
                switch promise.answer {
                case .body(let body):
                    promise.exchange.reply(status: 200, contentType: "application/json", body: body)
                case .appended(let acked, let answer): promise.exchange.send(answer(acked))
                case .pull(let id, let pull):
                    pulls[id] = pull
                    begun.insert(pull.name)
                }
            }
        } catch {
            for promise in waiting {
                if let acks = promise.acks { takeBack(acks) }
                guard case .appended(_, let answer) = promise.answer else {
                    promise.exchange.refuse(error)
                    continue
                }
                promise.exchange.note(error)
                promise.exchange.send(answer(AckedDeliveries(ErrorCode(error), error.told)))
            }
        }
    }

    /// Who has sent these acks is told that they do not count.
    func takeBack(_ acks: Acks) {
        for (dot, open) in acks.taken {
            let stored = try? currentLog().event(dot)
            running[acks.name]?.machine.refused(
                dot, open, stored.map { ($0.event.header, $0.position) }, now: Self.now)
        }
    }

    /// Lets the disk have it.
    func sync() {
        guard isUnsynced else { return }
        isUnsynced = (try? values?.sync()) == nil
    }
}

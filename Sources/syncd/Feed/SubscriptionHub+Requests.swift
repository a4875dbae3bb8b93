internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import Subscriptions
internal import SyncEngine

// What is asked of subscriptions, on the thread that has them.
extension SubscriptionHub {
    func answer(
        _ request: SubscriptionRequest, _ id: UInt64, _ admitted: AdmittedRequest, _ desk: SubscriptionDesk
    ) throws(StoreError) {
        let (exchange, caller) = (admitted.exchange, admitted.caller)
        switch request {
        case .list(let page):
            let records = try desk.allRecords().all.values.filter { caller.mayKeep($0) }
            let body = try page.body(records.sorted { $0.name < $1.name }, key: \.name) { record throws(StoreError) in
                if record.isHome(own) { try desk.start(record) }
                return JSONLine(record, desk, durable: durable)
            }
            exchange.send(lines: body)
        case .make(let name, let definition):
            guard caller.readsAll else { return exchange.refuseOwnScope() }
            try make(name, definition, admitted, desk)
        case .one(let name, let action):
            guard var record = try desk.record(name), caller.mayKeep(record) else {
                return exchange.refuse(
                    .notFound, "there is no subscription \(name)", hint: "PUT /v1/subscriptions/\(name) makes it")
            }
            if action.isWork, !caller.readsAll { return exchange.refuseOwnScope() }
            if case .tell = action, !record.isHome(own) {
                return exchange.send(JSONLine(record, desk, durable: durable))
            }
            if !record.isHome(own) {
                let silent = silence(of: record.home)
                guard action.isMove || action.isWork && silent >= Self.silence else {
                    return exchange.refuse(
                        .elsewhere, "\(name) is delivered by node \(record.home), silent for \(silent) ms",
                        hint: "ask that node; this one takes over when it has been silent for \(Self.silence) ms, "
                            + "or by POST …/\(name)/move")
                }
                _ = try desk.record(record.draft(movingTo: own), visible: true)
                guard let moved = try desk.allRecords().all[name], moved.home == own else {
                    throw .busy("\(name) is being moved")
                }
                record = moved
            }
            try desk.start(record)
            try act(action, record, id, admitted, desk)
        }
    }

    private func make(
        _ name: String, _ definition: SubscriptionDefinition, _ admitted: AdmittedRequest, _ desk: SubscriptionDesk
    ) throws(StoreError) {
        let (exchange, caller) = (admitted.exchange, admitted.caller)
        if let record = try desk.allRecords().all[name] {
            guard caller.mayKeep(record) else {
                return exchange.refuse(
                    .exists, "there is a subscription \(name) of another owner", hint: "another name is free")
            }
            guard record.isMade(as: definition) else {
                return exchange.refuse(
                    .exists, "there is a subscription \(name) with other members",
                    hint: "GET shows them, PATCH changes them; another name is free")
            }
            return exchange.send(JSONLine(record, desk, durable: durable))
        }
        _ = try desk.record(SubscriptionRecord.draft(name, definition, for: caller.actor, at: own), visible: true)
        guard let record = try desk.allRecords().all[name] else { throw .busy("\(name) is not there yet") }
        if record.isHome(own) { try desk.start(record, isNew: true) }
        exchange.send(JSONLine(record, desk, durable: durable), status: 201)
    }

    private func act(
        _ action: SubscriptionAction, _ record: SubscriptionRecord, _ id: UInt64, _ admitted: AdmittedRequest,
        _ desk: SubscriptionDesk
    ) throws(StoreError) {
        let (exchange, caller) = (admitted.exchange, admitted.caller)
        let name = record.name
        let now = SubscriptionDesk.now
        switch action {
        case .tell, .move:
            // With what was parked just now.
            _ = try desk.allRecords()
            exchange.send(JSONLine(record, desk, durable: durable))
        case .delete:
            _ = try desk.record(record.deletion(at: own), visible: true)
            try desk.openValues().put([(record.place.description, nil)])
            desk.end(name, "the subscription was deleted")
            exchange.reply(status: 204, contentType: nil)
        case .pull(let most, let wait, let done):
            guard desk.hasPlace else { return exchange.refuse(.busy, "too many workers are waiting") }
            var pull = SubscriptionDesk.Pull(
                name: name, caller: caller, exchange: exchange, most: most, until: now + wait)
            if done.isEmpty {
                desk.pulls[id] = pull
            } else {
                guard exchange.takes(done, "ack", of: record) else { return }
                let (acked, acks) = try acknowledge(done, record, desk)
                pull.acked = acked.members
                desk.promises.append(.init(exchange: exchange, answer: .pull(id, pull), acks: acks))
            }
            again(desk.serve(name, durable: durable), name)
        case .deliveries(let window, let isEventStream):
            let contentType = isEventStream ? "text/event-stream" : "application/x-ndjson"
            // Who asks only whether there is something is no worker.
            guard exchange.request.method != "HEAD" else {
                return exchange.reply(status: 200, contentType: contentType)
            }
            guard desk.hasPlace else { return exchange.refuse(.busy, "too many workers are waiting") }
            let stream = exchange.startStream(
                status: 200, contentType: contentType,
                headers: [HTTPField("Cache-Control", "no-store")]
            ) { [weak self] in self?.gone(id) }
            desk.running[name]?.machine.joined(id)
            desk.streams[id] = SubscriptionDesk.Stream(
                name: name, caller: caller, stream: stream, window: window, isEventStream: isEventStream, wrote: now)
            again(desk.serve(name, durable: durable), name)
        case .parked(let page):
            let parked = try desk.allRecords().parked(record.id).values.map { event in
                (event, key: "\(ListPage.key(UInt64(clamping: event.at))) \(event.dot)")
            }
            let body = try page.body(parked.sorted { $0.key < $1.key }, key: \.key) { event, _ in JSONLine(event) }
            exchange.send(lines: body)
        case .retry(let events): try retry(events, record, exchange, desk)
        case .change(let members):
            let definition: SubscriptionDefinition
            do throws(InvalidDefinition) { definition = try record.definition.changed(by: members) } catch {
                return exchange.refuse(.parameter, error.description)
            }
            if definition != record.definition {
                let here = try desk.currentLog().vector()
                _ = try desk.record(record.draft(changingTo: definition, through: here, at: own), visible: true)
            }
            try tell(name, exchange, desk)
        case .seek(let start, let reason):
            let here = try desk.currentLog().vector()
            let draft = record.draft(seeking: start, through: here, reason: reason, at: own)
            _ = try desk.record(draft, visible: true)
            try tell(name, exchange, desk)
        case .ack, .release, .extend, .park: try settle(action, record, exchange, desk)
        }
    }

    /// The subscription as it is now that it was set otherwise.
    private func tell(_ name: String, _ exchange: HTTPExchange, _ desk: SubscriptionDesk) throws(StoreError) {
        guard let record = try desk.allRecords().all[name] else { throw .busy("\(name) is being changed") }
        try desk.start(record)
        exchange.send(JSONLine(record, desk, durable: durable))
        again(desk.serve(name, durable: durable), name)
    }

    private func retry(
        _ events: [EventID], _ record: SubscriptionRecord, _ exchange: HTTPExchange, _ desk: SubscriptionDesk
    ) throws(StoreError) {
        let records = try desk.allRecords()
        let chosen = records.parked(record.id).values.filter { events.contains($0.event) }
        let missing = events.first { event in !chosen.contains { $0.event == event } }
        guard missing == nil, !chosen.isEmpty else {
            return exchange.refuse(
                .notParked, "event \(missing?.description ?? "") is not parked",
                hint: "GET /v1/subscriptions/\(record.name)/parked has those that are")
        }
        let dots = chosen.map(\.dot).sorted()
        let draft = record.draft(retrying: dots, parkedBy: records.proofs(of: dots, record.id), at: own)
        let proof = try desk.record(draft, visible: true).dot
        desk.isParkingNew = true
        let log = try desk.currentLog()
        // At once: the log may be far from being looked at so far.
        if let stored = try log.event(proof) {
            try desk.running[record.name]?.machine.heed(
                stored, of: record, in: log, now: SubscriptionDesk.now)
        }
        desk.promises.append(.init(exchange: exchange, answer: .body(Array("{\"retried\":\(chosen.count)}\n".utf8))))
        again(desk.serve(record.name, durable: durable), record.name)
    }

    /// What a worker says of its deliveries.
    private func settle(
        _ action: SubscriptionAction, _ record: SubscriptionRecord, _ exchange: HTTPExchange, _ desk: SubscriptionDesk
    ) throws(StoreError) {
        let tokens: [DeliveryToken]
        switch action {
        case .ack(let all), .release(let all, _, _, _), .extend(let all), .park(let all, _): tokens = all
        default: return
        }
        guard exchange.takes(tokens, "deliveries", of: record) else { return }
        if case .ack = action {
            let (acked, acks) = try acknowledge(tokens, record, desk)
            let body = Array("{\(acked.members)}\n".utf8)
            desk.promises.append(.init(exchange: exchange, answer: .body(body), acks: acks))
            return again(desk.serve(record.name, durable: durable), record.name)
        }
        for token in tokens { desk.running[record.name]?.machine.heard(token.dot, desk.number(token)) }
        // All or none: the current ones are known before the first is settled.
        let stale = tokens.first { token in
            desk.running[record.name]?.machine.isCurrent(token.dot, desk.number(token)) != true
        }
        if let stale {
            return exchange.refuse(
                .deliveryStale, "deliveries: '\(stale.text)' is not out any more",
                hint: "its time was over, or it is done; ack counts at any time")
        }
        let now = SubscriptionDesk.now
        for token in tokens {
            let number = desk.number(token)
            switch action {
            case .release(_, let delay, let error, let isUntried):
                desk.running[record.name]?.machine.release(
                    token.dot, number: number, delay: delay, error: error, isUntried: isUntried, now: now)
            case .extend: desk.running[record.name]?.machine.extend(token.dot, number: number, now: now)
            case .park(_, let reason):
                desk.running[record.name]?.machine.park(
                    token.dot, number: number, reason: reason, now: now)
            default: break
            }
        }
        desk.promises.append(.init(exchange: exchange, answer: .body(Array("{\"count\":\(tokens.count)}\n".utf8))))
        again(desk.serve(record.name, durable: durable), record.name)
    }

    /// What came of it: to be told when it is put away. What does not count then, or where this throws, is taken back.
    private func acknowledge(
        _ tokens: [DeliveryToken], _ record: SubscriptionRecord, _ desk: SubscriptionDesk
    ) throws(StoreError) -> (told: AckedDeliveries, acks: SubscriptionDesk.Acks) {
        let name = record.name
        // A snapshot may have taken the log's place: then the machine is another one.
        let log = try desk.currentLog()
        var acked = AckedDeliveries()
        var acks = SubscriptionDesk.Acks(name: name)
        var notOpen: [Dot] = []
        var told: Set<Dot> = []
        for token in tokens where told.insert(token.dot).inserted {
            let number = desk.number(token)
            let mark = { (try? log.event(token.dot)).map { ConversationMark(of: $0.event.header) } }
            let (open, before) = (desk.running[name]?.machine.open(token.dot), desk.running[name]?.machine.revision)
            defer {
                if desk.running[name]?.machine.revision != before { acks.taken.append((token.dot, open)) }
            }
            switch desk.running[name]?.machine.ack(token.dot, number: number, now: SubscriptionDesk.now, mark: mark) {
            case .done: acked.done += 1
            case .notOpen:
                acked.done += 1
                notOpen.append(token.dot)
            case .late:
                acked.done += 1
                acked.late.append(token.text)
            case .refused, nil: break
            }
        }
        // The log is asked about those alone: an ack in time costs nothing more.
        guard !notOpen.isEmpty else { return (acked, acks) }
        do throws(StoreError) {
            let records = try desk.allRecords()
            _ = try desk.free(records.parked(record.id, among: notOpen), of: record, records)
        } catch {
            desk.takeBack(acks)
            throw error
        }
        return (acked, acks)
    }

    /// Acks deliveries whose events are stored, and sends what `answer` makes of it: the events stand whatever comes of the acks.
    func acknowledge(
        _ tokens: [DeliveryToken], _ admitted: AdmittedRequest,
        answer: @escaping @Sendable (AckedDeliveries) -> AppendAnswer
    ) {
        let (exchange, caller) = (admitted.exchange, admitted.caller)
        let isTaken = worker.submit { [weak self] desk in
            guard let self else { return }
            do throws(StoreError) {
                let records = try desk.allRecords()
                guard let record = tokens.first.flatMap({ records.record($0.subscription) }), caller.mayKeep(record),
                    caller.readsAll
                else {
                    return exchange.send(answer(AckedDeliveries(.notFound, "there is no such subscription")))
                }
                guard record.isHome(own) else {
                    let home = "\(record.name) is delivered by node \(record.home)"
                    return exchange.send(answer(AckedDeliveries(.elsewhere, home)))
                }
                try desk.start(record)
                let (acked, acks) = try acknowledge(tokens, record, desk)
                desk.promises.append(.init(exchange: exchange, answer: .appended(acked, answer), acks: acks))
                again(desk.serve(record.name, durable: durable), record.name)
            } catch {
                exchange.note(error)
                exchange.send(answer(AckedDeliveries(ErrorCode(error), error.told)))
            }
            follow(desk)
        }
        if !isTaken { exchange.send(answer(AckedDeliveries(.closed, "the node stops"))) }
    }
}

extension AckedDeliveries {
    /// As members of an answer.
    fileprivate var members: String {
        let list = late.map { "\"\($0)\"" }.joined(separator: ",")
        return "\"done\":\(done),\"late\":[\(list)]"
    }
}

internal import EventStore
internal import SyncEngine
internal import WireKit

extension SimNode {
    /// Puts a frame on the link, or what this node says in its place.
    func transmit(_ frame: Frame, _ lane: Lane, _ end: SimPeerLink) {
        if sim.has(.creditLeak), frame.type == MessageType.credit.rawValue { return }
        let frame = sim.has(.wrongOrder) ? byOrigin(frame) : frame
        let pieces = disguised(frame)
        if pieces.count != 1 || pieces.first != frame.bytes {
            sim.coverage.reached(disguise.fault)
            sim.note { "\(self.name) says something else: \(self.disguise)" }
        }
        for piece in pieces { end.link.send(piece, lane, from: end.side) }
        if sim.has(.ignoreCredit), frame.type == MessageType.events.rawValue {
            end.received(Message.credit(sim.limits.window).frame(compress: false))
        }
    }

    /// A planted defect.
    private func byOrigin(_ frame: Frame) -> Frame {
        guard case .events(var batch)? = try? Message(frame: frame) else { return frame }
        batch.events = batch.events.compactMap { try? $0.event() }
            .sorted { $0.header.dot < $1.header.dot }.map(EncodedEvent.init)
        return Message.events(batch).frame(compress: frame.flags & Frame.compressed != 0)
    }

    private func disguised(_ frame: Frame) -> [[UInt8]] {
        switch disguise {
        case .honest, .olderVersion: [frame.bytes]
        case .newerVersion: asLaterRelease(frame, min: 1)
        case .tooNewVersion: asLaterRelease(frame, min: 2)
        case .neverAcks: isLaterStatement(frame) ? [] : [frame.bytes]
        case .neverCredits: isLaterStatement(frame) || frame.type == MessageType.credit.rawValue ? [] : [frame.bytes]
        default: sim.random.chance(0.3) ? lie(frame) : [frame.bytes]
        }
    }

    /// Says what is durable, after the opening.
    private func isLaterStatement(_ frame: Frame) -> Bool {
        switch try? Message(frame: frame) {
        case .ack?: true
        case .stateDelta(let standing)?: !standing.isWhole && standing.digest == nil
        default: false
        }
    }

    /// Hello with other versions and an ability that no node knows; then messages that this release must pass over.
    private func asLaterRelease(_ frame: Frame, min: UInt32) -> [[UInt8]] {
        if case .hello(var hello)? = try? Message(frame: frame) {
            hello.protocolMin = min
            hello.protocolMax = 3
            hello.features = Features(rawValue: hello.features.rawValue | 1 << 60)
            hello.compressors.append("later")
            return [Message.hello(hello).frame(compress: false).bytes]
        }
        guard sim.random.chance(0.3) else { return [frame.bytes] }
        sim.coverage.count(.unknownMessages)
        let unknown = Frame(type: 200, body: sim.random.bytes(sim.random.pick(0...300)))
        return [unknown.bytes, frame.bytes]
    }

    private func lie(_ frame: Frame) -> [[UInt8]] {
        switch (disguise, try? Message(frame: frame)) {
        case (.garbledBody, _):
            var other = frame
            guard !other.body.isEmpty else { return [frame.bytes] }
            for _ in 0..<3 { other.body[sim.random.pick(0...other.body.count - 1)] = UInt8(sim.random.pick(0...255)) }
            return [other.bytes]
        case (.reservedBits, _):
            var bytes = frame.bytes
            bytes[6] = 1
            return [bytes]
        case (.hugeLength, _): return [[0x7f, 0xff, 0xff, 0xff, frame.type, 0, 0, 0] + frame.body]
        case (.bomb, _):
            let body: [UInt8] = [0x00, 0x7f, 0xff, 0xff] + sim.random.bytes(40)
            return [Frame(type: MessageType.events.rawValue, flags: Frame.compressed, body: body).bytes]
        case (.changedPayload, .events(let batch)?): return [events(batch, changingPayload).bytes]
        case (.oversizeEvent, .events(let batch)?): return [events(batch, oversized).bytes]
        case (.wrongProof, .events(var batch)?):
            batch.coverage = batch.coverage.map { Coverage(head: $0.head, proof: $0.proof.dropLast() + $0.proof) }
            if batch.coverage.allSatisfy(\.proof.isEmpty) { batch.coverage = [] }
            return [Message.events(batch).frame(compress: false).bytes]
        case (.claimsMore, .vector(let entries)?):
            return [vector(entries.map { VectorEntry(origin: $0.origin, seq: $0.seq + 3, root: $0.root ^ 9) })]
        case (.claimsLess, .vector(let entries)?): return [vector(Array(entries.prefix(1)))]
        case (.wrongRoots, .vector(let entries)?):
            return [vector(entries.map { VectorEntry(origin: $0.origin, seq: $0.seq, root: $0.root ^ 1) })]
        case (.claimsMore, .stateDelta(let standing)?): return [changed(standing) { $0 + 3 }]
        case (.claimsLess, .stateDelta(let standing)?):
            var other = standing
            other.entries = Array(other.entries.prefix(1))
            return [Message.stateDelta(other).frame(compress: false).bytes]
        case (.wrongRoots, .stateDelta(let standing)?): return [changed(standing) { $0 }]
        case (.ignoresCredit, .events?): return [[UInt8]](repeating: frame.bytes, count: 40)
        case (.eventsBeforeVector, .vector?), (.eventsBeforeVector, .stateDelta?):
            return [Message.events(EventBatch(events: [], coverage: [])).frame(compress: false).bytes, frame.bytes]
        case (.changedRows, .snapshotRows(let rows)?): return [changed(rows).bytes]
        case (.wrongProof, .snapshotEnd(var end)?):
            end.coverage = end.coverage.map { Coverage(head: $0.head, proof: $0.proof.dropLast() + $0.proof) }
            if end.coverage.allSatisfy(\.proof.isEmpty) { end.coverage.removeLast() }
            return [Message.snapshotEnd(end).frame(compress: false).bytes]
        case (.wrongOffer, .snapshotOffer(let offer)?): return [claimingMore(offer).bytes]
        case (.foreignSnapshot, .snapshotOffer?): return [another(frame).bytes]
        default: return [frame.bytes]
        }
    }

    /// A byte of a piece is another one.
    private func changed(_ rows: SnapshotRows) -> Frame {
        var other = rows
        func flip(_ bytes: inout ArraySlice<UInt8>) {
            guard !bytes.isEmpty else { return }
            bytes[bytes.startIndex + sim.random.pick(0...bytes.count - 1)] ^= UInt8(1 << sim.random.pick(0...7))
        }
        switch sim.random.pick(0...5) {
        case 0: flip(&other.columns)
        case 1: flip(&other.ids)
        case 2: flip(&other.salts)
        case 3: flip(&other.names)
        case 4: other.after += 1
        default: flip(&other.payloads)
        }
        return Message.snapshotRows(other).frame(compress: false)
    }

    /// An offer of events that are not there, under the right name.
    private func claimingMore(_ offer: SnapshotOffer) -> Frame {
        var progress = SnapshotPlan(offer).progress
        guard let last = progress.popLast() else { return Message.snapshotOffer(offer).frame(compress: false) }
        progress.append(OriginProgress(origin: last.origin, seq: last.seq + 1, rootPrefix: last.rootPrefix))
        let plan = SnapshotPlan(through: offer.through + 1, progress: progress)
        let more = SnapshotOffer(plan, of: id, incarnation: identity.incarnation, bytes: offer.bytes)
        return Message.snapshotOffer(more).frame(compress: false)
    }

    /// What another node would offer, under its name or this one's.
    private func another(_ frame: Frame) -> Frame {
        let other = sim.random.pick(sim.nodes)
        let isNamed = sim.random.chance(0.5)
        guard let offer = other.store.offer(as: isNamed ? self : other) else { return frame }
        return Message.snapshotOffer(offer).frame(compress: false)
    }

    /// A statement that speaks of other histories, its digest made to fit.
    private func changed(_ standing: StateDelta, _ seq: (UInt64) -> UInt64) -> [UInt8] {
        var other = standing
        other.entries = standing.entries.map { StateEntry($0.name, seq: seq($0.seq), root: $0.root ^ 9) }
        if standing.digest != nil, standing.isWhole {
            other.digest = StateDelta.digest(
                of: other.entries.compactMap { entry in
                    guard case .new(let origin) = entry.name else { return nil }
                    return VectorEntry(origin: origin, seq: entry.seq, root: entry.root)
                })
        }
        return Message.stateDelta(other).frame(compress: false).bytes
    }

    private func vector(_ entries: [VectorEntry]) -> [UInt8] { Message.vector(entries).frame(compress: false).bytes }

    private func events(_ batch: EventBatch, _ change: (EncodedEvent) -> EncodedEvent) -> Frame {
        var other = batch
        if let last = other.events.popLast() { other.events.append(change(last)) }
        return Message.events(other).frame(compress: false)
    }

    private func changingPayload(_ event: EncodedEvent) -> EncodedEvent {
        guard case .present(let salt, _) = event.body else { return event }
        return EncodedEvent(header: event.header, body: .present(salt: salt, payload: Array(#"{"text":"거짓"}"#.utf8)))
    }

    private func oversized(_ event: EncodedEvent) -> EncodedEvent {
        guard case .present(let salt, _) = event.body else { return event }
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: Limits.payload + 1)
        let payload = Array(#"{"text":""#.utf8) + text + Array(#""}"#.utf8)
        return EncodedEvent(header: event.header, body: .present(salt: salt, payload: payload))
    }
}

extension Disguise {
    /// The fault this is an instance of.
    var fault: SimFault {
        switch self {
        case .honest, .olderVersion, .newerVersion, .tooNewVersion: .versions
        case .neverAcks, .neverCredits: .neverAcks
        default: .hostileFrames
        }
    }
}

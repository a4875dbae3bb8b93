internal import EventStore
internal import SyncEngine

/// What must hold after every step, seen from outside of the nodes.
final class SimChecks {
    unowned let sim: Simulation
    let sha = SHA256()
    /// The first content ever stored under each dot.
    private var truth: [Dot: Digest] = [:]
    /// What the node of each origin wrote; of a forked origin more than one content under a dot.
    private(set) var written: [Dot: Set<Digest>] = [:]
    /// Origins whose node lost its memory or was copied: their dots may have two contents.
    private(set) var tainted: Set<OriginID> = []
    /// What clients were told is stored.
    private var promised: [Promise] = []
    private var promisedIDs: [PromiseKey: Dot] = [:]
    /// Pairs of nodes that have named a contradiction.
    private(set) var named: Set<[Int]> = []
    /// Nodes that lost memory: what they once sent may not be what they send now.
    private var forgetful: Set<Int> = []

    private struct Promise {
        let node: Int
        let dot: Dot
        let id: EventID
    }

    private struct PromiseKey: Hashable {
        let node: Int
        let id: EventID
    }

    init(sim: Simulation) { self.sim = sim }

    func hasForgotten(_ node: SimNode) -> Bool { forgetful.contains(node.index) }

    func isTainted(_ origin: OriginID) -> Bool { tainted.contains(origin) }

    func taint(_ origin: OriginID) { tainted.insert(origin) }

    // MARK: The log

    /// INV-2, 3, 4, 5: every commit adds events that follow on, with all that they depend on, and changes nothing.
    func committed(_ node: SimNode, before: SimLog, after: SimLog) {
        sim.coverage.count(.commits)
        guard after.top >= before.top else {
            return sim.violate("INV-2", "\(node.name): a commit took events away")
        }
        var vector = before.vector
        for (index, stored) in after.events.dropFirst(Int(before.top)).enumerated() {
            let header = stored.event.header
            guard stored.position == before.top + UInt64(index) + 1 else {
                return sim.violate("INV-2", "\(node.name): position \(stored.position) after \(before.top)")
            }
            guard header.dot.seq == vector[header.dot.origin] + 1 else {
                return sim.violate("INV-3", "\(node.name): \(header.dot) after \(vector[header.dot.origin])")
            }
            let forked = Set(node.evidence.map(\.origin))
            // Of a forked origin it may be the other history, but one is here.
            let isHere = header.dependencies.allSatisfy { dot in
                vector.contains(dot) || (forked.contains(dot.origin) && vector[dot.origin] > 0)
            }
            guard isHere else {
                return sim.violate("INV-5", "\(node.name): \(header.dot) without what it depends on")
            }
            let leaf = sha.leaf(of: stored.event)
            checkContent(node, header.dot, leaf)
            if header.dot.origin == after.own {
                written[header.dot, default: []].insert(leaf)
                checkOwn(node, stored, after)
                sim.work.committed(stored.event, at: node)
            }
            if stored.twinOf != nil { sim.coverage.count(.twins) }
            vector.advance(to: header.dot)
            sim.coverage.count(.events)
            sim.mix(stored.position, header.hlc.rawValue, UInt64(node.index))
        }
        sim.note { "\(node.name): commits to \(after.top)" }
    }

    private func checkContent(_ node: SimNode, _ dot: Dot, _ leaf: Digest) {
        guard let known = truth[dot] else {
            truth[dot] = leaf
            return
        }
        guard known != leaf else { return }
        sim.coverage.count(.forks)
        if !tainted.contains(dot.origin) {
            sim.violate("INV-4", "\(node.name): \(dot) has another content than elsewhere")
        }
    }

    /// An own event names all that its node had applied since the last, and its stamp is sane (D7).
    private func checkOwn(_ node: SimNode, _ stored: StoredEvent, _ log: SimLog) {
        let header = stored.event.header
        let previous = log.event(Dot(origin: log.own, seq: header.dot.seq - 1))?.position ?? 0
        var applied = VersionVector()
        for other in log.events[Int(previous)..<Int(stored.position) - 1] {
            applied.advance(to: other.event.header.dot)
        }
        // After a fork the old origin is left out: what stands under its last seq here is something else elsewhere.
        let left = OriginStart(stored.event)?.succession.flatMap { $0.change == .forked ? $0.previous : nil }
        guard applied.entries.filter({ $0.origin != left }) == header.dependencies else {
            return sim.violate("INV-5", "\(node.name): \(header.dot) does not say what had been applied")
        }
        let limit = node.highestWall + HybridClock.bound + 1_000
        if header.hlc.milliseconds > limit {
            sim.violate("D7", "\(node.name): stamps \(header.hlc.milliseconds), its clock never passed \(limit)")
        }
    }

    /// D12: a node takes its memory for lost only if its log lacks what it is said to have written.
    func givesUp(_ node: SimNode, _ origin: OriginID, _ change: OriginChange, known: UInt64) {
        guard change == .behind, origin == node.store.log.own else { return }
        let have = node.store.log.size(of: origin)
        if have >= known { sim.violate("D12", "\(node.name) gives up \(origin) for \(known) events, it has \(have)") }
    }

    // MARK: Clients

    /// A client was told what came of its event (INV-1, INV-8).
    func appended(_ node: SimNode, _ draft: EventDraft, _ dot: Dot?) {
        guard let dot, let id = draft.id else { return }
        let key = PromiseKey(node: node.index, id: id)
        if let earlier = promisedIDs[key] {
            sim.coverage.count(.repeatedAppends)
            if earlier != dot { sim.violate("INV-8", "\(node.name): \(id) is \(earlier) and \(dot)") }
            return
        }
        promisedIDs[key] = dot
        promised.append(Promise(node: node.index, dot: dot, id: id))
    }

    /// The node was given an older memory: what is not in `log` was lost by the fault, not by the store.
    func forgot(_ node: SimNode, keeping log: SimLog) {
        sim.note { "\(node.name): remembers \(log.top) of \(node.store.log.top)" }
        forgetful.insert(node.index)
        // Also where what it remembers is newer than what it had just before: its origin may have gone on from there once.
        if truth[Dot(origin: log.own, seq: log.size(of: log.own) + 1)] != nil { taint(log.own) }
        promised.removeAll { $0.node == node.index && log.event($0.dot)?.event.header.id != $0.id }
        promisedIDs = promisedIDs.filter { item in
            item.key.node != node.index || log.event(item.value)?.event.header.id == item.key.id
        }
        node.reader.reset()
    }

    /// A client was told that `vector` is durable on these nodes (INV-7). No client knows of what was lost since it was said.
    func held(_ vector: VersionVector, by holders: Holders, told node: SimNode) {
        sim.coverage.count(holders.isReached ? .waitsReached : .waitsExpired)
        for name in holders.nodes {
            guard let holder = sim.nodes.first(where: { $0.name == (name == node.identity.name ? node.name : name) }),
                !hasForgotten(holder), !sim.damaged.contains(holder.index), !holder.disguise.isHostile,
                !sim.nodes.contains(where: { $0.knownAs == holder.index && $0 !== holder })
            else { continue }
            // A snapshot that waits to become the log is on the disk, too.
            let logs = [holder.store.onDisk] + (holder.ready.map { [$0.file.log] } ?? [])
            let missing = vector.entries.first { dot in logs.allSatisfy { $0.size(of: dot.origin) < dot.seq } }
            if let missing { sim.violate("INV-7", "\(node.name) says that \(missing) is durable at \(name)") }
        }
    }

    func promisesKept() {
        for promise in promised {
            let node = sim.nodes[promise.node]
            guard !node.isRetired else { continue }
            guard node.store.log.event(promise.dot)?.event.header.id == promise.id else {
                return sim.violate("INV-1", "\(node.name): \(promise.dot) was acknowledged and is gone")
            }
        }
    }

    // MARK: The wire

    /// INV-7, INV-9: what a node says is durable is durable, and it sends what it has credit for.
    func sending(_ frame: Frame, _ link: SimPeerLink, _ node: SimNode) {
        sim.coverage.count(.frames)
        sim.mix(UInt64(frame.type), UInt64(frame.body.count), UInt64(link.link.number))
        guard frame.body.count <= WireLimits().body(of: frame.type) else {
            return sim.violate("INV-9", "\(node.name) sends a frame of \(frame.body.count) bytes")
        }
        switch MessageType(rawValue: frame.type) {
        case .events:
            guard let allowance = link.allowance, allowance > 0 else {
                return sim.violate("INV-9", "\(node.name) sends events without credit")
            }
            link.allowance = allowance - Int64(frame.count)
        case .snapshotRows, .snapshotEnd: sendingRows(frame, link, node)
        case .snapshotGet: link.takenRows = 0
        case .vector, .stateDelta, .ack, .credit: sendingState(frame, link, node)
        default: break
        }
        sim.note { "\(node.name) → \(link.link.other(link.side).name): \(describe(frame))" }
    }

    private func sendingState(_ frame: Frame, _ link: SimPeerLink, _ node: SimNode) {
        switch try? Message(frame: frame) {
        case .vector(let entries)?, .ack(let entries)?:
            for entry in entries { states(node, entry.origin, entry.seq, entry.root) }
        case .stateDelta(let standing)?:
            coverage(of: standing, link)
            for entry in standing.entries {
                switch entry.name {
                case .new(let origin): states(node, origin, entry.seq, entry.root)
                case .number(let number):
                    states(node, node.progress.entries[Int(number) - 1].progress.origin, entry.seq, entry.root)
                }
            }
        case .fork?, .resync?: break
        case .credit(let bytes)?:
            if case .receiving = link.session.snapshot.role {
                link.takenRows -= Int64(bytes)
            } else {
                link.taken -= Int64(bytes)
            }
        default: sim.violate("wire", "\(node.name) sends what cannot be read: \(frame.type)")
        }
    }

    private func coverage(of standing: StateDelta, _ link: SimPeerLink) {
        if case .comparing = link.session.state {
            sim.coverage.count(standing.isWhole ? .wholeOpenings : .differenceOpenings)
        }
    }

    /// A node says that it has so much of an origin, with this history.
    private func states(_ node: SimNode, _ origin: OriginID, _ seq: UInt64, _ root: UInt64) {
        let size = node.store.log.size(of: origin)
        guard seq <= size else {
            return sim.violate("INV-7", "\(node.name) says it has \(seq) of \(origin), durable are \(size)")
        }
        // Of rows that have changed on its disk a node says what it remembers, or what it has read since.
        guard seq == size, !(sim.damaged.contains(node.index) && tainted.contains(origin)),
            let progress = node.store.log.progress(of: origin, using: sha)
        else { return }
        if progress.rootPrefix != root, !sim.has(.blindToForks) {
            sim.violate("INV-3", "\(node.name) gives a wrong root of \(origin) at \(size)")
        }
    }

    /// Keeps the account of credit beside the sessions.
    func received(_ frame: Frame, _ end: SimPeerLink) {
        switch MessageType(rawValue: frame.type) {
        case .hello:
            if case .hello(let hello)? = try? Message(frame: frame), end.allowance == nil {
                end.allowance = Int64(clamping: hello.limits.window)
                end.allowanceLimit = Int64(clamping: hello.limits.window)
            }
        case .credit:
            if case .credit(let bytes)? = try? Message(frame: frame), let allowance = end.allowance {
                end.allowance = min(end.allowanceLimit, allowance + Int64(clamping: min(bytes, 1 << 40)))
            }
        case .snapshotGet, .snapshotDone: receivedSnapshot(frame, end)
        case .snapshotRows, .snapshotEnd:
            if case .receiving = end.session.snapshot.role { end.takenRows += Int64(frame.count) }
        case .events: end.taken += Int64(frame.count)
        default: break
        }
    }

    /// After each input of a session: what it holds is bounded (INV-9).
    func stepped(_ link: SimPeerLink, _ node: SimNode) {
        let bound = Int64(sim.limits.window) + Int64(sim.limits.maxBody) + 8
        if case .closed(let end) = link.session.state {
            note(end, link, node)
        } else if link.taken > bound {
            sim.violate("INV-9", "\(node.name) holds \(link.taken) bytes of a peer, more than \(bound)")
        } else if link.takenRows > Int64(max(sim.snapshots.window, sim.limits.window)) + Int64(sim.limits.maxBody) + 8
        {
            sim.violate("INV-9", "\(node.name) holds \(link.takenRows) bytes of a snapshot")
        }
    }

    private func note(_ end: SessionEnd, _ link: SimPeerLink, _ node: SimNode) {
        let code: UInt32? =
            switch end {
            case .failed(let failure): failure.code.rawValue
            case .refused(let code, _, _): code
            case .linkLost: nil
            }
        switch code.flatMap(SessionErrorCode.init) {
        case .fork, .badProof, .badChain:
            sim.coverage.count(.forks)
            named.insert([node.knownAs, link.peer].sorted())
        case .amnesia:
            sim.coverage.count(.amnesia)
            named.insert([node.knownAs, link.peer].sorted())
        case .slowPeer: isSlow(link, node)
        default: break
        }
    }

    /// INV-12: honest nodes store what they are sent and say so. Each session begins with fresh credit, so that a cluster converges even
    /// if credit is never given back, a minute later for each window.
    private func isSlow(_ link: SimPeerLink, _ node: SimNode) {
        guard link.link.isSound, link.link.nodes.allSatisfy({ !sim.damaged.contains($0.index) }) else { return }
        sim.violate("INV-12", "\(node.name): a session without faults ends, for events are not stored for a minute")
    }

    /// Two nodes have named a contradiction.
    func name(_ a: Int, _ b: Int) { named.insert([a, b].sorted()) }

    // MARK: At rest

    /// What two connected nodes must agree upon when the faults are over: `nil`, or what is still missing. Of an origin
    /// with two histories each keeps its own, and both must have said so; everything else goes on (D12).
    func difference(_ a: SimNode, _ b: SimNode) -> String? {
        let forked = contradictions(a, b)
        if !forked.isEmpty, !named.contains([a.knownAs, b.knownAs].sorted()) {
            return "\(a.name) and \(b.name) differ about \(forked) and neither says so"
        }
        for origin in Set(a.store.log.originIDs + b.store.log.originIDs).subtracting(forked).sorted() {
            let (mine, theirs) = (a.store.log.size(of: origin), b.store.log.size(of: origin))
            if mine != theirs { return "\(a.name) has \(mine) of \(origin), \(b.name) \(theirs)" }
        }
        return nil
    }

    /// The origins of which they have two histories.
    private func contradictions(_ a: SimNode, _ b: SimNode) -> [OriginID] {
        tainted.sorted().filter { origin in
            let left = a.store.log.origins[origin]?.leaves ?? []
            let right = b.store.log.origins[origin]?.leaves ?? []
            return zip(left, right).contains { $0 != $1 }
        }
    }

    /// INV-3 over a whole log: every head stored speaks of what is stored.
    func headsFit(_ node: SimNode) {
        do throws(StoreError) {
            guard let signed = try node.store.misfit() else { return }
            sim.violate("INV-3", "\(node.name): a head of \(signed.head.origin) at \(signed.head.size) does not fit")
        } catch {
            sim.violate("INV-3", "\(node.name): \(error)")
        }
    }

    /// INV-12: what a node keeps as proof it shows its peers, whatever became of the link that brought it.
    func knowsItsProofs(_ node: SimNode) {
        let unknown = Set(node.evidence.map(\.origin)).subtracting(node.mesh.local.forked)
        guard node.isUp, let origin = unknown.min() else { return }
        sim.violate("INV-12", "\(node.name): keeps the proof of a fork of \(origin) and knows nothing of it")
    }

    private func describe(_ frame: Frame) -> String {
        guard let message = try? Message(frame: frame) else { return "frame of type \(frame.type)" }
        return switch message {
        case .vector(let entries): "Vector \(entries.map { "\($0.origin.description.prefix(4)):\($0.seq)" })"
        case .ack(let entries): "Ack \(entries.map { "\($0.origin.description.prefix(4)):\($0.seq)" })"
        case .events(let batch):
            "Events \(batch.coverage.map { "\($0.head.head.origin.description.prefix(4)):\($0.head.head.size)" }), "
                + "\(batch.events.count) in \(frame.count) bytes"
        case .stateDelta(let standing):
            "StateDelta \(standing.isWhole ? "whole" : "since \(standing.since)") "
                + "\(standing.entries.map { "\($0.name) \($0.seq)" }) through \(standing.through)"
        case .credit(let bytes): "Credit \(bytes)"
        case .bye(let bye): "Bye \(bye.code) \(bye.text)"
        default: message.name
        }
    }
}

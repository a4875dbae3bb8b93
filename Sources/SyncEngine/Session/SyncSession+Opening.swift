internal import EventStore

// From the Hellos to the vectors: who the peer is and what it has.
extension SyncSession {
    func greeting(_ now: Moment) -> Hello {
        Hello(
            cluster: local.cluster, node: local.node, incarnation: local.incarnation, clock: now.wall, limits: limits,
            software: local.software, name: local.name, features: features, remembered: memory?.remembered,
            origin: local.origin, snapshotAfter: policy.after, run: local.run, isVolatile: local.isVolatile)
    }

    mutating func helloReceived(_ hello: Hello, now: Moment, _ effects: inout [SessionEffect]) {
        func refuse(_ code: SessionErrorCode, _ text: String) {
            fail(SessionFailure(code, text), now: now, &effects)
        }
        guard hello.node == remote else {
            return refuse(
                .wrongCertificate, "the Hello names node \(hello.node.short), the certificate \(remote.short)")
        }
        guard hello.node != local.node else {
            return hello.run == local.run
                ? refuse(.metSelf, "this is the node itself")
                : refuse(.duplicateNodeID, "another process has the key of this node")
        }
        let ours = greeting(now)
        guard ours.commonProtocol(with: hello) != nil else {
            return refuse(
                .protocolVersion,
                "the peer speaks versions \(hello.protocolMin) to \(hello.protocolMax), this node "
                    + "\(ours.protocolMin) to \(ours.protocolMax)")
        }
        guard hello.cluster == local.cluster else {
            return refuse(.wrongCluster, "the peer is of cluster '\(hello.cluster)', this node of '\(local.cluster)'")
        }
        clockOffset = hello.clock.subtractingSaturated(now.wall)
        var hello = hello
        // Numbers are agreed in Standings.
        if !hello.features.contains(.standings) { hello.features.remove(.sources) }
        state = .comparing(hello)
        openingDeadline = now.monotonic + timing.opening
        effects.append(.allowBodies(Int(limits.maxBody)))
        if memory?.incarnation != hello.incarnation { memory = PeerMemory(incarnation: hello.incarnation) }
        if speaks(.standings, hello) {
            tell(progress.opening(for: hello.remembered, incarnation: local.incarnation), now: now, &effects)
        } else {
            let entries = progress.entries.map { VectorEntry($0.progress) }.sorted { $0.origin < $1.origin }
            send(.vector(entries), now: now, &effects)
        }
    }

    /// The peer's vector in the manner of the first release.
    mutating func vectorReceived(
        _ entries: [VectorEntry], _ hello: Hello, now: Moment, _ effects: inout [SessionEffect]
    ) {
        let whole = StateDelta(
            entries: entries.map { StateEntry(.new($0.origin), seq: $0.seq, root: $0.root) }, isWhole: true,
            since: 0, through: 0)
        openingReceived(whole, hello, now: now, &effects)
    }

    /// What the peer has, or a part of that.
    mutating func openingReceived(
        _ statement: StateDelta, _ hello: Hello, now: Moment, _ effects: inout [SessionEffect]
    ) {
        // A long statement on a slow link takes its time; what counts is that it goes on.
        openingDeadline = now.monotonic + timing.opening
        guard takeIn(statement, now: now, &effects) != nil, awaitsFirstPart, let memory else { return }
        let vector = VersionVector(stated(1..<progress.entries.count + 1))
        durableRevision += 1
        let wanted: Set<OriginID>? = speaks(.sources, hello) ? [] : nil
        hasOpened = true
        state = .open(
            hello,
            Outgoing(
                known: vector, sound: vector, durable: vector, wanted: wanted,
                flight: CongestionWindow(window: hello.limits.window), credit: Int64(clamping: hello.limits.window),
                window: hello.limits.window),
            Incoming())
        offerIfWanted(now: now, &effects)
        if speaks(.sources, hello) {
            news.hasOpened = true
            news.announced = memory.entries.map { Dot(origin: $0.origin, seq: $0.seq) }
        }
        let frames = early
        early = []
        earlyBytes = 0
        for frame in frames { frameReceived(frame, now: now, effects: &effects) }
        // Of what is not in this log there is nothing to compare.
        examine(
            progress.entries.compactMap { memory[$0.progress.origin] }, isOpening: true, now: now, &effects)
        // How long a round trip is says how long a frame may take.
        ping(now: now, &effects)
    }

    /// Takes a part of a statement into the memory. Returns what it says; `nil` if it did not fit: then everything is asked
    /// for, and what still comes of the other kind is passed over.
    mutating func takeIn(_ statement: StateDelta, now: Moment, _ effects: inout [SessionEffect]) -> [VectorEntry]? {
        guard let incarnation = memory?.incarnation, statement.isWhole || !isRestating else { return nil }
        isRestating = false
        do throws(PeerMemory.Misfit) {
            let changed = try memory?.apply(statement, isFirst: awaitsFirstPart)
            awaitsFirstPart = !statement.hasMore
            return changed
        } catch {
            switch error {
            case .malformed(let reason): fail(SessionFailure(.badFrame, "StateDelta: \(reason)"), now: now, &effects)
            case .otherState:
                memory = PeerMemory(incarnation: incarnation)
                awaitsFirstPart = true
                isRestating = true
                send(.resync, now: now, &effects)
            }
            return nil
        }
    }
}

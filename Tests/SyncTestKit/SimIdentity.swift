internal import EventStore
internal import SyncEngine

// Lost memory and forks in the simulated store: what answers ``Inspection``, and new origins (D12).

extension SimStore {
    /// In the order of the daemon's threads: proofs where events are verified, the rest where they are read.
    func inspect(_ question: Inspection, completion: @escaping (Finding) -> Void) {
        let isProof = if case .prove = question { true } else { false }
        node.schedule(at: turn(isVerifier: isProof)) { [self] in
            guard case .prove(let fork) = question, fork.branches.count == 2, log.origins[fork.origin] == nil else {
                return completion(find(question))
            }
            withVerifier { verifier in
                verifier.claim(fork.dot, fork.branches[0], fork.branches[1])
                completion(.proof(nil, isNew: false))
            }
        }
    }

    private func find(_ question: Inspection) -> Finding {
        switch question {
        case .roots(let dots):
            return .roots(
                dots.compactMap { dot in
                    log.root(of: dot.origin, size: dot.seq, using: sha).map {
                        VectorEntry(origin: dot.origin, seq: dot.seq, root: $0.prefix64)
                    }
                })
        case .branch(let dot): return .branch(branch(at: dot))
        case .prove(let fork):
            guard let key = log.origins[fork.origin]?.key, let theirs = fork.branches.first,
                let other = fork.branches.dropFirst().first ?? branch(at: fork.dot),
                let evidence = ForkEvidence(fork.dot, theirs, other, key: key)
            else { return .proof(nil, isNew: false) }
            let isNew = !node.evidence.contains { $0.name == evidence.name }
            if isNew {
                node.evidence.append(evidence)
                renewVerifier()
            }
            return .proof(evidence, isNew: isNew)
        case .evidence: return .evidence(node.evidence)
        // Simulated logs lose no payloads, and no node asks for them.
        case .payloads: return .payloads([])
        case .heal: return .healed([])
        case .head(let dot):
            let own = head().flatMap { $0.head.origin == dot.origin ? $0 : nil }
            let origin = log.origins[dot.origin]
            let known = [origin?.heads.first { $0.head.size >= dot.seq }, origin?.reach?.coverage.head, own]
            return .head(known.compactMap { $0 }.first { $0.head.size >= dot.seq })
        }
    }

    private func branch(at dot: Dot) -> ForkBranch? {
        guard let origin = log.origins[dot.origin], let event = log.event(dot)?.event else { return nil }
        let own = head().flatMap { $0.head.origin == dot.origin ? $0 : nil }
        var head = origin.heads.first { $0.head.size >= dot.seq } ?? own
        var bridge = head.flatMap { MerkleBridge(have: $0.head.size, whole: $0.head.size, proof: []) }
        if head?.head.size ?? 0 < dot.seq, let reach = origin.reach, reach.size >= dot.seq {
            (head, bridge) = (reach.coverage.head, reach.bridge)
        }
        guard let head, head.head.size >= dot.seq,
            let proof = bridge?.inclusion(
                of: dot.seq - 1, using: sha,
                nodes: { (level, index) throws(Never) in
                    var range = MerkleRange()
                    let first = Int(index) << level
                    for leaf in origin.leaves[first..<first + 1 << level] { range.append(leaf, using: sha) }
                    return range.root(using: sha)
                })
        else { return nil }
        return ForkBranch(
            head: head, header: event.header.canonicalBytes, payloadDigest: sha.payloadDigest(event.body),
            proof: proof)
    }

    /// A commit of its own: what is queued goes to the new origin.
    func startOrigin(_ change: OriginChange, known: UInt64) {
        let before = log
        var changed = log
        if let head = head() { changed.store(head) }
        let start = OriginStart(
            key: key.publicKey, name: node.name,
            succession: OriginSuccession(
                change, previous: log.own, had: log.size(of: log.own), known: known))
        changed.startOrigin(
            OriginID(sim.random.uuid()), start, id: EventID(sim.random.uuid()), salt: sim.random.uuid(),
            wall: node.wall, using: sha)
        log = changed
        if isFullyDurable { onDisk = log }
        renewVerifier()
        node.appends(to: log.own)
        sim.note { "\(self.node.name): new origin, \(change.rawValue)" }
        sim.checks.committed(node, before: before, after: log)
        notify(before)
    }
}

extension SimLog {
    /// Gives up the own origin for a new one whose first event is `start`.
    mutating func startOrigin(
        _ id: OriginID, _ start: OriginStart, id event: EventID, salt: UUIDBits, wall: Int64, using sha: SHA256
    ) {
        let left = start.succession?.change == .forked ? [own] : []
        dependOnEverything(but: left)
        own = id
        add(id, start.key)
        _ = append(start.draft, id: event, salt: salt, wall: wall, using: sha)
    }
}

extension HeldHead {
    /// What the peers of the store in `files` hold of `origin`, which it appends to. None where that cannot be read, or has two histories.
    static func ofPeers(_ files: StoreFiles, of origin: OriginID) throws(StoreError) -> [HeldHead] {
        guard try !ForkEvidence.list(files).contains(where: { $0.origin == origin }) else { return [] }
        let all = ((try? KnownHead.ofPeers(files)) ?? []).filter { $0.head.origin == origin }
        return all.map { HeldHead(head: $0.head, source: $0.source) }.sorted { $0.head.size < $1.head.size }
    }
}

extension KnownHead {
    /// As ``ofPeers(_:)``, and what the node has kept of its peers' words that cannot be read, a sentence each.
    package static func told(to files: StoreFiles) -> (heads: [KnownHead], unread: [String]) {
        var heads: [KnownHead] = []
        do throws(StoreError) {
            heads = try ofPeers(files)
            guard let own = try LogReader(files).holder else { return (heads, []) }
            let strange = try CosignatureFile(reading: files)?.strange(to: own) ?? []
            return (
                heads,
                strange.map { "cosigned.db: \($0) is no list of cosignatures: nothing can be compared with it" }
            )
        } catch {
            return (
                heads, ["cosigned.db cannot be read: the log is not compared with what was cosigned (\(error))"]
            )
        }
    }

    /// What the peers of the store in `files` have told that they hold. They may be ahead in all origins but the store's own.
    package static func ofPeers(_ files: StoreFiles) throws(StoreError) -> [KnownHead] {
        guard let file = try CosignatureFile(reading: files) else { return [] }
        let reader = try LogReader(files)
        let own = try StoreIdentity(reader).node
        var known: [KnownHead] = []
        let origins = Dictionary(uniqueKeysWithValues: try reader.origins().map { ($0.id, $0) })
        for list in [CosignatureList(try file.mine(own))] + (try file.told()) {
            guard let node = list.entries.first?.node, let key = try reader.key(of: node) else { continue }
            for said in list.entries where said.isValid(for: key) {
                // What the origin's node has not signed is a lie of the peer, and says nothing of this log.
                guard let origin = origins[said.head.origin], said.signed.isValid(for: origin.key) else { continue }
                // What this node has said itself it has had.
                let mustHave = node == own || origin.node == own
                known.append(
                    KnownHead(
                        said.head, source: node == own ? "what this node has cosigned" : "node \(node.short)",
                        shortfall: mustHave ? .contradicts : .isUsual, isExcusedByFork: true))
            }
        }
        return known
    }
}

extension Receipt {
    /// What a log must go on from that this receipt is held against.
    ///
    /// - Parameters:
    ///   - own: The node whose log it is. What it has signed was here: a head, or a receipt of its own as a whole. What else another node has held
    ///     need not be here yet.
    ///   - isSigned: Whether the maker has signed the whole.
    ///   - name: How findings name the receipt.
    package func known(to own: NodeID?, isSigned: Bool, as name: String) -> [KnownHead] {
        heads.flatMap { head in
            let isOwn = head.key.nodeID == own || maker.key.nodeID == own && isSigned
            return ([head.head.head] + head.cosignatures.map(\.cosignature.head)).map { tree in
                KnownHead(
                    tree, source: name, shortfall: isOwn ? .contradicts : .isOpen, signer: head.key)
            }
        }
    }

    /// How far the log of its maker went, for that of the node `own`; `nil` where the maker has not signed it as a whole, and no one says so.
    package func end(of own: NodeID?, isSigned: Bool, as name: String) -> KnownEnd? {
        guard isSigned else { return nil }
        let isOwn = maker.key.nodeID == own
        let events = heads.map { Dot(origin: $0.head.head.origin, seq: $0.events) }
        return KnownEnd(
            position: isOwn ? maker.position : 0, events: VersionVector(events), source: name, isOwn: isOwn,
            cluster: maker.cluster)
    }

    /// Whether it has one of these origins, or its maker has: what differs then is the log's matter, for the receipt proves itself.
    package func shares(_ origins: [StoredOrigin]) -> Bool {
        let known = Set(heads.map(\.head.head.origin))
        return origins.contains { $0.key == maker.key || known.contains($0.id) }
    }
}

extension LogReader {
    /// Whose log it is by the key of its own origin: what table `origin` calls that node a hand may have written. `nil` where no one can tell.
    package var holder: NodeID? {
        let home = (try? meta("origin")) ?? nil
        return (try? origins())?.first { String($0.ref) == home }?.key.nodeID
    }
}

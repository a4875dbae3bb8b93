/// What erasures of a node let go, held against rows that come from elsewhere than its log: they may be older than the erasures. Not Sendable.
package struct ErasedRows {
    /// Whose log the rows were in.
    package let node: NodeID
    private var erasures: Erasures
    /// Those of other nodes, too: what they have erased of their own came without its payload.
    private var known: Erasures
    private let sha: SHA256

    package init(of node: NodeID, using sha: SHA256) {
        (self.node, self.sha) = (node, sha)
        (erasures, known) = (Erasures(keeper: node), Erasures(keeper: node))
    }

    /// Whether nothing is covered.
    package var isEmpty: Bool { erasures.isEmpty }

    /// Takes note of an erasure, if the node has signed it.
    package mutating func take(_ proven: ProvenErasure) {
        if let event = proven.event(of: node, using: sha) { take(event) }
    }

    /// Takes note of an erasure that stands in rows.
    ///
    /// - Parameter owners: Whose the origins are.
    package mutating func take(_ event: Event, _ owners: [OriginID: NodeID]) {
        guard let owner = owners[event.header.dot.origin] else { return }
        if owner == node { take(event) } else { known.take(event, of: owner) }
    }

    /// How many of these rows have no payload, and nothing that is known lets it go.
    package func lost(in checked: CheckedRows, _ owners: [OriginID: NodeID]) throws(SnapshotError) -> Int {
        try checked.emptied().count { header in
            owners[header.dot.origin].map { !known.covers(Erasures.Place(header, of: $0)) } ?? true
        }
    }

    /// How many of these rows have a payload that is covered.
    package func count(in checked: CheckedRows, _ owners: [OriginID: NodeID]) throws(SnapshotError) -> Int {
        guard !isEmpty else { return 0 }
        var count = 0
        for (row, event) in zip(checked.list, try checked.events()) where !row.has(SnapshotRows.Flag.erased) {
            let header = event.header
            guard let owner = owners[header.dot.origin] else { continue }
            if erasures.covers(Erasures.Place(header, of: owner)) { count += 1 }
        }
        return count
    }

    /// How many rows of a log have a payload that is covered.
    package func count(in files: StoreFiles) throws(StoreError) -> UInt64 {
        guard !isEmpty else { return 0 }
        let log = try LogReader(files)
        return try mapped { () throws(DatabaseError) in
            var count: UInt64 = 0
            try log.connection.eachErased(isErased: false) { row throws(DatabaseError) in
                if try row.isCovered(by: erasures, &log.names, log.connection) { count += 1 }
            }
            return count
        }
    }

    fileprivate mutating func take(_ event: Event) {
        erasures.take(event, of: node)
        known.take(event, of: node)
    }
}

extension CheckedRows {
    private static let erasing = [ReservedType.userErased, ReservedType.conversationErased]

    /// The erasures among these rows, of any node, and where they stand.
    package func erasures() throws(SnapshotError) -> [(position: UInt64, event: Event)] {
        guard hasErasures else { return [] }
        return zip((rows.after + 1)..., try events()).filter { Self.erasing.contains($1.header.type) }
            .map { (position: $0, event: $1) }
    }

    /// Whether a row may be an erasure.
    private var hasErasures: Bool {
        let types = Self.erasing.map { Array($0.utf8) }
        return (try? withNames { names in names.contains { name in types.contains { name.elementsEqual($0) } } })
            ?? true
    }
}

extension BackupSource {
    /// What this node's erasures up to a position let go, beside what else is known to be erased.
    package func erasedRows(by applied: UInt64, beside known: ErasedRows? = nil) throws(StoreError) -> ErasedRows {
        var rows = known ?? ErasedRows(of: identity.node, using: SHA256())
        for found in try log.erasures() where found.node == identity.node && found.position <= applied {
            rows.take(found.event)
        }
        return rows
    }

    /// Whose the origins of the log are.
    package func owners() throws(StoreError) -> [OriginID: NodeID] {
        Dictionary(uniqueKeysWithValues: try log.origins().map { ($0.id, $0.node) })
    }

    /// All attachments that events of the log name. Reads the whole log.
    package func named() throws(StoreError) -> Set<Digest> { try log.namedAttachments() }
}

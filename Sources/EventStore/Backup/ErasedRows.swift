/// What erasures of a node let go, held against rows that come from elsewhere than its log: they may be older than the erasures. Not Sendable.
package struct ErasedRows {
    /// Whose log the rows were in.
    package let node: NodeID
    private var erasures: Erasures
    private let sha: SHA256

    package init(of node: NodeID, using sha: SHA256) {
        (self.node, self.sha) = (node, sha)
        erasures = Erasures(keeper: node)
    }

    /// Whether nothing is covered.
    package var isEmpty: Bool { erasures.isEmpty }

    /// Takes note of an erasure, if the node has signed it.
    package mutating func take(_ proven: ProvenErasure) {
        if let event = proven.event(of: node, using: sha) { erasures.take(event, of: node) }
    }

    /// Takes note of the node's erasures among rows.
    ///
    /// - Parameter owners: Whose the origins are.
    package mutating func take(_ checked: CheckedRows, _ owners: [OriginID: NodeID]) throws(SnapshotError) {
        guard checked.hasErasures else { return }
        for event in try checked.events() where owners[event.header.dot.origin] == node {
            erasures.take(event, of: node)
        }
    }

    /// How many of these rows have a payload that is covered.
    package func count(in checked: CheckedRows, _ owners: [OriginID: NodeID]) throws(SnapshotError) -> Int {
        guard !isEmpty else { return 0 }
        var count = 0
        for (row, event) in zip(checked.list, try checked.events()) where !row.has(SnapshotRows.Flag.erased) {
            let header = event.header
            guard let owner = owners[header.dot.origin] else { continue }
            let place = Erasures.Place(
                dot: header.dot, node: owner, hlc: header.hlc, type: header.type, user: header.user,
                author: header.author, conversation: header.conversation)
            if erasures.covers(place) { count += 1 }
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

    fileprivate mutating func take(_ event: Event) { erasures.take(event, of: node) }
}

extension CheckedRows {
    /// Whether a row may be an erasure.
    fileprivate var hasErasures: Bool {
        let types = [ReservedType.userErased, ReservedType.conversationErased].map { Array($0.utf8) }
        return (try? withNames { names in names.contains { name in types.contains { name.elementsEqual($0) } } })
            ?? true
    }
}

extension BackupSource {
    /// What this node's erasures let go that have been applied to its log.
    package func erasedRows() throws(StoreError) -> ErasedRows {
        var rows = ErasedRows(of: identity.node, using: SHA256())
        let applied = try log.erasedThrough()
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

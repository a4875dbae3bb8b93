/// Says of the origins of other nodes what this node holds of them. Not Sendable.
///
/// It signs what it has verified and stored, once for each step that an origin grows, and nothing that contradicts what it has said
/// before (D21). It signs nothing of an origin with two histories, or of a log that has become shorter than it said, or another one.
package final class Cosigner {
    private let key: SigningKey
    private let own: NodeID
    private let files: StoreFiles
    private let reader: LogReader
    private let file: CosignatureFile
    private let sha = SHA256()
    /// The last that was said of each origin.
    private var mine: [OriginID: Cosignature] = [:]
    /// Origins of which nothing more is said, and why.
    package private(set) var refused: [OriginID: String] = [:]

    package init(_ files: StoreFiles, key: SigningKey) throws(StoreError) {
        self.key = key
        self.files = files
        own = key.publicKey.nodeID
        reader = try LogReader(files)
        file = try CosignatureFile(files)
        for said in try file.mine(own) { remember(said) }
    }

    /// Says what it can of `origins` now. Returns those that have events which nothing was said of: no head covers them yet.
    ///
    /// - Parameter now: Unix seconds.
    package func look(at origins: Set<OriginID>, now: UInt64) throws(StoreError) -> Set<OriginID> {
        var left: Set<OriginID> = []
        var new: [Cosignature] = []
        let forked = Set(try ForkEvidence.list(files).map(\.origin))
        for origin in origins {
            guard let found = try reader.origin(origin), found.node != own, !forked.contains(origin) else { continue }
            let said = mine[origin]?.head.size ?? 0
            if let head = try reader.head(of: origin, atLeast: 1, largest: true), head.head.size <= found.size,
                head.head.size > said, try mayCosign(head, of: found)
            {
                new.append(Cosignature(signing: head, at: now, with: key))
                if head.head.size < found.size { left.insert(origin) }
            } else if found.size > said, refused[origin] == nil {
                left.insert(origin)
            }
        }
        guard !new.isEmpty else { return left }
        try file.remember(new)
        for said in new { mine[said.head.origin] = said }
        return left
    }

    /// Whether the log is what the head says, and goes on from what was said before.
    private func mayCosign(_ head: SignedHead, of origin: StoredOrigin) throws(StoreError) -> Bool {
        guard let why = try Self.refusal(of: head, of: origin, after: mine[origin.id], in: reader) else {
            return true
        }
        refused[origin.id] = why
        return false
    }

    private static func refusal(
        of head: SignedHead, of origin: StoredOrigin, after said: Cosignature?, in log: LogReader
    ) throws(StoreError) -> String? {
        guard head.isValid(for: origin.key), try log.root(of: origin.id, size: head.head.size) == head.head.root
        else {
            return "its events are not those of its head at \(head.head.size)"
        }
        guard let said = said?.head, try log.root(of: origin.id, size: said.size) != said.root else { return nil }
        return "its first \(said.size) events are not those that this node has cosigned"
    }

    /// Origins of which the node would cosign nothing more, and why, as its files say it: for who reads them without the node.
    package static func refusals(in files: StoreFiles) throws(StoreError) -> [(origin: OriginID, why: String)] {
        let log = try LogReader(files)
        let own = try StoreIdentity(log).node
        guard let file = try CosignatureFile(reading: files), let key = try log.key(of: own) else { return [] }
        let said = Dictionary(
            try file.mine(own).filter { $0.isValid(for: key) }.map { ($0.head.origin, $0) },
            uniquingKeysWith: { $0.head.size < $1.head.size ? $1 : $0 })
        let forked = Set(try ForkEvidence.list(files).map(\.origin))
        var found: [(origin: OriginID, why: String)] = []
        for origin in try log.origins() where origin.node != own && !forked.contains(origin.id) {
            guard let head = try log.head(of: origin.id, atLeast: 1, largest: true), head.head.size <= origin.size,
                let why = try refusal(of: head, of: origin, after: said[origin.id], in: log)
            else { continue }
            found.append((origin.id, why))
        }
        return found
    }

    /// What is told to others: of the origins that grew last, where there are more than a list holds.
    package var list: CosignatureList {
        let latest = mine.values.sorted { ($1.time, $0.head.origin) < ($0.time, $1.head.origin) }
        return CosignatureList(Array(latest.prefix(CosignatureList.most)))
    }

    /// Takes what the node with `key` has told. Its own word, which comes back to a node that has lost its memory, counts as well.
    package func take(_ list: CosignatureList, of node: NodeID) throws(StoreError) {
        guard node == own else { return try file.keep(list, of: node) }
        let said = list.entries.filter { $0.isValid(for: key.publicKey) }
        let new = said.filter { mine[$0.head.origin]?.head.size ?? 0 < $0.head.size }
        guard !new.isEmpty else { return }
        try file.remember(new)
        for said in new { remember(said) }
    }

    /// Of two that were said of one origin the one that says more counts.
    private func remember(_ said: Cosignature) {
        let origin = said.head.origin
        guard said.isValid(for: key.publicKey), mine[origin]?.head.size ?? 0 < said.head.size else { return }
        mine[origin] = said
    }

    /// The key of a node that has an origin here; `nil` where it has none.
    package func key(of node: NodeID) throws(StoreError) -> VerifyingKey? { try reader.key(of: node) }

    /// All origins of the log.
    package func origins() throws(StoreError) -> Set<OriginID> { Set(try reader.origins().map(\.id)) }
}

extension LogReader {
    /// An origin; `nil` if nothing of it is here.
    func origin(_ id: OriginID) throws(StoreError) -> StoredOrigin? {
        try mapped { () throws(DatabaseError) in
            try connection.first(
                """
                SELECT ref, node, key, (SELECT max(seq) FROM event WHERE event.origin = origin.ref)
                FROM origin WHERE id = ?
                """, [.blob(id.bytes)]
            ) { row throws(DatabaseError) in
                guard let node = row.digest(1), let key = VerifyingKey(rawBytes: row.bytes(2)) else {
                    throw .damagedOrigin(row.int64(0))
                }
                return StoredOrigin(ref: row.int64(0), id: id, node: NodeID(node), key: key, size: row.uint64(3))
            }
        }
    }

    /// The key of the node that has an origin here; `nil` where it has none.
    func key(of node: NodeID) throws(StoreError) -> VerifyingKey? {
        try mapped { () throws(DatabaseError) in
            try connection.first("SELECT key FROM origin WHERE node = ? LIMIT 1", [.blob(node.bytes)]) {
                VerifyingKey(rawBytes: $0.bytes(0))
            }
        }
    }
}

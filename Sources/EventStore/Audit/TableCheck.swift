/// What is checked of the tables beside `event`.
extension LogAudit {
    /// Reads table `origin`, in the transaction that fixes the top.
    mutating func readOrigins() throws(DatabaseError) {
        let ownRef = try connection.integer(
            "SELECT value FROM meta WHERE key = 'origin' AND typeof(value) = 'integer'")
        let select = try connection.statement(
            """
            SELECT ref, id, node, key, typeof(id) = 'blob' AND typeof(node) = 'blob' AND typeof(key) = 'blob'
            FROM origin ORDER BY ref
            """)
        defer { select.reset() }
        var expected = Int64(1)
        while try select.step() {
            let ref = select.int64(0)
            if ref != expected {
                findings.add(.origins, "table origin has ref \(ref) where \(expected) should stand")
            }
            expected = ref &+ 1
            guard select.int64(4) == 1, let id = select.uuid(1), let node = select.digest(2),
                let key = VerifyingKey(rawBytes: select.bytes(3))
            else {
                findings.add(.origins, "row \(ref) of table origin has a column of the wrong type or length")
                continue
            }
            let proof = OriginProof(ref: ref, id: OriginID(id), node: NodeID(node), key: key)
            if proof.node != key.nodeID {
                findings.add(.origins, "origin \(proof.id): its key is not that of node \(proof.node.short)")
            }
            if ref == ownRef {
                own = origins.count
                erasures.keeper = proof.node
            }
            indexes[ref] = origins.count
            indexesByID[proof.id] = origins.count
            origins.append(proof)
        }
        for index in origins.indices { try origins[index].findHead(on: connection) }
    }

    /// Table `meta` says whose store this is. Cluster and incarnation are settings of this store alone that no event
    /// repeats: only their form can be checked.
    mutating func checkMeta() throws(DatabaseError) {
        if own == nil { findings.add(.origins, "table meta does not name this store's own origin") }
        let name = try metaText("name")
        if let own, let ownName, let name, name != ownName {
            findings.add(
                .origins,
                "table meta calls the node '\(name)', the first event of its origin \(origins[own].id) '\(ownName)'")
        }
        for (key, value) in [("name", name), ("cluster", try metaText("cluster"))] {
            let isSound = value.map { text in
                (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != 0x2f }
            }
            if isSound != true { findings.add(.origins, "table meta has no sound \(key)") }
        }
        let incarnation = try metaText("incarnation").map { Array($0.utf8) } ?? []
        if incarnation.count != 16 || !incarnation.allSatisfy("0123456789abcdef".utf8.contains) {
            findings.add(.origins, "table meta has no sound incarnation")
        }
        let types = try connection.all("SELECT quote(key), typeof(key), key, typeof(value) FROM meta ORDER BY key") {
            row in (name: row.text(0), isText: row.text(1) == "text", key: row.text(2), type: row.text(3))
        }
        // What a later release may have put there is told otherwise.
        for row in types where !row.isText || LogSetting.type(of: row.key) ?? row.type != row.type {
            let what = row.isText ? "value of another type" : "key that is no text"
            findings.add(.origins, "table meta, row \(row.name.prefix(60)): \(what)")
        }
    }

    /// A text of table `meta`; `nil` for none, for other types and for bytes that are not UTF-8.
    func metaText(_ key: String) throws(DatabaseError) -> String? {
        try connection.first("SELECT value FROM meta WHERE key = ? AND typeof(value) = 'text'", [.text(key)]) {
            String(validating: $0.bytes(0), as: UTF8.self)
        }
    }

    mutating func checkOrigins() throws(DatabaseError) {
        for origin in origins {
            if origin.events == 0 {
                findings.add(.origins, "origin \(origin.id) is in table origin but has no events")
            } else if origin.damaged == origin.events, origin.events > 1 {
                findings.add(
                    .origins,
                    """
                    all \(origin.events) events of origin \(origin.id) are damaged: \
                    what was changed is likely its id in table origin
                    """)
            }
        }
    }

    /// When events came is said by this node alone, and proven by nothing; but only what can have been noted stands there.
    mutating func checkArrivals() throws(DatabaseError) {
        guard try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = 'arrival'") != nil else { return }
        let select = try connection.statement(
            """
            SELECT position, time, typeof(time) = 'integer' FROM arrival
            WHERE typeof(time) <> 'integer' OR time NOT BETWEEN ? AND ?
              OR position NOT BETWEEN 1 AND (SELECT coalesce(max(position), 0) FROM event)
            LIMIT \(VerifyReport.maximumPerCheck)
            """)
        defer { select.reset() }
        try select.bind(1, Limits.clock.lowerBound)
        try select.bind(2, Limits.clock.upperBound)
        while try select.step() {
            let position = select.int64(0)
            let fault =
                select.int64(2) == 1
                ? Arrivals.fault(position: position, time: select.int64(1)) : "a time that is no integer"
            let text = fault ?? "the log has no position \(position)"
            findings.add(.positions, "table arrival, position \(position): \(text)")
        }
    }

    /// Names that events use are covered by the events' leaves. One that none uses (a draft that was refused may leave
    /// such a name behind) says nothing.
    mutating func checkNames() throws(DatabaseError) {
        let select = try connection.statement(
            """
            SELECT ref FROM name WHERE typeof(text) <> 'text'
              OR (text = '' AND NOT EXISTS (SELECT 1 FROM event WHERE type = name.ref AND unknown IS NOT NULL))
            LIMIT \(VerifyReport.maximumPerCheck)
            """)
        defer { select.reset() }
        while try select.step() { findings.add(.names, "name \(select.int64(0)) is not a text") }
        guard let suspects, suspects.count > 1 else { return }
        for ref in suspects.refs.sorted() {
            let uses = try connection.integer(
                """
                SELECT count(*) FROM event
                WHERE user = ?1 OR conversation = ?1 OR type = ?1 OR author = ?1 OR actor = ?1
                """,
                .integer(ref))
            guard let uses, UInt64(clamping: uses) == suspects.count else { continue }
            let text = try names.text(ref, on: connection)
            findings.add(
                VerifyFinding(
                    .names,
                    """
                    all \(uses) events that use name \(ref), '\(text)', are damaged: \
                    what was changed is likely that name
                    """, position: suspects.first))
        }
    }

    /// Events with one id of which none is marked as the other's twin. A sound unique index has none, so the log is sorted
    /// by id only when the indexes are not sound.
    mutating func checkRepeatedIDs() throws(DatabaseError) {
        guard findings.counts[.index] != nil || findings.counts[.database] != nil else { return }
        // SQLite takes the other columns from the row that has the maximum.
        let select = try connection.statement(
            """
            SELECT max(position), min(position), id, origin, seq FROM event NOT INDEXED
            WHERE twin IS NULL AND position <= ? GROUP BY id HAVING count(*) > 1 LIMIT \(VerifyReport.maximumPerCheck)
            """)
        defer { select.reset() }
        try select.bind(1, top)
        while try select.step() {
            let dot = indexes[select.int64(3)].map { Dot(origin: origins[$0].id, seq: select.uint64(4)) }
            findings.add(
                VerifyFinding(
                    .twins, "has the id of the event at position \(select.int64(1)) but is not marked as its twin",
                    position: UInt64(exactly: select.int64(0)), dot: dot, eventID: select.uuid(2).map(EventID.init)))
        }
    }

    /// Nodes that belong to no complete subtree of events in the log.
    mutating func checkNodes() throws(DatabaseError) {
        let select = try connection.statement(
            """
            SELECT substr(quote(origin), 1, 40), substr(quote(level), 1, 40), substr(quote(number), 1, 40) FROM node WHERE NOT (
              typeof(origin) = 'integer' AND typeof(level) = 'integer' AND typeof(number) = 'integer'
              AND level > 0 AND level % \(MerkleStore.levelStep) = 0 AND number >= 0
              AND number < coalesce((SELECT max(seq) FROM event WHERE event.origin = node.origin), 0) >> level
            ) LIMIT \(VerifyReport.maximumPerCheck)
            """)
        defer { select.reset() }
        while try select.step() {
            let node = "node \(select.text(2)) of level \(select.text(1))"
            findings.add(.tree, "\(originName(select.text(0))): \(node) covers no events here")
        }
        guard isTiled else { return }
        let mask = 1 << MerkleStore.levelStep - 1
        let tiles = try connection.all(
            """
            SELECT position FROM tile WHERE NOT EXISTS (
              SELECT 1 FROM event WHERE event.position = tile.position AND seq & \(mask) = 0
            ) LIMIT \(VerifyReport.maximumPerCheck)
            """
        ) { row in row.int64(0) }
        for position in tiles { findings.add(.tree, "the tile at position \(position) covers no events here") }
    }

    /// Heads of no events, or of more than the log has now.
    mutating func checkHeads() throws(DatabaseError) {
        let select = try connection.statement(
            """
            SELECT substr(quote(origin), 1, 40), substr(quote(size), 1, 40) FROM head WHERE NOT (
              typeof(origin) = 'integer' AND typeof(size) = 'integer' AND size > 0
              AND size <= coalesce((SELECT max(seq) FROM event WHERE event.origin = head.origin), 0)
            ) LIMIT \(VerifyReport.maximumPerCheck)
            """)
        defer { select.reset() }
        while try select.step() {
            findings.add(
                .heads,
                "\(originName(select.text(0))): the head at \(select.text(1)) speaks of events that are not here")
        }
    }

    /// Names the origin with a ref in SQL's notation.
    private func originName(_ ref: String) -> String {
        Int64(ref).flatMap { indexes[$0] }.map { "origin \(origins[$0].id)" } ?? "origin with the unknown ref \(ref)"
    }
}

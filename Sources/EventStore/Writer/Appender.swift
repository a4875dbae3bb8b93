/// Puts events into the log inside the writer's open transaction, and keeps ``LogState`` in step. Belongs to the one that
/// writes.
final class Appender {
    let connection: Connection
    let sha = SHA256()
    private(set) var state: LogState
    let wall: WallTime
    private var insertion: EventInsertion
    private var names = StringInterner()
    var reader = InternedStrings()
    /// Also where salts and origins of the node's own come from.
    var ids: EventIDGenerator
    /// Origins that advanced in the open transaction.
    private var advanced: Set<Int> = []
    /// The events of the open transaction, while they are few; none if the log has no follower.
    private var fresh = FewEvents()
    var isFollowed = false
    /// The position of the last own event of the open transaction, until it is sealed.
    private var unsealed: UInt64?
    /// The last seal that was made, and of how many own events; `nil` if none was since the state was loaded.
    private(set) var sealed: (size: UInt64, seal: UUIDBits)?
    /// Whether the open transaction has given events back their payloads.
    var isHealed = false
    /// What the erasures of the log let go: what comes and is covered is stored without its payload.
    var erasures = Erasures()
    /// What received events of the open transaction do to older ones.
    var replacements: [Replacement] = []
    /// Where the open transaction has put erasure events, this node's and others'.
    var newErasures: [UInt64] = []
    /// Whether the open transaction has changed what table `meta` says of erasures.
    var isErasureIndexChanged = false
    /// Whether some have been committed since ``LogTransactions/takeErasures()``, or what they may have to take along.
    var hasNewErasures = false
    /// The bytes of the header at hand; one block of memory for all.
    private var encoding = ProtobufWriter()

    /// - Parameter wall: The machine's clock, Unix milliseconds.
    init(
        connection: Connection, wall: @escaping WallTime = { WallClock.now },
        random: consuming RandomSource = RandomSource()
    ) throws(DatabaseError) {
        self.connection = connection
        self.wall = wall
        ids = EventIDGenerator(random)
        insertion = EventInsertion(connection)
        state = try LogState.load(from: connection, using: sha, wall: wall())
        try loadErasures()
    }

    var merkle: MerkleStore { MerkleStore(connection: connection, sha: sha) }

    /// Forgets what a failed transaction did to the state.
    func reload() throws(DatabaseError) {
        names = StringInterner()
        reader = InternedStrings()
        advanced = []
        fresh = FewEvents()
        (unsealed, sealed) = (nil, nil)
        isHealed = false
        (newErasures, replacements, isErasureIndexChanged) = ([], [], false)
        state = try LogState.load(from: connection, using: sha, wall: wall())
        try loadErasures()
    }

    /// The origins that advanced, now that the transaction is committed, and its events if they are few.
    func takeAdvanced() -> (origins: [OriginState], events: [StoredEvent]) {
        defer {
            advanced.removeAll(keepingCapacity: true)
            fresh = FewEvents()
        }
        return (advanced.sorted().map { state.origins[$0] }, fresh.events)
    }

    // MARK: Own events

    /// - Parameter sealer: Where the commit ends with it: a lone event is then stored with its seal.
    func append(_ request: AppendRequest, sealing sealer: Sealer? = nil) throws(DatabaseError) -> [AppendOutcome] {
        if let rejection = try violated(request.condition) { return try answer(request, rejecting: rejection) }
        let late = try late(request)
        if let first = late.first { return try append(request, but: late, first) }
        if request.atomicity == .whole, request.drafts.count > 1, let refused = try firstConflict(request.drafts) {
            return request.drafts.indices.map { index in
                .rejected(index == refused.index ? refused.rejection : .batchRejected(index: refused.index))
            }
        }
        var outcomes: [AppendOutcome] = []
        outcomes.reserveCapacity(request.drafts.count)
        // Who names dependencies, or comes alone, goes the simple way.
        while outcomes.count < request.drafts.count, !state.dirty.isEmpty || request.drafts.count == 1 {
            let isLast = outcomes.count + 1 == request.drafts.count
            outcomes.append(try append(request.drafts[outcomes.count], sealing: isLast ? sealer : nil))
        }
        outcomes += try appendNew(outcomes.isEmpty ? request.drafts : Array(request.drafts[outcomes.count...]))
        for draft in request.drafts.dropFirst(outcomes.count) { outcomes.append(try append(draft)) }
        return outcomes
    }

    /// Appends the first of the drafts, several at a time, up to one that is here already or that is no event.
    private func appendNew(_ drafts: [PreparedDraft]) throws(DatabaseError) -> [AppendOutcome] {
        guard !drafts.isEmpty, let own = state.own else { return [] }
        let wall = wall()
        var clock = state.clock
        let places = drafts.map { prepared in
            BatchEncoder.Place(
                hlc: clock.tick(wall: wall), id: prepared.draft.id ?? ids.next(milliseconds: wall))
        }
        let events = BatchEncoder(drafts, at: places, of: state.origins[own])
        var outcomes: [AppendOutcome] = []
        outcomes.reserveCapacity(drafts.count)
        for part in events.parts {
            let part = part.output()
            let stored = try store(part, drafts, from: outcomes.count, own)
            for index in 0..<stored {
                let header = part.headers[index]
                let position = state.position - UInt64(stored - 1 - index)
                note(header, drafts[outcomes.count].body, at: position, twin: nil)
                outcomes.append(.appended(AppendReceipt(of: header, at: position)))
            }
            if stored < part.headers.count || !part.isWhole { break }
        }
        guard !outcomes.isEmpty else { return [] }
        advanced.insert(own)
        unsealed = state.position
        let last = places[outcomes.count - 1].hlc
        state.clock = HybridClock(last: last)
        let growth = events.growth(outcomes.count)
        (state.origins[own].tree, state.origins[own].hlc) = (growth.tree, last)
        try keep(growth.nodes, own)
        return outcomes
    }

    /// Writes the rows of events whose drafts begin at `first`. Returns of how many: all, or those before one whose id is here
    /// already.
    private func store(
        _ part: BatchEncoder.Part, _ drafts: [PreparedDraft], from first: Int, _ own: Int
    ) throws(DatabaseError) -> Int {
        var stored = 0
        while stored < part.headers.count {
            let (statement, rows) = try insertion.statement(for: part.headers.count - stored)
            for row in 0..<rows {
                let index = stored + row
                let refs = try EventRow.Refs(
                    part.headers[index], origin: state.origins[own].ref, names: &names, on: connection)
                try EventRow.bind(
                    part.headers[index], drafts[first + index].body, position: state.position + 1 + UInt64(row),
                    refs: refs, leaf: part.leaves[index], to: statement, row: row)
            }
            do throws(DatabaseError) {
                try EventRow.run(statement, rows: rows) { drafts[first + stored + $0].body }
            } catch {
                guard error.isConstraint else { throw error }
                state.position += UInt64(connection.changes)
                return stored + connection.changes
            }
            state.position += UInt64(rows)
            stored += rows
        }
        return stored
    }

    private func firstConflict(
        _ drafts: [PreparedDraft]
    ) throws(DatabaseError) -> (index: Int, rejection: AppendRejection)? {
        var seen: [EventID: Int] = [:]
        for (index, prepared) in drafts.enumerated() {
            guard let id = prepared.draft.id else { continue }
            if let stored = try stored(id), !prepared.draft.matches(stored.event) {
                return (index, .idReused(position: stored.position))
            }
            if let other = seen.updateValue(index, forKey: id), drafts[other].draft != prepared.draft {
                return (index, .idTwice(index: other))
            }
        }
        return nil
    }

    func append(
        _ prepared: PreparedDraft, sealing sealer: Sealer? = nil
    ) throws(DatabaseError) -> AppendOutcome {
        guard let own = state.own else {
            throw .misuse("an event is appended, and the store has no origin")
        }
        let draft = prepared.draft
        let wall = wall()
        var clock = state.clock
        let hlc = clock.tick(wall: wall)
        let named = state.dirty.isEmpty ? [] : state.nextDependencies(Self.maximumDependencies)
        let dependencies = named.isEmpty ? [] : dots(of: named)
        let header = draft.header(
            Dot(origin: state.origins[own].id, seq: state.origins[own].size + 1), hlc,
            draft.id ?? ids.next(milliseconds: wall), after: dependencies)
        guard let leaf = sha.leaf(of: header, prepared.payloadDigest, encoding: &encoding) else {
            return .rejected(.invalid(.headerTooLarge(bytes: encoding.bytes.count)))
        }
        do {
            try insert(header, prepared.body, origin: own, leaf: leaf, twin: nil, sealing: sealer)
        } catch  where error.isConstraint {
            // The normal path asks nothing first: the unique index on the id finds a repeated append.
            guard let stored = try stored(header.id) else { throw error }
            guard draft.matches(stored.event) else { return .rejected(.idReused(position: stored.position)) }
            return .already(AppendReceipt(of: stored))
        }
        state.clock = clock
        unsealed = sealer == nil ? state.position : nil
        if !named.isEmpty { state.dirty.subtract(named) }
        return .appended(AppendReceipt(of: header, at: state.position))
    }

    /// Seals the last own event of the open transaction, if it has any: until a head speaks of it, it is bound to the node's key.
    func seal(with sealer: Sealer) throws(DatabaseError) {
        guard let position = unsealed, let own = state.own else { return }
        unsealed = nil
        let update = try connection.statement("UPDATE event SET seal = ? WHERE position = ?")
        let seal = sealer.seal(state.origins[own].head(using: sha), in: &encoding.bytes)
        sealed = (state.origins[own].size, seal)
        try update.bind(1, seal)
        try update.bind(2, position)
        try update.run()
    }

    private func dots(of indexes: Set<Int>) -> [Dot] {
        indexes.map { Dot(origin: state.origins[$0].id, seq: state.origins[$0].size) }.sorted()
    }

    /// The position of the first event with this id, to which others are twins.
    private func counting(_ id: EventID) throws(DatabaseError) -> UInt64? {
        let select = try connection.statement("SELECT position FROM event WHERE id = ? AND twin IS NULL")
        defer { select.reset() }
        try select.bind(1, id.bits)
        return try select.step() ? select.uint64(0) : nil
    }

    func stored(_ id: EventID) throws(DatabaseError) -> StoredEvent? {
        let select = try connection.statement(
            "SELECT \(EventRow.columns) FROM event WHERE id = ? AND twin IS NULL")
        defer { select.reset() }
        try select.bind(1, id.bits)
        return try select.step() ? try EventRow.read(select, names: &reader, on: connection) : nil
    }

    // MARK: Received events

    /// Stores verified events of other origins. Those that are here already are skipped: two peers may have sent the
    /// same. A gap is an error of the caller.
    func ingest(_ batch: VerifiedBatch) throws(DatabaseError) {
        if batch.lineage.isBroken {
            throw .misuse("an earlier batch was not stored")
        }
        let wall = wall()
        // Twins come one after another, as where two nodes import the same file: behind one its like is looked for first, which
        // takes less time than an insertion that fails.
        var comesAsTwins = false
        for verified in batch.events {
            let header = verified.event.header
            let index: Int
            if let known = state.indexes[header.dot.origin] {
                index = known
            } else {
                guard let start = verified.start else {
                    throw .misuse("nothing says whose event \(header.dot) is")
                }
                index = try addOrigin(header.dot.origin, start)
            }
            let size = state.origins[index].size
            if header.dot.seq <= size { continue }
            guard header.dot.seq == size + 1 else {
                throw .misuse("a gap before event \(header.dot)")
            }
            if !state.clock.observe(header.hlc, wall: wall) { try flag(index, header.hlc, wall: wall) }
            let opensLate = try opensLate(header)
            var first = comesAsTwins ? try counting(header.id) : nil
            let body = kept(of: verified.event, index)
            do {
                try insert(header, body, origin: index, leaf: verified.leaf, twin: first)
            } catch  where error.isConstraint {
                first = try counting(header.id)
                guard first != nil else { throw error }
                try insert(header, body, origin: index, leaf: verified.leaf, twin: first)
            }
            comesAsTwins = first != nil
            // Words of an erased event may have come once more: who applies erasures looks.
            if !erasures.isEmpty, comesAsTwins || AmendmentRule.hasWordsOfAnother(header.type) {
                hasNewErasures = true
            }
            if comesAsTwins || opensLate { try noteReplacement(verified.event, twinOf: first, opensLate: opensLate) }
            if index != state.own { state.dirty.insert(index) }
        }
        for signed in batch.heads { try storeHead(signed) }
        for reach in batch.reaches {
            if let index = state.indexes[reach.origin], state.origins[index].size == reach.size {
                try merkle.replaceReach(reach, origin: state.origins[index].ref)
            }
        }
        try checkProgress(batch)
    }

    /// What is acknowledged must be here: the verifier had counted on earlier batches, and one of them may have failed
    /// (INV-7).
    private func checkProgress(_ batch: VerifiedBatch) throws(DatabaseError) {
        for entry in batch.progress {
            let size = state.indexes[entry.origin].map { state.origins[$0].size } ?? 0
            guard entry.seq <= size else {
                throw .misuse("origin \(entry.origin) is at \(size), not at \(entry.seq)")
            }
        }
    }

    /// Stores a signed head of an origin that is here.
    func storeHead(_ signed: SignedHead) throws(DatabaseError) {
        guard let index = state.indexes[signed.head.origin], signed.head.size <= state.origins[index].size else {
            return
        }
        try merkle.insertHead(signed, origin: state.origins[index].ref)
    }

    /// Stores a signed head of all of this node's own origin.
    func storeOwnHead(signedWith key: SigningKey) throws(DatabaseError) {
        guard let own = state.own.map({ state.origins[$0] }), own.size > 0 else { return }
        try storeHead(SignedHead(signing: own.head(using: sha), with: key))
    }

    /// Adds an origin to the log's table.
    func addOrigin(_ id: OriginID, _ start: OriginStart) throws(DatabaseError) -> Int {
        let ref = Int64(state.origins.count) + 1
        try Schema.insertOrigin(id, start.key, ref: ref, on: connection)
        state.add(
            OriginState(ref: ref, id: id, key: start.key, tree: GrowingTree(), hlc: HybridTime(rawValue: 0)))
        return state.origins.count - 1
    }

    /// Makes the origin this node's own.
    func setOwn(_ index: Int) { state.own = index }

    func noteSkew(_ index: Int, _ skew: ClockSkew) { state.skews[index] = skew }

    /// Forgets stamps that were given while this machine's clock was wrong: those of a new origin begin anew, after all
    /// that was seen of others and can be true.
    func resetClock() {
        let wall = wall()
        var clock = HybridClock()
        for origin in state.origins { _ = clock.observe(origin.hlc, wall: wall) }
        state.clock = clock
    }

    /// The next own event names every origin as a dependency, as the first of a new origin must.
    func dependOnEverything(but excluded: Set<Int>) {
        state.dirty = Set(state.origins.indices.filter { state.origins[$0].size > 0 }).subtracting(excluded)
    }

    // MARK: Both

    private func insert(
        _ header: EventHeader, _ body: EventBody, origin index: Int, leaf: Digest, twin: UInt64?,
        sealing sealer: Sealer? = nil
    ) throws(DatabaseError) {
        let refs = try EventRow.Refs(header, origin: state.origins[index].ref, names: &names, on: connection)
        let pairs = try header.dependencies.map { dot throws(DatabaseError) in
            guard let index = state.indexes[dot.origin] else {
                throw .misuse("\(header.dot) depends on \(dot), which is not here")
            }
            return (ref: state.origins[index].ref, seq: dot.seq)
        }
        let statement = sealer == nil ? try insertion.statement(for: 1).statement : try insertion.sealed()
        if let sealer {
            let root = state.origins[index].range.root(adding: leaf, using: sha)
            let head = TreeHead(origin: header.dot.origin, size: header.dot.seq, root: root, hlc: header.hlc)
            let seal = sealer.seal(head, in: &encoding.bytes)
            sealed = (head.size, seal)
            try statement.bind(EventRow.seal, seal)
        }
        try EventRow.store(
            header, body, position: state.position + 1, refs: refs,
            dependencies: EventRow.dependencyBytes(pairs), twin: twin, leaf: leaf, with: statement)
        state.position += 1
        advanced.insert(index)
        note(header, body, at: state.position, twin: twin)
        state.origins[index].hlc = header.hlc
        state.origins[index].stamp = header.isOpaque ? nil : header.hlc
        try keep(state.origins[index].tree.grow(leaf, using: sha), index)
    }

    /// Keeps the event at the log's end for those who follow it.
    private func note(_ header: EventHeader, _ body: EventBody, at position: UInt64, twin: UInt64?) {
        if ReservedType.isErasure(header.type) { noteErasure(Event(header: header, body: body), at: position) }
        guard isFollowed, fresh.hasRoom else { return }
        fresh.add(StoredEvent(position: position, event: Event(header: header, body: body), twinOf: twin))
    }

    /// Puts the roots of completed subtrees into the log. The origin's last events, back to the first of those, stand one after the other at
    /// the log's end.
    private func keep(_ nodes: [MerkleNode], _ index: Int) throws(DatabaseError) {
        let origin = state.origins[index]
        for node in nodes {
            try merkle.insert(node, origin: origin.ref, at: state.position - (origin.size - node.end))
        }
    }
}

extension AppendReceipt {
    init(of header: EventHeader, at position: UInt64) {
        self.init(position: position, dot: header.dot, id: header.id, hlc: header.hlc)
    }

    init(of stored: StoredEvent) {
        self.init(of: stored.event.header, at: stored.position)
        isErased = stored.event.isErased
    }
}

extension EventDraft {
    /// The header that it gets at its place.
    func header(_ dot: Dot, _ hlc: HybridTime, _ id: EventID, after dependencies: [Dot] = []) -> EventHeader {
        EventHeader(
            dot: dot, hlc: hlc, time: time, id: id, type: type, conversation: conversation, user: user,
            author: author,
            cause: cause, dependencies: dependencies, version: version, actor: actor)
    }
}

extension SHA256 {
    /// The leaf of an event, if its header is not too large; its bytes are then in `encoding`, whose memory is used again.
    func leaf(of header: EventHeader, _ payloadDigest: Digest, encoding: inout ProtobufWriter) -> Digest? {
        encoding.bytes.removeAll(keepingCapacity: true)
        header.writeCanonical(to: &encoding)
        guard encoding.bytes.count <= Limits.header else { return nil }
        return leaf(header: encoding.bytes, payloadDigest: payloadDigest)
    }
}

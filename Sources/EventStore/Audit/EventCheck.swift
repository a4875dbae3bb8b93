/// What is checked of each event.
extension LogAudit {
    /// Names the event in the statement's current row in findings, as far as the row can be read.
    private struct Subject {
        let position: UInt64?
        var dot: Dot?
        let id: EventID?

        func finding(_ check: VerifyCheck, _ message: String) -> VerifyFinding {
            VerifyFinding(check, message, position: position, dot: dot, eventID: id)
        }
    }

    /// Checks the event in the statement's current row.
    mutating func check(_ row: Statement, at position: Int64) throws(DatabaseError) {
        let index = indexes[row.int64(AuditedRow.origin)]
        let seq = row.int64(AuditedRow.seq)
        var subject = Subject(
            position: UInt64(exactly: position), id: row.uuid(AuditedRow.id).map(EventID.init))
        if let index, seq > 0 { subject.dot = Dot(origin: origins[index].id, seq: UInt64(seq)) }

        if row.int64(AuditedRow.isSound) != 1 {
            for rule in try AuditedRow.broken(at: position, on: connection) {
                findings.add(subject.finding(rule.check, rule.message))
            }
        }
        if let index, seq > 0, let fault = origins[index].advance(to: UInt64(seq)) {
            findings.add(subject.finding(.order, fault))
        }
        let stored: StoredEvent
        do {
            stored = try EventRow.read(row, names: &names, on: connection)
        } catch {
            guard case .damage(let damage) = error else { throw error }
            findings.add(subject.finding(.events, "cannot be read: \(damage.what)"))
            if let index { origins[index].breakTree() }
            return
        }
        let header = stored.event.header
        try checkDependencies(header, row, index, subject)
        let bytes = header.canonicalBytes
        checkForm(stored.event, bytes, subject)
        try checkTwin(stored, row, subject)
        guard let index, seq > 0 else { return }
        if header.dot.seq == 1 { checkStart(stored.event, index, subject) }
        origins[index].lastTime = header.hlc
        erasures.take(stored.event, of: origins[index].node)
        settlements.take(stored.event, of: origins[index].node)

        let leaf = sha.leaf(header: bytes, payloadDigest: sha.payloadDigest(stored.event.body))
        if EventRow.leafCheck(row) != EventRow.leafCheck(leaf) {
            findings.add(subject.finding(.events, "header or payload is not what was stored: it has another leaf"))
            origins[index].damaged += 1
            let refs = Set(AuditedRow.interned.filter { !row.isNull($0) }.map(row.int64))
            if suspects?.add(refs) == nil { suspects = NameSuspects(refs: refs, first: subject.position) }
        }
        try origins[index].add(leaf, using: sha, on: connection, &findings)
        try origins[index].compareHeads(
            hlc: header.isOpaque ? nil : header.hlc, using: sha, on: connection, &findings)
    }

    /// Limits, canonical form and the payload's grammar: what is asked of an event before it is stored.
    private mutating func checkForm(_ event: Event, _ bytes: [UInt8], _ subject: Subject) {
        // What could not be read was kept as it came: its leaf alone can tell.
        if !event.header.isOpaque {
            checkHeader(event.header, bytes, subject)
        } else if isReread, event.header.obstacle == nil {
            findings.add(subject.finding(.events, "its header is marked unreadable, but can be read"))
        }
        switch event.body {
        case .erased: erased += 1
        case .unreadable:
            if isReread, event.body.judged != event.body {
                findings.add(subject.finding(.events, "its payload is marked unreadable, but can be read"))
            }
        case .present(_, let payload):
            do { try JSONScanner.validateObject(payload) } catch {
                findings.add(subject.finding(.events, "\(error)"))
            }
        }
    }

    private mutating func checkHeader(_ header: EventHeader, _ bytes: [UInt8], _ subject: Subject) {
        // Until a log has been read anew, fields that an earlier release did not know stand as it kept them.
        let isKept = !isReread && !header.unknownFields.isEmpty
        do {
            if try EventHeader(canonicalBytes: bytes) != header, !isKept {
                findings.add(subject.finding(.events, "its header does not have the canonical form"))
            }
        } catch {
            findings.add(subject.finding(.events, "its header is none: \(error)"))
        }
    }

    /// Dependencies stand earlier in the log (INV-5), in the one form there is. Those of this node's own events also say
    /// which origins had advanced here since its previous event, so they fix the order of arrival between the two.
    private mutating func checkDependencies(
        _ header: EventHeader, _ row: Statement, _ index: Int?, _ subject: Subject
    ) throws(DatabaseError) {
        var pairs: [(ref: Int64, seq: UInt64)] = []
        for needs in header.dependencies {
            // Of a forked origin the dependency may be on the branch that is not here.
            guard let other = indexesByID[needs.origin], other != index,
                needs.seq <= origins[other].seq || forked.contains(needs.origin)
            else {
                findings.add(subject.finding(.order, "its dependency \(needs) does not stand before it"))
                continue
            }
            pairs.append((origins[other].ref, needs.seq))
        }
        if pairs.count == header.dependencies.count,
            EventRow.dependencyBytes(pairs) != row.bytes(AuditedRow.dependencies)
        {
            findings.add(
                subject.finding(.order, "its dependencies are not stored in ascending order or shortest form"))
        }
        guard let index, let own else { return }
        guard index == own else {
            advanced?.insert(index)
            return
        }
        if let advanced, origins[own].tree != nil {
            let arrived = advanced.map { Dot(origin: origins[$0].id, seq: origins[$0].seq) }.sorted()
            let isCut = header.dependencies.count == Appender.maximumDependencies
            if isCut, Set(arrived).isSuperset(of: header.dependencies) {
                // More than one event can name: the others follow with the next one.
                let named = Set(header.dependencies.compactMap { indexesByID[$0.origin] })
                return self.advanced = advanced.subtracting(named)
            }
            if arrived != header.dependencies {
                findings.add(
                    subject.finding(.order, "its dependencies are not the events that arrived since the one before"))
            }
        }
        advanced = []
    }

    /// The first event of an origin says whose it is.
    private mutating func checkStart(_ event: Event, _ index: Int, _ subject: Subject) {
        let proof = origins[index]
        let isErased = event.isErased
        let isStart =
            isErased
            ? event.header.type == OriginStart.type && event.header.user == "node/\(proof.node)"
            : OriginStart(event)?.key == proof.key
        guard isStart else {
            let fault = "the origin's first event does not name node \(proof.node.short) and its key"
            findings.add(subject.finding(.origins, fault))
            return
        }
        if index == own, let start = OriginStart(event) { ownName = start.name }
    }

    /// An event is marked as the twin of the first event with its id.
    private mutating func checkTwin(
        _ stored: StoredEvent, _ row: Statement, _ subject: Subject
    ) throws(DatabaseError) {
        guard !row.isNull(AuditedRow.twin) else { return }
        let twin = row.int64(AuditedRow.twin)
        let first = try connection.first("SELECT id, twin FROM event WHERE position = ?", [.integer(twin)]) { row in
            row.isNull(1) ? row.uuid(0) : nil
        }
        if twin >= row.int64(AuditedRow.position) || first != stored.event.header.id.bits {
            let fault = "is marked as the twin of position \(twin), which is not the first event with its id"
            findings.add(subject.finding(.twins, fault))
        }
    }
}

/// Interned texts that every damaged event so far uses. If all events that use one of them are damaged, then it was the
/// text that was changed and not the events.
struct NameSuspects {
    /// Refs in table `name`.
    private(set) var refs: Set<Int64>
    private(set) var count: UInt64 = 1
    /// The first damaged event.
    let first: UInt64?

    mutating func add(_ more: Set<Int64>) {
        refs.formIntersection(more)
        count += 1
    }
}

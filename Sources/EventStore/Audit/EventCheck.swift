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

    /// Takes the next event, in order of position.
    mutating func take(_ event: ExaminedEvent) throws(DatabaseError) {
        let index = indexes[event.origin]
        var subject = Subject(position: UInt64(exactly: event.position), dot: nil, id: event.id)
        if let index, event.seq > 0 { subject.dot = Dot(origin: origins[index].id, seq: UInt64(event.seq)) }

        for fault in event.broken { findings.add(subject.finding(fault.check, fault.message)) }
        if let index, event.seq > 0, let fault = origins[index].advance(to: UInt64(event.seq)) {
            findings.add(subject.finding(.order, fault))
        }
        let exam: ExaminedEvent.Exam
        switch event.content {
        case .unreadable(let what):
            findings.add(subject.finding(.events, "cannot be read: \(what)"))
            if let index { origins[index].breakTree() }
            return
        case .read(let read): exam = read
        }
        checkDependencies(exam, index, subject)
        for fault in exam.faults { findings.add(subject.finding(fault.check, fault.message)) }
        if exam.isErased { erased += 1 }
        if exam.isUnread, let position = subject.position { unread.add(position) }
        guard let index, event.seq > 0 else { return }
        if let whole = exam.event {
            if event.seq == 1 { checkStart(whole, index, subject) }
            erasures.take(whole, of: origins[index].node)
            noted.take(whole, of: origins[index].node, at: subject.position, keeper: erasures.keeper)
            settlements.take(whole, of: origins[index].node)
        }
        if let fault = origins[index].advance(from: exam.isOpaque ? nil : exam.hlc) {
            findings.add(subject.finding(.order, fault))
        }
        origins[index].lastTime = exam.hlc
        if let names = exam.damagedNames {
            findings.add(subject.finding(.events, "header or payload is not what was stored: it has another leaf"))
            origins[index].damaged += 1
            if suspects?.add(names) == nil { suspects = NameSuspects(refs: names, first: subject.position) }
        }
        try origins[index].add(
            exam.leaf, at: event.position, using: sha, on: connection, isTiled: isTiled, &findings)
        try origins[index].compareHeads(hlc: exam.isOpaque ? nil : exam.hlc, using: sha, on: connection, &findings)
    }

    /// Dependencies stand earlier in the log (INV-5), in the one form there is. Those of this node's own events also say
    /// which origins had advanced here since its previous event, so they fix the order of arrival between the two.
    private mutating func checkDependencies(_ exam: ExaminedEvent.Exam, _ index: Int?, _ subject: Subject) {
        var pairs: [(ref: Int64, seq: UInt64)] = []
        for needs in exam.dependencies {
            // Of a forked origin the dependency may be on the branch that is not here.
            guard let other = indexesByID[needs.origin], other != index,
                needs.seq <= origins[other].seq || forked.contains(needs.origin)
            else {
                findings.add(subject.finding(.order, "its dependency \(needs) does not stand before it"))
                continue
            }
            pairs.append((origins[other].ref, needs.seq))
        }
        if pairs.count == exam.dependencies.count,
            EventRow.dependencyBytes(pairs) != exam.dependencyBytes
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
            let isCut = exam.dependencies.count == Appender.maximumDependencies
            if isCut, Set(arrived).isSuperset(of: exam.dependencies) {
                // More than one event can name: the others follow with the next one.
                let named = Set(exam.dependencies.compactMap { indexesByID[$0.origin] })
                return self.advanced = advanced.subtracting(named)
            }
            if arrived != exam.dependencies {
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
        guard let start = OriginStart(event) else { return }
        if index == own { ownName = start.name }
        if let succession = start.succession, succession.known > succession.had {
            successions.append((proof.id, succession))
        }
    }
}

/// Positions that one note tells: how many, and the first.
struct NamedPlaces {
    private static let named = 9
    private var count = 0
    private var first: [String] = []

    mutating func add(_ position: UInt64) {
        count += 1
        if count <= Self.named { first.append("\(position)") }
    }

    /// `nil` if there are none.
    var text: String? {
        guard count > 0 else { return nil }
        return "\(count), at position \(first.joined(separator: ", "))" + (count > Self.named ? ", …" : "")
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

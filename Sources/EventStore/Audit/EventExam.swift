/// What can be told of one event without those that stand before it. To find that out takes nearly all of an audit's time, so it is done on
/// several threads (``LogAudit/scan(_:)``).
struct ExaminedEvent: Sendable {
    enum Content: Sendable {
        /// It is no event.
        case unreadable(String)
        case read(Exam)
    }

    /// What is wrong with it, and which check says so.
    struct Fault: Sendable {
        let check: VerifyCheck
        let message: String
    }

    /// As it stands in the row.
    let position: Int64
    /// The ref of its origin, as it stands in the row.
    let origin: Int64
    /// As it stands in the row.
    let seq: Int64
    let id: EventID?
    /// Rules that the row breaks.
    let broken: [Fault]
    let content: Content

    /// Of an event that could be read.
    struct Exam: Sendable {
        let hlc: HybridTime
        /// Whether its header is one that this release cannot read.
        let isOpaque: Bool
        /// Whether it is kept as what an earlier release could not read, and this one reads it.
        let isUnread: Bool
        let isErased: Bool
        let dependencies: [Dot]
        /// As they stand in the row.
        let dependencyBytes: [UInt8]
        /// Of its form, and of whose twin it is.
        let faults: [Fault]
        let leaf: Digest
        /// Names that it uses, where its leaf is another than the stored one.
        let damagedNames: Set<Int64>?
        /// All of it, where it is one that a node says of itself, or the first of its origin.
        let event: Event?
    }
}

/// Examines events with a connection of its own.
struct EventExaminer {
    let connection: Connection
    /// Whether this release has read again what earlier ones could not: nothing it can read is marked unreadable then.
    let isReread: Bool
    private var names = InternedStrings()
    private let sha = SHA256()

    init(_ connection: Connection, isReread: Bool) { (self.connection, self.isReread) = (connection, isReread) }

    /// Events in order of position, up to where no more can be read, if that happens.
    struct Part: Sendable {
        let first: Int64
        var events: [ExaminedEvent] = []
        /// The last position that this part speaks of.
        var through: Int64
        /// What kept it from being read.
        var damage: LogDamage?
        /// The piece of the log that the part belongs to ends here.
        let end: Int64
    }

    /// At most `limit` events at the positions from `first` to `end`.
    mutating func read(from first: Int64, through end: Int64, limit: Int) throws(DatabaseError) -> Part {
        var part = Part(first: first, through: end, end: end)
        do throws(DatabaseError) {
            let row = try connection.statement(AuditedRow.select)
            defer { row.reset() }
            try row.bind(1, first)
            try row.bind(2, end)
            try row.bind(3, Int64(limit))
            while try row.step() { part.events.append(try examine(row)) }
        } catch {
            guard case .damage(let damage) = error else { throw error }
            part.damage = damage
        }
        if let last = part.events.last, part.events.count == limit { part.through = last.position }
        return part
    }

    private mutating func examine(_ row: Statement) throws(DatabaseError) -> ExaminedEvent {
        let position = row.int64(AuditedRow.position)
        let broken = RowRule.broken(by: row).map { ExaminedEvent.Fault(check: $0.check, message: $0.message) }
        let content: ExaminedEvent.Content
        do throws(DatabaseError) {
            // Before `self` is used again: the names would be copied otherwise.
            let stored = try EventRow.read(row, names: &names, on: connection)
            content = .read(try exam(of: stored, row))
        } catch {
            guard case .damage(let damage) = error else { throw error }
            content = .unreadable(damage.what)
        }
        return ExaminedEvent(
            position: position, origin: row.int64(AuditedRow.origin), seq: row.int64(AuditedRow.seq),
            id: row.uuid(AuditedRow.id).map(EventID.init), broken: broken, content: content)
    }

    private func exam(of stored: StoredEvent, _ row: Statement) throws(DatabaseError) -> ExaminedEvent.Exam {
        let header = stored.event.header
        let bytes = header.canonicalBytes
        var faults: [ExaminedEvent.Fault] = []
        let (messages, isUnread) = form(of: stored.event, bytes, row)
        for message in messages {
            faults.append(ExaminedEvent.Fault(check: .events, message: message))
        }
        if let message = try twinFault(of: stored, row) {
            faults.append(ExaminedEvent.Fault(check: .twins, message: message))
        }
        let leaf = sha.leaf(header: bytes, payloadDigest: sha.payloadDigest(stored.event.body))
        let isSound = EventRow.leafCheck(row) == EventRow.leafCheck(leaf)
        return ExaminedEvent.Exam(
            hlc: header.hlc, isOpaque: header.isOpaque, isUnread: isUnread, isErased: stored.event.isErased,
            dependencies: header.dependencies, dependencyBytes: row.bytes(AuditedRow.dependencies), faults: faults,
            leaf: leaf,
            damagedNames: isSound ? nil : Set(AuditedRow.interned.filter { !row.isNull($0) }.map(row.int64)),
            event: header.dot.seq == 1 || ReservedType.contains(header.type) ? stored.event : nil)
    }

    /// Limits, canonical form and the payload's grammar: what is asked of an event before it is stored. What was kept as unreadable must
    /// be so: else a hand that marks an event that way hides it. Until a log has been read anew an earlier release may have done it.
    private func form(of event: Event, _ bytes: [UInt8], _ row: Statement) -> (faults: [String], isUnread: Bool) {
        var (faults, isUnread) = ([String](), false)
        // What no node takes is not kept either, readable or not (D13).
        if bytes.count > Limits.header || event.body.count > Limits.carriedPayload {
            faults.append("it is longer than an event can be")
        }
        func keeps(_ what: String) {
            if isReread { faults.append("\(what) is marked unreadable, but can be read") } else { isUnread = true }
        }
        if event.header.isOpaque {
            if event.header.obstacle == nil { keeps("its header") }
            if !AuditedRow.standsAlone(row) {
                faults.append("beside its header, which cannot be read, columns say more")
            }
        } else {
            do {
                let isSame = try event.header.isRead(from: bytes)
                // Fields that an earlier release did not know stand as it kept them; it knew those up to 12.
                let isKept = !isReread && EventHeader.areOfLater(event.header.unknownFields)
                if !isSame, isKept { isUnread = true }
                if !isSame, !isKept { faults.append("its header does not have the canonical form") }
            } catch {
                faults.append("its header is none: \(error)")
            }
        }
        switch event.body {
        case .erased: break
        case .unreadable: if event.body.judged != event.body { keeps("its payload") }
        case .present(_, let payload):
            do { try JSONScanner.validateObject(payload) } catch { faults.append("\(error)") }
        }
        return (faults, isUnread)
    }

    /// An event is marked as the twin of the first event with its id.
    private func twinFault(of stored: StoredEvent, _ row: Statement) throws(DatabaseError) -> String? {
        guard !row.isNull(AuditedRow.twin) else { return nil }
        let twin = row.int64(AuditedRow.twin)
        let first = try connection.first("SELECT id, twin FROM event WHERE position = ?", [.integer(twin)]) { row in
            row.isNull(1) ? row.uuid(0) : nil
        }
        if twin < row.int64(AuditedRow.position), first == stored.event.header.id.bits { return nil }
        return "is marked as the twin of position \(twin), which is not the first event with its id"
    }
}

/// Examines the log piece by piece on one of several threads.
struct ScanWorker: PieceWorker {
    /// Positions of a piece: few enough that what is handed over comes from the heap, and not from the system each time.
    static let piece: Int64 = 512

    private var examiner: EventExaminer
    /// The last position of the last piece.
    private let last: Int64
    private var rest: ClosedRange<Int64>?

    init(_ path: String, through last: Int64, isReread: Bool) throws(StoreError) {
        let connection = try openForReading(path)
        try mapped { () throws(DatabaseError) in try Schema.readAsCurrent(connection) }
        (examiner, self.last) = (EventExaminer(connection, isReread: isReread), last)
    }

    mutating func begin(_ piece: Int) {
        let end = min(last, (Int64(piece) + 1) * Self.piece)
        // Positions begin with 1; if there are others, they are of the first piece.
        rest = (piece == 0 ? Int64.min : Int64(piece) * Self.piece + 1)...end
    }

    /// Of a piece with damage nothing more is handed out: the taker looks behind it.
    mutating func next(reusing spent: consuming EventExaminer.Part?) throws(StoreError) -> EventExaminer.Part? {
        guard let range = rest else { return nil }
        let part = try mapped { () throws(DatabaseError) in
            try examiner.read(from: range.lowerBound, through: range.upperBound, limit: Int(Self.piece))
        }
        rest = part.damage == nil && part.through < range.upperBound ? part.through + 1...range.upperBound : nil
        return part
    }
}

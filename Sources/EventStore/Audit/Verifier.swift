/// Proves a store from its files alone, without its daemon and without its key (D5).
///
/// Two things are proved. Nothing changed since it was stored: every event is hashed again, and the Merkle tree over the
/// hashes must have the root of every head its origin has signed. And the log is what the writer leaves behind: gapless,
/// causally closed, in the one form each value has. What no head covers yet is counted (``VerifyReport/unsigned``): of this
/// node's own events only who has its key can have made it, which its seal shows.
///
/// How far the log must reach the store's mark and its witness tell. What cannot be told from the files: how many of the newest
/// events were cut off together with all that knows of them, and which of two received events that did not know of each other arrived
/// first. Peers and receipts that lie elsewhere tell the former; no node signs the latter.
///
/// It only reads, and it may run while a writer appends: it fixes the last position first and reads in chunks, each a
/// short transaction of its own, on several threads. Memory is bounded by the number of origins.
package struct Verifier: Sendable {
    private let files: StoreFiles
    /// What others know of the log.
    private let known: [KnownHead]
    /// Where it has ended.
    private let ends: [KnownEnd]
    /// What of that could not be read.
    private let unread: [String]

    private let threads: Int

    /// A verifier for the store in `files`, whose log must go on from what is `known` of it elsewhere, and be no shorter than at these ends.
    ///
    /// - Parameters:
    ///   - unread: What of that could not be read: it keeps the log from being proven.
    ///   - threads: On how many processors it may be at work; all there are, if nothing is said.
    package init(
        _ files: StoreFiles, known: [KnownHead] = [], ends: [KnownEnd] = [], unread: [String] = [],
        threads: Int? = nil
    ) {
        (self.files, self.known, self.ends, self.unread) = (files, known, ends, unread)
        self.threads = threads ?? processorCount
    }

    /// Looks at everything once. Damage is reported, not thrown; errors are of stores that cannot be read at all.
    ///
    /// - Parameters:
    ///   - term: Of a guest in the process that writes: it lets no WAL grow for long, and to cancel it ends the run, which then throws
    ///     ``StoreError/closed``.
    ///   - progress: Runs after each chunk with the last position seen and the last one there is.
    package func run(
        asGuest term: AnswerTerm? = nil, progress: (UInt64, UInt64) -> Void = { _, _ in }
    ) throws(StoreError) -> VerifyReport {
        guard files.exists else { throw .notFound(path: files.folder) }
        try SmallFile.requireDatabase(files.log)
        // Asked before the top is fixed: if the writer ends in between, its last head is there or still excused.
        let isWritten = StoreLock.owner(files) != nil
        if isWritten { try awaitHead() }
        var outside = try Outside(files, isWritten: isWritten)
        let connection = try openForReading(files.log)
        try Schema.check(connection)
        let proofs = outside.forks(files)
        connection.term = term
        do throws(DatabaseError) {
            try Schema.readAsCurrent(connection)
            var audit = LogAudit(
                connection: connection, isWritten: isWritten, proofs: proofs, outside: outside, threads: threads)
            audit.notes = unread
            return try audit.run(against: known, ends, progress)
        } catch {
            throw term?.isCancelled == true ? .closed : StoreError(error)
        }
    }
}

extension Verifier {
    /// How long, and how often, is looked for what a writer has not stored yet, milliseconds.
    static let patience = (all: 1_000, each: 50)

    /// A writer that has nothing to do signs its last events a quarter of a second after them: waits for that.
    private func awaitHead() throws(StoreError) {
        let connection = try openForReading(files.log)
        let uncovered = """
            SELECT (SELECT max(seq) FROM event WHERE origin = own.value)
              > coalesce((SELECT max(size) FROM head WHERE origin = own.value), 0) FROM meta AS own WHERE key = 'origin'
            """
        for _ in 0..<Self.patience.all / Self.patience.each {
            var isUncovered = false
            try mapped { () throws(DatabaseError) in isUncovered = try connection.integer(uncovered) == 1 }
            guard isUncovered else { return }
            sleepMilliseconds(Self.patience.each)
        }
    }
}

/// One run of the verifier.
struct LogAudit {
    /// No row of an event has fewer bytes.
    private static let leastBytes: Int64 = 64

    let connection: Connection
    /// Whether a writer has the store open.
    let isWritten: Bool
    /// Origins proven to have two histories.
    let forked: Set<OriginID>
    /// What proves it, until it has been looked at.
    var proofs: [ForkEvidence]
    let outside: Outside
    /// What carries the own events that no head covers.
    var seal = TailSeal.none
    var erasures = Erasures()
    /// What table `meta` says of them, and what the log has.
    var noted = NotedErasures()
    var settlements = OwnSettlements(of: nil)
    let sha = SHA256()
    var findings = VerifyFindings()
    /// What keeps something from being proven.
    var notes: [String] = []
    /// What should be known, and keeps nothing from being proven.
    var remarks: [String] = []
    var unread = NamedPlaces()
    var names = InternedStrings()
    /// On how many threads events are examined.
    private let threads: Int
    var origins: [OriginProof] = []
    /// Index into ``origins`` by the origin's ref and by its id.
    var indexes: [Int64: Int] = [:]
    var indexesByID: [OriginID: Int] = [:]
    /// The origin this node writes to.
    var own: Int?
    /// Origins that advanced since the last own event; `nil` before the first one.
    var advanced: Set<Int>?
    /// What the first own event calls the node.
    var ownName: String?
    /// The origins that were begun because events of another were missing.
    var successions: [(origin: OriginID, OriginSuccession)] = []
    var erased: UInt64 = 0
    /// Whether this release has read again what earlier ones could not: nothing it can read is marked unreadable then.
    var isReread = false
    /// Whether the log has tiles.
    private(set) var isTiled = false
    /// What the damaged events seen so far have in common.
    var suspects: NameSuspects?
    private var events: UInt64 = 0
    /// The last position when the audit began.
    private(set) var top: Int64 = 0

    init(
        connection: Connection, isWritten: Bool, proofs: [ForkEvidence], outside: Outside, threads: Int = 1
    ) {
        (self.connection, self.threads) = (connection, threads)
        forked = Set(proofs.map(\.origin))
        self.proofs = proofs
        self.outside = outside
        self.isWritten = isWritten
    }

    mutating func run(
        against known: [KnownHead] = [], _ ends: [KnownEnd] = [], _ progress: (UInt64, UInt64) -> Void
    ) throws(DatabaseError) -> VerifyReport {
        let database = DatabaseCheck(connection: connection)
        try attempt(.database) { audit throws(DatabaseError) in
            try database.schema(&audit.findings, &audit.notes, &audit.remarks)
        }
        try attempt(.database) { audit throws(DatabaseError) in try audit.begin() }
        let integrity = DatabaseCheck.integrity(
            at: connection.path, isWritten: isWritten, asGuest: connection.term)
        // Beside a writer it comes after the scan: what happens to the file meanwhile is seen by at least one of the two.
        if !isWritten, threads > 1 { integrity.offer() }
        try attempt(.database) { audit throws(DatabaseError) in try audit.scan(progress) }
        if let places = unread.text {
            notes.append(
                "kept as what could not be read, and can be read: \(places); no start of this release has looked through the log"
            )
        }
        try attempt(.database) { audit throws(DatabaseError) in
            guard let found = try DatabaseCheck.findings(of: integrity) else {
                return audit.notes.append(
                    "SQLite's own check of log.db was left out: it would have kept the WAL from beginning anew, and there is no room for a copy"
                )
            }
            for finding in found { audit.findings.add(finding) }
        }
        try attempt(.origins) { audit throws(DatabaseError) in try audit.checkMeta() }
        try attempt(.heads) { audit throws(DatabaseError) in try audit.checkReaches() }
        try attempt(.origins) { audit throws(DatabaseError) in try audit.checkOrigins() }
        try attempt(.twins) { audit throws(DatabaseError) in try audit.checkRepeatedIDs() }
        try attempt(.positions) { audit throws(DatabaseError) in try audit.checkArrivals() }
        try attempt(.names) { audit throws(DatabaseError) in try audit.checkNames() }
        try attempt(.tree) { audit throws(DatabaseError) in try audit.checkNodes() }
        try attempt(.heads) { audit throws(DatabaseError) in try audit.checkHeads() }
        try attempt(.ends) { audit throws(DatabaseError) in try audit.checkOutside() }
        checkForks()
        try attempt(.ends) { audit throws(DatabaseError) in try audit.checkKnown(known) }
        try attempt(.ends) { audit throws(DatabaseError) in try audit.checkEnds(ends) }
        try attempt(.erasures) { audit throws(DatabaseError) in try audit.checkErasures() }
        return report
    }

    private var report: VerifyReport {
        let signed = origins.reduce(UInt64(0)) { $0 + min($1.headSize, $1.events) }
        return VerifyReport(
            top: UInt64(clamping: top), events: events,
            origins: origins.map(\.verified).sorted { $0.origin < $1.origin }, erased: erased,
            unsigned: events - signed, seal: seal, forks: proofs, notes: outside.notes + notes,
            remarks: remarks, findings: findings.listed, counts: findings.counts)
    }

    /// Runs a part of the audit; damage that keeps it from ending is a finding, and the next part is tried.
    mutating func attempt(
        _ check: VerifyCheck, _ body: (inout LogAudit) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        do {
            try body(&self)
        } catch {
            // Only damage is a finding. Of a disk that cannot be read nothing can be said.
            guard case .damage(let damage) = error else { throw error }
            findings.add(check, "cannot be read any further: \(damage)")
        }
    }

    /// Fixes what is verified: the last position and the origins there are, as of one moment.
    private mutating func begin() throws(DatabaseError) {
        try connection.execute("BEGIN")
        // Ended in any case: with what could be read the audit goes on.
        defer { connection.rollback() }
        top = try connection.integer("SELECT max(position) FROM event") ?? 0
        isReread = try LogUpgrade.isDone(on: connection)
        isTiled = try MerkleTile.isKept(on: connection)
        noted = try NotedErasures(on: connection, outside.signer?.erasureSealer)
        try readOrigins()
        settlements = OwnSettlements(of: own.map { origins[$0].node })
        if top == 0 { findings.add(.positions, "the log is empty; every store begins with the start of its origin") }
    }

    // MARK: Events in position order

    /// How far the scan is.
    private struct Place {
        /// The next position to look at; `nil` at the end.
        var next: Int64? = .min
        /// The position that should come.
        var expected: Int64 = 1
        /// How many positions are left out behind the next damage.
        var skip: Int64 = 1
    }

    private mutating func scan(_ progress: (UInt64, UInt64) -> Void) throws(DatabaseError) {
        let (path, last, isReread) = (connection.path, try lastPiece(), isReread)
        var place = Place()
        var examiner = EventExaminer(connection, isReread: isReread)
        let total = UInt64(clamping: top)
        do throws(StoreError) {
            let parts = try OrderedPipeline(
                pieces: max(0, Int((last + ScanWorker.piece - 1) / ScanWorker.piece)), threads: threads
            ) { () throws(StoreError) in try ScanWorker(path, through: last, isReread: isReread) }
            while let part = try parts.next() {
                try mapped { () throws(DatabaseError) in
                    try take(part, &place)
                    guard part.damage != nil else { return }
                    try goOn(to: part.end, &place, &examiner)
                }
                if connection.term?.isCancelled == true { throw .closed }
                progress(min(UInt64(clamping: part.through), total), total)
            }
        } catch {
            throw .file(error)
        }
        try goOn(to: top, &place, &examiner)
        progress(total, total)
    }

    /// Up to where pieces are made of positions: no further than there can be events in a file of this length, whatever the
    /// last position is.
    private func lastPiece() throws(DatabaseError) -> Int64 {
        let bytes = try connection.integer("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return min(top, (bytes ?? 0) / Self.leastBytes + 1)
    }

    /// Looks at what is left up to `end` on this thread.
    private mutating func goOn(
        to end: Int64, _ place: inout Place, _ examiner: inout EventExaminer
    ) throws(DatabaseError) {
        while let next = place.next, next <= end {
            try take(try examiner.read(from: next, through: end, limit: Int(ScanWorker.piece)), &place)
        }
    }

    private mutating func take(_ part: EventExaminer.Part, _ place: inout Place) throws(DatabaseError) {
        guard let next = place.next, next <= part.through else { return }
        // Its damage may lie before what is to be looked at.
        if part.damage != nil, part.first < next { return }
        var last = Int64.min
        for event in part.events where event.position >= next {
            last = event.position
            events += 1
            checkPosition(last, &place.expected)
            try attempt(.events) { audit throws(DatabaseError) in try audit.take(event) }
        }
        guard let damage = part.damage else {
            place.skip = 1
            place.next = part.through < top ? part.through + 1 : nil
            return
        }
        let from = max(last, next == .min ? 0 : next - 1)
        findings.add(.database, "events after position \(from) cannot be read: \(damage)")
        // What lies on the damaged page is lost; try behind it, in growing steps.
        let (sum, isOver) = from.addingReportingOverflow(place.skip)
        place.next = !isOver && sum < top ? sum + 1 : nil
        place.skip &*= 2
    }

    private mutating func checkPosition(_ position: Int64, _ expected: inout Int64) {
        if position < 1 {
            findings.add(.positions, "there is an event at position \(position); positions begin with 1")
            return
        }
        if position > expected {
            let missing =
                position == expected + 1
                ? "no event at position \(expected)" : "no events at positions \(expected) to \(position - 1)"
            findings.add(VerifyFinding(.positions, missing, position: UInt64(clamping: expected)))
        }
        expected = position &+ 1
    }
}

/// What lies beside the log and speaks of it: the node's key, its mark, its witness, the WAL as a run left it, and what was found
/// when the log had been cut (D21).
package struct Outside {
    /// A head that the log must reach and agree with, and who says so.
    struct Known {
        let head: TreeHead
        let source: String
        /// Whether the log had it stored when it was told.
        let isStored: Bool
    }

    private(set) var heads: [Known] = []
    /// The last position that is known, who knows it, and the last event of the node that is known with it.
    private(set) var position: (last: UInt64, source: String, own: Dot?) = (0, "", nil)
    /// The node's key, which checks its seals; `nil` where it cannot be read.
    private(set) var signer: SigningKey?
    /// Whether the node has left a mark.
    private(set) var hasMark = false
    private(set) var wal = WALVerdict.whole
    /// What starts have found: until an operator has dealt with it, which the log says, it counts.
    private(set) var cuts: [CutEvidence] = []
    /// Erasures that the log does not have and that were applied to it, as they came: a log that was restored.
    private(set) var lostErasures: [ProvenErasure] = []
    /// Whether a line that should be one of these is none.
    private(set) var hasStrangeErasures = false
    /// The finding since which the witness says to be kept.
    private var since: String?
    /// What keeps something from being proven.
    private(set) var notes: [String] = []

    /// Read before the log, so that a writer's later commits are no contradiction.
    init(_ files: StoreFiles, isWritten: Bool) throws(StoreError) {
        // Before SQLite opens the log: it makes a WAL where there is none.
        let inspection = isWritten ? nil : try WALInspection(path: files.log + "-wal")
        do throws(StoreError) {
            try look(files, isWritten: isWritten, inspection)
        } catch {
            notes.append("the log could not be compared with what lies beside it: \(error)")
        }
        do throws(StoreError) {
            let kept = try ProvenErasure.kept(files)
            (lostErasures, hasStrangeErasures) = (kept ?? [], kept == nil)
        } catch {
            notes.append("erasures.ndjson cannot be read: \(error)")
        }
        // Whatever else could not be read.
        do throws(StoreError) {
            try lookAtCuts(files)
        } catch {
            notes.append("what is kept of cuts could not be read: \(error)")
        }
    }

    /// What the next start will say is missing, as far as can be told without reading the log; `nil` if nothing is.
    package static func cut(of files: StoreFiles) throws(StoreError) -> String? {
        let outside = try Outside(files, isWritten: false)
        if case .damaged(let text) = outside.wal { return text }
        let reader = try LogReader(files)
        let told = try HeldHead.ofPeers(files, of: StoreIdentity(reader).origin)
        for (head, source) in outside.heads.map({ ($0.head, $0.source) }) + told.map({ ($0.head, $0.source) }) {
            guard let here = try reader.tree(of: head.origin, size: head.size) else {
                return head.beyond(try reader.vector()[head.origin], source)
            }
            if here.root != head.root { return head.otherHistory(source) }
        }
        let (last, source, _) = outside.position
        let top = try reader.top()
        return top < last ? "the log ends at position \(top); \(source) knows \(last)" : nil
    }

    /// Proofs that origins have two histories.
    mutating func forks(_ files: StoreFiles) -> [ForkEvidence] {
        do throws(StoreError) { return try ForkEvidence.list(files) } catch {
            notes.append("what is kept of forks could not be read: \(error)")
            return []
        }
    }

    private mutating func lookAtCuts(_ files: StoreFiles) throws(StoreError) {
        let reader = try LogReader(files)
        cuts = try CutEvidence.standing(files, reader)
        guard let since, !cuts.contains(where: { $0.name == since }), CutEvidence.isName(since, .witness) else {
            return
        }
        cuts.append(.missing(since, had: Dot(origin: try StoreIdentity(reader).origin, seq: 0)))
    }

    /// What stands in log.end. Something else in its place is told whatever else is there: no run leaves a folder or a pipe.
    private mutating func found(_ files: StoreFiles) -> LogEnd.Found {
        do throws(StoreError) { return try LogEnd.Found(files) } catch {
            notes.append("log.end cannot be read: nothing can be compared with it (\(error))")
            return .unreadable
        }
    }

    /// Where the run that made the mark says that its last commit ended. After a power cut that says nothing of commits that were not
    /// synced.
    private mutating func lookAtEnd(
        _ found: LogEnd.Found, _ files: StoreFiles, after mark: Mark, isWritten: Bool
    ) throws(StoreError) {
        let isSameBoot = mark.boot != nil && mark.boot == HostFingerprint.found(around: files).boot
        switch found {
        case .end(let end) where end.incarnation == mark.incarnation && (isSameBoot || mark.durability == .full):
            guard end.position > position.last else { return }
            position = (end.position, "log.end", Dot(origin: end.origin, seq: end.size))
        case .end(let end) where end.incarnation == mark.incarnation: break
        case .end, .missing, .unreadable:
            guard !isWritten, mark.state == .running else { return }
            notes.append(
                "log.end is missing, of another log or cannot be read: nothing here says how far the last run went")
        }
    }

    /// Whether log.end counts as many events of the node as there are up to where it says that the log ended.
    private mutating func lookAtCount(
        _ found: LogEnd.Found, after mark: Mark, _ reader: LogReader
    ) throws(StoreError) {
        guard case .end(let end) = found, end.incarnation == mark.incarnation, try reader.top() >= end.position else {
            return
        }
        let here = try reader.count(of: end.origin, through: end.position)
        guard here != end.size else { return }
        notes.append(
            "log.end counts \(end.size) events of origin \(end.origin) up to position \(end.position), and \(here) are here"
        )
    }

    /// Whether log.end is the node's own, and of these events.
    private mutating func lookAtSeal(
        _ found: LogEnd.Found, after mark: Mark, _ reader: LogReader, _ key: SigningKey
    ) throws(StoreError) {
        guard case .end(let end) = found, end.incarnation == mark.incarnation,
            let head = try reader.tree(of: end.origin, size: end.size),
            !end.isSealed(key.sealer.seal(head), by: key.endSealer)
        else { return }
        notes.append("the log has other events of this node than log.end knows")
    }

    private mutating func look(
        _ files: StoreFiles, isWritten: Bool, _ inspection: WALInspection?
    ) throws(StoreError) {
        let reader = try LogReader(files)
        let identity = try StoreIdentity(reader)
        guard let key = try reader.key(of: identity.origin) else { return }
        let pem = try? SmallFile.read(files.key)
        signer = pem.flatMap { SigningKey(pem: $0) }.flatMap { $0.publicKey == key ? $0 : nil }
        let mark = try Mark.read(files, key: key).flatMap { $0.incarnation == identity.incarnation ? $0 : nil }
        hasMark = mark != nil
        let end = found(files)
        if let mark {
            heads.append(Known(head: mark.head, source: "the store's mark", isStored: true))
            position = (mark.position, "the store's mark", nil)
            try lookAtEnd(end, files, after: mark, isWritten: isWritten)
            if !isWritten { try lookAtCount(end, after: mark, reader) }
            if !isWritten, let signer { try lookAtSeal(end, after: mark, reader, signer) }
            let witness = try reader.meta("witness") ?? ""
            if !isWritten,
                mark.settings != Mark.settings(name: identity.name, cluster: identity.cluster, witness: witness)
            {
                notes.append("table meta names the node, its cluster or its witness otherwise than the store's mark")
            }
        } else if pem != nil, try reader.hasSeals() {
            notes.append("the store has no mark of its own: nothing here says how far its log went")
        }
        let strange = try reader.strangeSettings()
        if !strange.isEmpty {
            notes.append("table meta has what this release does not know: \(strange.joined(separator: ", "))")
        }
        if let folder = try reader.meta("witness"), !folder.isEmpty {
            switch WitnessKeeper(folder: folder, identity: identity).read(key) {
            case .seen(let seen) where try isCopy(files, reader, witness: folder):
                let (known, here) = (
                    seen.head.head, try reader.tree(of: seen.head.head.origin, size: seen.head.head.size)
                )
                guard here?.root != known.root else { break }
                notes.append(
                    "this is a copy of a store, and the witness of that in \(folder) knows more, or another history: "
                        + "\(known.size) events of origin \(known.origin)")
            case .seen(let seen):
                heads.append(Known(head: seen.head.head, source: "the witness in \(folder)", isStored: false))
                since = seen.since
            case .missing(let why), .unusable(let why):
                notes.append("the log could not be compared with its witness: \(why)")
            }
        }
        guard !isWritten else { return }
        let boot = HostFingerprint.found(around: files).boot
        wal = WALVerdict(inspection, after: mark, boot: boot)
        if case .torn(let text) = wal { notes.append(text) }
    }
}

extension Outside {
    /// Whether the log lies in another file than it did when it was opened last, and not beside its witness: a backup. Its witness then
    /// speaks of the store that it was made of, which has gone on.
    private func isCopy(
        _ files: StoreFiles, _ reader: LogReader, witness folder: String
    ) throws(StoreError) -> Bool {
        guard let file = try reader.meta("file"), let found = HostFingerprint.found(around: files).file else {
            return false
        }
        return file != String(found) && files.realFolder.map { $0 + "-witness" } != folder
    }
}

extension LogReader {
    /// How many events of an origin stand at a position or before.
    fileprivate func count(of origin: OriginID, through position: UInt64) throws(StoreError) -> UInt64 {
        try mapped { () throws(DatabaseError) in
            let seq = try connection.integer(
                """
                SELECT seq FROM event WHERE origin = (SELECT ref FROM origin WHERE id = ?) AND position <= ?
                ORDER BY seq DESC LIMIT 1
                """, .blob(origin.bytes), .unsigned(position))
            return UInt64(clamping: seq ?? 0)
        }
    }

    /// Keys of table `meta` that no release so far has written: of a later one, or not what they were.
    fileprivate func strangeSettings() throws(StoreError) -> [String] {
        try mapped { () throws(DatabaseError) in
            try connection.all("SELECT key, value FROM meta ORDER BY key") { row throws(DatabaseError) in
                let key = row.text(0)
                guard LogSetting.isSkew(key) else { return LogSetting.type(of: key) == nil ? key : nil }
                guard let origin = ClockSkew.origin(of: key), ClockSkew.isSound(row.text(1)) else { return key }
                return try names.originRef(origin, on: connection) == nil ? key : nil
            }
        }
    }
}

extension LogAudit {
    /// The log reaches as far as is known outside of it, and says the same.
    mutating func checkOutside() throws(DatabaseError) {
        if case .damaged(let text) = outside.wal { findings.add(.ends, text) }
        for cut in outside.cuts { tell(cut) }
        if UInt64(clamping: top) < outside.position.last {
            let (last, source, own) = outside.position
            let missing = own.flatMap { firstMissing($0.origin, of: $0.seq) }
            findings.add(
                VerifyFinding(.ends, "the log ends at position \(top); \(source) knows \(last)", dot: missing))
        }
        for known in outside.heads { try check(known) }
        tellLosses()
        try checkSeal()
    }

    /// The first event of an origin that is not here; `nil` if all up to `seq` are.
    private func firstMissing(_ origin: OriginID, of seq: UInt64) -> Dot? {
        let here = indexesByID[origin].map { origins[$0].seq } ?? 0
        return here < seq ? Dot(origin: origin, seq: here + 1) : nil
    }

    /// What a node itself has signed to be missing, and what has not come back from a peer. A cut with evidence is told by itself. Where
    /// it is this node, not all is covered until that is settled.
    private mutating func tellLosses() {
        let node = own.map { origins[$0].node }
        let lost = successions.filter { _, succession in
            let seq = indexesByID[succession.previous].map { origins[$0].seq } ?? 0
            return seq < succession.known && succession.evidence == nil
        }
        for (origin, succession) in lost.prefix(VerifyReport.maximumPerCheck) {
            let (lost, change) = (succession.previous, succession.change)
            let seq = indexesByID[lost].map { origins[$0].seq } ?? 0
            let text = """
                origin \(lost) ends at seq \(seq), and has had \(succession.known): its node went on as \(origin) \
                (\(change.rawValue): \(change.summary))
                """
            let isOwn = indexesByID[origin].map { origins[$0].node } == node
            if isOwn, !settlements.hasSettledLoss(of: lost) { notes.append(text) } else { remarks.append(text) }
        }
    }

    private mutating func tell(_ found: CutEvidence) {
        let what = found.kind == .cut ? "" : "it could not be compared with its witness: "
        let text = "when the log was opened, \(what)\(found.text)"
        if let settled = settlements.time(of: found) {
            remarks.append("\(found.name), settled at \(Timestamp.text(settled)): \(text)")
        } else if found.kind == .cut {
            let missing = found.known.flatMap { firstMissing($0.origin, of: $0.size) }
            findings.add(VerifyFinding(.ends, "\(found.name): \(text)", dot: missing))
        } else {
            notes.append("\(found.name): \(text)")
        }
    }

    /// Proofs of forks are signed by the origin's key; of an origin that is not here nothing can be said.
    mutating func checkForks() {
        proofs = proofs.filter { proof in
            guard let index = indexesByID[proof.origin] else { return false }
            let key = origins[index].key
            let isProven = ForkEvidence(proof.dot, proof.branches[0], proof.branches[1], key: key) != nil
            if !isProven {
                findings.add(.ends, "evidence/\(proof.name).json does not prove two histories of \(proof.origin)")
            }
            return isProven
        }
    }

    private mutating func check(_ known: Outside.Known) throws(DatabaseError) {
        let head = known.head
        let what = "origin \(head.origin)"
        guard let index = indexesByID[head.origin], origins[index].seq >= head.size else {
            let seq = indexesByID[head.origin].map { origins[$0].seq } ?? 0
            return findings.add(
                VerifyFinding(
                    .ends, "\(what) ends at seq \(seq); \(known.source) knows a head at \(head.size)",
                    dot: Dot(origin: head.origin, seq: seq + 1)))
        }
        guard let root = try root(of: index, size: head.size) else { return }
        guard root == head.root else {
            let dot = Dot(origin: head.origin, seq: 1)
            return findings.add(VerifyFinding(.ends, head.otherHistory(known.source), dot: dot))
        }
        if known.isStored, origins[index].headSize < head.size, findings.counts[.heads] == nil {
            findings.add(.heads, "\(what): the head at \(head.size), which \(known.source) knows, is missing")
        }
    }

    /// What no head covers of the own origin carries the node's seal.
    private mutating func checkSeal() throws(DatabaseError) {
        guard let own, let tree = origins[own].tree, origins[own].seq > origins[own].headSize,
            try Schema.hasSeals(connection), let hlc = origins[own].lastTime
        else { return }
        let origin = origins[own]
        let merkle = MerkleStore(connection: connection, sha: sha)
        let range = "origin \(origin.id): its events from seq \(origin.headSize + 1) on, which no head covers,"
        guard let seal = try merkle.seal(origin: origin.ref, at: origin.seq) else {
            return findings.add(.seals, "\(range) do not carry the node's seal: something else has written them")
        }
        guard let sealer = outside.signer?.sealer else {
            return self.seal = .present
        }
        let head = TreeHead(origin: origin.id, size: tree.size, root: tree.root(using: sha), hlc: hlc)
        guard sealer.seal(head) == seal else {
            return findings.add(.seals, "\(range) carry a seal that is not this node's: they were changed")
        }
        self.seal = .right
    }

    /// Every event without payload is covered by an erasure.
    mutating func checkErasures() throws(DatabaseError) {
        if outside.hasStrangeErasures { findings.add(.erasures, "erasures.ndjson: a line of it is no erasure") }
        for lost in outside.lostErasures {
            guard let keeper = erasures.keeper, let event = lost.event(of: keeper, using: sha) else {
                findings.add(.erasures, "erasures.ndjson: \(lost.dot) is no erasure that this node has signed")
                continue
            }
            erasures.take(event, of: keeper)
            noted.take(pending: event, of: keeper)
        }
        for fault in noted.faults(keeper: erasures.keeper) {
            findings.add(VerifyFinding(.erasures, fault.message, position: fault.position))
        }
        if noted.isUnderWay { remarks.append("an erasure is under way: what it covers may be here still") }
        if noted.isForeign {
            notes.append("what table meta says of erasures has not the node's seal: another hand may have written it")
        }
        if outside.hasMark, noted.isMissing {
            notes.append(
                "table meta does not say that the log was looked through for erasures, and this node has erased")
        }
        try checkPutBack()
        guard erased > 0 else { return }
        var uncovered: [VerifyFinding] = []
        try connection.eachErased(through: top) { (row) throws(DatabaseError) in
            guard try !row.isCovered(by: erasures, &names, connection) else { return }
            let dot = indexes[row.origin].map { Dot(origin: origins[$0].id, seq: row.seq) }
            uncovered.append(
                VerifyFinding(
                    .erasures, "its payload is gone, and no erasure says so", position: row.position, dot: dot))
            if uncovered.count >= 4_096 { drain(&uncovered) }
        }
        drain(&uncovered)
    }

    /// What an applied erasure covers has no payload (INV-11). While one is not applied what it covers may be here, and no one can tell that from
    /// a payload that was put back.
    private mutating func checkPutBack() throws(DatabaseError) {
        guard !noted.applied.isEmpty || !noted.pending.isEmpty else { return }
        var found: [VerifyFinding] = []
        var waiting = NamedPlaces()
        try connection.eachErased(isErased: false, through: top) { (row) throws(DatabaseError) in
            guard try row.isCovered(by: noted.applied, &names, connection) else {
                if try row.isCovered(by: noted.pending, &names, connection) { waiting.add(row.position) }
                return
            }
            let dot = indexes[row.origin].map { Dot(origin: origins[$0].id, seq: row.seq) }
            let text =
                "its payload is here, and an erasure that is applied covers it; syncd takes it away when it starts"
            found.append(VerifyFinding(.erasures, text, position: row.position, dot: dot))
            if found.count >= 4_096 { drain(&found) }
        }
        drain(&found)
        if let places = waiting.text {
            notes.append("not proven: an erasure is not applied yet that covers payloads which are here: \(places)")
        }
    }

    private mutating func drain(_ found: inout [VerifyFinding]) {
        for finding in found { findings.add(finding) }
        found = []
    }
}

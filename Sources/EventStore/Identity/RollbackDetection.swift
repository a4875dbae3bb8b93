/// Whether the log is the one that this node wrote last (D12), and reaches as far as the node knows it did (D21). Decided before
/// anything can be appended or signed.
struct RollbackDetection {
    /// Why a new origin is due; `nil` if the log goes on.
    private(set) var change: OriginChange?
    /// What becomes of the present one then.
    private(set) var end = OriginEnd.signed
    /// How many events of the present origin were known to exist.
    private(set) var known: UInt64 = 0
    /// What the log should remember for the next time.
    private(set) var values: [String: String] = [:]
    private(set) var witness: WitnessKeeper?
    /// Where the log says that the witness is; `nil` if nowhere.
    private(set) var folder: String?
    /// What the witness says; `nil` if nothing.
    private var seen: WitnessKeeper.Seen?
    /// Why it says nothing, where it should.
    private var silence: String?

    /// How far the log has the origin that the node appended to.
    private let had: Dot
    private let top: UInt64
    /// What was found of a log that had been cut.
    private var cut: (text: String, head: TreeHead?, position: UInt64)?

    /// What the run before has left beside the log.
    struct Left {
        let mark: Mark?
        let end: LogEnd.Found
        let wal: WALVerdict
        /// What peers have told that they hold.
        let told: [HeldHead]
        /// The folder of its witness; `nil` if it had none.
        let witness: String?
    }

    init(
        _ reader: LogReader, _ identity: StoreIdentity, _ key: SigningKey, _ place: WitnessPlace,
        _ surroundings: HostFingerprint, _ left: Left
    ) throws(StoreError) {
        let mark = left.mark
        let before = left.witness
        let wanted: String? =
            switch place {
            case .asBefore: before
            case .none: nil
            case .folder(let path): path
            }
        folder = wanted == nil ? nil : before
        let origins = try reader.origins()
        had = Dot(origin: identity.origin, seq: origins.first { $0.id == identity.origin }?.size ?? 0)
        top = try reader.top()
        if let file = surroundings.file { try compare("file", String(file), reader, .copied) }
        if let machine = surroundings.machine { try compare("machine", machine, reader, .machine) }
        if let mark, mark.state == .running, mark.durability == .normal, let before = mark.boot,
            let boot = surroundings.boot, boot != before
        {
            change = .boot
        }
        switch left.wal {
        case .whole: break
        case .torn: change = .cut
        case .damaged(let text):
            change = .cut
            cut = (text, nil, 0)
        }
        if let mark, mark.incarnation == identity.incarnation {
            try compare(mark, reader, origins)
            try compare(left.end, after: mark, surroundings, reader, key)
        } else if change == nil, try reader.hasSeals() {
            // Every run leaves one: the store was put together from parts.
            change = .copied
        }
        // Of a copy peers may know more: it begins a new origin in any case.
        if change != .copied, change != .machine {
            for held in left.told where held.head.origin == had.origin { try compare(held, reader, origins) }
        }
        if try folder ?? "" != reader.meta("witness") ?? "" { values["witness"] = folder ?? "" }
        // A store and its configuration may have changed together, as where a backup is put on a new disk.
        let other = before == wanted ? nil : before.map { WitnessKeeper(folder: $0, identity: identity) }
        switch other?.read(key.publicKey) {
        case .seen(let found): try compare(found, in: before ?? "", reader, origins)
        case .missing(let why), .unusable(let why): silence = why
        case nil: break
        }
        guard let wanted else { return }
        let keeper = WitnessKeeper(folder: wanted, identity: identity)
        witness = keeper
        switch keeper.read(key.publicKey) {
        case .seen(let found):
            seen = found
            remember(wanted)
            silence = nil
            try compare(found, in: wanted, reader, origins)
        // Where it was not kept before there is none.
        case .missing(let why): if wanted == before { silence = why }
        case .unusable(let why): silence = why
        }
    }

    private mutating func remember(_ place: String) {
        guard place != folder else { return }
        folder = place
        values["witness"] = place
    }

    /// Takes note of a head that the log does not reach, or contradicts. False if it is there.
    private mutating func compare(
        _ head: TreeHead, _ reader: LogReader, _ origins: [StoredOrigin]
    ) throws(StoreError) -> Bool {
        let size = origins.first { $0.id == head.origin }?.size ?? 0
        if size < head.size {
            if head.origin == had.origin {
                known = max(known, head.size)
                if case .signed = end { end = .left }
            }
            return true
        }
        guard try reader.root(of: head.origin, size: head.size) != head.root else { return false }
        if head.origin == had.origin { end = .disputed }
        return true
    }

    /// Of a log that ends too early the new origin's first event tells. Of another history evidence is kept, for soon the witness knows
    /// the new origin only.
    private mutating func compare(
        _ witness: WitnessKeeper.Seen, in folder: String, _ reader: LogReader, _ origins: [StoredOrigin]
    ) throws(StoreError) {
        let head = witness.head.head
        guard try compare(head, reader, origins) else { return }
        if (origins.first { $0.id == head.origin }?.size ?? 0) >= head.size {
            isCut(head.otherHistory("the witness in \(folder)"), head, 0)
        }
        change = .witness
    }

    private mutating func compare(
        _ held: HeldHead, _ reader: LogReader, _ origins: [StoredOrigin]
    ) throws(StoreError) {
        let head = held.head
        guard try compare(head, reader, origins) else { return }
        isCut(had.seq < head.size ? head.beyond(had.seq, held.source) : head.otherHistory(held.source), head, 0)
    }

    private mutating func compare(
        _ mark: Mark, _ reader: LogReader, _ origins: [StoredOrigin]
    ) throws(StoreError) {
        let isOther = try compare(mark.head, reader, origins)
        guard isOther || top < mark.position else {
            if try reader.hasHead(of: mark.head.origin, atLeast: mark.head.size) { return }
            let text = "the head at \(mark.head.size), which the store's mark knows, is not in the log"
            return isCut(text, nil, mark.position)
        }
        let text =
            isOther && top >= mark.position
            ? "the log has other events than the store's mark knows"
            : "the log ends at position \(top); the store's mark knows \(mark.position)"
        isCut(text, mark.head, mark.position)
    }

    /// Compares with where the run before says that its last commit ended. What it does not say, a power cut may have taken.
    private mutating func compare(
        _ found: LogEnd.Found, after mark: Mark, _ surroundings: HostFingerprint, _ reader: LogReader,
        _ key: SigningKey
    ) throws(StoreError) {
        // After an orderly end the mark says it all, unless log and mark were put back.
        let isOrderly = mark.state == .stopped
        let isSameBoot = mark.boot != nil && mark.boot == surroundings.boot
        switch found {
        case .missing:
            if !isOrderly { isCut("log.end, which says how far the log went, is not there", nil, 0) }
        case .unreadable:
            if !isOrderly, isSameBoot { isCut("log.end, which says how far the log went, cannot be read", nil, 0) }
        case .end(let end) where end.incarnation != mark.incarnation:
            if !isOrderly { isCut("log.end, which says how far the log went, is of another log", nil, 0) }
        case .end(let end):
            guard isSameBoot || mark.durability == .full else { return }
            if top < end.position {
                isCut("the log ends at position \(top); log.end knows \(end.position)", nil, end.position)
                if end.origin == had.origin { known = max(known, end.size) }
                if case .signed = self.end { self.end = .left }
            } else if try reader.tree(of: end.origin, size: end.size)
                .map({ !end.isSealed(key.sealer.seal($0), by: key.endSealer) }) ?? true
            {
                isCut("the log has other events of this node than log.end knows", nil, end.position)
                if end.origin == had.origin { self.end = .disputed }
            }
        }
    }

    private mutating func isCut(_ text: String, _ head: TreeHead?, _ position: UInt64) {
        change = .cut
        cut = (cut.map { $0.text + "; " + text } ?? text, cut?.head ?? head, max(cut?.position ?? 0, position))
    }

    private mutating func compare(
        _ name: String, _ value: String, _ reader: LogReader, _ reason: OriginChange
    ) throws(StoreError) {
        let before = try reader.meta(name)
        guard before != value else { return }
        values[name] = value
        if before != nil { change = reason }
    }

    /// What is kept of a log that had been cut; `nil` if it was not.
    ///
    /// - Parameter name: Under which its WAL is kept, if it is.
    func evidence(named name: String?, at moment: Int64) -> CutEvidence? {
        guard let cut else { return nil }
        let text = Array("\(cut.head?.checkpointText ?? "")\(cut.position) \(top)".utf8)
        return CutEvidence(
            name: name ?? CutEvidence.name(of: text), text: cut.text, had: had, known: cut.head,
            position: cut.position, at: moment)
    }
}

extension RollbackDetection {
    /// What is kept of a witness that should be compared with and says nothing; `nil` if it says something. What stood in its place
    /// gets another name. A witness from before such a finding, compared with, ends it.
    func settleWitness(_ files: StoreFiles, at moment: Int64) throws(StoreError) -> CutEvidence? {
        guard witness != nil || silence != nil else { return nil }
        let open = try CutEvidence.list(files).filter { $0.kind == .witness && $0.settled == nil }
        guard let silence else {
            let settled = Set(try CutEvidence.list(files).filter { $0.settled != nil }.map(\.name))
            if seen?.since == nil, seen != nil {
                for finding in open { CutEvidence.forget(finding.name, files) }
            }
            // Also where the file was taken away: only a settlement ends it.
            witness?.goOn(since: seen?.since.flatMap { settled.contains($0) ? nil : $0 })
            return nil
        }
        let name =
            open.first { $0.text.hasPrefix(silence) }?.name
            ?? CutEvidence.name(of: Array("\(silence) \(top) \(moment)".utf8), .witness)
        let kept = witness.flatMap { $0.putAside(name) }.map { "; what stood there is kept as \($0)" } ?? ""
        let finding = CutEvidence(
            .witness, name: name, text: silence + kept, had: had, known: nil, position: top, at: moment)
        try finding.write(files)
        witness?.goOn(since: name)
        return finding
    }

    /// Writes the witness where there is none to compare with: until then nothing outside knows this log. The log names the place
    /// only when a witness lies there on the disk, so that one that is missing later has been lost.
    mutating func beginWitness(_ reader: LogReader, _ key: VerifyingKey) throws(StoreError) {
        guard let witness, seen == nil, let head = try reader.head(of: had.origin, atLeast: 1, largest: true),
            head.isValid(for: key)
        else { return }
        witness.note(head)
        if witness.problem == nil { remember(witness.folder) }
    }
}

/// A head of the origin that the node appends to, which a peer holds, and how findings name the peer.
struct HeldHead {
    let head: TreeHead
    let source: String
}

extension TreeHead {
    /// What is said of a log whose origin ends at `seq`, before this head.
    func beyond(_ seq: UInt64, _ source: String) -> String {
        "origin \(origin) ends at seq \(seq); \(source) knows \(size) of its events"
    }

    /// What is said of a log with other events than this head's. Those before `first` are agreed upon.
    func otherHistory(_ source: String, from first: UInt64 = 1) -> String {
        "the events of origin \(origin) from seq \(first) to \(size) are not all those that \(source) knows"
    }
}

extension LogReader {
    /// What a head of the first `size` events of an origin says; `nil` if they are not here.
    func tree(of origin: OriginID, size: UInt64) throws(StoreError) -> TreeHead? {
        guard let hlc = try stamp(of: Dot(origin: origin, seq: size)) else { return nil }
        return TreeHead(origin: origin, size: size, root: try root(of: origin, size: size), hlc: hlc)
    }

    /// Whether a head of so many events, or more, is stored.
    func hasHead(of origin: OriginID, atLeast size: UInt64) throws(StoreError) -> Bool {
        try mapped { () throws(DatabaseError) in
            try connection.integer(
                "SELECT 1 FROM head JOIN origin ON origin.ref = head.origin WHERE origin.id = ? AND head.size >= ? LIMIT 1",
                .blob(origin.bytes), .unsigned(size)) != nil
        }
    }

    /// Whether the log has seals: version 1 had none.
    func hasSeals() throws(StoreError) -> Bool {
        try mapped { () throws(DatabaseError) in try Schema.hasSeals(connection) }
    }
}

internal import Glibc

/// What was found of a log when it was opened: that it had been cut, or that its witness could not be compared with. A file in the
/// store's folder `evidence`, with the damaged WAL beside it. `verify` tells it until what was lost has come back, or until the log
/// says that it is settled (``OwnSettlements``).
package struct CutEvidence: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Events may be missing.
        case cut
        /// What should say from outside whether any are missing says nothing.
        case witness

        /// The code that a settlement names it by.
        package var code: String {
            switch self {
            case .cut: "LOG_CUT"
            case .witness: "WITNESS_LOST"
            }
        }
    }

    package let kind: Kind
    /// Names the finding: `cut-<16 hexadecimal digits>`, or `witness-<16 hexadecimal digits>`.
    package let name: String
    /// What was found, in a sentence.
    package let text: String
    /// How far the log had the origin that the node appended to.
    package let had: Dot
    /// The head that the log contradicted, or did not reach, if there was one.
    package let known: TreeHead?
    /// The last position that was known; 0 if none was.
    package let position: UInt64
    /// When, Unix milliseconds.
    package let at: Int64
    /// When it was settled, as the file says; `nil` until then. No one has signed that: only the log can say so.
    package private(set) var settled: Int64?

    /// Most files, and most bytes of a WAL, that are kept.
    private static let capacity = 16
    private static let most = 64 << 20

    init(
        _ kind: Kind = .cut, name: String, text: String, had: Dot, known: TreeHead?, position: UInt64, at: Int64,
        settled: Int64? = nil
    ) {
        self.kind = kind
        self.name = name
        self.text = text
        self.had = had
        self.known = known
        self.position = position
        self.at = at
        self.settled = settled
    }

    /// The name of what was found with these bytes: found again, it is the same.
    static func name(of bytes: [UInt8], _ kind: Kind = .cut) -> String {
        "\(kind.rawValue)-" + SHA256().digest(bytes).description.prefix(16)
    }

    /// Whether ``name(of:_:)`` gives such names. A user who can write into the store could make another lead out of it.
    static func isName(_ text: some StringProtocol, _ kind: Kind = .cut) -> Bool {
        let digits = text.utf8.dropFirst(kind.rawValue.utf8.count + 1)
        return text.hasPrefix("\(kind.rawValue)-") && digits.count == 16
            && digits.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    /// Copies a damaged WAL before SQLite writes it anew. Returns the name of the finding.
    static func keepWAL(_ files: StoreFiles) throws(StoreError) -> String {
        let path = files.log + "-wal"
        let bytes = try SmallFile.read(path, .stream, most: most) ?? []
        let name = name(of: bytes)
        try makeFolder(files)
        if try names(files, .cut, ".wal").count < capacity {
            try SmallFile.replace(files.evidence + "/\(name).wal", with: bytes, mode: 0o600)
        }
        return name
    }

    /// Writes the file, durably, unless it is there.
    func write(_ files: StoreFiles) throws(StoreError) {
        try Self.makeFolder(files)
        let known = try Self.names(files, kind, ".json")
        guard settled != nil || !known.contains(name + ".json") && known.count < Self.capacity else { return }
        try SmallFile.replace(files.evidence + "/\(name).json", with: json, mode: 0o600)
    }

    /// Notes in the file named `name` that it is settled. False if none is open.
    package static func settle(_ name: String, _ files: StoreFiles, at: Int64) throws(StoreError) -> Bool {
        guard var found = try list(files).first(where: { $0.name == name }), found.settled == nil else {
            return false
        }
        found.settled = at
        try found.write(files)
        return true
    }

    /// All there are, settled ones included, by name.
    package static func list(_ files: StoreFiles) throws(StoreError) -> [CutEvidence] {
        var found: [CutEvidence] = []
        for kind in Kind.allCases {
            for name in try names(files, kind, ".json") {
                guard let bytes = try SmallFile.readOneOfMany(files.evidence + "/" + name),
                    let evidence = CutEvidence(kind, json: bytes, name: String(name.dropLast(5)))
                else { continue }
                found.append(evidence)
            }
        }
        return found
    }

    /// Names of the copies of damaged files beside the findings, WALs and journals. They may hold texts that the log does not have.
    package static func copies(_ files: StoreFiles) throws(StoreError) -> [String] {
        try SmallFile.names(in: files.evidence).filter { $0.hasSuffix(".wal") || $0.contains("-journal.") }.sorted()
    }

    /// Takes the kept WALs away: they may hold what was erased. What was found stays.
    static func forgetWALs(_ files: StoreFiles) throws(StoreError) {
        for name in try names(files, .cut, ".wal") where unlink(files.evidence + "/\(name)") != 0 && errno != ENOENT {
            throw .system(files.evidence + "/\(name)")
        }
    }

    /// Takes the finding named `name` away: it was none.
    static func forget(_ name: String, _ files: StoreFiles) { unlink(files.evidence + "/\(name).json") }

    /// Those that are not healed: what was lost is not back. Settled ones are among them, and so are those that the log names and
    /// that lie in the folder no more.
    package static func standing(_ files: StoreFiles, _ log: LogReader) throws(StoreError) -> [CutEvidence] {
        let all = try list(files)
        var found: [CutEvidence] = []
        for evidence in all {
            if try !evidence.isHealed(in: log) { found.append(evidence) }
        }
        // No one has signed the files: what the log says of a finding counts above them.
        let names = Set(found.map(\.name))
        for told in try told(by: log) where !names.contains(told.name) {
            found.append(all.first { $0.name == told.name } ?? told)
        }
        return found
    }

    /// What the node's origins say was found when they were started, and has not come back by number.
    private static func told(by log: LogReader) throws(StoreError) -> [CutEvidence] {
        let own = try log.origins(of: try StoreIdentity(log).node)
        let vector = try log.vector()
        return own.compactMap { origin in
            guard let succession = origin.succession, let name = succession.evidence,
                succession.known == succession.had || vector[succession.previous] < succession.known
            else { return nil }
            return CutEvidence(
                name: name, text: "it had been cut; evidence/\(name).json, what was found then, is missing",
                had: Dot(origin: succession.previous, seq: succession.had), known: nil, position: 0,
                at: origin.started)
        }
    }

    /// Whether all that was known to be lost stands in the log again. Of a damaged WAL it is not known what it held.
    private func isHealed(in log: LogReader) throws(StoreError) -> Bool {
        guard let known else { return false }
        let size = try log.vector()[known.origin]
        guard size >= known.size, try log.top() >= position else { return false }
        return try log.root(of: known.origin, size: known.size) == known.root
    }

    private static func makeFolder(_ files: StoreFiles) throws(StoreError) {
        guard mkdir(files.evidence, 0o700) == 0 || errno == EEXIST else { throw .system(files.evidence) }
        try SmallFile.syncFolder(of: files.evidence)
    }

    private static func names(
        _ files: StoreFiles, _ kind: Kind, _ ending: String
    ) throws(StoreError) -> [String] {
        try SmallFile.names(in: files.evidence).filter {
            $0.hasSuffix(ending) && isName($0.dropLast(ending.utf8.count), kind)
        }
    }

    /// Of a witness that was lost, as the one says that took its place.
    static func missing(_ name: String, had: Dot) -> CutEvidence {
        CutEvidence(
            .witness, name: name, text: "evidence/\(name).json, what was found then, is missing", had: had,
            known: nil,
            position: 0, at: 0)
    }

    // MARK: The file

    private var json: [UInt8] {
        var out = Array(#"{"kind":"\#(kind.rawValue)","text":"#.utf8)
        JSONText.append(text, to: &out)
        out += #","origin":"\#(had.origin)","had":"\#(had.seq)","position":"\#(position)","at":"\#(at)""#.utf8
        if let known {
            out += #","known":"#.utf8
            JSONText.append(known.checkpointText, to: &out)
        }
        if let settled { out += #","settled":"\#(settled)""#.utf8 }
        return out + Array("}\n".utf8)
    }

    private init?(_ kind: Kind, json bytes: [UInt8], name: String) {
        guard let object = try? JSONObject(validating: bytes), object.string("kind") == kind.rawValue,
            let text = object.string("text"), let origin = object.string("origin").flatMap({ OriginID(text: $0) }),
            let had = object.string("had").flatMap({ UInt64($0) }),
            let position = object.string("position").flatMap({ UInt64($0) }),
            let at = object.string("at").flatMap({ Int64($0) })
        else { return nil }
        self.init(
            kind, name: name, text: text, had: Dot(origin: origin, seq: had),
            known: object.string("known").flatMap { TreeHead(checkpointText: $0) }, position: position, at: at,
            settled: object.string("settled").flatMap { Int64($0) })
        // Each member as it is written: what has another form says nothing (FORMATS.md §1, §3).
        let members = [
            ("origin", origin.description), ("had", "\(had)"), ("position", "\(position)"), ("at", "\(at)"),
        ]
        guard members.allSatisfy({ object.string($0.0)?.hasSameBytes(as: $0.1) ?? false }),
            max(had, position) <= Limits.number, at >= 0, Limits.clock.contains(at),
            (object["known"] == nil) == (known == nil), known?.size ?? 1 <= Limits.number,
            object.string("settled").hasSameBytes(as: settled.map { "\($0)" }),
            (object["settled"] == nil) == (settled == nil)
        else { return nil }
    }
}

internal import Glibc

/// That a log had been cut when it was opened: a file in the store's folder `evidence`, with the damaged WAL beside it. `verify`
/// tells it until what was lost has come back, or until it is settled.
package struct CutEvidence: Hashable, Sendable {
    /// Names the finding: `cut-<16 hexadecimal digits>`.
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
    /// When it was settled; `nil` until then.
    package private(set) var settled: Int64?

    /// Most files, and most bytes of a WAL, that are kept.
    private static let capacity = 16
    private static let most = 64 << 20

    init(
        name: String, text: String, had: Dot, known: TreeHead?, position: UInt64, at: Int64, settled: Int64? = nil
    ) {
        self.name = name
        self.text = text
        self.had = had
        self.known = known
        self.position = position
        self.at = at
        self.settled = settled
    }

    /// The name of what was found with these bytes: found again, it is the same.
    static func name(of bytes: [UInt8]) -> String { "cut-" + SHA256().digest(bytes).description.prefix(16) }

    /// Copies a damaged WAL before SQLite writes it anew. Returns the name of the finding.
    static func keepWAL(_ files: StoreFiles) throws(StoreError) -> String {
        let path = files.log + "-wal"
        let bytes = try SmallFile.read(path, .stream, most: most) ?? []
        let name = name(of: bytes)
        try makeFolder(files)
        if try names(files, ".wal").count < capacity {
            try SmallFile.replace(files.evidence + "/\(name).wal", with: bytes, mode: 0o600)
        }
        return name
    }

    /// Writes the file, durably, unless it is there.
    func write(_ files: StoreFiles) throws(StoreError) {
        try Self.makeFolder(files)
        let known = try Self.names(files, ".json")
        guard settled != nil || !known.contains(name + ".json") && known.count < Self.capacity else { return }
        try SmallFile.replace(files.evidence + "/\(name).json", with: json, mode: 0o600)
    }

    /// Settles the finding called `name`: `verify` is silent about it from now on. False if there is none.
    package static func settle(_ name: String, _ files: StoreFiles, at: Int64) throws(StoreError) -> Bool {
        guard var found = try list(files).first(where: { $0.name == name }) else { return false }
        found.settled = at
        try found.write(files)
        return true
    }

    /// All there are, settled ones included, by name.
    package static func list(_ files: StoreFiles) throws(StoreError) -> [CutEvidence] {
        var found: [CutEvidence] = []
        for name in try names(files, ".json") {
            guard let bytes = try SmallFile.readIfFile(files.evidence + "/" + name),
                let evidence = CutEvidence(json: bytes, name: String(name.dropLast(5)))
            else { continue }
            found.append(evidence)
        }
        return found
    }

    /// Those that are neither settled nor healed: what was lost is not back.
    package static func open(_ files: StoreFiles, _ log: LogReader) throws(StoreError) -> [CutEvidence] {
        var found: [CutEvidence] = []
        for evidence in try list(files) where evidence.settled == nil {
            if try !evidence.isHealed(in: log) { found.append(evidence) }
        }
        return found
    }

    /// Whether all that was known to be lost stands in the log again. Of a damaged WAL nobody knows what it held.
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

    private static func names(_ files: StoreFiles, _ ending: String) throws(StoreError) -> [String] {
        try SmallFile.names(in: files.evidence).filter { $0.hasPrefix("cut-") && $0.hasSuffix(ending) }
    }

    // MARK: The file

    private var json: [UInt8] {
        var out = Array(#"{"kind":"cut","text":"#.utf8)
        JSONText.append(text, to: &out)
        out += #","origin":"\#(had.origin)","had":"\#(had.seq)","position":"\#(position)","at":"\#(at)""#.utf8
        if let known {
            out += #","known":"#.utf8
            JSONText.append(known.checkpointText, to: &out)
        }
        if let settled { out += #","settled":"\#(settled)""#.utf8 }
        return out + Array("}\n".utf8)
    }

    private init?(json bytes: [UInt8], name: String) {
        guard let object = try? JSONObject(validating: bytes), object.string("kind") == "cut",
            let text = object.string("text"), let origin = object.string("origin").flatMap({ OriginID(text: $0) }),
            let had = object.string("had").flatMap({ UInt64($0) }),
            let position = object.string("position").flatMap({ UInt64($0) }),
            let at = object.string("at").flatMap({ Int64($0) })
        else { return nil }
        self.init(
            name: name, text: text, had: Dot(origin: origin, seq: had),
            known: object.string("known").flatMap { TreeHead(checkpointText: $0) }, position: position, at: at,
            settled: object.string("settled").flatMap { Int64($0) })
    }
}

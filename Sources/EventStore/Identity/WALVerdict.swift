internal import Glibc

/// What the WAL of a run that did not end in order says of the commits it held.
enum WALVerdict: Hashable, Sendable {
    /// Nothing that was written is missing, but perhaps an unfinished commit.
    case whole
    /// As a power cut leaves it, or an end in the middle of a write: what is missing was not acknowledged, as far as can be told. A
    /// new origin makes sure that nothing is written twice.
    case torn(String)
    /// Acknowledged commits are missing.
    case damaged(String)

    /// Commits that can be on their way to the disk at once: one is synced, one is written.
    private static let mostInFlight = 2

    /// - Parameters:
    ///   - mark: The mark of the run; `nil` where there is none.
    ///   - boot: This run of the machine. Without the machine's end every write of a process is whole.
    init(_ wal: WALInspection?, after mark: Mark?, boot: String?) {
        guard let wal, wal.size > 0 else {
            self =
                wal == nil && mark?.state == .running
                ? .torn("the run before did not end in order, and its log.db-wal is not there") : .whole
            return
        }
        let lost = wal.lostCommits
        guard lost > 0 else {
            self = .whole
            return
        }
        guard wal.framesBehind > 0 else {
            self = .torn("the last commit in log.db-wal is not whole")
            return
        }
        let isSameBoot = mark?.boot != nil && mark?.boot == boot
        let text =
            "log.db-wal is damaged at frame \(wal.frames + 1): \(lost) \(lost == 1 ? "commit" : "commits") behind it cannot be read"
        let isUnsynced = mark?.durability == .normal
        self = !isSameBoot && (isUnsynced || lost <= Self.mostInFlight) ? .torn(text) : .damaged(text)
    }
}

/// What a start finds of the WAL. It is kept in a file until the node has acted on it: a start that is cut off after the WAL was
/// copied into the database would find nothing of it. It is signed, so that nothing else makes a whole log a cut one.
struct FoundWAL {
    let verdict: WALVerdict
    /// The name under which a damaged WAL is kept.
    let kept: String?

    /// Looks at the WAL, before SQLite opens it for writing, or reads what a start before has found.
    init(_ files: StoreFiles, _ key: SigningKey, after mark: Mark?, boot: String?) throws(StoreError) {
        if let bytes = try SmallFile.read(files.foundWAL), let object = try? JSONObject(validating: bytes),
            let text = object.string("text"), case let name = object.string("name"),
            let signature = object.string("signature").flatMap({ base64Bytes($0) }),
            key.publicKey.isValid(signature: signature, for: Self.signed(text, name))
        {
            kept = name.flatMap { CutEvidence.isName($0) ? $0 : nil }
            verdict = name == nil ? .torn(text) : .damaged(text)
            return
        }
        verdict = WALVerdict(try WALInspection(path: files.log + "-wal"), after: mark, boot: boot)
        switch verdict {
        case .whole: kept = nil
        case .torn(let text):
            kept = nil
            try Self.keep(text, nil, files, key)
        case .damaged(let text):
            let name = try CutEvidence.keepWAL(files)
            kept = name
            try Self.keep(text, name, files, key)
        }
    }

    private static func signed(_ text: String, _ name: String?) -> [UInt8] {
        Array("sillok cut v1\n\(name ?? "")\n\(text)".utf8)
    }

    static func keep(
        _ text: String, _ name: String?, _ files: StoreFiles, _ key: SigningKey
    ) throws(StoreError) {
        var json = Array(#"{"text":"#.utf8)
        JSONText.append(text, to: &json)
        if let name { json += #","name":"\#(name)""#.utf8 }
        json += #","signature":"\#(base64Text(key.sign(signed(text, name))))""#.utf8
        try SmallFile.replace(files.foundWAL, with: json + Array("}\n".utf8), mode: 0o600)
    }

    /// The node has acted on it.
    static func forget(_ files: StoreFiles) { unlink(files.foundWAL) }
}

internal import EventStore
internal import Glibc

/// What a store has beside its log that a backup keeps: small files, and what peers have signed.
enum StoreParts {
    private static let key = "node.key"
    private static let named = ["peers.json", "invitations.json"]
    private static let evidence = "evidence/"
    /// Bytes of the largest file that is kept.
    private static let largest = 1 << 20

    static func files(_ files: StoreFiles, withKey: Bool) throws(StoreError) -> [BackupManifest.Part] {
        var names = withKey ? [key] : []
        names += named
        names += try SmallFile.names(in: files.evidence).filter(isEvidence).map { evidence + $0 }
        var parts: [BackupManifest.Part] = []
        for name in names {
            guard let bytes = try SmallFile.read("\(files.folder)/\(name)"), bytes.count <= largest else { continue }
            parts.append(BackupManifest.Part(name: name, value: bytes))
        }
        return parts
    }

    /// Proofs of forks. What was found of a cut log speaks of that file alone, and copies of damaged ones may hold what was erased.
    private static func isEvidence(_ name: String) -> Bool {
        BackupManifest.isPlain(name) && name.hasPrefix("fork-") && name.hasSuffix(".json")
    }

    static func cosignatures(_ files: StoreFiles) throws(StoreError) -> [BackupManifest.Part] {
        do throws(StoreError) { return try values(files) } catch {
            // A node can do without the file, and makes it anew where it cannot be read; it may be making it just now.
            switch error {
            case .corrupt, .busy: return []
            default: throw error
            }
        }
    }

    private static func values(_ files: StoreFiles) throws(StoreError) -> [BackupManifest.Part] {
        guard let values = try NamedValues(reading: files.cosignatures) else { return [] }
        return try (values.all("mine/") + values.all("node/")).map {
            BackupManifest.Part(name: $0.name, value: $0.bytes)
        }
    }

    /// Names of what a manifest has that is no part of a store, or not of its node. The rows do not vouch for these.
    static func strange(_ manifest: BackupManifest) -> [String] {
        let files = manifest.files.map(\.name).filter { name in
            name != key && !named.contains(name)
                && !(name.hasPrefix(evidence) && isEvidence(String(name.dropFirst(evidence.utf8.count))))
        }
        var keys = [manifest.node: manifest.key]
        for origin in manifest.origins { keys[origin.key.nodeID] = origin.key }
        let cosignatures = manifest.cosignatures.filter {
            !CosignatureFile.isSound($0.value, named: $0.name, manifest.node, keys)
        }
        return files.map { "file \($0)" } + cosignatures.map { "cosignatures \($0.name)" }
    }

    /// Puts them into the store in `files`. Names come from a file: only those are taken that a backup has.
    ///
    /// Of a manifest that its node has not signed nothing is taken that decides who is let in: keys, peers, invitations. What stays away is
    /// returned, by name.
    ///
    /// - Parameter isWhole: Whether the log is all of the backup: what peers have signed of later events, an earlier log contradicts.
    static func restore(
        _ manifest: BackupManifest, into files: StoreFiles, withKey: Bool, isWhole: Bool
    ) throws(StoreError) -> [String] {
        var unproven: [String] = []
        for part in manifest.files {
            if part.name.hasPrefix(evidence) {
                guard isEvidence(String(part.name.dropFirst(evidence.utf8.count))) else { continue }
                guard mkdir(files.evidence, 0o700) == 0 || errno == EEXIST else { throw .system(files.evidence) }
            } else {
                guard named.contains(part.name) || withKey && part.name == key else { continue }
                guard manifest.isSigned else {
                    unproven.append(part.name)
                    continue
                }
            }
            try SmallFile.replace("\(files.folder)/\(part.name)", with: part.value, mode: 0o600)
        }
        guard isWhole, !manifest.cosignatures.isEmpty else { return unproven }
        let values = try NamedValues(path: files.cosignatures)
        try values.put(manifest.cosignatures.map { ($0.name, $0.value) })
        try values.sync()
        return unproven
    }
}

package import EventStore
internal import Glibc

/// A folder of backups (FORMATS.md §11): `backups` has a manifest for each, `segments` the rows that they name. Files are never changed; they get
/// their names when they are whole. What no manifest names is a leftover.
package final class Repository {
    package let path: String
    let key: StreamKey?
    private let lock: Int32

    /// For whom it is opened.
    package enum Use: Sendable {
        case reading
        /// One at a time.
        case writing
        /// As writing; the folder is made if it is not there.
        case making
    }

    /// Opens a repository. Its files are read with `key`, and written with it.
    package init(_ path: String, key: StreamKey?, _ use: Use) throws(BackupError) {
        let folder = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        self.path = folder
        self.key = key
        if use == .making { try Self.make(folder) }
        try Self.check(folder)
        // From a medium that cannot be written to it is read without: no one writes there.
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        lock = open(folder + "/lock", flags, 0o600)
        guard lock >= 0 else {
            if use == .reading, errno == EROFS || errno == EACCES { return }
            throw .store(.system(folder + "/lock"))
        }
        guard size(ofFile: folder + "/lock") != nil else { throw .damaged(file: "lock", reason: "it is no file") }
        guard flock(lock, (use == .reading ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
            throw .busy(path: folder)
        }
    }

    deinit { if lock >= 0 { close(lock) } }

    /// The file that makes a folder a repository.
    package static let markName = "repository.json"
    /// What is in it, but for the line's end.
    package static let mark = #"{"type":"sillok-backups","v":1}"#

    /// Whether it is a repository, and of a form that this release knows: what a later one has made is left alone.
    private static func check(_ folder: String) throws(BackupError) {
        guard access("\(folder)/\(markName)", F_OK) == 0 else { throw .noRepository(path: folder) }
        guard try bytes(ofFile: "\(folder)/\(markName)", named: markName) == Array("\(mark)\n".utf8) else {
            throw .damaged(file: markName, reason: "it is not that of a repository, or of a later release")
        }
    }

    /// What a small file of a repository says; `nil` if there is none.
    private static func bytes(ofFile path: String, named name: String) throws(BackupError) -> [UInt8]? {
        var entry = stat()
        if lstat(path, &entry) == 0, entry.st_mode & S_IFMT != S_IFREG {
            throw .damaged(file: name, reason: "it is no file")
        }
        do throws(StoreError) { return try SmallFile.read(path) } catch {
            guard case .unsafe = error else { throw .store(error) }
            throw .damaged(file: name, reason: "it is no file, or too large")
        }
    }

    private static func make(_ folder: String) throws(BackupError) {
        try mapped { () throws(StoreError) in
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw .system(folder) }
        }
        guard access("\(folder)/\(markName)", F_OK) != 0 else { return }
        let strange = try mapped { () throws(StoreError) in
            try SmallFile.names(in: folder).filter {
                ![".", "..", "lost+found", "backups", "segments", "attachments"].contains($0)
            }
        }
        guard strange.allSatisfy({ $0.hasPrefix(markName) }) else { throw .notEmpty(path: folder) }
        try mapped { () throws(StoreError) in
            for name in ["backups", "segments"] {
                guard mkdir("\(folder)/\(name)", 0o700) == 0 || errno == EEXIST else { throw .system(folder) }
            }
            try SmallFile.syncFolder(of: folder)
            try SmallFile.replace("\(folder)/\(markName)", with: Array("\(mark)\n".utf8), mode: 0o600)
        }
    }

    // MARK: Manifests

    private static let manifestSuffix = ".manifest"

    static func name(ofManifest id: String) -> String { "backups/\(id)\(manifestSuffix)" }
    static func name(ofSegment file: String) -> String { "segments/\(file)" }

    /// Whether a name is that of a whole segment.
    static func isSegment(_ name: String) -> Bool {
        name.hasPrefix(Self.name(ofSegment: "")) && !name.hasSuffix(FileSink.suffix)
    }

    func path(ofManifest id: String) -> String { "\(path)/\(Self.name(ofManifest: id))" }
    func path(ofSegment file: String) -> String { "\(path)/\(Self.name(ofSegment: file))" }

    private func names(in folder: String) throws(BackupError) -> [String] {
        try mapped { () throws(StoreError) in
            try SmallFile.names(in: "\(path)/\(folder)").filter { $0 != "." && $0 != ".." }
        }
    }

    /// The names of all backups, the oldest first.
    package func ids() throws(BackupError) -> [String] {
        try names(in: "backups").filter { $0.hasSuffix(Self.manifestSuffix) }
            .map { String($0.dropLast(Self.manifestSuffix.utf8.count)) }
    }

    /// What a backup is.
    package func manifest(_ id: String) throws(BackupError) -> BackupManifest {
        let name = Self.name(ofManifest: id)
        guard let bytes = try Self.bytes(ofFile: path(ofManifest: id), named: name) else {
            throw .noBackup("no backup \(id) in \(path)")
        }
        return try ManifestFile.manifest(in: bytes, named: name, id: id, key: key)
    }

    /// Refuses a key where none of the backups that are there is encrypted: behind them no one could read both.
    func refuseOtherKey() throws(BackupError) {
        guard key != nil else { return }
        var plain: String?
        for id in try ids() {
            let name = Self.name(ofManifest: id)
            do throws(BackupError) {
                guard let bytes = try Self.bytes(ofFile: path(ofManifest: id), named: name) else { continue }
                if bytes.starts(with: ChunkForm.sealed) { return }
                _ = try ManifestFile.manifest(in: bytes, named: name, id: id, key: nil)
                plain = name
            } catch {
                guard case .damaged = error else { throw error }
            }
        }
        if let plain { throw .plain(file: plain) }
    }

    /// The newest backup that can be read and that `body` accepts. Damaged ones are passed over: 'verify' names them.
    func newest(where body: (BackupManifest) throws(BackupError) -> Bool) throws(BackupError) -> BackupManifest? {
        var (other, isOpen): (BackupError?, Bool) = (nil, false)
        for id in try ids().reversed() {
            do throws(BackupError) {
                let found = try manifest(id)
                isOpen = true
                if try body(found) { return found }
            } catch {
                switch error {
                case .damaged: continue
                case .key(_, true) where !isOpen: other = other ?? error
                case .key(_, true): continue
                default: throw error
                }
            }
        }
        if let other, !isOpen { throw other }
        return nil
    }

    /// All backups that can be read, the oldest first, and what is wrong with the others.
    package func manifests() throws(BackupError) -> (good: [BackupManifest], bad: [BackupError]) {
        var (good, bad): ([BackupManifest], [BackupError]) = ([], [])
        var other: BackupError?
        for id in try ids() {
            do throws(BackupError) { good.append(try manifest(id)) } catch {
                switch error {
                case .damaged: bad.append(error)
                case .key(let file, true):
                    other = other ?? error
                    bad.append(.damaged(file: file, reason: "it does not open as others do: it was changed"))
                default: throw error
                }
            }
        }
        // A key that opens none is another one, and that is not the files' fault.
        if let other, good.isEmpty { throw other }
        return (good.sorted { ($0.time, $0.id) < ($1.time, $1.id) }, bad)
    }

    /// The first file of a backup that is not there, or not as long as its manifest says; `nil` if all are.
    func missing(of manifest: BackupManifest) -> BackupError? {
        for segment in manifest.segments {
            let name = Self.name(ofSegment: segment.file)
            let found = size(ofFile: path(ofSegment: segment.file))
            guard found == segment.bytes else {
                let reason = found.map { "it has \($0) bytes and not \(segment.bytes)" } ?? "it is not there"
                return .damaged(file: name, reason: reason)
            }
        }
        return nil
    }

    /// The backup that is named, or the newest that its node has signed; where it has signed none, the newest.
    package func backup(_ id: String?) throws(BackupError) -> BackupManifest {
        if let id {
            guard BackupManifest.isPlain(id) else { throw .noBackup("no backup \(id) in \(path)") }
            return try manifest(id)
        }
        // One that is damaged is not passed over: who asks for the newest is given no older one.
        guard let newest = try ids().last else { throw .noBackup("no backup in \(path)") }
        let found = try manifest(newest)
        let good = try manifests().good
        let last = good.last(where: \.isSigned) ?? good.last ?? found
        // The newest one says of itself whose it is: who can write the folder could put one there of a node of his own.
        guard let other = good.first(where: { $0.node != last.node }) else { return last }
        throw .damaged(
            file: Self.name(ofManifest: last.id),
            reason: "it is of node \(last.node), and \(other.id) of node \(other.node): say which one is meant")
    }

    /// Backups that are newer than one, and that no node has signed: who can write the folder could have put them there.
    package func unsigned(after manifest: BackupManifest) throws(BackupError) -> [String] {
        try manifests().good.filter { !$0.isSigned && ($0.time, $0.id) > (manifest.time, manifest.id) }.map(\.id)
    }

    func write(_ manifest: BackupManifest, signedWith signer: SigningKey?) throws(BackupError) {
        let bytes = try ManifestFile.bytes(of: manifest, signedWith: signer, key: key)
        // One that could not be read would be no backup, and would keep the others from being pruned.
        guard bytes.count <= SmallFile.largest else {
            throw .store(
                .unsafe("a manifest has at most \(SmallFile.largest >> 20) MiB, and this one names more attachments"))
        }
        let sink = try FileSink(path(ofManifest: manifest.id))
        try sink.write(bytes)
        try sink.finish()
    }

    /// Takes a backup away; what it alone names is a leftover then.
    func remove(_ id: String) throws(BackupError) {
        guard unlink(path(ofManifest: id)) == 0 else { throw .store(.system(path(ofManifest: id))) }
        try mapped { () throws(StoreError) in try SmallFile.syncFolder(of: path(ofManifest: id)) }
    }

    // MARK: Leftovers

    /// Files that no backup names, in the folder's own names: what an interrupted run has left. What else lies beside the manifests may be one
    /// that was put aside, and is none.
    package func leftovers(besides manifests: [BackupManifest]) throws(BackupError) -> [String] {
        let used = Set(manifests.flatMap(\.segments).map(\.file))
        let segments = try names(in: "segments").filter { !used.contains($0) }.map(Self.name(ofSegment:))
        let named = Set(manifests.flatMap(\.attachments).map { name(ofAttachment: $0.digest) })
        let attachments = try attachmentNames().filter { !named.contains($0) }
        let others = try names(in: "backups").filter { $0.hasSuffix(FileSink.suffix) }.map { "backups/\($0)" }
        return segments + attachments + others
    }

    /// What lies beside the manifests and is none, nor on its way to be one.
    func strangers() throws(BackupError) -> [String] {
        try names(in: "backups").filter { !$0.hasSuffix(Self.manifestSuffix) && !$0.hasSuffix(FileSink.suffix) }
            .map { "backups/\($0)" }
    }

    /// Takes leftovers away. Returns how many bytes they had.
    func remove(leftovers: [String]) throws(BackupError) -> UInt64 {
        var bytes: UInt64 = 0
        for name in leftovers {
            var entry = stat()
            if lstat("\(path)/\(name)", &entry) == 0 { bytes += UInt64(clamping: entry.st_size) }
            guard unlink("\(path)/\(name)") == 0 || errno == ENOENT else { throw .store(.system("\(path)/\(name)")) }
        }
        return bytes
    }

    /// Reads a segment.
    func segment(_ file: String) throws(BackupError) -> SegmentReader {
        let name = Self.name(ofSegment: file)
        return try SegmentReader(FileSource(path(ofSegment: file), name: name), file: name, key: key)
    }
}

/// Manifests as files: plain lines, or sealed in chunks.
enum ManifestFile {
    private static let chunk = 1 << 20

    /// - Parameter name: Under which it is sealed; `nil`: under its own.
    static func bytes(
        of manifest: BackupManifest, signedWith signer: SigningKey?, key: StreamKey?, name: String? = nil
    ) throws(BackupError) -> [UInt8] {
        let plain = manifest.bytes(signedWith: signer)
        guard let key else { return plain }
        let out = MemoryBytes()
        let writer = try ChunkWriter(out, name: name ?? Repository.name(ofManifest: manifest.id), key: key)
        for start in stride(from: 0, to: plain.count, by: chunk) {
            try writer.add(Array(plain[start..<min(start + chunk, plain.count)]))
        }
        _ = try writer.finish()
        return out.bytes
    }

    /// - Parameter id: Which backup it must be of; `nil`: any.
    static func manifest(
        in bytes: [UInt8], named name: String, id: String?, key: StreamKey?
    ) throws(BackupError) -> BackupManifest {
        var plain = bytes
        if bytes.starts(with: ChunkForm.sealed) {
            let reader = try ChunkReader(MemoryBytes(bytes), name: name, key: key)
            plain = []
            while let chunk = try reader.next() { plain += chunk }
        } else if key != nil {
            // Else who can write the folder could put a backup of his own there.
            throw .damaged(file: name, reason: "it is not encrypted, and a key is given")
        }
        do throws(InvalidManifest) {
            let manifest = try BackupManifest(plain)
            guard id == nil || manifest.id == id else {
                throw InvalidManifest(reason: "it is the backup \(manifest.id)")
            }
            return manifest
        } catch {
            throw .damaged(file: name, reason: "no manifest of a backup: \(error.reason)")
        }
    }
}

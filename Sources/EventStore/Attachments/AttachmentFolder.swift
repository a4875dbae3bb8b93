internal import Glibc

/// Where the bytes of attachments lie (FORMATS.md, section 12): `attachments/<first two digits>/<sha256>`, what is still coming below
/// `attachments/incoming`. A file stands under its name only when it is whole and on the disk.
package struct AttachmentFolder: Hashable, Sendable {
    let path: String

    package init(_ files: StoreFiles) { path = files.attachments }

    /// The whole bytes.
    package func blob(_ digest: Digest) -> String {
        let name = digest.description
        return "\(path)/\(name.prefix(2))/\(name)"
    }

    /// A file that was found to have other bytes than its name says: kept for who looks into it, and never given out.
    func damaged(_ digest: Digest) -> String { blob(digest) + ".damaged" }
    var incoming: String { path + "/incoming" }
    /// What has come of bytes that a peer sends.
    func part(_ digest: Digest) -> String { "\(incoming)/\(digest).part" }
    /// Where bytes are written that are told apart when they are whole.
    func temporary(_ number: UInt64) -> String { "\(incoming)/\(getpid())-\(number).tmp" }
    /// What of the bytes is here, and what is not.
    package var index: String { path + "/index.db" }

    /// Makes a folder for its owner alone, durably; one that is there is left as it is.
    private static func make(_ path: String) throws(StoreError) {
        guard mkdir(path, 0o700) == 0 else {
            if errno == EEXIST { return }
            throw .system(path)
        }
        try SmallFile.syncFolder(of: path)
    }

    /// Whether the store has ever had an attachment.
    package var exists: Bool { access(path, F_OK) == 0 }

    func make() throws(StoreError) {
        try Self.make(path)
        try Self.make(incoming)
    }

    /// Makes the folder that the file of this digest stands in.
    func makePlace(of digest: Digest) throws(StoreError) { try Self.make("\(path)/\(digest.description.prefix(2))") }

    /// Takes away what writers have left that did not come to their end. What came from peers stays: they go on there.
    func sweep() throws(StoreError) {
        for name in try SmallFile.names(in: incoming) where name.hasSuffix(".tmp") { unlink("\(incoming)/\(name)") }
    }

    /// All whole files, ascending.
    func files() throws(StoreError) -> [AttachmentWant] {
        var found: [AttachmentWant] = []
        for prefix in try SmallFile.names(in: path) where prefix.utf8.count == 2 && prefix != ".." {
            for name in try SmallFile.names(in: "\(path)/\(prefix)") {
                guard let digest = Digest(hexadecimal: name), name.hasPrefix(prefix) else { continue }
                // What is no file there is no file with these bytes either.
                guard let size = (try? Self.size(of: blob(digest))) ?? nil else { continue }
                found.append(AttachmentWant(digest: digest, bytes: size))
            }
        }
        return found
    }

    /// What does not stand in this folder as the index says, of what begins with this byte: files that are gone, and files that are there
    /// again. Names are read alone, and no bytes.
    func changes(of index: AttachmentIndex, _ first: UInt8) throws(StoreError) -> [(AttachmentWant, AttachmentState)]
    {
        let known = try index.named(first)
        guard !known.isEmpty else { return [] }
        let names = Set(try SmallFile.names(in: "\(path)/\(hexText([first]))"))
        var changes: [(AttachmentWant, AttachmentState)] = []
        for (want, isPresent) in known where names.contains(want.digest.description) != isPresent {
            if isPresent {
                changes.append((want, .missing))
            } else if let size = (try? Self.size(of: blob(want.digest))) ?? nil {
                changes.append((AttachmentWant(digest: want.digest, bytes: size), .present))
            }
        }
        return changes
    }

    /// How an attachment stands of which the index says this: a file may have gone since, or have come.
    func state(of digest: Digest, _ known: AttachmentState) -> AttachmentState {
        guard known == .present || known == .missing else { return known }
        return ((try? Self.size(of: blob(digest))) ?? nil) == nil ? .missing : .present
    }

    /// How many bytes a file has; `nil` if there is none, or a link in its position.
    static func size(of path: String) throws(StoreError) -> UInt64? {
        var entry = stat()
        guard lstat(path, &entry) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .system(path)
        }
        if entry.st_mode & S_IFMT == S_IFLNK { return nil }
        guard entry.st_mode & S_IFMT == S_IFREG else {
            throw .unsafe("\(path) is no file: look at what stands there, and take it away")
        }
        return UInt64(entry.st_size)
    }

    /// Whether a link stands there, which is none of the store's files.
    static func isLink(_ path: String) -> Bool {
        var entry = stat()
        return lstat(path, &entry) == 0 && entry.st_mode & S_IFMT == S_IFLNK
    }

    /// Whether anything stands there.
    static func stands(_ path: String) -> Bool {
        var entry = stat()
        return lstat(path, &entry) == 0
    }

    /// Overwrites a file with zeros, waits for the disk, and takes it away; durable with the folder (``SmallFile/syncFolder(of:)``). Does
    /// nothing if there is none.
    static func shred(_ path: String) throws(StoreError) {
        // What it leads to is none of ours.
        if isLink(path) {
            guard unlink(path) == 0 || errno == ENOENT else { throw .system(path) }
            return
        }
        let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return }
            throw .system(path)
        }
        defer { close(descriptor) }
        var entry = stat()
        guard fstat(descriptor, &entry) == 0 else { throw .system(path) }
        let zeros = [UInt8](repeating: 0, count: 256 << 10)
        var done = 0
        while done < entry.st_size {
            let count = min(zeros.count, Int(entry.st_size) - done)
            let isWritten = zeros.withUnsafeBytes { bytes in
                SmallFile.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), to: descriptor, at: done)
            }
            guard isWritten else { throw .system(path) }
            done += count
        }
        guard fsync(descriptor) == 0 else { throw .failedSync(path) }
        guard unlink(path) == 0 || errno == ENOENT else { throw .system(path) }
    }
}

// Files of bytes that come piece by piece.
extension AttachmentFolder {
    /// Takes a file away that is worth nothing.
    static func drop(_ path: String) { unlink(path) }

    /// Renames a file that is not to be given out any more; false if there is none.
    static func putAside(_ path: String, _ other: String) -> Bool { rename(path, other) == 0 }

    /// Writes bytes at a place, which is not behind the end of what has come. Returns how many bytes the file has then.
    static func write(_ bytes: [UInt8], to path: String, at offset: UInt64) throws(StoreError) -> UInt64 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(path) }
        defer { close(descriptor) }
        var entry = stat()
        guard fstat(descriptor, &entry) == 0 else { throw .system(path) }
        let come = UInt64(entry.st_size)
        guard offset <= come else { return come }
        guard bytes.withUnsafeBytes({ SmallFile.write($0, to: descriptor, at: Int(offset)) }) else {
            throw .system(path)
        }
        return max(come, offset + UInt64(bytes.count))
    }

    /// The digest of a file's bytes, which are on the disk when it is told.
    static func digest(of path: String) throws(StoreError) -> Digest {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .failedSync(path) }
        let sha = RunningSHA256()
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(path) }
            if count == 0 { return sha.finish() }
            sha.add(buffer[..<count])
        }
    }

    /// Puts a whole file under its name, durably.
    static func move(_ path: String, to blob: String) throws(StoreError) {
        guard rename(path, blob) == 0 else { throw .system(blob) }
        try SmallFile.syncFolder(of: blob)
    }

    /// Whether the folder of a file is there.
    static func hasPlace(of blob: String) throws(StoreError) -> Bool {
        let folder = blob.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return access(folder, F_OK) == 0
    }
}

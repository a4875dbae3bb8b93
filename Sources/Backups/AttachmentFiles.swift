internal import EventStore
internal import Glibc

/// The files of attachments in a repository (FORMATS.md §11): chunks of a MiB, under a name that says which bytes they are to who has the key.
enum AttachmentForm {
    static let chunk = 1 << 20
    static let folder = "attachments/"

    static func name(of digest: Digest, key: StreamKey?) -> String {
        let name = key?.name(of: digest) ?? digest.description
        return "\(folder)\(name.prefix(2))/\(name)"
    }

    /// Whether the text is such a name.
    static func isName(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && text.hasPrefix(folder) && parts[2].utf8.count == 64 && parts[2].hasPrefix(parts[1])
            && parts[1].utf8.count == 2
            && parts[2].utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// How long the file of so many bytes is.
    static func size(of bytes: UInt64, isSealed: Bool) -> UInt64 {
        let chunks = (bytes + UInt64(chunk) - 1) / UInt64(chunk)
        guard isSealed else { return 8 + bytes + 4 * (chunks + 1) }
        return 8 + UInt64(OpeningStream.headerSize) + bytes + (4 + UInt64(OpeningStream.overhead)) * (chunks + 1)
    }

    /// Writes what `reader` has. The bytes are what their name says once this returns.
    static func write(
        _ reader: AttachmentReader, to sink: any ByteSink, name: String, key: StreamKey?, goesOn: () -> Bool
    ) throws(BackupError) {
        let writer = try ChunkWriter(sink, name: name, key: key)
        var offset: UInt64 = 0
        repeat {
            guard goesOn() else { throw .interrupted }
            let piece: [UInt8]
            do { piece = try reader.read(at: offset, most: chunk) } catch { throw BackupError(error) }
            offset += UInt64(piece.count)
            if !piece.isEmpty { try writer.add(piece) }
        } while offset < reader.count
        _ = try writer.finish()
    }
}

extension BackupError {
    /// What reading or keeping the bytes of an attachment has met.
    init(_ error: AttachmentError) {
        switch error {
        case .store(let error): self = .store(error)
        case .missing(let digest), .damaged(let digest), .otherDigest(_, let digest):
            self = .damaged(file: "attachment \(digest)", reason: error.description)
        case .tooLarge, .mediaType: self = .damaged(file: "an attachment", reason: error.description)
        }
    }
}

/// What of the attachments a backup has.
struct AttachmentTally {
    /// What its manifest names.
    var list: [BackupManifest.Attachment] = []
    /// How many were written now.
    var added = 0
    /// Of those, in the repository.
    var bytes: UInt64 = 0
    /// What events name and neither the store nor the repository has whole: how many.
    var missing: UInt64 = 0
    /// Files of the store that no event names: how many were left out.
    var unnamed = 0
}

extension BackupWriter {
    /// Adds the bytes of attachments that the backup is to have.
    ///
    /// - Parameters:
    ///   - before: What the backup has that this one goes on from.
    ///   - isThere: Whether its file is there already.
    ///   - write: Writes the file. Throws ``BackupError/damaged(file:reason:)`` where the bytes are not what their name says.
    func writeAttachments(
        before: [BackupManifest.Attachment], isThere: (BackupManifest.Attachment) throws(BackupError) -> Bool,
        write: (BackupManifest.Attachment, AttachmentCopy) throws(BackupError) -> UInt64
    ) throws(BackupError) -> AttachmentTally {
        var tally = AttachmentTally()
        let copy = try mapped { () throws(StoreError) in try AttachmentCopy(files) }
        var wanted: [Digest: UInt64] = [:]
        var others: [AttachmentWant] = []
        let whole = try mapped { () throws(StoreError) in try copy.files() }
        for want in whole {
            if try mapped({ () throws(StoreError) in try copy.isNamed(want.digest) }) {
                wanted[want.digest] = want.bytes
            } else {
                others.append(want)
            }
        }
        // Of what the index calls named by no event, or does not know, the log tells: what was erased may have been put back by a hand
        // (INV-11). So it does of what is being erased, and others name, too.
        let leaving = try mapped { () throws(StoreError) in try copy.all(.leaving, limit: .max) }
        let named = try logged { () throws(StoreError) in try source.named(Set((others + leaving).map(\.digest))) }
        for want in others + leaving where named.contains(want.digest) { wanted[want.digest] = want.bytes }
        tally.unnamed = others.count { !named.contains($0.digest) }
        let here = Set(whole.map(\.digest))
        // What events name that is no longer here.
        for state in [AttachmentState.missing, .damaged] {
            for want in try mapped({ () throws(StoreError) in try copy.all(state, limit: .max) })
            where wanted[want.digest] == nil { wanted[want.digest] = want.bytes }
        }
        // Where the folder itself is gone, the log tells.
        if !copy.isKnown {
            for digest in try logged({ () throws(StoreError) in try source.named() }) where wanted[digest] == nil {
                wanted[digest] = 0
            }
        }
        for old in before where wanted[old.digest] != nil && !here.contains(old.digest) {
            wanted[old.digest] = old.bytes
        }
        for (digest, bytes) in wanted.sorted(by: { $0.key.description < $1.key.description }) {
            let attachment = BackupManifest.Attachment(digest: digest, bytes: bytes)
            if try isThere(attachment) {
                tally.list.append(attachment)
                continue
            }
            do throws(BackupError) {
                tally.bytes += try write(attachment, copy)
                tally.list.append(attachment)
                tally.added += 1
            } catch {
                guard case .damaged = error else { throw error }
                tally.missing += 1
            }
        }
        return tally
    }

    /// The same into a repository.
    func writeAttachments(
        in repository: Repository, before: [BackupManifest.Attachment], isFull: Bool
    ) throws(BackupError) -> AttachmentTally {
        try writeAttachments(before: before) { attachment throws(BackupError) in
            guard repository.has(attachment) else { return false }
            guard isFull else { return true }
            // All of it is looked at once more, and what is damaged is written anew.
            do throws(BackupError) {
                try repository.read(attachment) { _ throws(BackupError) in try self.goOn() }
                return true
            } catch {
                switch error {
                case .damaged, .key(_, true): return false
                default: throw error
                }
            }
        } write: { attachment, copy throws(BackupError) in
            let name = repository.name(ofAttachment: attachment.digest)
            guard let reader = try Self.open(attachment, copy) else { throw Self.gone(attachment) }
            let sink = try FileSink(repository.pathForAttachment(attachment.digest))
            try AttachmentForm.write(reader, to: sink, name: name, key: repository.key, goesOn: goesOn)
            try sink.finish()
            return AttachmentForm.size(of: attachment.bytes, isSealed: repository.key != nil)
        }
    }

    /// The file of an attachment, if it is there and as long as it was.
    static func open(
        _ attachment: BackupManifest.Attachment, _ copy: AttachmentCopy
    ) throws(BackupError) -> AttachmentReader? {
        do throws(AttachmentError) {
            let reader = try copy.file(attachment.digest)
            return reader?.count == attachment.bytes ? reader : nil
        } catch { throw BackupError(error) }
    }

    static func gone(_ attachment: BackupManifest.Attachment) -> BackupError {
        .damaged(file: "attachment \(attachment.digest)", reason: "it is not there")
    }
}

extension Repository {
    /// The name of an attachment's file in the repository.
    func name(ofAttachment digest: Digest) -> String { AttachmentForm.name(of: digest, key: key) }

    /// Where its file lies; its folder is made.
    func pathForAttachment(_ digest: Digest) throws(BackupError) -> String {
        let name = name(ofAttachment: digest)
        var folder = path
        for part in name.split(separator: "/").dropLast() {
            folder += "/\(part)"
            guard mkdir(folder, 0o700) != 0 else {
                try mapped { [folder] () throws(StoreError) in try SmallFile.syncFolder(of: folder) }
                continue
            }
            guard errno == EEXIST else { throw .store(.system(folder)) }
        }
        return "\(path)/\(name)"
    }

    /// Whether its file is there, and as long as it has to be.
    func has(_ attachment: BackupManifest.Attachment) -> Bool {
        size(ofFile: "\(path)/\(name(ofAttachment: attachment.digest))")
            == AttachmentForm.size(of: attachment.bytes, isSealed: key != nil)
    }

    /// Reads an attachment piece by piece.
    ///
    /// - Throws: ``BackupError/damaged(file:reason:)`` where its bytes are not those that are named, at the latest behind the last one.
    func read(
        _ attachment: BackupManifest.Attachment, _ body: ([UInt8]) throws(BackupError) -> Void
    ) throws(BackupError) {
        let name = name(ofAttachment: attachment.digest)
        let reader = try ChunkReader(FileSource("\(path)/\(name)", name: name), name: name, key: key)
        let sha = RunningSHA256()
        var count: UInt64 = 0
        while let chunk = try reader.next() {
            sha.add(chunk[...])
            count += UInt64(chunk.count)
            guard count <= attachment.bytes else { break }
            try body(chunk)
        }
        guard count == attachment.bytes, sha.finish() == attachment.digest else {
            throw .damaged(file: name, reason: "it is not as it was written: its SHA-256 is another")
        }
    }

    /// The files of attachments, in the repository's own names.
    func attachmentNames() throws(BackupError) -> [String] {
        try mapped { () throws(StoreError) in
            var found: [String] = []
            for prefix in try SmallFile.names(in: path + "/attachments") where !prefix.hasPrefix(".") {
                for name in try SmallFile.names(in: "\(path)/attachments/\(prefix)") where !name.hasPrefix(".") {
                    found.append("attachments/\(prefix)/\(name)")
                }
            }
            return found
        }
    }
}

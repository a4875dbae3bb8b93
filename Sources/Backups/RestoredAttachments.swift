internal import EventStore

// Attachments of a backup, put into the store that is being made. One that is damaged keeps no other from coming back.
extension BackupRestore {
    /// Those of a repository.
    func attachments(
        _ wanted: [BackupManifest.Attachment], of repository: Repository
    ) throws(BackupError) -> (count: Int, missing: [BackupError]) {
        guard !wanted.isEmpty else { return (0, []) }
        var (count, missing): (Int, [BackupError]) = (0, [])
        let store = withAttachments ? try attachmentStore() : nil
        for attachment in wanted {
            do throws(BackupError) {
                let writer = try store.map { store throws(BackupError) in
                    try mapped { () throws(StoreError) in try store.begin(limit: attachment.bytes) }
                }
                try repository.read(attachment) { chunk throws(BackupError) in
                    try goOn()
                    do throws(AttachmentError) {
                        try writer?.write(chunk[...])
                    } catch { throw BackupError(error) }
                }
                if let store, let writer { _ = try Self.finish(writer, attachment.digest, in: store) }
                count += 1
            } catch {
                switch error {
                case .damaged: missing.append(error)
                case .key(let file, true):
                    missing.append(.damaged(file: file, reason: "it does not open: it was changed"))
                default: throw error
                }
            }
        }
        return (count, missing)
    }

    private static func finish(
        _ writer: AttachmentWriter, _ digest: Digest?, in store: AttachmentStore
    ) throws(BackupError) -> Digest {
        do { return try store.finish(writer, stated: digest).digest } catch { throw BackupError(error) }
    }

    func attachmentStore() throws(BackupError) -> AttachmentStore {
        if let opened { return opened }
        let store = try mapped { [part] () throws(StoreError) in try AttachmentStore(part) }
        opened = store
        return store
    }

    // MARK: Streams

    /// Takes one of a stream: which bytes it has shows at its end.
    func take(_ reader: ChunkReader, _ name: String, _ stream: StreamReader) throws(BackupError) {
        let store = try attachmentStore()
        let writer = try mapped { () throws(StoreError) in try store.begin(limit: .max) }
        while let chunk = try reader.next() {
            try goOn()
            do throws(AttachmentError) { try writer.write(chunk[...]) } catch { throw BackupError(error) }
        }
        let count = writer.count
        let digest = try Self.finish(writer, nil, in: store)
        guard AttachmentForm.name(of: digest, key: stream.key) == name else {
            throw .damaged(file: name, reason: "it has other bytes than its name says")
        }
        streamed[digest] = count
    }

    /// Those that streams have brought; what is not wanted goes.
    func streamed(_ wanted: [BackupManifest.Attachment]) throws(BackupError) -> (count: Int, missing: [BackupError]) {
        var missing: [BackupError] = []
        var rest = streamed
        for attachment in wanted where rest.removeValue(forKey: attachment.digest) != attachment.bytes {
            missing.append(.damaged(file: "attachment \(attachment.digest)", reason: "no stream has it"))
        }
        if !rest.isEmpty {
            let store = try attachmentStore()
            for (digest, bytes) in rest {
                _ = try mapped { () throws(StoreError) in
                    try store.settle(AttachmentWant(digest: digest, bytes: bytes), isNamed: false)
                }
            }
        }
        return (wanted.count - missing.count, missing)
    }
}

extension AttachmentStore: StoreFollower {
    package func storeHasClosed() {}
}

// The bytes of attachments, in the folder of the store that owns them.
extension EventStore {
    /// The store's attachments; their folder is made when it is asked for first.
    package func attachments() throws(StoreError) -> AttachmentStore {
        try follower { () throws(StoreError) in try AttachmentStore(files) }
    }

    /// As ``attachments()``, where there is a folder already.
    package func attachmentsIfAny() throws(StoreError) -> AttachmentStore? {
        AttachmentFolder(files).exists ? try attachments() : nil
    }
}

extension LogReader {
    /// What the payloads at these positions name. A payload that is too odd to be read names nothing here, nor in the views.
    func attachments(namedAt positions: [UInt64]) throws(StoreError) -> [AttachmentWant] {
        var wants: [AttachmentWant] = []
        for position in positions {
            guard let event = try event(at: position)?.event, let payload = event.payload,
                AttachmentNaming.isLikely(payload),
                let items = try? AttachmentNaming.items(type: event.header.type, JSONObject(validated: payload))
            else { continue }
            wants += items.map { AttachmentWant(digest: $0.digest, bytes: $0.bytes) }
        }
        return wants
    }
}

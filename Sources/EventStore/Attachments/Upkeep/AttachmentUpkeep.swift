/// Brings what is known of attachments to where the views stand: what events name is wanted, what no event names any more goes.
package struct AttachmentUpkeep {
    /// Rows that are looked at in one step.
    private static let rows = 500
    /// Most attachments of which it is decided in one step.
    private static let settled = 256

    private let views: ViewReader
    private let node: NodeID
    /// The store's attachments; asked with true where they are to be made if there are none.
    private let attachments: (_ isMade: Bool) throws(StoreError) -> AttachmentStore?

    /// - Parameters:
    ///   - views: What events name.
    ///   - node: Whose erasures have to be done before bytes go.
    package init(
        _ views: ViewReader, node: NodeID,
        attachments: @escaping (_ isMade: Bool) throws(StoreError) -> AttachmentStore?
    ) {
        (self.views, self.node, self.attachments) = (views, node, attachments)
    }

    /// Of a store that is open.
    package init(_ store: EventStore, _ views: ViewReader) {
        self.init(views, node: store.identity.node) { isMade throws(StoreError) in
            try isMade ? store.attachments() : store.attachmentsIfAny()
        }
    }

    /// Does all of it for a store that no process has open; nothing where one has, or where this user may not write it.
    package static func catchUp(_ files: StoreFiles, _ views: ViewReader) throws(StoreError) {
        let lock: StoreLock
        do throws(StoreError) { lock = try StoreLock(files, owner: "attachments") } catch { return }
        defer { withExtendedLifetime(lock) {} }
        guard let node = try views.log.keeper() else { return }
        var opened: AttachmentStore?
        let upkeep = AttachmentUpkeep(views, node: node) { isMade throws(StoreError) in
            if opened == nil, isMade || AttachmentFolder(files).exists { opened = try AttachmentStore(files) }
            return opened
        }
        while try upkeep.follow() {}
        var left = Int.max
        while case let rest = try upkeep.settle(), rest > 0, rest < left { left = rest }
        _ = try upkeep.noteLost(.min ... .max)
    }

    /// Looks at what events name that have come since; false if there was nothing. Makes the folder only where something is named.
    package func follow() throws(StoreError) -> Bool {
        let mark = try views.mark()
        let position = try attachments(false)?.place(of: mark) ?? 0
        let named = try views.attachments(after: position, limit: Self.rows)
        guard let last = named.last, let attachments = try attachments(true) else { return false }
        // Views that were swapped meanwhile are looked at from their beginning.
        guard try views.mark() == mark else { return true }
        try attachments.named(
            named.map { AttachmentWant(digest: $0.item.digest, bytes: $0.item.bytes) }, through: last.position,
            of: mark)
        for one in named { try unpack(one, attachments) }
        return true
    }

    /// Puts bytes under their name that stand in the event itself (`data`), as imports of earlier releases left them.
    private func unpack(_ named: NamedAttachment, _ attachments: AttachmentStore) throws(StoreError) {
        guard try attachments.standing(of: named.item.digest)?.state == .missing,
            let event = try views.log.event(at: named.position)?.event, let payload = event.payload
        else { return }
        let items = JSONObject(validated: payload).elements("attachments") ?? []
        for item in items.compactMap(\.object) {
            guard item.string("sha256") == named.item.digest.description, let text = item.string("data"),
                let bytes = base64Bytes(text)
            else { continue }
            do throws(AttachmentError) {
                let writer = try attaching { () throws(StoreError) in
                    try attachments.begin(limit: UInt64(bytes.count))
                }
                try writer.write(bytes[...])
                _ = try attachments.finish(writer, stated: named.item.digest)
            } catch {
                // Other bytes than it says: a peer may have the right ones.
                if case .store(let error) = error { throw error }
            }
        }
    }

    /// Decides of attachments whose names were erased, once the views show nothing that is to go. Returns how many are left to be decided
    /// of.
    package func settle() throws(StoreError) -> Int {
        guard let attachments = try attachments(false) else { return 0 }
        let leaving = try attachments.all(.leaving, limit: Self.settled + 1)
        guard !leaving.isEmpty else { return 0 }
        let log = views.log
        guard try log.erasedThrough() >= log.lastErasure(of: node), try views.mark() == log.viewMark(),
            try views.progress() >= log.top()
        else { return leaving.count }
        for want in leaving.prefix(Self.settled) {
            _ = try attachments.settle(want, isNamed: try views.isNamed(want.digest))
        }
        return leaving.count - min(leaving.count, Self.settled)
    }

    /// Takes note of files that stand in the folder and of which nothing is known.
    package func noteStrays() throws(StoreError) {
        try attachments(false)?.noteStrays { digest throws(StoreError) in try views.isNamed(digest) }
    }

    /// Looks which files are gone of what begins with these bytes. Returns how many were found to be since the last look.
    package func noteLost(_ range: ClosedRange<UInt8>) throws(StoreError) -> Int {
        guard let attachments = try attachments(false) else { return 0 }
        try attachments.noteLost(range)
        return attachments.takeLost()
    }

    /// Takes bytes away that were put before `then`, Unix milliseconds, and that no event names.
    package func dropUnnamed(before then: Int64) throws(StoreError) {
        try attachments(false)?.dropUnnamed(before: then) { digest throws(StoreError) in try views.isNamed(digest) }
    }
}

extension StoreFiles {
    /// Whether nothing is left beside the log of what its erasures let go: the views stand without it, and no bytes of attachments wait that
    /// it alone has named (INV-11).
    package func areCleared(_ log: LogReader) throws(StoreError) -> Bool {
        guard try hasCurrentViews(log) else { return false }
        return try AttachmentCopy(self).all(.leaving, limit: 1).isEmpty
    }
}

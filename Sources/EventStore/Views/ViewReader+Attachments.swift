/// An event that names bytes, as the views tell it.
package struct NamedAttachment: Hashable, Sendable {
    package let item: AttachmentItem
    /// Where the event stands.
    package let position: UInt64
    /// When it happened, Unix milliseconds.
    package let time: Int64
    package let user: String
    package let author: String
    package let conversation: String?
    /// Behind which the next page begins.
    package let place: AttachmentPlace
}

/// Whose attachments are listed.
package enum AttachmentOwner: Hashable, Sendable {
    case user(String)
    case conversation(String)
    case all
}

// Which events name which bytes.
extension ViewReader {
    /// The newest events that name these bytes.
    package func attachments(naming digest: Digest, limit: Int) throws(StoreError) -> [NamedAttachment] {
        try named(
            try reading { connection throws(DatabaseError) in
                try AttachmentsView.rows(naming: digest, limit: limit, connection)
            })
    }

    /// Whether an event names these bytes.
    package func isNamed(_ digest: Digest) throws(StoreError) -> Bool {
        try reading { connection throws(DatabaseError) in try AttachmentsView.isNamed(digest, connection) }
    }

    /// What events after `position` name, in the order of the log, and of the last of them all: at least `limit`, if there are so many.
    package func attachments(after position: UInt64, limit: Int) throws(StoreError) -> [NamedAttachment] {
        try named(
            try reading { connection throws(DatabaseError) in
                try AttachmentsView.rows(after: position, limit: limit, connection)
            })
    }

    /// The newest of an owner.
    package func attachments(
        of owner: AttachmentOwner, limit: Int, before place: AttachmentPlace? = nil
    ) throws(StoreError) -> [NamedAttachment] {
        let found: AttachmentsView.Owner
        switch owner {
        case .user(let name):
            guard let ref = try log.ref(name) else { return [] }
            found = .user(ref)
        case .conversation(let name):
            guard let ref = try log.ref(name) else { return [] }
            found = .conversation(ref)
        case .all: found = .all
        }
        return try named(
            try reading { connection throws(DatabaseError) in
                try AttachmentsView.rows(of: found, limit: limit, before: place, connection)
            })
    }

    /// The log that these views are of: another one when payloads went or came back.
    package func mark() throws(StoreError) -> String {
        try reading { connection throws(DatabaseError) in
            try connection.first("SELECT incarnation FROM progress", []) { $0.text(0) } ?? ""
        }
    }

    private func named(_ rows: [AttachmentsView.Row]) throws(StoreError) -> [NamedAttachment] {
        var named: [NamedAttachment] = []
        for row in rows {
            named.append(
                NamedAttachment(
                    item: row.item, position: row.position, time: row.time, user: try log.text(row.user),
                    author: try log.text(row.author),
                    conversation: try row.conversation.map { ref throws(StoreError) in try log.text(ref) },
                    place: AttachmentPlace(
                        time: row.time, hlc: row.hlc, position: row.position, digest: row.item.digest)))
        }
        return named
    }
}

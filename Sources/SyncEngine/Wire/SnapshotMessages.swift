package import EventStore

/// Offers an empty node a copy of the log.
package struct SnapshotOffer: Hashable, Sendable {
    /// Names the snapshot: see docs/reference/sync.proto.
    package var id: UUIDBits
    /// The sender's last position in it.
    package var through: UInt64
    /// How many events it has.
    package var events: UInt64
    /// About how many bytes of disk it takes.
    package var bytes: UInt64
    /// How far each origin is in it, strictly ascending by origin.
    package var entries: [VectorEntry]

    /// An offer of these parts.
    package init(id: UUIDBits, through: UInt64, events: UInt64, bytes: UInt64, entries: [VectorEntry]) {
        self.id = id
        self.through = through
        self.events = events
        self.bytes = bytes
        self.entries = entries
    }

    func write(to writer: inout ProtobufWriter) {
        writer.uuid(1, id)
        writer.uint(2, through)
        writer.uint(3, events)
        for entry in entries { writer.message(4) { entry.writeFields(to: &$0) } }
        writer.uint(5, bytes)
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var id: UUIDBits?
        var through = UInt64(0), events = UInt64(0), bytes = UInt64(0)
        var entries: [VectorEntry] = []
        while let field = try message.next() {
            switch field.number {
            case 1: id = try message.uuid(field)
            case 2: through = try message.number(field)
            case 3: events = try message.number(field)
            case 4:
                try message.checkRoom(entries.count, "entries", WireLimits.entries)
                entries.append(try VectorEntry(try message.nested("VectorEntry", field)))
            case 5: bytes = try message.amount(field)
            default: break
            }
        }
        guard let id else { throw message.missing("id") }
        try message.checkAscending(entries) { $0.origin }
        self.init(id: id, through: through, events: events, bytes: bytes, entries: entries)
    }
}

/// Takes a snapshot that was offered.
package struct SnapshotGet: Hashable, Sendable {
    /// Of the offer.
    package var id: UUIDBits
    /// The sender's position up to which its rows are here already; 0 for none.
    package var after: UInt64
    /// Bytes of Snapshot frames that may be sent before there is more Credit, in place of the Hello's window.
    package var window: UInt64
}

extension SnapshotGet {
    func write(to writer: inout ProtobufWriter) {
        writer.uuid(1, id)
        writer.uint(2, after)
        writer.uint(3, window)
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var id: UUIDBits?
        var after = UInt64(0), window = UInt64(0)
        while let field = try message.next() {
            switch field.number {
            case 1: id = try message.uuid(field)
            case 2: after = try message.number(field)
            case 3: window = try message.amount(field)
            default: break
            }
        }
        guard let id else { throw message.missing("id") }
        self.init(id: id, after: after, window: window)
    }
}

/// The rest of what proves a snapshot, after its last rows.
package struct SnapshotEnd: Hashable, Sendable {
    /// Heads and proofs for origins of the offer, strictly ascending by origin.
    package var coverage: [Coverage]
    /// Whether another part follows.
    package var hasMore: Bool
}

extension SnapshotEnd {
    func write(to writer: inout ProtobufWriter) {
        writer.uint(1, hasMore ? 1 : 0)
        for item in coverage { item.write(to: &writer) }
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(coverage: [], hasMore: false)
        while let field = try message.next() {
            switch field.number {
            case 1: hasMore = try message.flag(field)
            case 2:
                try message.checkRoom(coverage.count, "coverage")
                coverage.append(try Coverage(try message.nested("Coverage", field)))
            default: break
            }
        }
        try message.checkAscending(coverage) { $0.head.head.origin }
    }
}

/// Says what became of a snapshot.
package struct SnapshotDone: Hashable, Sendable {
    /// Of the offer.
    package var id: UUIDBits
    /// A ``SessionErrorCode`` if it is refused: then events follow as if it had not been offered. 0: it is in place.
    package var code: UInt32
    /// For people; at most ``WireLimits/byeText`` bytes.
    package var text: String

    /// An answer of these parts; a longer text is cut.
    package init(id: UUIDBits, code: UInt32, text: String = "") {
        self.id = id
        self.code = code
        self.text = cut(text, toBytes: WireLimits.byeText)
    }

    func write(to writer: inout ProtobufWriter) {
        writer.uuid(1, id)
        writer.uint(2, UInt64(code))
        writer.text(3, text)
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var id: UUIDBits?
        var code = UInt32(0)
        var text = ""
        while let field = try message.next() {
            switch field.number {
            case 1: id = try message.uuid(field)
            case 2: code = try message.uint32(field)
            case 3: text = try message.text(field)
            default: break
            }
        }
        guard let id else { throw message.missing("id") }
        guard text.utf8.count <= WireLimits.byeText else {
            throw message.invalid("text is over \(WireLimits.byeText) bytes")
        }
        self.init(id: id, code: code, text: text)
    }
}

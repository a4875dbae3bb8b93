package import EventStore

/// How far one origin is known, and which of its possible histories that is.
package struct VectorEntry: Hashable, Sendable {
    /// Whose history.
    package let origin: OriginID
    /// All events from 1 to here.
    package let seq: UInt64
    /// ``Digest/prefix64`` of the RFC 6962 root over those events.
    package let root: UInt64

    /// An entry of these parts.
    package init(origin: OriginID, seq: UInt64, root: UInt64) {
        self.origin = origin
        self.seq = seq
        self.root = root
    }

    /// An entry for the whole of `head`.
    package init(_ head: TreeHead) {
        self.init(origin: head.origin, seq: head.size, root: head.root.prefix64)
    }
}

extension VectorEntry {
    static func write(_ entries: [VectorEntry], to writer: inout ProtobufWriter) {
        writer.bytes.reserveCapacity(entries.count * 40)
        for entry in entries {
            writer.message(1) { entry.writeFields(to: &$0) }
        }
    }

    func writeFields(to writer: inout ProtobufWriter) {
        writer.uuid(1, origin.bits)
        writer.uint(2, seq)
        writer.fixed64(3, root)
    }

    /// Reads Vector or Ack, whose list goes by `listName`.
    static func list(_ listName: String, _ message: consuming MessageReader) throws(WireError) -> [VectorEntry] {
        var entries: [VectorEntry] = []
        while let field = try message.next() {
            guard field.number == 1 else { continue }
            try message.checkRoom(entries.count, listName, WireLimits.entries)
            entries.append(try VectorEntry(try message.nested("VectorEntry", field)))
        }
        try message.checkAscending(entries) { $0.origin }
        return entries
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var origin: UUIDBits?
        var seq = UInt64(0), root = UInt64(0)
        while let field = try message.next() {
            switch field.number {
            case 1: origin = try message.uuid(field)
            case 2: seq = try message.number(field)
            case 3: root = try message.bits(field)
            default: break
            }
        }
        guard let origin else { throw message.missing("origin") }
        guard seq > 0 else { throw message.missing("seq") }
        self.init(origin: OriginID(origin), seq: seq, root: root)
    }
}

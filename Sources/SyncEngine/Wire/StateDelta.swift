package import EventStore

/// What the sender has made durable: everything, or what changed since it last said so.
///
/// Origins are numbered, from 1, in the order in which the sender first names them to any peer: the order in which its log
/// met them. The number takes the place of the id from then on, also on later connections with a receiver that remembers
/// (``Remembered``). A long statement comes in parts.
package struct StateDelta: Hashable, Sendable {
    /// What changed, or all there is.
    package var entries: [StateEntry]
    /// Whether this is all there is, not a difference.
    package var isWhole: Bool
    /// Of a difference: ``through`` of the statement it goes on from.
    package var since: UInt64
    /// Names the state that this statement leads to: the last position of the sender's log. 0: it has no name, and cannot
    /// be remembered.
    package var through: UInt64
    /// ``digest(of:)`` of all there is after this statement; with the last part of an opening one.
    package var digest: Digest?
    /// Whether another part follows.
    package var hasMore = false

    /// SHA-256 over origin (16 bytes), seq and root (8 bytes each, most significant first) of all entries in the order of
    /// their numbers.
    package static func digest(of entries: some Sequence<VectorEntry>) -> Digest {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(entries.underestimatedCount * 32)
        for entry in entries {
            entry.origin.bits.append(to: &bytes)
            bytes.appendBigEndian(entry.seq)
            bytes.appendBigEndian(entry.root)
        }
        return SHA256().digest(bytes)
    }
}

/// How far one origin is known.
package struct StateEntry: Hashable, Sendable {
    /// Which origin.
    package enum Name: Hashable, Sendable {
        /// Named for the first time: it takes the next number.
        case new(OriginID)
        /// The one with this number.
        case number(UInt32)
    }

    /// Which origin.
    package let name: Name
    /// All events from 1 to here.
    package let seq: UInt64
    /// ``Digest/prefix64`` of the RFC 6962 root over those events.
    package let root: UInt64

    /// An entry of these parts.
    package init(_ name: Name, seq: UInt64, root: UInt64) {
        self.name = name
        self.seq = seq
        self.root = root
    }
}

extension StateDelta {
    func write(to writer: inout ProtobufWriter) {
        writer.bytes.reserveCapacity(entries.count * 36)
        for entry in entries { writer.message(1) { entry.write(to: &$0) } }
        writer.uint(2, isWhole ? 1 : 0)
        writer.uint(3, since)
        writer.uint(4, through)
        if let digest { writer.digest(5, digest) }
        writer.uint(6, hasMore ? 1 : 0)
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(entries: [], isWhole: false, since: 0, through: 0)
        while let field = try message.next() {
            switch field.number {
            case 1:
                try message.checkRoom(entries.count, "entries", WireLimits.entries)
                entries.append(try StateEntry(try message.nested("StateEntry", field)))
            case 2: isWhole = try message.flag(field)
            case 3: since = try message.number(field)
            case 4: through = try message.number(field)
            case 5: digest = try message.digest(field)
            case 6: hasMore = try message.flag(field)
            default: break
            }
        }
    }
}

extension StateEntry {
    fileprivate func write(to writer: inout ProtobufWriter) {
        switch name {
        case .new(let origin): writer.uuid(1, origin.bits)
        case .number(let number): writer.uint(2, UInt64(number))
        }
        writer.uint(3, seq)
        writer.fixed64(4, root)
    }

    fileprivate init(_ message: consuming MessageReader) throws(WireError) {
        var origin: UUIDBits?
        var number = UInt32(0)
        var seq = UInt64(0), root = UInt64(0)
        while let field = try message.next() {
            switch field.number {
            case 1: origin = try message.uuid(field)
            case 2: number = try message.uint32(field)
            case 3: seq = try message.number(field)
            case 4: root = try message.bits(field)
            default: break
            }
        }
        guard seq > 0 else { throw message.missing("seq") }
        switch (origin, number) {
        case (let origin?, 0): self.init(.new(OriginID(origin)), seq: seq, root: root)
        case (nil, 1...): self.init(.number(number), seq: seq, root: root)
        case (nil, _): throw message.missing("origin")
        default: throw message.invalid("it has both an origin and a number")
        }
    }
}

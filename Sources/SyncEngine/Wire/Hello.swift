package import EventStore

/// Who the sender is and what it can take. Both sides send theirs at once; it fits ``WireLimits/controlBody``.
package struct Hello: Hashable, Sendable {
    /// The first protocol version the sender speaks.
    package var protocolMin = currentProtocol
    /// The last protocol version the sender speaks.
    package var protocolMax = currentProtocol
    /// Nodes replicate only within one cluster.
    package var cluster: String
    /// The sender's id, which must be that of its certificate.
    package var node: NodeID
    /// A random number drawn when the sender's store was made.
    package var incarnation: UInt64
    /// The sender's clock, Unix milliseconds; nothing is decided by it.
    package var clock: Int64
    /// What the sender takes.
    package var limits = WireLimits()
    /// Names of compression methods the sender can read.
    package var compressors = [zstd]
    /// Name and version of the software.
    package var software = ""
    /// The node's name, for people.
    package var name = ""
    /// Abilities; both sides must have one before it is used.
    package var features: Features = []
    /// What the sender remembers of the receiver from an earlier connection.
    package var remembered: Remembered?
    /// The origin the sender writes to, for choosing from whom to take it.
    package var origin: OriginID?
    /// The sender's log is empty but for its own first events, and it would rather have a snapshot from a peer that has
    /// at least so many events more; 0: it would not.
    package var snapshotAfter = UInt64(0)
    /// A random number drawn when the sender's process started; 0 from a release that had none. Two live connections
    /// with one node id and different runs are two processes with one key.
    package var run = UInt64(0)
    /// Whether what the sender states can be lost when the power fails: its store does not wait for the disk at each commit.
    package var isVolatile = false

    /// The protocol version of this release.
    package static let currentProtocol: UInt32 = 1
    /// The name under which Zstandard goes in ``compressors``.
    package static let zstd = "zstd"

    /// The highest protocol version that both speak; `nil` if there is none.
    package func commonProtocol(with other: Hello) -> UInt32? {
        let highest = min(protocolMax, other.protocolMax)
        return highest >= max(protocolMin, other.protocolMin) ? highest : nil
    }
}

/// Abilities beyond version 1 of the protocol as it was first released. Bits of later releases are kept and mean nothing here.
package struct Features: OptionSet, Hashable, Sendable {
    /// The bits.
    package let rawValue: UInt64

    /// The features with these bits.
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// StateDelta and Resync are understood, and take the place of Vector and Ack.
    package static let standings = Features(rawValue: 1)

    /// Events go out for those origins only that a Want names. Means something together with ``standings``.
    package static let sources = Features(rawValue: 2)

    /// HeadAsk is answered.
    package static let heads = Features(rawValue: 4)

    /// PayloadAsk is answered.
    package static let payloads = Features(rawValue: 8)

    /// Snapshots are offered to those that ask for them.
    package static let snapshots = Features(rawValue: 256)

    /// AttachmentAsk is answered.
    package static let attachments = Features(rawValue: 1024)

    /// SharedState is taken in.
    package static let sharedState = Features(rawValue: 512)
}

/// What a node remembers of the progress of another.
package struct Remembered: Hashable, Sendable {
    /// The other's incarnation then.
    package var incarnation: UInt64
    /// ``StateDelta/through`` of the last StateDelta it took in.
    package var through: UInt64
    /// How many origins are numbered.
    package var origins: UInt32
}

extension Remembered {
    fileprivate func write(to writer: inout ProtobufWriter) {
        writer.fixed64(1, incarnation)
        writer.uint(2, through)
        writer.uint(3, UInt64(origins))
    }

    fileprivate init(_ message: consuming MessageReader) throws(WireError) {
        self.init(incarnation: 0, through: 0, origins: 0)
        while let field = try message.next() {
            switch field.number {
            case 1: incarnation = try message.bits(field)
            case 2: through = try message.number(field)
            case 3: origins = try message.uint32(field)
            default: break
            }
        }
    }
}

extension Hello {
    func write(to writer: inout ProtobufWriter) {
        writer.uint(1, UInt64(protocolMin))
        writer.uint(2, UInt64(protocolMax))
        writer.text(3, cluster)
        writer.digest(4, node.digest)
        writer.fixed64(5, incarnation)
        writer.uint(6, UInt64(bitPattern: clock))
        writer.message(7) { limits.write(to: &$0) }
        for compressor in compressors { writer.presentData(8, Array(compressor.utf8)) }
        writer.text(9, software)
        writer.text(10, name)
        writer.fixed64(11, features.rawValue)
        if let remembered { writer.message(12) { remembered.write(to: &$0) } }
        if let origin { writer.uuid(13, origin.bits) }
        writer.uint(20, snapshotAfter)
        writer.fixed64(21, run)
        writer.uint(22, isVolatile ? 1 : 0)
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var protocols = (min: UInt32(0), max: UInt32(0))
        var cluster = "", software = "", name = ""
        var compressors: [String] = []
        var node: Digest?, limits: WireLimits?
        var incarnation = UInt64(0), features = UInt64(0), clock = Int64(0), snapshotAfter = UInt64(0)
        var run = UInt64(0), isVolatile = false
        var remembered: Remembered?
        var origin: UUIDBits?
        while let field = try message.next() {
            switch field.number {
            case 1: protocols.min = try message.uint32(field)
            case 2: protocols.max = try message.uint32(field)
            case 3: cluster = try message.text(field)
            case 4: node = try message.digest(field)
            case 5: incarnation = try message.bits(field)
            case 6: clock = try message.clock(field)
            case 7: limits = try WireLimits(try message.nested("Limits", field))
            case 8: compressors.append(try message.text(field))
            case 9: software = try message.text(field)
            case 10: name = try message.text(field)
            case 11: features = try message.bits(field)
            case 12: remembered = try Remembered(try message.nested("Remembered", field))
            case 13: origin = try message.uuid(field)
            case 20: snapshotAfter = try message.amount(field)
            case 21: run = try message.bits(field)
            case 22: isVolatile = try message.number(field) == 1
            default: break
            }
        }
        guard protocols.min > 0 else { throw message.missing("protocol_min") }
        guard protocols.max >= protocols.min else { throw message.invalid("protocol_max is below protocol_min") }
        guard !cluster.isEmpty else { throw message.missing("cluster") }
        guard let node else { throw message.missing("node") }
        guard let limits else { throw message.missing("limits") }
        self.init(
            protocolMin: protocols.min, protocolMax: protocols.max, cluster: cluster, node: NodeID(node),
            incarnation: incarnation, clock: clock, limits: limits, compressors: compressors, software: software,
            name: name, features: Features(rawValue: features), remembered: remembered,
            origin: origin.map { OriginID($0) }, snapshotAfter: snapshotAfter, run: run,
            isVolatile: isVolatile)
    }
}

extension WireLimits {
    fileprivate func write(to writer: inout ProtobufWriter) {
        writer.uint(1, UInt64(maxBody))
        writer.uint(2, window)
        writer.uint(3, UInt64(maxPayload))
    }

    fileprivate init(_ message: consuming MessageReader) throws(WireError) {
        self.init(maxBody: 0, window: 0, maxPayload: 0)
        while let field = try message.next() {
            switch field.number {
            case 1: maxBody = try message.uint32(field)
            case 2: window = try message.amount(field)
            case 3: maxPayload = try message.uint32(field)
            default: break
            }
        }
        guard maxBody > 0 else { throw message.missing("max_body") }
        guard maxPayload > 0 else { throw message.missing("max_payload") }
    }
}

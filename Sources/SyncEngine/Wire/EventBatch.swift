package import EventStore

/// Events the receiver lacks, with proof that they belong to signed histories.
package struct EventBatch: Hashable, Sendable {
    /// In the sender's position order, which is causal order; at most ``WireLimits/events``.
    package var events: [EncodedEvent]
    /// One for every origin that occurs, strictly ascending by origin.
    package var coverage: [Coverage]

    /// A batch of these parts.
    package init(events: [EncodedEvent], coverage: [Coverage]) {
        self.events = events
        self.coverage = coverage
    }
}

extension EventBatch {
    func write(to writer: inout ProtobufWriter) {
        let size = events.reduce(coverage.count * 256) { $0 + $1.encodedSize }
        writer.bytes.reserveCapacity(size)
        for event in events { event.write(to: &writer) }
        for item in coverage { item.write(to: &writer) }
    }

    init(_ message: consuming MessageReader, limits: WireLimits) throws(WireError) {
        self.init(events: [], coverage: [])
        while let field = try message.next() {
            switch field.number {
            case 1:
                try message.checkRoom(events.count, "events")
                events.append(try EncodedEvent(try message.nested("Event", field), limits: limits))
            case 2:
                try message.checkRoom(coverage.count, "coverage")
                coverage.append(try Coverage(try message.nested("Coverage", field)))
            default: break
            }
        }
        try message.checkAscending(coverage) { $0.head.head.origin }
    }
}

extension Coverage {
    func write(to writer: inout ProtobufWriter) {
        writer.message(2) { inner in
            inner.message(1) { head.write(to: &$0) }
            for digest in proof { inner.digest(2, digest) }
        }
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var head: SignedHead?
        var proof: [Digest] = []
        while let field = try message.next() {
            switch field.number {
            case 1: head = try SignedHead(try message.nested("Head", field))
            case 2:
                try message.checkRoom(proof.count, "proof", WireLimits.proof)
                proof.append(try message.digest(field))
            default: break
            }
        }
        guard let head else { throw message.missing("head") }
        self.init(head: head, proof: proof)
    }
}

extension SignedHead {
    func write(to writer: inout ProtobufWriter) {
        writer.uuid(1, head.origin.bits)
        writer.uint(2, head.size)
        writer.digest(3, head.root)
        writer.fixed64(4, head.hlc.rawValue)
        writer.data(5, signature)
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var origin: UUIDBits?, root: Digest?
        var size = UInt64(0), hlc = HybridTime(rawValue: 0)
        var signature: [UInt8] = []
        while let field = try message.next() {
            switch field.number {
            case 1: origin = try message.uuid(field)
            case 2: size = try message.number(field)
            case 3: root = try message.digest(field)
            case 4: hlc = try message.stamp(field)
            case 5: signature = try message.data(field)
            default: break
            }
        }
        guard let origin else { throw message.missing("origin") }
        guard size > 0 else { throw message.missing("size") }
        guard let root else { throw message.missing("root") }
        guard !signature.isEmpty else { throw message.missing("signature") }
        guard signature.count == 64 else { throw message.invalid("the signature is not 64 bytes") }
        self.init(
            head: TreeHead(origin: OriginID(origin), size: size, root: root, hlc: hlc),
            signature: signature)
    }
}

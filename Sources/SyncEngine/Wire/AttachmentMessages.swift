package import EventStore

/// Asks for bytes of an attachment from a place on.
package struct AttachmentAsk: Hashable, Sendable {
    package let digest: Digest
    /// The first byte that is wanted.
    package let offset: UInt64
    /// Most bytes that are wanted; the answer has ``WireLimits/attachmentPiece`` at most.
    package let most: UInt32

    package init(digest: Digest, offset: UInt64, most: UInt32) {
        (self.digest, self.offset, self.most) = (digest, offset, most)
    }

    func write(to writer: inout ProtobufWriter) {
        writer.digest(1, digest)
        writer.uint(2, offset)
        writer.uint(3, UInt64(most))
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var digest: Digest?
        var (offset, most) = (UInt64(0), UInt32(0))
        while let field = try message.next() {
            switch field.number {
            case 1: digest = try message.digest(field)
            case 2: offset = try message.number(field)
            case 3: most = try message.uint32(field)
            default: break
            }
        }
        guard let digest else { throw message.missing("sha256") }
        guard most > 0 else { throw message.missing("most") }
        self.init(digest: digest, offset: offset, most: most)
    }
}

/// Answers an ``AttachmentAsk``.
package struct AttachmentTold: Hashable, Sendable {
    package let digest: Digest
    package let offset: UInt64
    /// Whether the sender has the attachment, and more than `offset` bytes of it, or none to have.
    package let isHere: Bool
    /// How many bytes it has in all.
    package let total: UInt64
    package let bytes: [UInt8]

    package init(digest: Digest, offset: UInt64, isHere: Bool = true, total: UInt64, bytes: [UInt8]) {
        (self.digest, self.offset, self.isHere, self.total, self.bytes) = (digest, offset, isHere, total, bytes)
    }

    /// The sender does not have it.
    package init(lacking ask: AttachmentAsk) {
        self.init(digest: ask.digest, offset: ask.offset, isHere: false, total: 0, bytes: [])
    }

    func write(to writer: inout ProtobufWriter) {
        writer.digest(1, digest)
        writer.uint(2, offset)
        writer.uint(3, isHere ? 1 : 0)
        writer.uint(4, total)
        if !bytes.isEmpty { writer.presentData(5, bytes) }
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var digest: Digest?
        var (offset, isHere, total, bytes) = (UInt64(0), false, UInt64(0), [UInt8]())
        while let field = try message.next() {
            switch field.number {
            case 1: digest = try message.digest(field)
            case 2: offset = try message.number(field)
            case 3: isHere = try message.flag(field)
            case 4: total = try message.number(field)
            case 5: bytes = try message.eventData(field, limit: WireLimits.attachmentPiece)
            default: break
            }
        }
        guard let digest else { throw message.missing("sha256") }
        guard isHere || bytes.isEmpty && total == 0 else { throw message.invalid("it has bytes of what is not here") }
        if isHere {
            guard offset <= total, UInt64(bytes.count) <= total - offset else {
                throw message.invalid("its bytes go beyond the total")
            }
            guard !bytes.isEmpty || total == 0 else { throw message.invalid("it has no bytes") }
        }
        self.init(digest: digest, offset: offset, isHere: isHere, total: total, bytes: bytes)
    }
}

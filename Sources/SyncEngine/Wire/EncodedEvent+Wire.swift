package import EventStore

extension EncodedEvent {
    /// Bytes this event adds to an Events message.
    package var encodedSize: Int {
        Self.fieldSize(innerSize)
    }

    private var innerSize: Int {
        let rest =
            switch body {
            case .present(_, let payload), .unreadable(_, let payload):
                Self.fieldSize(16) + Self.fieldSize(payload.count)
            case .erased: Self.fieldSize(32)
            }
        return Self.fieldSize(header.count) + rest
    }

    /// Bytes of a field of `count` bytes with a number below 16: key, length, content.
    private static func fieldSize(_ count: Int) -> Int {
        1 + max(1, (Int.bitWidth - count.leadingZeroBitCount + 6) / 7) + count
    }
}

extension EncodedEvent {
    func write(to writer: inout ProtobufWriter) {
        writer.message(1) { inner in
            inner.bytes.reserveCapacity(innerSize)
            inner.presentData(1, header)
            switch body {
            case .present(let salt, let payload), .unreadable(let salt, let payload):
                inner.uuid(2, salt)
                inner.presentData(3, payload)
            case .erased(let payloadDigest):
                inner.digest(4, payloadDigest)
            }
        }
    }

    init(_ message: consuming MessageReader, limits: WireLimits) throws(WireError) {
        var header: [UInt8] = [], payload: [UInt8] = []
        var salt: UUIDBits?, payloadDigest: Digest?
        while let field = try message.next() {
            switch field.number {
            case 1: header = try message.eventData(field, limit: Limits.header)
            case 2: salt = try message.uuid(field)
            case 3: payload = try message.eventData(field, limit: Int(limits.maxPayload))
            case 4: payloadDigest = try message.digest(field)
            default: break
            }
        }
        guard !header.isEmpty else { throw message.missing("header") }
        if let payloadDigest {
            guard salt == nil, payload.isEmpty else { throw message.invalid("it is both whole and erased") }
            self.init(header: header, body: .erased(payloadDigest: payloadDigest))
        } else {
            guard let salt else { throw message.missing("salt") }
            guard !payload.isEmpty else { throw message.missing("payload") }
            self.init(header: header, body: .present(salt: salt, payload: payload))
        }
    }
}

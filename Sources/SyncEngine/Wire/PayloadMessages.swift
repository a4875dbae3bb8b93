package import EventStore

/// Asks for the payloads of events that are here without, though nothing has erased them.
package struct PayloadAsk: Hashable, Sendable {
    /// At most ``WireLimits/payloadsAsked``, at least one.
    package var dots: [Dot]

    /// A question for these events.
    package init(dots: [Dot]) { self.dots = dots }

    func write(to writer: inout ProtobufWriter) {
        for dot in dots { writer.message(1) { dot.write(to: &$0) } }
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var dots: [Dot] = []
        while let field = try message.next() {
            guard field.number == 1 else { continue }
            guard dots.count < WireLimits.payloadsAsked else { throw message.invalid("it names too many events") }
            dots.append(try Dot(try message.nested("Dot", field)))
        }
        guard !dots.isEmpty else { throw message.missing("dots") }
        self.init(dots: dots)
    }
}

/// Answers a ``PayloadAsk``.
package struct PayloadTold: Hashable, Sendable {
    /// Of events that were asked for; at most ``WireLimits/payloadsAsked``.
    package var payloads: [CarriedPayload]

    /// An answer of these payloads.
    package init(payloads: [CarriedPayload]) { self.payloads = payloads }

    func write(to writer: inout ProtobufWriter) {
        for payload in payloads {
            writer.message(1) { inner in
                inner.message(1) { payload.dot.write(to: &$0) }
                inner.uuid(2, payload.salt)
                inner.presentData(3, payload.payload)
            }
        }
    }

    init(_ message: consuming MessageReader, limits: WireLimits) throws(WireError) {
        var payloads: [CarriedPayload] = []
        while let field = try message.next() {
            guard field.number == 1 else { continue }
            guard payloads.count < WireLimits.payloadsAsked else { throw message.invalid("it has too many payloads") }
            payloads.append(try readPayload(try message.nested("Payload", field), limits))
        }
        self.init(payloads: payloads)
    }
}

extension Dot {
    fileprivate func write(to writer: inout ProtobufWriter) {
        writer.uuid(1, origin.bits)
        writer.uint(2, seq)
    }

    fileprivate init(_ message: MessageReader) throws(WireError) {
        let (origin, seq) = try message.place("seq")
        self.init(origin: origin, seq: seq)
    }
}

private func readPayload(
    _ message: consuming MessageReader, _ limits: WireLimits
) throws(WireError) -> CarriedPayload {
    var dot: Dot?
    var salt: UUIDBits?
    var payload: [UInt8] = []
    while let field = try message.next() {
        switch field.number {
        case 1: dot = try Dot(try message.nested("Dot", field))
        case 2: salt = try message.uuid(field)
        case 3: payload = try message.eventData(field, limit: Int(limits.maxPayload))
        default: break
        }
    }
    guard let dot else { throw message.missing("dot") }
    guard let salt else { throw message.missing("salt") }
    guard !payload.isEmpty else { throw message.missing("payload") }
    return CarriedPayload(dot: dot, salt: salt, payload: payload)
}

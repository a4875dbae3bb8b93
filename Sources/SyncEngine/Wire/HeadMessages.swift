package import EventStore

/// Asks for a head of an origin that its own key has signed, of at least so many events: a node that says it has more of this
/// node's origin than the node itself must show one.
package struct HeadAsk: Hashable, Sendable {
    /// Whose history.
    package var origin: OriginID
    /// From 1.
    package var size: UInt64
}

extension HeadAsk {
    func write(to writer: inout ProtobufWriter) {
        writer.uuid(1, origin.bits)
        writer.uint(2, size)
    }

    init(_ message: MessageReader) throws(WireError) {
        let (origin, size) = try message.place("size")
        self.init(origin: origin, size: size)
    }
}

/// Answers a ``HeadAsk``.
package struct HeadTold: Hashable, Sendable {
    /// Of the question.
    package var origin: OriginID
    /// The head; `nil`: the sender has none of so many events.
    package var head: SignedHead?
}

extension HeadTold {
    func write(to writer: inout ProtobufWriter) {
        writer.uuid(1, origin.bits)
        if let head { writer.message(2) { head.write(to: &$0) } }
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var origin: UUIDBits?
        var head: SignedHead?
        while let field = try message.next() {
            switch field.number {
            case 1: origin = try message.uuid(field)
            case 2: head = try SignedHead(try message.nested("Head", field))
            default: break
            }
        }
        guard let origin else { throw message.missing("origin") }
        self.init(origin: OriginID(origin), head: head)
    }
}

package import EventStore

/// Asks for a head of an origin that its own key has signed, of at least so many events: a node that says it has more of this
/// node's origin than the node itself must show one.
package struct HeadAsk: Hashable, Sendable {
    /// Whose history.
    package var origin: OriginID
    /// From 1.
    package var size: UInt64

    /// A question of these parts.
    package init(origin: OriginID, size: UInt64) {
        self.origin = origin
        self.size = size
    }

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

    /// An answer of these parts.
    package init(origin: OriginID, head: SignedHead?) {
        self.origin = origin
        self.head = head
    }

    func write(to writer: inout ProtobufWriter) {
        writer.uuid(1, origin.bits)
        if let head { writer.message(2) { head.write(to: &$0) } }
    }

    init(_ message: MessageReader) throws(WireError) {
        var reader = message
        var origin: UUIDBits?
        var head: SignedHead?
        while let field = try reader.next() {
            switch field.number {
            case 1: origin = try reader.uuid(field)
            case 2: head = try SignedHead(try reader.nested("Head", field))
            default: break
            }
        }
        guard let origin else { throw message.missing("origin") }
        self.init(origin: OriginID(origin), head: head)
    }
}

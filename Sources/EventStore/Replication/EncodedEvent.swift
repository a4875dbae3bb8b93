/// An event as it travels: the header's canonical bytes, not read yet, and the body.
package struct EncodedEvent: Hashable, Sendable {
    /// ``EventHeader/canonicalBytes``, or what claims to be that.
    package let header: [UInt8]
    /// The payload, or what erasure left of it.
    package let body: EventBody

    /// An event of these parts.
    package init(header: [UInt8], body: EventBody) {
        self.header = header
        self.body = body
    }

    /// The form in which `event` travels.
    package init(_ event: Event) {
        self.init(header: event.header.canonicalBytes, body: event.body)
    }

    /// The event, its header read and found canonical.
    package func event() throws(InvalidHeader) -> Event {
        Event(header: try EventHeader(canonicalBytes: header), body: body)
    }
}

/// A signed head that vouches for what is sent of one origin, with the proof that what is sent is a prefix of it.
package struct Coverage: Hashable, Sendable {
    /// A head of that origin, of the last of those events or a later one. Its signature is not checked here.
    package let head: SignedHead
    /// The RFC 6962 consistency proof from the last of those events to the head; empty when they are equal.
    package let proof: [Digest]

    /// Coverage of these parts.
    package init(head: SignedHead, proof: [Digest]) {
        self.head = head
        self.proof = proof
    }
}

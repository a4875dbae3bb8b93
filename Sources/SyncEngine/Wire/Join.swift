package import EventStore

/// Asks to be let in, with proof of an invitation; the first frame of a node that is not known yet.
package struct Join: Hashable, Sendable {
    /// The sender's cluster.
    package var cluster: String
    /// What people call the sender.
    package var name: String
    /// HMAC-SHA-256 under the invitation's token over ``transcript(secret:inviter:guest:)``; 32 bytes.
    package var proof: [UInt8]

    /// The label of the secret both ends export from TLS (RFC 8446 §7.5).
    package static let secretLabel = "EXPORTER-sillok-join-v1"

    /// What is proven: this connection, the one who invites and the one who is invited.
    package static func transcript(secret: [UInt8], inviter: NodeID, guest: NodeID) -> [UInt8] {
        Array("sillok join v1\n".utf8) + secret + inviter.bytes + guest.bytes
    }
}

extension Join {
    func write(to writer: inout ProtobufWriter) {
        writer.text(1, cluster)
        writer.text(2, name)
        writer.data(3, proof)
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(cluster: "", name: "", proof: [])
        while let field = try message.next() {
            switch field.number {
            case 1: cluster = try message.text(field)
            case 2: name = try message.text(field)
            case 3: proof = try message.data(field)
            default: break
            }
        }
        guard !cluster.isEmpty else { throw message.missing("cluster") }
        guard !proof.isEmpty else { throw message.missing("proof") }
        guard proof.count == 32 else { throw message.invalid("the proof is not 32 bytes") }
    }
}

/// A node's word that it holds an origin's history up to a head, and since when: `cosignature/v1` of C2SP tlog-cosignature. Who has
/// it can prove later that this history was there at that time, whatever the origin's own node says then.
package struct Cosignature: Hashable, Sendable {
    /// Who holds it.
    package let node: NodeID
    /// What it holds, as the origin's node has signed it: no one can say that of a history which that node never signed.
    package let signed: SignedHead
    /// Unix seconds, by that node's clock: when it had verified and stored all of it.
    package let time: UInt64
    /// 64 bytes of Ed25519 over ``message(_:_:)``.
    package let signature: [UInt8]

    /// A cosignature of these parts, unchecked.
    package init(node: NodeID, signed: SignedHead, time: UInt64, signature: [UInt8]) {
        (self.node, self.signed, self.time, self.signature) = (node, signed, time, signature)
    }

    package var head: TreeHead { signed.head }

    /// The last second of the year 9999: a later one has no date, and is none.
    package static let latest: UInt64 = 253_402_300_799

    /// Signs that the node with `key` holds `signed` since `time`.
    package init(signing signed: SignedHead, at time: UInt64, with key: SigningKey) {
        let signature = key.sign(Self.message(signed.head, time))
        self.init(node: key.publicKey.nodeID, signed: signed, time: time, signature: signature)
    }

    /// What is signed: `cosignature/v1⏎time <decimal>⏎` and the checkpoint text.
    package static func message(_ head: TreeHead, _ time: UInt64) -> [UInt8] {
        var text = Array("cosignature/v1\ntime \(time)\n".utf8)
        head.appendCheckpoint(to: &text)
        return text
    }

    /// Whether the node with `key` has said so. Whether the origin's node has signed the head is not looked at.
    package func isValid(for key: VerifyingKey) -> Bool {
        key.nodeID == node && key.isValid(signature: signature, for: Self.message(head, time))
    }

    /// The line of a note that carries it.
    package func noteSignature(_ key: VerifyingKey) -> NoteSignature {
        var bytes: [UInt8] = []
        bytes.appendBigEndian(time)
        return NoteSignature(.cosignature, by: key, bytes + signature)
    }

    /// What a line of a note over `signed` says; `nil` if `key` has not signed it, or not for this use.
    package init?(_ line: NoteSignature, over signed: SignedHead, by key: VerifyingKey) {
        guard line.isOf(key, .cosignature), line.bytes.count == 72 else { return nil }
        let time = line.bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard time <= Self.latest else { return nil }
        self.init(node: key.nodeID, signed: signed, time: time, signature: Array(line.bytes[8...]))
        guard isValid(for: key) else { return nil }
    }
}

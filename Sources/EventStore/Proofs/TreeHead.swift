/// A statement of an origin's whole history so far: its first `size` events have this Merkle root.
package struct TreeHead: Hashable, Sendable {
    /// Whose history.
    package let origin: OriginID
    /// How many events.
    package let size: UInt64
    /// The RFC 6962 root over their leaves.
    package let root: Digest
    /// The hlc of the last of them.
    package let hlc: HybridTime

    /// A statement of these parts.
    package init(origin: OriginID, size: UInt64, root: Digest, hlc: HybridTime) {
        self.origin = origin
        self.size = size
        self.root = root
        self.hlc = hlc
    }

    /// The body of a C2SP checkpoint (c2sp.org/tlog-checkpoint): what is signed.
    package var checkpointText: String {
        var text: [UInt8] = []
        appendCheckpoint(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the bytes of ``checkpointText``.
    func appendCheckpoint(to text: inout [UInt8]) {
        text.append(literal: "sillok/")
        origin.bits.appendText(to: &text)
        text.append(literal: "\n")
        text.append(decimal: size)
        text.append(literal: "\n")
        text.append(base64: root.bytes)
        text.append(literal: "\nhlc ")
        hlc.appendText(to: &text)
        text.append(literal: "\n")
    }
}

/// A head with its origin's signature.
package struct SignedHead: Hashable, Sendable {
    /// What is stated.
    package let head: TreeHead
    /// 64 bytes of Ed25519 over ``TreeHead/checkpointText``.
    package let signature: [UInt8]

    /// A head with a signature that is not checked here.
    package init(head: TreeHead, signature: [UInt8]) {
        self.head = head
        self.signature = signature
    }

    /// Signs `head`.
    package init(signing head: TreeHead, with key: SigningKey) {
        self.init(head: head, signature: key.sign(Array(head.checkpointText.utf8)))
    }

    /// Whether the signature is `key`'s.
    package func isValid(for key: VerifyingKey) -> Bool {
        key.isValid(signature: signature, for: Array(head.checkpointText.utf8))
    }

    /// The whole C2SP signed note: the checkpoint, an empty line and the signature line. The key is named by the node id.
    package func note(signer key: VerifyingKey) -> String { SignedNote(head, [noteSignature(key)]).text }

    /// The line of a note that carries the signature of the node with `key`.
    package func noteSignature(_ key: VerifyingKey) -> NoteSignature { NoteSignature(.head, by: key, signature) }
}
